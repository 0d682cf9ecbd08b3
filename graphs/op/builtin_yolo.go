package op

import (
	"fmt"
	"reflect"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cuda/kernels"
)

// boxes are those of YOLO v3. gorgonia has them in float32 and for one image alone, and
// takes the first of the anchors, as many as the mask has, whichever the mask names. It has
// no derivative, so that nothing is trained with it: what it computes when it is given
// targets, a loss of each box at places that are not the box's, is left to the host.
func boxes() Builtin {
	return Builtin{Name: "boxes", kind: "yoloOp", of: tensor.Float32,
		queue: func(p *parameters) func(Stream) {
			if p.truth("trainMode") {
				return nil
			}
			anchors, masks := p.numbers("anchors"), p.integers("masks")
			dimensions, classes, number := p.integer("dimensions"), p.integer("numClasses"), len(masks)
			return func(t Stream) {
				shape := t.Shape(0)
				if !imagesOn(t, shape) {
					return
				}
				side, attributes := shape[2], 5+classes
				if shape[0] != 1 || shape[3] != side || shape[1] != number*attributes {
					t.Fail(fmt.Errorf("shape %v, want one image of %d×%d attributes in a square", shape, number, attributes))
					return
				}
				for _, m := range masks {
					if m < 0 || m >= len(anchors)/2 {
						t.Fail(fmt.Errorf("a mask %v of %d anchors", masks, len(anchors)/2))
						return
					}
				}
				t.Launch(kernels.Boxes{In: t.In(0), Anchors: t.Numbers(anchors[:2*number]), Number: number,
					Attributes: attributes, Side: side, Pixels: dimensions / side, Out: t.Out()})
			}
		},
		cases: func(s *sampler) []Case {
			c := built("boxes", 10, []Operand{s.normal(3*7, 16)}, func(in gorgonia.Nodes) (*gorgonia.Node, error) {
				anchors := []float32{10, 13, 16, 30, 33, 23, 30, 61}
				return gorgonia.YOLOv3(shaped(in[0], 1, 3*7, 4, 4), anchors, []int{0, 1, 3}, 64, 2, 0.5)
			})
			c.Single = true
			return []Case{c}
		}}
}

// boxesDo computes boxes on the host. gorgonia writes over the operand.
func boxesDo(o gorgonia.Op, in []gorgonia.Value) (gorgonia.Value, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("%d operands, want 1", len(in))
	}
	own, err := gorgonia.CloneValue(in[0])
	if err != nil {
		return nil, err
	}
	return o.Do(own)
}

// numbers is a field that is a slice of float32.
func (p *parameters) numbers(path string) []float64 {
	v, ok := p.field(path, reflect.Slice)
	if !ok {
		return nil
	}
	all := make([]float64, v.Len())
	for i := range all {
		if v.Index(i).Kind() != reflect.Float32 {
			p.missing(path)
			return nil
		}
		all[i] = v.Index(i).Float()
	}
	return all
}

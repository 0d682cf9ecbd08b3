package clipped

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
)

// Dense is a network of rows x whose last number is one: its outputs are Wx, or with h hidden units V(tanh(Ux)/√h, 1).
// Its weights are U (h×p) before V (k×(h+1)), or W (k×p), each by rows.
type Dense struct {
	Length  int // p
	Hidden  int // h, 0 for none
	Targets int // k
}

// Len implements [Network].
func (d Dense) Len() int {
	if d.Hidden == 0 {
		return d.Targets * d.Length
	}
	return d.Hidden*d.Length + d.Targets*(d.Hidden+1)
}

// Outputs implements [Network].
func (d Dense) Outputs() int { return d.Targets }

func (d Dense) key() string { return fmt.Sprintf("dense %d %d %d", d.Length, d.Hidden, d.Targets) }

// The inputs: "first" is Uᵀ (p×h), or Wᵀ (p×k). "last" is the part of V without the constant (k×h), over √h, "forth"
// its transpose, and "less" the negative constants (1×k).
func (d Dense) shapes() map[string][2]int {
	if d.Hidden == 0 {
		return map[string][2]int{"first": {d.Length, d.Targets}}
	}
	return map[string][2]int{"first": {d.Length, d.Hidden}, "last": {d.Targets, d.Hidden},
		"forth": {d.Hidden, d.Targets}, "less": {1, d.Targets}}
}

func (d Dense) inputs(weights []float64) map[string]*mat.Dense {
	transposed := func(a mat.Matrix) *mat.Dense { return mat.DenseCopyOf(a.T()) }
	if d.Hidden == 0 {
		return map[string]*mat.Dense{"first": transposed(mat.NewDense(d.Targets, d.Length, weights))}
	}
	cut := d.Hidden * d.Length
	last := mat.NewDense(d.Targets, d.Hidden+1, weights[cut:])
	v := mat.DenseCopyOf(last.Slice(0, d.Targets, 0, d.Hidden))
	v.Scale(1/math.Sqrt(float64(d.Hidden)), v)
	less := transposed(last.Slice(0, d.Targets, d.Hidden, d.Hidden+1))
	less.Scale(-1, less)
	return map[string]*mat.Dense{"first": transposed(mat.NewDense(d.Hidden, d.Length, weights[:cut])),
		"last": v, "forth": transposed(v), "less": less}
}

func (d Dense) collect(sums func(name string) ([]float64, error)) ([]float64, error) {
	out, err := sums("first")
	if err != nil || d.Hidden == 0 {
		return out, err
	}
	last, err := sums("last")
	if err != nil {
		return nil, err
	}
	floats.Scale(1/math.Sqrt(float64(d.Hidden)), last) // the units are tanh, and not over √h
	constants, err := sums("last constant")
	if err != nil {
		return nil, err
	}
	return append(append([]float64(nil), out...), augmented(last, constants)...), nil
}

// augmented is a matrix, by rows, with a further column.
func augmented(a, column []float64) []float64 {
	width := len(a) / len(column)
	out := make([]float64, 0, len(a)+len(column))
	for i, v := range column {
		out = append(append(out, a[i*width:(i+1)*width]...), v)
	}
	return out
}

func (d Dense) forward(b *examples) (*gorgonia.Node, func(derivatives *gorgonia.Node) []layer) {
	x := b.batched(b.x)
	product := b.flat(b.MatrixProduct(x, b.weights["first"]))
	first := &dense{name: "first", in: x, lengths: b.squares}
	if d.Hidden == 0 {
		return product, func(derivatives *gorgonia.Node) []layer {
			first.derivatives = derivatives
			return []layer{first}
		}
	}
	units := b.Tanh(product)
	last := &dense{name: "last", in: b.batched(units), constants: "last constant"}
	outputs := b.SubtractRow(b.flat(b.MatrixProduct(last.in, b.weights["forth"])), b.weights["less"])
	return outputs, func(derivatives *gorgonia.Node) []layer {
		squares := b.Square(units)
		last.derivatives = derivatives
		last.lengths = b.Add(b.Hadamard(b.addColumns(squares), b.Constant(1/float64(d.Hidden))), b.Constant(1))
		back := b.flat(b.MatrixProduct(b.batched(derivatives), b.weights["last"]))
		first.derivatives = b.Sub(back, b.Hadamard(back, squares)) // tanh has the derivative 1 − tanh²
		return []layer{first, last}
	}
}

func (d Dense) widths() []int {
	if d.Hidden == 0 {
		return []int{d.Targets}
	}
	return []int{d.Targets, d.Hidden}
}

func (d Dense) lengths() bool { return true }

// The numbers of rows of a member. Those that are gathered are padded to a multiple.
const (
	successiveRows = 1024
	gatheredRows   = 256
)

// divide makes successive examples one batch of members, and one of the rest; those that are gathered are a batch.
func (d Dense) divide(count int, gathered bool) (all []part) {
	if gathered {
		return []part{{0, count, (count + gatheredRows - 1) / gatheredRows, gatheredRows}}
	}
	members, rest := count/successiveRows, count%successiveRows
	if members > 0 {
		all = append(all, part{0, count - rest, members, successiveRows})
	}
	if rest > 0 {
		all = append(all, part{count - rest, rest, 1, rest})
	}
	return all
}

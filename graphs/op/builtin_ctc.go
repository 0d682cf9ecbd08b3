package op

import (
	"fmt"
	"reflect"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cuda/kernels"
)

// temporal are the loss of connectionist temporal classification and its derivative. Both
// take logarithms of probabilities, steps×batch×classes, labels as a matrix of one row a
// member of the batch or as a vector of one member's behind another's, and the numbers of
// steps and of labels of each member; the derivative takes that of the objective by the
// loss, too.
//
// What gorgonia computes is the loss where every member has a label. Its derivative is that
// of the sum behind a log-softmax, where every member takes all steps: it does not divide
// by what a mean divides by.
func temporal() []Builtin {
	integers := map[int]tensor.Dtype{1: tensor.Int, 2: tensor.Int, 3: tensor.Int}
	return []Builtin{
		{Name: "temporal classification", kind: "ctcLossOp", other: integers, cases: temporalCases,
			queue: func(p *parameters) func(Stream) {
				mean := p.unsigned("reduction") == uint64(gorgonia.ReductionMean)
				return func(t Stream) {
					if c, ok := temporalOn(t); ok {
						to := pathsOn(t, c, mean)
						t.Launch(kernels.SumParts{Parts: to.Losses, N: c.Batch, Out: t.Out()})
					}
				}
			}},
		{Name: "temporal classification, derivative", kind: "ctcLossDiffOp", other: integers, cases: temporalCases,
			queue: always(func(t Stream) {
				if c, ok := temporalOn(t); ok {
					to, from := pathsOn(t, c, false), kernels.CtcPathsFrom{CTC: c, Beta: t.Doubles(c.Paths())}
					t.Launch(from)
					t.Launch(kernels.CtcGradient{CTC: c, Alpha: to.Alpha, Beta: from.Beta, Likelihoods: to.Likelihoods, G: t.In(4),
						Out: t.Out()})
				}
			})},
	}
}

// temporalOn are the operands of a loss.
func temporalOn(t Stream) (c kernels.CTC, ok bool) {
	stride, err := temporalShapes(t.Shape(0), t.Shape(1), t.Shape(2), t.Shape(3))
	if err != nil {
		t.Fail(err)
		return c, false
	}
	at := func(i int) kernels.Integers { return kernels.Integers(t.In(i).At) }
	s := t.Shape(0)
	return kernels.CTC{LogP: t.In(0), Labels: at(1), Lengths: at(2), Counts: at(3), Steps: s[0], Batch: s[1],
		Classes: s[2], Total: t.In(1).Size(), Stride: stride}, true
}

// pathsOn queues the sums over paths from the first step on.
func pathsOn(t Stream, c kernels.CTC, mean bool) kernels.CtcPathsTo {
	k := kernels.CtcPathsTo{CTC: c, Mean: mean, Alpha: t.Doubles(c.Paths()), Likelihoods: t.Doubles(c.Batch),
		Losses: t.Doubles(c.Batch), Failed: t.Failure()}
	t.Launch(k)
	return k
}

// temporalShapes returns how many labels each member has room for, or 0 where one's are
// behind another's.
func temporalShapes(logp, labels, lengths, counts tensor.Shape) (stride int, err error) {
	switch {
	case len(logp) != 3:
		return 0, fmt.Errorf("logarithms of probabilities of shape %v, want steps, batch and classes", logp)
	case lengths.TotalSize() != logp[1] || counts.TotalSize() != logp[1]:
		return 0, fmt.Errorf("numbers of steps %v and of labels %v for a batch of %d", lengths, counts, logp[1])
	case len(labels) == 2 && labels[0] != logp[1] || len(labels) > 2:
		return 0, fmt.Errorf("labels of shape %v for a batch of %d", labels, logp[1])
	case len(labels) == 2:
		return labels[1], nil
	}
	return 0, nil
}

// temporalDo computes a loss or its derivative on the host. gorgonia ends the process for
// labels and numbers that are not there, because it computes in goroutines of its own; and
// its derivative needs what the value of the same operands left behind, of which it does
// not say so: the value may belong to another run, or to none.
func temporalDo(p *parameters, in []gorgonia.Value) (gorgonia.Value, error) {
	if want := p.operation.Arity(); len(in) != want {
		return nil, fmt.Errorf("%d operands, want %d", len(in), want)
	}
	if err := temporalOperands(in); err != nil {
		return nil, err
	}
	if p.kind == "ctcLossOp" {
		v, err := p.operation.Do(in...)
		if err != nil {
			return nil, err
		}
		return asScalar(v), nil
	}
	value, ok := p.embedded()
	if !ok {
		return nil, p.err
	}
	if _, err := value.Do(in[:4]...); err != nil {
		return nil, err
	}
	return p.operation.Do(in[0], in[1], in[2], in[3], asScalar(in[4]))
}

// temporalOperands refuses operands that are not those of a loss.
func temporalOperands(in []gorgonia.Value) error {
	logp := in[0].Shape()
	stride, err := temporalShapes(logp, in[1].Shape(), in[2].Shape(), in[3].Shape())
	if err != nil {
		return err
	}
	var numbers [3][]int
	for i := range numbers {
		v, ok := in[i+1].Data().([]int)
		if !ok {
			return fmt.Errorf("operand %d is %v, want integers", i+1, in[i+1].Dtype())
		}
		numbers[i] = v
	}
	labels, lengths, counts := numbers[0], numbers[1], numbers[2]
	for b, begin := 0, 0; b < logp[1]; b++ {
		room := len(labels) - begin
		if stride > 0 {
			begin, room = b*stride, stride
		}
		switch {
		case lengths[b] < 1 || lengths[b] > logp[0]:
			return fmt.Errorf("member %d of the batch takes %d steps of %d", b, lengths[b], logp[0])
		case counts[b] < 0 || counts[b] > room:
			return fmt.Errorf("member %d of the batch has %d labels, and there is room for %d", b, counts[b], room)
		}
		for _, c := range labels[begin : begin+counts[b]] {
			if c < 0 || c >= logp[2] {
				return fmt.Errorf("member %d of the batch has the label %d of %d", b, c, logp[2])
			}
		}
		begin += counts[b]
	}
	return nil
}

// asScalar is a tensor without axes as a scalar, as which gorgonia reads it.
func asScalar(v gorgonia.Value) gorgonia.Value {
	t, ok := v.(*tensor.Dense)
	if !ok || t.Shape().TotalSize() != 1 {
		return v
	}
	switch x := t.Data().(type) {
	case float64:
		return gorgonia.NewF64(x)
	case float32:
		return gorgonia.NewF32(x)
	case []float64:
		return gorgonia.NewF64(x[0])
	case []float32:
		return gorgonia.NewF32(x[0])
	}
	return v
}

// embedded is the operation that this one, a derivative, has within itself.
func (p *parameters) embedded() (gorgonia.Op, bool) {
	if p.value.NumField() == 1 && p.value.CanAddr() {
		f := p.value.Field(0)
		if o, ok := reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Interface().(gorgonia.Op); ok {
			return o, true
		}
	}
	p.missing("of the operation that it is the derivative of")
	return nil, false
}

// unsigned is a field of type uint.
func (p *parameters) unsigned(path string) uint64 {
	if v, ok := p.field(path, reflect.Uint); ok {
		return v.Uint()
	}
	return 0
}

// temporalCases have members of different lengths, labels that repeat, and none.
func temporalCases(s *sampler) (all []Case) {
	const steps, batch, classes, room = 12, 3, 5, 4
	for _, c := range []struct {
		name            string
		lengths, counts []float64
		reduction       gorgonia.Reduction
		behind          bool // one member's labels are behind another's
		raw             bool // without a log-softmax before
	}{
		{"sum of losses", []float64{12, 12, 12}, []float64{4, 2, 3}, gorgonia.ReductionSum, false, false},
		{"mean of losses", []float64{12, 12, 12}, []float64{4, 2, 3}, gorgonia.ReductionMean, false, false},
		{"losses of labels behind others", []float64{12, 12, 12}, []float64{4, 2, 3}, gorgonia.ReductionSum, true, false},
		{"losses of some steps", []float64{12, 9, 8}, []float64{4, 2, 3}, gorgonia.ReductionSum, false, true},
		{"losses of no labels", []float64{12, 9, 8}, []float64{0, 2, 0}, gorgonia.ReductionMean, true, true},
	} {
		labels := s.whole(batch, room)
		labels.Apply(func(_, j int, v float64) float64 { return 1 + float64((int(v)+2+j/2)%(classes-1)) }, labels.Dense)
		in := []Operand{s.normal(steps*batch, classes), labels, s.row(c.lengths), s.row(c.counts)}
		graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) {
			x := shaped(in[0], steps, batch, classes)
			if !c.raw {
				x = gorgonia.Must(gorgonia.LogSoftMax(x, 2))
			}
			integers := make(gorgonia.Nodes, 3)
			for i := range integers {
				n := in[i+1]
				if i > 0 || c.behind {
					n = vectorOf(n)
				}
				integers[i] = gorgonia.Must(integersOf(n))
			}
			return gorgonia.CTCLoss(x, integers[0], integers[1], integers[2], c.reduction)
		}
		all = append(all, built(c.name, 100, in, graph))
		all = append(all, Case{Name: c.name + ", derivative", In: in, Condition: 1000,
			Graph: func(in gorgonia.Nodes) *gorgonia.Node {
				return gradient(gorgonia.Must(gorgonia.Square(gorgonia.Must(graph(in)))), in[0])
			}})
	}
	return all
}

// row is a row of given numbers.
func (s *sampler) row(v []float64) Operand { return Operand{Dense: mat.NewDense(1, len(v), v)} }

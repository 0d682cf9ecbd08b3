// Package clipped computes sums of clipped gradients: those of the loss of a network at each of many examples, made
// shorter to a norm where they are longer (Abadi et al., "Deep learning with differential privacy", CCS 2016,
// Algorithm 1).
//
// Examples stay in the memory of the backend, and one program computes outputs, derivatives, norms and the sum of a
// part of them. Where a layer multiplies one vector of an example, its gradient is the product δaᵀ of the derivatives
// by its outputs and that vector, of the norm |δ||a|, and is never written out (Goodfellow, "Efficient per-example
// gradient computations", 2015). A layer that multiplies several vectors, such as the patches of a picture, has the
// gradient DᵀP, which a product of the members of a batch gives for all examples of a part.
//
// Parts have sizes that follow from the number of examples alone, and are added in their order: the bits of a sum do
// not depend on the number of workers.
package clipped

import (
	"context"
	"maps"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
)

// Network is a function with weights, which are one list.
type Network interface {
	// Len is the number of weights, and Outputs that of outputs.
	Len() int
	Outputs() int
	// key stands for the network in keys of programs.
	key() string
	// shapes are those of the weights as inputs of programs, and inputs their values.
	shapes() map[string][2]int
	inputs(weights []float64) map[string]*mat.Dense
	// collect makes one list of the outputs of a program, which are sums of gradients by the names of weights.
	collect(sums func(name string) ([]float64, error)) ([]float64, error)
	// widths are the lengths of rows that are added, and lengths reports whether the norms of examples are used.
	widths() []int
	lengths() bool
	// forward returns the outputs (m×k) at examples, and the layers for the derivatives of losses by them (m×k).
	forward(b *examples) (outputs *gorgonia.Node, layers func(derivatives *gorgonia.Node) []layer)
	// divide returns parts of some examples, which are any that are gathered, or else successive ones.
	divide(count int, gathered bool) []part
}

// Loss is that of the outputs o at an example with the target t.
type Loss int

// The losses: half the square of o − t, and −Σ t_c log softmax(o)_c, in which t is the unit vector of a class.
const (
	Squared Loss = iota
	CrossEntropy
)

// part is some examples, as a batch of members with as many rows each. Those that are gathered may be fewer than its
// rows, which are padded.
type part struct{ first, count, members, rows int }

// size is the number of rows.
func (p part) size() int { return p.members * p.rows }

// Sums are sums of clipped gradients over examples in the memory of an engine's backend. They are for one goroutine.
type Sums struct {
	engine  *engine.Engine
	dtype   tensor.Dtype
	network Network
	loss    Loss
	clip    float64
	count   int // N
	length  int // p, of an example
	// all has the sums over all examples, of one part each, whose inputs are pinned.
	all []*engine.Session
	// kept are the examples of which some are gathered.
	kept engine.Values
}

// Over returns the sums over all examples: x (N×p) and their targets (N×k), which must not change before Close.
func Over(e *engine.Engine, n Network, l Loss, x, targets *mat.Dense, clip float64) (*Sums, error) {
	return over(e, e.ElementType(), n, l, x, targets, clip)
}

// One is the clipped gradient at one example x (1×p) with its target (1×k), in float64.
func One(ctx context.Context, e *engine.Engine, n Network, l Loss, x, target *mat.Dense, clip float64,
	weights []float64) ([]float64, error) {
	s, err := over(e, tensor.Float64, n, l, x, target, clip)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.All(ctx, weights)
}

// over is [Over] in an element type.
func over(e *engine.Engine, dtype tensor.Dtype, n Network, l Loss, x, targets *mat.Dense, clip float64) (*Sums, error) {
	s := newSums(e, dtype, n, l, x, clip)
	for _, p := range n.divide(s.count, false) {
		session, err := e.SessionAs(dtype, s.program(p, false))
		if err != nil {
			s.Close()
			return nil, err
		}
		s.all = append(s.all, session)
		in := s.examples(x, targets, p.first, p.first+p.count)
		s.limits(p, in)
		for name, v := range in {
			if err := session.Pin(name, v); err != nil {
				s.Close()
				return nil, err
			}
		}
	}
	return s, nil
}

// Among returns the sums over some of the examples, for x and targets as of [Over].
func Among(e *engine.Engine, n Network, l Loss, x, targets *mat.Dense, clip float64) (*Sums, error) {
	s := newSums(e, e.ElementType(), n, l, x, clip)
	var err error
	s.kept, err = batch.Keep(e, s.examples(x, targets, 0, s.count))
	return s, err
}

func newSums(e *engine.Engine, dtype tensor.Dtype, n Network, l Loss, x *mat.Dense, clip float64) *Sums {
	s := &Sums{engine: e, dtype: dtype, network: n, loss: l, clip: clip}
	s.count, s.length = x.Dims()
	return s
}

// examples are the inputs of programs for the rows from lo to hi.
func (s *Sums) examples(x, targets *mat.Dense, lo, hi int) engine.Values {
	rows := func(a *mat.Dense) gorgonia.Value {
		_, columns := a.Dims()
		return engine.NewMatrix(s.dtype, a.Slice(lo, hi, 0, columns).(*mat.Dense))
	}
	in := engine.Values{"x": rows(x), "targets": rows(targets)}
	if s.network.lengths() {
		squares := make([]float64, hi-lo)
		for i := range squares {
			row := x.RawRowView(lo + i)
			squares[i] = floats.Dot(row, row)
		}
		in["squares"] = s.column(squares)
	}
	for _, n := range s.network.widths() {
		if n > 1 {
			in[ones(n)] = s.column(slices.Repeat([]float64{1}, n))
		}
	}
	return in
}

// limits adds the norms to which the gradients of a part are clipped.
func (s *Sums) limits(p part, in engine.Values) {
	clip, limit := slices.Repeat([]float64{s.clip}, p.size()), make([]float64, p.size())
	copy(limit, clip[:p.count])
	in["clip"], in["limit"] = s.column(clip), s.column(limit)
}

// column is an n×1 value.
func (s *Sums) column(v []float64) gorgonia.Value {
	return engine.NewMatrix(s.dtype, mat.NewDense(len(v), 1, v))
}

// Close frees the examples.
func (s *Sums) Close() {
	for _, session := range s.all {
		session.Close()
	}
	s.kept.Close()
}

// All is the sum over all examples, of [Over].
func (s *Sums) All(ctx context.Context, weights []float64) ([]float64, error) {
	return s.sum(ctx, weights, len(s.all), func(i int, in engine.Values) (engine.Values, error) {
		return s.all[i].Run(ctx, in)
	})
}

// Of is the sum over the examples of these numbers, of [Among].
func (s *Sums) Of(ctx context.Context, weights []float64, examples []int) ([]float64, error) {
	if len(examples) == 0 {
		return make([]float64, s.network.Len()), nil
	}
	parts := s.network.divide(len(examples), true)
	return s.sum(ctx, weights, len(parts), func(i int, in engine.Values) (engine.Values, error) {
		p := parts[i]
		at := make([]float64, p.size())
		for j := range p.count {
			at[j] = float64(examples[p.first+j])
		}
		in = maps.Clone(in)
		maps.Copy(in, s.kept)
		in["at"] = s.column(at)
		s.limits(p, in)
		return s.engine.Run(ctx, s.program(p, true), in)
	})
}

// sum adds the sums of parts in their order; run computes one, given the weights.
func (s *Sums) sum(ctx context.Context, weights []float64, parts int,
	run func(i int, in engine.Values) (engine.Values, error)) ([]float64, error) {
	in := values(s.dtype, s.network, weights)
	sums := make([][]float64, parts)
	err := s.engine.ParallelFor(ctx, parts, 1, func(i, _ int) error {
		out, err := run(i, in)
		if err != nil {
			return err
		}
		sums[i], err = s.network.collect(func(name string) ([]float64, error) { return engine.Floats(out[name]) })
		return err
	})
	if err != nil {
		return nil, err
	}
	total := make([]float64, s.network.Len())
	for _, sum := range sums {
		floats.Add(total, sum)
	}
	return total, nil
}

// values are the weights as inputs of programs.
func values(dtype tensor.Dtype, n Network, weights []float64) engine.Values {
	out := engine.Values{}
	for name, w := range n.inputs(weights) {
		out[name] = engine.NewMatrix(dtype, w)
	}
	return out
}

// Evaluate returns the outputs (N×k) of a network at the rows of x (N×p).
func Evaluate(ctx context.Context, e *engine.Engine, n Network, weights []float64, x *mat.Dense) (*mat.Dense, error) {
	count, length := x.Dims()
	matrices, out := values(e.ElementType(), n, weights), mat.NewDense(count, n.Outputs(), nil)
	parts := n.divide(count, false)
	err := e.ParallelFor(ctx, len(parts), 1, func(i, _ int) error {
		p := parts[i]
		in := maps.Clone(matrices)
		in["x"] = e.Matrix(x.Slice(p.first, p.first+p.count, 0, length).(*mat.Dense))
		values, err := e.Run(ctx, outputsProgram(n, p, length), in)
		if err != nil {
			return err
		}
		outputs, err := engine.Dense(values["outputs"])
		if err == nil {
			out.Slice(p.first, p.first+p.count, 0, n.Outputs()).(*mat.Dense).Copy(outputs)
		}
		return err
	})
	return out, err
}

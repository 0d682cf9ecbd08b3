package sgd

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/graphs/clipped"
	"privkern/graphs/engine"
)

// examples are the rows of a fit, as the network has them.
type examples struct {
	*algorithm
	x       *mat.Dense // N×(p+1), of p numbers that the network sees
	targets []float64  // N
	judged  *clipped.Sums
}

func newExamples(a *algorithm, rows *method.Part) *examples {
	e := &examples{algorithm: a, x: rows.X, targets: rows.Y}
	if a.network.classes {
		e.targets = make([]float64, len(rows.Labels))
		for i, label := range rows.Labels {
			e.targets[i] = float64(label)
		}
	}
	return e
}

// close frees the rows that the engine keeps.
func (e *examples) close() {
	if e.judged != nil {
		e.judged.Close()
	}
}

// gradient returns the noisy sum of the clipped gradients of a sample of rows, and the rate of the sample. A release
// computes each of these from its row alone, in float64.
func (e *examples) gradient(ctx context.Context, weights []float64, sums *ground.Sums) ([]float64, float64, error) {
	rows, used, err := sums.Sample(e.rate)
	if err != nil {
		return nil, 0, err
	}
	if sums.Released() {
		sum, err := e.released(ctx, weights, sums)
		return sum, used, err
	}
	sum, err := e.sum(ctx, weights, rows, used < 1)
	if err != nil {
		return nil, 0, err
	}
	sums.Judge(e.noise, sum)
	return sum, used, nil
}

// released is the noisy sum of a release.
func (e *examples) released(ctx context.Context, weights []float64, sums *ground.Sums) ([]float64, error) {
	_, columns := e.x.Dims()
	if e.network.filters == nil {
		return sums.Sum(e.noise, func(row int, out []float64) {
			x := mat.NewDense(1, columns, e.x.RawRowView(row))
			e.network.add(weights, x, e.targets[row:row+1], e.clip, out)
		})
	}
	var failed atomic.Pointer[error]
	sum, err := sums.Sum(e.noise, func(row int, out []float64) {
		x := mat.NewDense(1, columns, e.x.RawRowView(row))
		one, err := clipped.One(ctx, e.Engine, e.network.program(), e.network.loss(), x,
			e.network.wanted(e.targets[row:row+1]), e.clip, weights)
		if err != nil {
			failed.Store(&err)
			return
		}
		copy(out, one)
	})
	if last := failed.Load(); last != nil {
		return nil, *last
	}
	return sum, err
}

// few is the number of products of a row and a weight below which the CPU adds gradients in less time than the
// operations of a program take to begin: those of 800 rows and 11 weights take 30 µs, and a program 70 µs.
const few = 1 << 15

// sum adds the clipped gradients of rows, which a sample has others of in each call.
func (e *examples) sum(ctx context.Context, weights []float64, rows []int, sample bool) ([]float64, error) {
	n := &e.network
	if n.filters == nil && e.Engine.Backend() == "cpu" && len(rows)*n.size() < few {
		out := make([]float64, n.size())
		if len(rows) > 0 {
			x, targets := e.some(rows)
			n.add(weights, x, targets, e.clip, out)
		}
		return out, nil
	}
	return e.programmed(ctx, weights, rows, sample)
}

// programmed is sum by a program, which keeps the rows from the first call on.
func (e *examples) programmed(ctx context.Context, weights []float64, rows []int, sample bool) ([]float64, error) {
	n := &e.network
	if e.judged == nil {
		of, x, targets := clipped.Among, e.x, e.targets
		if !sample {
			of = clipped.Over
			x, targets = e.some(rows)
		}
		var err error
		if e.judged, err = of(e.Engine, n.program(), n.loss(), x, n.wanted(targets), e.clip); err != nil {
			return nil, err
		}
	}
	if sample {
		return e.judged.Of(ctx, weights, rows)
	}
	return e.judged.All(ctx, weights)
}

// some returns rows in increasing order, and their targets: successive ones as they lie there, and a copy of others.
func (e *examples) some(rows []int) (*mat.Dense, []float64) {
	m, first := len(rows), rows[0]
	_, columns := e.x.Dims()
	if rows[m-1]-first == m-1 {
		return e.x.Slice(first, first+m, 0, columns).(*mat.Dense), e.targets[first : first+m]
	}
	x, targets := mat.NewDense(m, columns, nil), make([]float64, m)
	for i, row := range rows {
		x.SetRow(i, e.x.RawRowView(row))
		targets[i] = e.targets[row]
	}
	return x, targets
}

// Body are the weights of a network, for inputs u in [−1, 1]^d: the outputs are V(v, 1) with v = tanh(U(u, 1)), or
// v = u without hidden units. Where inputs are the pixels of a picture, u are its features, of which filters may be
// part.
type Body struct {
	Picture *picture `json:"picture,omitempty"`
	// Filters are those of two layers, see [clipped.Convolution]: 16×(64+1) and 32×(256+1).
	Filters [][][]float64 `json:"filters,omitempty"`
	Hidden  [][]float64   `json:"hidden,omitempty"` // U, h×(d+1)
	Output  [][]float64   `json:"output"`           // V, k×(h+1), or k×(d+1): one of a regression, one for each class
}

// newBody has the scales of a network in its weights.
func (a *algorithm) newBody(weights []float64) Body {
	n := &a.network
	if n.filters != nil {
		m := n.filters.Matrices(weights)
		return Body{Picture: a.view.picture, Filters: [][][]float64{scaled(m[0], 1), scaled(m[1], 1)},
			Hidden: scaled(m[2], 1), Output: scaled(m[3], 1)}
	}
	first, last := n.split(weights)
	root := 1 / math.Sqrt(float64(n.inputs))
	if first == nil {
		return Body{Picture: a.view.picture, Output: scaled(last, root)}
	}
	return Body{Picture: a.view.picture, Hidden: scaled(first, root),
		Output: scaled(last, 1/math.Sqrt(float64(n.hidden)))}
}

// scaled are the rows of a matrix, all columns but the last times a number.
func scaled(a *mat.Dense, by float64) [][]float64 {
	k, columns := a.Dims()
	out := make([][]float64, k)
	for i := range out {
		out[i] = mat.Row(nil, i, a)
		floats.Scale(by, out[i][:columns-1])
	}
	return out
}

// Check implements [ground.Body].
func (b Body) Check(c *model.Checker, inputs, classes int) {
	if b.Picture.check(c, b.kind(), inputs, classes); c.Failed() {
		return
	}
	if b.Filters != nil {
		b.checkFilters(c, classes)
		return
	}
	inputs = b.kind().view(b.Picture).len(inputs)
	below, plural := inputs, "inputs and a constant"
	if len(b.Hidden) > 0 {
		c.Rows("parameters.hidden", b.Hidden, inputs+1, plural)
		below, plural = len(b.Hidden), "hidden units and a constant"
	}
	outputs := max(1, classes)
	c.Require(len(b.Output) == outputs, "parameters.output", "it has %d rows for %d outputs", len(b.Output), outputs)
	c.Rows("parameters.output", b.Output, below+1, plural)
}

// kind is that of the numbers that the network sees.
func (b Body) kind() Kind {
	switch {
	case b.Filters != nil:
		return Convolution
	case b.Picture != nil:
		return Scattering
	}
	return Inputs
}

// convolution is the network of filters.
func (b Body) convolution() clipped.Convolution {
	return clipped.Convolution{Width: b.Picture.Width, Height: b.Picture.Height, Targets: len(b.Output)}
}

// checkFilters checks the shapes of all layers.
func (b Body) checkFilters(c *model.Checker, classes int) {
	c.Require(b.Picture != nil, "parameters.picture", "there are filters, and no size of pictures")
	c.Require(len(b.Filters) == 2, "parameters.filters", "it has %d layers, and there are two", len(b.Filters))
	c.Require(len(b.Output) == classes, "parameters.output", "it has %d rows for %d outputs", len(b.Output), classes)
	if c.Failed() {
		return
	}
	sizes := b.convolution().Sizes()
	for i, rows := range b.layers() {
		place := [...]string{"parameters.filters", "parameters.filters", "parameters.hidden", "parameters.output"}[i]
		c.Require(len(rows) == sizes[i][0], place, "it has %d rows, and there are %d", len(rows), sizes[i][0])
		c.Rows(place, rows, sizes[i][1], "weights and a constant")
	}
}

// layers are the weights of the network of filters.
func (b Body) layers() [][][]float64 { return append(slices.Clone(b.Filters), b.Hidden, b.Output) }

// outputs are those of the network at rows x (m×d) of inputs in [−1, 1], m×k.
func (b Body) outputs(ctx context.Context, e *engine.Engine, x *mat.Dense) (*mat.Dense, error) {
	seen, err := b.kind().view(b.Picture).matrix(ctx, e, x, 1)
	if err != nil {
		return nil, err
	}
	if b.Filters != nil {
		var weights []float64
		for _, rows := range b.layers() {
			weights = append(weights, slices.Concat(rows...)...)
		}
		return clipped.Evaluate(ctx, e, b.convolution(), weights, seen)
	}
	var first *mat.Dense
	if len(b.Hidden) > 0 {
		first = model.Dense(b.Hidden)
	}
	outputs, _ := forward(first, model.Dense(b.Output), seen, 1)
	return outputs, nil
}

// byOutput are the columns of outputs at rows (m×k).
func byOutput(outputs *mat.Dense) [][]float64 {
	_, k := outputs.Dims()
	out := make([][]float64, k)
	for c := range out {
		out[c] = mat.Col(nil, c, outputs)
	}
	return out
}

// Evaluate implements [ground.Body].
func (b Body) Evaluate(ctx context.Context, e *engine.Engine, x *mat.Dense) ([][]float64, error) {
	outputs, err := b.outputs(ctx, e, x)
	if err != nil {
		return nil, err
	}
	out := byOutput(outputs)
	if len(out) > 1 {
		ground.Softmax(out)
		return out, nil
	}
	for i, v := range out[0] {
		out[0][i] = max(-1, min(1, v))
	}
	return out, nil
}

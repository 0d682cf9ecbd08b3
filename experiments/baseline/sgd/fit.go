package sgd

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/graphs/engine"
)

// examples are the rows of a fit, as the network has them.
type examples struct {
	*algorithm
	x       *mat.Dense // N×(d+1)
	targets []float64  // N
}

func newExamples(a *algorithm, rows *method.Part) *examples {
	e := &examples{a, widened(rows.X, 1/math.Sqrt(float64(a.Dims))), rows.Y}
	if a.network.classes {
		e.targets = make([]float64, len(rows.Labels))
		for i, label := range rows.Labels {
			e.targets[i] = float64(label)
		}
	}
	return e
}

// gradient returns the noisy sum of the clipped gradients of a sample of rows, and the rate of the sample. A release
// computes each of these from its row alone.
func (e *examples) gradient(ctx context.Context, weights []float64, sums *ground.Sums) ([]float64, float64, error) {
	rows, used, err := sums.Sample(e.rate)
	if err != nil {
		return nil, 0, err
	}
	if sums.Released() {
		sum, err := sums.Sum(e.noise, func(row int, out []float64) {
			x := mat.NewDense(1, e.Dims+1, e.x.RawRowView(row))
			e.network.add(weights, x, e.targets[row:row+1], e.clip, out)
		})
		return sum, used, err
	}
	sum, err := e.sum(ctx, weights, rows)
	if err != nil {
		return nil, 0, err
	}
	sums.Judge(e.noise, sum)
	return sum, used, nil
}

// batch is the number of rows whose gradients are one product of matrices.
const batch = 1024

// sum adds the clipped gradients of rows in batches.
func (e *examples) sum(ctx context.Context, weights []float64, rows []int) ([]float64, error) {
	return ground.InChunks(ctx, e.Engine, len(rows), batch, e.network.size(), func(lo, hi int, out []float64) {
		x, targets := mat.NewDense(hi-lo, e.Dims+1, nil), make([]float64, hi-lo)
		for i, row := range rows[lo:hi] {
			x.SetRow(i, e.x.RawRowView(row))
			targets[i] = e.targets[row]
		}
		e.network.add(weights, x, targets, e.clip, out)
	})
}

// Body are the weights of a network, for inputs u in [−1, 1]^d: the outputs are V(v, 1) with v = tanh(U(u, 1)), or
// v = u without hidden units.
type Body struct {
	Hidden [][]float64 `json:"hidden,omitempty"` // U, h×(d+1)
	Output [][]float64 `json:"output"`           // V, k×(h+1), or k×(d+1): one of a regression, one for each class
}

// newBody has the scales of a network in its weights.
func newBody(n *network, weights []float64) Body {
	first, last := n.split(weights)
	root := 1 / math.Sqrt(float64(n.inputs))
	if first == nil {
		return Body{Output: scaled(last, root)}
	}
	return Body{Hidden: scaled(first, root), Output: scaled(last, 1/math.Sqrt(float64(n.hidden)))}
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
	below, plural := inputs, "inputs and a constant"
	if len(b.Hidden) > 0 {
		c.Rows("parameters.hidden", b.Hidden, inputs+1, plural)
		below, plural = len(b.Hidden), "hidden units and a constant"
	}
	outputs := max(1, classes)
	c.Require(len(b.Output) == outputs, "parameters.output", "it has %d rows for %d outputs", len(b.Output), outputs)
	c.Rows("parameters.output", b.Output, below+1, plural)
}

// Evaluate implements [ground.Body].
func (b Body) Evaluate(_ context.Context, _ *engine.Engine, x *mat.Dense) ([][]float64, error) {
	var first *mat.Dense
	if len(b.Hidden) > 0 {
		first = model.Dense(b.Hidden)
	}
	outputs, _ := forward(first, model.Dense(b.Output), widened(x, 1), 1)
	_, k := outputs.Dims()
	out := make([][]float64, k)
	for c := range out {
		out[c] = mat.Col(nil, c, outputs)
	}
	if k > 1 {
		ground.Softmax(out)
		return out, nil
	}
	for i, v := range out[0] {
		out[0][i] = max(-1, min(1, v))
	}
	return out, nil
}

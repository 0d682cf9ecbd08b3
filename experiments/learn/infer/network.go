package infer

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
)

// epochs are how many are tried, of which the best number is chosen; more where it is the last of fewer.
var epochs = []int{100, 300}

// The network: hidden units, the rows of a step and its size.
const (
	hiddenUnits = 64
	batch       = 64
	stepSize    = 5e-3
	// lastEpochs are those that are an end of the ladder.
	lastEpochs = .95
)

// network has one hidden layer of tanh and the cross entropy of the softmax for loss. Adam (Kingma and Ba 2015)
// descends on batches of rows in random order. It is stopped after the number of epochs that is best for rows that are
// held out.
type network struct {
	*room
	epochs int
}

func (n *network) tune(ctx context.Context) (top *peak, err error) {
	for _, most := range epochs {
		if top, err = n.tuned(ctx, most); err != nil || top.edges == nil {
			break
		}
	}
	return top, err
}

// tuned counts the right answers after each epoch.
func (n *network) tuned(ctx context.Context, most int) (*peak, error) {
	right, all := make([]float64, most), 0
	for _, f := range n.folds {
		x, at, labels := learn.SelectRows(n.x, f.Train), learn.SelectRows(n.x, f.Test), learn.Select(n.labels, f.Test)
		err := n.train(ctx, x, learn.Select(n.labels, f.Train), most, func(epoch int, l *layers) {
			outputs, _ := l.forward(at)
			for i, label := range labels {
				if floats.MaxIdx(outputs.RawRowView(i)) == label {
					right[epoch]++
				}
			}
		})
		if err != nil {
			return nil, err
		}
		all += len(f.Test)
	}
	best := floats.MaxIdx(right)
	n.epochs = best + 1
	top := &peak{score: right[best] / float64(all)}
	if float64(n.epochs) > lastEpochs*float64(most) {
		top.edges = append(top.edges, fmt.Sprintf("%d epochs of at most %d", n.epochs, most))
	}
	return top, nil
}

func (n *network) answer(ctx context.Context, x *mat.Dense) (answers, error) {
	var last *layers
	err := n.train(ctx, n.x, n.labels, n.epochs, func(_ int, l *layers) { last = l })
	if err != nil {
		return nil, err
	}
	outputs, _ := last.forward(x)
	return softmax(outputs), nil
}

// train calls each with the network after every epoch.
func (n *network) train(ctx context.Context, x *mat.Dense, labels []int, epochs int,
	each func(epoch int, l *layers)) error {
	rng := n.stream(Network, "fit")
	_, d := x.Dims()
	l := newLayers(d, n.classes, rng)
	a := newAdam(len(l.weights))
	gradient := newLayers(d, n.classes, nil)
	for epoch := range epochs {
		if err := ctx.Err(); err != nil {
			return err
		}
		order := rng.Perm(len(labels))
		for lo := 0; lo < len(order); lo += batch {
			rows := order[lo:min(lo+batch, len(order))]
			l.gradient(learn.SelectRows(x, rows), learn.Select(labels, rows), gradient)
			a.step(l.weights, gradient.weights)
		}
		each(epoch, l)
	}
	return nil
}

// layers are V tanh(Ux + a) + b with U (d×h), a (h), V (h×k) and b (k), which share one list.
type layers struct {
	weights     []float64
	first, last *mat.Dense
	a, b        []float64
}

// newLayers draws the weights of a layer from a normal distribution of variance one over its inputs; without a source
// they are 0.
func newLayers(d, k int, rng *rand.Rand) *layers {
	const h = hiddenUnits
	l := &layers{weights: make([]float64, d*h+h+h*k+k)}
	rest := l.weights
	take := func(n int) []float64 {
		own := rest[:n:n]
		rest = rest[n:]
		return own
	}
	l.first, l.a, l.last, l.b = mat.NewDense(d, h, take(d*h)), take(h), mat.NewDense(h, k, take(h*k)), take(k)
	if rng != nil {
		draw := func(m *mat.Dense, inputs int) {
			m.Apply(func(int, int, float64) float64 { return rng.NormFloat64() / math.Sqrt(float64(inputs)) }, m)
		}
		draw(l.first, d)
		draw(l.last, h)
	}
	return l
}

// forward returns the outputs (m×k) at rows x (m×d), and the values of the hidden units (m×h).
func (l *layers) forward(x *mat.Dense) (outputs, hidden *mat.Dense) {
	hidden, outputs = new(mat.Dense), new(mat.Dense)
	hidden.Mul(x, l.first)
	hidden.Apply(func(_, j int, v float64) float64 { return math.Tanh(v + l.a[j]) }, hidden)
	outputs.Mul(hidden, l.last)
	n, _ := outputs.Dims()
	for i := range n {
		floats.Add(outputs.RawRowView(i), l.b)
	}
	return outputs, hidden
}

// gradient writes the derivatives of the mean cross entropy at rows x (m×d) to out.
func (l *layers) gradient(x *mat.Dense, labels []int, out *layers) {
	miss, hidden := l.forward(x)
	clear(out.weights)
	for i, label := range labels {
		row := miss.RawRowView(i)
		all := floats.LogSumExp(row)
		for c, v := range row {
			row[c] = math.Exp(v - all)
		}
		row[label]--
		floats.Scale(1/float64(len(labels)), row)
		floats.Add(out.b, row)
	}
	out.last.Mul(hidden.T(), miss)
	var back mat.Dense // m×h
	back.Mul(miss, l.last.T())
	back.Apply(func(i, j int, v float64) float64 { return v * (1 - hidden.At(i, j)*hidden.At(i, j)) }, &back)
	for i := range labels {
		floats.Add(out.a, back.RawRowView(i))
	}
	out.first.Mul(x.T(), &back)
}

// adam keeps the moments of gradients.
type adam struct {
	first, second []float64
	steps         float64
}

func newAdam(n int) *adam { return &adam{first: make([]float64, n), second: make([]float64, n)} }

// step changes weights by Adam's rule, with the constants of its authors.
func (a *adam) step(weights, gradient []float64) {
	const beta1, beta2, least = .9, .999, 1e-8
	a.steps++
	size := stepSize * math.Sqrt(1-math.Pow(beta2, a.steps)) / (1 - math.Pow(beta1, a.steps))
	for i, g := range gradient {
		a.first[i] = beta1*a.first[i] + (1-beta1)*g
		a.second[i] = beta2*a.second[i] + (1-beta2)*g*g
		weights[i] -= size * a.first[i] / (math.Sqrt(a.second[i]) + least)
	}
}

package exact

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/learn/boost"
	"privkern/graphs/engine"
)

const (
	// few and many are the leaves of trees: for interactions of two inputs or so, and of more.
	few, many = 5, 31
	// mostRounds bounds the candidates, the numbers of rounds.
	mostRounds = 200
)

// boosted are boosted trees, each of at most that number of leaves.
type boosted struct{ leaves int }

func (b boosted) train(r *rows, rounds int) (m *boost.Model, err error) {
	o := boost.Options{Rounds: rounds, Leaves: b.leaves, Least: max(1, min(20, r.len()/20))}
	if r.classes > 0 {
		return boost.Classification(r.x, r.labels, r.classes, o)
	}
	return boost.Regression(r.x, r.y, o)
}

// losses returns those after 1, 2, ... rounds of one fit.
func (b boosted) losses(_ context.Context, train, valid *rows) ([]float64, error) {
	m, err := b.train(train, mostRounds)
	if err != nil {
		return nil, err
	}
	var out []float64
	m.Stages(valid.x, func(_ int, scores [][]float64) { out = append(out, valid.loss(predictions(scores))) })
	return out[1:], nil
}

func (b boosted) fit(_ context.Context, train *rows, candidate int) (ground.Evaluator, error) {
	m, err := b.train(train, candidate+1)
	return trees{m}, err
}

// predictions are means, or probabilities, for scores of boosted trees.
func predictions(scores [][]float64) [][]float64 {
	out := make([][]float64, len(scores))
	for c, s := range scores {
		out[c] = slices.Clone(s)
	}
	if len(out) > 1 {
		ground.Softmax(out)
	} else {
		clipped(out[0])
	}
	return out
}

type trees struct{ *boost.Model }

// Evaluate implements [ground.Evaluator].
func (t trees) Evaluate(_ context.Context, _ *engine.Engine, x *mat.Dense) ([][]float64, error) {
	return predictions(t.Scores(x)), nil
}

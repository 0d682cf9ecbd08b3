package infer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/learn/boost"
)

// logs are logarithms of probabilities of classes, of each row.
type logs struct {
	classes []int
	p       *mat.Dense // M×L
}

func (l logs) together(groups [][]int) []int {
	out, sums := make([]int, len(groups)), make([]float64, len(l.classes))
	for g, rows := range groups {
		clear(sums)
		for _, i := range rows {
			floats.Add(sums, l.p.RawRowView(i))
		}
		out[g] = l.classes[floats.MaxIdx(sums)]
	}
	return out
}

// shares are logs of votes (M×L), all of a row together; one vote more is divided among the classes, so that none is
// excluded by a single row.
func shares(classes []int, votes *mat.Dense, all float64) logs {
	votes.Apply(func(_, _ int, v float64) float64 {
		return math.Log((v + 1/float64(len(classes))) / (all + 1))
	}, votes)
	return logs{classes, votes}
}

// neighbourCounts is the ladder of nearest neighbours.
var neighbourCounts = []float64{1, 3, 9, 27, 81, 243}

// voters name by votes, of a kind k that climbs a ladder.
type voters struct {
	*room
	ladder axis
	// votes are those about the rows at, of a fit to rows x; last is of the fit that answers.
	votes func(ctx context.Context, x *mat.Dense, labels []int, at *mat.Dense, k int, last bool) (answers, error)
	k     int
}

func (v *voters) tune(ctx context.Context) (*peak, error) {
	top, err := climb(ctx, []axis{v.ladder}, func(values []float64) (float64, error) {
		return v.validate(ctx, func(f learn.Fold) (answers, error) {
			return v.votes(ctx, learn.SelectRows(v.x, f.Train), learn.Select(v.labels, f.Train),
				learn.SelectRows(v.x, f.Test), int(values[0]), false)
		})
	})
	if err == nil {
		v.k = int(top.values[0])
	}
	return top, err
}

func (v *voters) answer(ctx context.Context, x *mat.Dense) (answers, error) {
	return v.votes(ctx, v.x, v.labels, x, v.k, true)
}

// neighbours is a vote of the nearest ones.
func (r *room) neighbours() *voters {
	least := len(r.labels)
	for _, f := range r.folds {
		least = min(least, len(f.Train))
	}
	there := slices.DeleteFunc(slices.Clone(neighbourCounts), func(k float64) bool { return k > float64(least) })
	return &voters{room: r, ladder: axis{name: "neighbours", values: there, starts: []int{min(1, len(there)-1)},
		bottom: true, top: len(there) < len(neighbourCounts)},
		votes: func(ctx context.Context, x *mat.Dense, labels []int, at *mat.Dense, k int, _ bool) (answers, error) {
			classes, votes, err := learn.NeighbourVotes(ctx, r.Engine, x, labels, at, k)
			if err != nil {
				return nil, err
			}
			return shares(classes, votes, float64(k)), nil
		}}
}

// Trees of a forest that answers, and of one that is compared with others.
const (
	trees         = 300
	comparedTrees = 60
)

// forest is a random forest. The number of features that a split looks at climbs the powers of two, and all of them.
func (r *room) forest() *voters {
	_, d := r.x.Dims()
	a := axis{name: "features for a split", starts: []int{0}, bottom: true, top: true}
	for k := 1; k < d; k *= 2 {
		if a.values = append(a.values, float64(k)); k*k <= d {
			a.starts = []int{len(a.values) - 1}
		}
	}
	a.values = append(a.values, float64(d))
	return &voters{room: r, ladder: a,
		votes: func(_ context.Context, x *mat.Dense, labels []int, at *mat.Dense, k int, last bool) (answers, error) {
			grown := comparedTrees
			if last {
				grown = trees
			}
			f, err := learn.TrainForest(x, labels, r.stream(Forest, "fit"),
				learn.ForestOptions{Trees: grown, Features: k, Workers: r.Workers})
			if err != nil {
				return nil, err
			}
			return shares(f.Classes, f.Sums(at), float64(grown)), nil
		}}
}

// Boosted trees: the ladder of leaves, the most rounds, of which the best number is chosen, the least samples of a
// leaf, and the bins of an input.
var leavesOfTrees = []float64{2, 4, 8, 16, 32, 64, 128}

const (
	mostRounds  = 100
	boostedRate = .15
	leastOfLeaf = 5
	binsOfInput = 32
	// lastRounds are those that are an end of the ladder.
	lastRounds = .95
)

// boosted are boosted trees.
type boosted struct {
	*room
	leaves, rounds int
}

func (b *boosted) fit(x *mat.Dense, labels []int, leaves, rounds int) (*boost.Model, error) {
	return boost.Classification(x, labels, b.classes, boost.Options{Rounds: rounds, Rate: boostedRate, Leaves: leaves,
		Least: leastOfLeaf, Bins: binsOfInput})
}

// tune counts the right answers after each round.
func (b *boosted) tune(ctx context.Context) (*peak, error) {
	rounds := map[int]int{} // the best of a number of leaves
	axes := []axis{{name: "leaves", values: leavesOfTrees, starts: []int{2}, bottom: true}}
	top, err := climb(ctx, axes, func(v []float64) (float64, error) {
		right, all := make([]float64, mostRounds+1), 0
		for _, f := range b.folds {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			m, err := b.fit(learn.SelectRows(b.x, f.Train), learn.Select(b.labels, f.Train), int(v[0]), mostRounds)
			if err != nil {
				return 0, err
			}
			m.Stages(learn.SelectRows(b.x, f.Test), func(after int, scores [][]float64) {
				for i, row := range f.Test {
					if largest(scores, i) == b.labels[row] {
						right[after]++
					}
				}
			})
			all += len(f.Test)
		}
		best := 1 + floats.MaxIdx(right[1:])
		rounds[int(v[0])] = best
		return right[best] / float64(all), nil
	})
	if err != nil {
		return nil, err
	}
	b.leaves = int(top.values[0])
	if b.rounds = rounds[b.leaves]; float64(b.rounds) > lastRounds*mostRounds {
		top.edges = append(top.edges, fmt.Sprintf("%d rounds of at most %d", b.rounds, mostRounds))
	}
	return top, nil
}

// largest is the class with the largest score of a row, the first of equals.
func largest(scores [][]float64, row int) int {
	best := 0
	for c := range scores {
		if scores[c][row] > scores[best][row] {
			best = c
		}
	}
	return best
}

func (b *boosted) answer(_ context.Context, x *mat.Dense) (answers, error) {
	m, err := b.fit(b.x, b.labels, b.leaves, b.rounds)
	if err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	p := mat.NewDense(n, b.classes, nil)
	for c, scores := range m.Scores(x) {
		p.SetCol(c, scores)
	}
	return softmax(p), nil
}

// softmax turns scores of classes (M×L) into logarithms of probabilities, in place.
func softmax(scores *mat.Dense) logs {
	n, classes := scores.Dims()
	out := logs{p: scores}
	for c := range classes {
		out.classes = append(out.classes, c)
	}
	for i := range n {
		row := scores.RawRowView(i)
		floats.AddConst(-floats.LogSumExp(row), row)
	}
	return out
}

// Package boost learns by gradient boosting of regression trees on histograms of the inputs.
//
// The model is a sum of trees, F = F₀ + Σ_t η T_t(x). Each tree is a step of the functional descent of a loss ℓ(y, F)
// (Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29, 2001): with the
// derivatives g_i = ∂ℓ/∂F and h_i = ∂²ℓ/∂F² of the samples, a leaf with the samples I has the Newton step −G/H, G = Σ_I
// g_i and H = Σ_I h_i, and a split lowers the loss to second order by half of
//
//	G_L²/H_L + G_R²/H_R − G²/H
//
// (Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016, Eq. 7, without regularisation). Inputs are
// replaced by the numbers of at most 255 bins, so that all splits of a node come from sums over bins, and those of one
// child from the other's by subtraction; the leaf whose split gains most is split first (Ke et al., "LightGBM: a highly
// efficient gradient boosting decision tree", NeurIPS 2017), as scikit-learn's HistGradientBoosting does.
//
// Nothing is drawn at random, and nothing is private. A round takes O(Nd) operations for each level of a balanced tree.
package boost

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Options adjust a fit; zero values stand for the defaults.
type Options struct {
	Rounds int     // default 100
	Rate   float64 // η; default 0.1
	Leaves int     // the most of a tree; default 31
	Least  int     // samples of a leaf; default 20
	Bins   int     // the most of an input, at most 255; default 255
}

func (o Options) filled() (Options, error) {
	if o.Rounds < 0 || o.Rate < 0 || o.Leaves < 0 || o.Leaves == 1 || o.Least < 0 || o.Bins < 0 || o.Bins == 1 ||
		o.Bins > mostBins {
		return o, fmt.Errorf("gradient boosting: the options are %+v: none may be negative, a tree has two leaves or more, "+
			"and an input 2 to %d bins", o, mostBins)
	}
	if o.Bins == 0 {
		o.Bins = mostBins
	}
	if o.Rounds == 0 {
		o.Rounds = 100
	}
	if o.Rate == 0 {
		o.Rate = 0.1
	}
	if o.Leaves == 0 {
		o.Leaves = 31
	}
	if o.Least == 0 {
		o.Least = 20
	}
	return o, nil
}

// Model is a sum of trees for each of its outputs.
type Model struct {
	start []float64 // F₀ of each output
	trees [][]tree  // of each round and output
	two   bool      // the output is the log-odds of the second of two classes
}

// Rounds is the number of trees of an output.
func (m *Model) Rounds() int { return len(m.trees) }

// Regression fits the outputs y (N) at the rows of x (N×d) by least squares.
func Regression(x *mat.Dense, y []float64, o Options) (*Model, error) {
	m := &Model{start: []float64{floats.Sum(y) / float64(len(y))}}
	return m, m.fit(x, len(y), o, func(scores [][]float64, _ int, g, h []float64) {
		for i, v := range y {
			g[i], h[i] = scores[0][i]-v, 1
		}
	})
}

// Classification fits the labels (N, from 0 to classes−1) at the rows of x (N×d) by the logistic loss, with a tree for
// each class in a round, and one for two classes. F₀ are the logarithms of the shares of the classes, one added to each
// count.
func Classification(x *mat.Dense, labels []int, classes int, o Options) (*Model, error) {
	if classes < 2 {
		return nil, fmt.Errorf("gradient boosting: there are %d classes; two or more are required", classes)
	}
	m := &Model{start: make([]float64, classes)}
	for _, l := range labels {
		if l < 0 || l >= classes {
			return nil, fmt.Errorf("gradient boosting: label %d, of %d classes", l, classes)
		}
		m.start[l]++
	}
	for c, n := range m.start {
		m.start[c] = math.Log((n + 1) / float64(len(labels)+classes))
	}
	if m.two = classes == 2; m.two {
		m.start = []float64{m.start[1] - m.start[0]}
	}
	p, normal := make([]float64, classes), make([]float64, len(labels)) // logarithms of the sums of a round
	return m, m.fit(x, len(labels), o, func(scores [][]float64, c int, g, h []float64) {
		for i, l := range labels {
			var own, share float64
			if m.two {
				c, share = 1, 1/(1+math.Exp(-scores[0][i]))
			} else {
				if c == 0 { // the first of the classes
					for k := range p {
						p[k] = scores[k][i]
					}
					normal[i] = floats.LogSumExp(p)
				}
				share = math.Exp(scores[c][i] - normal[i])
			}
			if l == c {
				own = 1
			}
			g[i], h[i] = share-own, share*(1-share)
		}
	})
}

// fit adds the rounds. The derivatives of output c are computed from the scores before the round.
func (m *Model) fit(x *mat.Dense, n int, o Options, derivatives func(scores [][]float64, c int, g, h []float64)) error {
	o, err := o.filled()
	if err != nil {
		return err
	}
	rows, d := x.Dims()
	if rows != n || n == 0 || d == 0 {
		return fmt.Errorf("gradient boosting: %d rows of %d inputs for %d outputs", rows, d, n)
	}
	for _, v := range x.RawMatrix().Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("gradient boosting: an input is not finite")
		}
	}
	grow := newGrower(x, o)
	scores := m.begin(n)
	for range o.Rounds {
		round := make([]tree, len(m.start))
		steps := make([][]float64, len(m.start))
		for c := range round {
			derivatives(scores, c, grow.g, grow.h)
			steps[c] = make([]float64, n)
			round[c] = grow.tree(steps[c])
		}
		for c, s := range steps {
			floats.Add(scores[c], s)
		}
		m.trees = append(m.trees, round)
	}
	return nil
}

// begin returns F₀ of each output for n rows.
func (m *Model) begin(n int) [][]float64 {
	scores := make([][]float64, len(m.start))
	for c, v := range m.start {
		scores[c] = make([]float64, n)
		floats.AddConst(v, scores[c])
	}
	return scores
}

// Stages calls each with the scores at the rows of x (P×d) after 0, 1, ... rounds: the mean of a regression (1×P), or a
// score of each class (C×P), whose softmax are probabilities. They are valid in the call alone.
func (m *Model) Stages(x *mat.Dense, each func(rounds int, scores [][]float64)) {
	n, _ := x.Dims()
	scores := m.begin(n)
	out := scores
	if m.two {
		out = [][]float64{make([]float64, n), scores[0]}
	}
	each(0, out)
	for r, round := range m.trees {
		for c := range round {
			for i := range n {
				scores[c][i] += round[c].at(x.RawRowView(i))
			}
		}
		each(r+1, out)
	}
}

// Scores are those of [Model.Stages] after all rounds.
func (m *Model) Scores(x *mat.Dense) (out [][]float64) {
	m.Stages(x, func(_ int, scores [][]float64) { out = scores })
	return out
}

// tree is a binary tree with the root in front. A node sends rows whose feature is at most the threshold to left, and
// others to right; a leaf has the feature −1.
type tree []node

type node struct {
	feature     int
	threshold   float64
	left, right int
	value       float64 // of a leaf, times the rate
}

func (t tree) at(row []float64) float64 {
	k := 0
	for t[k].feature >= 0 {
		if row[t[k].feature] <= t[k].threshold {
			k = t[k].left
		} else {
			k = t[k].right
		}
	}
	return t[k].value
}

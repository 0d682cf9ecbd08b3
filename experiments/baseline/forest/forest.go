// Package forest classifies by trees of random structure whose leaves hold noisy counts of the classes.
package forest

import (
	"context"
	_ "embed"
	"math"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed forest.go
var source string

func init() { experiment.Document[Settings](source) }

// Auto is the word of a number that follows from public ones.
type Auto int

// Choices are the word.
func (Auto) Choices() []string { return []string{"auto"} }

// Settings are those of baseline/forest.
type Settings struct {
	ground.Data
	// trees; more of them cost no privacy, since each takes a part of the noise; auto: 128, and fewer where classes are
	// many
	Trees experiment.Or[Auto, int] `name:"trees" default:"auto" min:"1" max:"4096"`
	// levels of a tree below its root; auto: the logarithm of the number of leaves 3 (n/(10σ))^0.7, for n rows, or √m for
	// each of the persons with at most m, and the noise σ of a count averaged over the trees
	Depth experiment.Or[Auto, int] `name:"depth" default:"auto" min:"1" max:"12"`
	// variance of the share of a class that one more level of the trees explains; more of it trusts smaller leaves
	Variance float64 `name:"variance" default:"0.1" above:"0" max:"1"`
	// share s of the budget for the line from shares of classes in the forest to their probabilities; the leaves have
	// √(1 − s²)
	Line float64 `name:"line" default:"0.6" above:"0" below:"1"`
}

const format = "baseline/forest/1"

// PredictFormat makes run predict read its files.
var PredictFormat = ground.Format[Body](format, method.Classification)

// Definition is baseline/forest.
var Definition = ground.Classification(ground.Baseline[Settings, Body]{
	Name: "baseline/forest", Version: 4, // 3: accuracy_largest is that of persons; 4: the depth of trees of persons
	Summary: "a forest of random trees with noisy counts of the classes in their leaves, with protection of rows",
	Source: "the random structure of Fletcher and Islam, \"Differentially private random decision forests using smooth " +
		"sensitivity\" (Expert Systems with Applications 2017), here with Gaussian noise for all trees together",
	Data:    func(s *Settings) *ground.Data { return &s.Data },
	Check:   check,
	Prepare: prepare,
	Held:    100,
	Format:  format,
	About: "A forest of random trees, made with differential privacy: run predict THIS_FILE --at x.csv gives classes " +
		"and probabilities. Node k of a tree goes on to node 2k+1 where column columns[k] of the inputs, brought to " +
		"[-1, 1], is below cuts[k], and otherwise to 2k+2; counts are noisy numbers of rows, leaf after leaf and class " +
		"after class. From the root down, the share of a class moves to that of a level's mean counts n over the trees by " +
		"v/(v + s^2 + 1/(4 n)), with v the variance and s the noise of a share; intercept and slope make it a probability.",
	Advice: method.Advice{Noise: "use a larger epsilon, fewer levels, or more rows",
		Settings: "use more levels, narrower public ranges, or fewer inputs"},
})

// algorithm has the noise of two queries. The first are the numbers of rows of each class in each leaf of all T trees.
//
// Structures do not depend on the data: inputs and cuts are drawn from the public ranges. So a row adds 1 to one number
// of each tree, and its vector has the norm √T. Those of two rows differ in at most two numbers of each tree, by
// 1, so that they are √(2T) apart at most, which is reached by rows of two classes.
//
// The noise of a number has the deviation σ = √(2T) σ₀, with σ₀ that of a sensitivity of 1, and the mean over the trees
// of the numbers of the leaves that a point is in has σ/√T = √2 σ₀, however many trees there are; trees of disjoint
// parts of the rows, of N/T each, would have √2 σ₀ √T for as many rows.
//
// The second query depends on the answers to the first: each row adds 1 to one number of histograms, of norm 1, and two
// rows are √2 apart. Its number is that of a row's class and of its shares in the noisy forest, less what the row
// itself has added there, a function of the row alone.
type algorithm struct {
	*ground.Problem
	first  *ground.Noise // of the leaves
	second *ground.Noise // of the histograms
	trees  structure
	spread float64 // the variance of the settings
}

// mostNumbers bounds the numbers of rows in a forest, and mostTrees its trees, unless the settings have more.
const (
	mostNumbers = 1 << 16
	mostTrees   = 128
)

// largestForest bounds the numbers of any forest.
const largestForest = 1 << 22

func prepare(p *ground.Problem, s *Settings) (ground.Algorithm[Body], error) {
	a := &algorithm{Problem: p, spread: s.Variance}
	one, err := p.Gaussian(query(p, 1, 1), 1)
	if err != nil {
		return nil, err
	}
	depth, trees := s.Depth.Number, s.Trees.Number
	if s.Depth.IsWord {
		depth = depthFor(p.Rows.Units(), p.Slots, one.Scale())
	}
	if s.Trees.IsWord {
		trees = max(1, min(mostTrees, mostNumbers/(p.Classes<<depth)))
	}
	if err := checkSize(trees, depth, p.Classes); err != nil {
		return nil, err
	}
	a.trees = newStructure(p.Trial.Stream("structure of the trees"), p.Rows.Asked, trees, depth)
	if a.first, err = p.Gaussian(query(p, trees, p.Classes<<depth), math.Sqrt(1-s.Line*s.Line)); err != nil {
		return nil, err
	}
	a.second, err = p.Gaussian(ground.Query{What: "numbers of rows by share and class", Coordinates: 2 * bins * p.Classes,
		Norm: 1, Diameter: math.Sqrt2, Largest: 1, Rows: p.Slots}, s.Line)
	return a, err
}

// query is that of trees, each of which has a count for every leaf and class.
func query(p *ground.Problem, trees, numbers int) ground.Query {
	t := float64(trees)
	return ground.Query{What: "numbers of rows of the classes in the leaves", Coordinates: trees * numbers,
		Norm: math.Sqrt(t), Diameter: math.Sqrt(2 * t), Largest: 1, Rows: p.Slots}
}

// depthFor returns the levels of trees of N rows, where the mean of a number has noise of that deviation:
// 3 (N/(10σ))^0.7 leaves. It was found on tables of 150 to 3,500 rows and 4 to 30 inputs, at ε from 0.3 to 4.
//
// How many rows the persons have is private, between one and m each. N is between these ends, P√m of P persons, the
// geometric mean of the public numbers of units and of places: with P·m, trees were too deep where most have few rows,
// and with P too shallow where all have m (four tables at ε from 0.3 to 10).
func depthFor(units, places int, deviation float64) int {
	rows := math.Sqrt(float64(units) * float64(places))
	leaves := 3 * math.Pow(rows/(10*max(1, deviation)), 0.7)
	return max(1, min(10, int(math.Round(math.Log2(leaves)))))
}

// Fit implements [ground.Algorithm].
func (a *algorithm) Fit(_ context.Context, rows *method.Part, sums *ground.Sums) (Body, error) {
	leaves := 1 << a.trees.Depth
	count := func(row int, out []float64) {
		u := rows.X.RawRowView(row)
		for t := range a.trees.Columns {
			out[(t*leaves+a.trees.leaf(t, u))*a.Classes+rows.Labels[row]]++
		}
	}
	var total []float64
	if sums.Released() {
		var err error
		if total, err = sums.Sum(a.first, count); err != nil {
			return Body{}, err
		}
	} else { // numbers of rows have no rounding
		total = make([]float64, len(a.trees.Columns)*leaves*a.Classes)
		for row := range rows.Labels {
			if !ground.Empty(rows, row) {
				count(row, total)
			}
		}
		sums.Judge(a.first, total)
	}
	b := Body{Structure: a.trees, Deviation: sums.Scale(a.first), Variance: a.spread}
	for t := range a.trees.Columns {
		b.Counts = append(b.Counts, total[t*leaves*a.Classes:(t+1)*leaves*a.Classes])
	}
	f := newForest(&b)
	histograms, err := a.histograms(f, rows, sums)
	if err != nil {
		return Body{}, err
	}
	b.line(f, histograms, sums.Scale(a.second))
	return b, nil
}

// Losses implements [ground.Algorithm].
func (a *algorithm) Losses() []experiment.Loss { return ground.Losses(a.first, a.second) }

// Mechanism implements [ground.Algorithm].
func (a *algorithm) Mechanism() string {
	return "analytic Gaussian mechanism (Balle and Wang 2018) on the numbers of rows of each class in the leaves of all " +
		"trees, and then on those by their shares in this forest"
}

// Public implements [ground.Algorithm].
func (a *algorithm) Public() string { return "the settings of the trees" }

// Size implements [ground.Algorithm].
func (a *algorithm) Size() (numbers, lists int) {
	trees, leaves := len(a.trees.Columns), 1<<a.trees.Depth
	return trees*(2*(leaves-1)+leaves*a.Classes) + a.Classes, 3*trees + 1
}

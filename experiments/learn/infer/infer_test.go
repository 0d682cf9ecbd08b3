package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
)

func means(t *testing.T, workers int) Means {
	trial := trialtest.New(t, trialtest.Options{Seed: 1, Workers: workers})
	return Means{Engine: engine.Of(trial.Engine), Workers: workers, Stream: trial.Stream, Step: func(string) {}}
}

// people have rows of normal features in two columns about a place of their own, at a distance from others, and the
// half of them for training.
func people(count, each int, distance float64) *Problem {
	rng := rand.New(rand.NewPCG(3, uint64(count)))
	p := &Problem{}
	var rows [2][]float64
	for person := range count {
		angle := 2 * math.Pi * float64(person) / float64(count)
		for i := range 2 * each {
			half := i % 2
			rows[half] = append(rows[half], distance*math.Cos(angle)+rng.NormFloat64(),
				distance*math.Sin(angle)+rng.NormFloat64())
			if half == 0 {
				p.Labels = append(p.Labels, person)
			} else {
				p.Truth = append(p.Truth, person)
			}
		}
	}
	p.Train, p.Test = mat.NewDense(count*each, 2, rows[0]), mat.NewDense(count*each, 2, rows[1])
	p.Groups = GroupsOf(p.Truth)
	return p
}

func run(t *testing.T, p *Problem) *Findings {
	t.Helper()
	f, err := Run(t.Context(), means(t, 2), p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Features that hold the person give it away to every adversary, and pooling names those who are named rarely by one
// row: at a distance of one from the middle the best rule for a row of four persons is right with the probability
// Φ(√½)² = .578, and about the mean of 30 rows practically always. Trees are too sure of single rows for that.
func TestLeakIsFound(t *testing.T) {
	p := people(4, 30, 1)
	f := run(t, p)
	for _, a := range f.All {
		i, pooled := IntervalOf(a.Right, p.Truth), IntervalOf(a.Pooled, nil)
		if i.Share < .45 || i.Low < .25 || a.Validated < .45 {
			t.Errorf("%s: %v, validated %g", a.Adversary, i, a.Validated)
		}
		if pooled.Share < .75 || a == f.Chosen && pooled.Share < 1 || pooled.Of != 4 || pooled.Units != 4 {
			t.Errorf("%s: pooled %v", a.Adversary, pooled)
		}
	}
	if i := IntervalOf(f.Chosen.Right, p.Truth); i.Low > .578 || i.High < .578 {
		t.Errorf("chosen %v; the best rule has .578", i)
	}
	if !slices.ContainsFunc(f.All, func(a *Finding) bool { return a == f.Chosen && a.Validated >= f.All[0].Validated }) {
		t.Errorf("chosen %+v", f.Chosen)
	}
}

// Labels that have nothing to do with the features are guessed.
func TestShuffledLabels(t *testing.T) {
	p := people(4, 30, 5)
	rng := rand.New(rand.NewPCG(9, 9))
	rng.Shuffle(len(p.Labels), func(i, j int) { p.Labels[i], p.Labels[j] = p.Labels[j], p.Labels[i] })
	rng.Shuffle(len(p.Truth), func(i, j int) { p.Truth[i], p.Truth[j] = p.Truth[j], p.Truth[i] })
	p.Groups = nil
	f := run(t, p)
	for _, a := range f.All {
		if i := IntervalOf(a.Right, nil); i.Low > .25 || i.High < .25 || i.Units != len(p.Truth) {
			t.Errorf("%s: %v covers no guessing", a.Adversary, i)
		}
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	var first *Findings
	for _, workers := range []int{1, 3} {
		f, err := Run(t.Context(), means(t, workers), people(3, 12, 1.5))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = f
			continue
		}
		for i, a := range f.All {
			if fmt.Sprint(*a) != fmt.Sprint(*first.All[i]) {
				t.Errorf("%+v, of one worker %+v", *a, *first.All[i])
			}
		}
	}
}

// A climb ends between tried neighbours, or tells at which end it stands.
func TestClimb(t *testing.T) {
	ladder := []float64{1, 2, 3, 4, 5}
	hill := func(x, y float64) func([]float64) (float64, error) {
		return func(v []float64) (float64, error) { return -math.Abs(v[0]-x) - math.Abs(v[1]-y), nil }
	}
	for _, c := range []struct {
		name  string
		score func([]float64) (float64, error)
		want  string
		edges string
	}{
		{"inside", hill(2, 4), "[2 4]", ""},
		{"top", hill(9, 3), "[5 3]", "a = 5 is the largest that was tried"},
		{"bottom, where nothing is below", hill(-1, 2), "[1 2]", ""},
		{"bottom and top", hill(-1, 9), "[1 5]", "b = 5 is the largest that was tried"},
		{"a lower bottom", hill(3, -5), "[3 1]", "b = 1 is the smallest that was tried"},
		{"flat", func([]float64) (float64, error) { return 1, nil }, "[3 3]", ""},
		{"beyond three nothing is computed", func(v []float64) (float64, error) {
			if v[0] > 3 {
				return 0, fmt.Errorf("%w: slow", errBeyond)
			}
			return v[0], nil
		}, "[3 3]", "a = 3 is the largest that was tried"},
	} {
		t.Run(c.name, func(t *testing.T) {
			axes := []axis{{name: "a", values: ladder, starts: []int{2}, bottom: true},
				{name: "b", values: ladder, starts: []int{2}}}
			p, err := climb(t.Context(), axes, c.score)
			if err != nil || fmt.Sprint(p.values) != c.want || strings.Join(p.edges, ", ") != c.edges {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
	axes := []axis{{name: "a", values: ladder, starts: []int{0}}}
	if _, err := climb(t.Context(), axes, func([]float64) (float64, error) { return 0, errBeyond }); err == nil {
		t.Error("a climb begins where nothing is computed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := climb(ctx, axes, func([]float64) (float64, error) { return 0, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Places with random labels, which are nearer to each other than the narrowest kernel of the ladder is wide: the
// machine is at its end, and that is told.
func TestUntunedIsTold(t *testing.T) {
	const places, copies = 100, 6
	rng := rand.New(rand.NewPCG(2, 8))
	p := &Problem{Train: mat.NewDense(places*copies, 1, nil), Test: mat.NewDense(1, 1, nil), Truth: []int{0}}
	for i := range places * copies {
		p.Train.Set(i, 0, float64(i/copies))
		if i%copies == 0 {
			p.Labels = append(p.Labels, rng.IntN(2))
		} else {
			p.Labels = append(p.Labels, p.Labels[i-1])
		}
	}
	if got := run(t, p).All[0].Untuned; !strings.Contains(got, "gamma times columns = 64 is the largest that was tried") {
		t.Errorf("%q", got)
	}
}

// Reference values: R's prop.test(7, 10, correct=FALSE) and prop.test(20, 20, correct=FALSE), and for clusters the
// equivalence with independent answers.
func TestIntervalOf(t *testing.T) {
	answers := func(right, of int) []bool {
		out := make([]bool, of)
		for i := range right {
			out[i] = true
		}
		return out
	}
	near := func(i Interval, low, high float64) bool {
		return math.Abs(i.Low-low) < 5e-7 && math.Abs(i.High-high) < 5e-7
	}
	if i := IntervalOf(answers(7, 10), nil); !near(i, .3967781, .8922087) || i.Share != .7 || i.Units != 10 {
		t.Errorf("7 of 10: %+v", i)
	}
	all := IntervalOf(answers(20, 20), nil)
	if !near(all, .8388748, 1) {
		t.Errorf("20 of 20: %+v", all)
	}
	// Ten rows of each of 20 persons, all right: no more than 20 independent answers.
	units := make([]int, 200)
	for i := range units {
		units[i] = i / 10
	}
	if i := IntervalOf(answers(200, 200), units); i.Low != all.Low || i.Units != 20 || i.Of != 200 {
		t.Errorf("200 rows of 20 persons: %+v", i)
	}
	// Rows of a person that are all right or all wrong count once. Student's quantiles widen it by little.
	clustered, independent := IntervalOf(answers(100, 200), units), IntervalOf(answers(10, 20), nil)
	if clustered.Low > independent.Low || clustered.Low < independent.Low-.02 {
		t.Errorf("clustered %+v, independent %+v", clustered, independent)
	}
	// Persons with equal shares: as if rows were independent.
	alternating := make([]bool, 200)
	for i := range alternating {
		alternating[i] = i%2 == 0
	}
	if a, b := IntervalOf(alternating, units), IntervalOf(alternating, nil); a.Low != b.Low || a.High != b.High {
		t.Errorf("%+v, %+v", a, b)
	}
	if i := IntervalOf(nil, nil); i.Low != 0 || i.High != 1 {
		t.Errorf("of nothing: %+v", i)
	}
	if i := IntervalOf(answers(3, 6), make([]int, 6)); i.Units != 1 || i.High-i.Low < .8 {
		t.Errorf("of one person: %+v", i)
	}
}

// The interval holds the probability in 19 of 20 draws of persons who differ.
func TestIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const persons, rows, draws = 20, 15, 2000
	held := 0
	for range draws {
		var right []bool
		var units []int
		for person := range persons {
			p := .4
			if person%2 == 0 { // of which half are named rarely, by a draw
				p = .2
			}
			if rng.Float64() < .5 {
				p += .4
			}
			for range rows {
				right, units = append(right, rng.Float64() < p), append(units, person)
			}
		}
		if i := IntervalOf(right, units); i.Low <= .5 && .5 <= i.High {
			held++
		}
	}
	if share := float64(held) / draws; share < .94 || share > .985 {
		t.Errorf("it covers in %g", share)
	}
}

func TestRefusals(t *testing.T) {
	one := people(2, 5, 1)
	one.Labels = make([]int, len(one.Labels))
	few := people(3, 1, 1)
	infinite := people(2, 5, 1)
	infinite.Test.Set(0, 0, math.Inf(1))
	for want, p := range map[string]*Problem{
		"the training rows are of one class":   one,
		"no part of the training rows has two": few,
		"Inf":                                  infinite,
	} {
		if _, err := Run(t.Context(), means(t, 1), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	many := people(2, 5, 1)
	r := &room{x: many.Train, labels: many.Labels, classes: mostWork}
	if _, skipped := r.kind(Network); !strings.Contains(skipped, "10 rows with 2 columns") {
		t.Errorf("%q", skipped)
	}
}

// A class without training rows is never named, and one with a single row is left out of machines.
func TestUnknownAndSingleClasses(t *testing.T) {
	p := people(3, 10, 4)
	p.Labels[0], p.Truth[0] = 77, 99
	f := run(t, p)
	for _, a := range f.All {
		if a.Right[0] || IntervalOf(a.Right, nil).Share < .8 {
			t.Errorf("%s: %v, %v", a.Adversary, a.Right[0], IntervalOf(a.Right, nil))
		}
	}
}

// Parts that keep groups together are taken as they are.
func TestGivenFolds(t *testing.T) {
	p := people(2, 10, 3)
	p.Folds = []learn.Fold{{Train: []int{0, 1, 10, 11, 12}, Test: []int{2, 13}}, {Train: []int{5, 15}, Test: []int{6}}}
	r := &room{Means: means(t, 1), x: p.Train, labels: p.Labels, classes: 2}
	if err := r.divide(p.Folds); err != nil || len(r.folds) != 1 || fmt.Sprint(r.folds[0]) != fmt.Sprint(p.Folds[0]) {
		t.Errorf("%v, %v", r.folds, err)
	}
}

// The gradient agrees with differences.
func TestNetworkGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const d, k, rows = 3, 4, 7
	l, out := newLayers(d, k, rng), newLayers(d, k, nil)
	for i := range l.a {
		l.a[i] = rng.NormFloat64()
	}
	x := mat.NewDense(rows, d, nil)
	x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
	labels := []int{0, 1, 2, 3, 3, 2, 1}
	loss := func() (sum float64) {
		outputs, _ := l.forward(x)
		p := softmax(outputs).p
		for i, label := range labels {
			sum -= p.At(i, label) / rows
		}
		return sum
	}
	l.gradient(x, labels, out)
	const h = 1e-5
	for i := range l.weights {
		own := l.weights[i]
		l.weights[i] = own + h
		above := loss()
		l.weights[i] = own - h
		below := loss()
		l.weights[i] = own
		if want := (above - below) / (2 * h); math.Abs(out.weights[i]-want) > 1e-8 {
			t.Fatalf("weight %d: %g, by differences %g", i, out.weights[i], want)
		}
	}
}

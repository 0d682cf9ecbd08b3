package reconstruct

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/model"
	"privkern/experiments/multikernel/projectionfile"
	"privkern/graphs/engine"
)

// normal is a matrix of normal numbers.
func normal(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
	return x
}

// file is a compression of d inputs by all kernels, with scaled inputs, to two features of each.
func file(rng *rand.Rand, d int) *projectionfile.Model {
	m := &projectionfile.Model{InputNames: make([]string, d), Scaling: &projectionfile.Scaling{},
		Points: projectionfile.Points{Are: projectionfile.Landmarks, Rows: model.Rows(normal(rng, 4, d))}}
	for j := range d {
		m.Scaling.Mean, m.Scaling.Scale = append(m.Scaling.Mean, .1*float64(j)), append(m.Scaling.Scale, 1+float64(j))
	}
	for _, name := range []string{"linear", "rbf:0.3", "laplacian:0.2", "polynomial:0.5:3:1", "sigmoid:0.1:0.4"} {
		k := projectionfile.Kernel{Name: name, Scale: .7, Direct: name == "linear", Shift: []float64{.2, -.3},
			Coefficients: model.Rows(normal(rng, 4, 2))}
		if k.Direct {
			k.Coefficients = model.Rows(normal(rng, d, 2))
		}
		m.Kernels = append(m.Kernels, k)
	}
	for range 2 * len(m.Kernels) {
		m.Columns = append(m.Columns, "z")
	}
	return m
}

// mapOf is the map of a file, without errors.
func mapOf(t *testing.T, m *projectionfile.Model) *Map {
	t.Helper()
	out, err := NewMap(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Features are those of run predict, and their derivatives those of differences.
func TestMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const d = 3
	f := file(rng, d)
	m, x := mapOf(t, f), normal(rng, 5, d)
	trial := trialtest.New(t, trialtest.Options{})
	want, err := f.Predict(t.Context(), &model.Query{Engine: engine.Of(trial.Engine), X: x})
	if err != nil {
		t.Fatal(err)
	}
	jacobian := mat.NewDense(m.features, d, nil)
	for i := range 5 {
		row := x.RawRowView(i)
		for q, v := range m.At(row, jacobian) {
			if math.Abs(v-want.Rows[i][q]) > 1e-10 {
				t.Errorf("row %d: feature %d is %g, of the file %g", i, q, v, want.Rows[i][q])
			}
		}
		const h = 1e-6
		for j := range d {
			own := row[j]
			row[j] = own + h
			above := m.At(row, nil)
			row[j] = own - h
			below := m.At(row, nil)
			row[j] = own
			for q := range above {
				if slope := (above[q] - below[q]) / (2 * h); math.Abs(slope-jacobian.At(q, j)) > 1e-6*(1+math.Abs(slope)) {
					t.Errorf("row %d: ∂z%d/∂x%d is %g, by differences %g", i, q, j, jacobian.At(q, j), slope)
				}
			}
		}
	}
	f.Kernels[0].Name = "cosine"
	if _, err := NewMap(f); err == nil || !strings.Contains(err.Error(), "cosine") {
		t.Errorf("%v", err)
	}
}

// linear is a compression to features Wx, with W (d×q).
func linear(w *mat.Dense) *projectionfile.Model {
	d, q := w.Dims()
	return &projectionfile.Model{InputNames: make([]string, d), Columns: make([]string, q),
		Kernels: []projectionfile.Kernel{{Name: "linear", Direct: true, Scale: 1, Shift: make([]float64, q),
			Coefficients: model.Rows(w)}}}
}

// compressed are the features of rows.
func compressed(m *Map, x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	out := mat.NewDense(n, m.features, nil)
	for i := range n {
		out.SetRow(i, m.At(x.RawRowView(i), nil))
	}
	return out
}

func attacked(t *testing.T, m *projectionfile.Model, x *mat.Dense, workers int) *Findings {
	t.Helper()
	n, d := x.Dims()
	of := mapOf(t, m)
	known, truth := mat.DenseCopyOf(x.Slice(0, n/2, 0, d)), mat.DenseCopyOf(x.Slice(n/2, n, 0, d))
	f, err := Run(t.Context(), &Problem{Map: of, Known: known, KnownFeatures: compressed(of, known),
		Published: compressed(of, truth), Truth: truth, Workers: workers, Rand: rand.New(rand.NewPCG(1, 1)),
		Step: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func columns(d int) (out []int) {
	for j := range d {
		out = append(out, j)
	}
	return out
}

// A linear compression of full rank restores every input, one of a constant feature none, and one of lower rank the
// part that lies in its features: of normal inputs the share 1 − q/d of the variance stays.
func TestLinearCompressions(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	const d = 4
	x := normal(rng, 120, d)
	full := attacked(t, linear(normal(rng, d, d)), x, 2)
	for _, f := range full.All {
		e := ErrorOf(f.Errors, columns(d), nil).RMS
		// Some rows are beyond the ranges that pre-images keep to.
		most := map[string]float64{Mean: 1.15, Linear: 1e-3, Preimage: .03, Near: .03}[f.Guess]
		if e > most || f.Guess == Mean && e < .85 {
			t.Errorf("full rank, %s: %g sd", f.Guess, e)
		}
	}
	if full.Chosen.Guess == Mean {
		t.Error("the mean is chosen where all is restored")
	}
	none := attacked(t, linear(mat.NewDense(d, 1, nil)), x, 2)
	guess := ErrorOf(none.All[0].Errors, columns(d), nil)
	for _, f := range none.All {
		if e := ErrorOf(f.Errors, columns(d), nil); e.RMS < guess.RMS-1e-9 {
			t.Errorf("a constant feature, %s: %+v, of the mean %+v", f.Guess, e, guess)
		}
	}
	half := attacked(t, linear(normal(rng, d, 2)), x, 2)
	if e := ErrorOf(half.Chosen.Errors, columns(d), nil); e.Low > math.Sqrt(.5) || e.High < math.Sqrt(.5)-.05 {
		t.Errorf("rank 2 of 4, %s: %+v", half.Chosen.Guess, e)
	}
}

// Where features are no linear function, pre-images are nearer than the linear guess.
func TestPreimages(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	const d = 2
	f := &projectionfile.Model{InputNames: make([]string, d), Columns: make([]string, 3),
		Points: projectionfile.Points{Are: projectionfile.Landmarks, Rows: [][]float64{{1, 0}, {-1, 1}, {0, -1}}},
		Kernels: []projectionfile.Kernel{{Name: "rbf:1", Scale: 1, Shift: make([]float64, 3),
			Coefficients: [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}}
	found := attacked(t, f, normal(rng, 120, d), 2)
	e := map[string]float64{}
	for _, g := range found.All {
		e[g.Guess] = ErrorOf(g.Errors, columns(d), nil).RMS
	}
	if !(e[Preimage] < .5*e[Linear] && e[Linear] < e[Mean]) || found.Chosen.Guess != Preimage {
		t.Errorf("%v; chosen %s", e, found.Chosen.Guess)
	}
	other := attacked(t, f, normal(rand.New(rand.NewPCG(8, 2)), 120, d), 1)
	if a, b := other.Chosen.Validated, found.Chosen.Validated; math.IsNaN(a) || other.Chosen.Guess != found.Chosen.Guess {
		t.Errorf("one worker: %s %g, two: %s %g", other.Chosen.Guess, a, found.Chosen.Guess, b)
	}
}

// A constant input has no error, and other inputs keep theirs.
func TestConstantInput(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	x := normal(rng, 60, 3)
	for i := range 60 {
		x.Set(i, 1, 7)
	}
	f := attacked(t, linear(normal(rng, 3, 3)), x, 1)
	if e := f.Chosen.Errors; !math.IsNaN(e.At(0, 1)) || math.IsNaN(e.At(0, 0)) {
		t.Errorf("%v", e.RawRowView(0))
	}
}

func TestRunRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	m := mapOf(t, linear(normal(rng, 2, 1)))
	p := func(known *mat.Dense) *Problem {
		truth := normal(rng, 3, 2)
		return &Problem{Map: m, Known: known, KnownFeatures: compressed(m, known), Published: compressed(m, truth),
			Truth: truth, Rand: rng, Step: func(string) {}}
	}
	_, err := Run(t.Context(), p(normal(rng, Fewest-1, 2)))
	if err == nil || !strings.Contains(err.Error(), "at least 6") {
		t.Errorf("%v", err)
	}
	if _, err := Run(t.Context(), p(mat.NewDense(9, 2, nil))); err == nil || !strings.Contains(err.Error(), "one value") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, p(normal(rng, 9, 2))); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The interval is Student's over units: of squares 1, 1, 4, 4 in two units it is that of 1 and 4.
func TestErrorOf(t *testing.T) {
	e := mat.NewDense(4, 1, []float64{1, -1, 2, -2})
	got := ErrorOf(e, []int{0}, []int{0, 0, 1, 1})
	const half = 12.706204736 * 1.5 // t of one degree of freedom, and the standard error of the mean of 1 and 4
	if math.Abs(got.RMS-math.Sqrt(2.5)) > 1e-12 || got.Low != 0 || math.Abs(got.High-math.Sqrt(2.5+half)) > 1e-6 ||
		got.Units != 2 {
		t.Errorf("%+v", got)
	}
	if one := ErrorOf(e, []int{0}, make([]int, 4)); !math.IsInf(one.High, 1) || one.Low != 0 {
		t.Errorf("one unit: %+v", one)
	}
}

// Persons are held out with all their rows, and rows one by one where there are two persons. A person with most rows is
// learnt from.
func TestParts(t *testing.T) {
	for name, c := range map[string]struct {
		persons []int
		whole   bool
	}{
		"three persons":    {[]int{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}, true},
		"one of most rows": {[]int{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}, true},
		"two persons":      {[]int{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, false},
	} {
		for seed := range uint64(20) {
			p := &Problem{Persons: c.persons, Rand: rand.New(rand.NewPCG(1, seed))}
			out, rest := p.parts(len(c.persons))
			if len(out)+len(rest) != len(c.persons) || len(out) == 0 || len(rest) < len(out) {
				t.Fatalf("%s: %v, %v", name, out, rest)
			}
			for _, i := range out {
				for _, k := range rest {
					if c.whole && c.persons[i] == c.persons[k] {
						t.Fatalf("%s: person %d is held out and learnt from", name, c.persons[i])
					}
				}
			}
		}
	}
}

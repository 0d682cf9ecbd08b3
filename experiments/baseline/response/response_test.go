package response

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/baseline/internal/baselinetest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism/loss"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// own are settings of a table of three classes.
func own(dataset string, epsilon float64) func(*Settings) {
	return func(s *Settings) {
		s.Dataset, s.Inputs, s.Output, s.Epsilon, s.Delta = dataset, "a+b", "k[u|v|w]", epsilon, 1e-6
		s.InputLow = method.Ends{Numbers: experiment.Several{-1, 0}}
		s.InputHigh = method.Ends{Numbers: experiment.Several{1, 10}}
		s.Features = 64
	}
}

func TestJudged(t *testing.T) {
	data := baselinetest.Classes(t, 1000)
	for _, c := range []struct{ epsilon, least, most float64 }{{math.Inf(1), .93, .3}, {4, .9, .4}, {1, .8, .9}} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(),
			own(data, c.epsilon), func(s *Settings) {
				s.Repeats = 3
			}).Metrics
		if m.Accuracy < c.least || m.AccuracyLargest > .7 || m.AccuracyWithoutNoise < .93 || *m.LogLoss > c.most {
			t.Errorf("epsilon = %g: %+v, log loss %g", c.epsilon, m, *m.LogLoss)
		}
	}
}

func TestReleased(t *testing.T) {
	p := baselinetest.Released(t, Definition, PredictFormat, own(baselinetest.Classes(t, 1000), 5),
		mat.NewDense(3, 2, []float64{-.8, 1, .8, 5, -.8, 9}))
	for i, want := range []string{"u", "v", "w"} {
		if p.Labels[i] != want {
			t.Errorf("%v: class %s, want %s", p.Rows[i], p.Labels[i], want)
		}
	}
}

// planned is the plan of a release.
func planned(t *testing.T, set ...func(*Settings)) *release.Plan {
	t.Helper()
	p, err := Definition.Experiment().Resolved(Definition.Experiment().With(set...))
	if err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(t, trialtest.Options{Workers: 2})
	trial.Params, trial.Secure = p, true
	plan, err := Definition.Plan(t.Context(), trial)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// With equal answers the files of neighbours are equal, and the labels that were answered differ in one place, the
// only private number.
func TestNeighbours(t *testing.T) {
	plan := planned(t, own(baselinetest.Classes(t, 60), 1))
	n, columns := plan.Private.Dims()
	if n != 60 || columns != 1 || !slices.Equal(plan.Spending.Units, []string{experiment.UnitOutput}) ||
		!slices.Equal(plan.Spending.Publishes, []string{experiment.UnitInputs}) {
		t.Fatalf("%d×%d private numbers, %+v", n, columns, plan.Spending)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	answers := make([]float64, n)
	for i := range answers {
		answers[i] = float64(rng.IntN(3))
	}
	replay := func(private *mat.Dense) ([]float64, []byte) {
		var draws []release.Draw
		source := release.Replay(slices.Clone(answers))
		source.Trace(&draws)
		r, err := plan.With(t.Context(), source, private)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(r)
		if err != nil || len(draws) != 1 {
			t.Fatal(len(draws), err)
		}
		return draws[0].Query, raw
	}
	labels, file := replay(plan.Private)
	for range 5 {
		row, other := rng.IntN(n), mat.DenseCopyOf(plan.Private)
		other.Set(row, 0, math.Mod(other.At(row, 0)+1, 3))
		changed, file2 := replay(other)
		if !bytes.Equal(file, file2) {
			t.Fatal("files of neighbours with equal answers differ")
		}
		for i := range labels {
			if (labels[i] != changed[i]) != (i == row) {
				t.Errorf("row %d was changed, and the label of row %d from %g to %g", row, i, labels[i], changed[i])
			}
		}
	}
}

// A row's answer has the ε of the budget, and those of a person compose to it, with more than equal parts.
func TestLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var rows [][]string
	for i := range 120 {
		a := 2*rng.Float64() - 1
		rows = append(rows, []string{fmt.Sprint(a), "1", []string{"u", "v", "w"}[rng.IntN(3)], fmt.Sprint(i / 6)})
	}
	data := baselinetest.Table(t, "a,b,k,who", rows)
	for _, c := range []struct {
		person int
		delta  float64
		least  float64
	}{{0, 1e-6, 2}, {6, 1e-12, 2. / 6 * (1 - 1e-12)}, {6, 1e-2, 1.1 * 2 / 6}} {
		plan := planned(t, own(data, 2), func(s *Settings) {
			if s.Delta = c.delta; c.person > 0 {
				s.Person = method.Person{Person: "who", RowsPerPerson: c.person}
			}
		})
		losses := plan.Spending.Losses
		if losses[0].Law != "randomised response" || losses[0].Times != max(1, c.person) || losses[0].Size < c.least {
			t.Errorf("person %d, delta %g: %+v, want at least %g", c.person, c.delta, losses, c.least)
		}
		if epsilon, err := loss.Epsilon(losses, c.delta); err != nil || epsilon > 2 {
			t.Errorf("person %d, delta %g: the losses compose to %g, %v", c.person, c.delta, epsilon, err)
		}
	}
}

// The statement of a release protects the classes alone.
func TestGuarantee(t *testing.T) {
	data := baselinetest.Table(t, "a,b,k,who", slices.Repeat([][]string{{"0", "1", "u", "x"}, {"1", "0", "v", "y"}}, 20))
	for _, c := range []struct {
		person     string
		unit, note string
	}{
		{method.NoColumn, "the class (k) of one row, substituted by any other", "inputs (a, b) and who is in the data"},
		{"who", "every class (k) of one person (who) with at most 1 row", "drawn before anything was computed"},
	} {
		plan := planned(t, own(data, 2), func(s *Settings) { s.Person.Person = c.person })
		source := release.Replay(nil)
		r, err := plan.With(t.Context(), source, plan.Private)
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Privacy; !strings.HasPrefix(p.Unit, c.unit) || !strings.Contains(strings.Join(p.Notes, "\n"), c.note) {
			t.Errorf("%+v", p)
		}
	}
}

func TestRefused(t *testing.T) {
	data := baselinetest.Classes(t, 30)
	for _, c := range []struct {
		set  func(*Settings)
		want string
	}{
		{func(s *Settings) { s.Neighbours = ground.AddRemove }, "inputs are public here"},
		{func(s *Settings) { s.Invalid.Invalid = method.Clamp }, "use invalid=refuse"},
	} {
		_, err := Definition.Experiment().Resolved(Definition.Experiment().With(own(data, 1), c.set))
		trialtest.Refuses(t, err, c.want)
	}
}

// The error of an answer that is left out is that of a fit without it.
func TestLeftOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, f, ridge = 30, 5, 2.0
	phi, y := mat.NewDense(n, f, nil), mat.NewDense(n, 2, nil)
	for i := range n {
		for j := range f {
			phi.Set(i, j, rng.NormFloat64())
		}
		y.SetRow(i, []float64{rng.NormFloat64(), phi.At(i, 0)})
	}
	want := 0.0
	for out := range n {
		// The means are those of the others, and the weights solve (ΦᵀΦ + λ)W = ΦᵀY.
		a, b := mat.NewDense(n-1, f, nil), mat.NewDense(n-1, 2, nil)
		for i := range n - 1 {
			a.SetRow(i, phi.RawRowView((out+1+i)%n))
			b.SetRow(i, y.RawRowView((out+1+i)%n))
		}
		meanA, meanB := centred(a), centred(b)
		var gram, right, w mat.Dense
		gram.Mul(a.T(), a)
		for j := range f {
			gram.Set(j, j, gram.At(j, j)+ridge)
		}
		right.Mul(a.T(), b)
		if err := w.Solve(&gram, &right); err != nil {
			t.Fatal(err)
		}
		for c := range 2 {
			gap := y.At(out, c) - meanB[c]
			for j := range f {
				gap -= (phi.At(out, j) - meanA[j]) * w.At(j, c)
			}
			want += gap * gap
		}
	}
	s, err := newSquares(mat.DenseCopyOf(phi), y)
	if err != nil {
		t.Fatal(err)
	}
	s.try(ridge)
	trialtest.Near(t, "the error", s.least, want, 1e-9*want)
}

package labelnoise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/baseline/internal/baselinetest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// own are settings of a table of two inputs.
func own(dataset string, epsilon float64) func(*Settings) {
	return func(s *Settings) {
		s.Dataset, s.Inputs, s.Output, s.Epsilon, s.Delta = dataset, "a+b", "y", epsilon, 1e-6
		s.InputLow = method.Ends{Numbers: experiment.Several{-1, 0}}
		s.InputHigh = method.Ends{Numbers: experiment.Several{1, 10}}
		s.Low, s.High = method.End{Number: 0}, method.End{Number: 100}
		s.Frequencies, s.Repeats = 24, 4
	}
}

func TestJudged(t *testing.T) {
	data := baselinetest.Regression(t, 1000)
	for _, c := range []struct{ epsilon, most float64 }{{math.Inf(1), 1.2}, {100, 2}, {5, 9}} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(), own(data, c.epsilon)).Metrics
		if m.RMSE > c.most || m.RMSECentre < 12 || m.RMSEWithoutNoise > 1.2 {
			t.Errorf("epsilon = %g: RMSE %g, without noise %g, of the middle %g", c.epsilon, m.RMSE, m.RMSEWithoutNoise,
				m.RMSECentre)
		}
		if math.IsInf(c.epsilon, 1) && math.Abs(*m.Coverage95-.95) > .03 {
			t.Errorf("regions of 95 %% hold %g of the outputs", *m.Coverage95)
		}
	}
}

func TestReleased(t *testing.T) {
	at := mat.NewDense(3, 2, []float64{-.8, 1, 0, 5, .8, 9})
	p := baselinetest.Released(t, Definition, PredictFormat, own(baselinetest.Regression(t, 500), 100), at)
	for i, want := range []float64{26, 50, 74} {
		if row := p.Rows[i]; math.Abs(row[0]-want) > 4*row[1]+1 || row[1] > 3 || row[2] < row[1] {
			t.Errorf("at row %d: mean, deviations and limits %v, want %g", i, row, want)
		}
	}
}

// Regions hold outputs, with noise that hides how much these vary.
func TestRegions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var rows [][]string
	for range 300 {
		x := 10 * rng.Float64()
		rows = append(rows, []string{fmt.Sprint(x), fmt.Sprint(3 + 2*x + .5*rng.NormFloat64())})
	}
	data := baselinetest.Table(t, "x,y", rows)
	for _, epsilon := range []float64{30, 100, 300} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(), func(s *Settings) {
			own(data, epsilon)(s)
			s.Inputs, s.Low, s.High = "x", method.End{Number: 0}, method.End{Number: 25}
			s.InputLow, s.InputHigh = method.Ends{Numbers: experiment.Several{0}}, method.Ends{Numbers: experiment.Several{10}}
			s.Repeats = 30
		}).Metrics
		if *m.Coverage95 < .93 {
			t.Errorf("epsilon = %g: regions of 95 %% hold %g of the outputs", epsilon, *m.Coverage95)
		}
	}
}

// The sensitivity is reached by outputs at both ends of the range.
func TestNeighbours(t *testing.T) {
	data := baselinetest.Table(t, "a,b,y", [][]string{{"0", "1", "0"}, {"0", "1", "0"}, {"1", "1", "0"}})
	most := baselinetest.Neighbours(t, Definition, own(data, 1), func(row []float64, rng *rand.Rand) {
		row[0] = []float64{-1e9, 0, 50, 100, math.Inf(1)}[rng.IntN(5)]
	})
	if most[0] < 1-1e-6 {
		t.Errorf("the query moves by %g of its sensitivity at most: is it too large?", most[0])
	}
}

// A person with four rows needs twice the noise of one.
func TestPersons(t *testing.T) {
	var rows [][]string
	for i := range 40 {
		rows = append(rows, []string{"0", "1", "50", string(rune('a' + i/4))})
	}
	data := baselinetest.Table(t, "a,b,y,id", rows)
	var scales []float64
	for _, person := range []string{method.NoColumn, "id"} {
		plan := baselinetest.Plan(t, Definition, func(s *Settings) {
			own(data, 1)(s)
			if s.Person.Person = person; person == "id" {
				s.RowsPerPerson = 4
			}
		})
		scales = append(scales, baselinetest.Draws(t, plan)[0].Noise.Scale())
		if got := plan.Spending.Units; !slices.Contains(got, experiment.UnitOutput) ||
			!slices.Equal(plan.Spending.Publishes, []string{experiment.UnitInputs}) {
			t.Errorf("units %v, published %v", got, plan.Spending.Publishes)
		}
	}
	if ratio := scales[1] / scales[0]; math.Abs(ratio-2) > 1e-3 {
		t.Errorf("a person's noise is %g times that of a row, want 2", ratio)
	}
}

// Mean, variance and likelihood are those of the regression on features, directly.
func TestPosterior(t *testing.T) {
	const n, sigma = 30, 0.5
	rng := rand.New(rand.NewPCG(3, 3))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		x.SetRow(i, []float64{2*rng.Float64() - 1, 2*rng.Float64() - 1})
		y[i] = x.At(i, 0)/2 + sigma*rng.NormFloat64()
	}
	w := mat.NewDense(3, 2, []float64{1, 2, -1, 0.5, 0.3, 3})
	e := engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)
	b, average, err := body(t.Context(), e, w, x, y, sigma)
	if err != nil {
		t.Fatal(err)
	}
	phi := features(x, w)
	direct := func(nu float64) (c mat.Cholesky) {
		cov := mat.NewSymDense(n, nil)
		cov.SymOuterK(variance, phi)
		for i := range n {
			cov.SetSym(i, i, cov.At(i, i)+sigma*sigma+nu)
		}
		if !c.Factorize(cov) {
			t.Fatal("the covariance is not positive definite")
		}
		return c
	}
	likelihood := func(nu float64) float64 {
		c := direct(nu)
		var solved mat.VecDense
		if err := c.SolveVecTo(&solved, mat.NewVecDense(n, y)); err != nil {
			t.Fatal(err)
		}
		return -mat.Dot(&solved, mat.NewVecDense(n, y))/2 - c.LogDet()/2
	}
	var all, mean float64 // flat in the logarithm of the sum of variances, of which the steps are those of log ν times ν/t
	for _, nu := range observations() {
		weight := math.Exp(likelihood(nu)) * nu / (sigma*sigma + nu)
		all, mean = all+weight, mean+weight*nu
	}
	trialtest.Near(t, "observation's variance", b.Observation, mean/all, 1e-9)
	trialtest.Near(t, "logarithm of the likelihood", average, math.Log(all), 1e-9)
	c := direct(b.Observation)
	var solved mat.VecDense
	if err := c.SolveVecTo(&solved, mat.NewVecDense(n, y)); err != nil {
		t.Fatal(err)
	}
	got, _ := b.Evaluate(t.Context(), e, x)
	spread, _, _ := b.Variance(t.Context(), e, x)
	for i := range n {
		var k, v mat.VecDense
		k.MulVec(phi, phi.RowView(i))
		k.ScaleVec(variance, &k)
		if err := c.SolveVecTo(&v, &k); err != nil {
			t.Fatal(err)
		}
		mean, left := mat.Dot(&k, &solved), k.AtVec(i)-mat.Dot(&k, &v)
		if math.Abs(got[0][i]-mean) > 1e-9 || math.Abs(spread[i]-left) > 1e-9 {
			t.Errorf("row %d: mean %g and variance %g, directly %g and %g", i, got[0][i], spread[i], mean, left)
		}
	}
}

func TestRefused(t *testing.T) {
	x := Definition.Experiment()
	for name, set := range map[string]func(*Settings){
		"add-remove": func(s *Settings) { s.Neighbours = ground.AddRemove },
		"clamp":      func(s *Settings) { s.Invalid.Invalid = method.Clamp },
		"no range":   func(s *Settings) { s.Low, s.High = method.End{IsWord: true}, method.End{IsWord: true} },
	} {
		if _, err := x.Resolved(x.With(func(s *Settings) {
			own("csv:none.csv", 1)(s)
			set(s)
		})); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

// Rows of several chunks have the products, means and variances of all rows at once.
func TestChunks(t *testing.T) {
	const n = 2*chunk + 7
	rng := rand.New(rand.NewPCG(4, 4))
	x, y := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n {
		x.Set(i, 0, 2*rng.Float64()-1)
		y[i] = x.At(i, 0) + rng.NormFloat64()
	}
	w := mat.NewDense(2, 1, []float64{1, 2})
	e := engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)
	gram, moments, err := products(t.Context(), e, w, x, y)
	if err != nil {
		t.Fatal(err)
	}
	phi := features(x, w)
	var all, sums mat.Dense
	all.Mul(phi.T(), phi)
	sums.Mul(phi.T(), mat.NewDense(n, 1, y))
	if !mat.EqualApprox(gram, &all, 1e-9) || !mat.EqualApprox(moments, &sums, 1e-9) {
		t.Errorf("products %v and %v, directly %v and %v", mat.Formatted(gram), moments, mat.Formatted(&all), sums)
	}
	b, _, err := body(t.Context(), e, w, x, y, 1)
	if err != nil {
		t.Fatal(err)
	}
	means, _ := b.Evaluate(t.Context(), e, x)
	spread, _, _ := b.Variance(t.Context(), e, x)
	last := mat.DenseCopyOf(x.Slice(n-1, n, 0, 1))
	mean, _ := b.Evaluate(t.Context(), e, last)
	one, _, _ := b.Variance(t.Context(), e, last)
	trialtest.Near(t, "mean of the last row", means[0][n-1], mean[0][0], 1e-12)
	trialtest.Near(t, "variance of the last row", spread[n-1], one[0], 1e-12)
}

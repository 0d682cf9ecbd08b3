package bayesopt

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/graphs/engine"
	"privkern/graphs/gp"
	"privkern/graphs/kernel"
)

func processor(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// branin is the function of Branin (1972) on the unit square; its least value is 0.397887.
func branin(u []float64) float64 {
	x, y := 15*u[0]-5, 15*u[1]
	q := y - 5.1/(4*math.Pi*math.Pi)*x*x + 5/math.Pi*x - 6
	return q*q + 10*(1-1/(8*math.Pi))*math.Cos(x) + 10
}

// hartmann is the function of Hartmann (1973) of six variables; its least value is -3.32237.
func hartmann(u []float64) float64 {
	rates := [4][6]float64{{10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8},
		{17, 8, 0.05, 10, 0.1, 14}}
	centres := [4][6]float64{{1312, 1696, 5569, 124, 8283, 5886}, {2329, 4135, 8307, 3736, 1004, 9991},
		{2348, 1451, 3522, 2883, 3047, 6650}, {4047, 8828, 8732, 5743, 1091, 381}}
	sum := 0.0
	for i, weight := range [4]float64{1, 1.2, 3, 3.2} {
		s := 0.0
		for j, v := range u {
			s += rates[i][j] * (v - centres[i][j]/1e4) * (v - centres[i][j]/1e4)
		}
		sum += weight * math.Exp(-s)
	}
	return -sum
}

// minimise evaluates f at begin points that are drawn, and at proposals until there are n values.
func minimise(t *testing.T, f func([]float64) float64, d, begin, n int, seed uint64) (*Question, float64) {
	t.Helper()
	e, rng := processor(t), rand.New(rand.NewPCG(seed, 1))
	q := &Question{Rand: rng, Features: func(u []float64) []float64 { return u },
		Allowed: func([]float64) bool { return true }}
	add := func(u []float64) { q.Points, q.Losses = append(q.Points, u), append(q.Losses, f(u)) }
	for range begin {
		add(q.uniform(d))
	}
	for len(q.Points) < n {
		q.Count = min(4, n-len(q.Points))
		points, err := Propose(context.Background(), e, *q)
		if err != nil {
			t.Fatal(err)
		}
		if len(points) != q.Count {
			t.Fatalf("%d points of %d", len(points), q.Count)
		}
		for _, u := range points {
			add(u)
		}
	}
	return q, slices.Min(q.Losses)
}

// In 40 and 60 values the least ones are found but for a thousandth, and again the same.
func TestKnownFunctions(t *testing.T) {
	first, least := minimise(t, branin, 2, 5, 40, 1)
	if least > 0.397887+1e-3 {
		t.Errorf("Branin: %g, want 0.397887", least)
	}
	if again, _ := minimise(t, branin, 2, 5, 17, 1); !slices.Equal(again.Losses, first.Losses[:17]) {
		t.Error("Branin: other points the second time")
	}
	if _, least := minimise(t, hartmann, 6, 12, 60, 1); least > -3.32237+1e-3 && !(math.Abs(least+3.20316) < 1e-3) {
		t.Errorf("Hartmann: %g, want -3.32237, or the second minimum -3.20316", least)
	}
}

// Points are allowed, and differ in their features, also where few are left and where a feature never varies.
func TestFewPoints(t *testing.T) {
	q := Question{Count: 20, Rand: rand.New(rand.NewPCG(1, 2)), Losses: []float64{3, 1, 2},
		Points: [][]float64{{0.1, 0.5}, {0.5, 0.5}, {0.9, 0.5}}}
	q.Features = func(u []float64) []float64 { return []float64{math.Floor(10*u[0]) / 10, 1} }
	q.Allowed = func(u []float64) bool { return u[0] < 0.6 }
	points, err := Propose(context.Background(), processor(t), q)
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, u := range points {
		got = append(got, math.Floor(10*u[0]))
	}
	slices.Sort(got)
	if !slices.Equal(got, []float64{0, 2, 3, 4}) {
		t.Errorf("points %v of tenths, want those from 0 to 5 without 1 and 5", got)
	}
	if _, err := Propose(context.Background(), processor(t), Question{Count: 1}); err == nil {
		t.Error("no error without values")
	}
}

// The process of given hyper-parameters has the likelihood's derivatives, and passes through values without noise.
func TestProcess(t *testing.T) {
	e, rng := processor(t), rand.New(rand.NewPCG(3, 4))
	o := &objective{engine: e, x: mat.NewDense(12, 2, nil), priors: priors(2)}
	var features [][]float64
	for i := range 12 {
		u := []float64{rng.Float64(), rng.Float64()}
		features, o.y = append(features, u), append(o.y, math.Sin(5*u[0])+u[1])
		o.x.SetRow(i, u)
	}
	theta := []float64{-0.5, 0.3, 0.2, -4, 0.1}
	at := func(i int, step float64) float64 {
		moved := slices.Clone(theta)
		moved[i] += step
		o.evaluate(context.Background(), moved)
		return o.value
	}
	for i := range theta {
		want := (at(i, 1e-5) - at(i, -1e-5)) / 2e-5
		at(i, 0)
		if got := o.gradient[i]; math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("derivative %d is %g, by differences %g", i, got, want)
		}
	}
	p := &process{features: features, values: o.y, Hyperparameters: gp.Hyperparameters{Lengthscales: []float64{0.7, 1.5},
		Variance: 2, Noise: 1e-9, Mean: 0.3}}
	if err := p.condition(); err != nil {
		t.Fatal(err)
	}
	got, _, err := gp.Evaluate(context.Background(), e, o.x, o.y, kernel.Matern(2.5, 1, 1), p.Hyperparameters)
	if err != nil {
		t.Fatal(err)
	}
	residual := mat.NewVecDense(12, nil)
	for i, v := range o.y {
		residual.SetVec(i, v-p.Mean)
	}
	want := -mat.Dot(residual, p.weights)/2 - p.factor.LogDet()/2 - 6*math.Log(2*math.Pi)
	if math.Abs(got-want) > 1e-6*math.Abs(want) {
		t.Errorf("the likelihood of the graph is %g, of the process %g", got, want)
	}
	for i, u := range features {
		if mean, deviation := p.at(u); math.Abs(mean-o.y[i]) > 1e-4 || deviation > 1e-3 {
			t.Errorf("at %v the process is %g ± %g, want %g", u, mean, deviation, o.y[i])
		}
	}
}

// The logarithm of the improvement is that of the integral, and does not stop where the improvement rounds to zero.
func TestLogImprovement(t *testing.T) {
	for _, c := range []struct{ g, s float64 }{{0.5, 1}, {-1, 0.7}, {-3, 1}, {2, 0.1}} {
		sum, step := 0.0, 1e-4
		for z := -8.0; z < 8; z += step {
			sum += max(c.g-c.s*z, 0) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * step
		}
		if got := logImprovement(c.g, c.s); math.Abs(got-math.Log(sum)) > 1e-5 {
			t.Errorf("%v: %g, the integral has %g", c, got, math.Log(sum))
		}
	}
	if left, right := logImprovement(-20-1e-9, 1), logImprovement(-20+1e-9, 1); math.Abs(left-right) > 0.02 {
		t.Errorf("at -20 the value jumps from %g to %g", left, right)
	}
	if a, b := logImprovement(-50, 1), logImprovement(-60, 1); !(a > b) || math.IsInf(b, 0) {
		t.Errorf("far away: %g and %g", a, b)
	}
}

// Values keep their order, and have mean zero and variance one; those of a long tail lose it.
func TestNormal(t *testing.T) {
	values := []float64{1, 2, 2.5, 3, 4, 50, 900}
	out := normal(values)
	if !slices.IsSorted(out) {
		t.Errorf("%v are not in order", out)
	}
	mean, deviation := stat.PopMeanStdDev(out, nil)
	if math.Abs(mean) > 1e-12 || math.Abs(deviation-1) > 1e-12 {
		t.Errorf("mean %g and standard deviation %g", mean, deviation)
	}
	if plain := standardised(values); slices.Max(out) > 0.9*slices.Max(plain) {
		t.Errorf("the largest is %g, untransformed %g", slices.Max(out), slices.Max(plain))
	}
	for _, extreme := range [][]float64{{1, 1, 1 + 1e-15}, {-1e200, 1e200, 0}, {5}} {
		for _, v := range normal(extreme) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%v become %v", extreme, normal(extreme))
			}
		}
	}
}

package laplace

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

// The covariance is copied to the device once for all steps of a model, and that of the test
// inputs once for all modes.
func TestCopiesOfAModel(t *testing.T) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	const n, points, steps, modes = 20, 7, 6, 5
	x := line(n)
	k, cross := covariance(t, e, x, x, 2), covariance(t, e, x, line(points), 2)
	e.StartCounting()
	m := full(t, e, k)
	labels := mat.NewDense(n, 1, nil)
	f := make([]float64, n)
	for range steps {
		s, err := m.Step(t.Context(), f, labels)
		if err != nil {
			t.Fatal(err)
		}
		f = mat.Col(nil, 0, s.Latent)
	}
	c := e.Profile().Total
	// Covariance and counts once, f and labels together for each step, and f and dual of it.
	if c.Copies != 2+3*steps || c.BytesUp != 8*(n*n+n+steps*2*n) || c.BytesDown != 8*steps*2*n ||
		c.Synchronisations != steps {
		t.Errorf("steps: %d copies, %d bytes up, %d down, %d waits", c.Copies, c.BytesUp, c.BytesDown, c.Synchronisations)
	}
	all := make([][]float64, modes)
	for i := range all {
		all[i] = f
	}
	if _, err := m.Variances(t.Context(), all, cross); err != nil {
		t.Fatal(err)
	}
	p := e.Profile().Total
	if copies, up := p.Copies-c.Copies, p.BytesUp-c.BytesUp; copies != 1+2*modes || up != 8*(n*points+modes*n) {
		t.Errorf("variances: %d copies, %d bytes up", copies, up)
	}
}

// Covariances, counts and labels are copied to the device once for all problems of a class and
// all steps. A run copies scalars of each problem, and the modes are copied once.
func TestCopiesOfModes(t *testing.T) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	const n, class = 20, 24
	labels := make([]float64, n)
	for i := range labels {
		labels[i] = float64(1 - 2*(i%2))
	}
	for _, members := range []int{1, 5} {
		problems, k := make([]Problem, members), covariance(t, e, line(n), line(n), 2)
		for i := range problems {
			problems[i] = Problem{full(t, e, k), labels}
		}
		e.StartCounting()
		before := e.Profile().Total
		runs := 0 // the problems are equal
		for _, m := range modes(t, e, problems, 100) {
			runs = max(runs, m.Steps)
		}
		c := e.Profile().Total
		const constants = 2
		if up := 8 * (constants + members*(class*class+3*class+1+2*class+3*runs)); c.BytesUp-before.BytesUp != int64(up) {
			t.Errorf("%d members: %d bytes up in %d runs, want %d", members, c.BytesUp-before.BytesUp, runs, up)
		}
		if down := 8 * members * (3*runs + 2*class); c.BytesDown-before.BytesDown != int64(down) ||
			c.Synchronisations-before.Synchronisations != int64(runs)+1 {
			t.Errorf("%d members: %d bytes down, %d waits in %d runs, want %d", members, c.BytesDown-before.BytesDown,
				c.Synchronisations-before.Synchronisations, runs, down)
		}
	}
}

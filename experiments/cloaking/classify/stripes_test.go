package classify

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
)

// The orders of Section 5.5, at fixed seeds: two noisy steps are worse than one,
// and one is worse than none with noise. The grid has 50 points of each class.
func TestStripes(t *testing.T) {
	_, truth := stripesTest(5)
	if positiveShare(truth) != 0.5 {
		t.Errorf("share of positive test points %g", positiveShare(truth))
	}
	accuracy := func(change func(*ClassifierSettings)) (sum float64) {
		for seed := range uint64(4) {
			r := trialtest.Compute(t, trialtest.Options{Seed: seed}, Stripes(), onStripes(change))
			sum += r.Metrics.Accuracy / 4
		}
		return sum
	}
	one := accuracy(func(*ClassifierSettings) {})
	two := accuracy(func(s *ClassifierSettings) { s.Iterations, s.Draws = steps(2), 10 })
	none := accuracy(noiseless)
	if !(two+0.05 < one && one+0.05 < none && none > 0.75 && two < 0.62) {
		t.Errorf("accuracy %.3f with two steps, %.3f with one, %.3f without noise", two, one, none)
	}
}

func TestStripesOfOneClass(t *testing.T) {
	_, err := trialtest.Try(t, trialtest.Options{}, Stripes(), func(s *stripesSettings) { s.Width = 100 })
	trialtest.Refuses(t, err, "all 200 training points are of one class")
}

// Draws that differ in the top rows only, and are less sure next to boundaries.
func TestAreasOfTheGrid(t *testing.T) {
	p := mat.NewDense(stripesGrid*stripesGrid, 2, nil)
	near, far := 0, 0
	for i := range stripesGrid * stripesGrid {
		x, y := i%stripesGrid, i/stripesGrid
		v := 0.8
		switch (x + y) % 5 { // stripes of width 5 change between 4 and 5
		case 0, 4:
			v = 0.6
			near++
		default:
			far++
		}
		p.SetRow(i, []float64{v, v})
		if y == 9 {
			p.SetRow(i, []float64{0.95, 0.05})
		}
		if y == 8 {
			p.SetRow(i, []float64{0.95, 0.15})
		}
	}
	noisy := &classifier{scale: 1}
	m := noisy.areaMetrics(p, 5)
	// The top rows: 4 points of 10 are near.
	topNear, topFar := 4*(0.45+(0.45+0.35)/2), 6*(0.45+(0.45+0.35)/2)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"near", *m.Near, (0.1*float64(near-8) + topNear) / float64(near)},
		{"elsewhere", *m.Far, (0.3*float64(far-12) + topFar) / float64(far)},
		{"deviation at the bottom", *m.SDBottom, 0},
		{"deviation at the top", *m.SDTop, (0.45 + 0.4) / 3},
		{"both at the bottom", *m.BothBottom, 0},
		{"both at the top", *m.BothTop, 1.0 / 3},
	} {
		if !(math.Abs(c.got-c.want) < 1e-12) {
			t.Errorf("%s: %v, not %v", c.name, c.got, c.want)
		}
	}
	quiet := &classifier{}
	if m := quiet.areaMetrics(p, 5); m.SDTop != nil || m.BothTop != nil || m.SDBottom != nil || m.BothBottom != nil {
		t.Error("without noise there is a deviation over draws")
	}
	if m := noisy.areaMetrics(p, 0.3); m.Near == nil || m.Far != nil {
		t.Error("of narrow stripes all points are near a boundary")
	}
	if m := noisy.areaMetrics(p, 100); m.Near == nil || m.Far == nil {
		t.Error("the corner at 0 is near a boundary")
	}
}

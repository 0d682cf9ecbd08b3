package cloak

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// pseudo solves by the descent of the authors' code.
func pseudo(t *testing.T, steps int, change func(*Solver), c ...*mat.Dense) ([]*design.Range, []*design.Design) {
	t.Helper()
	ranges, designs, err := SolveDesigns(t.Context(), descending(t, steps, func(s *Solver) {
		s.Columns, s.Inverse = Separate, Pseudo
		change(s)
	}), c)
	if err != nil {
		t.Fatal(err)
	}
	return ranges, designs
}

// Where M is far from singular the pseudo-inverse is the inverse: descent, norm, covariance
// and factor are those of the other descent.
func TestPseudoInverseOfRegularCovariance(t *testing.T) {
	cs := matrices(t)
	ranges, designs := pseudo(t, 30, func(*Solver) {}, cs...)
	_, regular, err := SolveDesigns(t.Context(), descending(t, 30, func(s *Solver) { s.Columns = Separate }), cs)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range designs {
		want := regular[i]
		for _, v := range []struct {
			what      string
			got, want float64
		}{
			{"norm", d.MaxMahalanobis, want.MaxMahalanobis}, {"scale", d.NoiseScale, want.NoiseScale},
			{"log-determinant", d.LogDet, want.LogDet}, {"trace", d.Trace, want.Trace},
			{"sum of weights", d.SumLambda, want.SumLambda}, {"steps", float64(d.Iterations), 30},
		} {
			trialtest.Near(t, v.what, v.got, v.want, 1e-7*math.Max(1, math.Abs(v.want)))
		}
		var m, other mat.Dense
		m.Mul(d.Factor(), d.Factor().T())
		other.Mul(want.Factor(), want.Factor().T())
		if !mat.EqualApprox(&m, &other, 1e-9) {
			t.Errorf("set %d of rank %d: another covariance", i, len(ranges[i].Scale))
		}
	}
}

// Of several starts at random the one with the smallest determinant counts.
func TestPseudoInverseOfSeveralStarts(t *testing.T) {
	cs := matrices(t)
	of := func(starts int) (logDets []float64) {
		ranges, designs := pseudo(t, 5, func(s *Solver) {
			s.Start, s.Starts = trialtest.WordOr[float64](RandomStart), starts
		}, cs...)
		for i, d := range designs {
			inverse, err := design.PseudoInverseOf(ranges[i], d.Lambda)
			if err != nil {
				t.Fatal(err)
			}
			logDets = append(logDets, inverse.LogDet)
		}
		return logDets
	}
	one, several, better := of(1), of(5), 0
	for i, v := range several {
		if v > one[i] {
			t.Errorf("set %d: five starts end at %g, the first of them at %g", i, v, one[i])
		} else if v < one[i] {
			better++
		}
	}
	if better == 0 {
		t.Error("no further start is ever better than the first")
	}
}

// Where M is nearly singular the norm leaves directions out that the noise hardly covers:
// it is below the norm over all directions of the range.
func TestPseudoInverseLeavesDirectionsOut(t *testing.T) {
	var ages, points []float64
	for i := range 120 {
		ages = append(ages, 84*math.Pow((float64(i)+0.5)/120, 1.5))
	}
	for age := 0.0; age <= 84; age += 3 {
		points = append(points, age)
	}
	m := Model{Method: Standard, Hyperparameters: Hyperparameters{
		Kernel: Kernel{Lengthscale: method.LengthscalesOf(25), KernelVariance: 1}, NoiseVariance: 1,
	}}
	c, err := m.Matrix(cloaktest.Engine(t), cloaktest.Column(ages...), cloaktest.Column(points...))
	if err != nil {
		t.Fatal(err)
	}
	ranges, designs := pseudo(t, 5, func(s *Solver) {
		s.Start, s.Starts, s.Scaling = trialtest.WordOr[float64](RandomStart), 2, Squared
	}, c)
	d := designs[0]
	inverse, err := design.PseudoInverseOf(ranges[0], d.Lambda)
	if err != nil {
		t.Fatal(err)
	}
	if rank := len(ranges[0].Scale); inverse.Kept >= rank {
		t.Fatalf("all %d directions are kept", rank)
	}
	trialtest.Near(t, "scale", d.NoiseScale, d.MaxMahalanobis*d.MaxMahalanobis, 1e-12)
	if whole, err := design.FromWeights(ranges[0], d.Lambda); err == nil && whole.MaxMahalanobis < 1.05*d.MaxMahalanobis {
		t.Errorf("a norm of %g, and %g over all directions", d.MaxMahalanobis, whole.MaxMahalanobis)
	}
}

// No guarantee holds with the pseudo-inverse, for any scaling.
func TestPseudoInverseIsRefuted(t *testing.T) {
	s := Solver{Algorithm: Gradient, Inverse: Pseudo}
	p := new(experiment.Privacy).State(1, 0.01)
	s.Refute(p)
	if p.Guarantee != "" || s.CheckGuarantee() == nil || s.Notes() != nil {
		t.Errorf("guarantee %q, notes %v", p.Guarantee, s.Notes())
	}
	s.Algorithm = Certified
	if err := s.CheckGuarantee(); err != nil {
		t.Errorf("without a descent the setting does nothing, and is refused: %v", err)
	}
}

package recognise

import (
	"math"
	"testing"

	"privkern/experiments/internal/trialtest"
)

func solveBoth(t *testing.T, change func(*EigenproblemSettings)) (EigenproblemMetrics, error) {
	t.Helper()
	s := eigenproblem().With(func(s *EigenproblemSettings) {
		s.Dataset, s.Samples, s.Features = HARSurrogate, 90, 12
		change(s)
	})
	if _, err := eigenproblem().Resolved(s); err != nil {
		return EigenproblemMetrics{}, err
	}
	out, err := runEigenproblem(t.Context(), trialtest.New(t, trialtest.Options{Seed: 1, Workers: 1}), s)
	if err != nil {
		return EigenproblemMetrics{}, err
	}
	return out.Metrics, nil
}

// With a kernel matrix of nearly full rank both solutions are one. With a linear kernel of
// few features the right matrix has a null space, whose eigenvalues rounding makes.
func TestEigenproblemAsPrinted(t *testing.T) {
	full, err := solveBoth(t, func(s *EigenproblemSettings) { s.Kernel = "rbf:0.01" })
	if err != nil {
		t.Fatal(err)
	}
	if full.Rank != 89 || math.Abs(full.Loss) > 1e-9 || math.Abs(full.Largest-full.LargestRange) > 1e-8 {
		t.Errorf("of rank 89: %+v", full)
	}
	low, err := solveBoth(t, func(s *EigenproblemSettings) { s.Kernel = "linear" })
	if err != nil {
		t.Fatal(err)
	}
	if low.Rank != 12 || low.LargestRange > 1 || low.Largest < 1.1 || low.Loss != low.Range-low.Printed || low.Loss <= 0 {
		t.Errorf("of rank 12: %+v", low)
	}
}

func TestEigenproblemRefuses(t *testing.T) {
	for name, change := range map[string]func(*EigenproblemSettings){
		"an unknown kernel":   func(s *EigenproblemSettings) { s.Kernel = "cubic" },
		"too many samples":    func(s *EigenproblemSettings) { s.Samples = 5000 },
		"too many features":   func(s *EigenproblemSettings) { s.Features = 562 },
		"an infinite penalty": func(s *EigenproblemSettings) { s.C = math.Inf(1) },
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := solveBoth(t, change); err == nil {
				t.Errorf("no error, %+v", m)
			}
		})
	}
	rng := trialtest.New(t, trialtest.Options{}).Stream("subset")
	if _, _, err := drawn(formulaSamples(30, 3), 25, 3, rng); err == nil {
		t.Error("more samples than there are are drawn")
	}
}

// A person is named from all samples together where single samples do not suffice, and
// groups are of one person at one activity.
func TestPooledAdversary(t *testing.T) {
	out, err := recogniseHAR(t.Context(), t, 1, new(steps), movements(4), division{test: 3}, defaults[HARSettings])
	if err != nil {
		t.Fatal(err)
	}
	m := out.Metrics
	if m.AdversaryPerson < m.AdversaryActivity || m.AdversaryActivity < m.AdversarySVM || m.AdversaryPerson <= 25 {
		t.Errorf("single %g %%, of one activity %g %%, of one person %g %%", m.AdversarySVM, m.AdversaryActivity,
			m.AdversaryPerson)
	}
	for _, v := range []float64{m.AdversaryPerson * 4 / 100, m.AdversaryActivity * 24 / 100} { // 4 people, 24 groups
		if math.Abs(v-math.Round(v)) > 1e-9 {
			t.Errorf("%g groups are named", v)
		}
	}
}

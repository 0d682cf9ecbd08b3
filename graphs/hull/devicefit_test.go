package hull

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/engine/counts"
)

// machinesOn returns the machines of samples on an engine.
func machinesOn(t *testing.T, e *engine.Engine, samples []*mat.Dense, layers int) []*Machine {
	t.Helper()
	machines := make([]*Machine, len(samples))
	err := FitAll(context.Background(), e, slices.Clone(samples), Options{Dim: 5, Layers: layers},
		func(i int, m *Machine, err error) error {
			machines[i] = m
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	return machines
}

// On a device all layers of a fit are copied with one wait, machines of different sizes share
// runs, and agree with those of the CPU.
func TestFitsOnDevice(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var samples []*mat.Dense
	for _, n := range []int{260, 340, 400, 90} {
		y := mat.NewDense(n, 12, nil)
		y.Apply(func(_, j int, _ float64) float64 { return 2 + rng.NormFloat64()/math.Sqrt(float64(1+j)) }, y)
		samples = append(samples, y)
	}
	for _, dtype := range []string{"float64", "float32"} {
		const layers = 4
		e, _ := onDevice(t, dtype)
		e.StartCounting()
		got := machinesOn(t, e, samples, layers)
		programs := map[string]counts.Count{}
		for _, c := range e.Profile().Programs {
			programs[c.Program] = c
		}
		// The classes of 512 and of 96 samples.
		if kernels := programs["kernel of encodings"]; kernels.Runs != 2*layers {
			t.Errorf("%s: %d runs for kernels, want %d", dtype, kernels.Runs, 2*layers)
		}
		// One for each evaluation of the slowest machine of both classes, and two for the solutions.
		waits := programs["regularised least squares"].Synchronisations + programs["members of a batch"].Synchronisations
		if want := map[string]int64{"float64": 14, "float32": 10}[dtype]; waits != want {
			t.Errorf("%s: %d waits for %d evaluations, want %d", dtype, waits, programs["regularised least squares"].Runs, want)
		}
		if waits := programs["covariance"].Synchronisations; waits != 1 {
			t.Errorf("%s: %d waits for the covariances, want 1", dtype, waits)
		}
		cpu, err := engine.Open("cpu", dtype, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := machinesOn(t, cpu, samples, layers)
		for i, m := range got {
			tolerance := 1e-9
			if dtype == "float32" {
				tolerance = 1e-4
			}
			for l := range layers {
				if d := math.Abs(m.Lambda(l)/want[i].Lambda(l) - 1); !(d < tolerance) {
					t.Errorf("%s: λ of layer %d of machine %d is off by %g of itself", dtype, l, i, d)
				}
				a, b := fmt.Sprint(m.layers[l].solutions.Shape()), fmt.Sprint(want[i].layers[l].solutions.Shape())
				if a != b {
					t.Errorf("%s: solutions of layer %d of machine %d are %s, want %s", dtype, l, i, a, b)
				}
				sizes, _ := engine.Floats(want[i].layers[l].solutions)
				numbers, _ := engine.Floats(m.layers[l].solutions)
				largest := mat.Max(mat.NewDense(1, len(sizes), sizes))
				for at, v := range numbers {
					if d := math.Abs(v - sizes[at]); !(d < 10*tolerance*largest) {
						t.Fatalf("%s: solution %d of layer %d of machine %d is off by %g of %g", dtype, at, l, i, d, largest)
					}
				}
			}
		}
		if err := cpu.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The counterpart of a trial of KAHM waits a number of times that does not depend on the number of machines: models of
// the samples, of smoothed samples, machines of these, and a search.
func TestTrialWaits(t *testing.T) {
	for _, machines := range []int{4, 12} {
		rng := rand.New(rand.NewPCG(5, 6))
		e, _ := onDevice(t, "float32")
		e.StartCounting()
		samples := make([]*mat.Dense, machines)
		for i := range samples {
			samples[i] = mat.NewDense(300-20*(i%4), 12, nil) // two size classes
			samples[i].Apply(func(_, j int, _ float64) float64 { return 2 + rng.NormFloat64()/math.Sqrt(float64(1+j)) },
				samples[i])
		}
		opts := Options{Dim: 5, Layers: 4, Tolerance: 1e-3}
		for range 2 {
			err := ModelAll(t.Context(), e, slices.Clone(samples), opts, func(i int, m *SmoothModel, err error) error {
				if err == nil {
					samples[i] = m.Smoothed
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		fitted := make([]*Machine, machines)
		err := FitAll(t.Context(), e, slices.Clone(samples), opts, func(i int, m *Machine, err error) error {
			fitted[i] = m
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		groups := make([]int, machines)
		for i := range groups {
			groups[i] = i % 2
		}
		ensemble, err := NewEnsemble(fitted, groups)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ensemble.Nearest(t.Context(), e, samples[0], Search{}); err != nil {
			t.Fatal(err)
		}
		if waits := e.Profile().Total.Synchronisations; waits != 23 {
			t.Errorf("%d machines: %d waits, want 23", machines, waits)
		}
	}
}

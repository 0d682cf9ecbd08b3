package hull_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/graphs/internal/graphtest"
	"privkern/tests/tier"
)

// fitAll returns the machines and the errors of samples, and does not change the slice.
func fitAll(t *testing.T, e *engine.Engine, samples []*mat.Dense, opts hull.Options) ([]*hull.Machine, []error) {
	t.Helper()
	machines, errs := make([]*hull.Machine, len(samples)), make([]error, len(samples))
	done := func(i int, m *hull.Machine, err error) error {
		machines[i], errs[i] = m, err
		return nil
	}
	err := hull.FitAll(context.Background(), e, slices.Clone(samples), opts, done)
	if err != nil {
		t.Fatal(err)
	}
	return machines, errs
}

// modelAll returns the models of samples.
func modelAll(t *testing.T, e *engine.Engine, samples []*mat.Dense, opts hull.Options) []*hull.SmoothModel {
	t.Helper()
	models := make([]*hull.SmoothModel, len(samples))
	err := hull.ModelAll(context.Background(), e, samples, opts, func(i int, m *hull.SmoothModel, err error) error {
		models[i] = m
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return models
}

// wantSame compares machines by λ, the number of evaluations, and the images of queries.
func wantSame(t *testing.T, e *engine.Engine, got, want *hull.Machine, queries *mat.Dense) {
	t.Helper()
	for l := range want.Layers() {
		if got.Lambda(l) != want.Lambda(l) || got.Iterations(l) != want.Iterations(l) {
			t.Errorf("layer %d: λ is %.17g after %d evaluations, alone %.17g after %d", l, got.Lambda(l), got.Iterations(l),
				want.Lambda(l), want.Iterations(l))
		}
	}
	images := func(m *hull.Machine) []*mat.Dense {
		all, _, err := m.Images(context.Background(), e, queries)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	alone := images(want)
	for l, image := range images(got) {
		if !mat.Equal(image, alone[l]) {
			t.Errorf("layer %d: the images differ from those of the machine alone", l)
		}
	}
}

// A machine has the same bits alone and in a batch, for any neighbours and any number of workers:
// with the norm from the Gram matrix, without, and with a sketch.
func TestBitsOfAMachineDoNotDependOnTheBatch(t *testing.T) {
	for _, dtype := range []string{"float64", "float32"} {
		for _, c := range []struct{ n, p, dim, layers int }{{70, 9, 4, 3}, {40, 100, 4, 2}, {70, 300, 5, 2},
			{140, 260, 4, 2}} {
			if c.p > 200 && dtype == "float32" && graphtest.Backend() != "cpu" {
				continue // the kernels of both types are the same templates; a simulated device takes a minute
			}
			t.Run(fmt.Sprintf("%s %d×%d", dtype, c.n, c.p), func(t *testing.T) {
				if c.p > 200 {
					tier.Sequential(t)
				}
				rng := graphtest.Rand(uint64(c.n))
				of := func(n int, scale float64) *mat.Dense {
					y := graphtest.Normal(rng, n, c.p)
					y.Apply(func(_, j int, v float64) float64 { return scale * (2 + v/math.Sqrt(1+float64(j))) }, y)
					return y
				}
				opts := hull.Options{Dim: c.dim, Layers: c.layers}
				// Neighbours of the size class take more or fewer evaluations.
				y, near, far, full := of(c.n, 1), of(c.n+3, 1e-2), of(c.n-1, 30), of(c.n-2, 1)
				queries := of(5, 1)
				e := graphtest.Engine(t, dtype, 1)
				alone, err := hull.Fit(context.Background(), e, y, opts)
				if err != nil {
					t.Fatal(err)
				}
				model, err := hull.Model(context.Background(), e, y, opts)
				if err != nil {
					t.Fatal(err)
				}
				workers := []int{1, 3}
				if graphtest.Backend() != "cpu" {
					workers = workers[1:] // a device has one order of its own
				}
				for _, workers := range workers {
					e := graphtest.Engine(t, dtype, workers)
					e.StartCounting()
					for _, batch := range [][]*mat.Dense{{y, near, far, full, near}, {far, y}, {full, near, y, y}} {
						machines, errs := fitAll(t, e, batch, opts)
						models := modelAll(t, e, slices.Clone(batch), opts)
						for i := range batch {
							if errs[i] != nil {
								t.Fatal(errs[i])
							}
							if batch[i] == y {
								wantSame(t, e, machines[i], alone, queries)
								if !mat.Equal(models[i].Images, model.Images) || !mat.Equal(models[i].Smoothed, model.Smoothed) ||
									models[i].Error != model.Error {
									t.Error("the model differs from that of the samples alone")
								}
							}
						}
					}
					if runs(e, "members of a batch") == 0 {
						t.Error("all members take equal numbers of steps: nothing is taken out of a batch")
					}
				}
			})
		}
	}
}

// Machines of one size class share their runs.
func TestMachinesOfASizeShareRuns(t *testing.T) {
	rng := graphtest.Rand(8)
	var batch []*mat.Dense
	for i := range 6 {
		batch = append(batch, graphtest.Normal(rng, 40-i, 30))
	}
	e := graphtest.Engine(t, "float64", 1)
	e.StartCounting()
	fitAll(t, e, batch, hull.Options{Dim: 4, Layers: 2})
	for _, program := range []string{"covariance", "principal directions"} {
		if got := runs(e, program); got != 1 {
			t.Errorf("%d runs of %q, want 1", got, program)
		}
	}
	if got := runs(e, "kernel of encodings"); got != 2 {
		t.Errorf("%d runs for the kernel matrices of 2 layers", got)
	}
	if got := runs(e, "regularised least squares"); got > 12 {
		t.Errorf("%d runs for the solutions of 2 layers", got)
	}
}

// Members that fail have the same error as alone; the others, also those of a smaller rank, have
// machines.
func TestMembersThatFail(t *testing.T) {
	rng := graphtest.Rand(9)
	y := graphtest.Normal(rng, 20, 6)
	nan, flat, equal := mat.DenseCopyOf(y), mat.DenseCopyOf(y), mat.DenseCopyOf(y)
	nan.Set(3, 2, math.NaN())
	for i := range 20 {
		for j := 2; j < 6; j++ {
			flat.Set(i, j, y.At(i, 0))
		}
		equal.SetRow(i, y.RawRowView(0))
	}
	large := mat.DenseCopyOf(y)
	large.Scale(1e170, large) // whose squares overflow
	batch := []*mat.Dense{y, nan, flat, mat.NewDense(20, 6, nil), equal, new(mat.Dense), large, y}
	opts := hull.Options{Dim: 4, Layers: 2}
	e := graphtest.Engine(t, "float64", 2)
	machines, errs := fitAll(t, e, batch, opts)
	queries := graphtest.Normal(rng, 4, 6)
	failures := 0
	for i := range batch {
		alone, err := hull.Fit(context.Background(), e, batch[i], opts)
		switch {
		case err == nil && errs[i] == nil:
			wantSame(t, e, machines[i], alone, queries)
		case err == nil || errs[i] == nil || errs[i].Error() != err.Error():
			t.Errorf("member %d: %v; alone: %v", i, errs[i], err)
		default:
			failures++
		}
	}
	if failures != 4 {
		t.Errorf("%d members failed, want 4: %v", failures, errs)
	}
	if d := machines[2].Dim(); d != 2 {
		t.Errorf("%d directions of samples in a plane", d)
	}
}

// An error of the caller ends the fits, as does the end of the context.
func TestFitAllEnds(t *testing.T) {
	batch := []*mat.Dense{graphtest.Normal(graphtest.Rand(1), 20, 6), graphtest.Normal(graphtest.Rand(2), 80, 6)}
	e := graphtest.Engine(t, "float64", 1)
	stop := errors.New("no more")
	var calls int
	err := hull.FitAll(context.Background(), e, slices.Clone(batch), hull.Options{Dim: 2},
		func(int, *hull.Machine, error) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var once sync.Once
	err = hull.ModelAll(ctx, e, batch, hull.Options{Dim: 2}, func(int, *hull.SmoothModel, error) error {
		once.Do(cancel)
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Where λ is large, images come from the product with the kernel matrix, in a batch as alone.
func TestModelsOfLargeScale(t *testing.T) {
	rng := graphtest.Rand(10)
	large, small := graphtest.Normal(rng, 25, 6), graphtest.Normal(rng, 25, 6)
	large.Scale(1e4, large)
	e, opts, batch := graphtest.Engine(t, "float32", 1), hull.Options{Dim: 3}, []*mat.Dense{small, large, small}
	for i, m := range modelAll(t, e, batch, opts) {
		alone, err := hull.Model(context.Background(), e, batch[i], opts)
		if err != nil || !mat.Equal(m.Images, alone.Images) {
			t.Errorf("model %d differs from that of the samples alone, %v", i, err)
		}
		if strings.Contains(fmt.Sprint(mat.Sum(m.Images)), "NaN") {
			t.Errorf("model %d is not finite", i)
		}
	}
}

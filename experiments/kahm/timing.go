package kahm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kahm"
	"privkern/runner/experiment"
)

func timing() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "kahm/timing",
		Version: 1,
		Summary: "time to compute a kernel affine hull machine of Gaussian data",
		Source:  "Kumar, Moser and Fischer, Section 6.4, Table 11, Fig. 17",
		Params: []experiment.Param{
			count("rows", 1000, 1, 10000, "N, samples"),
			count("dim", 10000, 1, 100000, "p, columns"),
			count("n", 20, 1, maxDim, "subspace dimension"),
			count("repeats", 3, 1, 100, "machines that are computed, one after another; the median time is reported"),
		},
		Metrics: []experiment.Metric{
			{Name: "time_s", Unit: "s", Timing: true, Doc: "median wall time of a machine: principal directions, kernel matrix, fixed point, solutions"},
			{Name: "gflops", Unit: "GFLOP/s", Timing: true, Doc: "rate, counting what no implementation does without: N·p·min(N,p) for the Gram or covariance matrix, N³/3 for a Cholesky factor, 2N²(p+1) for a solve"},
			{Name: "fixed_point_evaluations", Doc: "evaluations of R (Eq. 42)"},
		},
		Check:  checkTiming,
		Memory: timingMemory,
		Run:    runTiming,
	}
}

func checkTiming(p experiment.Params) error {
	if n, dim := p.Int("n"), p.Int("dim"); n > dim {
		return errors.New("n must not exceed dim: a subspace of the columns has no more dimensions")
	}
	if rows, dim := p.Int("rows"), p.Int("dim"); rows*dim > maxEntries {
		return fmt.Errorf("rows × dim = %d: at most %d entries are computed, which take several gigabytes", rows*dim, int(maxEntries))
	}
	return nil
}

// maxEntries bounds the size of the data of kahm/timing.
const maxEntries = 5e7

func runTiming(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	rows, dim := t.Params.Int("rows"), t.Params.Int("dim")
	rng := t.Stream("data")
	y := mat.NewDense(rows, dim, nil)
	for i := range y.RawMatrix().Data {
		y.RawMatrix().Data[i] = rng.NormFloat64()
	}
	repeats := t.Params.Int("repeats")
	times := make([]float64, repeats)
	var m *kahm.Machine
	for i := range times {
		start := time.Now()
		if m, err = kahm.Fit(ctx, e, y, kahm.Options{Dim: t.Params.Int("n")}); err != nil {
			return nil, err
		}
		times[i] = time.Since(start).Seconds()
		t.Progress(i+1, repeats, "machines")
	}
	slices.Sort(times)
	seconds := (times[(repeats-1)/2] + times[repeats/2]) / 2
	n, p := float64(rows), float64(dim)
	needed := n*p*min(n, p) + n*n*n/3 + 2*n*n*(p+1)
	return &experiment.Result{
		Metrics:  map[string]float64{"time_s": seconds, "gflops": needed / seconds / 1e9, "fixed_point_evaluations": float64(m.Iterations(0))},
		Warnings: e.Warnings(),
	}, nil
}

package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// Timing returns the experiment kahm/timing.
var Timing = experiment.Of(experiment.Declaration[*TimingSettings, TimingMetrics]{
	Name:    "kahm/timing",
	Version: 3,
	Summary: "time to compute a kernel affine hull machine of Gaussian data",
	Source:  "Kumar, Moser and Fischer, Section 6.4, Table 11, Fig. 17",
	Check:   checkTiming,
	Memory:  timingMemory,
	Run:     runTiming,
})

// maxEntries bounds the size of the data.
const maxEntries = 5e7

// checkTiming refuses data of which a machine would take too much memory.
func checkTiming(s *TimingSettings) error {
	if s.N > s.Dim {
		return errors.New("n must not exceed dim: a subspace of the columns has no more dimensions")
	}
	if s.entries() > maxEntries {
		return fmt.Errorf("rows × dim = %d: at most %d entries are computed, which take several gigabytes",
			s.entries(), int(maxEntries))
	}
	return nil
}

// timingMemory is that of a matrix of rows by dim, of which six are held, and four
// rows×rows, in bytes. In MiB were measured 514, 919 and 1044 for 1,000 by 10,000,
// 1,000 by 20,000 and 500 by 50,000, 463 for 3,000 by 1,000, 137 for 2,000 by 100.
func timingMemory(s *TimingSettings) int64 {
	n := int64(s.Rows)
	return process + 10<<20 + float*n*int64(s.Dim)*13/2 + float*n*n*22/5
}

// runTiming times machines of one matrix of standard Gaussian entries, N×p, without layers. The
// time is the median, of an even number of times the mean of the middle two. The rate counts
// N·p·min(N,p) + N³/3 + 2N²(p+1) operations.
func runTiming(ctx context.Context, t *experiment.Trial, s *TimingSettings,
) (*experiment.Outcome[TimingMetrics], error) {
	e := engine.Of(t.Engine)
	rng := t.Stream("data")
	y := mat.NewDense(s.Rows, s.Dim, nil)
	for i := range y.RawMatrix().Data {
		y.RawMatrix().Data[i] = rng.NormFloat64()
	}
	times := make([]float64, s.Repeats)
	var m *hull.Machine
	for i := range times {
		start := time.Now()
		var err error
		if m, err = hull.Fit(ctx, e, y, hull.Options{Dim: s.N}); err != nil {
			return nil, err
		}
		times[i] = time.Since(start).Seconds()
		t.Progress(i+1, s.Repeats, "machines")
	}
	slices.Sort(times)
	seconds := (times[(s.Repeats-1)/2] + times[s.Repeats/2]) / 2
	n, p := float64(s.Rows), float64(s.Dim)
	needed := n*p*min(n, p) + n*n*n/3 + 2*n*n*(p+1)
	return &experiment.Outcome[TimingMetrics]{
		Metrics: TimingMetrics{Time: seconds, Rate: needed / seconds / 1e9,
			FixedPointEvaluations: float64(m.Iterations(0))},
		Warnings: e.Warnings(),
	}, nil
}

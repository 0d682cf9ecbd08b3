package dpgp

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"runtime"
	"time"

	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// benchmarks measure the paper's largest experiment and its slowest.
func benchmarks() []experiment.Benchmark {
	return []experiment.Benchmark{
		{
			Name: "dpgp/calibration",
			Doc: "Section 6.2: 40 repeats of 3 noise levels, 4 values of ε and 4 levels (48 scenarios), each repeat drawn, " +
				"fitted and predicted anew; the paper says less than 30 seconds.",
			Run: benchCalibration,
		},
		{
			Name: "dpgp/hyperparameters",
			Long: true,
			Doc: "Section 6.3: 100 repeats of the search for hyperparameters with 4 values of ε, on all processors; the " +
				"paper says approximately 10 minutes.",
			Run: benchSearch,
		},
	}
}

// The settings of Fig. 2.
var (
	figure2Sigmas   = []float64{0.03, 0.1, 0.3}
	figure2Epsilons = []float64{1, 3, 10, 30}
)

// benchTrial is a trial without settings on an open engine.
func benchTrial(opened io.Closer, workers int) *experiment.Trial {
	return &experiment.Trial{
		Identity: experiment.Identity{Backend: "cpu", DType: "float64"}, Engine: opened, Workers: workers,
		Progress: func(int, int, string) {},
		Stream: func(purpose string) *rand.Rand {
			h := fnv.New64a()
			fmt.Fprint(h, purpose)
			return rand.New(rand.NewPCG(h.Sum64(), 0))
		},
	}
}

// onEngine calls run with a trial on an engine of all processors.
func onEngine(run func(*experiment.Trial) error) (err error) {
	workers := runtime.GOMAXPROCS(0)
	opened, err := engine.Opener("cpu", "float64", workers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return run(benchTrial(opened, workers))
}

func benchCalibration(ctx context.Context, m experiment.Meter) error {
	return onEngine(func(t *experiment.Trial) error {
		cpu, err := m.Time("48 scenarios, 40 repeats", func() error {
			for _, sigma := range figure2Sigmas {
				for _, epsilon := range figure2Epsilons {
					s := calibration().With(func(s *calibrationSettings) { s.Sigma, s.Epsilon = sigma, epsilon })
					if _, err := calibration().Compute(ctx, t, s); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		m.Value("48 scenarios, 40 repeats: CPU", cpu, "s", experiment.Target{AtMost: 10})
		return nil
	})
}

func benchSearch(ctx context.Context, m experiment.Meter) error {
	return onEngine(func(t *experiment.Trial) error {
		start := time.Now()
		for _, epsilon := range figure2Epsilons {
			s := hyperparameters().With(func(s *searchSettings) { s.Epsilon = epsilon })
			if _, err := hyperparameters().Compute(ctx, t, s); err != nil {
				return err
			}
		}
		m.Value("400 searches: wall time", time.Since(start).Seconds(), "s", experiment.Target{AtMost: 60})
		return nil
	})
}

package dpgp

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"privkern/runner/experiment"
)

// benchmarks measure the paper's largest experiment but for the search of
// hyperparameters.
func benchmarks() []experiment.Benchmark {
	return []experiment.Benchmark{{
		Name: "dpgp/calibration",
		Doc:  "Section 6.2: 40 repeats of 3 noise levels, 4 values of ε and 4 levels (48 scenarios), each repeat drawn, fitted and predicted anew; the paper says less than 30 seconds.",
		Run:  benchCalibration,
	}}
}

// The settings of Fig. 2.
var (
	figure2Sigmas   = []float64{0.03, 0.1, 0.3}
	figure2Epsilons = []float64{1, 3, 10, 30}
)

func benchCalibration(ctx context.Context, m experiment.Meter) error {
	e := calibration()
	cpu, err := m.Time("48 scenarios, 40 repeats", func() error {
		for _, sigma := range figure2Sigmas {
			for _, epsilon := range figure2Epsilons {
				p, err := e.Resolve(map[string]any{"sigma": sigma, "epsilon": epsilon})
				if err != nil {
					return err
				}
				if _, err := runCalibration(ctx, &experiment.Trial{
					Params: p, Backend: "cpu", DType: "float64",
					Progress: func(int, int, string) {},
					Stream: func(purpose string) *rand.Rand {
						h := fnv.New64a()
						fmt.Fprint(h, purpose)
						return rand.New(rand.NewPCG(h.Sum64(), 0))
					},
				}); err != nil {
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
}

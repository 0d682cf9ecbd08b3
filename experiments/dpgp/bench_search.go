package dpgp

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"time"

	"privkern/runner/experiment"
)

// searchBenchmark measures the paper's slowest experiment.
func searchBenchmark() experiment.Benchmark {
	return experiment.Benchmark{
		Name: "dpgp/hyperparameters",
		Doc:  "Section 6.3: 100 repeats of the search for hyperparameters with 4 values of ε, on all processors; the paper says approximately 10 minutes.",
		Run:  benchSearch,
	}
}

func benchSearch(ctx context.Context, m experiment.Meter) error {
	start := time.Now()
	for _, epsilon := range figure2Epsilons {
		e := hyperparameters()
		p, err := e.Resolve(map[string]any{"epsilon": epsilon})
		if err != nil {
			return err
		}
		if _, err := e.Run(ctx, &experiment.Trial{
			Params: p, Backend: "cpu", DType: "float64", Workers: runtime.GOMAXPROCS(0),
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
	m.Value("400 searches: wall time", time.Since(start).Seconds(), "s", experiment.Target{AtMost: 60})
	return nil
}

package dpgp

import (
	"context"
	"time"

	"privkern/runner/experiment"
)

// searchTime measures the searches of dpgp/hyperparameters, whose trials need not run
// alone.
var searchTime = experiment.Of(experiment.Declaration[*hyperparameterSettings, searchTimeMetrics]{
	Name:          "dpgp/search-time",
	Version:       1,
	Summary:       "how long a private search for hyperparameters takes",
	Source:        "Honkela 2021, Section 6.3",
	Check:         checkHyperparameters,
	Memory:        func(s *hyperparameterSettings) int64 { return s.memory(s.N, 10) },
	Run:           runSearchTime,
	PrivateTiming: true,
})

func runSearchTime(
	ctx context.Context, t *experiment.Trial, s *hyperparameterSettings,
) (*experiment.Outcome[searchTimeMetrics], error) {
	start := time.Now()
	out, err := runHyperparameters(ctx, t, s)
	if err != nil {
		return nil, err
	}
	privacy := out.Privacy
	if privacy != nil {
		privacy.Withdraw("how long a search took shows how many draws were made, which the guarantee needs to be secret")
	}
	return &experiment.Outcome[searchTimeMetrics]{
		Metrics: searchTimeMetrics{Time: time.Since(start).Seconds() / float64(s.Repeats)},
		Privacy: privacy, Warnings: out.Warnings,
	}, nil
}

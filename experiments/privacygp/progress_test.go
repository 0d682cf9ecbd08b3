package privacygp

import (
	"context"
	"errors"
	"slices"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// TestLongTrialsReportProgress: long computations report their progress, and stop when they are
// cancelled.
func TestLongTrialsReportProgress(t *testing.T) {
	for _, tt := range []struct {
		name   string
		run    func(context.Context, *experiment.Trial) error
		stages []string
	}{
		{"example1", func(ctx context.Context, tr *experiment.Trial) error {
			_, err := example1().Compute(ctx, tr, example1().Defaults())
			return err
		}, []string{"central path"}},
		{"example2", func(ctx context.Context, tr *experiment.Trial) error {
			_, err := example2().Compute(ctx, tr, example2().Defaults())
			return err
		}, []string{"central path", "traces over c"}},
		{"weak", func(ctx context.Context, tr *experiment.Trial) error {
			_, err := weak().Compute(ctx, tr, weak().Defaults())
			return err
		}, []string{"central path"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := trialtest.New(t, options())
			var stages []string
			tr.Progress = func(done, total int, what string) {
				if done < 0 || done > total {
					t.Errorf("%d of %d, %s", done, total, what)
				}
				if !slices.Contains(stages, what) {
					stages = append(stages, what)
				}
			}
			if err := tt.run(context.Background(), tr); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(stages, tt.stages) {
				t.Errorf("stages %q, want %q", stages, tt.stages)
			}
			for _, stage := range tt.stages {
				ctx, cancel := context.WithCancel(context.Background())
				tr.Progress = func(_, _ int, what string) {
					if what == stage {
						cancel()
					}
				}
				if err := tt.run(ctx, tr); !errors.Is(err, context.Canceled) {
					t.Errorf("cancelled in %s: error = %v", stage, err)
				}
				cancel()
			}
		})
	}
}

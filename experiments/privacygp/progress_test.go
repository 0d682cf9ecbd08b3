package privacygp

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// TestLongTrialsReportProgress: what takes long says how far it is, and stops
// there when it is cancelled.
func TestLongTrialsReportProgress(t *testing.T) {
	tests := []struct {
		experiment string
		stages     []string
	}{
		{"example1", []string{"central path"}},
		{"example2", []string{"central path", "traces over c"}},
		{"weak", []string{"central path"}},
	}
	for _, tt := range tests {
		e, tr := trial(t, tt.experiment, nil)
		var stages []string
		tr.Progress = func(done, total int, what string) {
			if done < 0 || done > total {
				t.Errorf("%s: %d of %d, %s", tt.experiment, done, total, what)
			}
			if !slices.Contains(stages, what) {
				stages = append(stages, what)
			}
		}
		if _, err := e.Run(context.Background(), tr); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(stages, tt.stages) {
			t.Errorf("%s reports %q, want %q", tt.experiment, stages, tt.stages)
		}
		for _, stage := range tt.stages {
			ctx, cancel := context.WithCancel(context.Background())
			tr.Progress = func(_, _ int, what string) {
				if what == stage {
					cancel()
				}
			}
			if _, err := e.Run(ctx, tr); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled in %s: error = %v", tt.experiment, stage, err)
			}
			cancel()
		}
	}
}

package experiment

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

func TestCounter(t *testing.T) {
	const steps = 100
	var reports []string // not guarded: the race detector sees reports at the same time
	c := NewCounter(func(done, total int, what string) {
		reports = append(reports, fmt.Sprintf("%d/%d %s", done, total, what))
	}, steps, "folds")
	var group sync.WaitGroup
	for range steps {
		group.Go(c.Step)
	}
	group.Wait()
	var want []string
	for i := range steps {
		want = append(want, fmt.Sprintf("%d/100 folds", i+1))
	}
	if !slices.Equal(reports, want) {
		t.Errorf("got %q", reports)
	}
}

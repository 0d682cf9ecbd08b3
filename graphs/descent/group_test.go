package descent

import (
	"testing"

	"gonum.org/v1/gonum/mat"
)

// More problems than fit into a batch form several batches, with the same results.
func TestBatchesAreBounded(t *testing.T) {
	c := mat.NewDense(60, 1000, nil)
	problems := make([]Problem, 70)
	for i := range problems {
		problems[i].C = c
	}
	batches := divide(problems)
	if len(batches) != 2 || len(batches[0].of)+len(batches[1].of) != 70 || batches[0].p != 64 || batches[0].n != 1024 {
		t.Errorf("%d batches", len(batches))
	}
	for _, b := range batches {
		if len(b.of)*b.p*b.n > batchElements {
			t.Errorf("a batch of %d problems", len(b.of))
		}
	}
}

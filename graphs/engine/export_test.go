package engine

import (
	"testing"

	"gorgonia.org/tensor"
)

// OpenEager opens an engine on the CPU that takes every step for a heavy one.
func OpenEager(t *testing.T, dtype tensor.Dtype, workers int) *Engine {
	t.Helper()
	e, err := Open("cpu", dtype.String(), workers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	spare := new(spares)
	e.device = func() Device { return eagerDevice{newHostDevice(e.pool, spare)} }
	return e
}

// Scheduled is how many of the programs that an engine keeps run steps at the same time.
func Scheduled(e *Engine) (n int) {
	for _, i := range e.idle {
		if i.x.schedule != nil {
			n++
		}
	}
	return n
}

// eagerDevice is the host with heavy steps alone.
type eagerDevice struct{ *hostDevice }

func (eagerDevice) heavy(step, DTensor, []DTensor) bool { return true }

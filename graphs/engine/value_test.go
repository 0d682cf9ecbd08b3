package engine

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"gorgonia.org/tensor"
)

// Elements survive the collector on their way into a tensor and out of it,
// also where nothing else refers to them. Without the care that TensorOf
// takes, this fails within a second, or ends the process.
func TestValuesSurviveTheCollector(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	for range 4 {
		wg.Go(func() {
			for seed := 1.0; ; seed++ {
				select {
				case <-stop:
					return
				default:
				}
				a := make([]float64, 384)
				for i := range a {
					a[i] = seed
				}
				got, err := Floats(newTensor(tensor.Float64, len(a), 1, a))
				if err != nil {
					t.Error(err)
					return
				}
				spoil := make([]float64, 384) // may take the freed memory
				for i := range spoil {
					spoil[i] = -1
				}
				for i, v := range got {
					if v != seed {
						t.Errorf("element %d is %g, want %g", i, v, seed)
						return
					}
				}
			}
		})
	}
	time.Sleep(time.Second)
	close(stop)
	wg.Wait()
}

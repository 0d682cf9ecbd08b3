//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"errors"
	"math"
	"testing"
)

// Every direction has a rate, and nothing is kept; one that is cancelled ends in that.
func TestMeasureCopies(t *testing.T) {
	engines(t, "float64") // looks at the memory in the end
	rates, err := MeasureCopies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, rate := range map[string]float64{
		"to the device": rates.ToDevice, "from the device": rates.FromDevice, "on the device": rates.OnDevice,
	} {
		t.Run(name, func(t *testing.T) {
			if !(rate > 0) || math.IsInf(rate, 0) {
				t.Errorf("%g bytes per second", rate)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := MeasureCopies(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that it was cancelled", err)
		}
	})
}

package corpus

import (
	"context"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
)

// On the device every graph that runs has the host's values and derivatives within the documented
// parity, in the same shapes and types; comparisons are bool. Nothing falls back to the host, and
// a second run has the same bits.
func TestDeviceLikeTheHost(t *testing.T) {
	if graphtest.Backend() == "cpu" {
		t.Skip("PRIVKERN_TEST_BACKEND names no device")
	}
	for _, precision := range []struct {
		dtype     tensor.Dtype
		tolerance float64
	}{{tensor.Float64, 1e-12}, {tensor.Float32, 5e-6}} {
		host := open(t, precision.dtype)
		graphtest.Engine(t, precision.dtype.String(), 1) // keeps the device's modules for all graphs
		for _, g := range All() {
			if stage := g.Fault().Stage; stage == Building || stage == Running {
				continue
			}
			t.Run(precision.dtype.String()+"/"+g.Name, func(t *testing.T) {
				device := graphtest.Engine(t, precision.dtype.String(), 1) // fails for operations that fell back
				in := g.Values(precision.dtype, g.Elements())
				want, err := host.Run(context.Background(), g.Program(), in)
				if err != nil {
					t.Fatal(err)
				}
				got, err := device.Run(context.Background(), g.Program(), in)
				if err != nil {
					t.Fatal(err)
				}
				again, err := device.Run(context.Background(), g.Program(), in)
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range names(want) {
					if !slices.Equal(got[name].Shape(), want[name].Shape()) {
						t.Errorf("%s has the shape %v, want %v", name, got[name].Shape(), want[name].Shape())
					}
					tolerance := precision.tolerance * max(1, g.Condition)
					if difference := differ(t, got[name], want[name], tolerance); difference != "" {
						t.Errorf("%s: %s", name, difference)
					}
					if difference := differ(t, again[name], got[name], 0); difference != "" {
						t.Errorf("%s in a second run: %s", name, difference)
					}
				}
			})
		}
	}
}

// names returns the names of values in alphabetical order.
func names(v engine.Values) (names []string) {
	for name := range v {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}

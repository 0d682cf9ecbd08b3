package wide

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// scaled returns n samples of 12 columns, all ±rms.
func scaled(n int, rms float64) *Source {
	y := mat.NewDense(n, 12, nil)
	y.Apply(func(i, j int, _ float64) float64 {
		if i*40503>>j&1 == 0 {
			return -rms
		}
		return rms
	}, y)
	return &Source{Class: 4, Samples: y}
}

// Data whose scale makes λ large are warned of, and refused above a limit; only the
// samples without noise count.
func TestScaleOfTheData(t *testing.T) {
	for _, c := range []struct {
		name     string
		n        int // samples
		branches int
		rms      float64
		epsilon  float64
		warns    bool
		refuses  bool
	}{
		{"pixels in [0, 1]", 300, 3, .33, math.Inf(1), false, false},
		{"below the warning", 200, 2, 2.236, math.Inf(1), false, false}, // 2·2.236² < .1·100
		{"above the warning", 200, 2, 2.237, math.Inf(1), true, false},
		{"below the limit", 200, 2, 7.071, math.Inf(1), true, false}, // 2·7.071² < 100
		{"above the limit", 200, 2, 7.072, math.Inf(1), false, true},
		{"raw pixels", 200, 2, 81, math.Inf(1), false, true},
		{"larger machines bear more", 300, 1, 7.072, math.Inf(1), true, false},
		{"up to their limit", 300, 1, 12.248, math.Inf(1), false, true}, // 2·12.248² > 300
		{"few samples count as a hundred", 2, 1, 7.071, math.Inf(1), true, false},
		{"a single large sample", 1, 1, 1e200, math.Inf(1), false, true},
		{"noise does not count", 200, 2, 1, .05, false, false}, // deviation 28
	} {
		t.Run(c.name, func(t *testing.T) {
			trial := trialtest.New(t, trialtest.Options{})
			e := engine.Of(trial.Engine)
			b, err := NewBuilder(trial, e, Noisy, &Pipeline{
				Budget:  Budget{Epsilon: c.epsilon, Delta: 1e-5, D: 1},
				Machine: Machine{N: 1, Layers: 1, Branches: experiment.NumberOr[Rounding](c.branches)},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = b.Build(t.Context(), []Source{*scaled(50, 1e-3), *scaled(c.n, c.rms), *scaled(60, .2)})
			if c.refuses != (err != nil) || err != nil && (!strings.Contains(err.Error(), "class 4 has samples") ||
				!strings.Contains(err.Error(), "scale the data to [0, 1]")) {
				t.Errorf("refused: %v", err)
			}
			warned := strings.Contains(strings.Join(e.Warnings(), "; "), "smooth much away")
			if warned != c.warns {
				t.Errorf("warnings %q", e.Warnings())
			}
		})
	}
}

// Values that are no numbers have their own refusal.
func TestScaleOfNonFiniteData(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(-1)} {
		b := builder(t, Original, Corrected)
		of := samples()
		of.Samples.Set(3, 2, v)
		if err := b.checkScale([]Source{*of}); err != nil {
			t.Errorf("%v", err)
		}
		b.branches = func(int) int { return 1 }
		if _, err := b.Build(t.Context(), []Source{*of}); err == nil || !strings.Contains(err.Error(), "row 3, column 2") {
			t.Errorf("%v", err)
		}
	}
}

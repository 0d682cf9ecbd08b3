package regression

import (
	"math"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// wavesRanges are public ranges of [wave].
var wavesRanges = map[string]any{"low": 12, "high": 28, "input_low": "0", "input_high": "1,10"}

// Public ranges, where they are given, are those of the process, whose mean is the middle; estimates are there only if
// they are asked for.
func TestRangesGiven(t *testing.T) {
	for name, c := range map[string]struct {
		more   map[string]any
		origin origin
		mean   float64 // NaN for an estimate
	}{
		"ranges":            {wavesRanges, ranged, 20},
		"a mean":            {map[string]any{"mean": "19"}, ranged, 19},
		"an estimated mean": {map[string]any{"mean": "ml"}, ranged, math.NaN()},
		"none": {map[string]any{"low": nil, "high": nil, "input_low": nil, "input_high": nil}, estimated,
			math.NaN()},
		"ranges by name": {map[string]any{"hyperparameters": "range"}, ranged, 20},
	} {
		t.Run(name, func(t *testing.T) {
			p := map[string]any{"dataset": "csv:w.csv", "inputs": "a+b", "output": "c", "sensitive": "a:0.3..0.6"}
			for _, add := range []map[string]any{wavesRanges, c.more} {
				for k, v := range add {
					if p[k] = v; v == nil {
						delete(p, k)
					}
				}
			}
			full, err := Experiment().Resolve(p)
			if err != nil {
				t.Fatal(err)
			}
			s := Experiment().Settings(full)
			if s.Hyperparameters != c.origin || s.Mean.Is(byLikelihood) != math.IsNaN(c.mean) ||
				!math.IsNaN(c.mean) && s.Mean.Number != c.mean {
				t.Errorf("hyperparameters %v, mean %v", s.Hyperparameters, s.Mean)
			}
		})
	}
	_, err := Experiment().Resolve(map[string]any{"dataset": "csv:w.csv", "inputs": "a+b", "output": "c",
		"sensitive": "a:0.3..0.6", "low": 12, "high": 28})
	trialtest.Refuses(t, err, "low, high, input_low and input_high are its public ranges")
}

// byRanges are the settings of public ranges for [wave].
func byRanges(s *Settings) {
	of := experiment.SeveralOf[method.None]
	s.Hyperparameters, s.Low, s.High = ranged, end(12), end(28)
	s.InputLow, s.InputHigh, s.Mean = of(0), of(1, 10), number(20)
}

// A process by public ranges has the numbers of the rule, predicts a wave within them, and may be handed over, since
// nothing of it is estimated.
func TestProcessByRanges(t *testing.T) {
	s := Experiment().With(own(wave(t, 60)), byRanges, func(s *Settings) {
		s.Resolution = experiment.NumberOr[automatic](0.01)
	})
	out, err := Experiment().Compute(t.Context(), trialtest.New(t, trialtest.Options{}), s)
	if err != nil {
		t.Fatal(err)
	}
	m := out.Metrics
	for name, c := range map[string]struct{ got, want float64 }{
		"lengthscale of a": {m.Lengthscales["1"], math.Sqrt2 / 4}, "of b": {m.Lengthscales["2"], 10 * math.Sqrt2 / 4},
		"variance": {m.ProcessVariance, 16}, "noise": {m.NoiseVariance, 1.6 * 1.6}, "mean": {m.Mean, 20},
	} {
		trialtest.Near(t, name, c.got/c.want, 1, 1e-9)
	}
	if m.RMSEPublic["unsecured"] > 0.5*m.RMSEPublic["middle"] || *m.CoveragePublic < 0.9 {
		t.Errorf("%+v", m)
	}
	if e := s.estimates(); e != nil {
		t.Errorf("estimates %q", e)
	}
	if err := checkExport(s); err != nil {
		t.Error(err)
	}
}

package simulated

import (
	"math"
	"slices"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// observation computes a trial for a figure.
func observation[S, M any](
	t *testing.T, o trialtest.Options, x *experiment.Definition[S, M], change func(*S),
) experiment.Observation {
	return trialtest.Observe(x, x.With(change), int64(o.Seed), trialtest.Compute(t, o, x, change))
}

// panelsOf are those of the figure's trials among all.
func panelsOf(f experiment.Figure, trials []experiment.Observation) []experiment.Panel {
	return f.Draw(slices.DeleteFunc(slices.Clone(trials), func(o experiment.Observation) bool {
		return !f.Match(o.Experiment, o.Params)
	}))
}

func TestFigure1(t *testing.T) {
	var trials []experiment.Observation
	for _, epsilon := range []float64{1, 10, math.Inf(1), 1} {
		trials = append(trials, observation(t, trialtest.Options{}, inference(),
			func(s *inferenceSettings) { s.Epsilon = epsilon }))
	}
	trials = append(trials,
		observation(t, trialtest.Options{Secure: true}, inference(), func(s *inferenceSettings) { s.Epsilon = 3 }),
		observation(t, trialtest.Options{}, calibration(), func(s *calibrationSettings) { s.Epsilon, s.Repeats = 30, 1 }))
	panels := panelsOf(figure1(), trials)
	var titles []string
	var points []int
	for _, p := range panels {
		titles, points = append(titles, p.Title), append(points, len(p.Points))
	}
	want := []string{"ε = 1, δ = 0.0001", "ε = 10, δ = 0.0001", "no privacy", "ε = 3, δ = 0.0001"}
	if !slices.Equal(titles, want) {
		t.Errorf("panels %q, want %q", titles, want)
	}
	if want := []int{2, 2, 2, 1}; !slices.Equal(points, want) { // a secure record has no data
		t.Errorf("sets of points %v, want %v", points, want)
	}
	if figure1().Draw(nil) != nil {
		t.Error("it draws without trials")
	}
}

func TestFigure2(t *testing.T) {
	var trials []experiment.Observation
	coverage := 0.0
	for _, seed := range []uint64{0, 1} {
		for _, epsilon := range []float64{1, 10} {
			for _, sigma := range []float64{0.1, 0.3} {
				change := func(s *calibrationSettings) { s.Epsilon, s.Sigma, s.Repeats = epsilon, sigma, 3 }
				out := trialtest.Compute(t, trialtest.Options{Seed: seed}, calibration(), change)
				trials = append(trials, trialtest.Observe(calibration(), calibration().With(change), int64(seed), out))
				if epsilon == 1 && sigma == 0.1 {
					coverage += out.Metrics.Coverage50Full / 2
				}
			}
		}
	}
	other := func(epsilon float64) experiment.Observation { // of another variant
		return observation(t, trialtest.Options{}, calibration(), func(s *calibrationSettings) {
			s.Epsilon, s.Repeats, s.Ratio = epsilon, 3, 2
		})
	}
	trials = append([]experiment.Observation{other(40)}, trials...)
	trials = append(trials,
		observation(t, trialtest.Options{}, inference(), func(*inferenceSettings) {}),
		other(30),
		observation(t, trialtest.Options{Secure: true}, calibration(), func(s *calibrationSettings) { // without repeats
			s.Epsilon, s.Repeats = 20, 3
		}))
	panels := panelsOf(figure2(), trials)
	if len(panels) != 8 {
		t.Fatalf("%d panels, want 8", len(panels))
	}
	for _, p := range panels {
		t.Run(p.Title, func(t *testing.T) {
			if got := p.Lines[0].X; !slices.Equal(got, []float64{1, 10}) {
				t.Errorf("it is over %v: trials of another variant, or without repeats, are in it", got)
			}
		})
	}
	trialtest.Near(t, "the coverage of both seeds", panels[0].Lines[0].Y[0], coverage, 1e-12)
	if figure2().Draw(nil) != nil {
		t.Error("it draws without trials")
	}
}

package dpgp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/mechanism"
	"privkern/graphs/op"
)

// oneByOne makes the draws of a repeat one after another, each with a posterior of its own.
func oneByOne(ctx context.Context, s *search, repeat int) (choice, error) {
	d := s.simulate(repeat)
	if err := s.fill(ctx, []*sample{d}); err != nil {
		return choice{}, err
	}
	var out choice
	selected, err := mechanism.Select(s.budget, len(s.candidates), s.settings.Rule,
		func(i int, rng *rand.Rand) (struct{}, mechanism.Score, error) {
			c := s.candidates[i]
			k := d.parts[c.length]
			score := mechanism.Score{Value: math.NaN(), Count: len(d.truth), Centre: c.score.Centre, Radius: c.score.Radius}
			p, err := c.model.Infer(ctx, s.Engine, c.noise.NoisyCopy(k.sums, rng), c.noise, s.Update)
			var notPD *op.NotPositiveDefiniteError
			if errors.As(err, &notPD) {
				out.indefinite++
				return struct{}{}, score, nil
			}
			if err != nil {
				return struct{}{}, score, err
			}
			mean, variance, err := k.at.Predict(ctx, s.Engine, p.Mean, p.Cov)
			if err != nil {
				return struct{}{}, score, err
			}
			private, err := c.score.Mean(d.likelihoods(c, mean, variance), rng)
			if math.Abs(private-c.score.Centre) > c.score.Radius {
				out.outside++
			}
			score.Value = float64(len(d.truth)) * private
			return struct{}{}, score, err
		}, s.Stream("mechanism", repeat))
	out.Selected = selected
	return out, err
}

// Planned draws choose as draws one by one do, where some have no model and also where few are planned at a time, and
// ask a device for few waits.
func TestPlannedDraws(t *testing.T) {
	for _, c := range []struct {
		name        string
		change      func(*searchSettings)
		most, waits int64 // waits: those of 142 draws in two plans, or of 102 with 17 that have no model
	}{
		{"", func(*searchSettings) {}, 1000, 5},
		{"often without a model", func(s *searchSettings) { s.Rho, s.Covariance = 0.999, sparse.CovariancePrinted },
			1000, 26},
		{"few at a time", func(s *searchSettings) { s.Rho = 0.999 }, 7, 38},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSearchFor(t, func(s *searchSettings) {
				s.Epsilon, s.N, s.Gamma, s.Repeats = 3, 200, 0.04, 6
				c.change(s)
			})
			want, all := make([]choice, s.settings.Repeats), make([]*attempt, s.settings.Repeats)
			samples := make([]*sample, len(all))
			for i := range want {
				var err error
				if want[i], err = oneByOne(t.Context(), s, i); err != nil {
					t.Fatal(err)
				}
				samples[i] = s.simulate(i)
				all[i] = &attempt{sample: samples[i], stream: replay{from: s.Stream("mechanism", i)}}
			}
			if err := s.fill(t.Context(), samples); err != nil {
				t.Fatal(err)
			}
			s.Engine.StartCounting()
			if err := s.attempts(t.Context(), all, 0, int(c.most)); err != nil {
				t.Fatal(err)
			}
			if waits := s.Engine.Profile().Total.Synchronisations; waits != c.waits {
				t.Errorf("%d waits, want %d", waits, c.waits)
			}
			for i := range want {
				if all[i].choice != want[i] {
					t.Errorf("repeat %d: %+v, one by one %+v", i, all[i].choice, want[i])
				}
				// Those of the last plan, and the one before it.
				if kept := len(all[i].done); kept > int(c.most)+1 {
					t.Errorf("repeat %d: %d draws are kept, of %d", i, kept, want[i].Draws)
				}
			}
		})
	}
}

package classify

import (
	"context"
	"regexp"
	"slices"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// A method that stops at its cap, short of its tolerance, fails the trial with the reached and
// the wanted tolerance and the remedy.
func TestTrialsThatStopShortFail(t *testing.T) {
	type try func(context.Context, *experiment.Trial) error
	stripes := func(change func(*stripesSettings), limit func(*classifier)) try {
		return func(ctx context.Context, x *experiment.Trial) error {
			s := Stripes().With(change)
			c, err := newClassifier(x, &s.ClassifierSettings, s.Method)
			if err != nil {
				return err
			}
			limit(c)
			_, err = c.stripes(ctx, s)
			return err
		}
	}
	reference := func(ctx context.Context, x *experiment.Trial) error {
		s, e := Reference().With(), engine.Of(x.Engine)
		cov, err := s.covariances(ctx, e, slices.Repeat([]float64{1}, len(referenceLabels)))
		if err != nil {
			return err
		}
		defer cov.model.Close()
		_, err = s.fit(ctx, e, cov, 1)
		return err
	}
	const newton = `the Laplace approximation stopped after 1 Newton steps, .* moved the latent function by \d\S+ of ` +
		`its size or of 1, and at most 1e-10 is wanted; use a smaller kernel_variance or another lengthscale`
	for _, c := range []struct {
		name string
		run  try
		want string
	}{
		{"stripes", stripes(func(*stripesSettings) {}, func(c *classifier) { c.caps.Design = 1 }),
			`the interior-point method stopped after 1 steps at a certified gap of \d\S+ nats, and at most 2e-08 is ` +
				`wanted; use a smaller rank`},
		{"stripes, clusters", stripes(func(s *stripesSettings) { s.Method = cloak.Sparse },
			func(c *classifier) { c.caps.Clusters = 1 }),
			`inducing inputs: k-means: run .* stopped after 1 iterations, .* and \d+ of \d+ points still moved to ` +
				`another cluster in the last one, where none may; use fewer clusters`},
		{"stripes without noise", stripes(func(s *stripesSettings) { noiseless(&s.ClassifierSettings) },
			func(c *classifier) { c.steps.Number = 1 }), newton},
		{"reference", reference, newton},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.run(t.Context(), trialtest.New(t, trialtest.Options{}))
			if err == nil || !regexp.MustCompile(c.want).MatchString(err.Error()) {
				t.Errorf("%v; it should match %s", err, c.want)
			}
		})
	}
}

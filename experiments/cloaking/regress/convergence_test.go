package regress

import (
	"context"
	"regexp"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// A method that stops at its cap, short of its tolerance, fails the trial with the reached and
// the wanted tolerance and the remedy.
func TestTrialsThatStopShortFail(t *testing.T) {
	type try func(context.Context, *experiment.Trial, cloak.Caps) error
	design := func(method cloak.Method) try {
		return func(ctx context.Context, x *experiment.Trial, caps cloak.Caps) error {
			s := Design().With(synthetic, func(s *designSettings) { s.Method = method })
			train, err := s.train(x)
			if err != nil {
				return err
			}
			_, err = s.solve(ctx, x, train, caps)
			return err
		}
	}
	regression := func(method cloak.Method) try {
		return func(ctx context.Context, x *experiment.Trial, caps cloak.Caps) error {
			v, err := newValidation(x, Regression().With(by(cloak.Age, method)))
			if err != nil {
				return err
			}
			v.caps = caps
			_, err = v.crossValidate(ctx)
			return err
		}
	}
	curve := func(ctx context.Context, x *experiment.Trial, caps cloak.Caps) error {
		s := Curve().With()
		r, err := newHeightPredictor(x, &s.prediction, s.Method, s.Inputs)
		if err != nil {
			return err
		}
		r.caps = caps
		_, err = r.curve(ctx, s)
		return err
	}
	surface := func(ctx context.Context, x *experiment.Trial, caps cloak.Caps) error {
		s := Surface().With()
		r, err := newHeightPredictor(x, &s.prediction, s.Method, s.Inputs)
		if err != nil {
			return err
		}
		r.caps = caps
		_, err = r.surface(ctx, s)
		return err
	}
	interior := regexp.MustCompile(`the interior-point method stopped after 1 steps at a certified gap of \d\S+ nats, ` +
		`and at most 2e-08 is wanted; use a smaller rank`)
	clusters := regexp.MustCompile(`inducing inputs: k-means: run .* stopped after 1 iterations, .* and \d+ of \d+ ` +
		`points still moved to another cluster in the last one, where none may; use fewer clusters`)
	oneStep, oneIteration := cloak.DefaultCaps(), cloak.DefaultCaps()
	oneStep.Design, oneIteration.Clusters = 1, 1
	for _, c := range []struct {
		name string
		run  try
		caps cloak.Caps
		want *regexp.Regexp
	}{
		{"design", design(cloak.Standard), oneStep, interior},
		{"design, clusters", design(cloak.Sparse), oneIteration, clusters},
		{"regression", regression(cloak.Standard), oneStep, interior},
		{"regression, clusters", regression(cloak.Sparse), oneIteration, clusters},
		{"curve", curve, oneStep, interior},
		{"surface", surface, oneStep, interior},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := trialtest.New(t, trialtest.Options{Folder: cloaktest.Census(t)})
			if err := c.run(t.Context(), x, c.caps); err == nil || !c.want.MatchString(err.Error()) {
				t.Errorf("%v; it should match %s", err, c.want)
			}
		})
	}
}

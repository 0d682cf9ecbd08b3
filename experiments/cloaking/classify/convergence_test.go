package classify

import (
	"context"
	"strings"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/internal/fault"
	"privkern/experiments/internal/trialtest"
)

// Every iterative method of a trial that stops at its cap, short of its tolerance,
// fails the trial, which says what was reached.
func TestTrialsThatStopShortFail(t *testing.T) {
	const (
		interior = "the interior-point method stopped after 1 steps at a certified gap of "
		newton   = "the Laplace approximation stopped after 1 Newton steps, the most that are allowed, of which the last "
		clusters = "inducing inputs: k-means: run "
	)
	s := trialtest.Options{Ctx: fault.With(context.Background(), fault.Faults{Cap: 1})}
	onStripes := func(change func(*stripesSettings)) func(*testing.T) error {
		return func(t *testing.T) error {
			_, err := trialtest.Try(t, s, Stripes(), change)
			return err
		}
	}
	for _, c := range []struct {
		name string
		run  func(*testing.T) error
		want string
	}{
		{"stripes", onStripes(func(*stripesSettings) {}), interior},
		{"stripes, clusters", onStripes(func(s *stripesSettings) { s.Method = cloak.Sparse }), clusters},
		{"stripes without noise", onStripes(func(s *stripesSettings) { noiseless(&s.ClassifierSettings) }), newton},
		{"reference", func(t *testing.T) error {
			_, err := trialtest.Try(t, s, Reference())
			return err
		}, newton},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.run(t)
			trialtest.Refuses(t, err, c.want)
			if err != nil && !strings.Contains(err.Error(), "; use ") {
				t.Errorf("%v does not say what to do", err)
			}
		})
	}
}

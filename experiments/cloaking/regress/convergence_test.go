package regress

import (
	"context"
	"strings"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/fault"
	"privkern/experiments/internal/trialtest"
)

// Every iterative method of a trial that stops at its cap, short of its tolerance,
// fails the trial, which says what was reached.
func TestTrialsThatStopShortFail(t *testing.T) {
	const (
		interior = "the interior-point method stopped after 1 steps at a certified gap of "
		clusters = "inducing inputs: k-means: run "
	)
	s := trialtest.Options{
		Folder: cloaktest.Census(t), Ctx: fault.With(context.Background(), fault.Faults{Cap: 1}),
	}
	for _, c := range []struct {
		name string
		run  func(t *testing.T) error
		want string
	}{
		{"design", func(t *testing.T) error {
			_, err := trialtest.Try(t, s, Design(), synthetic)
			return err
		}, interior},
		{"design, clusters", func(t *testing.T) error {
			_, err := trialtest.Try(t, s, Design(), synthetic, func(s *designSettings) { s.Method = cloak.Sparse })
			return err
		}, clusters},
		{"regression", func(t *testing.T) error {
			_, err := trialtest.Try(t, s, Regression())
			return err
		}, interior},
		{"regression, clusters", func(t *testing.T) error {
			_, err := trialtest.Try(t, s, Regression(), by(cloak.Age, cloak.Sparse))
			return err
		}, clusters},
		{"curve", func(t *testing.T) error {
			_, err := trialtest.Try(t, s, Curve())
			return err
		}, interior},
		{"surface", func(t *testing.T) error {
			_, err := trialtest.Try(t, s, Surface())
			return err
		}, interior},
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

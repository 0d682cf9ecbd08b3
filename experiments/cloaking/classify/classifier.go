package classify

import (
	"fmt"
	"slices"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// convergedSteps is how many Newton steps are taken at most without noise when
// the number is not given; with the logistic likelihood a handful suffices.
const convergedSteps = 100

// checkClassifier refuses combinations of settings, for training sets of at least that
// number of rows; 0 where it is not known yet.
func checkClassifier(s *ClassifierSettings, m cloak.Method, rows int) error {
	if _, err := s.StepFactor(s.newtonSteps()); err != nil {
		return err
	}
	if err := cloak.CheckRank(&s.GaussianBudget, &s.Solver); err != nil {
		return err
	}
	switch {
	case rows == 0:
		return nil
	case m == cloak.Sparse && s.Inducing > rows:
		return fmt.Errorf("inducing: %d inducing inputs, but there are only %d training rows", s.Inducing, rows)
	case s.Directions() > rows:
		return fmt.Errorf("rank = %s: there are only %d training rows", s.Rank, rows)
	}
	return nil
}

// newtonSteps are the Newton steps that are taken at most.
func (s *ClassifierSettings) newtonSteps() cloak.Steps {
	out := cloak.Steps{Number: 1, Composition: s.Composition}
	switch {
	case !s.Iterations.Is(AutoSteps):
		out.Number = s.Iterations.Number
	case s.Noiseless():
		out.Number = convergedSteps
	}
	return out
}

// classifier fits GP classifiers whose Laplace approximation sees the labels
// through cloaking alone.
type classifier struct {
	t        *experiment.Trial
	e        *engine.Engine
	method   cloak.Method
	settings *ClassifierSettings
	scale    float64     // of the noise of one Newton step; 0 for none
	steps    cloak.Steps // cap on the Newton steps
	caps     cloak.Caps  // of the other methods
	// converge reports whether the steps, without noise, must converge.
	converge bool
	draws    int
	// source is where the noise of a release comes from; nil where releases are
	// judged, with noise from the trial's streams.
	source *release.Source
}

func newClassifier(t *experiment.Trial, s *ClassifierSettings, m cloak.Method) (*classifier, error) {
	factor, err := s.StepFactor(s.newtonSteps())
	if err != nil {
		return nil, err
	}
	c := &classifier{
		t: t, e: engine.Of(t.Engine), method: m, settings: s, scale: factor * cloak.LabelSensitivity,
		steps: s.newtonSteps(), caps: cloak.DefaultCaps(), converge: s.Iterations.Is(AutoSteps), draws: 1,
	}
	if factor > 0 && !c.publishes() {
		c.draws = s.Draws
	}
	return c, nil
}

// withoutNoise is the classifier at the mode.
func (c *classifier) withoutNoise() *classifier {
	out := *c
	out.scale, out.draws, out.steps.Number, out.converge = 0, 1, convergedSteps, true
	return &out
}

// publishes reports whether the record leaves out noise-free functions of the labels, and has one
// draw, because the mean of many has less noise.
func (c *classifier) publishes() bool { return c.t.Secure && c.scale > 0 }

// warnings returns the warnings about a trial with these fits that is computed but suspect.
func (c *classifier) warnings(fits ...*prediction) []string {
	var all []cloak.Quality
	var given []string
	for _, fit := range fits {
		all = append(all, fit.releases...)
		if fit.moved != 0 && given == nil {
			given = []string{fmt.Sprintf("the Laplace approximation is that after %d Newton steps, as iterations asks, "+
				"and has not converged: the last step moved the latent function by %.1e of its size or of 1", fit.steps,
				fit.moved)}
		}
	}
	return slices.Concat(c.e.Warnings(), given, cloak.PrecisionWarnings(c.e, all, &c.settings.Solver),
		cloak.DesignWarnings(all))
}

// laplaceMemory estimates the memory of the classification of n training points, in bytes: with the
// standard method eighteen n×n matrices of the Laplace approximation and of its noise, otherwise
// little, at most 103 MiB. For stripes of 500, 1,000 and 2,000 points 99, 181 to 224 and 448 MiB
// were measured.
func laplaceMemory(m cloak.Method, n int) int64 {
	const process, float = 100 << 20, 8
	if m != cloak.Standard {
		return process + 25<<20
	}
	return process + 18*float*int64(n)*int64(n)
}

// privacy describes the protection by a release of one fit; nil without noise. what are the
// experiment's words for the labels, such as "whether a loan defaulted"; own is nil where the data have no persons.
func (c *classifier) privacy(what string, own *cloak.OwnData, notes ...string) *experiment.Privacy {
	if c.scale == 0 {
		return nil
	}
	record := "this record itself is not private: it holds labels, predictions without noise or accuracies measured on " +
		"them; only one draw of the noisy predictions of one fit would be released"
	if c.publishes() {
		record = "this record itself is not private: its metrics are computed from the labels without noise; noise " +
			"covers the noisy predictions of one fit alone"
	}
	out := c.guarantee(what, own)
	out.Notes = slices.Concat([]string{
		record, "every draw is a release of its own and spends the whole budget again",
		"hyperparameters are taken as public; the guarantee does not cover choosing them by looking at the labels",
	}, out.Notes, notes)
	return out
}

// guarantee is privacy in words that do not depend on the labels.
func (c *classifier) guarantee(what string, own *cloak.OwnData) *experiment.Privacy {
	b := &c.settings.GaussianBudget
	notes := []string{
		"protects the training labels only (" + what + "): inputs and who is in the data are taken as public",
		"delta is not the probability that epsilon-privacy fails, although the paper says so",
	}
	if n := c.steps.Number; n > 1 && c.steps.Composition == cloak.Gaussian {
		notes = append(notes, fmt.Sprintf("the %d Newton steps compose as Gaussian differential privacy (Dong, Roth and Su "+
			"2022): each has √%[1]d times the noise of one step with the whole budget", n))
	} else if n > 1 {
		steps := float64(n)
		notes = append(notes, fmt.Sprintf("the %d Newton steps each spend (%s, %s), by basic composition", n,
			experiment.FormatNumber(b.Epsilon/steps), experiment.FormatNumber(b.Delta/steps)))
	}
	unit := "one training label flipped"
	if own != nil {
		unit = own.Protected(unit, "training labels", "flipped")
	}
	out := &experiment.Privacy{
		Unit: unit,
		Mechanism: "cloaking of each Newton step of the Laplace approximation (Smith et al. 2019, Section 3), " +
			b.Source(),
		Notes: append(notes, c.settings.Notes()...),
	}
	out.State(b.Epsilon, b.Delta)
	c.settings.Solver.Refute(out)
	return out
}

package classify

import (
	"fmt"
	"slices"

	"privkern/runner/experiment"
)

// privacy describes the protection by a release of one fit; nil without noise. what are the
// experiment's words for the labels, such as "whether a loan defaulted".
func (c *classifier) privacy(what string, notes ...string) *experiment.Privacy {
	if c.scale == 0 {
		return nil
	}
	record := "this record itself is not private: it holds labels, predictions without noise or accuracies measured on " +
		"them; only one draw of the noisy predictions of one fit would be released"
	if c.publishes() {
		record = "this record itself is not private: its metrics are computed from the labels without noise; noise " +
			"covers the noisy predictions of one fit alone"
	}
	out := c.guarantee(what)
	out.Notes = slices.Concat([]string{
		record, "every draw is a release of its own and spends the whole budget again",
		"hyperparameters are taken as public; the guarantee does not cover choosing them by looking at the labels",
	}, out.Notes, notes)
	return out
}

// guarantee is privacy in words that do not depend on the labels.
func (c *classifier) guarantee(what string) *experiment.Privacy {
	b := &c.settings.GaussianBudget
	notes := []string{
		"protects the training labels only (" + what + "): inputs and who is in the data are taken as public",
		"delta is not the probability that epsilon-privacy fails, although the paper says so",
	}
	if c.steps > 1 {
		steps := float64(c.steps)
		notes = append(notes, fmt.Sprintf("the %d Newton steps each spend (%s, %s), by basic composition", c.steps,
			experiment.FormatNumber(b.Epsilon/steps), experiment.FormatNumber(b.Delta/steps)))
	}
	out := &experiment.Privacy{
		Guarantee: b.Guarantee(),
		Unit:      "one training label flipped",
		Mechanism: "cloaking of each Newton step of the Laplace approximation (Smith et al. 2019, Section 3), " +
			b.Source(),
		Notes: append(notes, c.settings.Notes()...),
	}
	c.settings.Solver.Refute(out)
	return out
}

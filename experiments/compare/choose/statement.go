package choose

import (
	"fmt"
	"slices"
	"strings"

	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Chosen is the name of a method that was chosen with differential privacy.
type Chosen struct{ Method string }

// number formats a budget for readers.
func number(v float64) string { return fmt.Sprintf("%.3g", v) }

// chosen is the release of the name alone.
func (p *planned) chosen() *experiment.Release {
	privacy := &experiment.Privacy{Unit: p.unitText(), Mechanism: mechanismText}
	p.state(privacy)
	privacy.Mechanism = mechanismText
	privacy.Notes = append(privacy.Notes, release.ExactNoise)
	return &experiment.Release{Model: &Chosen{p.Winner.Experiment}, Privacy: privacy}
}

const mechanismText = "exponential mechanism (McSherry and Talwar 2007) on methods that were trained with noise"

// unitText names the unit that the choice protects.
func (p *planned) unitText() string {
	output := p.contest.Text("output")
	switch {
	case p.units == experiment.UnitOutput:
		return fmt.Sprintf("the output (%s) of one row, substituted by any other; inputs are public", output)
	case p.full.Rows.People != nil:
		return fmt.Sprintf("one person (%s) with at most %d rows, inputs and output (%s), substituted by any other",
			p.full.Rows.People.Column, p.perUnit, output)
	}
	return fmt.Sprintf("one row, inputs and output (%s), substituted by any other", output)
}

// state makes the statement of the chosen method's release that of the whole.
func (p *planned) state(privacy *experiment.Privacy) {
	b := p.Budget
	if p.units == experiment.UnitOutput {
		privacy.Unit = p.unitText()
		privacy.Notes = slices.DeleteFunc(privacy.Notes, func(note string) bool {
			return strings.HasPrefix(note, "protects ")
		})
		privacy.Notes = slices.Insert(privacy.Notes, 0, "protects outputs alone: inputs and who is in the data are taken "+
			"as public")
	}
	var names []string
	for _, c := range p.Candidates {
		names = append(names, fmt.Sprintf("%s (epsilon = %s)", c.Experiment, number(c.Trained)))
	}
	privacy.Mechanism = "private choice of the method (" + mechanismText + "), then its release: " + privacy.Mechanism
	notes := []string{
		fmt.Sprintf("the choice of the method is part of the guarantee: each of %s was trained on %d of %d %s, drawn at "+
			"random, with the noise of the epsilon behind it at delta = %s", strings.Join(names, ", "), p.Training,
			p.Training+p.Tests, p.Whose(), experiment.FormatNumber(b.Delta)),
		fmt.Sprintf("one was drawn by the exponential mechanism of epsilon = %s, exactly, by the sum over the other %d %s "+
			"of the %s, of which a %s has at most %d; neither the sums nor what was trained are released", number(b.Exponential),
			p.Tests, p.Whose(), p.loss.words, strings.TrimSuffix(p.Whose(), "s"), p.perUnit),
	}
	composition := fmt.Sprintf("composition: the candidates together have the Gaussian privacy of mu = %s, and the "+
		"choice has it for the other part (parallel composition, McSherry 2009)", number(float64(b.Choice)))
	if b.Release > 0 {
		composition += fmt.Sprintf("; the release from all has mu = %s, which on its own is epsilon = %s and the epsilon "+
			"that the model's other members name; the whole has mu = %s", number(float64(b.Release)), number(p.Winner.Released),
			number(float64(b.Whole)))
	}
	privacy.Notes = append(privacy.Notes, append(notes, composition+", which is the guarantee")...)
	privacy.State(b.Epsilon, b.Delta).Publish()
}

// Text is the name that was chosen, and, where it was released to a file, the candidates, the division of the
// budget and the next command; quote quotes a word for a shell.
func (c *Choice) Text(file string, quote func(string) string) string {
	if file == "" {
		return c.Winner.Experiment + "\n"
	}
	b := c.Budget
	var out strings.Builder
	fmt.Fprintf(&out, "%s was chosen for %s from %s.\n\n", c.Winner.Experiment, c.contest.Text("output"),
		c.contest.Text("inputs"))
	for _, candidate := range c.Candidates {
		fmt.Fprintf(&out, "candidate  %-28s trained on %d %s at epsilon = %s\n", candidate.Experiment, c.Training,
			c.Whose(), number(candidate.Trained))
	}
	fmt.Fprintf(&out, "choice     by the other %d %s at epsilon = %s: %s\n", c.Tests, c.Whose(), number(b.Exponential),
		c.loss.words)
	fmt.Fprintf(&out, "release    from all %d %s at epsilon = %s\n", c.Training+c.Tests, c.Whose(),
		number(c.Winner.Released))
	fmt.Fprintf(&out, "together   (%s, %s), of which the choice has %s %%: mu^2 = %s + %s\n",
		experiment.FormatNumber(b.Epsilon), experiment.FormatNumber(b.Delta), number(100*c.share),
		number(float64(b.Choice*b.Choice)), number(float64(b.Release*b.Release)))
	for _, a := range c.Apart {
		fmt.Fprintf(&out, "no part    %s: %s\n", a.Experiment, a.Reason)
	}
	fmt.Fprintf(&out, "\n  run predict %s --at x.csv\n", quote(file))
	return out.String()
}

package attack

import (
	"fmt"
	"slices"

	"privkern/experiments/compare"
	"privkern/experiments/page"
	"privkern/runner/experiment"
)

// Looking states the cost of an attack.
const Looking = "These results are computed from the private rows: they are for your eyes, and no part of a release."

// Page returns the results for readers.
func (r *Results) Page() *page.Page {
	p := &page.Page{Caption: r.caption(), Header: []string{"attack", "AUC"}, Sentences: r.Sentences, Remarks: r.remarks(),
		Legend: "found / named: shares of members and of others that the attack takes for members, by a threshold that the " +
			"given share of others exceeds in shadow models; means of the models that are attacked, intervals of 95 %; " +
			"allowed: at the given share",
	}
	if !r.Published {
		p.Looking = Looking
	}
	for _, level := range Levels {
		p.Header = append(p.Header, "found / named at "+Percent(level))
	}
	for _, at := range r.At {
		p.Rows = append(p.Rows, at.rows()...)
	}
	return p
}

// caption introduces the table.
func (r *Results) caption() string {
	units := map[string]string{experiment.UnitPerson: "persons"}[r.Unit]
	if units == "" {
		units = "rows"
	}
	text := r.Title + "."
	for _, at := range r.At {
		if o := at.Exact; o != nil && r.Canaries > 0 {
			return text + fmt.Sprintf(" %d pairs of canaries are added to all %s, and each model has one of each pair; %d "+
				"models are attacked, with %d shadow models.", r.Canaries, units, o.Targets, o.Shadows)
		} else if o != nil {
			return text + fmt.Sprintf(" Of %d %s each model has a random half; %d models are attacked, with %d shadow models.",
				o.Units, units, o.Targets, o.Shadows)
		}
	}
	return text
}

// rows are those of the table at an epsilon.
func (at *At) rows() (out [][]string) {
	add := func(o *Outcome, suffix string) {
		if o == nil {
			return
		}
		for _, a := range o.Attacks {
			row := []string{a.Attack + suffix, a.AUC.Text("%.3f", 1)}
			for _, level := range Levels {
				cell := "-"
				for _, rate := range a.Rates {
					if rate.Level == level {
						cell = fmt.Sprintf("%s / %s", rate.Found.Text("%.3g", 100), Percent(rate.Alarms.Mean))
					}
				}
				row = append(row, cell)
			}
			out = append(out, row)
		}
	}
	if at.Noise != nil {
		out = append(out, []string{fmt.Sprintf("epsilon %s", at.Epsilon)})
		add(at.Noise, "")
		row := []string{"allowed", fmt.Sprintf("%.3f", at.guarantee.Area())}
		for _, level := range Levels {
			row = append(row, Percent(at.guarantee.Allows(level)))
		}
		out = append(out, row)
	}
	out = append(out, []string{"without noise"})
	add(at.Exact, "")
	return out
}

// Text is a mean with its interval, times a factor; without it where no two values differ.
func (i Interval) Text(format string, times float64) string {
	if i.Low == i.High {
		return fmt.Sprintf(format, times*i.Mean)
	}
	return fmt.Sprintf(format+" ["+format+", "+format+"]", times*i.Mean, times*i.Low, times*i.High)
}

// Percent is a share in per cent.
func Percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }

// sentence states the findings at an epsilon.
func (r *Results) sentence(at *At) string {
	if at.Exact == nil {
		return fmt.Sprintf("At epsilon %s there is no attack: too few models have a result.", at.Epsilon)
	}
	if at.Noise == nil {
		return "Without noise " + at.Exact.found(nil) + "; " + at.Exact.proved() + "."
	}
	text := fmt.Sprintf("At %s: %s; %s", r.bound(at), at.Noise.found(&at.guarantee), at.Noise.proved())
	if at.Refuted {
		text += ", WHICH CONTRADICTS THE GUARANTEE"
	}
	return text + ". Without noise " + at.Exact.found(nil) + "; " + at.Exact.proved() + "."
}

// best is the result of the attack that is chosen.
func (o *Outcome) best() *Result {
	return o.Attacks[slices.IndexFunc(o.Attacks, func(a *Result) bool { return a.Attack == o.Best })]
}

// bound is the guarantee of a unit.
func (r *Results) bound(at *At) string {
	switch {
	case at.stated == nil:
		return fmt.Sprintf("epsilon %s, which is no guarantee", at.Epsilon)
	case at.entries:
		return fmt.Sprintf("epsilon %s of an entry, %s per %s", at.Epsilon, at.guarantee, r.Unit)
	case at.stated.Epsilon > float64(at.Epsilon): // of classes that have the whole budget each
		return fmt.Sprintf("(%s, %s) per %s", experiment.FormatNumber(at.stated.Epsilon),
			experiment.FormatNumber(at.stated.Delta), r.Unit)
	}
	return fmt.Sprintf("(%s, %s) per %s", at.Epsilon, r.Delta, r.Unit)
}

// notes are those on the guarantee.
func (at *At) notes(e *compare.Entry) (out []string) {
	switch {
	case at.Noise == nil:
	case at.stated == nil:
		out = append(out, fmt.Sprintf("epsilon %s: records state no guarantee, with their reasons, so that all is allowed",
			at.Epsilon))
	case at.entries:
		out = append(out, fmt.Sprintf("epsilon %s of %s is that of one entry of a row, and the adversary substitutes all "+
			"entries, of which records state the sum: epsilon %s; allowed is what their composition allows, %s", at.Epsilon,
			e.Experiment, experiment.FormatNumber(at.stated.Epsilon), at.guarantee))
	}
	return out
}

// found states the share of members that the best attack finds at the lowest level that models tell.
func (o *Outcome) found(g *Guarantee) string {
	a := o.best()
	if len(a.Rates) == 0 {
		return fmt.Sprintf("%s has the AUC %s", a.Attack, a.AUC.Text("%.3f", 1))
	}
	rate := a.Rates[0]
	text := fmt.Sprintf("%s finds %s %% of the members and names %s %% of others", a.Attack,
		rate.Found.Text("%.3g", 100), rate.Alarms.Text("%.3g", 100))
	if g != nil {
		text += fmt.Sprintf("; with %s of others named, the guarantee allows %s", Percent(rate.Alarms.High),
			Percent(rate.Allowed))
	}
	return text
}

// proved states the bound by guesses about pairs.
func (o *Outcome) proved() string {
	p := o.Proof
	text := fmt.Sprintf("of %d pairs it guesses about %d and names %d members, which proves ", p.Pairs, p.Guesses, p.Right)
	if p.Epsilon == 0 {
		return text + "nothing"
	}
	return text + fmt.Sprintf("epsilon >= %.3g", p.Epsilon)
}

// mostWarnings is how many kinds of warnings are shown.
const mostWarnings = 5

// remarks are the lines below the table, without the sentences.
func (r *Results) remarks() (out []string) {
	for _, at := range r.At {
		for _, f := range at.Failures {
			out = append(out, fmt.Sprintf("epsilon %s: %s", at.Epsilon, f))
		}
	}
	for i, w := range r.Warnings {
		if i == mostWarnings {
			out = append(out, fmt.Sprintf("warnings of %d more kinds are in the records", len(r.Warnings)-i))
			break
		}
		out = append(out, "warning: "+w.String())
	}
	for _, n := range append(slices.Clone(r.Notes), r.tooFew()...) {
		out = append(out, "note: "+n)
	}
	return out
}

// tooFew notes attacks and levels for which models are too few.
func (r *Results) tooFew() (out []string) {
	for _, at := range r.At {
		o := at.Exact
		if o == nil {
			continue
		}
		if o.Shadows < FewestShadows {
			out = append(out, fmt.Sprintf("there are %d shadow models: LiRA compares with %d or more, --seeds 0..%d", o.Shadows,
				FewestShadows, FewestShadows+Targets(FewestShadows+2)-1))
		}
		if len(o.Attacks[0].Rates) < len(Levels) {
			out = append(out, fmt.Sprintf("- stands for a share of false positives that shadow models do not tell: they have "+
				"fewer than %d of them", Alarms))
		}
		return out
	}
	return out
}

package attack

import (
	"privkern/experiments/compare"
	"privkern/runner/experiment"
)

// Each returns the attacks on the methods of a comparison that can be attacked, on the same data at the same epsilons;
// and a note on each method that refuses, as one with public classes does where persons are protected.
func Each(c *compare.Contest) (plans []*Plan, refused []string) {
	for _, e := range c.Entries {
		if _, err := e.Definition.Param(membershipSetting); err != nil || e.Role != compare.Private ||
			e.Protects == experiment.UnitOutput {
			continue
		}
		own := *c
		if own.Unit == experiment.UnitOutput { // of which the method protects more
			own.Unit = experiment.UnitRow
		}
		p := &Plan{Contest: &own}
		if err := p.on(e); err != nil {
			refused = append(refused, "not attacked: "+err.Error())
			continue
		}
		plans = append(plans, p)
	}
	return plans, refused
}

// Attacked attacks the methods of a comparison by those of its trials that record members, and writes the outcomes into
// its results.
func Attacked(c *compare.Contest, trials []compare.Trial, r *compare.Results) error {
	plans, refused := Each(c)
	r.Notes = append(r.Notes, refused...)
	for _, p := range plans {
		judged, err := p.Judge(trials)
		if err != nil {
			return err
		}
		outcomes := make([]compare.Attacked, len(judged.At))
		for i, at := range judged.At {
			outcomes[i] = at.brief(c.Epsilons[i], judged.Sentences[i])
		}
		r.Attack(judged.Method, outcomes)
	}
	return nil
}

// brief is the outcome of the best attack on the private fits at an epsilon of the comparison, of which that of the
// trials may be the part of one entry, with a sentence about it.
func (at *At) brief(epsilon float64, sentence string) compare.Attacked {
	out := compare.Attacked{Epsilon: epsilon, Allowed: at.guarantee.Area(), Refuted: at.Refuted,
		Sentence: sentence}
	if o := at.Noise; o != nil {
		area := o.best().AUC
		out.Attack, out.AUC, out.Low, out.High = o.Best, &area.Mean, area.Low, area.High
		out.Proved = o.Proof.Epsilon
	}
	return out
}

package attack

import (
	"privkern/experiments/compare"
	"privkern/runner/experiment"
)

// Each returns the attacks on the methods of a comparison that can be attacked, on the same data at the same epsilons.
func Each(c *compare.Contest) ([]*Plan, error) {
	var out []*Plan
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
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Attacked attacks the methods of a comparison by those of its trials that record members, and writes the outcomes into
// its results.
func Attacked(c *compare.Contest, trials []compare.Trial, r *compare.Results) error {
	plans, err := Each(c)
	if err != nil {
		return err
	}
	for _, p := range plans {
		judged, err := p.Judge(trials)
		if err != nil {
			return err
		}
		outcomes := make([]compare.Attacked, len(judged.At))
		for i, at := range judged.At {
			outcomes[i] = at.brief(judged.Sentences[i])
		}
		r.Attack(judged.Method, outcomes)
	}
	return nil
}

// brief is the outcome of the best attack on the private fits, with a sentence about it.
func (at *At) brief(sentence string) compare.Attacked {
	out := compare.Attacked{Epsilon: float64(at.Epsilon), Allowed: at.guarantee.Area(), Refuted: at.Refuted,
		Sentence: sentence}
	if o := at.Noise; o != nil {
		area := o.best().AUC
		out.Attack, out.AUC, out.Low, out.High = o.Best, &area.Mean, area.Low, area.High
		out.Proved = o.Proof.Epsilon
	}
	return out
}

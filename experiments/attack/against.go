package attack

import (
	"fmt"

	"privkern/runner/experiment"
)

// ReadModel reads the fit with noise of a trial with the setting membership.
func ReadModel(series map[string]experiment.Series) (*Model, error) { return modelOf(series, true) }

// Against are the scores of the units of a target by the attacks that compare with shadow models of the same units, in
// their order.
func Against(shadows []*Model, target *Model) (attacks []string, scores [][]float64, err error) {
	if len(shadows) < FewestShadows {
		return nil, nil, fmt.Errorf("there are %d shadow models; LiRA compares with %d at least", len(shadows), FewestShadows)
	}
	for _, m := range shadows {
		if len(m.Member) != len(target.Member) {
			return nil, nil, fmt.Errorf("a shadow model has %d units, and the target %d", len(m.Member), len(target.Member))
		}
	}
	adversary := newAdversary(shadows)
	for _, name := range names[1:] {
		attacks, scores = append(attacks, name), append(scores, adversary.scores(name, target, none))
	}
	return attacks, scores, nil
}

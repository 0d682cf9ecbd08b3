package attack

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privkern/runner/experiment"
)

const (
	// Fewest is the least number of models of an attack.
	Fewest = 4
	// FewestShadows is the least number of shadow models for LiRA.
	FewestShadows = 8
	// Alarms is the least number of false positives, of shadow models and of targets, by which a share is told.
	Alarms = 10
)

// Levels are the shares of false positives at which attacks are compared.
var Levels = []float64{.001, .01, .1}

// Targets is the number of models, of all, that are attacked: the last quarter, and two at least. The others are
// shadow models.
func Targets(models int) int { return max(2, models/4) }

// Guarantee is one for the substitution of a unit.
type Guarantee struct{ Epsilon, Delta float64 }

// String is the guarantee as tables have it.
func (g Guarantee) String() string {
	return fmt.Sprintf("(%.4g, %s)", g.Epsilon, experiment.FormatNumber(g.Delta))
}

// Allows is the largest share of members that any attack finds with a share of false positives.
func (g Guarantee) Allows(fpr float64) float64 {
	if math.IsInf(g.Epsilon, 1) {
		return 1
	}
	return min(1, math.Exp(g.Epsilon)*fpr+g.Delta, 1-math.Exp(-g.Epsilon)*(1-g.Delta-fpr))
}

// Area is the largest area under the curve of any attack, that under [Guarantee.Allows].
func (g Guarantee) Area() float64 {
	if math.IsInf(g.Epsilon, 1) {
		return 1
	}
	// The two lines of the bound meet at the share 1/(1+e^ε) of those that δ leaves.
	rest := 1 - min(1, g.Delta)
	low := rest / (1 + math.Exp(g.Epsilon))
	high := rest - low
	return g.Delta*low + math.Exp(g.Epsilon)*low*low/2 + high - math.Exp(-g.Epsilon)*high*high/2 + min(1, g.Delta)
}

// Rate are the shares of members that an attack finds at a level of false positives.
type Rate struct {
	Level float64 `json:"fpr"`
	// Alarms is the share of false positives in the targets, Found that of the members that are found, and Allowed the
	// largest that the guarantee allows with the upper end of the former.
	Alarms  Interval `json:"fpr_measured"`
	Found   Interval `json:"tpr"`
	Allowed float64  `json:"tpr_allowed"`
}

// Result are the findings of an attack in the targets.
type Result struct {
	Attack string   `json:"attack"`
	AUC    Interval `json:"auc"`
	Rates  []Rate   `json:"rates"` // of the levels that shadow models tell
}

// Proof is a lower bound of ε by an attack, which names the member of some of the pairs.
type Proof struct {
	Pairs   int     `json:"pairs"`
	Guesses int     `json:"guesses"`
	Right   int     `json:"right"`
	Epsilon float64 `json:"epsilon"`
}

// Outcome are the results of all attacks on fits of one setting.
type Outcome struct {
	Shadows int       `json:"shadow_models"`
	Targets int       `json:"targets"`
	Units   int       `json:"units"`
	Attacks []*Result `json:"attacks"`
	// Best is the attack that proves most about shadow models, or where none does has the largest AUC there: it is
	// chosen before a target is looked at. Proof is its proof about the targets.
	Best  string `json:"best"`
	Proof Proof  `json:"proof"`
}

// there returns the models that have not failed.
func there(models []*Model) []*Model {
	return slices.DeleteFunc(slices.Clone(models), func(m *Model) bool { return m == nil })
}

// errFew is the error of models of which too many have failed.
var errFew = fmt.Errorf("there are too few models: an attack needs %d, of which two are attacked", Fewest)

// Judge attacks the last of some models ([Targets]) by the others, which they follow in the order of their seeds. A
// model that has failed is nil, in its place.
func Judge(models []*Model, g Guarantee) (*Outcome, error) {
	j, err := newJudge(models, g)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Shadows: len(j.shadows), Targets: len(j.targets), Units: len(j.targets[0].Member)}
	var best *guesser
	for _, name := range j.names() {
		a := j.attack(name)
		out.Attacks = append(out.Attacks, a.result())
		if g := a.guesser(); best == nil || g.before(best) {
			best = g
		}
	}
	out.Best, out.Proof = best.name, best.proof()
	return out, nil
}

// newJudge divides models into shadow models and targets, and refuses those that are too few or of different data.
func newJudge(models []*Model, g Guarantee) (*judge, error) {
	cut := len(models) - Targets(len(models))
	if len(models) < Fewest || len(there(models[:cut])) < 2 || len(there(models[cut:])) < 2 {
		return nil, errFew
	}
	all := there(models)
	for _, m := range all {
		if len(m.Member) != len(all[0].Member) {
			return nil, errors.New("models have different numbers of units: they are of different data")
		}
		if !slices.Contains(m.Member, true) || !slices.Contains(m.Member, false) {
			return nil, errors.New("a model has no members, or no others")
		}
	}
	j := &judge{shadows: there(models[:cut]), targets: there(models[cut:]), guarantee: g}
	j.failed = len(models) - cut - len(j.targets)
	j.adversary = newAdversary(j.shadows)
	return j, nil
}

// names are the attacks for which there are shadow models enough.
func (j *judge) names() []string {
	if len(j.shadows) < FewestShadows {
		return fewNames
	}
	return names
}

// judge are models that are attacked.
type judge struct {
	shadows, targets []*Model
	failed           int // targets
	adversary        *adversary
	guarantee        Guarantee
}

// attack are the scores of one attack, by model and unit.
type attack struct {
	*judge
	name                 string
	ofShadows, ofTargets [][]float64
}

func (j *judge) attack(name string) *attack {
	a := &attack{judge: j, name: name}
	for k, m := range j.shadows {
		a.ofShadows = append(a.ofShadows, j.adversary.scores(name, m, k))
	}
	a.ofTargets = j.onTargets(name)
	return a
}

// onTargets are the scores of the targets by an attack.
func (j *judge) onTargets(name string) (scores [][]float64) {
	for _, m := range j.targets {
		scores = append(scores, j.adversary.scores(name, m, none))
	}
	return scores
}

// curve is that of the pooled targets by an attack.
func (j *judge) curve(name string) Curve {
	var members []bool
	for _, m := range j.targets {
		members = append(members, m.Member...)
	}
	return CurveOf(slices.Concat(j.onTargets(name)...), members)
}

// result compares the attack on the targets with thresholds from shadow models.
func (a *attack) result() *Result {
	var others, areas []float64
	for k, m := range a.shadows {
		for unit, s := range a.ofShadows[k] {
			if !m.Member[unit] {
				others = append(others, s)
			}
		}
	}
	outside := 0 // units of targets
	for k, m := range a.targets {
		areas = append(areas, auc(a.ofTargets[k], m.Member))
		outside += len(m.Member) - membersOf(m.Member)
	}
	out := &Result{Attack: a.name, AUC: intervalOf(areas).within()}
	for i, threshold := range Thresholds(others, Levels) {
		if Levels[i]*float64(min(len(others), outside)) < Alarms {
			continue
		}
		var found, wrong []float64
		for k, m := range a.targets {
			f, w := Rates(a.ofTargets[k], m.Member, threshold)
			found, wrong = append(found, f), append(wrong, w)
		}
		taken := intervalOf(wrong).within()
		out.Rates = append(out.Rates, Rate{Level: Levels[i], Alarms: taken, Found: intervalOf(found).within(),
			Allowed: a.guarantee.Allows(taken.High)})
	}
	return out
}

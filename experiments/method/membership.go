package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"

	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

// Series of a trial with the setting membership. Their rows are the units of the data, rows or persons, in the order of
// the file; or canaries alone, where there are any. They have the columns
//
//	pair        number of the pair that the unit is in: one of the two is trained on, by a fair coin that depends
//	            on no other; NaN for the unit that has no partner
//	member      1 for a unit that is trained on, and 0 for others
//	confidence  of the fit in the outputs of the unit, the larger the more does it speak for a member: of a class
//	            with the probability p, log p/(1−p), or its score less the largest of others; of a number minus the
//	            error, in units of half the public range; of a person the mean over her rows
//	statistic   a number with about a normal distribution over fits, of which the confidence is a function: the same
//	            of a class, and the error with its sign of a number
const (
	SeriesMembership             = "membership"
	SeriesMembershipWithoutNoise = "membership_without_noise"
)

// CheckMembership refuses splits whose halves are no pairs that others draw again.
func (s Splits) CheckMembership() error {
	if s.Membership && (s.SplitSource != CommonSplits || s.Repeats != 1 || s.Holdout != .5) {
		return errors.New("membership = true: it needs splits=common holdout=0.5 and one repeat, so that each seed is one " +
			"draw of members, which others make as well")
	}
	return nil
}

// Coins are the pairs of units, of each of which a fair coin has chosen one for the training rows.
type Coins struct {
	pair, member []float64 // of each unit, see [SeriesMembership]
	pairs        int
	train, held  []int // units: members and their partners in the order of pairs, then those without a partner
}

func newCoins(units int) *Coins {
	return &Coins{pair: make([]float64, units), member: make([]float64, units)}
}

// CoinsWithin tosses coins of units of one class in each pair, for fits whose classes are public: they depend on the
// seed and the number of units of each class alone. Of a class with an odd number one is held out without a partner.
func CoinsWithin(seed int64, classes [][]int) *Coins {
	n := 0
	for _, units := range classes {
		n += len(units)
	}
	c := newCoins(n)
	for class, units := range classes {
		order := commonOrder(seed, class, len(units)) // in the place of repeats, of which there is one
		c.toss(learn.Select(units, order), (len(units)+1)/2)
	}
	return c
}

// toss adds the pairs of some units in a random order, of which the first ones are held out, at least half.
func (c *Coins) toss(order []int, tests int) {
	n := len(order)
	for i, unit := range order {
		c.pair[unit] = float64(c.pairs + i%tests)
		if i >= tests {
			c.member[unit] = 1
		} else if i >= n-tests {
			c.pair[unit] = math.NaN()
		}
	}
	c.pairs += n - tests
	c.held, c.train = append(c.held, order[:tests]...), append(c.train, order[tests:]...)
}

// Split returns the units that are trained on and those that are held out. A coin that is turned puts another unit in
// the same place among the former.
func (c *Coins) Split() (train, held []int) { return c.train, c.held }

// membership returns the confidence of fits in each unit, by their predictions at all rows; and a warning where
// units are equal on both sides.
func (j *judging) membership(ctx context.Context, fit Fit) (map[string]experiment.Series, string, error) {
	if j.rows.canaries > 0 {
		return j.ofCanaries(ctx, fit)
	}
	predictions, err := fit.Predict(ctx, j.rows.X)
	if err != nil {
		return nil, "", err
	}
	n := j.rows.Len()
	order := commonOrder(j.t.Seed, 0, n)
	groups := singles(n) // the rows of each unit
	if people := j.rows.People; people != nil {
		// A split numbers persons by their first rows that were drawn, and a unit is a person by all rows of the data.
		split := people.Groups()
		if len(split) < people.Count {
			return nil, "", fmt.Errorf("%d of %d persons have no row that is used: membership needs one of each",
				people.Count-len(split), people.Count)
		}
		groups, order = make([][]int, people.Count), commonOrder(j.t.Seed, 0, len(split))
		for i, k := range order {
			order[i] = people.Of[split[k][0]]
		}
		for row, person := range people.Of {
			groups[person] = append(groups[person], row)
		}
	}
	coins := newCoins(len(groups))
	coins.toss(order, j.tests(len(groups)))
	out, twins := j.rows.recorded(coins, predictions, groups)
	return out, twins, nil
}

// singles are n groups of one row each.
func singles(n int) [][]int {
	groups := make([][]int, n)
	for i := range groups {
		groups[i] = []int{i}
	}
	return groups
}

// Membership returns the series of a trial with the setting membership whose units are rows, by predictions at all of
// them with noise and without, and a warning where rows are equal on both sides, empty for none. The rows need no more
// than X and outputs.
func (r *Rows) Membership(c *Coins, predictions []Prediction) (map[string]experiment.Series, string) {
	return r.recorded(c, predictions, singles(r.Len()))
}

// recorded is [Rows.Membership] for units with these rows.
func (r *Rows) recorded(c *Coins, predictions []Prediction, groups [][]int) (map[string]experiment.Series, string) {
	out := map[string]experiment.Series{}
	for i, name := range []string{SeriesMembership, SeriesMembershipWithoutNoise} {
		confidence, statistic := r.Confidences(&predictions[i], groups)
		out[name] = experiment.Series{"pair": c.pair, "member": c.member, "confidence": confidence, "statistic": statistic}
	}
	return out, r.Twins(groups, c.member)
}

// Confidences are those of a fit in the outputs of groups of rows, with their statistics.
func (r *Rows) Confidences(p *Prediction, groups [][]int) (confidence, statistic []float64) {
	one := r.classConfidence
	if r.Labels == nil {
		one = r.valueConfidence
	}
	for _, rows := range groups {
		sum, sumStatistic := 0.0, 0.0
		for _, row := range rows {
			c, s := one(p, row)
			sum, sumStatistic = sum+c, sumStatistic+s
		}
		confidence = append(confidence, sum/float64(len(rows)))
		statistic = append(statistic, sumStatistic/float64(len(rows)))
	}
	return confidence, statistic
}

// valueConfidence is minus the error at a row, and the error.
func (r *Rows) valueConfidence(p *Prediction, row int) (confidence, statistic float64) {
	miss := r.Scaled(r.Values[row]) - p.Mean[row]
	return -math.Abs(miss), miss
}

// tiny keeps logarithms of probabilities finite.
const tiny = 1e-300

// classConfidence is log p/(1−p) of the probability of the class of a row, which is nearly normal over fits (Carlini et
// al. 2022, Section IV-C); of scores alone, that of the class less the largest of others.
func (r *Rows) classConfidence(p *Prediction, row int) (confidence, statistic float64) {
	label, others := r.Labels[row], 0.0
	if p.Probabilities == nil {
		largest := math.Inf(-1)
		if len(p.Scores) == 1 {
			largest = 0
		}
		for c := range p.Scores {
			if c != label {
				largest = max(largest, p.Scores[c][row])
			}
		}
		confidence = p.Scores[label][row] - largest
		return confidence, confidence
	}
	for c := range p.Probabilities {
		if c != label {
			others += p.Probabilities[c][row]
		}
	}
	confidence = math.Log(max(p.Probabilities[label][row], tiny)) - math.Log(max(others, tiny))
	return confidence, confidence
}

// Twins warns of units that are held out and equal to one that is trained on, in inputs and output; empty for none.
func (r *Rows) Twins(groups [][]int, member []float64) string {
	key := func(rows []int) string {
		var b strings.Builder
		outputs := r.outputs()
		for _, row := range rows {
			fmt.Fprintf(&b, "%v %v;", r.X.RawRowView(row), outputs[row])
		}
		return b.String()
	}
	trained := map[string]bool{}
	for i, rows := range groups {
		if member[i] == 1 {
			trained[key(rows)] = true
		}
	}
	twins := 0
	for i, rows := range groups {
		if member[i] == 0 && trained[key(rows)] {
			twins++
		}
	}
	if twins == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d units that are not trained on are equal to one that is, in inputs and output: nobody "+
		"tells them apart, and an attack seems weaker than it is", twins, len(groups)-int(floats.Sum(member)))
}

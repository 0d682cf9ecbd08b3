package method

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

// plant adds pairs of canaries behind the rows, two rows with the same inputs and outputs as far apart as can be: the
// ends of the public range, or two classes. The inputs are different corners of their public range, far from other
// rows, or where these are too few random points in it, and without a range those of random rows. They depend on no
// seed, which decides who is trained on.
func (r *Rows) plant(pairs int, public InputRange) error {
	rng := generator("canaries", int64(pairs), int64(r.Len()))
	x, err := r.planted(pairs, public, rng)
	if err != nil {
		return err
	}
	for range pairs {
		if r.Labels == nil {
			r.Values = append(r.Values, r.Centre+r.Scale, r.Centre-r.Scale)
			continue
		}
		if len(r.Classes) < 2 {
			return errors.New("there is one class: canaries need two")
		}
		two := rng.Perm(len(r.Classes))[:2]
		r.Labels = append(r.Labels, two...)
	}
	places := 2 * pairs
	if r.People != nil { // a canary is a person with one row
		people := *r.People
		people.Of, people.Count = append([]int(nil), people.Of...), people.Count+places
		for i := range places {
			people.Of = append(people.Of, r.People.Count+i)
		}
		r.People, places = &people, places*people.PerPerson
	}
	var all mat.Dense
	all.Stack(r.X, x)
	r.X, r.Slots, r.canaries = &all, r.Slots+places, pairs
	return nil
}

// planted are the inputs of canaries, each twice.
func (r *Rows) planted(pairs int, public InputRange, rng *rand.Rand) (*mat.Dense, error) {
	x := mat.NewDense(2*pairs, len(r.Inputs), nil)
	point := func(at []float64) { copy(at, r.X.RawRowView(rng.IntN(r.Len()))) }
	if len(public.Low.Numbers) > 0 {
		low, high, err := public.Of(r.Asked, 1)
		if err != nil {
			return nil, err
		}
		corners := 1.
		for _, in := range r.Asked {
			corners *= float64(cmp.Or(in.Levels, 2))
		}
		cornered, taken := corners >= float64(pairs), map[string]bool{}
		point = func(row []float64) {
			for fresh := false; !fresh; fresh = !cornered || !taken[fmt.Sprint(row)] {
				clear(row)
				j := 0
				for _, in := range r.Asked {
					switch {
					case in.Levels > 0:
						row[j+rng.IntN(in.Levels)] = 1
					case cornered:
						row[j] = []float64{low[j], high[j]}[rng.IntN(2)]
					default:
						row[j] = low[j] + rng.Float64()*(high[j]-low[j])
					}
					j += max(1, in.Levels)
				}
			}
			taken[fmt.Sprint(row)] = true
		}
	}
	for i := range pairs {
		point(x.RawRowView(2 * i))
		x.SetRow(2*i+1, x.RawRowView(2*i))
	}
	return x, nil
}

// generator is ChaCha8 with the SHA-256 of a purpose and numbers as its key ([CommonSplit]).
func generator(purpose string, numbers ...int64) *rand.Rand {
	return rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "privkern %s 1\n%d\n", purpose, numbers))))
}

// natural are the rows of the data, without canaries.
func (r *Rows) natural() []int {
	return learn.AllRows(r.Len() - 2*r.canaries)
}

// tossed are the coins of the canaries, of which the pair p has the numbers 2p and 2p + 1.
func (j *judging) tossed() *Coins {
	pairs := j.rows.canaries
	rng, order := generator("coins", j.t.Seed, int64(pairs)), make([]int, 2*pairs)
	for p := range pairs {
		held := rng.IntN(2)
		order[p], order[pairs+p] = 2*p+held, 2*p+1-held
	}
	out := newCoins(2 * pairs)
	out.toss(order, pairs)
	return out
}

// splitCanaries trains on all rows of the data and one of each pair of canaries, in its place behind them. It tests
// the rows of the data.
func (j *judging) splitCanaries() (train, test []int) {
	train, test = j.rows.natural(), j.rows.natural()
	for _, canary := range j.tossed().train {
		train = append(train, len(test)+canary)
	}
	return train, test
}

// ofCanaries is the membership of canaries alone, which are the units.
func (j *judging) ofCanaries(ctx context.Context, fit Fit) (map[string]experiment.Series, string, error) {
	r, n := j.rows, j.rows.Len()-2*j.rows.canaries
	own := &Rows{Classes: r.Classes, Centre: r.Centre, Scale: r.Scale}
	if r.Labels != nil {
		own.Labels = r.Labels[n:]
	} else {
		own.Values = r.Values[n:]
	}
	rows := make([]int, 2*r.canaries)
	for i := range rows {
		rows[i] = n + i
	}
	own.X = learn.SelectRows(r.X, rows)
	predictions, err := fit.Predict(ctx, own.X)
	if err != nil {
		return nil, "", err
	}
	out, twins := own.Membership(j.tossed(), predictions)
	return out, twins, nil
}

// added warns that rows were added; empty for none.
func (r *Rows) added() string {
	if r.canaries == 0 {
		return ""
	}
	return fmt.Sprintf("%d pairs of canaries were added to %d rows: each fit is trained on one of each pair and on all "+
		"of these rows, which are tested as well, so that metrics are those of rows that are trained on", r.canaries,
		len(r.natural()))
}

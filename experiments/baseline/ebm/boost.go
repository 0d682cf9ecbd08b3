package ebm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// algorithm boosts by sums of two kinds. With d inputs, K outputs and T rounds:
//
// The counts of the rows in the bins of all inputs are one query. The vector of a row has a one in the bin of each
// input: its norm is √d, and rows that share no bin are √(2d) apart, the most that there is.
//
// The residuals of the leaves of one input are a query of each of T·d steps. The vector of a row is its residual, the
// negative gradient of its loss by its scores, in the coordinates of its leaf: y − f of a regression, l − p of two
// classes, and e_l − p of more, whose norm is at most √2 since 1 − p_l ≤ 1 and the other p add to no more. It is
// clipped to a norm c. Rows in two leaves are at most √2·c apart, and opposite residuals in one leaf 2c: this is the
// diameter. The leaves are drawn from the seed alone, and the scores of a row follow from it and from earlier noisy
// sums.
//
// The counts take the share s of the budget and each step √((1−s²)/(Td)), so that the squares add to 1
// ([ground.Data.Gaussian]); a step may depend on the sums of those before.
type algorithm struct {
	*ground.Problem
	Boosting
	features  []feature
	bins      []int // of each feature
	first     []int // of each feature, the first of its coordinates in the counts
	outputs   int   // K: 1, or the number of more than two classes
	counts    *ground.Noise
	residuals *ground.Noise
	norm      float64 // c
	rate      float64
}

// feature is an input: a number in a column of x, or a category in several, one for each level.
type feature struct {
	column, levels int
}

// bin returns the bin of a row; a number has this many.
func (f feature) bin(x []float64, bins int) int {
	if f.levels == 0 {
		return binOf(x[f.column], bins)
	}
	return floats.MaxIdx(x[f.column : f.column+f.levels])
}

// binOf returns which of the equal parts of [−1, 1] has u in it; of NaN the first.
func binOf(u float64, bins int) int {
	if at := (u + 1) / 2 * float64(bins); at > 0 {
		return int(min(at, float64(bins-1)))
	}
	return 0
}

// target is the noise of a prediction at which the learning rate is aimed, and the most that rate times rounds is.
type target struct {
	noise, most float64
}

func prepare(p *ground.Problem, s Boosting, aim target) (*algorithm, error) {
	a := &algorithm{Problem: p, Boosting: s, outputs: outputs(p.Classes), norm: s.Clip}
	if a.outputs > 1 {
		a.norm *= math.Sqrt2
	}
	coordinates := a.layOut()
	d := float64(len(a.features))
	var err error
	if a.counts, err = p.Gaussian(ground.Query{What: "counts of the bins", Coordinates: coordinates, Norm: math.Sqrt(d),
		Diameter: math.Sqrt(2 * d), Largest: 1, Rows: p.Slots}, s.Counts); err != nil {
		return nil, err
	}
	steps := s.Rounds * len(a.features)
	share := math.Sqrt((1-s.Counts*s.Counts)/float64(steps)) * (1 - 1e-12) // so that rounding does not exceed the budget
	a.residuals, err = p.Gaussian(ground.Query{What: "residuals of the leaves", Coordinates: a.outputs * s.Leaves,
		Norm: a.norm, Largest: a.norm, Rows: p.Slots, Times: steps}, share)
	a.rate = s.Rate.Number
	if s.Rate.IsWord {
		a.rate = a.automaticRate(aim)
	}
	return a, err
}

// layOut finds the features among the columns of x, and returns the number of all of their bins.
func (a *algorithm) layOut() (coordinates int) {
	add := func(f feature, bins int) {
		a.features, a.bins, a.first = append(a.features, f), append(a.bins, bins), append(a.first, coordinates)
		coordinates += bins
	}
	column := 0
	for _, in := range a.Rows.Asked {
		if in.Levels > 0 {
			add(feature{column, in.Levels}, in.Levels)
		} else {
			add(feature{column: column}, 2*a.Bins)
		}
		column += max(1, in.Levels)
	}
	for ; column < a.Dims; column++ { // of inputs=*
		add(feature{column: column}, 2*a.Bins)
	}
	return coordinates
}

// automaticRate returns the learning rate at which noise alone moves a prediction by the target. A leaf has N/L rows,
// so that one of the Td sums, with noise of the standard deviation z, moves a prediction by ηzL/N, and all of them by
// η√(Td)·zL/N where nothing is taken back.
func (a *algorithm) automaticRate(aim target) float64 {
	steps := float64(a.Rounds * len(a.features))
	most := aim.most / float64(a.Rounds)
	if noise := math.Sqrt(steps) * a.residuals.Scale() * float64(a.Leaves) / float64(a.Slots); noise > 0 {
		most = min(most, aim.noise/noise)
	}
	return min(1, most)
}

// regressor and classifier are the algorithm with one of the two bodies.
type (
	regressor  struct{ *algorithm }
	classifier struct{ *algorithm }
)

// Fit implements [ground.Algorithm].
func (a regressor) Fit(ctx context.Context, rows *method.Part, sums *ground.Sums) (Regressor, error) {
	f, err := a.boost(ctx, rows, sums)
	return Regressor(f), err
}

// Fit implements [ground.Algorithm].
func (a classifier) Fit(ctx context.Context, rows *method.Part, sums *ground.Sums) (Classifier, error) {
	f, err := a.boost(ctx, rows, sums)
	return Classifier(f), err
}

// splitSeed keeps the cuts apart from other numbers of a seed.
const splitSeed = 0xeb

// boost learns functions of rows.
func (a *algorithm) boost(ctx context.Context, rows *method.Part, sums *ground.Sums) (Functions, error) {
	f := a.fitting(rows)
	counts, err := sums.Sum(a.counts, f.count)
	if err != nil {
		return Functions{}, err
	}
	e := a.ensemble(counts)
	rng := rand.New(rand.NewPCG(uint64(a.Trial.Seed), splitSeed))
	for range a.Rounds {
		for j := range a.features {
			f.last, f.now = f.now, e.step(rng, j)
			residuals, err := f.ask(ctx, sums)
			if err != nil {
				return Functions{}, err
			}
			e.update(f.now, residuals)
		}
	}
	return e.body(), nil
}

// Losses implements [ground.Algorithm].
func (a *algorithm) Losses() []experiment.Loss { return ground.Losses(a.counts, a.residuals) }

// Mechanism implements [ground.Algorithm].
func (a *algorithm) Mechanism() string {
	return fmt.Sprintf("Gaussian mechanism on counts of bins and on residuals of leaves in %d rounds of %d inputs, "+
		"composed as Gaussian differential privacy (Dong, Roth and Su 2022) to that of the analytic Gaussian mechanism "+
		"(Balle and Wang 2018)", a.Rounds, len(a.features))
}

// Public implements [ground.Algorithm].
func (a *algorithm) Public() string { return "" }

// Size implements [ground.Algorithm].
func (a *algorithm) Size() (numbers, lists int) {
	for _, b := range a.bins {
		numbers += a.outputs * b
	}
	return numbers + a.outputs + len(a.features), a.outputs*len(a.features) + 2
}

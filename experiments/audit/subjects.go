package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/kahm"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// Entry is a mechanism of this project that can be audited.
type Entry struct {
	Name, Doc string
	New       func(ctx context.Context) (Subject, error)
}

// All returns the mechanisms, in the order of the list that users see. Their budgets suit an
// audit, because the smaller δ is, the more draws are needed for a bound near the claim.
func All() []Entry {
	claim, pure := mechanism.Guarantee{Epsilon: 1, Delta: 0.01}, mechanism.Guarantee{Epsilon: 1}
	entries := []Entry{
		{Name: "hall", Doc: "Gaussian noise, calibrated as in Hall, Rinaldo and Wasserman (2013)",
			New: func(context.Context) (Subject, error) { return calibrated(mechanism.HallFactor, claim) }},
		{Name: "classical", Doc: "Gaussian noise, the classical calibration (Dwork and Roth 2014)",
			New: func(context.Context) (Subject, error) { return calibrated(mechanism.ClassicalGaussian, claim) }},
		{Name: "analytic", Doc: "Gaussian noise, the analytic calibration (Balle and Wang 2018)",
			New: func(context.Context) (Subject, error) {
				return calibrated(mechanism.AnalyticGaussian, mechanism.Guarantee{Epsilon: 3, Delta: 0.01})
			}},
		{Name: "laplace", Doc: "Laplace noise",
			New: func(context.Context) (Subject, error) { return laplace(pure, pure.Epsilon) }},
		{Name: "entry-noise", Doc: "noise of least magnitude for a matrix entry (Kumar et al. 2019)",
			New: func(context.Context) (Subject, error) {
				return entryNoise(claim, mechanism.EntryNoise{Epsilon: claim.Epsilon, Delta: claim.Delta, D: 1}), nil
			}},
		{Name: "exponential", Doc: "the exponential mechanism (McSherry and Talwar 2007)",
			New: func(context.Context) (Subject, error) {
				return exponential(pure, release.Choice{What: "candidate", Epsilon: 1, Change: 1}), nil
			}},
		{Name: "coinpress", Doc: "the CoinPress mean with all its steps (Biswas et al. 2020)",
			New: func(context.Context) (Subject, error) { return coinPress(claim, claim) }},
		{Name: "selection", Doc: "private selection with random stopping (Liu and Talwar 2019)",
			New: func(context.Context) (Subject, error) {
				return selection(mechanism.Guarantee{Epsilon: 1, Delta: 1e-4}, mechanism.Select[struct{}], 1)
			}},
		{Name: "cloaking", Doc: "released predictions, calibrated as in the paper (Smith et al. 2018)",
			New: func(ctx context.Context) (Subject, error) { return cloakingRegression(ctx, mechanism.Hall) }},
		{Name: "cloaking-regression", Doc: "released predictions, the analytic calibration",
			New: func(ctx context.Context) (Subject, error) { return cloakingRegression(ctx, mechanism.Analytic) }},
		{Name: "cloaking-classification", Doc: "released classes, one Newton step (Smith et al. 2019)",
			New: func(ctx context.Context) (Subject, error) {
				return cloakingClassification(ctx, 1, [][]float64{classInputs})
			}},
		{Name: "cloaking-newton", Doc: "released classes, two Newton steps",
			New: func(ctx context.Context) (Subject, error) {
				return cloakingClassification(ctx, 2, [][]float64{oneInput, classInputs})
			}},
		{Name: "cloaking-person", Doc: "released predictions, all outputs of a person with two rows",
			New: cloakingPerson},
		{Name: "cloaking-class-person", Doc: "released classes, all labels of a person with two rows",
			New: cloakingClassPerson},
		{Name: "cloaking-selection", Doc: "a released choice of hyper-parameters (Smith et al. 2019)",
			New: cloakingSelection},
		{Name: "sparse-gp", Doc: "a released sparse Gaussian process (Honkela 2021)",
			New: sparseGP},
		{Name: "sparse-gp-inputs", Doc: "a released sparse Gaussian process of two inputs with a lengthscale each",
			New: sparseGPInputs},
		{Name: "sparse-gp-classifier", Doc: "a released sparse GP classifier, all classes as one query",
			New: sparseClassifier},
		{Name: "sparse-gp-person", Doc: "a released sparse Gaussian process that protects persons with several rows",
			New: sparseGPPerson},
		{Name: "sparse-gp-class-person", Doc: "a released sparse GP classifier that protects persons",
			New: sparseClassifierPerson},
		{Name: "sparse-gp-choice", Doc: "a released choice of hyper-parameters of a sparse GP",
			New: func(ctx context.Context) (Subject, error) { return sparseChoice(ctx, 1) }},
		{Name: "sparse-gp-classes", Doc: "the sums of all classes of a sparse GP (Honkela 2021), no release",
			New: func(ctx context.Context) (Subject, error) { return sparseClasses(ctx, claim) }},
		{Name: "class-means", Doc: "released means of classes, a baseline with Gaussian noise",
			New: classMeans},
		{Name: "largest-class", Doc: "released counts of classes, a baseline with Laplace noise",
			New: largestClass},
		{Name: "statistics", Doc: "a released count, median and mean of a column",
			New: func(ctx context.Context) (Subject, error) { return columnStatistics(ctx, 3) }},
		{Name: "statistics-person", Doc: "a released count, median and mean of persons with two rows",
			New: personStatistics},
		{Name: "kahm-release", Doc: "released rows of affine hull machines (Kumar et al. 2024)",
			New: hullRelease},
		{Name: "kahm-person", Doc: "released rows of affine hull machines, all rows of a person with two",
			New: hullPerson},
		{Name: "kahm", Doc: "the noise in samples of affine hull machines (Kumar et al.), no release",
			New: func(ctx context.Context) (Subject, error) { return kahmSamples(ctx, claim, claim) }},
	}
	for i, e := range entries {
		entries[i].New = func(ctx context.Context) (Subject, error) {
			s, err := e.New(ctx)
			if err != nil {
				return s, fmt.Errorf("audit of %s: %w", e.Name, err)
			}
			s.Name = e.Name
			return s, nil
		}
	}
	return entries
}

// calibrated is noise on one number that changes by the sensitivity, which is
// the worst case: of a vector, only its part along the change is informative.
func calibrated(calibrate func(epsilon, delta float64) (float64, error), claim mechanism.Guarantee) (Subject, error) {
	sigma, err := calibrate(claim.Epsilon, claim.Delta)
	if err != nil {
		return Subject{}, err
	}
	return gaussian(claim, sigma)
}

func gaussian(claim mechanism.Guarantee, sigma float64) (Subject, error) {
	noise, err := release.Gaussian(oneNumber, sigma)
	return Subject{
		Unit: "a number changed by at most 1", Claim: claim, Law: Gaussian, Sigma: sigma, Pairs: []Pair{added(noise)},
	}, err
}

// laplace is the noise that gives (ε, 0).
func laplace(claim mechanism.Guarantee, epsilon float64) (Subject, error) {
	noise, err := release.Laplace(oneNumber, epsilon)
	return Subject{Unit: "a number changed by at most 1", Claim: claim, Law: Laplace, Pairs: []Pair{added(noise)}}, err
}

// oneNumber is a query of one number that changes by at most 1.
var oneNumber = release.Query{What: "number", Coordinates: 1, Change: 1, Size: 1}

// added is the noise of a release on 0 and on 1.
func added(noise *release.Noise) Pair {
	return Pair{Name: "0 and 1", Draw: func(second bool, entropy *rand.ChaCha8) (Output, error) {
		source := release.Unbooked(entropy)
		var draws []release.Draw
		source.Trace(&draws)
		_, err := source.Add(noise, []float64{indicator(second)})
		return outputOf(draws, 1), err
	}}
}

// scalar is a pair whose releases are one number each.
func scalar(name string, draw func(second bool, rng *rand.Rand) (float64, error)) Pair {
	return Pair{Name: name, Draw: func(second bool, entropy *rand.ChaCha8) (Output, error) {
		v, err := draw(second, rand.New(entropy))
		return Output{Published: []float64{v}}, err
	}}
}

// either returns a for the first data set and b for the second.
func either[T any](second bool, a, b T) T {
	if second {
		return b
	}
	return a
}

func indicator(b bool) float64 { return either(b, 0.0, 1) }

// entryNoise moves the entry by d = 1. The atom at zero noise distinguishes the
// data sets with certainty, and the Laplace law around it with e^ε.
func entryNoise(claim mechanism.Guarantee, m mechanism.EntryNoise) Subject {
	return Subject{
		Unit: "a matrix entry changed by at most 1", Claim: claim,
		Pairs: []Pair{scalar("0 and 1", func(second bool, rng *rand.Rand) (float64, error) {
			v := []float64{indicator(second)}
			m.Add(v, rng)
			return v[0], nil
		})},
	}
}

// exponential lets one of many candidates gain the sensitivity 1 and the others
// lose it; with infinitely many, its probability would change by e^ε.
func exponential(claim mechanism.Guarantee, c release.Choice) Subject {
	const candidates = 50
	equal, one := make([]float64, candidates), make([]float64, candidates)
	for i := range one {
		one[i] = -1
	}
	one[0] = 1
	return Subject{
		Unit: "every utility changed by at most 1", Claim: claim,
		Pairs: []Pair{{Name: "50 equal utilities, and one raised by 1 with the others lowered by 1",
			Draw: func(second bool, entropy *rand.ChaCha8) (Output, error) {
				i, err := release.Unbooked(entropy).Choose(c, either(second, equal, one))
				return Output{Published: []float64{float64(i)}}, err
			}}},
	}
}

// coinPress moves one of 20 values from one end of the prior interval to the
// other, with the rest in its middle. However a step clips, the value goes from
// one end to the other: each step's sensitivity is used up. The number is the
// logarithm of the likelihood ratio of all steps; the claim, their exact
// conversion. spent is the budget in fact, which the noise is made for.
func coinPress(claim, spent mechanism.Guarantee) (Subject, error) {
	const n, radius = 20, 10.0
	mu, err := mechanism.GDPFor(spent.Epsilon, spent.Delta)
	if err != nil {
		return Subject{}, err
	}
	steps, err := mechanism.SplitZCDP(mu.ZCDP(), 12, 0.75)
	if err != nil {
		return Subject{}, err
	}
	m := mechanism.CoinPress{Centre: 0, Radius: radius, Steps: steps}
	if err := m.Validate(); err != nil {
		return Subject{}, err
	}
	first, second := make([]float64, n), make([]float64, n)
	first[0], second[0] = -radius, radius
	return Subject{
		Unit: "one of 20 values replaced by any other", Claim: claim, Sigma: 1 / float64(m.Rho().GDP()),
		Pairs: []Pair{scalar("one value at the lower end, and at the upper end", func(useSecond bool,
			rng *rand.Rand) (float64, error) {
			trace, err := m.Trace(either(useSecond, first, second), rng)
			if err != nil {
				return 0, err
			}
			sum := 0.0
			for _, s := range trace {
				middle := ((n-1)*min(max(0, s.Low), s.High) + (s.Low+s.High)/2) / n
				sum += (s.Mean - middle) * (s.High - s.Low) / n / (s.Sigma * s.Sigma)
			}
			return sum, nil
		})},
	}, nil
}

// selector is an implementation of private selection.
type selector func(b mechanism.SelectionBudget, candidates int, rule mechanism.SelectionRule,
	evaluate mechanism.Evaluator[struct{}], rng *rand.Rand) (mechanism.Selected[struct{}], error)

// selection has three pairs of data sets, each of which makes an evaluation's
// outputs as different as its budget allows:
//
//   - One outcome's probability grows by e^ε where that of all better ones
//     falls by as much. As a geometric number of draws is made, both of their
//     tails come in, and 3ε is nearly used up: the cost of random stopping.
//   - An outcome is so rare that whether it is ever found would reveal much if the
//     number of draws were fixed. This one shows whether there is a coin.
//   - Scores with Gaussian noise; noise multiplies its standard deviation.
func selection(claim mechanism.Guarantee, choose selector, noise float64) (Subject, error) {
	b, err := mechanism.NewSelectionBudget(claim.Epsilon, claim.Delta, 0.05)
	if err != nil {
		return Subject{}, err
	}
	sigma, err := mechanism.AnalyticGaussian(b.Candidate.Epsilon, b.Candidate.Delta)
	if err != nil {
		return Subject{}, err
	}
	up := math.Exp(b.Candidate.Epsilon)
	best, good := 0.5, 0.1
	rare := 4.5 / float64(b.Steps)
	score := func(v float64) mechanism.Score {
		return mechanism.Score{Value: v, Count: 1, Centre: 0, Radius: 1e9}
	}
	// outcomes scores 2, 1 and 0 with the probabilities of the data set.
	outcomes := func(best, good float64) mechanism.Evaluator[struct{}] {
		return func(_ int, rng *rand.Rand) (struct{}, mechanism.Score, error) {
			switch u := rng.Float64(); {
			case u < best:
				return struct{}{}, score(2), nil
			case u < best+good:
				return struct{}{}, score(1), nil
			}
			return struct{}{}, score(0), nil
		}
	}
	pair := func(name string, first, second mechanism.Evaluator[struct{}]) Pair {
		return scalar(name, func(useSecond bool, rng *rand.Rand) (float64, error) {
			s, err := choose(b, 1, mechanism.SelectionCorrected, either(useSecond, first, second), rng)
			if err != nil {
				return 0, err
			}
			return s.Value, nil
		})
	}
	gaussian := func(mean float64) mechanism.Evaluator[struct{}] {
		return func(_ int, rng *rand.Rand) (struct{}, mechanism.Score, error) {
			return struct{}{}, score(mean + noise*sigma*rng.NormFloat64()), nil
		}
	}
	return Subject{
		Unit: "one record, which each evaluation protects", Claim: claim,
		Pairs: []Pair{
			pair("an outcome likelier by e^epsilon and all better ones less likely", outcomes(best, good),
				outcomes(best/up, good*up)),
			pair("a rare outcome likelier by e^epsilon", outcomes(rare, 0), outcomes(rare*up, 0)),
			pair("scores 0 and 1 with Gaussian noise", gaussian(0), gaussian(1)),
		},
	}, nil
}

// sparseClasses adds the noise of dpgp/classification to the sums of all classes
// and substitutes the row, input and label, that moves them most.
func sparseClasses(ctx context.Context, claim mechanism.Guarantee) (subject Subject, err error) {
	noisy, err := dpgp.NewNoisyClasses(func(s *dpgp.ClassificationSettings) {
		s.Epsilon, s.Delta = claim.Epsilon, claim.Delta
		s.Inducing = experiment.Points{Values: []float64{-1, 1}}
		s.Classes, s.Alpha, s.Bound, s.N = 3, 0.1, sparse.Exact, 2
	})
	if err != nil {
		return Subject{}, err
	}
	defer func() { err = errors.Join(err, noisy.Close()) }() // draws need no engine
	type row struct {
		x       float64
		label   int
		sums    []sparsegp.Sums
		numbers []float64
	}
	var rows []row
	for x := -4.0; x <= 4; x += 0.25 {
		for label := range 2 { // the third class is as the second
			r := row{x: x, label: label}
			if r.sums, err = noisy.Sums(ctx, x, label); err != nil {
				return Subject{}, err
			}
			r.numbers = noisy.Numbers(r.sums)
			rows = append(rows, r)
		}
	}
	ones := slices.Repeat([]float64{1}, len(rows[0].numbers))
	worst, largest := WorstOf(len(rows)*len(rows), func(i int) float64 {
		return distance(rows[i/len(rows)].numbers, rows[i%len(rows)].numbers, ones)
	})
	first, second := rows[worst/len(rows)], rows[worst%len(rows)]
	return Subject{
		Unit: "one row, input and class, replaced by any other", Claim: claim, Law: Gaussian, Sigma: 1 / largest,
		Pairs: []Pair{{
			Name: fmt.Sprintf("input %g of class %d in place of %g of class %d", second.x, second.label, first.x, first.label),
			Draw: func(useSecond bool, entropy *rand.ChaCha8) (Output, error) {
				r := either(useSecond, first, second)
				out := Output{Published: noisy.Numbers(noisy.Draw(r.sums, rand.New(entropy))), HasStatistic: true}
				out.Noise = make([]float64, len(out.Published))
				for i, v := range out.Published {
					out.Noise[i] = v - r.numbers[i]
					out.Statistic += (second.numbers[i] - first.numbers[i]) * v
				}
				return out, nil
			},
		}},
	}, nil
}

// kahmSamples adds the noise of the pipeline to two samples of two columns, of which
// one entry changes by d = 1. The noise is made for spent.
func kahmSamples(ctx context.Context, claim, spent mechanism.Guarantee) (Subject, error) {
	s, err := kahm.NewNoiseStep(spent.Epsilon, spent.Delta, 1)
	if err != nil {
		return Subject{}, err
	}
	return Subject{
		Unit: "one entry of the data matrix changed by at most 1", Claim: claim,
		Pairs: []Pair{{
			Name: "an entry of four is 0, and 1",
			Draw: func(second bool, entropy *rand.ChaCha8) (Output, error) {
				samples := mat.NewDense(2, 2, []float64{0.5, 0.25, indicator(second), 1})
				noisy, err := s.Draw(ctx, samples, rand.New(entropy))
				if err != nil {
					return Output{}, err
				}
				return Output{Published: slices.Clone(noisy.RawMatrix().Data)}, nil
			},
		}},
	}, nil
}

// distance is that of two vectors, in units of the scales.
func distance(a, b, scale []float64) float64 {
	sum := 0.0
	for i := range min(len(a), len(b)) {
		d := (a[i] - b[i]) / scale[i]
		sum += d * d
	}
	return math.Sqrt(sum)
}

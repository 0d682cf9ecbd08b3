package cloaking

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/fault"
	"privkern/experiments/internal/floatnoise"
	"privkern/runner/experiment"
)

// What an observer gets out of a single release who knows all rows but one, the
// settings and the program. Normal numbers of math/rand/v2 are multiples k·w of
// 128 public numbers w, |k| ≤ 2^31, about 2^39 in all: of the candidates for the
// missing row only the true one leaves such numbers as noise. Exact noise is
// possible for all candidates.

// attacker knows all that is public about a release: how the noise comes to what
// is published, a linear map.
type attacker struct {
	layers  *floatnoise.Layers
	cloaked *cloaked
	// from takes the whitened coordinates with noise to what is published (P×R);
	// offset is published for zeros.
	from   *mat.Dense
	offset []float64
}

// whitened returns the coordinates that noise was added to.
func (a *attacker) whitened(t *testing.T, published []float64) []float64 {
	t.Helper()
	b := mat.NewVecDense(len(published), nil)
	for i, v := range published {
		b.SetVec(i, v-a.offset[i])
	}
	var out mat.VecDense
	var qr mat.QR
	qr.Factorize(a.from)
	if err := qr.SolveVecTo(&out, false, b); err != nil {
		t.Fatal(err)
	}
	return out.RawVector().Data
}

// tolerance is what coordinates are off by in units of the noise, from the
// rounding of what is published.
const tolerance = 2e-14

// best returns the candidate of which the most coordinates of the noise are
// possible, and among several the likeliest one. A candidate is what the query
// matrix is applied to.
func (a *attacker) best(t *testing.T, noisy []float64, candidates [][]float64) (best int) {
	t.Helper()
	n := a.cloaked.noise
	most, least := -1, 0.0
	for i, private := range candidates {
		query, err := a.cloaked.query.Of(private)
		if err != nil {
			t.Fatal(err)
		}
		count, square := 0, 0.0
		for j, v := range query {
			v = math.RoundToEven(v/n.Grid()*(1<<32)) / (1 << 32) * n.Grid()
			z := (noisy[j] - v) / n.Scale()
			if square += z * z; a.layers.Possible(z, tolerance) {
				count++
			}
		}
		if count > most || count == most && square < least {
			best, most, least = i, count, square
		}
	}
	return best
}

// underFault has releases made with the planned faults.
func underFault(e *experiment.Experiment, p fault.Plan) *experiment.Experiment {
	honest := e.Release
	e.Release = func(ctx context.Context, t *experiment.Trial) (*experiment.Release, error) {
		return honest(fault.With(ctx, p), t)
	}
	return e
}

// planning runs a function as an observer's trial.
func planning(
	t *testing.T, s setup, e *experiment.Experiment, given map[string]any,
	f func(context.Context, *experiment.Trial) error,
) {
	t.Helper()
	e.Run = func(ctx context.Context, tr *experiment.Trial) (*experiment.Result, error) { return nil, f(ctx, tr) }
	if _, err := tryTrial(s, e, given); err != nil {
		t.Fatal(err)
	}
}

// unit is a column with a one.
func unit(n, i int) []float64 {
	out := make([]float64, n)
	out[i] = 1
	return out
}

// samplers are the old one, in floating point, and the one of package release.
func samplers(stream uint64) map[string]fault.Plan {
	return map[string]fault.Plan{
		"math/rand/v2": {Float: rand.New(rand.NewPCG(stream, 99))},
		"exact":        {},
	}
}

// atMost is a bound on how often one of probability p succeeds, beyond which a
// right program gets less than once in a million times.
func atMost(times int, p float64) int {
	tail := 1.0
	for k := 0; ; k++ {
		lk, _ := math.Lgamma(float64(k + 1))
		ln, _ := math.Lgamma(float64(times + 1))
		lr, _ := math.Lgamma(float64(times - k + 1))
		if tail < 1e-6 {
			return k - 1
		}
		if k == times {
			return times
		}
		tail -= math.Exp(ln - lk - lr + float64(k)*math.Log(p) + float64(times-k)*math.Log1p(-p))
	}
}

// guessing bounds the probability of the right one among n equally likely
// candidates under (ε, δ), δ aside.
func guessing(epsilon float64, n int) float64 {
	return math.Exp(epsilon) / (math.Exp(epsilon) + float64(n-1))
}

const attackDelta = 1e-6

// attackRows are 40 rows at 8 inputs, with whole outputs from 0 to 100.
func attackRows(missing, output int) (file string, outputs []float64) {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 40 {
		y := (37*i*i + 11) % 101
		if i == missing {
			y = output
		}
		outputs = append(outputs, float64(y))
		fmt.Fprintf(&b, "%d,%d\n", 10*(i%8), y)
	}
	return b.String(), outputs
}

// A missing output is one of 101 numbers. From a single release with noise of
// math/rand/v2 it is read off, whatever ε; with exact noise it is guessed as
// rarely as the guarantee says.
func TestAttackOnRegression(t *testing.T) {
	for _, epsilon := range []float64{1, 0.1, 0.01} {
		given := map[string]any{
			"dataset": "csv:my.csv", "inputs": "x", "output": "y", "low": 0, "high": 100, "lengthscale": 8,
			"epsilon": epsilon, "delta": attackDelta, "calibration": "analytic",
		}
		a := &attacker{layers: floatnoise.New()}
		text, _ := attackRows(0, 0)
		s := setup{file: writeFile(t, text)}
		planning(t, s, regression(), given, func(ctx context.Context, tr *experiment.Trial) error {
			r, err := newPredictor(tr)
			if err != nil {
				return err
			}
			defer func() { _ = r.e.Close() }()
			all := make([]int, 40)
			for i := range all {
				all[i] = i
			}
			c, _, err := r.matrix(t.Context(), all, group(r.data.inputs).rows, "k-means")
			if err != nil {
				return err
			}
			ranges, designs, err := solveDesigns(ctx, r.e, []*mat.Dense{c}, tr.Params, func(int, int) {})
			if err != nil {
				return err
			}
			within := interval{r.data.low, r.data.high, r.data.prior}
			if a.cloaked, err = newCloaked(ctx, ranges[0], designs[0], tr.Params, 1, within); err != nil {
				return err
			}
			rank := len(ranges[0].Scale)
			a.from = mat.NewDense(8, rank, nil)
			for k := range rank {
				a.from.SetCol(k, mat.Col(nil, 0, ranges[0].Predictions(designs[0].Unwhiten(unit(rank, k)))))
			}
			for range 8 {
				a.offset = append(a.offset, r.data.prior)
			}
			return nil
		})
		for name, planted := range samplers(1) {
			t.Run(fmt.Sprintf("epsilon %g, %s", epsilon, name), func(t *testing.T) {
				releases := 10
				if planted.Float == nil {
					releases = 100
				}
				right, rng := 0, rand.New(rand.NewPCG(2, 3))
				for i := range releases {
					missing, output := rng.IntN(40), rng.IntN(101)
					text, outputs := attackRows(missing, output)
					s := setup{file: writeFile(t, text), stream: uint64(i)}
					r, err := tryReleaseOf(underFault(regression(), planted), s, given)
					if err != nil {
						t.Fatal(err)
					}
					noisy := a.whitened(t, columnOf(t, r, columnPrediction))
					candidates := make([][]float64, 101)
					for y := range candidates {
						outputs[missing] = float64(y)
						for _, v := range outputs {
							candidates[y] = append(candidates[y], v-a.cloaked.within.prior)
						}
					}
					if a.best(t, noisy, candidates) == output {
						right++
					}
				}
				t.Logf("%d of %d right", right, releases)
				switch limit := atMost(releases, guessing(epsilon, 101)); {
				case planted.Float != nil && right < releases:
					t.Errorf("%d of %d missing outputs are found; the attack finds all", right, releases)
				case planted.Float == nil && right > limit:
					t.Errorf("%d of %d missing outputs are found; chance and epsilon explain %d", right, releases, limit)
				}
			})
		}
	}
}

// attackLabels are 32 rows of two classes at 8 inputs.
func attackLabels(missing, class int) (file string, sums []float64) {
	var b strings.Builder
	b.WriteString("x,ill\n")
	sums = make([]float64, 8)
	for i := range 32 {
		y := i * i % 7 % 2
		if i == missing {
			y = class
		}
		sums[i%8] += float64(2*y - 1)
		fmt.Fprintf(&b, "%d,%d\n", 10*(i%8), y)
	}
	return b.String(), sums
}

// The same for a missing label, of which there are two.
func TestAttackOnClassification(t *testing.T) {
	for _, epsilon := range []float64{1, 0.1, 0.01} {
		given := map[string]any{
			"dataset": "csv:my.csv", "inputs": "x", "output": "ill", "low": 0, "high": 1, "lengthscale": 8,
			// A small variance keeps probabilities away from zero and one, where they have
			// fewer digits of the latent function.
			"kernel_variance": 0.02 * epsilon, "epsilon": epsilon, "delta": attackDelta, "calibration": "analytic",
		}
		a := &attacker{layers: floatnoise.New()}
		text, _ := attackLabels(0, 0)
		s := setup{file: writeFile(t, text)}
		planning(t, s, classification(), given, func(ctx context.Context, tr *experiment.Trial) error {
			d, err := loadLabelled(tr, true)
			if err != nil {
				return err
			}
			c, err := newClassifier(tr)
			if err != nil {
				return err
			}
			defer func() { _ = c.e.Close() }()
			fit, err := c.prepare(ctx, d.inputs, group(d.inputs).rows, "")
			if err != nil {
				return err
			}
			mode := make([]float64, 8)
			if a.cloaked, err = c.calibrated(ctx, fit, mode); err != nil {
				return err
			}
			rank := len(a.cloaked.directions.Scale)
			w := mat.NewDense(rank, rank+1, nil)
			for k := range rank {
				w.SetCol(k, mat.Col(nil, 0, a.cloaked.design.Unwhiten(unit(rank, k))))
			}
			step, err := fit.cov.model.Step(ctx, mode, a.cloaked.directions.Labels(w))
			if err != nil {
				return err
			}
			out := new(latent)
			if err := c.posterior(ctx, fit.cov, columns(step.Latent), []*mat.Dense{step.Dual}, out); err != nil {
				return err
			}
			a.offset, a.from = mat.Col(nil, rank, out.mean), mat.NewDense(8, rank, nil)
			for i, zero := range a.offset {
				for k := range rank {
					a.from.Set(i, k, out.mean.At(i, k)-zero)
				}
			}
			return nil
		})
		for name, planted := range samplers(4) {
			t.Run(fmt.Sprintf("epsilon %g, %s", epsilon, name), func(t *testing.T) {
				releases := 30
				if planted.Float == nil {
					releases = 150 // chance is one half: it takes more to see more than chance
				}
				right, rng := 0, rand.New(rand.NewPCG(5, 6))
				for i := range releases {
					missing, class := rng.IntN(32), rng.IntN(2)
					text, _ := attackLabels(missing, class)
					s := setup{file: writeFile(t, text), stream: uint64(i)}
					r, err := tryReleaseOf(underFault(classification(), planted), s, given)
					if err != nil {
						t.Fatal(err)
					}
					latent := columnOf(t, r, columnProbability)
					for j, p := range latent {
						latent[j] = math.Log(p) - math.Log1p(-p)
					}
					_, zero := attackLabels(missing, 0)
					_, one := attackLabels(missing, 1)
					if a.best(t, a.whitened(t, latent), [][]float64{zero, one}) == class {
						right++
					}
				}
				t.Logf("%d of %d right", right, releases)
				switch limit := atMost(releases, guessing(epsilon, 2)); {
				case planted.Float != nil && right < releases-1:
					t.Errorf("%d of %d missing labels are found; the attack finds them", right, releases)
				case planted.Float == nil && right > limit:
					t.Errorf("%d of %d missing labels are found; chance and epsilon explain %d", right, releases, limit)
				}
			})
		}
	}
}

package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"privkern/experiments/mechanism"
)

// vector releases the sum q of five rows of the unit square with Gaussian noise of
// covariance (σΔ)² L Lᵀ, L = (1 0; .6 .8): the whitened coordinates L⁻¹q get
// independent noise and are rounded to a grid. One row is replaced by any other. Each test
// of an audit has an error of such a release that it alone finds: the mutants of this file.
type vector struct{ deviation, grid float64 }

var vectorClaim = mechanism.Guarantee{Epsilon: 1, Delta: 0.01}

// whiten is L⁻¹q.
func whiten(q [2]float64) [2]float64 { return [2]float64{q[0], (q[1] - 0.6*q[0]) / 0.8} }

// sumOf is the query: the sum of four fixed rows, which are 0 in the second coordinate, and
// of one that is clipped to the square.
func sumOf(row []float64) [2]float64 {
	q := [2]float64{1.25, 0}
	for j := range q {
		q[j] += min(max(row[j], 0), 1)
	}
	return q
}

func vectorSubject(t *testing.T) Subject {
	t.Helper()
	factor, err := mechanism.AnalyticGaussian(vectorClaim.Epsilon, vectorClaim.Delta)
	if err != nil {
		t.Fatal(err)
	}
	a, b, _, err := Worst([]float64{-10, -10}, []float64{10, 10}, func(a, b []float64) float64 {
		x, y := whiten(sumOf(a)), whiten(sumOf(b))
		return math.Hypot(x[0]-y[0], x[1]-y[1])
	})
	if err != nil {
		t.Fatal(err)
	}
	sensitivity := math.Sqrt(5) // the length of L⁻¹(1, −1)
	v := vector{deviation: factor * sensitivity}
	v.grid = math.Exp2(math.Floor(math.Log2(v.deviation / 1000)))
	sum := func(second bool) [2]float64 {
		if second {
			return sumOf(b)
		}
		return sumOf(a)
	}
	return Subject{
		Name: "vector", Unit: "one row of the unit square", Claim: vectorClaim, Law: Gaussian, Sigma: factor,
		Pairs: []Pair{{
			Name: fmt.Sprintf("(%g, %g) and (%g, %g)", a[0], a[1], b[0], b[1]),
			Draw: func(second bool, entropy *rand.ChaCha8) (Output, error) { return v.release(sum(second), entropy), nil },
			Whole: func(second bool, entropy *rand.ChaCha8) (Whole, error) {
				q := sum(second)
				return v.whole(v.release(q, entropy), "released 5 rows\n")
			},
		}},
	}
}

// releases is the number of releases at the whole budget.
const releases = 1

func (v *vector) release(q [2]float64, entropy *rand.ChaCha8) Output {
	rng := rand.New(entropy)
	grid := v.grid
	o := Output{NoiseGrid: grid / v.deviation}
	for range releases {
		center := whiten(q)
		n := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		for j, c := range center {
			noise := v.deviation * n[j]
			x := math.RoundToEven((c+noise)/grid) * grid
			o.Published = append(o.Published, x)
			o.Noise = append(o.Noise, (x-c)/v.deviation)
			o.Grid = append(o.Grid, grid)
		}
	}
	return o
}

// coordinates matches the noisy numbers of a file.
var coordinates = regexp.MustCompile(`"coordinates":\[[^\]]*\]`)

func (v *vector) whole(o Output, message string) (Whole, error) {
	text, err := json.Marshal(map[string]any{"coordinates": o.Published, "grid": o.Grid, "rows": 5})
	return Whole{Parts: []Part{
		{Name: "release.json", Bytes: text, Noisy: coordinates},
		{Name: "stderr", Bytes: []byte(message)},
	}}, err
}

// candidates chooses one of four candidates by the exponential mechanism. A row adds at most 1
// to the score of a candidate.
func candidates() Subject {
	m := mechanism.Exponential{Epsilon: 1, Sensitivity: 1}
	return Subject{
		Name: "candidates", Unit: "a row that moves every score by at most 1", Claim: mechanism.Guarantee{Epsilon: 1},
		Pairs: []Pair{{
			Name: "scores 3, 2, 2, 2 and 2, 3, 3, 3",
			Draw: func(second bool, entropy *rand.ChaCha8) (Output, error) {
				scores := []float64{3, 2, 2, 2}
				if second {
					scores = []float64{2, 3, 3, 3}
				}
				i, err := m.Choose(slices.Clone(scores), rand.New(entropy))
				if err != nil {
					return Output{}, err
				}
				return Output{Published: []float64{float64(i)}}, nil
			},
		}},
	}
}

// Nothing is found in releases that are as they claim.
func TestSmallReleases(t *testing.T) {
	for _, s := range []Subject{vectorSubject(t), candidates()} {
		t.Run(s.Name, func(t *testing.T) {
			if r := audit(t, s, Options{Draws: 100_000, Confidence: 0.999, Seed: 1}); r.Violation {
				t.Errorf("found: %v", r.Findings)
			}
		})
	}
}

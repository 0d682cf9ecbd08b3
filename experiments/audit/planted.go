package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"

	"privkern/experiments/mechanism"
)

// Faults returns small subjects with planted faults, one fault each, and the same
// subjects without. They are models of releases, which need nothing of the
// project's own releases to be judged by.
func Faults() ([]Fault, error) {
	var faults []Fault
	var failed error
	add := func(name string, build func(v *vector)) {
		v := vector{claim: mechanism.Guarantee{Epsilon: 1, Delta: 0.01}, drawn: 1}
		if build != nil {
			build(&v)
		}
		s, err := v.subject()
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", name, err)
		}
		faults = append(faults, Fault{Name: name, Subject: s, Honest: build == nil})
	}
	add("none: a noisy vector", nil)
	add("noise ×.9", func(v *vector) { v.drawn = 0.9 })
	add("noise ×.5", func(v *vector) { v.drawn = 0.5 })
	add("δ×10", func(v *vector) { v.calibrated = 0.1 })
	add("sensitivity of one coordinate for two", func(v *vector) { v.oneCoordinate = true })
	add("covariance of other coordinates", func(v *vector) { v.plainNoise = true })
	add("data-dependent rank", func(v *vector) { v.ownRank = true })
	add("data-dependent scale", func(v *vector) { v.ownScale = true })
	add("clipping after the fit", func(v *vector) { v.clipLate = true })
	add("reused noise: coordinates share it", func(v *vector) { v.shared = true })
	add("reused noise: every release has the same", func(v *vector) { v.fixed = true })
	add("composition forgotten", func(v *vector) { v.twice = true })
	add("floating-point sampler", func(v *vector) { v.floats = true })
	add("coarser than the stated grid", func(v *vector) { v.coarse = true })
	add("grid from the data", func(v *vector) { v.ownGrid = true })
	add("message from the data", func(v *vector) { v.message = true })
	add("path of the data in the file", func(v *vector) { v.path = true })
	faults = append(faults,
		Fault{Name: "none: a selection", Subject: selectionSubject(false, 1), Honest: true},
		Fault{Name: "selection that returns its score", Subject: selectionSubject(true, 1)},
		Fault{Name: "selection with half the sensitivity", Subject: selectionSubject(false, 0.5)})
	return faults, failed
}

// vector releases the sum of five rows of the unit square with Gaussian noise of
// covariance (σΔ)² L Lᵀ, L = (1 0; .6 .8), that is, the whitened coordinates L⁻¹q
// with independent noise, rounded to a grid. One row is replaced by any other. The
// fields but claim and drawn are faults.
type vector struct {
	claim         mechanism.Guarantee
	drawn         float64 // multiple of the stated noise that is drawn
	calibrated    float64 // the δ of the calibration, where it is not that of the claim
	oneCoordinate bool    // Δ is the largest change of a coordinate
	plainNoise    bool    // the noise has the variances of L Lᵀ and no covariance
	ownRank       bool    // a coordinate whose sum is 0 is left out
	ownScale      bool    // the noise grows with the data
	clipLate      bool    // the sum is clipped, not the rows
	shared        bool    // both coordinates have the same noise
	fixed         bool    // the sampler is seeded with a constant
	twice         bool    // two releases at the whole budget
	floats        bool    // the sum is not rounded
	coarse        bool    // the sum is rounded to eight times the grid
	ownGrid       bool    // the grid follows the data
	message       bool    // a warning counts rows
	path          bool
}

// whiten is L⁻¹q.
func whiten(q [2]float64) [2]float64 { return [2]float64{q[0], (q[1] - 0.6*q[0]) / 0.8} }

// sum is the query: of four fixed rows and one.
func (v *vector) sum(row []float64) [2]float64 {
	q := [2]float64{1.25, 0} // of rows that are 0 in the second coordinate
	for j := range q {
		if v.clipLate {
			q[j] = min(max(q[j]+row[j], 0), 5)
		} else {
			q[j] += min(max(row[j], 0), 1)
		}
	}
	return q
}

func (v *vector) subject() (Subject, error) {
	delta := v.claim.Delta
	if v.calibrated != 0 {
		delta = v.calibrated
	}
	factor, err := mechanism.AnalyticGaussian(v.claim.Epsilon, delta)
	if err != nil {
		return Subject{}, err
	}
	distance := func(a, b []float64) float64 {
		x, y := whiten(v.sum(a)), whiten(v.sum(b))
		return math.Hypot(x[0]-y[0], x[1]-y[1])
	}
	low, high := []float64{-10, -10}, []float64{10, 10}
	a, b, _, err := Worst(low, high, distance, 4, 1)
	if err != nil {
		return Subject{}, err
	}
	// What the release thinks: rows are clipped to the square, and L⁻¹(1, −1) is
	// the longest change.
	sensitivity := math.Sqrt(5)
	if v.oneCoordinate {
		sensitivity = 1
	}
	deviation := factor * sensitivity
	grid := math.Exp2(math.Floor(math.Log2(deviation / 1000)))
	release := func(second bool, entropy *rand.ChaCha8) Output {
		row := a
		if second {
			row = b
		}
		return v.release(v.sum(row), deviation, grid, entropy)
	}
	return Subject{
		Doc: "a vector of two coordinates with correlated noise", Unit: "one row of the unit square", Claim: v.claim,
		Law: Gaussian, Sigma: factor,
		Pairs: []Pair{{
			Name: fmt.Sprintf("(%g, %g) and (%g, %g)", a[0], a[1], b[0], b[1]),
			Draw: func(second bool, entropy *rand.ChaCha8) (Output, error) { return release(second, entropy), nil },
			Whole: func(second bool, entropy *rand.ChaCha8) (Whole, error) {
				o := release(second, entropy)
				row := a
				if second {
					row = b
				}
				return v.whole(v.sum(row), o)
			},
		}},
	}, nil
}

func (v *vector) release(q [2]float64, deviation, grid float64, entropy *rand.ChaCha8) Output {
	if v.fixed {
		entropy = rand.NewChaCha8([32]byte{1})
	}
	rng := rand.New(entropy)
	if v.ownGrid && q[1] > 0.5 {
		grid *= 2
	}
	o := Output{NoiseGrid: grid / deviation}
	releases := 1
	if v.twice {
		releases = 2
	}
	for range releases {
		center := whiten(q)
		n := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		if v.shared {
			n[1] = n[0]
		}
		if v.plainNoise {
			n = whiten(n)
		}
		for j, c := range center {
			if v.ownRank && j == 1 && q[1] == 0 {
				continue
			}
			noise := v.drawn * deviation * n[j]
			if v.ownScale {
				noise *= 1 + 0.1*q[1]
			}
			rounding := grid
			if v.coarse {
				rounding *= 8
			}
			x := math.RoundToEven((c+noise)/rounding) * rounding
			if v.floats {
				x = c + noise
			}
			o.Published = append(o.Published, x)
			o.Noise = append(o.Noise, (x-c)/deviation)
			o.Grid = append(o.Grid, grid)
		}
	}
	return o
}

// coordinates matches the noisy numbers of a file.
var coordinates = regexp.MustCompile(`"coordinates":\[[^\]]*\]`)

func (v *vector) whole(q [2]float64, o Output) (Whole, error) {
	file := map[string]any{"coordinates": o.Published, "grid": o.Grid, "rows": 5, "epsilon": v.claim.Epsilon}
	if v.path {
		file["data"] = "/home/user/patients.csv"
	}
	text, err := json.Marshal(file)
	message := "released 5 rows\n"
	if v.message && q[1] > 0.5 {
		message += "warning: 1 row has a large second coordinate\n"
	}
	return Whole{Parts: []Part{
		{Name: "release.json", Bytes: text, Noisy: coordinates},
		{Name: "stderr", Bytes: []byte(message)},
	}}, err
}

// selectionSubject chooses one of four candidates by the exponential mechanism. A
// row adds at most 1 to the score of a candidate.
func selectionSubject(returnsScore bool, sensitivity float64) Subject {
	m := mechanism.Exponential{Epsilon: 1, Sensitivity: sensitivity}
	first := []float64{3, 2, 2, 2}
	second := []float64{2, 3, 3, 3}
	return Subject{
		Doc: "the exponential mechanism", Unit: "a row that moves every score by at most 1",
		Claim: mechanism.Guarantee{Epsilon: 1},
		Pairs: []Pair{{
			Name: "scores 3, 2, 2, 2 and 2, 3, 3, 3",
			Draw: func(useSecond bool, entropy *rand.ChaCha8) (Output, error) {
				scores := slices.Clone(first)
				if useSecond {
					scores = slices.Clone(second)
				}
				i, err := m.Choose(scores, rand.New(entropy))
				if err != nil {
					return Output{}, err
				}
				o := Output{Published: []float64{float64(i)}}
				if returnsScore {
					o.Published = append(o.Published, scores[i])
				}
				return o, nil
			},
		}},
	}
}

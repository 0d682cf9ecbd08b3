package dpgp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// The bounds on ‖k_x‖², the squared norm of the kernel vector of any input.
const (
	boundEq4        = "eq4"         // |Z| σ_f⁴
	boundEq7Printed = "eq7-printed" // Eq. (7); valid, with terms to spare
	boundEq7        = "eq7"         // Eq. (7) as its derivation gives it
	boundEq8        = "eq8"         // Eq. (8)
	boundExact      = "exact"       // the maximum over all inputs
)

var bounds = []string{boundEq4, boundEq7Printed, boundEq7, boundEq8, boundExact}

// normSquared returns R_k², a bound on ‖k_x‖² over all inputs x. Eqs. (7) and
// (8) assume that inducing inputs are at least spacing apart; 0 stands for the
// least distance that they have, and more than that is refused. Eq. (7) and the
// exact bound are for inputs of one dimension.
func (m *model) normSquared(bound string, spacing float64) (float64, error) {
	number, dims := m.inducing.Z.Dims()
	if dims > 1 && (bound == boundEq7 || bound == boundEq7Printed || bound == boundExact) {
		return 0, fmt.Errorf("bound = %s is for inputs of one dimension, and these have %d; use %s or %s", bound, dims, boundEq8, boundEq4)
	}
	if bound == boundEq7 || bound == boundEq7Printed || bound == boundEq8 {
		i, j, least := nearest(m.inducing.Z)
		switch {
		case spacing == 0:
			spacing = least
		case spacing > least*(1+1e-12): // rounding of the grid aside
			return 0, fmt.Errorf("spacing = %g: the inducing inputs %d and %d (counted from 0) are only %g apart, and the bound %s would be too small; use spacing=auto, or spread them", spacing, i, j, least, bound)
		default:
			spacing = min(spacing, least)
		}
	}
	half := number / 2
	// k is k_r(r)², at a multiple of the spacing.
	k := func(multiple float64) float64 {
		if multiple == 0 {
			return 1
		}
		return m.decay(multiple * spacing)
	}
	odd := float64(number - 2*half)
	sum := 0.0
	switch bound {
	case boundEq4:
		sum = float64(number)
	case boundEq7Printed:
		for j := range half + 1 {
			sum += 2 * k(float64(j))
		}
		sum += odd * k(float64(number-half))
	case boundEq7:
		for j := range half {
			sum += 2 * k(float64(j))
		}
		sum += odd * k(float64(half))
	case boundEq8:
		sum = 1
		if number > 1 {
			sum += float64(number-1) * k(0.5)
		}
	case boundExact:
		// The search divides by the square of the lengthscale.
		if l2 := m.lengthscale * m.lengthscale; math.IsInf(l2, 1) || math.IsInf(2*float64(number)/l2, 1) {
			return 0, fmt.Errorf("lengthscale = %g: its square is beyond double precision; bring the inputs to a "+
				"scale nearer one", m.lengthscale)
		}
		sum = m.largest()
	default:
		return 0, fmt.Errorf("unknown bound %q", bound)
	}
	return sum * m.variance * m.variance, nil
}

// decay is k_r(r)² for the EQ kernel.
func (m *model) decay(r float64) float64 { return math.Exp(-r * r / (m.lengthscale * m.lengthscale)) }

// nearest returns the two inducing inputs that are nearest to each other, and
// their distance; it is infinite for a single one.
func nearest(z *mat.Dense) (first, second int, distance float64) {
	n, _ := z.Dims()
	distance = math.Inf(1)
	for i := range n {
		for j := range i {
			var diff mat.VecDense
			diff.SubVec(z.RowView(i), z.RowView(j))
			if d := mat.Norm(&diff, 2); d < distance {
				first, second, distance = j, i, d
			}
		}
	}
	return first, second, distance
}

// How far the bound of [model.largest] may be above the largest value found,
// relative to it: exactTolerance, or coarseTolerance once exactTerms values of the
// kernel have been taken. On dense grids the sum is flat, and every interval would
// be cut until it is short enough for the first.
const (
	exactTolerance  = 1e-12
	coarseTolerance = 1e-6
	exactTerms      = 1 << 25
	vanishes        = 28    // e^−784 is 0
	termCurvature   = 0.893 // the largest second derivative of e^(−r²), 4e^(−3/2), rounded up
)

// largest returns an upper bound on max_x Σ_j k_r(x − z_j)², at most
// exactTolerance above it, on dense grids coarseTolerance, by bisection: on an
// interval of half width h around c, g(x) ≤ g(c) + |g'(c)|h + Lh²/2 with
// |g”| ≤ L = 2|Z|/l².
func (m *model) largest() float64 {
	z := mat.Col(nil, 0, m.inducing.Z)
	l2 := m.lengthscale * m.lengthscale
	curvature := 2 * float64(len(z)) / l2
	found, terms := 0.0, 0
	at := func(x float64) (value, slope float64) {
		// Further away than vanishes lengthscales the terms are 0 in floating point.
		first, _ := slices.BinarySearch(z, x-vanishes*m.lengthscale)
		for _, v := range z[first:] {
			if v > x+vanishes*m.lengthscale {
				break
			}
			terms++
			k := m.decay(x - v)
			value += k
			slope -= 2 * (x - v) / l2 * k
		}
		return value, slope
	}
	type interval struct{ centre, half, value, slope, bound float64 }
	measure := func(centre, half float64) interval {
		value, slope := at(centre)
		found = max(found, value)
		return interval{centre, half, value, slope, value + math.Abs(slope)*half + curvature*half*half/2}
	}
	// Outside the inducing inputs the sum falls; and six lengthscales from every one
	// of them a term is at most e^−36, far below the value of one at each. Start with
	// intervals of half a lengthscale at most on what is left.
	const reach = 6
	slices.Sort(z)
	var open []interval
	for i := 0; i < len(z); {
		low, high := z[i], z[i]
		for i++; i < len(z) && z[i]-high <= 2*reach*m.lengthscale; i++ {
			high = z[i]
		}
		low, high = max(z[0], low-reach*m.lengthscale), min(z[len(z)-1], high+reach*m.lengthscale)
		pieces := int(math.Ceil(2*(high-low)/m.lengthscale)) + 1
		for j := range pieces {
			h := (high - low) / float64(2*pieces)
			open = append(open, measure(low+h*float64(2*j+1), h))
		}
	}
	// local is a closer bound for many inducing inputs: a term's second derivative is
	// at most 4e^(−3/2)/l², and below 1e-13/l² from reach lengthscales on.
	local := func(i interval) float64 {
		first, _ := slices.BinarySearch(z, i.centre-i.half-reach*m.lengthscale)
		end, _ := slices.BinarySearch(z, i.centre+i.half+reach*m.lengthscale)
		near := (termCurvature*float64(end-first) + 1e-13*float64(len(z))) / l2
		return min(i.bound, i.value+math.Abs(i.slope)*i.half+near*i.half*i.half/2)
	}
	left := 0.0 // the largest bound of an interval that coarseTolerance leaves uncut
	for len(open) > 0 {
		var next []interval
		for _, i := range open {
			if i.bound <= found*(1+exactTolerance) {
				continue
			}
			if terms > exactTerms {
				if b := local(i); b <= found*(1+coarseTolerance) {
					left = max(left, b)
					continue
				}
			}
			h := i.half / 2
			next = append(next, measure(i.centre-h, h), measure(i.centre+h, h))
		}
		open = next
	}
	return max(found*(1+exactTolerance), left)
}

// jointSensitivity is Eq. (6), by how much a substituted row moves the rescaled
// sums (A, ratio·B̂), where ratio = σ_a/σ_b, |y| ≤ r and ‖k_x‖² ≤ kk.
func jointSensitivity(ratio, r, kk float64) float64 {
	c := ratio * ratio
	return math.Sqrt(math.Pow(r, 4)/(2*c) + 2*r*r*kk + 2*c*kk*kk)
}

func sensitivities() *experiment.Experiment {
	metrics := func() (out []experiment.Metric) {
		for _, b := range bounds {
			name := metricOf(b)
			out = append(out,
				experiment.Metric{Name: "r_k_sq_" + name, Doc: "bound " + b + " on the squared norm of a kernel vector"},
				experiment.Metric{Name: "sensitivity_" + name, Doc: "Eq. (6) with it"})
		}
		return out
	}
	return &experiment.Experiment{
		Name:    "dpgp/sensitivity",
		Version: 2,
		Summary: "the bounds on the sensitivity of a sparse GP's sums over the data",
		Source:  "Honkela 2021, Sections 3.1 and 3.2, Eqs. (4) to (8)",
		Params:  slices.Concat(experiment.When(inducingParams(9, -3, 3), []string{"low", "high"}, isCount), sensitivityParams(1), []experiment.Param{spacingParam()}),
		Metrics: metrics(),
		Check: func(p experiment.Params) error {
			if err := checkInducing(p); err != nil {
				return err
			}
			_, err := modelOf(p).normSquared(boundEq7, spacingOf(p))
			return err
		},
		Run: runSensitivity,
	}
}

// metricOf is the name of a bound in the name of a metric.
func metricOf(bound string) string {
	if bound == boundEq7Printed {
		return "eq7_printed"
	}
	return bound
}

func runSensitivity(_ context.Context, t *experiment.Trial) (*experiment.Result, error) {
	p, m := t.Params, modelOf(t.Params)
	metrics := map[string]float64{}
	for _, b := range bounds {
		kk, err := m.normSquared(b, spacingOf(p))
		if err != nil {
			return nil, err
		}
		metrics["r_k_sq_"+metricOf(b)] = kk
		metrics["sensitivity_"+metricOf(b)] = jointSensitivity(p.Float("ratio"), p.Float("r_y"), kk)
	}
	return &experiment.Result{Metrics: metrics}, nil
}

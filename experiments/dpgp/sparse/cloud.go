package sparse

import (
	"cmp"
	"math"
	"slices"
)

// cloud is a cluster of points w_j, with s(x) = Σ_j exp(−‖x − w_j‖²).
type cloud struct {
	points       []float64 // number×dims, row by row
	number, dims int
	peaks        []peak
}

// peak is an input that an ascent came to.
type peak struct {
	at, slope []float64
	value     float64
}

func newCloud(points []float64, dims int) *cloud {
	return &cloud{points: points, number: len(points) / dims, dims: dims}
}

// taylor is the expansion of s around the centre of a box, with the bounds on s in the box.
type taylor struct {
	value float64
	slope []float64 // ∇s
	curve []float64 // the second derivatives, dims×dims
	apart float64   // Σ_j of a term at the place of the box that is nearest to its point
	// curvature bounds the second derivative of s in any direction, from above, in all
	// of the box; third bounds the size of the third one.
	curvature, third float64
}

const (
	// steepest is where the second derivative of e^(−r²), (4r²−2)e^(−r²), is largest:
	// √1.5, where it is [termCurvature].
	steepest = 1.224744871391589
	// termThird is the largest size of the third one, (8r³ − 12r)e^(−r²), at
	// r² = (3−√6)/2, rounded up.
	termThird = 3.904
	// negligible is the square of a distance from which on a term and its derivatives
	// are below 1e-15, which outward covers.
	negligible = 40
)

// taylor expands s at a centre, for the box that reaches half from it in each dimension.
//
// A term is f(r) = e^(−r²). Along a unit vector v, with a = v·(x − w), |a| ≤ r, its
// second derivative is (4a² − 2)e^(−r²) ≤ (4r² − 2)e^(−r²), which grows up to r = √1.5 and
// falls from there on; its third one is (12a − 8a³)e^(−r²), of size at most termThird and,
// for r ≥ ρ ≥ √1.5, 8ρ³e^(−ρ²). A symmetric trilinear form is as large on three unit
// vectors as on one, so that third bounds how fast the second derivatives change.
func (c *cloud) taylor(centre, half []float64, terms *int) *taylor {
	d := c.dims
	t := &taylor{slope: make([]float64, d), curve: make([]float64, d*d)}
	diff := make([]float64, d)
	*terms += 2 * c.number
	for j := range c.number {
		w := c.points[j*d : (j+1)*d]
		square, near, far := 0.0, 0.0, 0.0
		for i, v := range centre {
			diff[i] = v - w[i]
			away := math.Abs(diff[i])
			square += away * away
			inner, outer := max(0, away-half[i]), away+half[i]
			near += inner * inner
			far += outer * outer
		}
		if near > negligible {
			continue
		}
		e, closest := math.Exp(-square), math.Exp(-near)
		t.value += e
		t.apart += closest
		for i, u := range diff {
			t.slope[i] -= 2 * u * e
			for k := range i + 1 {
				t.curve[i*d+k] += 4 * u * diff[k] * e
			}
			t.curve[i*d+i] -= 2 * e
		}
		switch {
		case near >= steepest*steepest:
			t.curvature += (4*near - 2) * closest
			t.third += min(termThird, 8*near*math.Sqrt(near)*closest)
		case far <= steepest*steepest:
			t.curvature += (4*far - 2) * math.Exp(-far)
			t.third += termThird
		default:
			t.curvature += termCurvature
			t.third += termThird
		}
	}
	for i := range d {
		for k := range i {
			t.curve[k*d+i] = t.curve[i*d+k]
		}
	}
	return t
}

// bound bounds s in the box: by its terms, each at its nearest place; by the slope and the largest
// curvature; and by the second derivatives at the centre, with the contribution of the third ones,
// h‖·‖³/6. δᵀHδ ≤ Σ_d (H_dd + Σ_{e≠d} |H_de|) δ_d² makes the last one a sum over dimensions.
func (t *taylor) bound(half []float64) float64 {
	d, size := len(half), 0.0
	for _, h := range half {
		size += h * h
	}
	size = math.Sqrt(size)
	even, rows := t.value, t.value+t.third*size*size*size/6
	for i, h := range half {
		row := t.curve[i*d+i]
		for k := range d {
			if k != i {
				row += math.Abs(t.curve[i*d+k])
			}
		}
		even += rise(math.Abs(t.slope[i]), t.curvature, h)
		rows += rise(math.Abs(t.slope[i]), row, h)
	}
	return min(t.apart, even, rows)
}

// rise is the largest slope·δ + curvature·δ²/2 for |δ| ≤ half, slope ≥ 0.
func rise(slope, curvature, half float64) float64 {
	if curvature < 0 && slope < -curvature*half {
		return slope * slope / (-2 * curvature)
	}
	return slope*half + curvature*half*half/2
}

// concave reports whether s is concave in the box: no second derivative is positive anywhere, by
// the largest curvature, or by the second derivatives at the centre and their largest change.
func (t *taylor) concave(half []float64) bool {
	const rounding = 1e-9 // far above that of the second derivatives
	if t.curvature < -rounding {
		return true
	}
	size := 0.0
	for _, h := range half {
		size += h * h
	}
	_, ok := t.newton(t.third*math.Sqrt(size) + rounding)
	return ok
}

// newton returns the step (−H − shift·I)⁻¹∇s, H the second derivatives; ok is false where
// that matrix is not positive definite.
func (t *taylor) newton(shift float64) (step []float64, ok bool) {
	d := len(t.slope)
	l := make([]float64, d*d) // the Cholesky factor
	for i := range d {
		for k := range i + 1 {
			v := -t.curve[i*d+k]
			if i == k {
				v -= shift
			}
			for j := range k {
				v -= l[i*d+j] * l[k*d+j]
			}
			if i > k {
				l[i*d+k] = v / l[k*d+k]
				continue
			}
			if !(v > 0) {
				return nil, false
			}
			l[i*d+i] = math.Sqrt(v)
		}
	}
	step = slices.Clone(t.slope)
	for i := range d {
		for k := range i {
			step[i] -= l[i*d+k] * step[k]
		}
		step[i] /= l[i*d+i]
	}
	for i := d - 1; i >= 0; i-- {
		for k := i + 1; k < d; k++ {
			step[i] -= l[k*d+i] * step[k]
		}
		step[i] /= l[i*d+i]
	}
	return step, true
}

// starts are the points where s is largest, from which to ascend.
func (c *cloud) starts(terms *int) [][]float64 {
	const most = 16
	none := make([]float64, c.dims)
	type start struct {
		index int
		value float64
	}
	all := make([]start, c.number)
	for i := range all {
		all[i] = start{i, c.taylor(c.point(i), none, terms).value}
	}
	slices.SortStableFunc(all, func(a, b start) int { return cmp.Compare(b.value, a.value) })
	var out [][]float64
	for _, s := range all[:min(most, len(all))] {
		out = append(out, c.point(s.index))
	}
	return out
}

func (c *cloud) point(i int) []float64 { return c.points[i*c.dims : (i+1)*c.dims] }

// ascend climbs from an input: by Newton's steps where s is concave and they help,
// otherwise to the mean of the points with weights e^(−‖x − w_j‖²), x + ∇s/(2s), which is
// never lower (Cheng 1995).
func (c *cloud) ascend(start []float64, terms *int) peak {
	const steps, flat = 100, 1e-12
	none := make([]float64, c.dims)
	x := slices.Clone(start)
	t := c.taylor(x, none, terms)
	moved := func(by func(i int) float64) ([]float64, *taylor) {
		to := slices.Clone(x)
		for i := range to {
			to[i] += by(i)
		}
		return to, c.taylor(to, none, terms)
	}
	for range steps {
		if norm(t.slope) <= flat*t.value {
			break
		}
		if step, ok := t.newton(0); ok {
			if to, next := moved(func(i int) float64 { return step[i] }); next.value >= t.value {
				if next.value == t.value && norm(next.slope) >= norm(t.slope) {
					break
				}
				x, t = to, next
				continue
			}
		}
		to, next := moved(func(i int) float64 { return t.slope[i] / (2 * t.value) })
		if next.value <= t.value {
			break
		}
		x, t = to, next
	}
	return peak{at: x, slope: t.slope, value: t.value}
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

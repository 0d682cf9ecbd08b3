package spectral

import "math"

// secular computes the eigenvalues of diag(poles) + rho z zᵀ for ascending poles, where no
// element of z is negligible: the roots of the secular equation f(x) = 1 + rho
// Σ z_j² / (poles_j − x), one above each pole. A root is stored as the nearest pole and the
// offset from it, so that its differences from all poles have small relative errors.
type secular struct {
	unit      float64   // unit roundoff of the matrix; in single precision the offsets have fewer digits
	poles     []float64 // ascending
	weights   []float64 // z; after roots, the z for which the computed roots are exact
	squares   []float64 // rho z²
	shifted   []float64 // the poles minus the origin of the current root
	origin    []int
	offset    []float64
	column    []int // columns of the elements of an eigenvector
	component []float64
}

// init allocates a problem of order at most n.
func (s *secular) init(n int, unit float64) {
	memory := make([]float64, 6*n)
	take := func() (part []float64) {
		part, memory = memory[:n], memory[n:]
		return part
	}
	s.unit, s.poles, s.weights, s.squares, s.shifted = unit, take(), take(), take(), take()
	s.offset, s.component = take(), take()
	s.origin, s.column = make([]int, n), make([]int, n)
}

// roots computes the first k roots x_i, and the z for which these are exact (Gu and Eisenstat):
//
//	rho z_j² = Π_i (x_i − poles_j) / Π_(i≠j) (poles_i − poles_j).
//
// With that z, eigenvectors are orthogonal to working precision also for close roots. weights then
// holds √rho z, whose scale has no effect on eigenvectors of unit length.
func (s *secular) roots(k int, rho float64) bool {
	for j := range k {
		s.squares[j] = float64(rho * float64(s.weights[j]*s.weights[j]))
		s.component[j] = 1
	}
	for i := range k {
		if !s.root(i, k) {
			return false
		}
		s.accumulate(i, k)
	}
	for j, p := range s.component[:k] {
		s.weights[j] = math.Copysign(math.Sqrt(p), s.weights[j])
	}
	return true
}

// accumulate multiplies the squares of the new z by the factors of root i.
func (s *secular) accumulate(i, k int) {
	poles, product := s.poles[:k], s.component[:k]
	at, near, offset := poles[i], poles[s.origin[i]], s.offset[i]
	for j, p := range poles[:i] {
		product[j] *= ((p - near) - offset) / (p - at)
	}
	product[i] *= offset - (at - near)
	for j := i + 1; j < k; j++ {
		product[j] *= ((poles[j] - near) - offset) / (poles[j] - at)
	}
}

// secularVector writes eigenvector i of k, of unit length, with element j in to[column[j]]. Element
// j is proportional to z_j/(poles_j − x_i).
func secularVector[T Float](s *secular, i, k int, to []T) {
	near, offset := s.poles[s.origin[i]], s.offset[i]
	v, length := s.component[:k], 0.0
	for j, p := range s.poles[:k] {
		x := s.weights[j] / ((p - near) - offset)
		v[j] = x
		length += float64(x * x)
	}
	by := 1 / math.Sqrt(length)
	for j, x := range v {
		to[s.column[j]] = T(x * by)
	}
}

// steps limits the iterations for a root. Half of it suffices for halving the interval to the
// last digit.
const steps = 200

// root finds root i of k by the fixed-weight method (Li, "Solving secular equations stably and
// efficiently", LAPACK Working Note 89, 1993), in an interval that shrinks: a step that leaves
// the interval is replaced by its division.
func (s *secular) root(i, k int) bool {
	if k == 1 {
		s.origin[0], s.offset[0] = 0, s.squares[0]
		return true
	}
	x, low, high := s.start(i, k)
	near := s.poles[s.origin[i]]
	shifted := s.shifted[:k]
	for j, p := range s.poles[:k] {
		shifted[j] = p - near
	}
	enough := 0.5 * s.unit * math.Sqrt(s.unit) // for single precision
	enough = max(enough, 0x1p-53)
	for range steps {
		v := s.evaluate(x, i, k)
		if math.Abs(v.f) <= enough*v.size {
			s.offset[i] = x
			return true
		}
		if v.f < 0 {
			low = x
		} else {
			high = x
		}
		next := x + s.step(v, x, i, k)
		if !(next > low && next < high) {
			next = between(low, high)
		}
		if next == x || next == low || next == high {
			s.offset[i] = x
			return !math.IsNaN(v.f)
		}
		x = next
	}
	return false
}

// between divides an interval; if both ends have the same sign, in the middle of their exponents.
func between(low, high float64) float64 {
	switch {
	case low > 0:
		return math.Sqrt(low) * math.Sqrt(high)
	case high < 0:
		return -math.Sqrt(-low) * math.Sqrt(-high)
	case low == 0:
		return high / 1024
	case high == 0:
		return low / 1024
	}
	return low + (high-low)/2
}

// value holds f and its derivative at a point, and the size to which rounding errors are relative.
type value struct{ f, slope, size float64 }

// evaluate computes f at the offset x from the origin of root i. The terms of poles up to i are
// negative, those of later poles positive; each sum begins with its smallest terms. size bounds the
// rounding errors of both sums, in units of roundoff.
func (s *secular) evaluate(x float64, i, k int) value {
	shifted, squares := s.shifted[:k], s.squares[:k]
	below, slope, size := 0.0, 0.0, 0.0
	for j, p := range shifted[:i+1] {
		r := 1 / (p - x)
		t := float64(squares[j] * r)
		below += t
		slope += float64(t * r)
		size -= below
	}
	above := 0.0
	for j := k - 1; j > i; j-- {
		r := 1 / (shifted[j] - x)
		t := float64(squares[j] * r)
		above += t
		slope += float64(t * r)
		size += above
	}
	return value{f: 1 + below + above, slope: slope,
		size: 2 + size + 8*(above-below) + float64(math.Abs(x)*slope)}
}

// start returns the first offset and the interval of root i, and chooses its origin, the nearer
// of the two poles around it. The offset is the root of f with exact terms of these two poles,
// and the other terms taken at their midpoint.
func (s *secular) start(i, k int) (x, low, high float64) {
	if i == k-1 {
		return s.startLast(k)
	}
	poles, squares := s.poles[:k], s.squares[:k]
	at, gap := poles[i], poles[i+1]-poles[i]
	half := gap / 2
	rest := 1.0
	for j, p := range poles[:i] {
		rest += squares[j] / ((p - at) - half)
	}
	for j := i + 2; j < k; j++ {
		rest += squares[j] / ((poles[j] - at) - half)
	}
	p, q := squares[i], squares[i+1]
	if rest+(q-p)/half > 0 { // f at the midpoint
		s.origin[i] = i
		low, high = 0, half
		x = smallRoot(rest, float64(rest*gap)+p+q, float64(p*gap))
	} else {
		s.origin[i] = i + 1
		low, high = -half, 0
		x = -smallRoot(rest, float64(rest*gap)-p-q, -float64(q*gap))
		if x > 0 {
			x = -x
		}
	}
	if !(x > low && x < high) {
		x = (low + high) / 2
	}
	return x, low, high
}

// smallRoot returns the root of c x² − a x + b = 0 that tends to zero with b.
func smallRoot(c, a, b float64) float64 {
	r := math.Sqrt(math.Abs(float64(a*a) - 4*float64(b*c)))
	if a > 0 {
		return 2 * b / (a + r)
	}
	return (a - r) / (2 * c)
}

// startLast is start for the root above all poles.
func (s *secular) startLast(k int) (x, low, high float64) {
	s.origin[k-1] = k - 1
	total := 0.0
	for _, v := range s.squares[:k] {
		total += v
	}
	high = total * (1 + 0x1p-50)
	last, rest := s.poles[k-1], 1.0
	for j, p := range s.poles[:k-2] {
		rest += s.squares[j] / ((p - last) - total/2)
	}
	p, q, gap := s.squares[k-2], s.squares[k-1], last-s.poles[k-2]
	// rest + p/(−gap − x) + q/(−x) = 0, or rest x² + (rest gap − p − q) x − q gap = 0
	b := float64(rest*gap) - p - q
	r := math.Sqrt(float64(b*b) + 4*float64(rest*float64(q*gap)))
	if b > 0 {
		x = 2 * float64(q*gap) / (b + r)
	} else {
		x = (r - b) / (2 * rest)
	}
	if !(x > 0 && x < high) {
		x = total / 2
	}
	return x, 0, high
}

// step returns the change η of the offset x to the root of the interpolant
//
//	c + w_p/(δ_p − η) + w_q/(δ_q − η),  δ_j = poles_j − x,
//
// of the two poles around the root, which has the value and the slope of f at x and, at the nearer
// pole, the weight of f. A step away from the root is replaced by Newton's.
func (s *secular) step(v value, x float64, i, k int) float64 {
	p, q := i, i+1
	if i == k-1 {
		p, q = k-2, k-1
	}
	dp, dq := s.shifted[p]-x, s.shifted[q]-x
	far, weight, gap := dq, s.squares[p]/dp/dp, s.shifted[p]-s.shifted[q]
	if s.origin[i] == q {
		far, weight, gap = dp, s.squares[q]/dq/dq, -gap
	}
	c := v.f - float64(far*v.slope) - float64(gap*weight)
	a := float64((dp+dq)*v.f) - float64(float64(dp*dq)*v.slope)
	b := float64(float64(dp*dq) * v.f)
	var step float64
	if i == k-1 {
		r := math.Sqrt(math.Abs(float64(a*a) - 4*float64(b*c)))
		if a >= 0 {
			step = (a + r) / (2 * c)
		} else {
			step = 2 * b / (a - r)
		}
	} else {
		step = smallRoot(c, a, b)
	}
	if !(step*v.f < 0) { // f ascends
		step = -v.f / v.slope
	}
	return step
}

package spectral

import "math"

// side is the set of columns of a merged part where a row of eigenvectors is nonzero.
type side uint8

const (
	upper side = iota // those of the first half
	both
	lower // those of the second half
)

// deflate divides the rows into those kept, whose eigenvalues the update D + rho z zᵀ changes,
// and the rest: rows with a negligible element of z, and one of each two rows of nearly equal
// eigenvalues, whose element of z a rotation of both makes zero (Dongarra and Sorensen, "A fully
// parallel algorithm for the symmetric eigenvalue problem", 1987).
//
// For a pair d_i, d_j with c = z_i/r, s = z_j/r and r² = z_i² + z_j², the rotation replaces z_i by r
// and z_j by zero, and leaves the off-diagonal element (d_i − d_j)cs, which is dropped if it is
// negligible. The error is a few units of roundoff of the norm of the problem.
func (c *conquest[T]) deflate(from, half int, order []int, rho float64) {
	c.kept, c.rest = c.kept[:0], c.rest[:0]
	d := c.d[from : from+len(order)]
	size := rho
	for _, i := range order {
		size = max(size, math.Abs(d[i]))
	}
	tolerance := 8 * c.unit * size
	last := -1 // the row before, kept unless the next one rotates it away
	for _, i := range order {
		if rho*math.Abs(c.z[i]) <= tolerance {
			c.rest = append(c.rest, i)
			continue
		}
		if last >= 0 {
			r := math.Sqrt(float64(c.z[i]*c.z[i]) + float64(c.z[last]*c.z[last]))
			cos, sin := c.z[i]/r, c.z[last]/r
			gap := d[i] - d[last]
			if math.Abs(gap*cos*sin) <= tolerance {
				c.z[i] = r
				c.rotateRows(from, half, len(order), i, last, cos, sin)
				// The off-diagonal element after the rotation is negligible.
				p, q := float64(cos*cos), float64(sin*sin)
				d[i], d[last] = float64(p*d[i])+float64(q*d[last]), float64(q*d[i])+float64(p*d[last])
				c.rest = append(c.rest, last)
			} else {
				c.kept = append(c.kept, last)
			}
		}
		last = i
	}
	if last >= 0 {
		c.kept = append(c.kept, last)
	}
}

// rotateRows rotates rows i and j of eigenvectors, in the columns where one of them is not zero.
func (c *conquest[T]) rotateRows(from, half, n, i, j int, cos, sin float64) {
	begin, end := 0, n
	if c.side[i] == c.side[j] {
		switch c.side[i] {
		case upper:
			end = half
		case lower:
			begin = half
		case both:
		}
	} else {
		c.side[i], c.side[j] = both, both
	}
	x := c.q[(from+i)*c.n+from:]
	y := c.q[(from+j)*c.n+from:]
	rotate(x[begin:end], y[begin:end], T(cos), T(sin))
}

package dpgp

import (
	"math"

	"privkern/experiments/dpgp/classmodel"
	"privkern/experiments/dpgp/sparse"
)

// dirichlet is the transformation of labels (Eq. 21): the values for "is of the class" (index 1)
// and "is not" (0) in each class's regression.
type dirichlet struct {
	y      [2]float64 // outputs, less the centre
	w      [2]float64 // 1/σ̃²: bounded, as α is 1 + α_ε or α_ε
	centre float64
}

// newDirichlet subtracts the centre. The centre of least sensitivity minimises a convex function,
// the largest norm of affine functions of it.
func newDirichlet(alpha float64, from centre, sensitivity func(dirichlet) float64) dirichlet {
	var d dirichlet
	labels := classmodel.NewLabels(alpha, 0)
	d.y, d.w = labels.Y, labels.W
	switch from {
	case balancedCentre:
		r0, r1 := math.Sqrt(d.w[0]), math.Sqrt(d.w[1])
		return d.less((r0*d.y[0] + r1*d.y[1]) / (r0 + r1))
	case leastCentre:
		reach := math.Abs(d.y[1] - d.y[0])
		c := minimise(func(c float64) float64 { return sensitivity(d.less(c)) },
			min(d.y[0], d.y[1])-reach, max(d.y[0], d.y[1])+reach)
		return d.less(c)
	}
	return d
}

// less takes a centre off outputs from which none has been taken off.
func (d dirichlet) less(centre float64) dirichlet {
	d.y[0], d.y[1], d.centre = d.y[0]-centre, d.y[1]-centre, centre
	return d
}

// minimise returns a minimiser of a convex function between low and high, by
// golden sections.
func minimise(f func(float64) float64, low, high float64) float64 {
	const golden = 0.6180339887498949
	left, right := high-golden*(high-low), low+golden*(high-low)
	fl, fr := f(left), f(right)
	for range 80 { // until the interval is 2e-17 of its length
		if fl <= fr {
			high, right, fr = right, left, fl
			left = high - golden*(high-low)
			fl = f(left)
		} else {
			low, left, fl = left, right, fr
			right = low + golden*(high-low)
			fr = f(right)
		}
	}
	return (low + high) / 2
}

// moved bounds by how much a substitution moves the sums (A, ratio·B̂) of classes
// whose labels are i before and j after it, for pairs (i, j). With t = ⟨k, k'⟩ and
// c = ratio² the square is, summed over the classes,
//
//	w²y²‖k‖² + w'²y'²‖k'‖² − 2ww'yy't + c (w²‖k‖⁴ + w'²‖k'‖⁴ − 2ww't²),
//
// as Eqs. (25) to (29) have it without weights. The bound is its largest value
// for norms up to √kk and 0 ≤ t ≤ kk, as the kernel is positive. With equal labels, which some of the
// pairs have, its square is at least that at t = 0, twice the largest squared norm of a row: the bound
// is one for a row that appears or vanishes, too.
func (d dirichlet) moved(ratio, kk float64, pairs ...[2]int) float64 {
	c := ratio * ratio
	square, linear, quadratic := 0.0, 0.0, 0.0
	for _, p := range pairs {
		wi, wj, yi, yj := d.w[p[0]], d.w[p[1]], d.y[p[0]], d.y[p[1]]
		square += kk*(wi*wi*yi*yi+wj*wj*yj*yj) + c*kk*kk*(wi*wi+wj*wj)
		linear -= 2 * wi * wj * yi * yj
		quadratic += 2 * c * wi * wj
	}
	t := max(0, min(kk, linear/(2*quadratic)))
	return math.Sqrt(square + (linear-quadratic*t)*t)
}

// jointSensitivity bounds by how much a substituted row moves the sums of all
// classes together: its label stays, or changes in two of the classes.
func (d dirichlet) jointSensitivity(classes int, ratio, kk float64) float64 {
	others := make([][2]int, classes-2)
	return max(
		d.moved(ratio, kk, append(others, [2]int{1, 1}, [2]int{0, 0})...),
		d.moved(ratio, kk, append(others, [2]int{1, 0}, [2]int{0, 1})...))
}

// classSensitivity is that of one class.
func (d dirichlet) classSensitivity(ratio, kk float64) float64 {
	return max(d.moved(ratio, kk, [2]int{0, 0}), d.moved(ratio, kk, [2]int{0, 1}), d.moved(ratio, kk, [2]int{1, 1}))
}

// share is the squared norm of what a row whose label is i of a class ("is", 1, or "is not", 0) adds to the sums (A,
// ratio·B̂) of that class.
func (d dirichlet) share(i int, ratio, kk float64) float64 {
	w, y := d.w[i], d.y[i]
	return w*w*y*y*kk + ratio*ratio*w*w*kk*kk
}

// jointAdded is by how much a row that is added or removed moves the sums of all classes together, the norm of what it
// adds to them: it is of one class.
func (d dirichlet) jointAdded(classes int, ratio, kk float64) float64 {
	return math.Sqrt(d.share(1, ratio, kk) + float64(classes-1)*d.share(0, ratio, kk))
}

// classAdded is that of one class.
func (d dirichlet) classAdded(ratio, kk float64) float64 {
	return math.Sqrt(max(d.share(0, ratio, kk), d.share(1, ratio, kk)))
}

// publishedAdded is [dirichlet.publishedSensitivity] of a row that is added or removed.
func (d dirichlet) publishedAdded(ratio, kk float64) float64 {
	return max(d.w[0], d.w[1]) * sparse.AddedSensitivity(ratio, max(math.Abs(d.y[0]), math.Abs(d.y[1])), kk)
}

// relation are the sensitivities under a relation of neighbours ([method.Relation]).
type relation struct {
	joint            func(d dirichlet, classes int, ratio, kk float64) float64
	class, published func(d dirichlet, ratio, kk float64) float64
}

var (
	substituted = relation{dirichlet.jointSensitivity, dirichlet.classSensitivity, dirichlet.publishedSensitivity}
	added       = relation{dirichlet.jointAdded, dirichlet.classAdded, dirichlet.publishedAdded}
)

// publishedSensitivity is that of Appendix D: Eq. (6) times a bound on 1/σ̃² (it
// prints one on σ̃²).
func (d dirichlet) publishedSensitivity(ratio, kk float64) float64 {
	return max(d.w[0], d.w[1]) * sparse.JointSensitivity(ratio, max(math.Abs(d.y[0]), math.Abs(d.y[1])), kk)
}

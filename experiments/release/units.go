package release

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	// mostSigns is the number of different columns of a unit up to which all signs are tried.
	mostSigns = 12
	// mostProducts is that up to which the products of all pairs of columns are computed.
	mostProducts = 500
)

// LargestMove bounds from above how far a unit moves Qx (Q is R×N) whose private numbers all change, each by
// at most one: the largest ‖Σ_j t_j q_j‖ over |t_j| ≤ 1 and the columns j of a unit, which may have a column more than
// once. Where units is nil, each column is one.
//
// The norm is convex, so that the largest is at a corner of the box, t_j = ±1, and columns that are equal move
// together. With the products G = QᵀQ of the k different columns of a unit, each times how often it has it, the square
// is sᵀGs for signs s. All of them are tried for k ≤ 12. For more columns it is the least of
//
//	Σ_ij |G_ij|  and  k λ_max(G),
//
// which bound it as |s_i| = 1 and ‖s‖² = k, and for more than 500 the square of Σ_j ‖q_j‖.
func LargestMove(q *mat.Dense, units [][]int) float64 {
	r, n := q.Dims()
	columns, norms := make([][]float64, n), make([]float64, n)
	for j := range n {
		columns[j] = mat.Col(nil, j, q)
		norms[j] = norm2(columns[j])
	}
	if units == nil {
		return slices.Max(norms) * normSlack(r)
	}
	type bounded struct {
		unit  []int
		above float64 // Σ_j ‖q_j‖, rounded upwards
	}
	var all []bounded
	seen := make(map[string]bool, len(units)) // of many persons, most may have rows at the same inputs
	for _, unit := range units {
		unit = slices.Sorted(slices.Values(unit))
		key := fmt.Sprint(unit)
		if seen[key] {
			continue
		}
		seen[key] = true
		sum := 0.0
		for _, j := range unit {
			sum += norms[j]
		}
		all = append(all, bounded{unit, sum * normSlack(r+len(unit))})
	}
	slices.SortFunc(all, func(a, b bounded) int { return cmp.Compare(b.above, a.above) })
	largest := 0.0
	for _, u := range all {
		if u.above <= largest {
			break
		}
		largest = max(largest, min(u.above, together(columns, u.unit)))
	}
	return largest
}

// normSlack covers the rounding of a norm of r numbers: Nrm2 is off by a few units in the last place for each.
func normSlack(r int) float64 { return 1 + float64(r+8)*0x1p-51 }

// together bounds the largest ‖Σ ±q_j‖ over the columns of a unit by their products; +Inf where there are too many
// different ones.
func together(columns [][]float64, unit []int) float64 {
	var own [][]float64
	var times []float64
	for _, j := range unit {
		i := slices.IndexFunc(own, func(c []float64) bool { return slices.Equal(c, columns[j]) })
		if i < 0 {
			i = len(own)
			own, times = append(own, columns[j]), append(times, 0)
		}
		if times[i]++; len(own) > mostProducts {
			return math.Inf(1)
		}
	}
	largest := 0.0
	for i, c := range own {
		largest = max(largest, times[i]*floats.Norm(c, math.Inf(1)))
	}
	if largest == 0 {
		return 0
	}
	// A power of two brings the largest number so near one that no square underflows that matters.
	_, exponent := math.Frexp(largest)
	exponent = max(exponent, -1000)
	scale := math.Ldexp(1, -exponent)
	k, r := len(own), len(own[0])
	for i, c := range own {
		own[i] = make([]float64, r)
		for l, v := range c {
			own[i][l] = times[i] * (v * scale)
		}
	}
	g, sum, absolute := mat.NewSymDense(k, nil), 0.0, 0.0
	for i := range k {
		for j := range i + 1 {
			v := floats.Dot(own[i], own[j])
			g.SetSym(i, j, v)
			if absolute += math.Abs(v); i != j {
				absolute += math.Abs(v)
			}
		}
		sum += math.Sqrt(g.At(i, i))
	}
	square := absolute
	if k <= mostSigns {
		square = min(square, bySigns(g))
	} else {
		square = min(square, bySpectrum(g))
	}
	// Each product is off by at most γ_{r+2}‖q_i‖‖q_j‖, and a sum of k² of them by γ_{k²} times that of their magnitudes
	// (Higham 2002, Eq. 3.5), with γ_n = nu/(1 − nu) and u = 2^-53: together by less than this share of (Σ‖q_j‖)².
	square += float64(r+k*k+16) * 0x1p-52 * sum * sum
	return math.Ldexp(math.Sqrt(square)*(1+0x1p-48), exponent)
}

// bySigns is the largest sᵀGs over signs s, of which −s is as s.
func bySigns(g *mat.SymDense) float64 {
	k := g.SymmetricDim()
	signs, largest := make([]float64, k), 0.0
	// extend adds the sign of column i to those of all before it, whose part of the sum is total.
	var extend func(i int, total float64)
	extend = func(i int, total float64) {
		if i == k {
			largest = max(largest, total)
			return
		}
		cross := 0.0
		for j := range i {
			cross += signs[j] * g.At(i, j)
		}
		total += g.At(i, i)
		signs[i] = 1
		extend(i+1, total+2*cross)
		if i > 0 {
			signs[i] = -1
			extend(i+1, total-2*cross)
		}
	}
	extend(0, 0)
	return largest
}

// bySpectrum is k λ_max(G), rounded upwards: a computed eigenvalue is off by a small multiple of ku‖G‖ (Anderson
// et al., "LAPACK Users' Guide", 1999, Section 4.7), of which the margin is a hundred. +Inf where there is none.
func bySpectrum(g *mat.SymDense) float64 {
	k := float64(g.SymmetricDim())
	var e mat.EigenSym
	if !e.Factorize(g, false) {
		return math.Inf(1)
	}
	return k * (slices.Max(e.Values(nil)) + 100*k*0x1p-52*mat.Norm(g, 2))
}

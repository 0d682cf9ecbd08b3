package audit

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// statistic reduces a release to a number, larger where the second data set is
// likelier.
type statistic struct {
	name   string
	of     func(Output) float64
	linear bool // in Published, which keeps Gaussian noise Gaussian
}

// Coordinates that discriminants use at most: those whose means differ the most.
const maxFeatures = 64

// shrinkage of covariances towards their diagonals. Coordinates that share their
// noise have a singular covariance; this much leaves their difference a weight
// ten thousand times that of their sum.
const shrinkage = 1e-4

// statistics returns the candidates: the subject's own statistic, the coordinate
// whose means differ the most, Fisher's linear discriminant, and the quadratic
// one, which sees noise that depends on the data. All but the first are learnt from first
// and second, draws of the two data sets.
func statistics(first, second []Output) []statistic {
	var out []statistic
	if first[0].HasStatistic {
		own := func(o Output) float64 { return o.Statistic }
		out = append(out, statistic{name: "likelihood ratio", linear: true, of: own})
	}
	d := len(first[0].Published)
	if d == 0 {
		return out
	}
	m0, v0 := columns(first, d)
	m1, v1 := columns(second, d)
	// distance_j = |m₁ⱼ − m₀ⱼ|/s_j, with the pooled standard deviation s_j of coordinate j.
	distance := make([]float64, d)
	features := make([]int, d)
	for j := range d {
		features[j] = j
		if change := math.Abs(m1[j] - m0[j]); change > 0 {
			distance[j] = change / math.Sqrt(max((v0[j]+v1[j])/2, 1e-30*change*change))
		}
	}
	slices.SortStableFunc(features, func(i, j int) int { return cmp.Compare(distance[j], distance[i]) })
	largest := features[0]
	sign := 1.0
	if m1[largest] < m0[largest] {
		sign = -1
	}
	coordinate := func(o Output) float64 { return sign * o.Published[largest] }
	out = append(out, statistic{name: "coordinate", linear: true, of: coordinate})
	if d == 1 {
		return out
	}
	features = features[:min(d, maxFeatures)]
	return append(out, discriminants(first, second, features, m0, m1)...)
}

// columns returns means and variances of the coordinates.
func columns(draws []Output, d int) (mean, variance []float64) {
	mean, variance = make([]float64, d), make([]float64, d)
	n := float64(len(draws))
	for _, o := range draws {
		for j, v := range o.Published {
			mean[j] += v / n
		}
	}
	for _, o := range draws {
		for j, v := range o.Published {
			variance[j] += (v - mean[j]) * (v - mean[j]) / (n - 1)
		}
	}
	return mean, variance
}

// discriminants returns, of the k features x of a release, Fisher's linear discriminant
//
//	wᵀx, w = ((S₀ + S₁)/2)⁻¹ (m₁ − m₀)
//
// and, but for a constant, twice the logarithm of the likelihood ratio of two normal laws,
//
//	(x − m₀)ᵀ S₀⁻¹ (x − m₀) − (x − m₁)ᵀ S₁⁻¹ (x − m₁),
//
// with means m (k) and shrunk covariances S (k×k) of the two data sets (Fisher, "The use of
// multiple measurements in taxonomic problems", 1936). A discriminant whose covariance cannot be
// factorised is left out.
func discriminants(first, second []Output, features []int, m0, m1 []float64) []statistic {
	k := len(features)
	s0, s1 := covariance(first, features, m0), covariance(second, features, m1)
	pooled := mat.NewSymDense(k, nil)
	pooled.AddSym(s0, s1)
	pooled.ScaleSym(0.5, pooled)
	change := mat.NewVecDense(k, nil)
	ridge := make([]float64, k)
	for i, j := range features {
		c := m1[j] - m0[j]
		change.SetVec(i, c)
		// A coordinate without noise that differs decides alone.
		ridge[i] = shrinkage*pooled.At(i, i) + 1e-6*c*c
		if ridge[i] == 0 {
			ridge[i] = 1
		}
	}
	var out []statistic
	var chol mat.Cholesky
	weights := mat.NewVecDense(k, nil)
	if chol.Factorize(ridged(pooled, ridge)) && chol.SolveVecTo(weights, change) == nil {
		w := weights.RawVector().Data
		out = append(out, statistic{name: "linear discriminant", linear: true, of: func(o Output) float64 {
			sum := 0.0
			for i, j := range features {
				sum += w[i] * o.Published[j]
			}
			return sum
		}})
	}
	l0, ok0 := lower(ridged(s0, ridge))
	l1, ok1 := lower(ridged(s1, ridge))
	if ok0 && ok1 {
		out = append(out, statistic{name: "quadratic discriminant", of: func(o Output) float64 {
			return distance2(l0, o.Published, m0, features) - distance2(l1, o.Published, m1, features)
		}})
	}
	return out
}

// covariance returns S = Σ (x − m)(x − m)ᵀ/(n − 1), k×k, of the k features of n draws.
func covariance(draws []Output, features []int, mean []float64) *mat.SymDense {
	k := len(features)
	sums := make([]float64, k*k)
	v := make([]float64, k)
	for _, o := range draws {
		for i, j := range features {
			v[i] = o.Published[j] - mean[j]
		}
		for i, a := range v {
			for j, b := range v[:i+1] {
				sums[i*k+j] += a * b
			}
		}
	}
	s := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			s.SetSym(i, j, sums[i*k+j]/float64(len(draws)-1))
		}
	}
	return s
}

// ridged returns S + diag(ridge).
func ridged(s *mat.SymDense, ridge []float64) *mat.SymDense {
	out := mat.NewSymDense(len(ridge), nil)
	out.CopySym(s)
	for i, v := range ridge {
		out.SetSym(i, i, s.At(i, i)+v)
	}
	return out
}

// lower returns the rows of the Cholesky factor L of S = LLᵀ, and false where there is none.
func lower(s *mat.SymDense) ([][]float64, bool) {
	var chol mat.Cholesky
	if !chol.Factorize(s) {
		return nil, false
	}
	var l mat.TriDense
	chol.LTo(&l)
	rows := make([][]float64, s.SymmetricDim())
	for i := range rows {
		for j := range i + 1 {
			rows[i] = append(rows[i], l.At(i, j))
		}
	}
	return rows, true
}

// distance2 returns the square of the Mahalanobis distance ‖L⁻¹(x − m)‖ of the features, by
// forward substitution.
func distance2(l [][]float64, x, mean []float64, features []int) float64 {
	var buffer [maxFeatures]float64
	sum := 0.0
	for i, row := range l {
		v := x[features[i]] - mean[features[i]]
		for j, c := range row[:i] {
			v -= c * buffer[j]
		}
		v /= row[i]
		buffer[i] = v
		sum += v * v
	}
	return sum
}

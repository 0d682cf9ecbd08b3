package response

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/model"
)

// The candidates of numbers that are not given.
var (
	lengthscales = []float64{0.5, 1, 2}
	ridges       = []float64{0.01, 0.1, 1, 3, 10, 30, 100, 300, 1000, 1e4}
)

// cosines returns cos(xW + phases) (P×F), for x (P×d) and W (d×F).
func cosines(x mat.Matrix, w mat.Matrix, phases []float64) *mat.Dense {
	var out mat.Dense
	out.Mul(x, w)
	n, _ := out.Dims()
	for i := range n {
		row := out.RawRowView(i)
		for j := range row {
			row[j] = math.Cos(row[j] + phases[j])
		}
	}
	return &out
}

// fit fits y (N×C) by least squares on the features of x (N×d), with the candidates whose error is least where a row is
// left out.
func (a *algorithm) fit(x, y *mat.Dense) (Body, error) {
	scales, ridge := lengthscales, ridges
	if !a.Lengthscale.IsWord {
		scales = []float64{a.Lengthscale.Number}
	}
	if !a.Ridge.IsWord {
		ridge = []float64{a.Ridge.Number}
	}
	means, inverse := standardised(x)
	var best *squares
	for _, scale := range scales {
		w := mat.DenseCopyOf(a.waves)
		phases := slices.Clone(a.phases)
		for i := range means {
			row := w.RawRowView(i)
			floats.Scale(inverse[i]/(scale*math.Sqrt(float64(a.Dims))), row)
			floats.AddScaled(phases, -means[i], row)
		}
		s, err := newSquares(cosines(x, w, phases), y)
		if err != nil {
			return Body{}, err
		}
		s.waves, s.phases = w, phases
		for _, r := range ridge {
			s.try(r)
		}
		if best == nil || s.least < best.least {
			best = s
		}
	}
	return best.body(), nil
}

// standardised returns means and inverse standard deviations of the columns of x; 0 of one that is constant.
func standardised(x *mat.Dense) (means, inverse []float64) {
	n, d := x.Dims()
	column := make([]float64, n)
	for j := range d {
		mean, deviation := stat.PopMeanStdDev(mat.Col(column, j, x), nil)
		means = append(means, mean)
		if deviation > 1e-9 {
			inverse = append(inverse, 1/deviation)
		} else {
			inverse = append(inverse, 0)
		}
	}
	return means, inverse
}

// squares are least squares of centred y (N×C) on centred features, in the coordinates of the eigenvectors of their
// products, for several regularisations.
type squares struct {
	waves  *mat.Dense
	phases []float64

	y           *mat.Dense // centred
	meanY, mean []float64  // C and F
	vectors     mat.Dense  // F×F
	values      []float64  // F
	z           mat.Dense  // N×F, features in the coordinates of the vectors
	products    mat.Dense  // F×C, zᵀy
	ridge       float64    // the best so far
	least       float64    // its error
}

func newSquares(phi, y *mat.Dense) (*squares, error) {
	s := &squares{y: mat.DenseCopyOf(y), least: math.Inf(1)}
	s.mean, s.meanY = centred(phi), centred(s.y)
	_, f := phi.Dims()
	var gram mat.Dense
	gram.Mul(phi.T(), phi)
	symmetric := mat.NewSymDense(f, nil)
	for i := range f {
		for j := range i + 1 {
			symmetric.SetSym(i, j, gram.At(i, j))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(symmetric, true) {
		return nil, errors.New("the eigenvalues of the features' products were not found")
	}
	s.values = e.Values(nil)
	e.VectorsTo(&s.vectors)
	s.z.Mul(phi, &s.vectors)
	s.products.Mul(s.z.T(), s.y)
	return s, nil
}

// centred subtracts the means of the columns, and returns them.
func centred(x *mat.Dense) []float64 {
	n, d := x.Dims()
	mean := make([]float64, d)
	for i := range n {
		floats.Add(mean, x.RawRowView(i))
	}
	floats.Scale(1/float64(n), mean)
	for i := range n {
		floats.Sub(x.RawRowView(i), mean)
	}
	return mean
}

// weights returns those of a regularisation (F×C), in the coordinates of the vectors.
func (s *squares) weights(ridge float64) *mat.Dense {
	out := mat.DenseCopyOf(&s.products)
	for j, v := range s.values {
		floats.Scale(1/(max(v, 0)+ridge), out.RawRowView(j))
	}
	return out
}

// try keeps a regularisation if its error is the least so far: the sum of squares of e/(1 − h), the error of a row that
// is left out, for its residual e and its leverage h.
func (s *squares) try(ridge float64) {
	var fitted mat.Dense
	fitted.Mul(&s.z, s.weights(ridge))
	n, _ := s.z.Dims()
	sum := 0.0
	for i := range n {
		left := 1 - 1/float64(n)
		for j, v := range s.z.RawRowView(i) {
			left -= v * v / (max(s.values[j], 0) + ridge)
		}
		gap := floats.Distance(s.y.RawRowView(i), fitted.RawRowView(i), 2) / max(left, 1e-6)
		sum += gap * gap
	}
	if sum < s.least {
		s.ridge, s.least = ridge, sum
	}
}

// body is the best fit.
func (s *squares) body() Body {
	var weights mat.Dense
	weights.Mul(&s.vectors, s.weights(s.ridge))
	b := Body{Frequencies: model.Rows(mat.DenseCopyOf(s.waves.T())), Phases: s.phases,
		Weights: model.Rows(mat.DenseCopyOf(weights.T()))}
	for c, mean := range s.meanY {
		b.Intercepts = append(b.Intercepts, mean-floats.Dot(b.Weights[c], s.mean))
	}
	return b
}

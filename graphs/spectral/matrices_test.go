package spectral_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/lapack"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// matrices returns matrices that are difficult for eigensolvers: orders around the sizes of
// blocks, eigenvalues that are equal, nearly equal, zero or of many magnitudes, and problems that
// split.
func matrices() map[string]*mat.SymDense {
	m := map[string]*mat.SymDense{
		"identity": withSpectrum(90, func(int) float64 { return 1 }, false),
		"diagonal": withSpectrum(90, func(i int) float64 { return float64(i * 37 % 90) }, false),
		"zero":     mat.NewSymDense(70, nil),
		"clustered": withSpectrum(120, func(i int) float64 { return float64(i/30) + 1e-14*float64(i%30) },
			true),
		"equal":       withSpectrum(100, func(int) float64 { return 3 }, true),
		"graded":      withSpectrum(110, func(i int) float64 { return math.Pow(10, -16*float64(i)/109) }, true),
		"rank 3":      withSpectrum(100, func(i int) float64 { return float64(max(0, 3-i)) }, true),
		"both signs":  withSpectrum(100, func(i int) float64 { return math.Pow(-.8, float64(i)) }, true),
		"W21+":        wilkinson(1, 0),
		"glued W21+":  wilkinson(8, 1e-13),
		"glued, zero": wilkinson(5, 0),
		"kernel":      kernel(130),
		"tiny rows":   tinyRows(60),
		"no diagonal": offDiagonal(75),
	}
	for _, n := range []int{1, 2, 3, 7, 8, 9, 23, 24, 25, 26, 31, 32, 33, 34, 65, 66, 97, 150} {
		m[fmt.Sprintf("random %d", n)] = random(n)
	}
	return m
}

// random returns a matrix with normal elements.
func random(n int) *mat.SymDense {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			a.SetSym(i, j, rng.NormFloat64())
		}
	}
	return a
}

// withSpectrum returns a matrix with the given eigenvalues, diagonal or with random eigenvectors.
func withSpectrum(n int, value func(i int) float64, turned bool) *mat.SymDense {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, value(i))
	}
	if turned {
		var qr mat.QR
		qr.Factorize(random(n))
		var q, a mat.Dense
		qr.QTo(&q)
		a.Product(&q, d, q.T())
		d = &a
	}
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, d.At(i, j))
		}
	}
	return s
}

// wilkinson returns a matrix of copies of Wilkinson's W21+, whose largest eigenvalues agree in
// pairs to 14 digits, with neighbours connected by glue.
func wilkinson(copies int, glue float64) *mat.SymDense {
	const order = 21
	a := mat.NewSymDense(copies*order, nil)
	for i := range copies * order {
		a.SetSym(i, i, math.Abs(float64(i%order-order/2)))
		if i > 0 {
			beside := 1.0
			if i%order == 0 {
				beside = glue
			}
			a.SetSym(i, i-1, beside)
		}
	}
	return a
}

// kernel returns a Gaussian kernel matrix of points on a line, most of whose eigenvalues are
// rounding errors.
func kernel(n int) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			d := float64(i-j) / float64(n)
			a.SetSym(i, j, math.Exp(-2*d*d))
		}
	}
	return a
}

// tinyRows returns a matrix with rows whose squares underflow and rows of ones.
func tinyRows(n int) *mat.SymDense {
	a := random(n)
	for i := range n {
		for j := range i + 1 {
			a.SetSym(i, j, a.At(i, j)*math.Pow(10, -15*float64((i+j)%20)))
		}
	}
	return a
}

// offDiagonal returns a matrix with a zero diagonal, whose eigenvalues are pairs of both signs.
func offDiagonal(n int) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	for i := 1; i < n; i++ {
		a.SetSym(i, i-1, 1e-3*float64(i))
	}
	return a
}

// gonumEigenvalues returns the eigenvalues by gonum's QR iteration.
func gonumEigenvalues(m *mat.SymDense) []float64 {
	n := m.SymmetricDim()
	w := make([]float64, n)
	if !(gonumlapack.Implementation{}).Dsyev(lapack.EVNone, blas.Lower, n, of[float64](m), n, w,
		make([]float64, 64*n), 64*n) {
		panic("no convergence")
	}
	return w
}

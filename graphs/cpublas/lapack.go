package cpublas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"

	"privkern/graphs/spectral"
)

// spectralLAPACK is gonum's LAPACK with the symmetric eigen-decomposition of package spectral, whose
// products are those registered with blas64. gonum's own is an unblocked QR iteration.
type spectralLAPACK struct{ gonum.Implementation }

var _ lapack.Float64 = spectralLAPACK{}

// Dsyev computes all eigenvalues in ascending order, and with EVCompute the
// eigenvectors as columns, of a symmetric matrix. It reports failure for one that is not finite.
func (l spectralLAPACK) Dsyev(job lapack.EVJob, uplo blas.Uplo, n int, a []float64, lda int, w, work []float64,
	lwork int) bool {
	if lwork == -1 || !syevFits(job, uplo, n, len(a), lda, len(w)) {
		return l.Implementation.Dsyev(job, uplo, n, a, lda, w, work, lwork)
	}
	if uplo == blas.Upper {
		for i := range n {
			for j := range i {
				a[i*lda+j] = a[j*lda+i]
			}
		}
	}
	if job == lapack.EVNone {
		return spectral.Eigenvalues(n, a, lda, w) == nil
	}
	return spectral.Eigen(n, a, lda, w) == nil
}

// syevFits reports whether arguments of Dsyev are valid and no size is zero.
func syevFits(job lapack.EVJob, uplo blas.Uplo, n, la, lda, lw int) bool {
	return validUplo(uplo) && (job == lapack.EVNone || job == lapack.EVCompute) && lw >= n &&
		squareFits(n, la, lda)
}

// libraryLAPACK is gonum's LAPACK with the Cholesky factor and the symmetric
// eigen-decomposition of a loaded library.
type libraryLAPACK struct {
	gonum.Implementation
	lib *library
}

var _ lapack.Float64 = libraryLAPACK{}

// Orders below which gonum is faster than a call of the library.
const (
	smallPotrf = 24
	smallSyevd = 8
)

// Dpotrf computes the Cholesky factor of a positive definite matrix in place.
func (l libraryLAPACK) Dpotrf(uplo blas.Uplo, n int, a []float64, lda int) bool {
	if n < smallPotrf || !validUplo(uplo) || !squareFits(n, len(a), lda) {
		return l.Implementation.Dpotrf(uplo, n, a, lda)
	}
	return callPotrf(l.lib.float64.potrf, byte(uplo), n, a, lda) == 0
}

// Dsyev computes all eigenvalues in ascending order, and with EVCompute the
// eigenvectors as columns, of a symmetric matrix. It is the library's divide and
// conquer, with a workspace of its own.
func (l libraryLAPACK) Dsyev(job lapack.EVJob, uplo blas.Uplo, n int, a []float64, lda int, w, work []float64,
	lwork int) bool {
	if lwork == -1 || n < smallSyevd || !syevFits(job, uplo, n, len(a), lda, len(w)) {
		return l.Implementation.Dsyev(job, uplo, n, a, lda, w, work, lwork)
	}
	if callSyevd(l.lib.float64.syevd, byte(job), byte(uplo), n, a, lda, w) != 0 {
		return false
	}
	if job == lapack.EVCompute {
		// Columns of the library are rows here.
		for r := range n {
			for c := r + 1; c < n; c++ {
				a[r*lda+c], a[c*lda+r] = a[c*lda+r], a[r*lda+c]
			}
		}
	}
	return true
}

package hull

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// rankTolerance is the share of the largest variance below which a principal
// direction counts as absent: its scores are rounding.
// A scaled coordinate 1/√θ of such a direction would blow that rounding up to the size
// of the others.
const rankTolerance = 1e-12

// residualTolerance is how far the residual ‖Sv − θv‖ of every pair may be from zero, as a
// share of the smallest variance in use.
//
// The pairs are then those of a covariance that differs by about as much. Coordinates are
// scaled by 1/√θ, so that a change of the covariance enters the squared distances between
// encodings by its share of the smallest θ: they change by about 1e-9, however close the
// eigenvalues in use are to one another. Direction k alone also turns towards direction
// k+1 where their variances are close, as it does with any change of the samples. No
// direction near rankTolerance comes so close to zero, whose rounding is a share of the
// largest variance: the full decomposition decides on the rank there.
const residualTolerance = 1e-9

// findPrincipal finds the at most dim directions with the largest variances:
// eigenvectors of the covariance, or, with more columns than samples, of the Gram
// matrix. Where all samples are equal there are none. The component of a direction that is
// the largest in size is positive.
//
// With the centred samples Yc (N×p), YcᵀYc and YcYcᵀ have the same eigenvalues other
// than zero, and v = Ycᵀu/‖Ycᵀu‖ is the direction of an eigenvector u of the second. The
// decomposition takes O(min(N,p)³) operations instead of O(p³): for p = 20,000 and a
// thousand samples this is what the time depends on. Both give variances to rounding of
// the largest one, so that standard deviations below 1e-8 of the largest one are noise;
// rankTolerance drops such directions, where a singular value decomposition of Yc would
// resolve them.
func (f *fit) findPrincipal(ctx context.Context, centred *mat.Dense, dim int) error {
	rank := min(dim, f.n-1, f.p)
	if rank == 0 {
		return nil
	}
	values, vectors, err := f.eigenpairs(ctx, centred, rank)
	if err != nil {
		return err
	}
	for rank > 0 && !(values[rank-1] > rankTolerance*values[0]) {
		rank--
	}
	if rank == 0 {
		return nil
	}
	f.variances = values[:rank]
	vectors = vectors.Slice(0, rank, 0, min(f.n, f.p)).(*mat.Dense)
	f.directions = mat.NewDense(rank, f.p, nil)
	if f.p <= f.n {
		f.directions.Copy(vectors)
	} else {
		f.directions.Mul(vectors, centred) // v = Ycᵀu / √((N−1)θ)
	}
	for i, v := range f.variances {
		row := f.directions.RawRowView(i)
		scale := 1.0
		if f.p > f.n {
			scale = math.Sqrt(float64(f.n-1) * v)
		}
		scale = math.Copysign(scale, largestComponent(row))
		for j := range row {
			row[j] /= scale
		}
	}
	return nil
}

// largestComponent is the first of the largest in size.
func largestComponent(v []float64) (largest float64) {
	for _, x := range v {
		if math.Abs(x) > math.Abs(largest) {
			largest = x
		}
	}
	return largest
}

// eigenpairs returns the k largest eigenvalues of the covariance of the centred samples, or
// of their Gram matrix, and their eigenvectors as rows. Which way they are computed is
// decided by the samples alone.
func (f *fit) eigenpairs(ctx context.Context, centred *mat.Dense, k int) (values []float64, vectors *mat.Dense,
	err error) {
	out, err := f.e.RunAs(ctx, tensor.Float64, covarianceProgram(f.n, f.p),
		engine.Values{"y": engine.NewMatrix(tensor.Float64, centred)})
	if err != nil {
		return nil, nil, err
	}
	n, covariance := min(f.n, f.p), out["covariance"]
	trace, err := engine.Scalar(out["trace"])
	if err != nil {
		return nil, nil, err
	}
	square, err := engine.Scalar(out["square"])
	if err != nil {
		return nil, nil, err
	}
	for steps := leadingSteps(n, k, trace*trace/square); steps > 0; {
		pairs, err := f.pairs(ctx, leadingProgram(n, k, steps), covariance)
		var failed *op.NoConvergenceError
		if errors.As(err, &failed) {
			break // the squares of a finite covariance may overflow
		}
		if err != nil {
			return nil, nil, err
		}
		values, worst := mat.Col(nil, 0, pairs), mat.Max(pairs.Slice(0, k, 1, 2))
		if worst <= residualTolerance*values[k-1] && values[k-1] > 2*rankTolerance*values[0] {
			return values, pairs.Slice(0, k, 2, n+2).(*mat.Dense), nil
		}
		steps = moreSteps(n, k, steps, worst/values[k-1])
	}
	pairs, err := f.pairs(ctx, principalProgram(n, k), covariance)
	if err != nil {
		return nil, nil, err
	}
	return mat.Col(nil, 0, pairs), pairs.Slice(0, k, 1, n+1).(*mat.Dense), nil
}

// pairs runs a program of eigenpairs.
func (f *fit) pairs(ctx context.Context, p engine.Program, covariance gorgonia.Value) (*mat.Dense, error) {
	out, err := f.e.RunAs(ctx, tensor.Float64, p, engine.Values{"covariance": covariance})
	if err != nil {
		return nil, err
	}
	return engine.Dense(out["eigen"])
}

// leadingSteps is the number of steps in which the k leading eigenpairs of a matrix of
// order n are first looked for; zero stands for the full decomposition.
//
// The more equal the eigenvalues are, the more steps it takes. Their participation ratio
// (Σλ)²/Σλ² says how equal: it is the number of equal eigenvalues that would have it. The
// limits were measured on images of 784 columns with k = 20, under noise of several sizes.
func leadingSteps(n, k int, participation float64) int {
	steps := 0
	switch share := participation / float64(n); {
	case share <= 1./24:
		steps = 10
	case share <= 1./8:
		steps = 13
	}
	return affordable(n, k, steps)
}

// moreSteps is the number of steps after some that left a residual, as a share of the
// smallest eigenvalue; zero stands for the full decomposition. The residual falls by a
// constant factor in a step, at least once it is small: where more steps at the rate so far
// would not do, or would cost too much, none are made.
func moreSteps(n, k, steps int, residual float64) int {
	const more = 3
	rate := 1 + more/float64(steps-1)
	if !(residual > 0 && math.Pow(residual, rate) <= residualTolerance) {
		return 0
	}
	return affordable(n, k, steps+more)
}

// affordable is the number of steps, or zero where the full decomposition costs less: where
// the space of the steps has more than half of the dimensions.
func affordable(n, k, steps int) int {
	if 2*steps*(k+op.LeadingExtra) > n {
		return 0
	}
	return steps
}

package hull

import (
	"context"
	"iter"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
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

// findPrincipal finds the principal directions of the centred samples of one fit.
func (f *fit) findPrincipal(ctx context.Context, centred *mat.Dense, dim int) error {
	y, err := batch.Matrices(tensor.Float64, sizeClass(f.e, f.n), f.p, []*mat.Dense{centred})
	if err != nil {
		return err
	}
	f.centred = centred
	if err := directions(ctx, f.e, []*centredFits{{[]*fit{f}, y}}, rank(f.n, f.p, dim)); err != nil {
		return err
	}
	f.centred = nil
	return f.err
}

// centredFits are fits of a size class n and their centred samples y, m×n×p.
type centredFits struct {
	fits []*fit
	y    gorgonia.Value // nil once the covariances are there
}

// directions finds the at most rank directions with the largest variances of centred samples,
// whose covariances are of one order: eigenvectors of the covariance, or, with more columns
// than n, of the Gram matrix. Where all samples are equal there are none. The component of a
// direction that is the largest in size is positive.
//
// With the centred samples Yc (N×p), YcᵀYc and YcYcᵀ have the same eigenvalues other
// than zero, and v = Ycᵀu/‖Ycᵀu‖ is the direction of an eigenvector u of the second. The
// decomposition takes O(min(N,p)³) operations instead of O(p³): for p = 20,000 and a
// thousand samples this is what the time depends on. Both give variances to rounding of
// the largest one, so that standard deviations below 1e-8 of the largest one are noise;
// rankTolerance drops such directions, where a singular value decomposition of Yc would
// resolve them.
func directions(ctx context.Context, e *engine.Engine, all []*centredFits, rank int) error {
	if rank == 0 {
		return nil
	}
	n := all[0].y.Shape()[1] // that of others is on the same side of p
	pairs, err := eigenpairs(ctx, e, all, rank)
	if err != nil {
		return err
	}
	fits := fitsOf(all)
	return e.ParallelFor(ctx, len(fits), 1, func(i, _ int) error {
		if fits[i].err == nil {
			fits[i].direct(pairs[i], n)
		}
		return nil
	})
}

// fitsOf are all fits, in their order.
func fitsOf(all []*centredFits) (fits []*fit) {
	for _, some := range all {
		fits = append(fits, some.fits...)
	}
	return fits
}

// direct sets up the directions of eigenpairs, which are those of a Gram matrix where p > n.
func (f *fit) direct(pairs eigen, n int) {
	rank := len(pairs.values)
	for rank > 0 && !(pairs.values[rank-1] > rankTolerance*pairs.values[0]) {
		rank--
	}
	if rank == 0 {
		return
	}
	_, cols := pairs.vectors.Dims()
	vectors := pairs.vectors.Slice(0, rank, 0, min(f.n, cols)).(*mat.Dense)
	f.directions = mat.NewDense(rank, f.p, nil)
	if f.p <= n {
		f.directions.Copy(pairs.vectors)
	} else {
		f.directions.Mul(vectors, f.centred) // v = Ycᵀu / √λ
	}
	for i, v := range pairs.values[:rank] {
		f.variances = append(f.variances, v/float64(f.n-1))
		row := f.directions.RawRowView(i)
		scale := 1.0
		if f.p > n {
			scale = math.Sqrt(v)
		}
		scale = math.Copysign(scale, largestComponent(row))
		for j := range row {
			row[j] /= scale
		}
	}
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

// eigen are eigenvalues of a covariance, in descending order and times one less than the
// number of samples, and their eigenvectors as rows.
type eigen struct {
	values  []float64
	vectors *mat.Dense
}

// eigenpairs returns the k largest eigenvalues of the covariances of centred samples, or of
// their Gram matrices, and their eigenvectors. Which way those of a member are computed is
// decided by its samples alone: members that take the same way share its runs.
func eigenpairs(ctx context.Context, e *engine.Engine, all []*centredFits, k int) ([]eigen, error) {
	covariance, steps, err := covariances(ctx, e, all, k)
	if err != nil {
		return nil, err
	}
	defer covariance.Close()
	fits, order := fitsOf(all), covariance.Shape()[1]
	found := make([]eigen, len(fits))
	for way, now := range ways(steps) {
		pairs, failed, err := pairsOf(ctx, e, covariance, now, k, way)
		if err != nil {
			return nil, err
		}
		for i, member := range now {
			switch {
			case failed[i] != nil && way == 0:
				fits[member].err = failed[i]
				steps[member] = settled
			case failed[i] != nil:
				steps[member] = 0 // the squares of a finite covariance may overflow
			case way == 0:
				found[member] = eigen{mat.Col(nil, 0, pairs[i]), pairs[i].Slice(0, k, 1, order+1).(*mat.Dense)}
				steps[member] = settled
			default:
				found[member], steps[member] = leadingPairs(pairs[i], order, k, way)
			}
		}
	}
	return found, nil
}

// covariances are those of all members, m×n×n, with the steps that they suggest, see
// firstSteps. What a run of each size class computes is put together on the backend.
func covariances(ctx context.Context, e *engine.Engine, all []*centredFits, k int,
) (covariance *engine.Resident, steps []int, err error) {
	parts, shapes := engine.Values{}, make([]tensor.Shape, len(all))
	defer func() { parts.Close() }()
	for i, some := range all {
		m, n, p := some.y.Shape()[0], some.y.Shape()[1], some.y.Shape()[2]
		out, err := e.RunAs(ctx, tensor.Float64, covarianceProgram(m, n, p), engine.Values{"y": some.y},
			engine.Stay("covariance"))
		if err != nil {
			return nil, nil, err
		}
		some.y = nil
		parts[part(i)] = out["covariance"]
		more, err := firstSteps(out, min(n, p), k)
		if err != nil {
			return nil, nil, err
		}
		steps, shapes[i] = append(steps, more...), out["covariance"].Shape()
	}
	if len(all) == 1 {
		covariance = parts[part(0)].(*engine.Resident)
		delete(parts, part(0))
		return covariance, steps, nil
	}
	out, err := e.RunAs(ctx, tensor.Float64, joinProgram(shapes), parts, engine.Stay("all"))
	if err != nil {
		return nil, nil, err
	}
	return out["all"].(*engine.Resident), steps, nil
}

// leadingPairs are the leading eigenpairs of some steps where they are resolved, or else the
// number of steps to be made instead.
func leadingPairs(pairs *mat.Dense, n, k, steps int) (eigen, int) {
	values, worst := mat.Col(nil, 0, pairs), mat.Max(pairs.Slice(0, k, 1, 2))
	if worst <= residualTolerance*values[k-1] && values[k-1] > 2*rankTolerance*values[0] {
		return eigen{values, pairs.Slice(0, k, 2, n+2).(*mat.Dense)}, settled
	}
	return eigen{}, moreSteps(n, k, steps, worst/values[k-1])
}

// settled stands for no steps, and no full decomposition either.
const settled = -1

// ways are the members that take equal numbers of steps, the fewest first and the full
// decomposition last, until all are settled.
func ways(steps []int) iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		for {
			way, now := settled, []int(nil)
			for i, s := range steps {
				switch {
				case s == settled || s == 0 && way > 0 || way > 0 && s > way:
				case s == way:
					now = append(now, i)
				default:
					way, now = s, []int{i}
				}
			}
			if way == settled || !yield(way, now) {
				return
			}
		}
	}
}

// firstSteps are the numbers of steps that the outputs of a covarianceProgram suggest.
func firstSteps(out engine.Values, n, k int) ([]int, error) {
	traces, err := engine.Floats(out["trace"])
	if err != nil {
		return nil, err
	}
	squares, err := engine.Floats(out["squares"])
	if err != nil {
		return nil, err
	}
	steps := make([]int, len(traces))
	for i, trace := range traces {
		square := 0.0
		for _, s := range squares[i*n : (i+1)*n] {
			square += s
		}
		steps[i] = leadingSteps(n, k, trace*trace/square)
	}
	return steps, nil
}

// pairsOf runs the program of eigenpairs for some members, for a number of steps or, with
// zero, in full. Members that it fails for have an error.
func pairsOf(ctx context.Context, e *engine.Engine, covariance *engine.Resident, members []int, k, steps int,
) (pairs []*mat.Dense, failed []error, err error) {
	order := covariance.Shape()[1]
	program, cols := leadingProgram(len(members), order, k, steps), order+2
	if steps == 0 {
		program, cols = principalProgram(len(members), order, k), order+1
	}
	in, err := pick(ctx, e, tensor.Float64, residents{"covariance": covariance}, members)
	if err != nil {
		return nil, nil, err
	}
	defer in.close()
	out, err := e.RunAs(ctx, tensor.Float64, program, in.values())
	failed, err = failures(program, err, len(members))
	if err != nil {
		return nil, nil, err
	}
	all, err := engine.Floats(out["eigen"])
	if err != nil {
		return nil, nil, err
	}
	for i := range members {
		pairs = append(pairs, mat.NewDense(k, cols, all[i*k*cols:(i+1)*k*cols]))
	}
	return pairs, failed, nil
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

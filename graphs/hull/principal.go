package hull

import (
	"context"
	"fmt"
	"iter"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// rankTolerance is the share of the largest variance below which a principal direction is dropped,
// because its scores are rounding errors, which the scale 1/√θ would enlarge to the size of the other
// coordinates.
const rankTolerance = 1e-12

// residualTolerance bounds the residual ‖Sv − θv‖ of every eigenpair, as a share of the smallest
// variance in use.
//
// Such pairs are exact for a covariance that differs by about as much. Coordinates are scaled by
// 1/√θ, so that a change of the covariance changes squared distances between encodings by its
// share of the smallest θ, about 1e-9, also where eigenvalues in use are close to one another.
// Direction k also turns towards direction k+1 where their variances are close, as it does with
// any change of the samples. Directions near rankTolerance do not reach this tolerance, because
// rounding is a share of the largest variance; there the full decomposition decides on the rank.
const residualTolerance = 1e-9

// centredFits is a batch of fits of a size class n with their centred samples y, m×n×p.
type centredFits struct {
	fits []*fit
	y    gorgonia.Value // nil once the covariances have been computed
}

// directions finds at most rank directions of largest variance for each set of centred samples. The
// covariances of all sets have one order. Equal samples have no direction. The component of a
// direction with the largest absolute value is positive.
//
// Directions are eigenvectors of the covariance or, for p > n, of the Gram matrix: with the
// centred samples Yc (N×p), YcᵀYc and YcYcᵀ have the same nonzero eigenvalues, and
// v = Ycᵀu/‖Ycᵀu‖ is the direction for an eigenvector u of the second. The decomposition takes
// O(min(N,p)³) operations, which for p = 20,000 and a thousand samples dominate the time. The
// error of a variance is rounding of the largest one, so that standard deviations below 1e-8 of
// the largest are noise; rankTolerance drops such directions, which a singular value
// decomposition of Yc would resolve.
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

// fitsOf returns all fits, in order.
func fitsOf(all []*centredFits) (fits []*fit) {
	for _, some := range all {
		fits = append(fits, some.fits...)
	}
	return fits
}

// direct sets directions and variances from eigenpairs, those of the Gram matrix if p > n.
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

// largestComponent returns the first component of largest absolute value.
func largestComponent(v []float64) (largest float64) {
	for _, x := range v {
		if math.Abs(x) > math.Abs(largest) {
			largest = x
		}
	}
	return largest
}

// eigen holds eigenvalues of (N−1) times a covariance, in descending order, and eigenvectors as rows.
type eigen struct {
	values  []float64
	vectors *mat.Dense
}

// eigenpairs returns the k largest eigenvalues, with eigenvectors, of each covariance or Gram matrix.
// The number of steps that a member takes, or its full decomposition, depends on its samples alone;
// members with the same number share runs.
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

// covariances returns the covariances or Gram matrices of all members, m×n×n, and the steps to begin
// with. The results of the batches are concatenated on the backend.
func covariances(ctx context.Context, e *engine.Engine, all []*centredFits, k int,
) (covariance *engine.Resident, steps []int, err error) {
	parts, shapes, sums := engine.Values{}, make([]tensor.Shape, len(all)), engine.Values{}
	defer func() { parts.Close() }()
	defer func() { sums.Close() }()
	for i, some := range all {
		m, n, p := some.y.Shape()[0], some.y.Shape()[1], some.y.Shape()[2]
		out, err := e.RunAs(ctx, tensor.Float64, covarianceProgram(m, n, p), engine.Values{"y": some.y},
			engine.Stay("covariance", "trace", "squares"))
		if err != nil {
			return nil, nil, err
		}
		some.y = nil
		parts[part(i)], shapes[i] = out["covariance"], out["covariance"].Shape()
		sums[fmt.Sprint("trace ", i)], sums[fmt.Sprint("squares ", i)] = out["trace"], out["squares"]
	}
	host, err := engine.Host(ctx, sums) // with one wait for all batches
	if err != nil {
		return nil, nil, err
	}
	for i := range all {
		more, err := firstSteps(host[fmt.Sprint("trace ", i)], host[fmt.Sprint("squares ", i)], shapes[i][1], k)
		if err != nil {
			return nil, nil, err
		}
		steps = append(steps, more...)
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

// leadingPairs returns the eigenpairs after a number of steps and settled, or, where they are not
// resolved, the number of steps to make instead.
func leadingPairs(pairs *mat.Dense, n, k, steps int) (eigen, int) {
	values, worst := mat.Col(nil, 0, pairs), mat.Max(pairs.Slice(0, k, 1, 2))
	if worst <= residualTolerance*values[k-1] && values[k-1] > 2*rankTolerance*values[0] {
		return eigen{values, pairs.Slice(0, k, 2, n+2).(*mat.Dense)}, settled
	}
	return eigen{}, moreSteps(n, k, steps, worst/values[k-1])
}

// settled stands for no steps, and no full decomposition either.
const settled = -1

// ways iterates over the members with equal numbers of steps, the fewest first and the full
// decomposition (0) last, until all are settled.
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

// firstSteps returns the steps to begin with for each member, from the outputs of covarianceProgram.
func firstSteps(trace, square gorgonia.Value, n, k int) ([]int, error) {
	traces, err := engine.Floats(trace)
	if err != nil {
		return nil, err
	}
	squares, err := engine.Floats(square)
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

// pairsOf computes eigenpairs of some members in a number of steps, or by the full decomposition if
// steps is zero. failed holds the errors of members.
func pairsOf(ctx context.Context, e *engine.Engine, covariance *engine.Resident, members []int, k, steps int,
) (pairs []*mat.Dense, failed []error, err error) {
	order := covariance.Shape()[1]
	program, cols := leadingProgram(len(members), order, k, steps), order+2
	if steps == 0 {
		program, cols = principalProgram(len(members), order, k), order+1
	}
	in, err := pick(ctx, e, tensor.Float64, engine.Values{"covariance": covariance}, members)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	out, err := e.RunAs(ctx, tensor.Float64, program, in)
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

// leadingSteps returns the number of steps to begin with for the k leading eigenpairs of a matrix of
// order n; zero stands for the full decomposition.
//
// Steps increase with the participation ratio (Σλ)²/Σλ², which is the number of nonzero
// eigenvalues where these are equal. The limits were measured on images of 784 columns with
// k = 20, under noise of several sizes.
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

// moreSteps returns the number of steps after steps that left a residual, as a share of the smallest
// eigenvalue; zero stands for the full decomposition. A small residual falls by a constant factor per
// step, so that the rate so far predicts whether three more steps suffice.
func moreSteps(n, k, steps int, residual float64) int {
	const more = 3
	rate := 1 + more/float64(steps-1)
	if !(residual > 0 && math.Pow(residual, rate) <= residualTolerance) {
		return 0
	}
	return affordable(n, k, steps+more)
}

// affordable returns steps, or zero where the full decomposition costs less: where the space of the
// steps has more than half of the n dimensions.
func affordable(n, k, steps int) int {
	if 2*steps*(k+op.LeadingExtra) > n {
		return 0
	}
	return steps
}

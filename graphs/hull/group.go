package hull

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/cpublas"
	"privkern/graphs/engine"
)

// group is machines that are computed in common runs: their samples are of one size class n
// and have equal numbers of columns and of principal directions.
type group struct {
	e         *engine.Engine
	opts      Options
	fail      func(i int, err error) error
	stage     string // what the words of an error begin with
	n, p, dim int
	fits      []*fit
	counts    *tensor.Dense // of the samples of each member, m
	targets   *targets      // Y
	sketch    *targets      // a few random combinations of the columns of Y; nil unless p is large
	gram      residents     // "gram", YYᵀ, m×n×n; nil unless p is much larger than n
}

// gramFactor: with more columns than this many times the number of samples, the
// residual of the fixed point is computed from YYᵀ, in O(N³) instead of O(N²p)
// operations.
// The factor is where the two cost the same: a solve with p right sides takes 2N²p
// operations, [op.RidgeGramNorm] about 4N³.
const gramFactor = 2

// A batch takes memory for a few copies of its samples and for its kernel matrices.
const (
	// minBatchBytes is what batches may take together where the samples of the call take
	// less. The samples set the limit otherwise: what is computed is then at most another
	// copy of them.
	minBatchBytes = 64 << 20
	// deviceBatchBytes is what a batch may take on a device, where the batches follow one
	// another.
	deviceBatchBytes = 2 << 30
)

// inGroups computes the machines of samples in groups: on the CPU several at a time, on a
// device one after the other. Machines that cannot be computed go to fail.
func inGroups(ctx context.Context, e *engine.Engine, samples []*mat.Dense, opts Options,
	fail func(i int, err error) error, use func(context.Context, *group) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wrong := make([]error, len(samples))
	err := e.ParallelFor(ctx, len(samples), 1, func(i, _ int) error {
		wrong[i] = check(samples[i], opts)
		return nil
	})
	if err != nil {
		return err
	}
	for i, err := range wrong {
		if err != nil {
			if err := fail(i, fmt.Errorf("kernel affine hull machine: %w", err)); err != nil {
				return err
			}
		}
	}
	batches := divide(e, samples, wrong, opts.Dim)
	compute := func(i, to int) error { return inBatches(ctx, e, samples, batches[i:to], opts, fail, use) }
	if e.Backend() == "cpu" {
		return e.ParallelFor(ctx, len(batches), 1, compute)
	}
	for i := 0; i < len(batches); {
		to, members := i+1, len(batches[i])
		for to < len(batches) && together(e, samples, batches[i][0], batches[to][0], opts.Dim) {
			_, p := samples[batches[i][0]].Dims()
			if members += len(batches[to]); 2*8*p*p*members > deviceBatchBytes {
				break
			}
			to++
		}
		if err := compute(i, to); err != nil {
			return err
		}
		i = to
	}
	return nil
}

// together says whether the principal directions of two batches are found in common runs of a
// device: their covariances are of one order, and as many directions are looked for.
func together(e *engine.Engine, samples []*mat.Dense, one, other int, dim int) bool {
	n, p := samples[one].Dims()
	m, q := samples[other].Dims()
	return p == q && p <= min(sizeClass(e, n), sizeClass(e, m)) && rank(n, p, dim) == rank(m, q, dim)
}

// deviceClass is of what the size classes of a device are multiples, from half of it on.
const deviceClass = 512

// sizeClass is the number of samples to which a machine's are padded. A device, which takes
// as long to begin a run of a few machines as to compute them, has fewer classes than the CPU:
// the machines of a thousand samples, more or less, are of two.
func sizeClass(e *engine.Engine, n int) int {
	if e.Backend() == "cpu" || n <= deviceClass/2 {
		return batch.SizeClass(n)
	}
	return (n + deviceClass - 1) / deviceClass * deviceClass
}

// divide returns the numbers of the samples in batches of a size class, of equal numbers of
// columns and of directions to look for. Batches are as large as memory allows, but never
// empty. Samples that are wrong are in none.
func divide(e *engine.Engine, samples []*mat.Dense, wrong []error, dim int) (batches [][]int) {
	type kind struct{ n, p, rank int }
	total, size := 0, 8
	for i, y := range samples {
		if wrong[i] == nil {
			n, p := y.Dims()
			total += 8 * n * p
		}
	}
	if e.ElementType() == tensor.Float32 {
		size = 4
	}
	limit := deviceBatchBytes
	if e.Backend() == "cpu" {
		limit = max(minBatchBytes, total) / e.Workers()
	}
	open := map[kind]int{} // the batch that takes the next ones
	for i, y := range samples {
		if wrong[i] != nil {
			continue
		}
		n, p := y.Dims()
		k := kind{sizeClass(e, n), p, rank(n, p, dim)}
		side := min(k.n, p)
		// Centred samples and covariance; K, targets and solutions, and those that are left.
		each := 8*(k.n*p+side*side) + size*(2*k.n*k.n+4*k.n*(p+1))
		at, ok := open[k]
		if !ok || (len(batches[at])+1)*each > limit {
			at = len(batches)
			open[k], batches = at, append(batches, nil)
		}
		batches[at] = append(batches[at], i)
	}
	return batches
}

// inBatches computes the machines of batches of samples, whose principal directions are found
// in common. Those of a batch whose covariance is singular have fewer directions, and make
// groups of their own.
func inBatches(ctx context.Context, e *engine.Engine, samples []*mat.Dense, batches [][]int, opts Options,
	fail func(i int, err error) error, use func(context.Context, *group) error) error {
	fits := make([][]*fit, len(batches))
	for i, numbers := range batches {
		for _, number := range numbers {
			fits[i] = append(fits[i], newFit(e, samples[number], number))
		}
	}
	if err := principal(ctx, e, fits, opts.Dim); err != nil {
		return fmt.Errorf("kernel affine hull machine: %w", err)
	}
	for i, some := range fits {
		fits[i] = nil // what they have of samples goes with them
		if err := inGroupsOf(ctx, e, some, opts, fail, use); err != nil {
			return err
		}
	}
	return nil
}

// inGroupsOf computes the machines of the fits of a batch.
func inGroupsOf(ctx context.Context, e *engine.Engine, fits []*fit, opts Options,
	fail func(i int, err error) error, use func(context.Context, *group) error) error {
	n, p := sizeClass(e, fits[0].n), fits[0].p
	var groups []*group
	byDim := map[int]*group{}
	for _, f := range fits {
		if f.err != nil {
			if err := fail(f.index, fmt.Errorf("kernel affine hull machine: %w", f.err)); err != nil {
				return err
			}
			continue
		}
		g := byDim[f.dim]
		if g == nil {
			g = &group{e: e, opts: opts, fail: fail, n: n, p: p, dim: f.dim}
			groups, byDim[f.dim] = append(groups, g), g
		}
		g.fits = append(g.fits, f)
	}
	for _, g := range groups {
		if err := g.compute(ctx, use); err != nil {
			return err
		}
	}
	return nil
}

// compute makes what all layers share, lets them be used, and frees it.
func (g *group) compute(ctx context.Context, use func(context.Context, *group) error) (err error) {
	defer func() {
		g.targets.close()
		g.sketch.close()
		g.gram.close()
	}()
	if err := g.prepare(ctx); err != nil {
		return fmt.Errorf("kernel affine hull machine: %w", err)
	}
	if err := use(ctx, g); err != nil {
		return err
	}
	for _, f := range g.fits {
		if f.err != nil {
			if err := g.fail(f.index, f.err); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepare makes the right-hand sides, the sketch and the Gram matrices.
func (g *group) prepare(ctx context.Context) (err error) {
	counts, centred, means := make([]int, len(g.fits)), make([]*mat.Dense, len(g.fits)), make([][]float64, len(g.fits))
	samples := make([]*mat.Dense, len(g.fits))
	for i, f := range g.fits {
		counts[i], samples[i], centred[i], means[i] = f.n, f.samples, f.centred, f.mean
	}
	if g.counts, err = batch.Scalars(g.e.ElementType(), counts); err != nil {
		return err
	}
	if g.targets, err = g.newTargets(ctx, centred, means); err != nil {
		return err
	}
	if g.p >= sketchFrom && g.opts.Iteration == Secant {
		if g.sketch, err = g.sketched(ctx, centred); err != nil {
			return err
		}
	}
	for _, f := range g.fits {
		f.centred = nil
	}
	if g.p <= gramFactor*g.n {
		return nil
	}
	y, err := batch.Matrices(g.e.ElementType(), g.n, g.p, samples)
	if err != nil {
		return err
	}
	out, err := g.e.Run(ctx, gramProgram(len(g.fits), g.n, g.p), engine.Values{"y": y}, engine.Stay("gram"))
	if err != nil {
		return err
	}
	g.gram = residents{"gram": out["gram"].(*engine.Resident)}
	return nil
}

// each calls f for the members that have not failed, several at a time.
func (g *group) each(ctx context.Context, f func(i int, fit *fit)) error {
	return g.e.ParallelFor(ctx, len(g.fits), 1, func(i, _ int) error {
		if g.fits[i].err == nil {
			f(i, g.fits[i])
		}
		return nil
	})
}

// failed keeps why there is no machine of a member.
func (g *group) failed(i int, err error) {
	g.fits[i].err = fmt.Errorf("kernel affine hull machine: %s%w", g.stage, err)
}

// targets are right-hand sides of the regularised least squares problems of a group.
type targets struct {
	columns int
	host    *tensor.Dense // T = [Y−μ, 1], m×n×(columns+1), padded by zeros
	values  residents     // T as "targets", and μ, m×1×columns, as "mean"
}

// close frees what stays.
func (t *targets) close() {
	if t != nil {
		t.values.close()
	}
}

// newTargets returns the targets of centred samples and their means.
func (g *group) newTargets(ctx context.Context, centred []*mat.Dense, means [][]float64) (*targets, error) {
	if g.e.ElementType() == tensor.Float32 {
		return newTargets[float32](ctx, g, centred, means)
	}
	return newTargets[float64](ctx, g, centred, means)
}

func newTargets[T cpublas.Float](ctx context.Context, g *group, centred []*mat.Dense,
	means [][]float64) (*targets, error) {
	m, cols := len(centred), len(means[0])
	data, mean := make([]T, m*g.n*(cols+1)), make([]T, m*cols)
	err := g.e.ParallelFor(ctx, m, 1, func(i, _ int) error {
		for r := range g.fits[i].n {
			row := data[(i*g.n+r)*(cols+1):]
			for j, v := range centred[i].RawRowView(r) {
				row[j] = T(v)
			}
			row[cols] = 1
		}
		for j, v := range means[i] {
			mean[i*cols+j] = T(v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t := &targets{columns: cols, host: engine.TensorOf(data, m, g.n, cols+1)}
	t.values, err = keep(g.e, engine.Values{"targets": t.host, "mean": engine.TensorOf(mean, m, 1, cols)})
	return t, err
}

const (
	// sketchColumns is the number of columns of a sketch. The norm that it estimates is off by
	// √(2/63), a sixth of itself, where all columns of Y are alike, and by much less where
	// they are not. Of λ that is a small part, as is the fixed point: it is a start.
	sketchColumns = 63
	// sketchFrom is the number of columns from which a sketch costs a third of the solution
	// or less.
	sketchFrom = 4 * (sketchColumns + 1)
	// sketchTolerance is the change of λ, as a part of it, after which the last step with a
	// sketch is off by no more than the sketch itself.
	sketchTolerance = 2e-2
)

// sketched returns the targets of YΩ for a p×sketchColumns matrix Ω of random signs, divided
// by the root of their number, so that ‖(K+λI)⁻¹YΩ‖² has the expectation ‖(K+λI)⁻¹Y‖². The
// signs are the same for every machine of p columns.
//
// Source: Hutchinson, "A stochastic estimator of the trace of the influence matrix"
// (1990).
func (g *group) sketched(ctx context.Context, centred []*mat.Dense) (*targets, error) {
	signs := rand.New(rand.NewPCG(uint64(g.p), sketchColumns))
	omega := mat.NewDense(g.p, sketchColumns, nil)
	scale := 1 / math.Sqrt(sketchColumns)
	for i := range omega.RawMatrix().Data {
		omega.RawMatrix().Data[i] = scale * float64(2*signs.IntN(2)-1)
	}
	samples, means := make([]*mat.Dense, len(centred)), make([][]float64, len(centred))
	err := g.each(ctx, func(i int, f *fit) {
		samples[i] = new(mat.Dense)
		samples[i].Mul(centred[i], omega)
		var mean mat.Dense
		mean.Mul(mat.NewDense(1, f.p, f.mean), omega)
		means[i] = mean.RawRowView(0)
	})
	if err != nil {
		return nil, err
	}
	return g.newTargets(ctx, samples, means)
}

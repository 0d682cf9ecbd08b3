package hull

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/cpublas"
	"privkern/graphs/engine"
)

// call is one call of [FitAll] or [ModelAll].
//
// Its samples are divided into batches of one size class, number of columns and number of
// directions to look for; a job is one batch or, on a device, several whose eigenproblems share
// runs. Within a batch, the machines of equal rank form a [group].
type call struct {
	ctx     context.Context
	e       *engine.Engine
	opts    Options
	samples []*mat.Dense
	// model keeps samples and kernel matrices until add returns; otherwise the entries of
	// samples become nil once they have been read.
	model bool
	jobs  [][][]*fit
	// add turns solved layers, in their order, into parts of the results of a group.
	add func(g *group, layers []*solved) error
	// done receives each fit at its end, with its result or its error.
	done func(f *fit) error
}

// group is a set of machines that are computed in common runs: their samples are of one size
// class n, with p columns and dim principal directions.
type group struct {
	*call
	n, p, dim int
	layer     int // the current one, from 0
	fits      []*fit
	counts    *tensor.Dense // samples of each member, m
	targets   *targets      // of Y
	sketch    *targets      // of YΩ, see sketched; nil unless p is large
	gram      engine.Values // "gram", YYᵀ, m×n×n; nil unless p is much larger than n
	layers    []*solved     // that are not part of the results yet
}

// gramFactor is the ratio p/n beyond which the residual of the fixed point is computed from YYᵀ,
// in O(n³) instead of O(n²p) operations. At this ratio the costs are equal: a solve with p
// right-hand sides takes 2n²p operations, [op.RidgeGramNorm] about 4n³.
const gramFactor = 2

// Bounds on the memory of a batch: a few copies of its samples, and its kernel matrices.
const (
	// minBatchBytes bounds the batches of a call together where its samples take less.
	// Otherwise the samples are the bound: a computation then takes at most another copy.
	minBatchBytes = 64 << 20
	// deviceBatchBytes bounds a batch on a device, where batches follow one another.
	deviceBatchBytes = 2 << 30
	// abreastBytes bounds the batches that take their steps at the same time on a device.
	abreastBytes = 3 << 30
)

// divide checks the samples, hands those that are refused to done, and puts the others into
// batches and jobs. A batch is as large as memory allows, but not empty.
func (c *call) divide() error {
	fits := make([]*fit, len(c.samples))
	err := c.e.ParallelFor(c.ctx, len(fits), 1, func(i, _ int) error {
		fits[i] = &fit{e: c.e, index: i, samples: c.samples[i], err: check(c.samples[i], c.opts)}
		if fits[i].err == nil {
			fits[i].n, fits[i].p = c.samples[i].Dims()
		}
		return nil
	})
	if err != nil {
		return err
	}
	total := 0
	for _, f := range fits {
		if f.err != nil {
			if err := c.finish(f); err != nil {
				return err
			}
		}
		total += 8 * f.n * f.p
	}
	limit := deviceBatchBytes
	if c.e.Backend() == "cpu" {
		limit = max(minBatchBytes, total) / c.e.Workers()
	}
	for _, fits := range batchesOf(c.e, fits, c.opts.Dim, limit) {
		if last := len(c.jobs) - 1; last >= 0 && together(c.e, c.jobs[last], fits, c.opts.Dim) {
			c.jobs[last] = append(c.jobs[last], fits)
		} else {
			c.jobs = append(c.jobs, [][]*fit{fits})
		}
	}
	return nil
}

// batchesOf divides the fits without an error into batches of at most limit bytes.
func batchesOf(e *engine.Engine, fits []*fit, dim, limit int) (batches [][]*fit) {
	type shape struct{ n, p, rank int }
	open := map[shape]int{} // the batch that takes the next fit of a shape
	for _, f := range fits {
		if f.err != nil {
			continue
		}
		s := shape{sizeClass(e, f.n), f.p, rank(f.n, f.p, dim)}
		at, ok := open[s]
		if !ok || (len(batches[at])+1)*memberBytes(e, s.n, f.p) > limit {
			at = len(batches)
			open[s], batches = at, append(batches, nil)
		}
		batches[at] = append(batches[at], f)
	}
	return batches
}

// memberBytes returns the memory of a machine of a size class n with p columns: centred samples and covariance; K,
// targets and solutions, before and after a step.
func memberBytes(e *engine.Engine, n, p int) int {
	side, size := min(n, p), int(e.ElementType().Size())
	return 8*(n*p+side*side) + size*(2*n*n+4*n*(p+1))
}

// together reports whether the principal directions of a further batch are found in the runs of
// a job: on a device only, for covariances of one order p, equal numbers of directions, and
// covariances that fit into a batch's memory.
func together(e *engine.Engine, job [][]*fit, fits []*fit, dim int) bool {
	one, other, members := job[0][0], fits[0], len(fits)
	for _, some := range job {
		members += len(some)
	}
	return e.Backend() != "cpu" && one.p == other.p && one.p <= min(sizeClass(e, one.n), sizeClass(e, other.n)) &&
		rank(one.n, one.p, dim) == rank(other.n, other.p, dim) && 2*8*one.p*one.p*members <= deviceBatchBytes
}

// deviceClass is the step between the size classes of a device above half of it.
const deviceClass = 512

// sizeClass returns the number of samples to which those of a machine are padded. A device has
// fewer classes than the CPU, because starting a run of a few machines takes as long as
// computing them: machines of about a thousand samples fall into two classes.
func sizeClass(e *engine.Engine, n int) int {
	if e.Backend() == "cpu" || n <= deviceClass/2 {
		return batch.SizeClass(n)
	}
	return (n + deviceClass - 1) / deviceClass * deviceClass
}

// all computes the jobs: on the CPU several at a time, on a device in turn.
func (c *call) all() error {
	if err := c.divide(); err != nil {
		return err
	}
	if c.e.Backend() == "cpu" {
		return c.e.ParallelFor(c.ctx, len(c.jobs), 1, c.run)
	}
	for i := range c.jobs {
		if err := c.run(i, i+1); err != nil {
			return err
		}
	}
	return nil
}

// run computes the machines of job i: principal directions in common, then some groups at a time.
func (c *call) run(i, _ int) error {
	job := c.jobs[i]
	c.jobs[i] = nil
	if err := principal(c.ctx, c.e, job, c.opts.Dim); err != nil {
		return fmt.Errorf("kernel affine hull machine: %w", err)
	}
	fits := slices.Concat(job...)
	err := c.e.ParallelFor(c.ctx, len(fits), 1, func(i, _ int) error {
		if fits[i].err == nil {
			fits[i].encode(c.opts.Dim)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var all []*group
	for b, fits := range job {
		job[b] = nil // the memory of its samples goes with them
		groups, err := c.groups(fits)
		if err != nil {
			return err
		}
		all = append(all, groups...)
	}
	for len(all) > 0 {
		some := all[:c.abreast(all)]
		if err := c.solve(some); err != nil {
			return err
		}
		for i, g := range some {
			some[i] = nil
			for _, f := range g.fits {
				if err := c.ctx.Err(); err != nil {
					return err
				}
				if err := c.finish(f); err != nil {
					return err
				}
			}
		}
		all = all[len(some):]
	}
	return nil
}

// abreast returns the number of the first groups that are computed at the same time: on a device, where they share
// waits, as many as memory allows.
func (c *call) abreast(all []*group) int {
	count, bytes := 1, 0
	for i, g := range all {
		bytes += len(g.fits) * memberBytes(c.e, g.n, g.p)
		if c.e.Backend() != "cpu" && bytes <= abreastBytes {
			count = i + 1
		}
	}
	return count
}

// groups divides the fits of a batch by their rank, which is below the number of directions
// asked for where a covariance is singular.
func (c *call) groups(fits []*fit) (groups []*group, err error) {
	for _, f := range fits {
		if f.err != nil {
			if err := c.finish(f); err != nil {
				return nil, err
			}
			continue
		}
		at := slices.IndexFunc(groups, func(g *group) bool { return g.dim == f.dim })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &group{call: c, n: sizeClass(c.e, f.n), p: f.p, dim: f.dim})
		}
		groups[at].fits = append(groups[at].fits, f)
	}
	return groups, nil
}

// finish hands a fit to done, with the package's prefix before its error.
func (c *call) finish(f *fit) error {
	if f.err != nil {
		f.machine, f.model, f.err = nil, nil, fmt.Errorf("kernel affine hull machine: %w", f.err)
	}
	return c.done(f)
}

// prepare computes the inputs that all layers share: right-hand sides, their sketch, and Gram
// matrices.
func (g *group) prepare() (err error) {
	m := len(g.fits)
	counts, samples, centred, means := make([]int, m), make([]*mat.Dense, m), make([]*mat.Dense, m), make([][]float64, m)
	for i, f := range g.fits {
		counts[i], samples[i], centred[i], means[i] = f.n, f.samples, f.centred, f.mean
		f.centred = nil
		if !g.model {
			g.samples[f.index], f.samples = nil, nil
		}
	}
	if g.counts, err = batch.Scalars(g.e.ElementType(), counts); err != nil {
		return err
	}
	if g.targets, err = g.newTargets(centred, means); err != nil {
		return err
	}
	if g.p >= sketchFrom && g.opts.Iteration == Secant && g.opts.Lambdas == nil {
		if g.sketch, err = g.sketched(centred); err != nil {
			return err
		}
	}
	if g.p <= gramFactor*g.n {
		return nil
	}
	y, err := batch.Matrices(g.e.ElementType(), g.n, g.p, samples)
	if err != nil {
		return err
	}
	g.gram, err = g.e.Run(g.ctx, gramProgram(m, g.n, g.p), engine.Values{"y": y}, engine.Stay("gram"))
	return err
}

// close frees the memory of the backend that the group holds.
func (g *group) close() {
	for _, t := range []*targets{g.targets, g.sketch} {
		if t != nil {
			t.values.Close()
		}
	}
	g.gram.Close()
	for _, one := range g.layers {
		one.close()
	}
}

// each calls f for the members without an error, several at a time.
func (g *group) each(f func(i int, fit *fit)) error {
	return g.e.ParallelFor(g.ctx, len(g.fits), 1, func(i, _ int) error {
		if g.fits[i].err == nil {
			f(i, g.fits[i])
		}
		return nil
	})
}

// targets holds right-hand sides of the regularised least squares problems of a group.
type targets struct {
	columns int
	host    *tensor.Dense // T = [Y−1μ, 1], m×n×(columns+1), padded by zeros
	values  engine.Values // on the backend: T as "targets", and μ, m×1×columns, as "mean"
}

// newTargets returns the targets of centred samples and their means.
func (g *group) newTargets(centred []*mat.Dense, means [][]float64) (*targets, error) {
	if g.e.ElementType() == tensor.Float32 {
		return newTargets[float32](g, centred, means)
	}
	return newTargets[float64](g, centred, means)
}

func newTargets[T cpublas.Float](g *group, centred []*mat.Dense, means [][]float64) (*targets, error) {
	m, cols := len(g.fits), len(means[0])
	data, mean := make([]T, m*g.n*(cols+1)), make([]T, m*cols)
	err := g.e.ParallelFor(g.ctx, m, 1, func(i, _ int) error {
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
	t.values, err = batch.Keep(g.e, engine.Values{"targets": t.host, "mean": engine.TensorOf(mean, m, 1, cols)})
	return t, err
}

const (
	// sketchColumns is the number of columns of YΩ. Where the columns of Y are alike, the
	// estimate of the norm has a relative standard deviation of √(2/63), about a sixth;
	// otherwise it has much less. The error of λ is smaller still, because the fixed point is
	// a small part of λ, and the estimate only gives a start.
	sketchColumns = 63
	// sketchFrom is the number of columns of Y from which a solution for YΩ costs at most a
	// third of the one for Y.
	sketchFrom = 4 * (sketchColumns + 1)
	// sketchTolerance is the relative change of λ at which the iteration with YΩ ends: the
	// remaining error is then no larger than that of the estimate.
	sketchTolerance = 2e-2
)

// sketched returns the targets of YΩ, where Ω (p×sketchColumns) has entries ±1/√sketchColumns of
// random sign, so that E‖(K+λI)⁻¹YΩ‖² = ‖(K+λI)⁻¹Y‖². Ω depends on p alone.
//
// Source: Hutchinson, "A stochastic estimator of the trace of the influence matrix" (1990).
func (g *group) sketched(centred []*mat.Dense) (*targets, error) {
	signs := rand.New(rand.NewPCG(uint64(g.p), sketchColumns))
	omega := mat.NewDense(g.p, sketchColumns, nil)
	scale := 1 / math.Sqrt(sketchColumns)
	for i := range omega.RawMatrix().Data {
		omega.RawMatrix().Data[i] = scale * float64(2*signs.IntN(2)-1)
	}
	samples, means := make([]*mat.Dense, len(centred)), make([][]float64, len(centred))
	err := g.each(func(i int, f *fit) {
		samples[i] = new(mat.Dense)
		samples[i].Mul(centred[i], omega)
		var mean mat.Dense
		mean.Mul(mat.NewDense(1, f.p, f.mean), omega)
		means[i] = mean.RawRowView(0)
	})
	if err != nil {
		return nil, err
	}
	return g.newTargets(samples, means)
}

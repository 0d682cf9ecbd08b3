package backend

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cost"
	"privkern/graphs/cuda"
	"privkern/graphs/engine"
	"privkern/graphs/engine/counts"
	"privkern/graphs/op"
)

// Check is the time of a program that the calibration does not use, in seconds, measured and as
// the calibrated model predicts it.
type Check struct {
	Name                string
	Measured, Predicted float64
}

// calibrationSizes are those of the problems.
type calibrationSizes struct {
	chain         int // launches one after another
	product       int // order of the product
	points, dims  int // of the kernel matrices
	factor, eigen int // orders
	rows, columns int // of the copies and the means
}

var (
	largeProblems = calibrationSizes{chain: 256, product: 4096, points: 4096, dims: 256, factor: 1024, eigen: 512,
		rows: 40000, columns: 100}
	smallProblems = calibrationSizes{chain: 32, product: 96, points: 64, dims: 32, factor: 96, eigen: 64,
		rows: 2000, columns: 20}
)

// Calibrate measures the device that the process uses, while nothing else runs there, with large
// problems, or with small ones, as a simulated device needs them. No engine may be open. started is
// called before each measurement.
func Calibrate(ctx context.Context, small bool, started func(what string)) (*cost.Calibration, []Check, error) {
	c := &calibrator{ctx: ctx, sizes: largeProblems, started: started}
	if small {
		c.sizes = smallProblems
	}
	info, err := c.open()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = c.e.Close() }()
	c.latencies()
	c.links()
	c.rates()
	checks := c.check()
	if fellBack := c.e.Warnings(); c.err == nil && len(fellBack) > 0 {
		c.err = fmt.Errorf("the device does not compute alone: %s", fellBack[0])
	}
	c.d.Name = info.Name
	return &cost.Calibration{Device: info.String(), Measured: time.Now().UTC().Format(time.RFC3339), Small: small,
		Model: c.d}, checks, c.err
}

// calibrator measures one parameter of a device after another; each needs those before. After the
// first error it measures nothing.
type calibrator struct {
	ctx     context.Context
	sizes   calibrationSizes
	started func(string)
	d       cost.Device
	e       *engine.Engine
	err     error
}

// open opens the device and measures the time of that, and of the compilation of the kernels
// where they have to be compiled.
func (c *calibrator) open() (cuda.Info, error) {
	c.started("start")
	began := time.Now()
	info, cold, err := cuda.Look("float64")
	if err != nil {
		return info, fmt.Errorf("backend cuda: %w", err)
	}
	c.d = cost.ModelOf(info.Name, info.Minor, info.Processors)
	if c.d.Start, err = c.reopen(began); err != nil || !cold {
		return info, err
	}
	first := c.d.Start
	if err = errors.Join(c.e.Close(), cuda.Release()); err != nil {
		return info, err
	}
	c.d.Start, err = c.reopen(time.Now())
	c.d.Compile = max(0, first-c.d.Start)
	return info, err
}

// reopen opens the engine, solves the test problem, and returns the time since it began.
func (c *calibrator) reopen(began time.Time) (seconds float64, err error) {
	if c.e, err = engine.Open("cuda", "float64", 1); err == nil {
		if err = Test(c.e); err != nil {
			_ = c.e.Close()
		}
	}
	return time.Since(began).Seconds(), err
}

// formula is a program of one matrix.
type formula func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node

// problem is a program with its matrix, which is on the device before unless it goes up in each
// run. The result comes to the host.
type problem struct {
	name  string
	dtype tensor.Dtype
	x     *mat.Dense
	up    bool
	f     formula
}

// run returns the shortest time of some runs of a problem, and the work of one.
func (c *calibrator) run(p problem) (seconds float64, work counts.Count) {
	if c.err == nil {
		c.err = c.ctx.Err()
	}
	if c.err != nil {
		return 1, work
	}
	c.started(p.name)
	seconds, work, err := c.measure(p)
	if err != nil {
		c.err = fmt.Errorf("%s: %w", p.name, err)
	}
	return seconds, work
}

func (c *calibrator) measure(p problem) (seconds float64, work counts.Count, err error) {
	rows, cols := p.x.Dims()
	s, err := c.e.SessionAs(p.dtype, engine.Program{Name: p.name, Key: "calibration " + p.name,
		Build: func(b *engine.Builder) { b.Output("y", p.f(b, b.Input("x", rows, cols))) }})
	if err != nil {
		return 0, work, err
	}
	defer s.Close()
	inputs := engine.Values{"x": engine.NewMatrix(p.dtype, p.x)}
	if !p.up {
		if err := s.Pin("x", inputs["x"]); err != nil {
			return 0, work, err
		}
		inputs = nil
	}
	seconds = math.Inf(1)
	for start, run := time.Now(), -1; run < 3 || run < 30 && time.Since(start) < time.Second/4; run++ {
		began := time.Now()
		if _, err := s.Run(c.ctx, inputs); err != nil {
			return 0, work, err
		}
		if run >= 0 { // the first one may compile
			seconds = min(seconds, time.Since(began).Seconds())
		}
	}
	c.e.StartCounting()
	defer c.e.StopCounting()
	before := c.e.Profile().Total
	_, err = s.Run(c.ctx, inputs)
	work = c.e.Profile().Total
	work.Launches -= before.Launches
	work.Operations -= before.Operations
	work.Own -= before.Own
	return seconds, work, err
}

// numbers returns a matrix of numbers in (0, 1], none of which are close to its neighbours.
func numbers(rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, math.Mod(float64(i*cols+j+1)*math.Phi, 1))
		}
	}
	return m
}

// without returns a time without a known part of it, but no less than a tenth: the difference of
// two measured times resolves no less.
func without(part, seconds float64) float64 { return max(seconds/10, seconds-part) }

// latencies measures the times of a launch and of a wait, by programs that do nothing else. A copy
// of a small matrix up takes that of a copy.
func (c *calibrator) latencies() {
	softmax := func(length int) formula { // of which none are fused
		return func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node {
			for range length {
				x = b.Softmax(x)
			}
			return x
		}
	}
	x := numbers(4, 4)
	short, few := c.run(problem{"one launch", tensor.Float64, x, false, softmax(1)})
	long, many := c.run(problem{"launches", tensor.Float64, x, false, softmax(c.sizes.chain)})
	copied, _ := c.run(problem{"copy of a small matrix", tensor.Float64, x, true, softmax(1)})
	c.d.Launch = without(short, long) / max(1, float64(many.Launches-few.Launches))
	c.d.Copy = without(short, copied)
	c.d.Wait = without(c.d.Copy+c.d.Launch, short)
}

// links measures the bandwidths to the device and back, staging included, and of its memory.
func (c *calibrator) links() {
	x := numbers(c.sizes.rows, c.sizes.columns)
	bytes := float64(8 * c.sizes.rows * c.sizes.columns)
	rest := c.d.Wait + 2*c.d.Copy
	up, _ := c.run(problem{"copy up", tensor.Float64, x, true,
		func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node { return b.Sum(x) }})
	down, _ := c.run(problem{"copy down", tensor.Float64, x, false,
		func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node { return b.Square(x) }})
	c.d.Up, c.d.Down = bytes/without(rest, up), bytes/without(rest, down)
	if c.err != nil {
		return
	}
	c.started("memory")
	rates, err := cuda.MeasureCopies(c.ctx)
	c.d.Memory, c.err = 2*rates.OnDevice, err
}

// rates measures panels of a kernel matrix, products, a factor and an eigen-decomposition.
func (c *calibrator) rates() {
	distances := op.Profile{Metric: op.Manhattan, Form: op.Exponential, Scale: 1, Rate: 1 / float64(c.sizes.dims)}
	points, square := numbers(c.sizes.points, c.sizes.dims), numbers(c.sizes.product, c.sizes.product)
	for _, r := range []struct {
		dtype           tensor.Dtype
		vector, product *float64
	}{{tensor.Float64, &c.d.Vector64, &c.d.Product64}, {tensor.Float32, &c.d.Vector32, &c.d.Product32}} {
		panels, work := c.run(problem{"kernel panels in " + r.dtype.String(), r.dtype, points, false,
			func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node {
				return b.Sum(b.Apply(op.Kernel(distances), x, x))
			}})
		*r.vector = work.Operations / c.computing(panels)
		product, work := c.run(problem{"product in " + r.dtype.String(), r.dtype, square, false,
			func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node { return b.Sum(b.Mul(x, x)) }})
		*r.product = work.Operations / c.computing(product) / cost.Attained
	}
	z := c.sizes
	factor, _ := c.run(problem{"Cholesky factor", tensor.Float64, definite(z.factor), false,
		func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node { return b.Sum(b.Cholesky(x)) }})
	c.d.Stage = c.computing(factor) / cost.FactorStages(z.factor)
	eigen, _ := c.run(problem{"eigen-decomposition", tensor.Float64, definite(z.eigen), false,
		func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node { return b.Sum(b.Eigen(x)) }})
	c.d.Column = c.computing(eigen) / float64(z.eigen)
}

// computing returns the part of a run's time that is not its wait and the copy of a sum.
func (c *calibrator) computing(seconds float64) float64 {
	return without(c.d.Wait+c.d.Copy+2*c.d.Launch, seconds)
}

// definite returns a positive definite matrix without equal eigenvalues.
func definite(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			m.Set(i, j, 1/float64(1+max(i, j)-min(i, j)))
		}
		m.Set(i, i, 4+float64(i)/float64(n)) // 1/(1+|i-j|) is convex: the matrix was definite before
	}
	return m
}

// check measures other problems than those of the calibration.
func (c *calibrator) check() (checks []Check) {
	cost.SetOwn(c.d)
	z := c.sizes
	gaussian := op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1, Rate: 1 / float64(z.dims)}
	for _, p := range []problem{
		{fmt.Sprintf("column sums of %d×%d", z.rows, z.columns), tensor.Float64, numbers(z.rows, z.columns), false,
			func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node { return b.Sum(x, 0) }},
		{fmt.Sprintf("Gaussian kernel of %d points", z.points), tensor.Float64, numbers(z.points, z.dims), false,
			func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node {
				return b.Sum(b.Apply(op.Kernel(gaussian), x, x))
			}},
		{fmt.Sprintf("solution of order %d", z.factor), tensor.Float64, definite(z.factor), false,
			func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node { return b.Sum(b.Solve(x, x)) }},
	} {
		seconds, work := c.run(p)
		checks = append(checks, Check{p.name, seconds, work.Own})
	}
	return checks
}

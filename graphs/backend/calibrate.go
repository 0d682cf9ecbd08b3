package backend

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
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
	// replayed is the time of a chain of launches in a CUDA graph.
	replayed float64
}

// open opens the device and measures the time of that, and of the compilation of the kernels
// where they have to be compiled, and of a chain that is replayed. All else is measured launch by
// launch, as the device is open then.
func (c *calibrator) open() (cuda.Info, error) {
	c.started("start")
	began := time.Now()
	info, cold, err := cuda.Look("float64")
	if err != nil {
		return info, fmt.Errorf("backend cuda: %w", err)
	}
	c.d = cost.ModelOf(info.Name, info.Minor, info.Processors)
	if c.d.Start, err = c.reopen(began, "auto"); err != nil {
		return info, err
	}
	c.replayed, _ = c.run("launches of a graph", tensor.Float64, numbers(4, 4), resident, softmax(c.sizes.chain))
	if err = errors.Join(c.err, c.e.Close(), cuda.Release()); err != nil {
		return info, err
	}
	again, err := c.reopen(time.Now(), "never")
	if cold {
		c.d.Start, c.d.Compile = again, max(0, c.d.Start-again)
	}
	return info, err
}

// reopen opens the engine, whose runs are replayed or not, solves the test problem, and returns the
// time since it began.
func (c *calibrator) reopen(began time.Time, replays string) (seconds float64, err error) {
	defer func(set string) { _ = os.Setenv(engine.ReplayVariable, set) }(os.Getenv(engine.ReplayVariable)) // empty: auto
	if err = os.Setenv(engine.ReplayVariable, replays); err != nil {
		return 0, err
	}
	if c.e, err = engine.Open("cuda", "float64", 1); err == nil {
		if err = Test(c.e); err != nil {
			_ = c.e.Close()
		}
	}
	return time.Since(began).Seconds(), err
}

// formula is a program of one matrix.
type formula func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node

// Whether the matrix of a program is on the device before, as its result is summed there, or goes
// up in each run, or the result comes down.
const (
	resident = iota
	up
	down
)

// run returns the shortest time of some runs of a program, and the work of one.
func (c *calibrator) run(name string, dtype tensor.Dtype, x *mat.Dense, way int, f formula) (float64, counts.Count) {
	if c.err == nil {
		c.err = c.ctx.Err()
	}
	if c.err != nil {
		return 1, counts.Count{}
	}
	c.started(name)
	rows, cols := x.Dims()
	s, err := c.e.SessionAs(dtype, engine.Program{Name: name, Key: "calibration " + name, Build: func(b *engine.Builder) {
		y := f(b, b.Input("x", rows, cols))
		if way != down {
			y = b.Sum(y)
		}
		b.Output("y", y)
	}})
	if err != nil {
		c.err = err
		return 1, counts.Count{}
	}
	defer s.Close()
	inputs := engine.Values{"x": engine.NewMatrix(dtype, x)}
	if way != up {
		c.err = s.Pin("x", inputs["x"])
		inputs = nil
	}
	shortest := math.Inf(1)
	for start, run := time.Now(), -1; c.err == nil && (run < 3 || run < 30 && time.Since(start) < time.Second/4); run++ {
		began := time.Now()
		_, c.err = s.Run(c.ctx, inputs)
		if run >= 0 { // the first one may compile
			shortest = min(shortest, time.Since(began).Seconds())
		}
	}
	if c.err != nil {
		return 1, counts.Count{}
	}
	before := c.e.Profile().Total
	c.e.StartCounting()
	_, c.err = s.Run(c.ctx, inputs)
	c.e.StopCounting()
	work := c.e.Profile().Total
	work.Launches, work.Operations, work.Own = work.Launches-before.Launches, work.Operations-before.Operations,
		work.Own-before.Own
	return shortest, work
}

// numbers returns a matrix of numbers in [0, 1), none of which are close to their neighbours.
func numbers(rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	m.Apply(func(i, j int, _ float64) float64 { return math.Mod(float64(i*cols+j+1)*math.Phi, 1) }, m)
	return m
}

// definite returns a positive definite matrix: 1/(1+|i-j|) is convex, and more is added to its
// diagonal, so that no eigenvalues are equal.
func definite(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	m.Apply(func(i, j int, _ float64) float64 {
		if i == j {
			return 4 + float64(i)/float64(n)
		}
		return 1 / float64(1+max(i, j)-min(i, j))
	}, m)
	return m
}

// without returns a time without a known part of it, but no less than a tenth: the difference of
// two measured times resolves no less.
func without(part, seconds float64) float64 { return max(seconds/10, seconds-part) }

// softmax is a chain of launches: functions of lines, of which none are fused.
func softmax(length int) formula {
	return func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node {
		for range length {
			x = b.Softmax(x)
		}
		return x
	}
}

// latencies measures the times of a launch, of a small copy, of a wait and of a node of a CUDA graph,
// by programs that do nothing else.
func (c *calibrator) latencies() {
	x := numbers(4, 4)
	short, few := c.run("one launch", tensor.Float64, x, resident, softmax(1))
	long, many := c.run("launches", tensor.Float64, x, resident, softmax(c.sizes.chain))
	copied, _ := c.run("copy of a small matrix", tensor.Float64, x, up, softmax(1))
	c.d.Launch = without(short, long) / max(1, float64(many.Launches-few.Launches))
	c.d.Copy = without(short, copied)
	c.d.Wait = without(c.d.Copy+float64(few.Launches)*c.d.Launch, short)
	c.d.Node = without(c.d.Wait+c.d.Launch, c.replayed) / max(1, float64(many.Launches))
}

// links measures the bandwidths to the device and back, staging included, and of its memory.
func (c *calibrator) links() {
	x := numbers(c.sizes.rows, c.sizes.columns)
	bytes := float64(8 * c.sizes.rows * c.sizes.columns)
	same := func(_ *engine.Builder, x *gorgonia.Node) *gorgonia.Node { return x }
	sent, _ := c.run("copy up", tensor.Float64, x, up, same)
	received, _ := c.run("copy down", tensor.Float64, x, down, (*engine.Builder).Square)
	c.d.Up, c.d.Down = bytes/c.computing(sent), bytes/c.computing(received)
	if c.err == nil {
		var rates cuda.CopyRates
		rates, c.err = cuda.MeasureCopies(c.ctx)
		c.d.Memory = 2 * rates.OnDevice
	}
}

// computing returns the part of a run's time that is not its wait and a small copy.
func (c *calibrator) computing(seconds float64) float64 {
	return without(c.d.Wait+c.d.Copy+2*c.d.Launch, seconds)
}

// kernel is the matrix of a kernel in some metric.
func kernel(metric op.Metric) formula {
	return func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node {
		return b.Apply(op.Kernel(op.Profile{Metric: metric, Form: op.Exponential, Scale: 1, Rate: 0.01}), x, x)
	}
}

// square is the product of a matrix with itself.
func square(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node { return b.Mul(x, x) }

// rates measures panels of a kernel matrix, products, a factor and an eigen-decomposition.
func (c *calibrator) rates() {
	z := c.sizes
	for _, r := range []struct {
		dtype           tensor.Dtype
		vector, product *float64
	}{{tensor.Float64, &c.d.Vector64, &c.d.Product64}, {tensor.Float32, &c.d.Vector32, &c.d.Product32}} {
		panels, work := c.run("kernel panels in "+r.dtype.String(), r.dtype, numbers(z.points, z.dims), resident,
			kernel(op.Manhattan))
		*r.vector = work.Operations / c.computing(panels)
		product, work := c.run("product in "+r.dtype.String(), r.dtype, numbers(z.product, z.product), resident, square)
		*r.product = cost.PeakOf(work.Operations / c.computing(product))
	}
	factor, _ := c.run("Cholesky factor", tensor.Float64, definite(z.factor), resident, (*engine.Builder).Cholesky)
	c.d.Stage = c.computing(factor) / cost.FactorStages(z.factor)
	eigen, _ := c.run("eigen-decomposition", tensor.Float64, definite(z.eigen), resident, (*engine.Builder).Eigen)
	c.d.Column = c.computing(eigen) / float64(z.eigen)
}

// check measures other programs than those of the calibration.
func (c *calibrator) check() (checks []Check) {
	cost.SetOwn(c.d)
	z := c.sizes
	for _, p := range []struct {
		name string
		x    *mat.Dense
		f    formula
	}{
		{"column sums", numbers(z.rows, z.columns),
			func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node { return b.Sum(x, 0) }},
		{"Gaussian kernel", numbers(z.points, z.dims), kernel(op.SquaredEuclidean)},
		{"solution", definite(z.factor), func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node { return b.Solve(x, x) }},
	} {
		seconds, work := c.run(p.name, tensor.Float64, p.x, resident, p.f)
		rows, cols := p.x.Dims()
		checks = append(checks, Check{fmt.Sprintf("%s of %d×%d", p.name, rows, cols), seconds, work.Own})
	}
	return checks
}

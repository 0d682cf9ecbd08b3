package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"

	"privkern/graphs/cost"
	"privkern/graphs/cuda"
	"privkern/graphs/descent"
	"privkern/graphs/engine"
	"privkern/graphs/op"
	"privkern/runner/experiment"
)

// DeviceBenchmarks measures the operations that dominate the papers' programs, on the
// CPU with all its cores and on another backend, in both precisions. Where the number
// of operations is known, three rates follow: operations per second, their share of the
// rate of a large matrix product on the same backend, and the share of the rate of a
// copy at which memory is read and written, each matrix once. Inputs are then on the
// device before, and results stay there, so that only computing is measured. The
// descent and the machine are whole calls, with their copies. The counts of a call on a
// CUDA device, and predicted times for some devices, are reported with and without one.
// Small sizes are for a simulated device, on which the others take hours; their rates
// do not hold for a real one.
func DeviceBenchmarks(backend string, small bool) []experiment.Benchmark {
	d := &devices{backends: []string{"cpu"}, sizes: largeSizes, peaks: map[string]float64{},
		copies: map[string]float64{}}
	if backend != "cpu" {
		d.backends = append(d.backends, backend)
	}
	if small {
		d.sizes = smallSizes
	}
	z := d.sizes
	return []experiment.Benchmark{
		{Name: "device/copies", Doc: "Copies of 64 MiB between host and device, and on each.", Run: d.links},
		{Name: "device/product", Doc: fmt.Sprintf(
			"A product of %d×%[1]d matrices: the peak that the others are compared with.", z.product),
			Run: d.each(d.product)},
		{Name: "device/kernel", Doc: fmt.Sprintf("The RBF kernel matrix of %d points in %d dimensions.",
			z.points, z.dims), Run: d.each(d.kernel)},
		{Name: "device/gradient", Doc: fmt.Sprintf("The derivative of an RBF kernel matrix of %d and %[1]d points in %d "+
			"dimensions by the first ones.", z.pairs, z.directed), Run: d.each(d.gradient)},
		{Name: "device/likelihood", Doc: fmt.Sprintf("The likelihood of a Gaussian process of %d points in %d dimensions "+
			"and its derivatives, and its maximum for %d points; in float64 everywhere.", z.pairs, z.inputs, z.fitted),
			Run: d.each(d.likelihood)},
		{Name: "device/solves", Doc: fmt.Sprintf("%d regularised least squares problems of order %d with %d right sides, "+
			"one by one and in one batch.",
			z.problems, z.order, z.right), Run: d.each(d.solves)},
		{Name: "device/hull", Doc: fmt.Sprintf("Affine hulls of %d queries and %d samples: %d dimensions, points of %d.",
			z.queries, z.samples, z.directions, z.columns), Run: d.each(d.hull)},
		{Name: "device/cloaking", Doc: fmt.Sprintf(
			"%d iterations of the cloaking descent with %d test and %d training inputs.", z.iterations, z.tests, z.training),
			Run: d.each(d.cloaking)},
		{Name: "device/kahm", Doc: fmt.Sprintf("A machine of %d samples of %d columns, n = 20, and the distances of %d "+
			"queries.", z.machine, z.pixels, z.distances), Run: d.each(d.machine)},
		{Name: "device/search", Doc: fmt.Sprintf("The nearest of %d such machines of %d layers for %[3]d queries, all "+
			"distances on resident constants, on the CPU as well.", z.ensemble, z.layers, z.distances),
			Run: d.each(d.search)},
	}
}

// devices are the backends that are compared.
type devices struct {
	backends []string
	sizes    deviceSizes
	peaks    map[string]float64 // operations per second by backend and precision
	copies   map[string]float64 // bytes per second, read and written, by backend
}

// deviceSizes are those of the matrices of the benchmarks.
type deviceSizes struct {
	product                               int // order of the product
	points, dims                          int // of the kernel matrix
	pairs, directed                       int // of a kernel's derivative: points, dimensions
	inputs, fitted                        int // of a Gaussian process: dimensions, points of a whole fit
	problems, order, right                int // least squares problems
	queries, samples, directions, columns int // of affine hulls
	iterations, tests, training           int // of the cloaking descent
	machine, pixels, distances            int // samples and columns of a machine, queries
	ensemble, layers                      int // machines of an ensemble
}

var (
	largeSizes = deviceSizes{
		product: 2048,
		points:  5000, dims: 784,
		pairs: 1000, directed: 64,
		inputs: 8, fitted: 200,
		problems: 64, order: 1000, right: 10,
		queries: 10000, samples: 1000, directions: 20, columns: 100,
		iterations: 200, tests: 100, training: 300,
		machine: 1000, pixels: 784, distances: 2000,
		ensemble: 4, layers: 5,
	}
	smallSizes = deviceSizes{
		product: 128,
		points:  100, dims: 50,
		pairs: 60, directed: 12,
		inputs: 3, fitted: 20,
		problems: 4, order: 60, right: 10,
		queries: 100, samples: 60, directions: 20, columns: 30,
		iterations: 10, tests: 10, training: 30,
		machine: 60, pixels: 40, distances: 50,
		ensemble: 3, layers: 2,
	}
)

// setting is one backend in one precision.
type setting struct {
	d      *devices
	e      *engine.Engine
	m      experiment.Meter
	prefix string

	backend string
	size    float64 // of a number, in bytes
	variant string  // of the computation; empty for the only one
}

// as is the setting for another way to compute the same.
func (s setting) as(variant string) setting {
	s.variant = ", " + variant
	s.prefix += s.variant
	return s
}

// each measures on every backend, in both precisions.
func (d *devices) each(run func(context.Context, setting) error) func(context.Context, experiment.Meter) error {
	return func(ctx context.Context, m experiment.Meter) error {
		for _, backend := range d.backends {
			for _, dtype := range []string{"float64", "float32"} {
				e, err := engine.Open(backend, dtype, 0)
				if err != nil {
					return err
				}
				size := map[string]float64{"float64": 8, "float32": 4}[dtype]
				err = run(ctx, setting{d: d, e: e, m: m, prefix: backend + " " + dtype, backend: backend, size: size})
				if err = errors.Join(err, e.Close()); err != nil {
					return fmt.Errorf("%s %s: %w", backend, dtype, err)
				}
			}
		}
		return nil
	}
}

// fastest is the wall time of the fastest of some calls, in seconds. The first
// call, which builds and compiles, does not count.
func fastest(ctx context.Context, f func() error) (float64, error) {
	if err := f(); err != nil {
		return 0, err
	}
	best := math.Inf(1)
	for start, runs := time.Now(), 0; runs < 3 || runs < 50 && time.Since(start) < time.Second; runs++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		began := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		best = min(best, time.Since(began).Seconds())
	}
	return best, nil
}

// rate reports a time, and where the operations are known their number per second and
// the shares of the rates of a product and of a copy. numbers counts the elements that
// are read and written.
func (s setting) rate(ctx context.Context, operations, numbers int, f func() error) error {
	seconds, err := fastest(ctx, f)
	if err != nil {
		return err
	}
	s.m.Value(s.prefix, seconds, "s", experiment.Target{})
	if err := s.counts(f); err != nil || operations == 0 {
		return err
	}
	rate := float64(operations) / seconds
	s.m.Value(s.prefix, rate/1e9, "GFLOP/s", experiment.Target{})
	peak, err := s.peak(ctx)
	if err != nil {
		return err
	}
	s.m.Value(s.prefix+", of the product's rate", 100*rate/peak, "%", experiment.Target{})
	copied, err := s.d.copyRate(ctx, s.backend)
	if err == nil {
		s.m.Value(s.prefix+", of the copy's rate", 100*float64(numbers)*s.size/seconds/copied, "%", experiment.Target{})
	}
	return err
}

// counts reports the counts of a call on a device, and predicted times for some. They
// are the same on every backend, and reported once.
func (s setting) counts(f func() error) error {
	if s.backend != s.d.backends[0] {
		return nil
	}
	before := s.e.Profile().Total
	s.e.StartCounting()
	err := f()
	s.e.StopCounting() // the rates that follow are compared with this one's
	if err != nil {
		return err
	}
	total, dtype := s.e.Profile().Total, s.e.DType()
	for _, c := range []struct {
		name  string
		value float64
		unit  string
	}{
		{"launches", float64(total.Launches - before.Launches), ""},
		{"synchronisations", float64(total.Synchronisations - before.Synchronisations), ""},
		{"copies", float64(total.BytesUp+total.BytesDown-before.BytesUp-before.BytesDown) / 1e6, "MB"},
		{"operations", (total.Operations - before.Operations) / 1e9, "GFLOP"},
	} {
		s.m.Value(dtype+s.variant+", "+c.name, c.value, c.unit, experiment.Target{})
	}
	for _, d := range cost.Devices {
		predicted := total.Predicted[d.Name] - before.Predicted[d.Name]
		s.m.Value(dtype+s.variant+", predicted for "+d.Name, predicted, "s", experiment.Target{})
	}
	return nil
}

// copyRate is the rate of a copy in the memory of a backend, in bytes that are read and
// written in a second.
func (d *devices) copyRate(ctx context.Context, backend string) (float64, error) {
	if rate, ok := d.copies[backend]; ok {
		return rate, nil
	}
	if backend != "cpu" {
		rates, err := cuda.MeasureCopies(ctx)
		if err != nil {
			return 0, err
		}
		d.copies[backend] = 2 * rates.OnDevice
		return d.copies[backend], nil
	}
	from, to := make([]byte, cuda.CopiedBytes), make([]byte, cuda.CopiedBytes)
	for i := range from { // pages that were never written are one page of zeros
		from[i] = byte(i)
	}
	seconds, err := fastest(ctx, func() error { copy(to, from); return nil })
	d.copies[backend] = 2 * cuda.CopiedBytes / seconds
	return d.copies[backend], err
}

// links reports the rates of copies, in bytes that arrive in a second.
func (d *devices) links(ctx context.Context, m experiment.Meter) error {
	for _, backend := range d.backends {
		if backend != "cpu" {
			rates, err := cuda.MeasureCopies(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", backend, err)
			}
			m.Value(backend+", from host to device", rates.ToDevice/1e9, "GB/s", experiment.Target{})
			m.Value(backend+", from device to host", rates.FromDevice/1e9, "GB/s", experiment.Target{})
			m.Value(backend+", on the device", rates.OnDevice/1e9, "GB/s", experiment.Target{})
			continue
		}
		rate, err := d.copyRate(ctx, backend)
		if err != nil {
			return err
		}
		m.Value(backend+", one core", rate/2/1e9, "GB/s", experiment.Target{})
	}
	return nil
}

// formula is a program's output in terms of its named inputs.
type formula func(b *engine.Builder, in map[string]*gorgonia.Node) *gorgonia.Node

// program returns a call of a program whose inputs stay on the device. Its output is
// the sum of the formula's elements.
func (s setting) program(ctx context.Context, name string, inputs map[string]*mat.Dense,
	f formula) (run func() error, done func(), err error) {
	session, err := s.e.Session(engine.Program{Name: name, Key: "benchmark " + name, Build: func(b *engine.Builder) {
		nodes := map[string]*gorgonia.Node{}
		for input, a := range inputs {
			r, c := a.Dims()
			nodes[input] = b.Input(input, r, c)
		}
		b.Output("total", b.Sum(f(b, nodes)))
	}})
	if err != nil {
		return nil, nil, err
	}
	for input, a := range inputs {
		if err := session.Pin(input, s.e.Matrix(a)); err != nil {
			session.Close()
			return nil, nil, err
		}
	}
	return func() error { _, err := session.Run(ctx, nil); return err }, session.Close, nil
}

// normalMatrix is a matrix of normal numbers, the same in every run.
func normalMatrix(rows, cols int) *mat.Dense {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	m := mat.NewDense(rows, cols, nil)
	m.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, m)
	return m
}

// peak is the rate of a large matrix product.
func (s setting) peak(ctx context.Context) (float64, error) {
	if p, ok := s.d.peaks[s.prefix]; ok {
		return p, nil
	}
	n := s.d.sizes.product
	run, done, err := s.program(ctx, "matrix product", map[string]*mat.Dense{"a": normalMatrix(n, n),
		"b": normalMatrix(n, n)},
		func(b *engine.Builder, in map[string]*gorgonia.Node) *gorgonia.Node { return b.Mul(in["a"], in["b"]) })
	if err != nil {
		return 0, err
	}
	defer done()
	seconds, err := fastest(ctx, run)
	s.d.peaks[s.prefix] = 2 * math.Pow(float64(n), 3) / seconds
	return s.d.peaks[s.prefix], err
}

func (d *devices) product(ctx context.Context, s setting) error {
	peak, err := s.peak(ctx)
	if err == nil {
		s.m.Value(s.prefix, peak/1e9, "GFLOP/s", experiment.Target{})
	}
	return err
}

// measure reports the rates of a program as rate does.
func (s setting) measure(ctx context.Context, name string, operations, numbers int, inputs map[string]*mat.Dense,
	f formula) error {
	run, done, err := s.program(ctx, name, inputs, f)
	if err != nil {
		return err
	}
	defer done()
	return s.rate(ctx, operations, numbers, run)
}

func (d *devices) kernel(ctx context.Context, s setting) error {
	n, dims := d.sizes.points, d.sizes.dims
	return s.measure(ctx, "kernel matrix", 2*n*n*dims, n*dims+2*n*n, map[string]*mat.Dense{"x": normalMatrix(n, dims)},
		func(b *engine.Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			eq := op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1, Rate: 1 / float64(dims)}
			return b.Apply(op.Kernel(eq), in["x"], in["x"])
		})
}

func (d *devices) solves(ctx context.Context, s setting) error {
	n, right, problems := d.sizes.order, d.sizes.right, d.sizes.problems
	b := normalMatrix(n, n)
	k := mat.NewDense(n, n, nil)
	k.Mul(b, b.T())
	for i := range n { // rounding must not leave it unsymmetric
		for j := range i {
			k.Set(i, j, k.At(j, i))
		}
	}
	shifts := mat.NewDense(problems, 1, nil)
	shifts.Apply(func(i, _ int, _ float64) float64 { return 100 + float64(i) }, shifts)
	operations, numbers := problems*(n*n*n/3+2*n*n*right), problems*(2*n*n+2*n*right)
	inputs := map[string]*mat.Dense{"k": k, "t": normalMatrix(n, right)}
	err := s.measure(ctx, "least squares", operations, numbers, inputs,
		func(b *engine.Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			solve := func(i int) *gorgonia.Node { return b.RidgeSolve(in["k"], b.Constant(shifts.At(i, 0)), in["t"]) }
			total := solve(0)
			for i := 1; i < problems; i++ {
				total = b.Add(total, solve(i))
			}
			return total
		})
	if err != nil {
		return err
	}
	inputs["shifts"] = shifts
	return s.as("one batch").measure(ctx, "least squares in one batch", operations, numbers, inputs,
		func(b *engine.Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			each := gorgonia.Must(gorgonia.Reshape(in["shifts"], []int{problems}))
			return b.RidgeSolve(in["k"], each, in["t"])
		})
}

func (d *devices) hull(ctx context.Context, s setting) error {
	z := d.sizes
	queries, samples, dims, columns := z.queries, z.samples, z.directions, z.columns
	positive := normalMatrix(samples, columns+1)
	positive.Apply(func(_, _ int, v float64) float64 { return 1 + math.Abs(v) }, positive)
	weights := mat.NewDense(1, dims, nil)
	weights.Apply(func(_, j int, _ float64) float64 { return 1 / float64(j+2) }, weights)
	return s.measure(ctx, "affine hull", 2*queries*samples*(dims+columns+1), 3*queries*columns+samples*(dims+columns+1),
		map[string]*mat.Dense{"z": normalMatrix(queries, columns), "x": normalMatrix(samples, dims), "w": weights,
			"b": positive},
		func(b *engine.Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.AffineHull(in["z"], in["x"], in["w"], in["b"])
		})
}

func (d *devices) cloaking(ctx context.Context, s setting) error {
	steps, p, n := d.sizes.iterations, d.sizes.tests, d.sizes.training
	c := normalMatrix(p, n)
	// M = C diag(λ) Cᵀ, its factor, and L⁻¹C, whose columns' norms are the gradient: C is read
	// for both.
	operations := (steps + 1) * (p*p*n + p*p*p/3 + p*p*n)
	return s.rate(ctx, operations, (steps+1)*(2*p*n+2*p*p), func() error {
		_, err := descent.Descend(ctx, s.e, descent.Problem{C: c}, descent.Options{Iterations: steps})
		return err
	})
}

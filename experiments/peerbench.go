package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

// peerBenchmarks measures the operations that dominate the papers' programs, as
// programs of one worker, the BLAS below them, and the same work in NumPy and SciPy on
// one thread. Bounds are on the ratio to the peer's processor time.
func peerBenchmarks() []experiment.Benchmark {
	return []experiment.Benchmark{
		{Name: "graphs/kernel", Doc: "Kernel matrices of 3,000 points with themselves.", Run: kernelMatrices},
		{Name: "graphs/hull", Doc: "Affine hulls of 2,048 queries of 804 columns and 1,000 samples in 20 dimensions.",
			Run: inBoth(hullWork(2048, 1000, 20, 784))},
		{Name: "graphs/eigen", Doc: "The 20 largest eigenpairs of a matrix of order 784.", Run: inBoth(eigenWork(784, 20))},
		{Name: "graphs/gradient", Doc: "The gradient of a weighted sum of an EQ kernel matrix by 1,000 points in 64 " +
			"dimensions.", Run: inBoth(gradientWork(1000, 64))},
		{Name: "graphs/features", Long: true, Run: discriminantFeatures(5451, 1080, 561, 6),
			Doc: "Discriminant components of an RBF kernel: 5,451 training and 1,080 test samples of 561 columns and " +
				"six classes, as in experiment I on HAR."},
		{Name: "graphs/product", Doc: "Products of square matrices.",
			Run: products(256, 512, 1024, 2048)},
		{Name: "graphs/cholesky", Doc: "Cholesky factors.", Run: choleskyFactors(1000, 2000, 4000)},
		{Name: "graphs/exponential", Doc: "The exponentials of 10,000,000 numbers.",
			Run: inBoth(exponentialWork(10_000_000))},
	}
}

// work is a program with the formulas of its input, for which package bench/peers has a
// peer of the same name and sizes.
type work struct {
	row    string // of the table
	name   string // of the peer
	sizes  []int
	atMost float64 // times the peer's processor time; 0 for no bound

	inputs func() map[string]*mat.Dense
	output formula
	// compared are the elements of the output that the peer's result has; nil for all.
	compared func(output []float64) []float64
}

// inBoth measures works in both element types.
func inBoth(works ...work) func(context.Context, experiment.Meter) error {
	return func(ctx context.Context, m experiment.Meter) error {
		for _, w := range works {
			if err := w.inBoth(ctx, m, 0); err != nil {
				return err
			}
		}
		return nil
	}
}

// inBoth measures a work in both element types; shorter bounds the time in float32 in times
// that in float64, where it is not 0.
func (w work) inBoth(ctx context.Context, m experiment.Meter, shorter float64) error {
	inputs := w.inputs()
	double, err := w.measure(ctx, m, "float64", inputs)
	if err != nil {
		return err
	}
	single, err := w.measure(ctx, m, "float32", inputs)
	if err == nil && shorter != 0 {
		m.Value(w.row+", float32 to float64", single/double, "times", experiment.Target{AtMost: shorter})
	}
	return err
}

// tolerances of the norm of a result, which sums the rounding of many elements.
var tolerances = map[string]float64{"float64": 1e-8, "float32": 1e-3}

// measure measures a work with one worker. Inputs are in the engine's element type before,
// and the result stays in it.
func (w work) measure(ctx context.Context, m experiment.Meter, dtype string,
	inputs map[string]*mat.Dense) (cpuSeconds float64, err error) {
	e, err := engine.Open("cpu", dtype, 1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	session, err := e.Session(engine.Program{Name: w.row, Key: "benchmark " + w.row, Build: func(b *engine.Builder) {
		nodes := map[string]*gorgonia.Node{}
		for name, a := range inputs {
			r, c := a.Dims()
			nodes[name] = b.Input(name, r, c)
		}
		b.Output("result", w.output(b, nodes))
	}})
	if err != nil {
		return 0, err
	}
	defer session.Close()
	for name, a := range inputs {
		if err := session.Pin(name, e.Matrix(a)); err != nil {
			return 0, err
		}
	}
	var out engine.Values
	run := func() (err error) {
		out = nil // for its memory to serve again
		out, err = session.Run(ctx, nil)
		return err
	}
	row := w.row + " " + dtype
	return m.Beside(row, experiment.Peer{Work: w.name, DType: dtype, Sizes: w.sizes, AtMost: w.atMost,
		Tolerance: tolerances[dtype], Result: func() (float64, error) { return w.norm(out["result"]) }}, run)
}

// norm returns the Frobenius norm of the compared elements.
func (w work) norm(result gorgonia.Value) (float64, error) {
	v, err := engine.Floats(result)
	if err != nil {
		return 0, err
	}
	if w.compared != nil {
		v = w.compared(v)
	}
	return floats.Norm(v, 2), nil
}

// wave is a matrix of full rank with numbers in (-1, 1): the sines of a quadratic phase.
func wave(rows, cols int, rate float64) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range m.RawMatrix().Data {
		k := float64(i + 1)
		m.RawMatrix().Data[i] = math.Sin(k * k * rate)
	}
	return m
}

func kernelMatrices(ctx context.Context, m experiment.Meter) error {
	const points = 3000
	for _, k := range []struct {
		row    string
		dims   int
		kernel kernel.Kernel
		peer   string
		atMost float64
	}{
		{"EQ 3000×784", 784, kernel.EQ(math.Sqrt(784), 1), "kernel", 1.1},
		{"EQ 3000×64", 64, kernel.EQ(8, 1), "kernel", 1},
		{"Laplacian 3000×64", 64, kernel.Laplacian(1./64, 1), "laplacian", .8},
	} {
		w := work{row: k.row, name: k.peer, sizes: []int{points, k.dims}, atMost: k.atMost,
			inputs: func() map[string]*mat.Dense { return map[string]*mat.Dense{"x": wave(points, k.dims, 1e-3)} },
			output: func(b *engine.Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
				return k.kernel.Symmetric(b, in["x"])
			}}
		if err := w.inBoth(ctx, m, .6); err != nil {
			return err
		}
	}
	return nil
}

func hullWork(queries, samples, dims, features int) work {
	columns := dims + features // scores, then the remaining columns
	return work{row: fmt.Sprintf("%d queries", queries), name: "hull", sizes: []int{queries, samples, dims, columns},
		atMost: 1.1,
		inputs: func() map[string]*mat.Dense {
			scale, solutions := mat.NewDense(1, dims, nil), wave(samples, columns+1, 1.3e-3)
			scale.Apply(func(_, j int, _ float64) float64 { return 1 / float64(j+2) }, scale)
			solutions.Apply(func(_, _ int, v float64) float64 { return 1 + math.Abs(v) }, solutions)
			return map[string]*mat.Dense{"z": wave(queries, columns, 7e-4), "x": wave(samples, dims, 1e-3), "w": scale,
				"b": solutions}
		},
		output: func(b *engine.Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.AffineHull(in["z"], in["x"], in["w"], in["b"])
		}}
}

// eigenWork takes a matrix whose eigenvalues decay as those of the covariance of images.
func eigenWork(order, number int) work {
	return work{row: fmt.Sprintf("%d of %d", number, order), name: "eigenpairs", sizes: []int{order, number}, atMost: 1,
		inputs: func() map[string]*mat.Dense {
			x, a := wave(order, order, 1e-3), new(mat.Dense)
			x.Apply(func(_, j int, v float64) float64 { return v * math.Pow(.95, float64(j)) }, x)
			a.Mul(x.T(), x)
			a.Scale(1/float64(order), a)
			for i := range order { // rounding must not leave it unsymmetric
				for j := range i {
					a.Set(i, j, a.At(j, i))
				}
			}
			return map[string]*mat.Dense{"a": a}
		},
		output: func(b *engine.Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.LargestEigen(number, in["a"])
		},
		compared: func(pairs []float64) []float64 { // the eigenvalues
			values := make([]float64, number)
			for i := range values {
				values[i] = pairs[i*(order+1)]
			}
			return values
		}}
}

func gradientWork(n, dims int) work {
	k := kernel.EQ(math.Sqrt(float64(dims)), 1)
	return work{row: fmt.Sprintf("EQ %d²×%d", n, dims), name: "gradient", sizes: []int{n, dims}, atMost: 1.2,
		inputs: func() map[string]*mat.Dense {
			return map[string]*mat.Dense{"x": wave(n, dims, 1e-3), "y": wave(n, dims, 7e-4), "weights": wave(n, n, 1.3e-3)}
		},
		output: func(b *engine.Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			sum := b.Sum(b.Hadamard(k.Cross(b, in["x"], in["y"]), in["weights"]))
			for _, gradient := range b.Gradient(sum, in["x"]) {
				return gradient
			}
			return nil // the builder has the error
		}}
}

func exponentialWork(numbers int) work {
	return work{row: fmt.Sprintf("%.0g numbers", float64(numbers)), name: "exponential", sizes: []int{numbers}, atMost: 1,
		inputs: func() map[string]*mat.Dense {
			x := wave(1, numbers, 1e-3)
			x.Scale(10, x)
			return map[string]*mat.Dense{"x": x}
		},
		output: func(_ *engine.Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return gorgonia.Must(gorgonia.Exp(in["x"]))
		}}
}

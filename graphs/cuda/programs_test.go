//go:build linux && (amd64 || arm64)

package cuda_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/clipped"
	"privkern/graphs/clusters"
	"privkern/graphs/descent"
	"privkern/graphs/discriminant"
	"privkern/graphs/engine"
	"privkern/graphs/gp"
	"privkern/graphs/hull"
	"privkern/graphs/interior"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/kernel"
	"privkern/graphs/laplace"
	"privkern/graphs/linalg"
	"privkern/graphs/op"
	"privkern/graphs/sparsegp"
)

// Parity that the project promises, relative to 1 + |want|: between the host
// and the device in float64, and of float32 on the device to float64 on the
// host.
type parity struct{ double, single float64 }

var (
	entries = parity{1e-12, 5e-6} // of kernel matrices
	solved  = parity{1e-11, 1e-3} // with condition numbers of at most 1e3
	modes   = parity{1e-8, 1e-3}  // of the Laplace approximation
	cloaked = parity{1e-8, 1e-3}  // objective and λ at the optimum
)

// programs are the programs of the graph packages; the packages' own tests, run with
// PRIVKERN_TEST_BACKEND=cuda, compare all of them with reference values.
var programs = map[string]struct {
	parity parity
	run    func(e *engine.Engine) ([]float64, error)
}{
	"kernel matrices": {entries, func(e *engine.Engine) ([]float64, error) {
		x, y := normal(1, 90, 20), normal(2, 70, 20)
		var out []float64
		for _, k := range []kernel.Kernel{kernel.EQ(4, 1), kernel.Laplacian(0.05, 1), kernel.Matern(0.5, 3, 1),
			kernel.Matern(1.5, 3, 1), kernel.Matern(2.5, 3, 1),
			kernel.RBF(0.02), kernel.Polynomial(0.01, 2, 0.5), kernel.Sigmoid(0.01, 0.1)} {
			cross, err := k.Matrix(e, x, y)
			if err != nil {
				return nil, err
			}
			same, err := k.Matrix(e, x, x)
			if err != nil {
				return nil, err
			}
			out = append(append(out, cross.RawMatrix().Data...), same.RawMatrix().Data...)
		}
		return out, nil
	}},
	"Gibbs kernel": {entries, func(e *engine.Engine) ([]float64, error) {
		k, err := kernel.GibbsMatrix(e, normal(1, 40, 2), normal(2, 30, 2), positive(3, 40, 2), positive(4, 30, 2), 1)
		return elements(k), err
	}},
	"weighted sum of kernels": {entries, func(e *engine.Engine) ([]float64, error) {
		weights := func(n int) []float64 {
			w := make([]float64, n)
			for i := range w {
				w[i] = float64(i) / float64(n)
			}
			return w
		}
		k, err := kernel.WeightedSumMatrix(e, kernel.EQ(1, 1), kernel.EQ(9, 1), normal(1, 40, 2), normal(2, 30, 2),
			weights(40), weights(30))
		return elements(k), err
	}},
	"solve and log-determinant": {solved, func(e *engine.Engine) ([]float64, error) {
		x, logdet, err := linalg.SolveSPD(e, graphtest.Definite(graphtest.Rand(1), 60), normal(2, 60, 3))
		return append(elements(x), logdet), err
	}},
	"positive semidefinite part": {solved, func(e *engine.Engine) ([]float64, error) {
		a := normal(1, 40, 40)
		var s mat.Dense
		s.Add(a, a.T())
		part, values, err := linalg.PSDPart(e, &s)
		return append(elements(part), values...), err
	}},
	"positive semidefinite part of a complement": {solved, func(e *engine.Engine) ([]float64, error) {
		x, q := normal(1, 20, 30), normal(2, 30, 30)
		q.Mul(q, q.T())
		for i := range 30 {
			q.Set(i, i, q.At(i, i)+10)
		}
		found, err := linalg.PSDComplement(e, x, q, mat.NewDense(20, 20, nil))
		if err != nil {
			return nil, err
		}
		return elements(found.Part), nil
	}},
	"eigenvalues": {solved, func(e *engine.Engine) ([]float64, error) {
		a := normal(1, 40, 40)
		var s mat.Dense
		s.Add(a, a.T())
		values, _, err := linalg.Eigen(e, &s) // the signs of vectors are arbitrary
		return values, err
	}},
	"nearest neighbours": {solved, func(e *engine.Engine) (all []float64, err error) {
		err = clusters.Distances(context.Background(), e, normal(1, 60, 5), normal(2, 20, 5),
			func(_ int, distances []float64, _ float64) { all = append(all, distances...) })
		return all, err
	}},
	"kernel density": {entries, func(e *engine.Engine) ([]float64, error) {
		p, err := kernel.MarginalDensity(context.Background(), e, normal(1, 300, 2), normal(2, 40, 2), 0.4)
		return elements(p), err
	}},
	"k-means": {entries, func(e *engine.Engine) (all []float64, err error) {
		// The third centre of one start has no points at first.
		problems := []clusters.Problem{{Points: normal(1, 130, 4), Starts: []*mat.Dense{normal(2, 5, 4), normal(3, 5, 4)}},
			{Points: normal(4, 150, 4), Starts: []*mat.Dense{normal(5, 5, 4), normal(6, 5, 4)}}}
		problems[1].Starts[0].SetRow(2, []float64{100, 0, 0, 0})
		found, err := clusters.Lloyd(context.Background(), e, problems, 1000)
		for _, runs := range found {
			for _, r := range runs {
				all = append(all, float64(r.Iterations), float64(r.Moving))
				for _, label := range r.Labels {
					all = append(all, float64(label))
				}
			}
		}
		return all, err
	}},
	"Laplace mode": {modes, func(e *engine.Engine) ([]float64, error) {
		x := normal(1, 50, 3)
		k, err := kernel.EQ(2, 4).Matrix(e, x, x)
		if err != nil {
			return nil, err
		}
		m, err := laplace.Full(e, k, nil)
		if err != nil {
			return nil, err
		}
		defer m.Close()
		y := mat.NewDense(50, 1, nil)
		for i := range 50 {
			y.Set(i, 0, math.Copysign(1, x.At(i, 0)))
		}
		f := make([]float64, 50)
		for range 12 {
			step, err := m.Step(context.Background(), f, y)
			if err != nil {
				return nil, err
			}
			f = mat.Col(nil, 0, step.Latent)
		}
		variances, err := m.Variances(context.Background(), [][]float64{f, make([]float64, 50)}, k)
		if err != nil {
			return nil, err
		}
		spectrum, _, err := m.Spectrum(context.Background(), f)
		return slices.Concat(f, variances[0], variances[1], spectrum), err
	}},
	"Laplace mode, low rank": {modes, func(e *engine.Engine) ([]float64, error) {
		v := normal(1, 50, 6)
		m, err := laplace.LowRank(e, v, nil)
		if err != nil {
			return nil, err
		}
		defer m.Close()
		y := mat.NewDense(50, 1, nil)
		for i := range 50 {
			y.Set(i, 0, math.Copysign(1, v.At(i, 0)))
		}
		f := make([]float64, 50)
		for range 12 {
			step, err := m.Step(context.Background(), f, y)
			if err != nil {
				return nil, err
			}
			f = mat.Col(nil, 0, step.Latent)
		}
		variances, err := m.Variances(context.Background(), [][]float64{f, make([]float64, 50)}, normal(2, 6, 9))
		return append(f, slices.Concat(variances...)...), err
	}},
	"Laplace modes in a batch": {modes, func(e *engine.Engine) (all []float64, err error) {
		var problems []laplace.Problem
		for i, n := range []int{50, 45, 12, 40} {
			x := normal(uint64(i+1), n, 3)
			k, err := kernel.EQ(2, math.Pow(3, float64(i))).Matrix(e, x, x)
			if err != nil {
				return nil, err
			}
			for _, model := range []func() (*laplace.Model, error){
				func() (*laplace.Model, error) { return laplace.Full(e, k, nil) },
				func() (*laplace.Model, error) { return laplace.LowRank(e, x, nil) },
			} {
				m, err := model()
				if err != nil {
					return nil, err
				}
				y := make([]float64, n)
				for j := range y {
					y[j] = math.Copysign(1, x.At(j, 0)*x.At(j, 1)+0.3)
				}
				problems = append(problems, laplace.Problem{Model: m, Sums: y})
			}
		}
		found, err := laplace.Modes(context.Background(), e, problems, 100)
		for _, m := range found {
			if all, err = append(all, m.Latent...), errors.Join(err, m.Err); m.Change > laplace.Tolerance(e) {
				err = errors.Join(err, errors.New("not converged"))
			}
		}
		return all, err
	}},
	"cloaking descent": {cloaked, func(e *engine.Engine) ([]float64, error) {
		r, err := descent.Descend(context.Background(), e, descent.Problem{C: normal(1, 3, 12)},
			descent.Options{Iterations: 300})
		return []float64{r.Objective}, err
	}},
	"likelihood of a Gaussian process": {solved, func(e *engine.Engine) (all []float64, err error) {
		x, y := normal(1, 50, 12), elements(normal(2, 50, 1))
		for _, k := range []kernel.Kernel{kernel.EQ(1, 1), kernel.Matern(0.5, 1, 1), kernel.Matern(1.5, 1, 1),
			kernel.Matern(2.5, 1, 1), kernel.Laplacian(1, 1)} {
			for _, lengths := range [][]float64{{4}, {3, 4, 5, 6, 7, 8, 3, 4, 5, 6, 7, 8}} {
				value, gradient, err := gp.Evaluate(context.Background(), e, x, y, k,
					gp.Hyperparameters{Lengthscales: lengths, Variance: 2, Noise: 0.1, Mean: 0.5})
				if err != nil {
					return nil, err
				}
				all = append(append(all, value), gradient...)
			}
		}
		return all, nil
	}},
	"left singular vectors": {cloaked, func(e *engine.Engine) ([]float64, error) {
		found, err := linalg.LeftSingular(context.Background(), e, []*mat.Dense{normal(1, 7, 30), normal(2, 20, 9),
			normal(3, 8, 28)})
		if err != nil {
			return nil, err
		}
		var out []float64
		for _, s := range found {
			out = append(append(out, s.Values...), elements(s.Left)...)
		}
		return out, nil
	}},
	"interior point": {cloaked, func(e *engine.Engine) ([]float64, error) {
		problems := []*mat.Dense{normal(1, 3, 12), normal(2, 9, 30), normal(3, 3, 12)}
		found, err := interior.Solve(context.Background(), e, problems, 1e-9, 60)
		if err != nil {
			return nil, err
		}
		var out []float64
		for i, b := range problems {
			_, n := b.Dims()
			var m mat.Dense
			m.Product(b, mat.NewDiagDense(n, found[i].Lambda), b.T())
			logdet, _ := mat.LogDet(&m)
			out = append(out, logdet)
		}
		return out, nil
	}},
	"subset of regressors": {solved, func(e *engine.Engine) ([]float64, error) {
		z, x := normal(1, 20, 3), normal(2, 40, 3)
		kmm, err := kernel.Matern(1.5, 1, 1).Matrix(e, z, z)
		if err != nil {
			return nil, err
		}
		cross, err := kernel.Matern(1.5, 1, 1).Matrix(e, z, x)
		if err != nil {
			return nil, err
		}
		features, err := laplace.Features(context.Background(), e, kmm, cross)
		return elements(features), err
	}},
	"principal and desensitised components": {parity{1e-8, 1e-2}, func(e *engine.Engine) ([]float64, error) {
		x, labels := classes(3, 45, 12)
		k, o := kernel.RBF(0.05), discriminant.Options{Ridge: 0.5, Components: 2}
		p, err := discriminant.FitPrincipal(context.Background(), e, k, x, o)
		if err != nil {
			return nil, err
		}
		q, err := discriminant.FitDesensitised(context.Background(), e, k, x, labels, o)
		if err != nil {
			return nil, err
		}
		out := slices.Concat(p.Power, q.Power)
		for _, fitted := range []*discriminant.Projection{p, q} {
			z, err := fitted.Project(context.Background(), e, normal(4, 20, 12))
			if err != nil {
				return nil, err
			}
			out = append(out, elements(z)...)
		}
		return out, nil
	}},
	"compressive kernels": {parity{1e-8, 1e-2}, func(e *engine.Engine) ([]float64, error) {
		x, labels := classes(3, 45, 12)
		k := kernel.RBF(0.05)
		p, err := discriminant.Fit(context.Background(), e, k, x, labels, discriminant.Options{Ridge: 0.5,
			SignalRidge: 0.1, Components: 2}) // in further solves, too
		if err != nil {
			return nil, err
		}
		z, err := p.Project(context.Background(), e, normal(4, 20, 12))
		if err != nil {
			return nil, err
		}
		set, err := discriminant.NewSet(context.Background(), e, []*mat.Dense{p.Features, x}, labels, labels)
		if err != nil {
			return nil, err
		}
		// Eigenvectors have no sign: components are compared by their squares.
		z.MulElem(z, z)
		return append(append(elements(z), p.Power...), set.Trace(0), set.Trace(1)), nil
	}},
	"sparse GP": {parity{1e-8, 1e-2}, func(e *engine.Engine) ([]float64, error) {
		ctx := context.Background()
		x, y := normal(1, 80, 2), elements(normal(2, 80, 1))
		g := sparsegp.InducingInputs{Kernel: kernel.EQ(1, 1), Z: normal(3, 9, 2), Jitter: 1e-3}
		sums, err := sparsegp.Sum(ctx, e, g, x, y, nil)
		if err != nil {
			return nil, err
		}
		posterior, err := sparsegp.Infer(ctx, e, g, sums, 4,
			sparsegp.Noise{VarianceA: 0.01, VarianceB: 0.01, Ridge: 0.1, Form: sparsegp.Exact})
		if err != nil {
			return nil, err
		}
		points := normal(4, 30, 2)
		mean, variances, err := sparsegp.Predict(ctx, e, g, posterior.Mean, []*mat.Dense{posterior.Cov, posterior.Naive},
			points)
		if err != nil {
			return nil, err
		}
		projection, err := sparsegp.Project(ctx, e, g, points)
		if err != nil {
			return nil, err
		}
		projected, variance, err := projection.Predict(ctx, e, posterior.Mean, posterior.Cov)
		if err != nil {
			return nil, err
		}
		draw := sparsegp.Draw{Sums: sums, Precision: 4, At: projection,
			Noise: sparsegp.Noise{VarianceA: 0.01, VarianceB: 0.01, Ridge: 0.1, Form: sparsegp.Exact}}
		draws, err := sparsegp.PredictAll(ctx, e, []sparsegp.Draw{draw, draw, draw})
		if err != nil {
			return nil, err
		}
		return slices.Concat(sums.A, elements(sums.B), posterior.Mean, mean, variances[0], variances[1], projected,
			variance, draws[1].Mean, draws[2].Variance), draws[1].Err
	}},
	"kernel affine hull machine of many columns": {parity{1e-8, 1e-2}, func(e *engine.Engine) ([]float64, error) {
		m, err := hull.Fit(context.Background(), e, normal(1, 20, 60), hull.Options{Dim: 3})
		if err != nil {
			return nil, err
		}
		d, err := m.Distances(context.Background(), e, normal(2, 30, 60))
		return elements(d), err
	}},
	"kernel affine hull machine of leading directions": {parity{1e-8, 1e-2}, func(e *engine.Engine) ([]float64, error) {
		y, q := normal(1, 160, 140), normal(2, 30, 140)
		for _, a := range []*mat.Dense{y, q} {
			a.Apply(func(_, j int, v float64) float64 { return v * math.Pow(.8, float64(j)) }, a)
		}
		m, err := hull.Fit(context.Background(), e, y, hull.Options{Dim: 3})
		if err != nil {
			return nil, err
		}
		d, err := m.Distances(context.Background(), e, q)
		return elements(d), err
	}},
	"kernel affine hull machines in a batch": {parity{1e-8, 1e-2}, func(e *engine.Engine) ([]float64, error) {
		batch := []*mat.Dense{normal(1, 60, 9), normal(2, 57, 9), normal(3, 64, 9), normal(4, 30, 9)}
		batch[1].Scale(1e-2, batch[1]) // takes another number of evaluations
		batch[3].Scale(1e2, batch[3])
		distances, models := make([]*mat.Dense, len(batch)), make([]*mat.Dense, len(batch))
		ctx, opts := context.Background(), hull.Options{Dim: 3, Layers: 2}
		err := hull.ModelAll(ctx, e, batch, opts, func(i int, m *hull.SmoothModel, err error) error {
			if err == nil {
				models[i] = m.Smoothed
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		err = hull.FitAll(ctx, e, batch, opts, func(i int, m *hull.Machine, err error) error {
			if err == nil {
				distances[i], err = m.Distances(ctx, e, normal(5, 40, 9))
			}
			return err
		})
		var all []float64
		for i := range batch {
			if err == nil {
				all = append(append(all, elements(distances[i])...), elements(models[i])...)
			}
		}
		return all, err
	}},
	"search among kernel affine hull machines": {parity{1e-8, 1e-2}, func(e *engine.Engine) ([]float64, error) {
		ctx, machines := context.Background(), make([]*hull.Machine, 2)
		for i := range machines {
			y := normal(uint64(i+1), 40, 9)
			y.Apply(func(_, _ int, v float64) float64 { return v + float64(i) }, y)
			var err error
			if machines[i], err = hull.Fit(ctx, e, y, hull.Options{Dim: 3, Layers: 2}); err != nil {
				return nil, err
			}
		}
		ensemble, err := hull.NewEnsemble(machines, []int{0, 1})
		if err != nil {
			return nil, err
		}
		n, err := ensemble.Nearest(ctx, e, normal(5, 40, 9), hull.Search{ByGroup: true, Method: hull.Resident})
		if err != nil {
			return nil, err
		}
		return elements(n.Distance), nil
	}},
	"kernel affine hull machine": {parity{1e-8, 1e-2}, func(e *engine.Engine) ([]float64, error) {
		y := normal(1, 60, 9)
		m, err := hull.Fit(context.Background(), e, y, hull.Options{Dim: 3, Layers: 2})
		if err != nil {
			return nil, err
		}
		d, err := m.Distances(context.Background(), e, normal(2, 40, 9))
		return elements(d), err
	}},
	"clipped gradients": {solved, func(e *engine.Engine) ([]float64, error) {
		ctx, x, targets := context.Background(), normal(1, 90, 8), mat.NewDense(90, 3, nil)
		for i := range 90 {
			targets.Set(i, i%3, 1)
		}
		var out []float64
		for _, n := range []clipped.Network{clipped.Dense{Length: 8, Targets: 3},
			clipped.Dense{Length: 8, Hidden: 5, Targets: 3}} {
			weights := elements(normal(2, 1, n.Len()))
			s, err := clipped.Over(e, n, clipped.CrossEntropy, x, targets, 1)
			if err != nil {
				return nil, err
			}
			defer s.Close()
			sum, err := s.All(ctx, weights)
			if err != nil {
				return nil, err
			}
			outputs, err := clipped.Evaluate(ctx, e, n, weights, x)
			if err != nil {
				return nil, err
			}
			out = slices.Concat(out, sum, elements(outputs))
		}
		return out, nil
	}},
	"products of rows": {solved, func(e *engine.Engine) ([]float64, error) {
		square, vector, err := linalg.Products(context.Background(), e, normal(1, 90, 8), elements(normal(2, 90, 1)))
		return slices.Concat(square, vector), err
	}},
}

func TestProgramsLikeTheHost(t *testing.T) {
	host := open(t, "cpu", "float64")
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			want, err := p.run(host)
			if err != nil {
				t.Fatal(err)
			}
			for dtype, tolerance := range map[string]float64{"float64": p.parity.double, "float32": p.parity.single} {
				t.Run(dtype, func(t *testing.T) {
					e := open(t, "cuda", dtype)
					got, err := p.run(e)
					if err != nil {
						t.Fatal(err)
					}
					if len(got) != len(want) {
						t.Fatalf("%d numbers, want %d", len(got), len(want))
					}
					for i := range want {
						if !(math.Abs(got[i]-want[i]) <= tolerance*(1+math.Abs(want[i]))) {
							t.Fatalf("element %d is %.17g, want %.17g within %g", i, got[i], want[i], tolerance)
						}
					}
					for range 4 { // the last ones are replayed where that pays
						again, err := p.run(e)
						if err != nil {
							t.Fatal(err)
						}
						for i := range got {
							if again[i] != got[i] {
								t.Fatalf("element %d is %v at first and %v in a later run", i, got[i], again[i])
							}
						}
					}
					if w := strings.Join(e.Warnings(), "; "); strings.Contains(w, "launch by launch") {
						t.Error(w)
					}
				})
			}
		})
	}
}

// The programs above are all that there are: every engine.Program of the graph
// packages' sources, known by the text that its name begins with, is among those
// that they run.
func TestEveryProgramIsCompared(t *testing.T) {
	e := open(t, "cuda", "float64")
	var ran []string
	for _, p := range programs {
		if _, err := p.run(e); err != nil {
			t.Fatal(err)
		}
		ran = append(ran, e.Programs()...) // memory of earlier runs may have been freed
	}
	constructors := programNames(t)
	if len(constructors) < 20 {
		t.Fatalf("found %d programs in the sources: %v", len(constructors), constructors)
	}
	for name, at := range constructors {
		for other := range constructors {
			if other != name && strings.HasPrefix(other, name) {
				t.Errorf("%s: the name %q is the beginning of another program's, %q", at, name, other)
			}
		}
		if !slices.ContainsFunc(ran, func(r string) bool { return strings.HasPrefix(r, name) }) {
			t.Errorf("%s: no program %q... is compared with the host", at, name)
		}
	}
}

// programNames finds the literals of engine.Program in the other packages of graphs: the beginning
// of each one's name, and its place.
func programNames(t *testing.T) map[string]string {
	t.Helper()
	sources, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, path := range sources {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../backend/") { // whose programs are timed
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || !isProgram(literal.Type) {
				return true
			}
			at := files.Position(literal.Pos()).String()
			name := ""
			for _, e := range literal.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == "Name" {
					name = leadingText(kv.Value)
				}
			}
			switch other, taken := names[name]; {
			case name == "":
				t.Errorf("%s: the program's name does not begin with a text, by which this test could know it", at)
			case taken:
				t.Errorf("%s: the program's name begins like that at %s, %q", at, other, name)
			}
			names[name] = at
			return true
		})
	}
	return names
}

func isProgram(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := s.X.(*ast.Ident)
	return ok && from.Name == "engine" && s.Sel.Name == "Program"
}

func leadingText(e ast.Expr) string {
	for {
		b, ok := e.(*ast.BinaryExpr)
		if !ok {
			break
		}
		e = b.X
	}
	text := ""
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
		text, _ = strconv.Unquote(l.Value) // the parser has accepted it
	}
	return text
}

// A matrix that is not positive definite gives the host's error, with its row, pivot and diagonal;
// runs before and after are not disturbed.
func TestFailureIsTheHosts(t *testing.T) {
	host, device := open(t, "cpu", "float64"), open(t, "cuda", "float64")
	a := graphtest.Definite(graphtest.Rand(1), 30)
	bad := mat.DenseCopyOf(a)
	bad.Set(17, 17, -3)
	b := normal(2, 30, 2)
	for range 2 {
		_, _, want := linalg.SolveSPD(host, bad, b)
		_, _, got := linalg.SolveSPD(device, bad, b)
		var one, other *op.NotPositiveDefiniteError
		if !errors.As(want, &one) || !errors.As(got, &other) || *one != *other {
			t.Errorf("got %v, want %v", got, want)
		}
		if _, _, err := linalg.SolveSPD(device, a, b); err != nil {
			t.Errorf("after a failure: %v", err)
		}
	}
}

func open(t *testing.T, backend, dtype string) *engine.Engine {
	t.Helper()
	e, err := engine.Open(backend, dtype, 1)
	if err != nil && backend == "cuda" && os.Getenv("PRIVKERN_TEST_BACKEND") != "cuda" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, w := range e.Warnings() {
			if strings.Contains(w, engine.FellBack) {
				t.Error(w)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func normal(seed uint64, rows, cols int) *mat.Dense {
	return graphtest.Normal(graphtest.Rand(seed), rows, cols)
}

// classes are samples of a number of classes, with means of their own.
func classes(number, rows, cols int) (*mat.Dense, []int) {
	x, means, labels := normal(1, rows, cols), normal(2, number, cols), make([]int, rows)
	for i := range rows {
		labels[i] = i % number
		for j := range cols {
			x.Set(i, j, x.At(i, j)+2*means.At(labels[i], j))
		}
	}
	return x, labels
}

func positive(seed uint64, rows, cols int) *mat.Dense {
	a := normal(seed, rows, cols)
	a.Apply(func(_, _ int, v float64) float64 { return 0.5 + math.Abs(v) }, a)
	return a
}

func elements(a *mat.Dense) []float64 {
	if a == nil {
		return nil
	}
	return a.RawMatrix().Data
}

package op

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
)

// All lists the operations of the package, each with some parameters.
func All() []Op {
	return []Op{
		Cholesky(), choleskyGradient(), CholeskyShifted(), CholeskySolve(), TriangularSolve(), CholeskyLogDet(),
		ReciprocalCondition(),
		Solve(), LogDet(), Inverse(), AddDiagonal(),
		RidgeSolve(), RidgeNorm(), RidgeGramNorm(),
		Kernel(Profile{}), KernelSymmetric(Profile{}), kernelSlope(Profile{}), metricGradient(SquaredEuclidean),
		Gibbs(1), gibbsGradient(false),
		WeightedGram(), scaledProduct(), QuadraticForms(), ColumnNorms(), IdentityPlusGram(), Scatter(1, false),
		Eigen(), Eigenvalues(), LargestEigen(1), LeadingEigen(1, 2), PSDPart(), psdGradient(),
		LeftSingular(),
		RowMeans(), CentreSymmetric(), Trace(), ScaleRows(), SubtractRow(), RowDistance(0),
		LogisticScale(), NewtonTarget(), IdentityPlusScaled(),
		AffineHull(),
		Leading(1),
		NearestCentres(1, true), RefillClusters(1), ClusterMeans(1),
		MatrixProduct(), ScaledBy(), symmetricPart(),
	}
}

// Case is an operation on some operands, by which tests compare backends, precisions and
// numbers of workers.
//
// The tolerances grow with Condition, because results of two backward stable algorithms
// still differ by the condition number of the problem times the unit of roundoff.
// Operands come from one seeded stream, so that a case is the same on every machine.
type Case struct {
	Name string
	// Op is the operation on the operands; or Graph builds more than one operation, such as
	// a derivative. It panics for operands of wrong shapes.
	Op    Op
	Graph func(in gorgonia.Nodes) *gorgonia.Node
	In    []Operand
	// Condition is the factor of the usual tolerances: a condition number.
	Condition float64
	// Exact is set where results of the device are the host's to the last bit.
	Exact bool
	// Double is set where float32 does not resolve the case.
	Double bool
}

// Operand is an input of a case.
type Operand struct {
	*mat.Dense
	Scalar bool // the only element of the matrix
}

// Node adds the case to the graph of its operands.
func (c Case) Node(in gorgonia.Nodes) *gorgonia.Node {
	if c.Graph != nil {
		return c.Graph(in)
	}
	return gorgonia.Must(c.Op.Apply(in...))
}

// Cases returns the cases of the operation with any parameters; they are the same in
// every call. Sizes leave tiles and blocks incomplete.
func (o Op) Cases() []Case {
	if o.def.cases == nil {
		return nil
	}
	return o.def.cases(newSampler())
}

// applied returns a case of one operation.
func applied(name string, o Op, condition float64, in ...Operand) Case {
	return Case{Name: name, Op: o, In: in, Condition: condition}
}

// derived returns the gradient of Σ o(in)² by one input.
func derived(name string, o Op, by int, condition float64, in ...Operand) Case {
	return slope(name, by, condition, in, func(in gorgonia.Nodes) (*gorgonia.Node, error) { return o.Apply(in...) })
}

// gradient returns the derivative of a scalar node by another node.
func gradient(of, by *gorgonia.Node) *gorgonia.Node {
	grads, err := gorgonia.Grad(of, by)
	if err != nil {
		panic(err)
	}
	return grads[0]
}

// Sizes of operands: above and below the tiles and blocks of the kernels, and no
// multiples of them.
const (
	big   = 150
	small = 37
)

// sampler makes operands.
type sampler struct{ rng *rand.Rand }

// newSampler starts from the same numbers in every call, so that the cases of all tests
// are the same.
func newSampler() *sampler { return &sampler{rand.New(rand.NewPCG(1, 1))} }

// scalar returns the number v as an operand.
func (s *sampler) scalar(v float64) Operand {
	return Operand{mat.NewDense(1, 1, []float64{v}), true}
}

// normal returns a matrix of independent standard normal numbers.
func (s *sampler) normal(rows, cols int) Operand {
	data := make([]float64, rows*cols)
	for i := range data {
		data[i] = s.rng.NormFloat64()
	}
	return Operand{Dense: mat.NewDense(rows, cols, data)}
}

// positive returns a matrix of numbers above one half.
func (s *sampler) positive(rows, cols int) Operand {
	a := s.normal(rows, cols)
	a.Apply(func(_, _ int, v float64) float64 { return 0.5 + math.Abs(v) }, a.Dense)
	return a
}

// edges are the numbers at which functions leave the ordinary ones.
var edges = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, 3, -3,
	1e-30, -1e-30, 20, -20, 120, -120}

// edge returns a matrix whose columns, or with byRow set whose rows, are the edges: two such
// operands have all pairs of edges.
func (s *sampler) edge(byRow bool) Operand {
	a := mat.NewDense(len(edges), len(edges), nil)
	a.Apply(func(i, j int, _ float64) float64 {
		if byRow {
			return edges[i]
		}
		return edges[j]
	}, a)
	return Operand{Dense: a}
}

// holed returns a normal matrix with NaN and infinities here and there, but not as the
// first element.
func (s *sampler) holed(rows, cols int) Operand {
	a := s.normal(rows, cols)
	a.Apply(func(i, j int, v float64) float64 {
		switch n := s.rng.IntN(3 * cols); {
		case i+j > 0 && n < 2:
			return math.NaN()
		case n == 2:
			return math.Inf(1)
		case n == 3:
			return math.Inf(-1)
		}
		return v
	}, a.Dense)
	return a
}

// whole returns a matrix of the integers from −2 to 2, many of them equal.
func (s *sampler) whole(rows, cols int) Operand {
	a := s.normal(rows, cols)
	a.Apply(func(_, _ int, _ float64) float64 { return float64(s.rng.IntN(5) - 2) }, a.Dense)
	return a
}

// symmetric returns a symmetric matrix with standard normal elements: indefinite, with eigenvalues
// within about ±2√n.
func (s *sampler) symmetric(n int) Operand {
	a := s.normal(n, n)
	for i := range n {
		for j := range i {
			a.Set(i, j, a.At(j, i))
		}
	}
	return a
}

// definite returns a symmetric matrix with eigenvalues from 1.
// It is I + BBᵀ with standard normal B, n×n, whose condition number is about 4n.
func (s *sampler) definite(n int) Operand {
	b := s.normal(n, n)
	a := mat.NewDense(n, n, nil)
	a.Mul(b, b.T())
	for i := range n {
		for j := range i {
			a.Set(i, j, a.At(j, i))
		}
		a.Set(i, i, a.At(i, i)+1)
	}
	return Operand{Dense: a}
}

// lower returns the Cholesky factor of a definite matrix.
func (s *sampler) lower(n int) Operand { return lowerOf(s.definite(n)) }

// lowerOf returns the Cholesky factor of a positive definite operand.
func lowerOf(a Operand) Operand {
	n, _ := a.Dims()
	var c mat.Cholesky
	c.Factorize(mat.NewSymDense(n, a.RawMatrix().Data))
	var l mat.TriDense
	c.LTo(&l)
	return Operand{Dense: mat.DenseCopyOf(&l)}
}

// overflowing returns a factor with which solutions overflow.
func (s *sampler) overflowing(n int) Operand {
	l := s.lower(n)
	for i := range n {
		l.Set(i, i, 1e-30)
		for j := range i {
			l.Set(i, j, 1e8*l.At(i, j))
		}
	}
	return l
}

// spectrum returns the Eigen of a symmetric matrix.
func (s *sampler) spectrum(a Operand) Operand {
	n, _ := a.Dims()
	var e mat.EigenSym
	e.Factorize(mat.NewSymDense(n, a.RawMatrix().Data), true)
	var v mat.Dense
	e.VectorsTo(&v)
	out := mat.NewDense(n+1, n, nil)
	out.SetRow(0, e.Values(nil))
	out.Slice(1, n+1, 0, n).(*mat.Dense).Copy(&v)
	return Operand{Dense: out}
}

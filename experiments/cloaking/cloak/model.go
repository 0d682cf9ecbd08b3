package cloak

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/linalg"
	"privkern/runner/experiment"
)

// Model is a GP regression with fixed hyperparameters: a linear map from the
// outputs at the training inputs to the predictions at the test inputs. All inputs,
// inducing ones included, are as [Kernel.Scaled] returns them.
type Model struct {
	Method Method
	Hyperparameters
	Inducing     *mat.Dense          // sparse: inducing inputs, M×d
	Lengthscales *DensityLengthscale // nonstationary, weighted sum
}

// Groups are training inputs (N×d) with equal rows taken together.
//
// Outputs at one input enter a GP only through their mean, whose noise variance
// is σ²/n. So equal rows have equal columns in the cloaking matrix, here also
// in every digit, and the linear systems shrink to the distinct rows.
type Groups struct {
	Rows  *mat.Dense // U×d, in the order of their first appearance
	Count []float64  // how often each appears
	Of    []int      // index into rows for each of the N
}

// Group takes equal rows of x (N×d) together.
func Group(x *mat.Dense) Groups {
	of, first, count := design.EqualRows(x)
	return Groups{Rows: learn.SelectRows(x, first), Count: count, Of: of}
}

// Matrix returns the cloaking matrix C (P×N): the posterior mean at the rows
// of test (P×d) is C times the outputs at the rows of train (N×d).
//
// Row i sums to less than one where the test input is far from the training inputs: the
// prediction returns to the prior mean, which is why outputs enter less that mean. The
// standard method takes U³/3 + 2U²P operations for U distinct inputs, the sparse one
// O(UM² + M³ + M²P).
func (m *Model) Matrix(e *engine.Engine, train, test *mat.Dense) (*mat.Dense, error) {
	g := Group(train)
	perGroup, _, err := m.posterior(e, g, test, false)
	if err != nil {
		return nil, err
	}
	return design.SelectColumns(perGroup, g.Of), nil
}

// Posterior returns [Model.Matrix] (P×N) and the posterior variance of the latent function at the rows of test (P), in
// the unit of the kernel's: Eq. (3) without its σ², which is the variance of a new observation, or for the other
// methods k_** − k_*ᵀ(K + σ²I)⁻¹k_*. They depend on the inputs alone, which are public, and take no noise (Section
// 2.2).
func (m *Model) Posterior(e *engine.Engine, train, test *mat.Dense) (c *mat.Dense, variance []float64, err error) {
	g := Group(train)
	perGroup, explained, err := m.posterior(e, g, test, true)
	if err != nil {
		return nil, nil, err
	}
	variance, err = m.variance(e, explained, test)
	return design.SelectColumns(perGroup, g.Of), variance, err
}

// posterior returns the column of the cloaking matrix that each row of a group has (P×U) and, for judged, the part of
// the prior variance that the training inputs explain (P).
func (m *Model) posterior(e *engine.Engine, g Groups, test *mat.Dense, judged bool) (perGroup *mat.Dense,
	explained []float64, err error) {
	if m.Method != Sparse {
		x, cross, err := m.solveExact(e, g, test)
		if err != nil {
			return nil, nil, m.failed(err)
		}
		if judged {
			explained = linalg.ColumnProducts(cross, x)
		}
		return g.weights(x), explained, nil
	}
	f, err := m.system(e, g)
	if err != nil {
		return nil, nil, m.failed(err)
	}
	ksm, x, err := m.posteriorWeights(e, f, test)
	if err == nil && judged {
		explained, err = m.sparseExplained(e, f, ksm, x)
	}
	if err != nil {
		return nil, nil, m.failed(err)
	}
	return f.weights(x), explained, nil
}

// failed adds the method to an error.
func (m *Model) failed(err error) error {
	return fmt.Errorf("predictions of the %s method: %w", m.Method, err)
}

// kernel returns the kernel matrix (n×m) between the rows of x (n×d) and of y (m×d).
func (m *Model) kernel(e *engine.Engine, x, y *mat.Dense) (*mat.Dense, error) {
	short := m.EQ()
	switch m.Method {
	case Nonstationary:
		lx, err := m.Lengthscales.At(e, x)
		if err != nil {
			return nil, err
		}
		ly, err := m.Lengthscales.At(e, y)
		if err != nil {
			return nil, err
		}
		return kernel.GibbsMatrix(e, x, y, lx, ly, m.KernelVariance)
	case WeightedSum:
		wx, err := m.Lengthscales.Weights(e, x)
		if err != nil {
			return nil, err
		}
		wy, err := m.Lengthscales.Weights(e, y)
		if err != nil {
			return nil, err
		}
		long := kernel.EQ(m.Lengthscales.Cap, m.KernelVariance)
		return kernel.WeightedSumMatrix(e, short, long, x, y, wx, wy)
	}
	return short.Matrix(e, x, y)
}

// prior is the variance of the latent function at the rows of x (n×d) before it has seen data.
func (m *Model) prior(e *engine.Engine, x *mat.Dense) ([]float64, error) {
	n, _ := x.Dims()
	out := slices.Repeat([]float64{m.KernelVariance}, n)
	if m.Method != WeightedSum {
		return out, nil
	}
	w, err := m.Lengthscales.Weights(e, x)
	for i, v := range w {
		out[i] *= v*v + (1-v)*(1-v)
	}
	return out, err
}

// weights are C = K_*f (K + σ²I)⁻¹. On the distinct inputs, with D the diagonal of
// their counts, one column of a group is that of K_*u (K_uu + σ²D⁻¹)⁻¹ D⁻¹.
//
// X (U×P, for U distinct training inputs) is solveExact's, and is overwritten; the result is P×U.
func (g *Groups) weights(x *mat.Dense) *mat.Dense {
	for i, count := range g.Count {
		row := x.RawRowView(i)
		for j := range row {
			row[j] /= count
		}
	}
	return mat.DenseCopyOf(x.T())
}

// solveExact returns (K_uu + σ²D⁻¹)⁻¹K_u* and K_u* (U×P).
func (m *Model) solveExact(e *engine.Engine, g Groups, test *mat.Dense) (x, cross *mat.Dense, err error) {
	k, err := m.kernel(e, g.Rows, g.Rows)
	if err != nil {
		return nil, nil, err
	}
	for i, count := range g.Count {
		k.Set(i, i, k.At(i, i)+m.NoiseVariance/count)
	}
	if cross, err = m.kernel(e, g.Rows, test); err != nil {
		return nil, nil, err
	}
	x, _, err = linalg.SolveSPD(e, k, cross)
	return x, cross, err
}

// weights are Eq. (4): C = K_*m Q⁻¹ K_mn (Λ + σ²I)⁻¹ with
// Q = K_mm + K_mn (Λ + σ²I)⁻¹ K_nm and Λ = diag(K_nn − K_nm K_mm⁻¹ K_mn).
//
// Equal inputs have equal λ, so that a distinct one enters Q with its count. X (M×P) is that of
// [Model.posteriorWeights]; the result is P×U, for U distinct training inputs.
func (f *sparseSystem) weights(x *mat.Dense) *mat.Dense {
	var c mat.Dense
	c.Mul(x.T(), f.scaled)
	return &c
}

// posteriorWeights returns K_m* and Q⁻¹K_m* (M×P).
func (m *Model) posteriorWeights(e *engine.Engine, f *sparseSystem, test *mat.Dense) (ksm, x *mat.Dense, err error) {
	if ksm, err = m.kernel(e, m.Inducing, test); err != nil {
		return nil, nil, err
	}
	x, _, err = linalg.SolveSPD(e, f.q, ksm)
	return ksm, x, err
}

// sparseSystem holds the factors of the sparse method, for M inducing and U distinct training
// inputs.
type sparseSystem struct {
	kmm    *mat.Dense // M×M
	q      *mat.Dense // M×M, Q
	scaled *mat.Dense // M×U, K_mn (Λ + σ²I)⁻¹
}

func (m *Model) system(e *engine.Engine, g Groups) (*sparseSystem, error) {
	kmm, err := m.kernel(e, m.Inducing, m.Inducing)
	if err != nil {
		return nil, err
	}
	inducing, _ := kmm.Dims()
	u, d := g.Rows.Dims()
	out := &sparseSystem{kmm: kmm, q: mat.NewDense(inducing, inducing, nil), scaled: mat.NewDense(inducing, u, nil)}
	for at := 0; at < u; at += systemBlock {
		end := min(at+systemBlock, u)
		if err := m.addToSystem(e, out, g.Rows.Slice(at, end, 0, d).(*mat.Dense), g.Count[at:end], at); err != nil {
			return nil, err
		}
	}
	out.q.Add(out.q, kmm)
	return out, nil
}

// systemBlock bounds how many training inputs have their kernel matrices in memory besides the scaled ones.
const systemBlock = 1 << 14

// addToSystem adds training inputs (n×d) and their counts, the first of which is number at, to Q less K_mm and to the
// scaled kernel matrix.
func (m *Model) addToSystem(e *engine.Engine, s *sparseSystem, rows *mat.Dense, count []float64, at int) error {
	kmn, err := m.kernel(e, m.Inducing, rows)
	if err != nil {
		return err
	}
	solved, _, err := linalg.SolveSPD(e, s.kmm, kmn)
	if err != nil {
		return fmt.Errorf("%w; the inducing inputs lie too near each other for the lengthscale: use fewer of them", err)
	}
	inducing, n := kmn.Dims()
	variance, root := linalg.ColumnProducts(kmn, solved), make([]float64, n)
	for j, explained := range variance {
		variance[j] = max(0, m.KernelVariance-explained) + m.NoiseVariance
		root[j] = math.Sqrt(count[j] / variance[j])
	}
	for i := range inducing {
		row, scaled := kmn.RawRowView(i), s.scaled.RawRowView(i)[at:at+n]
		for j, v := range row {
			scaled[j] = v / variance[j]
			row[j] = v * root[j] // K_mn (Λ + σ²I)⁻¹ times √(count·(λ+σ²))
		}
	}
	var part mat.Dense
	part.Mul(kmn, kmn.T())
	s.q.Add(s.q, &part)
	return nil
}

// InducingInputs returns, for each training set (N×d), the given ages (M×1), or places the
// given number of inducing inputs by k-means on the training inputs, which are public (§2.2),
// each with its random numbers and in at most the given number of iterations; above 10,000 of them on a sample of so
// many. They are rows of M×d; more than the distinct training inputs are an error.
func InducingInputs(ctx context.Context, e *engine.Engine, z experiment.Points, train []*mat.Dense, rng []*rand.Rand,
	most int,
) ([]*mat.Dense, error) {
	inputs := make([]*mat.Dense, len(train))
	if z.Values != nil {
		for i := range inputs {
			inputs[i] = mat.NewDense(len(z.Values), 1, slices.Clone(z.Values))
		}
		return inputs, nil
	}
	problems := make([]learn.KMeansProblem, len(train))
	for i := range problems {
		problems[i] = learn.KMeansProblem{Points: sample(train[i], z.Count, rng[i]), Clusters: z.Count, Rand: rng[i]}
	}
	opts := learn.KMeansOptions{Iterations: most}
	err := learn.KMeansAll(ctx, e, problems, opts, func(i int, c *learn.Clustering, err error) error {
		if err != nil {
			return InBatch(fmt.Errorf("inducing inputs: %w", err), i, len(train))
		}
		inputs[i] = c.Centres
		return nil
	})
	return inputs, err
}

// clusteredRows is the most training inputs that inducing inputs are placed by.
const clusteredRows = 10_000

// sample returns x (n×d) or, above [clusteredRows], one row of each of that many stretches of equal length, drawn at
// random: of all rows or, where these are so often equal that a sample has less different ones than clusters, of the
// different ones.
func sample(x *mat.Dense, clusters int, rng *rand.Rand) *mat.Dense {
	n, _ := x.Dims()
	if n <= clusteredRows {
		return x
	}
	rows := make([]int, clusteredRows)
	for i := range rows {
		from, to := i*n/clusteredRows, (i+1)*n/clusteredRows
		rows[i] = from + rng.IntN(to-from)
	}
	out := learn.SelectRows(x, rows)
	if _, first, _ := design.EqualRows(out); len(first) < clusters {
		return sample(Group(x).Rows, 0, rng)
	}
	return out
}

// NewModel returns a model without inducing inputs. All inputs (N×d) are public, so
// that a density estimate uses them all.
func NewModel(m Method, h Hyperparameters, d Density, inputs *mat.Dense) *Model {
	out := &Model{Method: m, Hyperparameters: h}
	if m.ByDensity() {
		out.Lengthscales = NewDensityLengthscale(d, inputs)
	}
	return out
}

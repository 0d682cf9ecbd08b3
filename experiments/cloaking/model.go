package cloaking

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/fault"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/linalg"
	"privkern/runner/experiment"
)

// The methods.
const (
	methodStandard      = "standard"
	methodSparse        = "sparse"
	methodNonstationary = "nonstationary"
)

// model is a GP regression with fixed hyperparameters: a linear map from the
// outputs at the training inputs to the predictions at the test inputs.
type model struct {
	method         string
	lengthscale    float64
	kernelVariance float64
	noiseVariance  float64
	inducing       *mat.Dense   // sparse: inducing inputs, M×d
	lengthscales   *kdeFunction // nonstationary
}

// grouped are training inputs (N×d) with equal rows taken together.
//
// Outputs at one input enter a GP only through their mean, whose noise variance
// is σ²/n. So equal rows have equal columns in the cloaking matrix, here also
// in every digit, and the linear systems shrink to the distinct rows.
type grouped struct {
	rows  *mat.Dense // U×d, in the order of their first appearance
	count []float64  // how often each appears
	of    []int      // index into rows for each of the N
}

func group(x *mat.Dense) grouped {
	n, d := x.Dims()
	g := grouped{of: make([]int, n)}
	index := make(map[string]int, n)
	var data []float64
	for i := range n {
		row := x.RawRowView(i)
		key := fmt.Sprint(row)
		u, ok := index[key]
		if !ok {
			u = len(index)
			index[key] = u
			data = append(data, row...)
			g.count = append(g.count, 0)
		}
		g.count[u]++
		g.of[i] = u
	}
	g.rows = mat.NewDense(len(g.count), d, data)
	return g
}

// matrix returns the cloaking matrix C (P×N): the posterior mean at the rows
// of test (P×d) is C times the outputs at the rows of train (N×d).
func (m *model) matrix(e *engine.Engine, train, test *mat.Dense) (*mat.Dense, error) {
	g := group(train)
	var perGroup *mat.Dense // P×U: the column that each row of a group has
	var err error
	switch m.method {
	case methodStandard, methodNonstationary:
		perGroup, err = m.exact(e, g, test)
	case methodSparse:
		perGroup, err = m.fitc(e, g, test)
	default:
		err = fmt.Errorf("unknown method %q", m.method)
	}
	if err != nil {
		return nil, fmt.Errorf("the cloaking matrix of the %s method: %w", m.method, err)
	}
	p, _ := test.Dims()
	c := mat.NewDense(p, len(g.of), nil)
	for i := range p {
		src, dst := perGroup.RawRowView(i), c.RawRowView(i)
		for j, u := range g.of {
			dst[j] = src[u]
		}
	}
	return c, nil
}

// kernel returns the kernel matrix between the rows of x and of y.
func (m *model) kernel(e *engine.Engine, x, y *mat.Dense) (*mat.Dense, error) {
	if m.method == methodNonstationary {
		return kernel.GibbsMatrix(e, x, y, m.lengthscales.at(x), m.lengthscales.at(y), m.kernelVariance)
	}
	return kernel.EQ(m.lengthscale, m.kernelVariance).Matrix(e, x, y)
}

// exact is C = K_*f (K + σ²I)⁻¹. On the distinct inputs, with D the diagonal of
// their counts, one column of a group is that of K_*u (K_uu + σ²D⁻¹)⁻¹ D⁻¹.
func (m *model) exact(e *engine.Engine, g grouped, test *mat.Dense) (*mat.Dense, error) {
	k, err := m.kernel(e, g.rows, g.rows)
	if err != nil {
		return nil, err
	}
	for i, count := range g.count {
		k.Set(i, i, k.At(i, i)+m.noiseVariance/count)
	}
	cross, err := m.kernel(e, g.rows, test)
	if err != nil {
		return nil, err
	}
	x, _, err := linalg.SolveSPD(e, k, cross)
	if err != nil {
		return nil, err
	}
	for i, count := range g.count {
		row := x.RawRowView(i)
		for j := range row {
			row[j] /= count
		}
	}
	return mat.DenseCopyOf(x.T()), nil
}

// fitc is Eq. (4): C = K_*m Q⁻¹ K_mn (Λ + σ²I)⁻¹ with
// Q = K_mm + K_mn (Λ + σ²I)⁻¹ K_nm and Λ = diag(K_nn − K_nm K_mm⁻¹ K_mn).
func (m *model) fitc(e *engine.Engine, g grouped, test *mat.Dense) (*mat.Dense, error) {
	kmm, err := m.kernel(e, m.inducing, m.inducing)
	if err != nil {
		return nil, err
	}
	kmn, err := m.kernel(e, m.inducing, g.rows)
	if err != nil {
		return nil, err
	}
	solved, _, err := linalg.SolveSPD(e, kmm, kmn)
	if err != nil {
		return nil, fmt.Errorf("%w; the inducing inputs lie too near each other for the lengthscale: use fewer of them", err)
	}
	inducing, n := kmn.Dims()
	scaled := mat.DenseCopyOf(kmn)   // K_mn (Λ + σ²I)⁻¹
	weighted := mat.DenseCopyOf(kmn) // the same times √(count·(λ+σ²))
	for j := range n {
		explained := 0.0
		for i := range inducing {
			explained += kmn.At(i, j) * solved.At(i, j)
		}
		d := max(0, m.kernelVariance-explained) + m.noiseVariance
		for i := range inducing {
			scaled.Set(i, j, kmn.At(i, j)/d)
			weighted.Set(i, j, kmn.At(i, j)*math.Sqrt(g.count[j]/d))
		}
	}
	var q mat.Dense
	q.Mul(weighted, weighted.T())
	q.Add(&q, kmm)
	ksm, err := m.kernel(e, m.inducing, test)
	if err != nil {
		return nil, err
	}
	x, _, err := linalg.SolveSPD(e, &q, ksm)
	if err != nil {
		return nil, err
	}
	var c mat.Dense
	c.Mul(x.T(), scaled)
	return &c, nil
}

// inducingInputs returns the given ages (M×1), or places so many inducing inputs
// by k-means on the training inputs (§2.2), which are public.
func inducingInputs(ctx context.Context, z experiment.Points, train *mat.Dense, rng *rand.Rand) (*mat.Dense, error) {
	if z.Values != nil {
		return mat.NewDense(len(z.Values), 1, slices.Clone(z.Values)), nil
	}
	c, err := learn.KMeans(train, z.Count, rng, learn.KMeansOptions{Iterations: fault.Capped(ctx, learn.KMeansIterations)})
	if err != nil {
		return nil, fmt.Errorf("inducing inputs: %w", err)
	}
	return c.Centres, nil
}

// kdeFunction is the lengthscale of §2.1, one for each dimension:
// l(x) = (1/m + ρ(x)/n)⁻¹ with ρ the density of the public inputs, in rows per
// unit, by a Gaussian KDE.
type kdeFunction struct {
	inputs    *mat.Dense
	bandwidth float64
	rows      float64 // n
	largest   float64 // m
}

// at returns the lengthscales (P×d) at the rows of x (P×d).
func (f *kdeFunction) at(x *mat.Dense) *mat.Dense {
	p, d := x.Dims()
	n, _ := f.inputs.Dims()
	out := mat.NewDense(p, d, nil)
	norm := 1 / (math.Sqrt(2*math.Pi) * f.bandwidth)
	for i := range p {
		for j := range d {
			density := 0.0
			for k := range n {
				z := (x.At(i, j) - f.inputs.At(k, j)) / f.bandwidth
				density += math.Exp(-z * z / 2)
			}
			out.Set(i, j, 1/(1/f.largest+density*norm/f.rows))
		}
	}
	return out
}

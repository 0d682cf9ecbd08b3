package laplace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
)

// Step is the result of a Newton step for D versions of the labels.
type Step struct {
	// Latent is f at the training inputs, N×D.
	Latent *mat.Dense
	// Dual holds the coefficients of predictions: a = K⁻¹f (N×D) for a full covariance, α with
	// f = Vα (M×D) for one of low rank. The posterior mean at test inputs is crossᵀ·Dual, with cross
	// as in [Model.Variances].
	Dual *mat.Dense
}

// Step makes a Newton step from f (length N) for each column of labels (N×D), which are sums for
// inputs with several labels.
func (m *Model) Step(ctx context.Context, f []float64, labels *mat.Dense) (*Step, error) {
	if labels == nil || labels.IsEmpty() {
		return nil, errors.New("step of the Laplace approximation: no labels")
	}
	rows, draws := labels.Dims()
	if rows != m.n {
		return nil, fmt.Errorf("step of the Laplace approximation: labels are %d×%d for %d training inputs", rows, draws, m.n)
	}
	if err := check("the matrix of labels", labels); err != nil {
		return nil, err
	}
	out, err := m.run(ctx, m.stepProgram(draws), [][]float64{f}, engine.Values{"y": m.e.Matrix(labels)})
	if err != nil {
		return nil, err
	}
	r := engine.Read(out)
	return &Step{Latent: r.Dense("f"), Dual: r.Dense("dual")}, r.Err()
}

// squaredNorm returns fᵀK⁻¹f for f and the coefficients of one draw of a step, or of a linear
// combination of steps.
func (m *Model) squaredNorm(f, dual []float64) float64 {
	if m.rank > 0 {
		f = dual // f = Vα, so that fᵀK⁻¹f is αᵀα
	}
	sum := 0.0
	for i, v := range dual {
		sum += f[i] * v
	}
	return sum
}

// Spectrum returns the eigenvalues of C = ½(K⁻¹ + W)⁻¹ at f in descending order, and its
// eigenvectors as rows (k×N). k is N for a full covariance and M for one of low rank, whose other
// eigenvalues are zero. A change Δy of the labels changes the Newton step by C·Δy. Eigenvalues
// that are rounding errors may be negative, and have no meaningful vectors.
func (m *Model) Spectrum(ctx context.Context, f []float64) (values []float64, vectors *mat.Dense, err error) {
	out, err := m.run(ctx, m.spectrumProgram(), [][]float64{f}, nil)
	if err != nil {
		return nil, nil, err
	}
	e, err := engine.Dense(out["spectrum"])
	if err != nil {
		return nil, nil, err
	}
	k, columns := e.Dims()
	values, vectors = mat.Col(nil, 0, e), mat.DenseCopyOf(e.Slice(0, k, 1, columns))
	if m.rank == 0 {
		return values, vectors, nil
	}
	// The eigenvectors p of ½TTᵀ give those of ½TᵀT, Tᵀp/‖Tᵀp‖.
	t, err := engine.Dense(out["t"])
	if err != nil {
		return nil, nil, err
	}
	wide := new(mat.Dense)
	wide.Mul(vectors, t)
	for i, v := range values {
		row := wide.RawRowView(i)
		norm := math.Sqrt(2 * max(v, 0))
		if norm == 0 {
			norm = 1
		}
		for j := range row {
			row[j] /= norm
		}
	}
	return values, wide, nil
}

// Variances returns, for P test inputs and each of the latent functions fs, the part of the posterior
// variance that depends on the training inputs, with W at f.
//
// For a full covariance, cross is the covariance between training and test inputs (N×P), and the
// result is k_*ᵀ(K + W⁻¹)⁻¹k_*, the reduction of the prior variance. For one of low rank, cross
// holds the features of the test inputs (M×P), and the result is the variance of the subset of
// regressors, φ_*ᵀ(I + VᵀWV)⁻¹φ_*, to which DTC adds k_** − φ_*ᵀφ_* (Quiñonero-Candela and
// Rasmussen 2005).
func (m *Model) Variances(ctx context.Context, fs [][]float64, cross *mat.Dense) ([][]float64, error) {
	if err := check("the covariance of the test inputs", cross); err != nil {
		return nil, err
	}
	want := m.n
	if m.rank > 0 {
		want = m.rank
	}
	rows, points := cross.Dims()
	if rows != want {
		return nil, fmt.Errorf("posterior variance: the covariance of the test inputs is %d×%d; %d rows are expected", rows,
			points, want)
	}
	kept, err := m.e.Keep(m.e.Matrix(cross))
	if err != nil {
		return nil, fmt.Errorf("posterior variance: %w", err)
	}
	defer kept.Close()
	together := 1 // on the CPU a batch gains nothing
	if m.e.Backend() != "cpu" {
		together = max(1, batchElements/(m.n*max(want, points)))
	}
	all := make([][]float64, len(fs))
	err = m.e.ParallelFor(ctx, (len(fs)+together-1)/together, 1, func(i, _ int) error {
		first := i * together
		last := min(first+together, len(fs))
		return m.variances(ctx, fs[first:last], kept, points, all[first:last])
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// variances computes those of several latent functions in one run.
func (m *Model) variances(ctx context.Context, fs [][]float64, cross *engine.Resident, points int,
	to [][]float64) error {
	out, err := m.run(ctx, m.varianceProgram(len(fs), points), fs, engine.Values{"cross": cross})
	if err != nil {
		return err
	}
	v, err := engine.Floats(out["variance"])
	if err != nil {
		return err
	}
	for i := range to {
		to[i] = slices.Clone(v[i*points : (i+1)*points])
	}
	return nil
}

// Variance is Variances for one latent function.
func (m *Model) Variance(ctx context.Context, f []float64, cross *mat.Dense) ([]float64, error) {
	all, err := m.Variances(ctx, [][]float64{f}, cross)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// run runs a program at one or several latent functions, with the resident covariance.
func (m *Model) run(ctx context.Context, p engine.Program, fs [][]float64,
	inputs engine.Values) (engine.Values, error) {
	columns := make([]*mat.Dense, len(fs))
	for i, f := range fs {
		if len(f) != m.n {
			return nil, fmt.Errorf("%s: the latent function has %d values for %d training inputs", p.Name, len(f), m.n)
		}
		for i, v := range f {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("%s: the latent function is %g at training input %d (counted from 0)", p.Name, v, i)
			}
		}
		columns[i] = mat.NewDense(m.n, 1, f)
	}
	kept, err := m.resident()
	if err != nil {
		return nil, err
	}
	all := engine.Values{"factors": kept["factors"], "count": kept["count"]}
	if len(fs) == 1 {
		all["f"] = m.e.Column(fs[0])
	} else if all["f"], err = batch.Matrices(m.e.ElementType(), m.n, 1, columns); err != nil {
		return nil, err
	}
	maps.Copy(all, inputs)
	return m.e.Run(ctx, p, all)
}

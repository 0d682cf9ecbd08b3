package regression

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/modelfile"
	"privkern/experiments/dpgp/own"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// guarantee says what a released model protects; nil without noise.
func (r *regressor) guarantee() *experiment.Privacy {
	if r.Noise.SigmaA == 0 {
		return nil
	}
	number := experiment.FormatNumber
	out := &experiment.Privacy{
		Guarantee: r.settings.Guarantee(),
		Unit: fmt.Sprintf("one row, inputs (%s) and output (%s), substituted by any other", strings.Join(r.inputs, ", "),
			r.output.Name),
		Mechanism: "analytic Gaussian mechanism (Balle and Wang 2018) on the sums A and B of a sparse GP together " +
			"(Honkela 2021, Algorithm 1), sensitivity by Eq. (6) with bound " + r.bound.String(),
		Notes: []string{
			"protects inputs and outputs of a row; how many rows there are, and that each has all values, is taken as public",
			"public, and so not to be read off the data: the inducing inputs (or the range of their grid), the kernel with " +
				"its lengthscale and variance, sigma, and the range of the output; the guarantee does not cover " +
				"choosing them by the data",
			fmt.Sprintf("outputs are clipped to [%s, %s]; how many were outside is private",
				number(r.output.Centre-r.output.Scale), number(r.output.Centre+r.output.Scale)),
			"predictions from a released model cost nothing more, at any inputs and in any number; another " +
				"release spends another budget",
		},
	}
	if r.Noise.Limited {
		out.Notes = append(out.Notes, sparse.LimitedNote)
	}
	return out
}

func checkRegressionRelease(s *Settings) error {
	switch {
	case s.Noiseless():
		return release.ErrNoNoise
	case !own.IsFile(s.Dataset):
		return errors.New("simulated data need no release; name your own with dataset=csv:PATH")
	case s.Dataset == s.Inducing:
		return errors.New("inducing names the file of the data: inducing inputs are released as they are")
	}
	if err := s.table().CheckNamed(); err != nil {
		return err
	}
	if _, err := mechanism.SafeFactor(mechanism.Analytic, s.Epsilon, s.Delta); err != nil {
		return err
	}
	return s.checkNames(s.table().Names())
}

// checkNames refuses inputs that are named as a column of predictions.
func (s *Settings) checkNames(inputs []string) error {
	for _, name := range inputs {
		if slices.Contains(modelfile.Reserved, name) {
			return fmt.Errorf("inputs = %s: predictions have a column %q of their own; rename the input",
				s.Inputs, name)
		}
	}
	return nil
}

// Plan plans a release of a trial of dpgp/regression, for audits.
func Plan(ctx context.Context, t *experiment.Trial) (*release.Plan, error) {
	return planOf(ctx, t, Experiment().Settings(t.Params))
}

// planOf plans a release: a model from all rows, which depends on them through
// noisy sums alone.
func planOf(_ context.Context, t *experiment.Trial, s *Settings) (*release.Plan, error) {
	if err := checkRegressionRelease(s); err != nil {
		return nil, err
	}
	r, err := newRegressor(t, s)
	if err != nil {
		return nil, err
	}
	if err := own.CheckLevels(s.Inputs, r.private); err != nil {
		return nil, err
	}
	if err := s.checkNames(r.inputs); err != nil {
		return nil, err
	}
	if table.Is(s.Inducing) {
		if err := own.CheckApart(t, s.Dataset, s.Inducing, r.z, r.x); err != nil {
			return nil, err
		}
	}
	n, d := r.x.Dims()
	sums, err := sparse.NewExactSums(r.Model, n, s.Epsilon, s.Delta, r.Noise.Sensitivity, s.Ratio)
	if err != nil {
		return nil, err
	}
	// What the update allows for is the noise that is drawn.
	r.Noise.SigmaA, r.Noise.SigmaB = sums.Scales()
	private := mat.NewDense(n, d+1, nil)
	for i := range n {
		private.SetRow(i, append(slices.Clone(r.x.RawRowView(i)), r.outputs[i]))
	}
	return &release.Plan{
		Private: private,
		Spending: experiment.Spending{
			Data: dataset.Canonical(r.x, r.outputs), Row: dataset.CanonicalRows(r.x, r.outputs), Rows: n,
			Units:   experiment.UnitsOfARow(),
			Epsilon: s.Epsilon, Delta: s.Delta, Mu: 1 / sums.Factor(), Size: r.size(),
		},
		Publish: (&modelRelease{r, sums}).publish,
	}, nil
}

// size is that of the file of the model: inducing inputs, lengthscales where there are several,
// mean and covariance.
func (r *regressor) size() experiment.Size {
	m, d := r.z.Dims()
	scales := len(r.scaling)
	return experiment.Size{
		Numbers: m*d + scales + m + m*m, Lists: m + min(scales, 1) + 1 + m,
		Names: release.LengthOf(r.inputs) + len(r.output.Name),
	}
}

// modelRelease is what a release of a model needs besides the data.
type modelRelease struct {
	*regressor
	sums *sparse.ExactSums
}

// publish releases a model of rows (N×(D+1), the output last), whose outputs it clips.
func (r *modelRelease) publish(
	ctx context.Context, private *mat.Dense, source *release.Source,
) (*experiment.Release, error) {
	n, columns := private.Dims()
	y := make([]float64, n)
	for i := range y {
		y[i] = max(-1, min(1, (private.At(i, columns-1)-r.output.Centre)/r.output.Scale))
	}
	x := mat.DenseCopyOf(private.Slice(0, n, 0, columns-1))
	noisy, err := r.sums.Noisy(r.scaling.Apply(x), y, r.Trial.Workers, source)
	if err != nil {
		return nil, err
	}
	posterior, err := r.Model.Infer(ctx, r.Engine, noisy, r.Noise, r.Update)
	if err != nil {
		return nil, err
	}
	privacy := r.guarantee()
	privacy.RNG = "secure" // there is no release with another
	privacy.Notes = append(privacy.Notes, "splits and repeats have no part in a release", release.ExactNoise)
	return &experiment.Release{
		Model:    r.file(posterior, privacy),
		Metrics:  experiment.MetricValues(r.publicMetrics()),
		Privacy:  privacy,
		Warnings: r.Engine.Warnings(),
	}, nil
}

// file is the file of a model.
func (r *modelRelease) file(p *sparse.Posterior, privacy *experiment.Privacy) *modelfile.Model {
	return &modelfile.Model{
		Format: modelfile.FormatOf(r.scaling != nil),
		About:  modelfile.About(r.scaling != nil),
		Inputs: r.inputs, Output: r.output,
		Kernel: r.kernel(),
		Noise:  r.Model.Noise, Jitter: r.Model.Inducing.Jitter,
		Inducing: own.Rows(r.z), Mean: p.Mean, Covariance: own.Rows(p.Cov),
		Mechanism: modelfile.Mechanism{
			Epsilon: r.settings.Epsilon, Delta: r.settings.Delta, Sensitivity: r.Noise.Sensitivity,
			Bound: r.bound.String(), NormSquared: r.Noise.NormSquared,
			SigmaA: r.Noise.SigmaA, SigmaB: r.Noise.SigmaB, Lambda: p.Ridge,
		},
		Privacy: privacy,
	}
}

// kernel is that of the file, whose inputs are not scaled.
func (r *regressor) kernel() modelfile.Kernel {
	k := modelfile.Kernel{Name: "EQ", Variance: r.Model.Variance, Lengthscales: r.scaling}
	if r.scaling == nil {
		k.Lengthscale = r.Model.Lengthscale
	}
	return k
}

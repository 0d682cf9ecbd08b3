package regression

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/model"
	"privkern/experiments/privacygp/modelfile"
	"privkern/runner/experiment"
)

// checkExport refuses settings without an export, all of them together.
func checkExport(s *Settings) error {
	var errs []error
	if s.induces() {
		errs = append(errs, errors.New("inducing: what is exported holds the covariance of the noise of all rows, which is "+
			"computed without inducing inputs, of at most 5000 rows: inducing=0"))
	}
	if s.Noise == none {
		errs = append(errs, errors.New("noise = none adds no noise, and what is exported would hide nothing; choose another"))
	}
	if !s.own() {
		return errors.Join(append(errs, errors.New("simulated data need no export; name your own with dataset=csv:PATH"))...)
	}
	for _, name := range s.inputNames() {
		if slices.Contains(model.RegressionColumns, name) {
			errs = append(errs, fmt.Errorf("inputs = %s: predictions have a column %q of their own; rename the input", s.Inputs,
				name))
		}
	}
	return errors.Join(append(errs, s.checkPublic()...)...)
}

// estimates returns the settings by which an export would hand over estimates from the outputs
// without noise.
func (s *Settings) estimates() []string {
	var out []string
	if s.Hyperparameters == estimated {
		out = append(out, "hyperparameters = ml")
	}
	if s.Mean.Is(byLikelihood) {
		out = append(out, "mean = ml")
	}
	if s.Noise != none && s.Resolution.Is(auto) {
		out = append(out, "resolution = auto")
	}
	return out
}

// checkPublic refuses estimates from the outputs that an export would hand over without noise. Σ has
// a low rank, so that most linear functionals of the outputs are known up to tau: one more that is
// exact, such as their mean by maximum likelihood, reveals the hidden ones.
func (s *Settings) checkPublic() []error {
	const why = "it would be made of the outputs, and, handed over without noise, give away what the noise hides"
	const known = "known without these outputs; a trial without --export shows estimates as "
	var errs []error
	if s.Hyperparameters == estimated {
		errs = append(errs, errors.New("hyperparameters = ml: "+why+"; give public values: hyperparameters=given "+
			"lengthscales=... process_variance=... noise_variance=..., or the public "+
			"ranges low, high, input_low and input_high; "+known+"lengthscale_*, process_variance_used and "+
			"noise_variance_used, and their digits would give away as much"))
	}
	if s.Mean.Is(byLikelihood) {
		errs = append(errs, errors.New("mean = ml: "+why+"; give a public one, such as mean=0, "+known+"mean_used, and its "+
			"digits would give away as much"))
	}
	if s.Noise != none && s.Resolution.Is(auto) {
		errs = append(errs, errors.New("resolution = auto: "+why+"; give the step in which outputs are written, or more, "+
			"such as resolution=0.1"))
	}
	return errs
}

// export obfuscates all rows.
func export(ctx context.Context, t *experiment.Trial, s *Settings) (*experiment.Release, error) {
	if t.DType == "float32" {
		return nil, errors.New("in float32 a tolerance is held to a thousandth of the prior variance only, and the last " +
			"digits of what is exported would be those of its rounding: use --dtype float64")
	}
	p, err := prepare(ctx, t, s)
	if err != nil {
		return nil, err
	}
	grid := gridOf(p.tau)
	rng, told := t.Stream("noise"), ""
	if t.Exports != nil {
		if rng, told, err = p.register(ctx, t, grid); err != nil {
			return nil, err
		}
	}
	omega := make([]float64, len(p.rows.y))
	for i := range omega {
		omega[i] = rng.NormFloat64()
	}
	w, err := p.draw(omega)
	if err != nil {
		return nil, err
	}
	for i, v := range w {
		w[i] = grid * math.Round(v/grid)
	}
	privacy := p.privacy()
	privacy.RNG = "secure" // an export has no other source
	privacy.Notes = append(privacy.Notes, severalNote(t.Exports != nil))
	warnings := p.warnings()
	if len(p.rows.hidden) == len(p.rows.y) {
		warnings = append(warnings, everyRow)
	}
	return &experiment.Release{Model: p.file(w, grid, privacy), Privacy: privacy, Warnings: warnings, Told: told}, nil
}

// severalNote states how the bound goes with other exports of the same data.
func severalNote(registered bool) string {
	if registered {
		return "holds for whoever has all exports of these data up to this one that the operator's ledger knows; outputs " +
			"of another name or of data that it does not recognise are not among them. The noise follows from a secret of the " +
			"ledger, the data and its covariance: repeated, this export is the same, and there is nothing to average"
	}
	return "not registered in a ledger: another export of the same data has other noise, and whoever has k of them " +
		"averages the variance of their noise to the k-th part, so that less than this bound is kept"
}

// gridOf returns a power of two, at most a thousandth of tau. Outputs are rounded to its multiples,
// because the last digits of a floating-point sum with Y depend on Y.
func gridOf(tau float64) float64 { return math.Exp2(math.Floor(math.Log2(tau / 1000))) }

// file returns the file of the obfuscated outputs w.
func (p *prepared) file(w []float64, grid float64, privacy *experiment.Privacy) *modelfile.Model {
	covariance := mat.DenseCopyOf(p.noise.sigma)
	covariance.Scale(p.Variance, covariance)
	return &modelfile.Model{
		Format: modelfile.Format,
		About: "Obfuscated data of a Gaussian process: obfuscated = output + Z at the inputs x, Z ~ N(0, noise_covariance)" +
			". run predict THIS_FILE --at x.csv predicts; so does any Gaussian process regression that takes " +
			"noise_covariance + noise_variance I for the covariance of its noise. The kernel is variance k(r), r^2 = " +
			"sum ((x - x')/lengthscale)^2.",
		Inputs: p.rows.names, Output: p.rows.output,
		Kernel: modelfile.Kernel{Name: p.settings.Kernel.String(), Lengthscales: p.Lengthscales, Variance: p.Variance},
		Mean:   p.Mean, Noise: p.Noise, X: model.Rows(p.rows.x), Obfuscated: w,
		Covariance: model.Rows(covariance), Tau: p.tau,
		Grid: grid, Condition: p.kept(), Privacy: privacy,
	}
}

// kept returns the variances that the noise keeps, in the unit of the output.
func (p *prepared) kept() *modelfile.Condition {
	c := &modelfile.Condition{Places: model.Rows(p.rows.places), Everywhere: p.method == uniform}
	for i, share := range p.xi {
		v := p.Variance * share
		if p.settings.XiUnit == ofOutput {
			v = p.rows.xi[i] // the given number, without rounding
		}
		c.Variance = append(c.Variance, v)
	}
	if p.h != nil {
		c.Kernel = &modelfile.Kernel{Name: p.h.name, Lengthscales: p.h.lengthscales, Variance: p.Variance * p.h.variance}
	}
	return c
}

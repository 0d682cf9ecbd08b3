// Package regression fits a sparse Gaussian process to a user's own data, with outputs
// scaled to [−1, 1] by their public range, and releases it as a model (package
// modelfile).
package regression

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/own"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// Name is that of the experiment.
const Name = "dpgp/regression"

// Experiment is dpgp/regression.
var Experiment = definition.Experiment

var definition = method.Of(method.Method[Settings, Metrics, *Learner]{
	Declaration: experiment.Declaration[*Settings, Metrics]{
		Name:    Name,
		Version: 9, // 9: means of own data within the public range of the output
		Summary: "your own data predicted with protection of inputs and outputs; a model that can be released",
		Source:  "Honkela 2021, Section 3, Algorithm 1",
		Rules: []experiment.Rule[*Settings]{{
			To:        func(s *Settings) []any { return []any{&s.Bound, &s.Covariance} },
			DecidedBy: func(s *Settings) []any { return []any{&s.Dataset, &s.Features} },
			Words:     "dataset is simulated, or features is kernel",
			Holds:     func(s *Settings) bool { return !s.whitened() },
		}},
		Complete:     complete,
		Check:        check,
		Memory:       memory,
		Written:      experiment.FormModel,
		CheckRelease: checkRelease,
	},
	Task:     method.Regression,
	Settings: (*Settings).method,
	Simulate: simulate,
	Prepare:  prepare,
	Metrics:  (*Learner).metrics,
	Advice: method.Advice{
		Noise:    "use a larger epsilon, fewer inducing inputs, or more rows",
		Settings: "choose lengthscale, kernel_variance, sigma and inducing inputs anew, without looking at the data",
		Narrow:   "use a larger sigma, a shorter lengthscale with more inducing inputs, or a larger kernel_variance",
		Wide: "use a smaller sigma or kernel_variance, or, where the noise is most of them, a larger " +
			"epsilon",
	},
	Taken: func(name string, _ []string) bool { return slices.Contains(model.RegressionColumns, name) },
})

// Plan plans a release of a trial, for audits.
func Plan(ctx context.Context, t *experiment.Trial) (*release.Plan, error) {
	return definition.Plan(ctx, t)
}

// PlanUnits plans a release of some of the units.
var PlanUnits = definition.PlanUnits

// simulatedRows is the number of rows of the simulated data.
const simulatedRows = 1024

// simulate observes sin(2x)/(2x) with noise of standard deviation 0.1.
func simulate(t *experiment.Trial) (x *mat.Dense, y []float64) {
	x = sparse.UniformInputs(simulatedRows, t.Stream("inputs"))
	return x, sparse.Observe(sparse.Values(sparse.Sinc, x), 0.1, t.Stream("observation noise"))
}

// memory estimates what a trial takes, in bytes. Of the simulated data 52 to 60 MiB were
// measured.
func memory(s *Settings) int64 {
	if !s.IsOwn() {
		return 84 << 20
	}
	inducing, err := s.inducing()
	if err != nil {
		return 0 // which a check refuses
	}
	return inducing.Memory(s.Spec(), 5)
}

// method returns the settings that every method has.
func (s *Settings) method() method.Settings {
	out := method.Settings{Columns: s.Columns, Budget: &s.Budget.Budget, Range: &s.OutputRange, Splits: s.Splits,
		Public: method.InputRange{Low: s.InputLow, High: s.InputHigh}}
	if s.IsOwn() {
		out.Person, out.Invalid = s.Person, s.Invalid
	}
	if table.Is(s.Inducing) {
		out.Points = s.Inducing
	}
	return out
}

// inducing returns the inducing inputs that the settings name: those of a file, or a grid.
func (s *Settings) inducing() (own.Inducing, error) {
	out := own.Inducing{Range: method.InputRange{Low: s.InputLow, High: s.InputHigh}, Reading: s.Reading.In(s.Dataset),
		Centred: s.whitened(), Whitened: s.whitened()}
	if table.Is(s.Inducing) {
		out.File, out.Centres, out.Lengthscale = s.Inducing, s.InducingCentres, &s.Lengthscale
		return out, nil
	}
	if out.Auto = s.Inducing == experiment.NameOf(sparse.Auto(0)); out.Auto {
		return out, nil
	}
	count := experiment.Param{Name: "inducing", Kind: experiment.Integer,
		Min: experiment.Bound(1), Max: experiment.Bound(sparse.MaxInducing)}
	v, err := count.Convert(s.Inducing)
	if err != nil {
		return out, fmt.Errorf("%w; give a number of them, auto, or csv:PATH, a file of them%s", err, method.Like(s.Inducing))
	}
	out.Count = v.(int)
	return out, nil
}

// whitened reports whether features are summed in the place of kernel vectors.
func (s *Settings) whitened() bool { return s.IsOwn() && s.Features == sparse.WhitenedFeatures }

// addsRemoves reports whether the noise is for a unit that is added or removed; without noise there are no neighbours.
func (s *Settings) addsRemoves() bool {
	return s.Neighbours.Neighbours == method.AddRemove && !s.Noiseless()
}

// complete gives own data the defaults of the rule ([own.Inducing.Known]).
func complete(s *Settings, given func(field any) bool) error {
	if !given(&s.Features) && !given(&s.Bound) && !given(&s.Covariance) { // these are of kernel features
		s.Features = sparse.WhitenedFeatures
	}
	experiment.Default(given, &s.Inducing, experiment.NameOf(sparse.Auto(0)))
	experiment.Default(given, &s.Lengthscale, method.Automatic())
	experiment.Default(given, &s.Sigma, own.Sigma)
	experiment.Default(given, &s.KernelVariance, own.Variance)
	if !given(&s.Jitter) && s.whitened() {
		s.Jitter *= max(1, s.KernelVariance) // a share of the variance proves the norm of features
	}
	if !given(&s.Ratio) {
		s.Ratio = own.Ratio(s.KernelVariance)
		if s.whitened() {
			s.Ratio = own.FilteredRatio(s.KernelVariance)
		}
	}
	experiment.Default(given, &s.Rho, own.Rho)
	if inducing, err := s.inducing(); err == nil { // a check reports it
		s.Lengthscale = inducing.Known(s.Lengthscale, s.Spec().Asked())
	}
	return nil
}

func check(s *Settings) error {
	if s.IsOwn() {
		if err := s.Person.Check(); err != nil {
			return err
		}
	}
	inputs := s.Spec().Asked()
	if len(inputs) == 0 { // how many columns * is, the data say
		return method.InputRange{Low: s.InputLow, High: s.InputHigh}.CheckGiven(!table.Is(s.Inducing))
	}
	if err := s.checkInputs(inputs); err != nil {
		return err
	}
	inducing, err := s.inducing()
	if err != nil {
		return err
	}
	return inducing.Check(inputs)
}

// checkInputs refuses ranges, lengthscales and a bound that do not fit the inputs.
func (s *Settings) checkInputs(inputs []table.Input) error {
	public := method.InputRange{Low: s.InputLow, High: s.InputHigh}
	if err := public.Check(inputs, s.IsOwn() && !table.Is(s.Inducing)); err != nil {
		return err
	}
	if !s.Lengthscale.IsWord {
		if _, err := method.ForInputs("lengthscale", s.Lengthscale.Numbers, inputs); err != nil {
			return err
		}
	}
	columns := table.Width(inputs)
	if b := s.Bound.bound(); columns > 1 && b.OneDimension() {
		return fmt.Errorf("bound = %v is for one input, and there are %d; use auto or %v", b, columns, sparse.Eq8)
	}
	return nil
}

// checkRelease refuses a release without a guarantee.
func checkRelease(s *Settings) error {
	if s.Dataset == s.Inducing {
		return errors.New("inducing names the file of the data: inducing inputs are released as they are")
	}
	if err := s.Neighbours.Neighbours.CheckRelease(); err != nil {
		return err
	}
	_, err := mechanism.SafeFactor(mechanism.Analytic, s.Epsilon, s.Delta)
	return err
}

// Learner is a sparse GP whose noise is calibrated (Honkela 2021, Algorithm 1).
type Learner struct {
	*sparse.Problem
	settings *Settings
	rows     *method.Rows
	inducing own.Inducing
	bound    sparse.Bound
	scaling  sparse.Scaling // of inputs and inducing inputs; nil for one lengthscale
	z        *mat.Dense     // M×d, the inducing inputs, in the units of the inputs
}

func prepare(ctx context.Context, t *experiment.Trial, s *Settings, rows *method.Rows) (l *Learner, err error) {
	if err := s.checkInputs(rows.Asked); err != nil {
		return nil, err
	}
	l = &Learner{settings: s, rows: rows}
	if l.inducing, err = s.inducing(); err != nil {
		return nil, err
	}
	if l.z, err = l.inducing.Place(ctx, t, rows); err != nil {
		return nil, err
	}
	l.Problem = &sparse.Problem{Trial: t, Engine: engine.Of(t.Engine),
		Update: sparse.Update{Rho: s.Rho, Regularisation: s.Regularisation, Covariance: s.Covariance, Raise: true,
			Filtered: true}}
	lengthscale, err := l.inducing.Lengthscales(s.Lengthscale, rows.Asked, l.z)
	if err != nil {
		return nil, err
	}
	if l.Model, l.scaling, err = own.Model(l.z, lengthscale, rows.Asked, s.KernelVariance, s.Sigma*s.Sigma,
		s.Jitter); err != nil {
		return nil, err
	}
	if s.whitened() {
		if l.Model.Whitened, err = sparse.NewWhitening(l.Model); err != nil {
			return nil, err
		}
	}
	l.bound = s.Bound.bound()
	l.Noise, err = l.Model.Calibrate(sparse.Calibration{Epsilon: s.Epsilon, Delta: s.Delta, OutputBound: 1, Ratio: s.Ratio,
		Bound: l.bound, Unit: s.method().Person.Rows(), Added: s.addsRemoves()})
	return l, err
}

// fit is a posterior for each of the sources of noise.
type fit struct {
	*Learner
	posteriors []*sparse.Posterior
}

// Fit is Algorithm 1 on some rows.
func (l *Learner) Fit(ctx context.Context, rows *method.Part, noise ...*rand.Rand) (method.Fit, error) {
	sums, err := l.sums(ctx, l.scaling.Apply(rows.X), rows.Y)
	if err != nil {
		return nil, err
	}
	out := &fit{Learner: l}
	for _, rng := range noise {
		of := l.Noise
		if rng == nil {
			of = sparse.Noise{}
		}
		p, err := l.Model.Infer(ctx, l.Engine, of.NoisyCopy(sums, rng), of, l.Update)
		if err != nil {
			return nil, err
		}
		if p.Raised {
			l.Engine.Warn("computed but suspect: %s", sparse.RaisedText)
		}
		out.posteriors = append(out.posteriors, p)
	}
	return out, nil
}

// sums are A and B of rows without noise. Features are differences of kernel values, which float32 would lose.
func (l *Learner) sums(ctx context.Context, x *mat.Dense, y []float64) (sparsegp.Sums, error) {
	w := l.Model.Whitened
	if w == nil {
		return sparsegp.Sum(ctx, l.Engine, l.Model.Inducing, x, y, nil)
	}
	s, err := sparsegp.SumDouble(ctx, l.Engine, l.Model.Inducing, x, y, nil)
	if err != nil {
		return s, err
	}
	return w.Sums(s), nil
}

// Predict returns mean and variance of the function, of own data with means within the public range.
func (f *fit) Predict(ctx context.Context, x *mat.Dense) ([]method.Prediction, error) {
	at := f.scaling.Apply(x)
	var out []method.Prediction
	for _, p := range f.posteriors {
		mean, variances, err := p.Predict(ctx, f.Engine, at)
		if err != nil {
			return nil, err
		}
		if f.settings.IsOwn() {
			mean = sparse.Clip(mean)
		}
		out = append(out, method.Prediction{Mean: mean, Variance: variances[0], Noise: f.Model.Noise})
	}
	return out, nil
}

func (l *Learner) metrics(s *method.Scores) Metrics {
	return Metrics{s.Regression, l.publicMetrics(), s.Clipping}
}

// publicMetrics follow from public settings alone.
func (l *Learner) publicMetrics() publicMetrics {
	number, _ := l.z.Dims()
	return publicMetrics{InducingInputs: float64(number), NormSquared: l.Noise.NormSquared, FitMetrics: l.FitMetrics()}
}

// Suspicions compare the noise in an element of A with its public range over rows: a sum of
// kernel values, at most σ_f², or of features, at most σ_f, times outputs from −1 to 1.
func (l *Learner) Suspicions(rows int) []string {
	largest := l.Model.Variance
	if l.Model.Whitened != nil {
		largest = math.Sqrt(largest)
	}
	most := 2 * float64(rows) * largest
	if l.Noise.SigmaA <= most {
		return nil
	}
	return []string{fmt.Sprintf("computed but suspect: the noise in an element of A has a standard deviation of %.3g, "+
		"and the public range of that sum over %d rows is %.3g wide; use a larger epsilon, fewer inducing inputs, or more "+
		"rows",
		l.Noise.SigmaA, rows, most)}
}

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
	"privkern/experiments/learn"
	"privkern/experiments/release"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// Name is that of the experiment.
const Name = "dpgp/regression"

// Experiment is dpgp/regression.
var Experiment = experiment.Of(experiment.Declaration[*Settings, Metrics]{
	Name:     Name,
	Version:  5, // 5: the exact maximum is the bound for several inputs, too
	Summary:  "your own data predicted with protection of inputs and outputs; a model that can be released",
	Source:   "Honkela 2021, Section 3, Algorithm 1",
	Datasets: (*Settings).files,
	Tables: func(s *Settings) []experiment.InputTable {
		tables := s.table().Tables()
		if s.Inducing != s.Dataset { // which has the inputs, too
			tables = append(tables, table.Spec{Dataset: s.Inducing, Inputs: s.Inputs}.Tables()...)
		}
		return tables
	},
	Complete: func(s *Settings, given func(field any) bool) error {
		if !own.IsFile(s.Dataset) {
			return nil
		}
		return release.RequireDelta(&s.Budget.Budget, given)
	},
	Check:        checkRegression,
	Memory:       memory,
	Run:          runRegression,
	CheckRelease: checkRegressionRelease,
	Written:      experiment.FormModel,
	Release:      release.Planned(planOf),
})

// memory estimates what a trial takes, in bytes; see [own.Memory]. Of the simulated data 52
// to 60 MiB were measured.
func memory(s *Settings) int64 {
	if !own.IsFile(s.Dataset) {
		return 84 << 20
	}
	file, count := own.IsFile(s.Inducing), 0
	if !file {
		var err error
		if count, err = s.gridCount(); err != nil {
			return 0 // which a check refuses
		}
	}
	return own.Memory(s.table(), own.Points(count, file, s.Inducing, s.Inputs), 5)
}

// files are the user's files that a trial reads.
func (s *Settings) files() []string {
	var names []string
	for _, name := range []string{s.Dataset, s.Inducing} {
		if own.IsFile(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// table is what is read of the user's data.
func (s *Settings) table() table.Spec {
	return table.Spec{Dataset: s.Dataset, Inputs: s.Inputs, Others: []string{s.Output}}
}

// interval is a public range with the names of its ends.
type interval struct {
	low, high         end
	lowName, highName string
}

func (s *Settings) outputRange() interval { return interval{s.Low, s.High, "low", "high"} }

func (s *Settings) inputRange() own.Range { return own.Range{Low: s.InputLow, High: s.InputHigh} }

// or returns the ends, or those of simulated data where none are given.
func (i interval) or(simulated float64) (low, high float64) {
	if i.low.Is(own.Absent) && i.high.Is(own.Absent) {
		return -simulated, simulated
	}
	return i.low.Number, i.high.Number
}

// check refuses a range that is none, or that is needed and not given; what says which
// it is.
func (i interval) check(what string, needed bool) error {
	given, other := !i.low.Is(own.Absent), !i.high.Is(own.Absent)
	low, high := i.low.Number, i.high.Number
	switch {
	case given != other, needed && !given:
		return fmt.Errorf("%s and %s are not given: they are %s", i.lowName, i.highName, what)
	case given && !(low < high && !math.IsInf(high-low, 0)):
		return fmt.Errorf("%s = %g and %s = %g: %s must be below %s", i.lowName, low, i.highName, high, i.lowName, i.highName)
	}
	return nil
}

// gridCount is the number of inducing inputs of a grid in every input.
func (s *Settings) gridCount() (int, error) {
	param := experiment.Param{Name: "inducing", Kind: experiment.Integer,
		Min: experiment.Bound(1), Max: experiment.Bound(sparse.MaxInducing)}
	v, err := param.Convert(s.Inducing)
	if err != nil {
		return 0, fmt.Errorf("%w; give a number of them, or csv:PATH, a file of them%s", err, own.Like(s.Inducing))
	}
	return v.(int), nil
}

func checkRegression(s *Settings) error {
	fromFile := own.IsFile(s.Dataset)
	if !fromFile && s.Dataset != own.Simulated {
		return fmt.Errorf("dataset = %q: it is %s or data of your own, such as csv:PATH%s", s.Dataset, own.Simulated,
			own.Like(s.Dataset))
	}
	if err := s.checkColumns(fromFile); err != nil {
		return err
	}
	if err := s.outputRange().check("the public range of the output, such as low=0 high=100; its length decides the "+
		"noise, and it must not be read off the data", fromFile); err != nil {
		return err
	}
	inputs := s.table().Width()
	if inputs == 0 { // how many columns * is, the data say
		return s.inputRange().CheckGiven(!own.IsFile(s.Inducing))
	}
	if err := s.checkInputs(fromFile, inputs); err != nil {
		return err
	}
	if own.IsFile(s.Inducing) {
		return nil
	}
	n, err := s.gridCount()
	if err != nil {
		return err
	}
	return own.CheckGrid(n, inputs)
}

// checkInputs refuses ranges, lengthscales and a bound that do not fit the inputs.
func (s *Settings) checkInputs(fromFile bool, inputs int) error {
	if err := s.inputRange().Check(inputs, fromFile && !own.IsFile(s.Inducing)); err != nil {
		return err
	}
	if _, err := own.ForInputs("lengthscale", s.Lengthscale, inputs); err != nil {
		return err
	}
	if b := sparse.Bound(s.Bound - 1); s.Bound != autoBound && inputs > 1 && b.OneDimension() {
		return fmt.Errorf("bound = %v is for one input, and there are %d; use auto or %v", b, inputs, sparse.Eq8)
	}
	return nil
}

func (s *Settings) checkColumns(fromFile bool) error {
	if !fromFile && s.table().Width() != 1 {
		return fmt.Errorf("inputs = %s: simulated data have one input", s.Inputs)
	}
	if !fromFile {
		return nil
	}
	if s.Output == "" {
		return errors.New("output is not given: name the column that is predicted")
	}
	return s.table().Check()
}

// fit is Algorithm 1 on some rows.
func (r *regressor) fit(
	ctx context.Context, x *mat.Dense, y []float64, noise sparse.Noise, rng *rand.Rand,
) (*sparse.Posterior, error) {
	s, err := sparsegp.Sum(ctx, r.Engine, r.Model.Inducing, r.scaling.Apply(x), y, nil)
	if err != nil {
		return nil, err
	}
	return r.Model.Infer(ctx, r.Engine, noise.NoisyCopy(s, rng), noise, r.Update)
}

// split is what one split into rows for training and testing gives, in the unit of the
// output.
type split struct{ rmse, exact, centre, coverage, sd float64 }

// tests is the number of rows of a split that are for testing.
func (r *regressor) tests() int { return int(math.Round(r.settings.Holdout * float64(len(r.y)))) }

func (r *regressor) splitOnce(ctx context.Context, repeat int) (out split, err error) {
	n := len(r.y)
	order := r.Stream("split", repeat).Perm(n)
	tests := r.tests()
	if tests < 1 || tests >= n {
		return out, fmt.Errorf("holdout = %g leaves %d of %d rows for testing: at least one is needed for testing, and one "+
			"for training", r.settings.Holdout, tests, n)
	}
	var y []float64
	for _, row := range order[tests:] {
		y = append(y, r.y[row])
	}
	x, at := learn.SelectRows(r.x, order[tests:]), learn.SelectRows(r.x, order[:tests])
	noise := r.Stream("mechanism", repeat)
	noisy, err := r.fit(ctx, x, y, r.Noise, noise)
	if err != nil {
		return out, err
	}
	exact, err := r.fit(ctx, x, y, sparse.Noise{}, nil)
	if err != nil {
		return out, err
	}
	at = r.scaling.Apply(at)
	mean, variances, err := noisy.Predict(ctx, r.Engine, at)
	if err != nil {
		return out, err
	}
	without, _, err := exact.Predict(ctx, r.Engine, at)
	if err != nil {
		return out, err
	}
	scale, k := r.output.Scale, float64(tests)
	for i, row := range order[:tests] {
		truth := r.raw[row]
		miss := truth - mean[i]
		out.rmse += miss * miss / k
		out.exact += (truth - without[i]) * (truth - without[i]) / k
		out.centre += truth * truth / k
		out.sd += scale * math.Sqrt(variances[0][i]) / k
		if math.Abs(miss) <= table.Central95*math.Sqrt(variances[0][i]+r.Model.Noise) {
			out.coverage += 1 / k
		}
	}
	out.rmse, out.exact, out.centre = scale*math.Sqrt(out.rmse), scale*math.Sqrt(out.exact), scale*math.Sqrt(out.centre)
	return out, nil
}

// publicMetrics are those of public settings alone.
func (r *regressor) publicMetrics() publicMetrics {
	number, _ := r.Model.Inducing.Z.Dims()
	return publicMetrics{InducingInputs: float64(number), NormSquared: r.Noise.NormSquared, FitMetrics: r.FitMetrics()}
}

func runRegression(
	ctx context.Context, t *experiment.Trial, s *Settings,
) (*experiment.Outcome[Metrics], error) {
	r, err := newRegressor(t, s)
	if err != nil {
		return nil, err
	}
	splits, err := sparse.Repeat(ctx, r.Problem, s.Repeats, r.splitOnce)
	if err != nil {
		return nil, err
	}
	n, k := len(r.y), float64(len(splits))
	m := Metrics{publicMetrics: r.publicMetrics(), UsedRows: float64(n), DroppedRows: float64(r.dropped),
		ClippedFraction: float64(r.clipped) / float64(n)}
	for _, o := range splits {
		m.RMSE += o.rmse / k
		m.RMSEWithoutNoise += o.exact / k
		m.RMSECentre += o.centre / k
		m.Coverage95 += o.coverage / k
		m.MeanSD += o.sd / k
	}
	warnings := r.Engine.Warnings()
	if r.dropped > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d rows have no value in an input or the output and were left out",
			r.dropped, r.dropped+n))
	}
	warnings = append(warnings, r.suspicions(&m, splits)...)
	privacy := r.guarantee()
	if privacy != nil {
		privacy.Notes = append([]string{"this record itself is not private: its metrics are computed from the data; what " +
			"may be published is what --release writes"},
			append(privacy.Notes, "every split (repeats) spends a budget of its own")...)
	}
	return &experiment.Outcome[Metrics]{Metrics: m, Privacy: privacy, Warnings: warnings}, nil
}

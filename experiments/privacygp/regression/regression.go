// Package regression hides the outputs of a user's own data at sensitive places behind
// correlated noise, and hands the obfuscated data over as a model (package modelfile).
//
// The prior is a Gaussian process with a constant mean and a kernel of any number of
// inputs. Noise, predictions and judging are in units of its variance.
package regression

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset/table"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Experiment is privacygp/regression.
var Experiment = experiment.Of(experiment.Declaration[*Settings, Metrics]{
	Name:     "privacygp/regression",
	Version:  5, // 5: the likelihood of more than 800 rows is maximised from maxima of a sample
	Summary:  "your own data with noise that hides the output at sensitive places; obfuscated data to hand over",
	Source:   "Tuo and Bhattacharya, Privacy-aware Gaussian Process Regression, Eqs. (3), (4), (7) to (13)",
	Datasets: (*Settings).files,
	Tables:   (*Settings).tables,
	Complete: func(s *Settings, given func(field any) bool) error {
		if s.own() && !given(&s.Sensitive) {
			s.Sensitive = "" // which check refuses together with other errors
		}
		s.completeByRange(given)
		return nil
	},
	Rules: []experiment.Rule[*Settings]{{
		To:        func(s *Settings) []any { return []any{&s.ARD} },
		DecidedBy: func(s *Settings) []any { return []any{&s.Dataset, &s.Inputs} },
		Words:     "inputs names several columns",
		Holds:     func(s *Settings) bool { return s.own() && len(s.inputNames()) != 1 },
	}, {
		To:        func(s *Settings) []any { return []any{&s.Xi} },
		DecidedBy: func(s *Settings) []any { return []any{&s.Sensitive, &s.XiColumn} },
		Words:     "no file of places has the tolerances in xi_column",
		Holds:     func(s *Settings) bool { return !s.hasColumn() },
	}, {
		To:        func(s *Settings) []any { return []any{&s.XiColumn} },
		DecidedBy: func(s *Settings) []any { return []any{&s.Sensitive} },
		Words:     "sensitive names a file of places",
		Holds:     func(s *Settings) bool { return table.Is(s.Sensitive) },
	}},
	Check:       check,
	Memory:      memory,
	Run:         run,
	Written:     experiment.FormModel,
	Export:      export,
	CheckExport: checkExport,
	Registered:  true,
})

// memory estimates the bytes that a trial with the most rows and places takes: 26 matrices of the order of the rows
// and, for the weak program, 12 of that of its unknowns; with inducing inputs 9 of these by the rows, and 14 of places.
// Measured were, in MiB: 70 for the simulated data, 290 for 1,000 rows (strong), 140 and 431 for 500 rows and 60 places
// (diagonal and weak), 335 for 6,000 rows with 200 inducing inputs and 20 places, and 698 with 50 and 900.
func memory(s *Settings) int64 {
	const process, matrices, programs, float = 92 << 20, 26, 12, 8
	n, unknowns := int64(s.MostRows), int64(0)
	if s.induces() {
		return process + float*n*(9*int64(s.Inducing)+14*maxPlacesTogether)
	}
	if s.Noise == weak || s.Noise == diagonal {
		n = min(n, maxProgramRows)
	}
	if s.Noise == weak {
		unknowns = maxPlaces * (maxPlaces + 1) / 2
	}
	if !s.own() {
		n, unknowns = simulatedRows, 0
	}
	return process + float*(matrices*n*n+programs*unknowns*unknowns)
}

// check refuses settings that no data can have, all of them together.
func check(s *Settings) error {
	var errs []error
	switch {
	case s.own():
		errs = append(errs, s.spec().Check())
	case s.Dataset != simulatedData:
		errs = append(errs, fmt.Errorf("dataset = %q: it is %s, or a file of your own such as csv:PATH", s.Dataset,
			simulatedData))
	}
	errs = append(errs, s.checkInducing()...)
	wanted, err := s.places()
	errs = append(errs, err)
	errs = append(errs, s.checkXi(wanted)...)
	switch s.Hyperparameters {
	case given:
		_, err = s.lengthscales(nil)
		errs = append(errs, err)
	case ranged:
		errs = append(errs, s.checkRanges())
	}
	return errors.Join(errs...)
}

// places parses the setting sensitive; nil where it is not understood.
func (s *Settings) places() (*sensitive, error) {
	if s.Sensitive == "" {
		return nil, errors.New(notGiven)
	}
	wanted, err := parseSensitive(s.Sensitive)
	if err != nil {
		return nil, err
	}
	return wanted, s.checkPlaces(wanted)
}

// checkPlaces refuses sensitive places in unknown inputs.
func (s *Settings) checkPlaces(wanted *sensitive) error {
	names := s.inputNames()
	if err := s.checkPredicates(wanted, names); err != nil {
		return err
	}
	switch {
	case names != nil:
		return wanted.check(names)
	case wanted.file != "":
		return errors.New("inputs = *: name the inputs, so that the file of sensitive places can be read by them")
	}
	return nil
}

// prepared is a trial with its data, prior and noise.
type prepared struct {
	*problem
	rows     *rows
	settings *Settings
	all      *view // from all rows
	tau      float64
	noise    *obfuscation // of all rows
	rank     int          // of its covariance without tau² I
}

// begin returns a trial with its data and prior, and without noise.
func begin(ctx context.Context, t *experiment.Trial, s *Settings) (*prepared, error) {
	r, err := load(t, s)
	if err != nil {
		return nil, err
	}
	if err := s.checkFor(r); err != nil {
		return nil, err
	}
	prior, err := newPrior(ctx, engine.Of(t.Engine), s, r, t.Progress)
	if err != nil {
		return nil, err
	}
	xi, err := r.shares(s, prior.Variance)
	if err != nil {
		return nil, err
	}
	p := &prepared{rows: r, settings: s, problem: &problem{prior: prior, places: prior.scaled(r.places), xi: xi,
		method: s.Noise, exports: 1, progress: func(done, total int) { t.Progress(done, total, "central path") }}}
	if p.tau, err = s.tau(r.y, stat.StdDev(r.y, nil)); err != nil {
		return nil, err
	}
	if s.Noise != none {
		p.exports = s.Exports
		p.tau *= math.Sqrt(float64(s.Exports))
	}
	p.tau2 = p.tau * p.tau / p.Variance
	return p, nil
}

func prepare(ctx context.Context, t *experiment.Trial, s *Settings) (*prepared, error) {
	p, err := begin(ctx, t, s)
	if err != nil {
		return nil, err
	}
	r, prior, xi := p.rows, p.prior, p.xi
	if p.all, err = p.look(p.scaled(r.x)); err != nil {
		return nil, err
	}
	if err := p.all.Decompose(); err != nil {
		return nil, err
	}
	if s.Requirement == byKernel {
		if p.h, err = newBound(s, prior, r, xi[0]); err != nil {
			return nil, err
		}
	}
	if p.h != nil || s.Noise == strong && !same(xi) {
		if err := p.checkRequirement(); err != nil {
			return nil, err
		}
	}
	if p.noise, err = p.obfuscate(ctx, p.all, s.Noise); err != nil {
		return nil, err
	}
	if p.rank, err = p.noise.rank(p.tau2); err != nil {
		return nil, err
	}
	return p, p.checkCondition()
}

// checkFor refuses settings that do not fit the data, all of them together.
func (s *Settings) checkFor(r *rows) error {
	var errs []error
	if places, _ := r.places.Dims(); s.Noise == optimal && places != 1 {
		errs = append(errs, fmt.Errorf("noise = optimal is for one sensitive place, and there are %d: use strong or weak",
			places))
	}
	if s.Hyperparameters != estimated {
		_, err := s.lengthscales(r.asked())
		errs = append(errs, err)
	}
	if s.Requirement == byKernel && s.HLengthscales != priorLengthscales {
		_, err := parseLengthscales("h_lengthscales", s.HLengthscales, r.asked())
		errs = append(errs, err)
	}
	_, err := s.tau(r.y, stat.StdDev(r.y, nil))
	return errors.Join(append(errs, err)...)
}

func run(ctx context.Context, t *experiment.Trial, s *Settings) (*experiment.Outcome[Metrics], error) {
	if s.induces() {
		return runInducing(ctx, t, s)
	}
	p, err := prepare(ctx, t, s)
	if err != nil {
		return nil, err
	}
	public, hidden, err := p.judge(ctx, t, p.rows, s)
	if err != nil {
		return nil, err
	}
	alone, err := p.obfuscate(ctx, p.all, equal)
	if err != nil {
		return nil, err
	}
	m := p.measure(alone.trace)
	series, err := p.series(t)
	if err != nil {
		return nil, err
	}
	return p.outcome(m, public, hidden, series), nil
}

// outcome adds the scores of the folds to metrics.
func (p *prepared) outcome(m *Metrics, public, hidden *score, series map[string]experiment.Series,
) *experiment.Outcome[Metrics] {
	m.RMSEPublic, m.CoveragePublic = public.rmse(), public.covered()
	m.RMSESensitive, m.CoverageSensitive = hidden.rmse(), hidden.covered()
	m.MAEPublic, m.R2Public = public.mae(), public.explained()
	m.MAESensitive, m.R2Sensitive = hidden.mae(), hidden.explained()
	m.RMSEOther = hidden.other()
	privacy := p.privacy()
	privacy.Notes = append(privacy.Notes, "this record itself is not private: it holds the true outputs, and metrics "+
		"computed from them; what may be handed over is what --export writes")
	return &experiment.Outcome[Metrics]{Metrics: *m, Series: series, Privacy: privacy,
		Warnings: append(p.warnings(), p.suspicions(m, len(public.outputs))...)}
}

// measure returns the metrics of the noise that an export would have, and the trace of independent noise.
func (p *prepared) measure(independent float64) *Metrics {
	places, _ := p.places.Dims()
	m := &Metrics{
		VarianceMin: p.Variance * slices.Min(p.noise.left), VarianceUnsecured: p.Variance * slices.Min(p.all.unsecured),
		Tolerance: p.Variance * slices.Min(p.xi), Places: float64(places), PlacesInNeed: float64(len(p.all.need)),
		SensitiveRows: float64(len(p.rows.hidden)),
		noiseMetrics: noiseMetrics{Trace: p.Variance * p.noise.trace, TraceIndependent: p.Variance * independent,
			Rank: float64(p.rank), Tau: p.tau},
		hyperMetrics: hyperMetrics{Lengthscales: map[string]float64{}, ProcessVariance: p.Variance,
			NoiseVariance: p.Noise, Mean: p.Mean},
		UsedRows: float64(len(p.rows.y)), DroppedRows: float64(p.rows.dropped), Condition: p.all.Condition,
	}
	for i, v := range p.Lengthscales {
		m.Lengthscales[fmt.Sprint(i+1)] = v
	}
	if p.h != nil {
		m.RequirementMin, m.ConditionMin = new(p.Variance*p.h.below), new(p.Variance*p.h.kept)
	}
	if !same(p.xi) {
		share := math.Inf(1)
		for i, left := range p.noise.left {
			if p.xi[i] > 0 { // which holds for one of them
				share = math.Min(share, left/p.xi[i])
			}
		}
		m.ToleranceMax, m.VarianceShare = new(p.Variance*slices.Max(p.xi)), new(share)
	}
	return m
}

package experiment

import (
	"context"
	"maps"
	"reflect"
	"sync"
)

// Rule is a condition on settings that a function decides. Its functions return
// pointers to the fields of a struct of settings.
type Rule[S any] struct {
	To        func(S) []any // the settings that do something where it holds
	DecidedBy func(S) []any
	Words     string // they complete "it applies where"
	Holds     func(S) bool
}

// Definition is an experiment with the types of its settings and its metrics.
type Definition[S, M any] struct {
	*Experiment

	declared Declaration[*S, M]
	settings *settings
	metrics  *metrics
}

// Of returns the experiment that the structs S and M and the declaration make. Names,
// defaults, bounds, units and documentation of settings and metrics are the fields'
// tags, types and comments ([Document]). The experiment is made at the first call of the
// function, since documentation is registered after variables are initialised; the
// function panics where the structs declare none.
func Of[S, M any](d Declaration[*S, M]) func() *Definition[S, M] {
	return sync.OnceValue(func() *Definition[S, M] {
		x := &Definition[S, M]{declared: d, settings: settingsOf(reflect.TypeFor[S]()),
			metrics: metricsOf(reflect.TypeFor[M]())}
		x.Experiment = &Experiment{
			Untyped: untyped(d, x.Settings), Params: x.settings.params, Metrics: x.metrics.list,
		}
		x.Run = func(ctx context.Context, t *Trial, p Params) (*Result, error) {
			out, err := d.Run(ctx, t, x.Settings(p))
			if err != nil {
				return nil, err
			}
			return x.result(out), nil
		}
		if d.Complete != nil {
			x.Complete = x.complete
		}
		for _, c := range d.Rules {
			x.addRule(c)
		}
		return x
	})
}

// untyped returns a declaration by names, but for Run, Complete and Rules: settings returns
// the settings of parameters.
func untyped[S, M any](d Declaration[S, M], settings func(Params) S) Untyped {
	return Untyped{
		Name: d.Name, Version: d.Version, Summary: d.Summary, Source: d.Source,
		PrivateTiming: d.PrivateTiming, CountsShared: d.CountsShared,
		Chooses: d.Chooses, Written: d.Written, Instead: d.Instead, Registered: d.Registered,
		Datasets: onSettings(settings, d.Datasets), StandIn: onSettings(settings, d.StandIn),
		Seedless: onSettings(settings, d.Seedless), Tables: onSettings(settings, d.Tables),
		Check: onSettings(settings, d.Check), Memory: onSettings(settings, d.Memory),
		Forms:   onSettings(settings, d.Forms),
		Release: onTrial(settings, d.Release), CheckRelease: onSettings(settings, d.CheckRelease),
		Export: onTrial(settings, d.Export), CheckExport: onSettings(settings, d.CheckExport),
	}
}

// onSettings makes a function of parameters of one of settings; nil of nil.
func onSettings[S, R any](settings func(Params) S, f func(S) R) func(Params) R {
	if f == nil {
		return nil
	}
	return func(p Params) R { return f(settings(p)) }
}

// onTrial is onSettings for functions that compute.
func onTrial[S any](
	settings func(Params) S, f func(context.Context, *Trial, S) (*Release, error),
) func(context.Context, *Trial, Params) (*Release, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, t *Trial, p Params) (*Release, error) { return f(ctx, t, settings(p)) }
}

// complete runs Complete on a struct, and writes its changes into p.
func (x *Definition[S, M]) complete(p Params, given func(name any) bool) error {
	s := x.Settings(p)
	err := x.declared.Complete(s, func(field any) bool {
		return given(x.SettingAt(s, field))
	})
	maps.Copy(p, x.settings.encode(reflect.ValueOf(s).Elem()))
	return err
}

func (x *Definition[S, M]) addRule(c Rule[*S]) {
	var s S
	names := func(fields []any) []string {
		var out []string
		for _, f := range fields {
			out = append(out, x.SettingAt(&s, f))
		}
		return out
	}
	condition := Condition{Params: names(c.DecidedBy(&s)), Words: c.Words,
		Holds: func(p Params) bool { return c.Holds(x.Settings(p)) }}
	for _, name := range names(c.To(&s)) {
		for i := range x.Params {
			if x.Params[i].Name == name {
				x.Params[i].When = append(x.Params[i].When, condition)
			}
		}
	}
}

// Settings returns the settings that a trial's parameters are.
func (x *Definition[S, M]) Settings(p Params) *S {
	s := new(S)
	x.settings.decode(p, reflect.ValueOf(s))
	return s
}

// MetricName returns the name of a metric, to whose field a pointer points.
func (x *Definition[S, M]) MetricName(field func(*M) any) string {
	m := new(M)
	return nameOf(x.metrics.leaves, reflect.ValueOf(m), field(m))
}

// Defaults returns the settings of a trial to which none is given. Settings without a
// default are zero.
func (x *Definition[S, M]) Defaults() *S {
	p := make(Params, len(x.Params))
	s := new(S)
	maps.Copy(p, x.settings.encode(reflect.ValueOf(s).Elem()))
	for i := range x.Params {
		if d := x.Params[i].Default; d != nil {
			p[x.Params[i].Name] = d
		}
	}
	return x.Settings(p)
}

// With returns the defaults with some changes.
func (x *Definition[S, M]) With(changes ...func(*S)) *S {
	s := x.Defaults()
	for _, change := range changes {
		change(s)
	}
	return s
}

// SettingAt returns the name of the setting that a pointer into a struct of settings
// points to. It panics on any other pointer.
func (x *Definition[S, M]) SettingAt(s *S, field any) string {
	return nameOf(x.settings.leaves, reflect.ValueOf(s), field)
}

// Resolved returns the parameters of a trial with these settings, all of them given,
// or the reason why there is no such trial. s gets the changes of Complete.
func (x *Definition[S, M]) Resolved(s *S) (Params, error) {
	p, err := x.Resolve(x.settings.encode(reflect.ValueOf(s).Elem()))
	if err != nil {
		return nil, err
	}
	*s = *x.Settings(p)
	return p, nil
}

// Compute checks settings and runs a trial with them: t has no parameters.
func (x *Definition[S, M]) Compute(ctx context.Context, t *Trial, s *S) (*Outcome[M], error) {
	p, err := x.Resolved(s)
	if err != nil {
		return nil, err
	}
	trial := *t
	trial.Experiment, trial.Params = x.Name, p
	return x.declared.Run(ctx, &trial, s)
}

// Values returns the metrics that a record of the experiment holds.
func (x *Definition[S, M]) Values(metrics map[string]float64) *M {
	m := new(M)
	x.metrics.read(metrics, reflect.ValueOf(m))
	return m
}

func (x *Definition[S, M]) result(out *Outcome[M]) *Result {
	return &Result{Metrics: x.metrics.values(reflect.ValueOf(&out.Metrics).Elem()), Series: out.Series,
		Privacy: out.Privacy, Warnings: out.Warnings}
}

// ObservationOf is a finished trial of one experiment.
type ObservationOf[S, M any] struct {
	Settings *S
	Metrics  *M
	Seed     int64
	Series   map[string]Series
}

// Among returns the trials of this experiment among others, in their order.
func (x *Definition[S, M]) Among(trials []Observation) []ObservationOf[S, M] {
	var out []ObservationOf[S, M]
	for _, t := range trials {
		if t.Experiment == x.Name {
			out = append(out, ObservationOf[S, M]{x.Settings(t.Params), x.Values(t.Metrics), t.Seed, t.Series})
		}
	}
	return out
}

// Matches returns a [Figure.Match] of the experiment's trials whose settings want
// accepts; all of them where it is nil.
func (x *Definition[S, M]) Matches(want func(*S) bool) func(string, Params) bool {
	return func(name string, p Params) bool {
		return name == x.Name && (want == nil || want(x.Settings(p)))
	}
}

// Draws returns a [Figure.Draw] of the experiment's trials.
func (x *Definition[S, M]) Draws(draw func([]ObservationOf[S, M]) []Panel) func([]Observation) []Panel {
	return func(trials []Observation) []Panel { return draw(x.Among(trials)) }
}

package experiment

import (
	"context"
	"reflect"
)

// Declaration declares an experiment by a struct of its settings S and a struct of
// its metrics M. What is common to all experiments is described at [Experiment].
type Declaration[S, M any] struct {
	Name    string
	Version int
	Summary string
	Source  string

	Datasets func(*S) []string
	StandIn  func(*S) string
	Seedless func(*S) bool
	Tables   func(*S) []InputTable
	// Complete changes settings whose default depends on others, or refuses where one
	// of them has to be given; given says whether the setting that a pointer into the
	// struct points to was not a default.
	Complete func(s *S, given func(field any) bool) error
	Check    func(*S) error
	Memory   func(*S) int64
	// Rules are the conditions that no tag can say.
	Rules         []Rule[S]
	PrivateTiming bool
	CountsShared  bool

	Run          func(context.Context, *Trial, *S) (*Outcome[M], error)
	Release      func(context.Context, *Trial, *S) (*Release, error)
	CheckRelease func(*S) error
	Chooses      string
	Forms        func(*S) []Form
	Written      Form
	Instead      string
	Export       func(context.Context, *Trial, *S) (*Release, error)
	CheckExport  func(*S) error
}

// Outcome is what a trial computed.
type Outcome[M any] struct {
	Metrics M
	// Series, Privacy and Warnings are those of a [Result].
	Series   map[string]Series
	Privacy  *Privacy
	Warnings []string
}

// Rule is a condition on settings that a function decides. Its functions return
// pointers to the fields of a struct of settings.
type Rule[S any] struct {
	To        func(*S) []any // the settings that do something where it holds
	DecidedBy func(*S) []any
	Words     string // they complete "it applies where"
	Holds     func(*S) bool
}

// Definition is an experiment with the types of its settings and its metrics.
type Definition[S, M any] struct {
	*Experiment

	declared Declaration[S, M]
	settings *settings
	metrics  *metrics
}

// Of returns the experiment that the structs S and M and the declaration make. Names,
// defaults, bounds, units and documentation of settings and metrics are the fields'
// tags, types and comments ([Document]). It panics where they declare none.
func Of[S, M any](d Declaration[S, M]) *Definition[S, M] {
	x := &Definition[S, M]{declared: d, settings: settingsOf(reflect.TypeFor[S]()),
		metrics: metricsOf(reflect.TypeFor[M]())}
	x.Experiment = &Experiment{
		Name: d.Name, Version: d.Version, Summary: d.Summary, Source: d.Source, PrivateTiming: d.PrivateTiming,
		CountsShared: d.CountsShared, Chooses: d.Chooses,
		Params: x.settings.params, Metrics: x.metrics.list,
		Datasets: onSettings(x, d.Datasets), StandIn: onSettings(x, d.StandIn), Seedless: onSettings(x, d.Seedless),
		Tables: onSettings(x, d.Tables), Check: onSettings(x, d.Check),
		Memory: onSettings(x, d.Memory), CheckRelease: onSettings(x, d.CheckRelease),
		Forms: onSettings(x, d.Forms), Written: d.Written, Instead: d.Instead,
		CheckExport: onSettings(x, d.CheckExport),
		Run: func(ctx context.Context, t *Trial) (*Result, error) {
			out, err := d.Run(ctx, t, x.Settings(t.Params))
			if err != nil {
				return nil, err
			}
			return x.result(out), nil
		},
	}
	if d.Complete != nil {
		x.Complete = x.complete
	}
	x.Experiment.Release = onTrial(x, d.Release)
	x.Experiment.Export = onTrial(x, d.Export)
	for _, c := range d.Rules {
		x.addRule(c)
	}
	return x
}

// onSettings makes a function of parameters of one of settings; nil of nil.
func onSettings[S, M, R any](x *Definition[S, M], f func(*S) R) func(Params) R {
	if f == nil {
		return nil
	}
	return func(p Params) R { return f(x.Settings(p)) }
}

// onTrial makes a function of a trial of one that also has its settings; nil of nil.
func onTrial[S, M any](
	x *Definition[S, M], f func(context.Context, *Trial, *S) (*Release, error),
) func(context.Context, *Trial) (*Release, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, t *Trial) (*Release, error) { return f(ctx, t, x.Settings(t.Params)) }
}

// complete runs Complete on a struct, and hands on what it changed.
func (x *Definition[S, M]) complete(p Params, given func(name string) bool) error {
	s := x.Settings(p)
	err := x.declared.Complete(s, func(field any) bool {
		return given(x.SettingAt(s, field))
	})
	for name, value := range x.settings.encode(reflect.ValueOf(s).Elem()) {
		p[name] = value
	}
	return err
}

func (x *Definition[S, M]) addRule(c Rule[S]) {
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

// Defaults returns the settings of a trial to which none is given. What must be given
// is the zero value.
func (x *Definition[S, M]) Defaults() *S {
	p := make(Params, len(x.Params))
	s := new(S)
	for name, value := range x.settings.encode(reflect.ValueOf(s).Elem()) {
		p[name] = value
	}
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
// or why there is no such trial. s gets what Complete changes.
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

// Observe returns a trial as a figure sees it, of an outcome and its settings.
func (x *Definition[S, M]) Observe(s *S, seed int64, out *Outcome[M]) Observation {
	r := x.result(out)
	f := Observation{Metrics: r.Metrics, Series: r.Series}
	f.Experiment, f.Params, f.Seed = x.Name, x.settings.encode(reflect.ValueOf(s).Elem()), seed
	return f
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

// Matches returns a [Figure.Match] for the experiment's trials with settings of which
// want says so; all of them where it is nil.
func (x *Definition[S, M]) Matches(want func(*S) bool) func(string, Params) bool {
	return func(name string, p Params) bool {
		return name == x.Name && (want == nil || want(x.Settings(p)))
	}
}

// Draws returns a [Figure.Draw] of the experiment's trials.
func (x *Definition[S, M]) Draws(draw func([]ObservationOf[S, M]) []Panel) func([]Observation) []Panel {
	return func(trials []Observation) []Panel { return draw(x.Among(trials)) }
}

// Package experiment is the interface between the runner and the experiments.
//
// A paper's package describes each of its experiments as an [Experiment]: a
// name, typed parameters with defaults and units, the metrics that it reports,
// the data sets that it reads, and a function that computes one trial. The runner
// knows nothing else about an experiment, and an experiment knows nothing of
// sweeps, stores, tables or processes.
package experiment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Declaration declares an experiment: S is the type of the settings that its functions
// take, M that of the metrics that it reports. A paper's package declares it by a pointer
// to a struct and a struct, of which [Of] makes an [Experiment].
type Declaration[S, M any] struct {
	// Name is "paper/experiment", for instance "cloaking/regression".
	Name string
	// Version is the version of the result: raise it when a change of the code
	// changes the results of a trial. It is part of every trial's key, so that
	// stored results of an older version are not taken for new ones.
	Version int
	// Summary is one line for `run list`.
	Summary string
	// Source cites the paper and the place in it.
	Source string
	// Datasets names the data sets that a trial with these settings reads;
	// nil when none is ever read. "csv:PATH" is the user's file at PATH; so are
	// other kinds, which package dataset knows.
	Datasets func(S) []string
	// StandIn names the data that a trial with these settings computes on instead of the
	// paper's; it is empty where the trial has those. Such a trial has no verdict against
	// the print. It may be nil.
	StandIn func(S) string
	// Seedless reports whether a trial with these settings draws nothing at random, so
	// that every seed gives the same result; its Stream panics. It may be nil.
	Seedless func(S) bool
	// Tables names the columns that a trial reads of the user's files among its data
	// sets. They are looked for when a plan is made. It is nil where there are none.
	Tables func(S) []InputTable
	// Complete changes settings whose default depends on others, and refuses where one of
	// them has to be given. It runs before Check, on values that are filled in; given
	// reports whether the setting that a pointer into the struct points to was given
	// rather than a default; in an Experiment it takes the name of the setting. A refusal
	// by Check is reported before one by Complete. It may be nil.
	Complete func(s S, given func(field any) bool) error
	// Check refuses combinations of settings that no single setting can refuse
	// on its own. It runs before any trial of a sweep does, and must be cheap.
	// It may be nil.
	Check func(S) error
	// Memory estimates the peak memory of a trial with these settings, in
	// bytes, that of its idle process included; 0 where it is not known. It must
	// be cheap. nil means that a trial takes at most SmallMemory.
	Memory func(S) int64
	// Rules are the conditions that no tag can state. An Experiment has them as
	// conditions of its Params.
	Rules []Rule[S]
	// PrivateTiming leaves the timing out of a record with secure noise, because the time of
	// a trial would disclose a secret that its guarantee rests on.
	PrivateTiming bool
	// External means that a trial runs a program of the user's: it needs no engine, may lack
	// parameters, and may have others than Params.
	External bool
	// CountsShared means that metrics of time include the original time of shared work
	// ([Shared.Took]), also where another trial did it. Without it, a trial with
	// such metrics does all of its work itself.
	CountsShared bool
	// Run computes one trial. The same Trial gives the same Outcome, bit for
	// bit, for any number of Workers.
	Run func(context.Context, *Trial, S) (*Outcome[M], error)
	// Release computes the published values instead of Run: one run of the
	// mechanism, which spends one budget. It is nil where there is nothing to
	// publish.
	Release func(context.Context, *Trial, S) (*Release, error)
	// CheckRelease refuses settings with which a release would protect less
	// than it states. It runs before any data are read, and may be nil.
	CheckRelease func(S) error
	// Chooses names the experiment whose settings this one's release chooses, a release of
	// which names it as where they came from; empty where it chooses none.
	Chooses string
	// Forms returns the forms in which a release with these settings can be written; the
	// name of its file chooses one. It is nil where there is one form, Written.
	Forms func(S) []Form
	// Instead is the advice where neither a release nor an export is there and other
	// experiments have them; it may be empty.
	Instead string
	// Written is the form of an export, and of a release without Forms, for any name of its
	// file; another ending gets a warning. It may be empty.
	Written Form
	// Export computes results that are handed over although no (ε, δ) holds for them, such as
	// compressed features. Its Privacy has an empty guarantee and the reason for that
	// ([Privacy.Withdraw]). It books no budget. It is nil where there is nothing to hand over.
	Export func(context.Context, *Trial, S) (*Release, error)
	// CheckExport refuses settings with which there is nothing to export. It runs before
	// any data are read, and may be nil.
	CheckExport func(S) error
	// Registered means that an export has noise, and is registered ([Exports]) unless the
	// operator wants none.
	Registered bool
}

// Untyped is a declaration whose functions take settings and report metrics by name.
type Untyped = Declaration[Params, map[string]float64]

// Experiment describes one experiment of a paper.
type Experiment struct {
	Untyped
	// Params are the parameters, in the order in which they are shown.
	Params []Param
	// Metrics documents the metrics that Run reports. A trailing "*" in a name stands for
	// a family of metrics.
	Metrics []Metric
}

// InputTable names the columns that a trial reads of a file of the user's.
type InputTable struct {
	Dataset string // a name that Datasets has
	Columns []string
	// Check refuses the file at path where it lacks one of the columns. It reads the
	// header alone.
	Check func(path string) error
}

// Metric documents one number that an experiment reports.
type Metric struct {
	Name string // snake_case with the unit as suffix, such as rmse_cm
	Unit string // empty for a pure number
	Doc  string
	// Timing marks a metric that measures the speed of the machine: it differs from
	// run to run, while the others are the same wherever the key is. Trials with
	// such a metric run alone.
	Timing bool
	// Best is the direction in which the metric is better: "high" or "low"; it is empty
	// where there is none, as for a coverage or a count.
	Best string
	// Result marks a result: tables and plots of a sweep show the results where its file
	// names no metrics. An experiment has from one to three.
	Result bool
}

// SmallMemory is the most that a trial of an experiment without Memory takes.
const SmallMemory = 128 << 20

// Reads returns the data sets that a trial with these settings reads.
func (e *Experiment) Reads(p Params) []string {
	if e.Datasets == nil {
		return nil
	}
	return e.Datasets(p)
}

// Default gives a setting that was not given a value.
func Default[T any](given func(field any) bool, setting *T, value T) {
	if !given(setting) {
		*setting = value
	}
}

// Peak returns the bytes that are set aside for a trial: the estimate of Memory, or
// SmallMemory where there is none.
func (e *Experiment) Peak(p Params) int64 {
	if e.Memory != nil {
		if bytes := e.Memory(p); bytes > 0 {
			return bytes
		}
	}
	return SmallMemory
}

// Timed reports whether the experiment has a metric of the machine's speed. Its trials
// run alone.
func (e *Experiment) Timed() bool {
	return slices.ContainsFunc(e.Metrics, func(m Metric) bool { return m.Timing })
}

// DistinctSeeds returns the seeds that give different results: the first alone where a trial with these settings draws
// nothing at random ([Declaration.Seedless]). Trials that measure time keep all seeds, since a time scatters.
func (e *Experiment) DistinctSeeds(p Params, seeds []int64) []int64 {
	if len(seeds) < 2 || e.Seedless == nil || e.Timed() || !e.Seedless(p) {
		return seeds
	}
	return seeds[:1]
}

// Covers reports whether m documents the metric of that name: its own, or one of
// the family that a trailing "*" stands for.
func (m Metric) Covers(name string) bool {
	prefix, family := strings.CutSuffix(m.Name, "*")
	return m.Name == name || family && strings.HasPrefix(name, prefix)
}

// Param returns the parameter of that name, or an *UnknownError with the
// nearest valid name.
func (e *Experiment) Param(name string) (*Param, error) {
	for i := range e.Params {
		if e.Params[i].Name == name {
			return &e.Params[i], nil
		}
	}
	return nil, Unknown("parameter", name, e.ParamNames())
}

// ParamNames returns the names of the parameters in their order.
func (e *Experiment) ParamNames() []string {
	names := make([]string, len(e.Params))
	for i, p := range e.Params {
		names[i] = p.Name
	}
	return names
}

// Resolve checks given values, fills in the defaults, and applies Check.
// Values may be strings, from a command line, or the values of a YAML or JSON decoder.
func (e *Experiment) Resolve(given map[string]any) (Params, error) {
	out := make(Params, len(e.Params))
	for _, name := range slices.Sorted(maps.Keys(given)) { // of several wrong ones the first, always the same
		if _, err := e.Param(name); err != nil && !e.External {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	for i := range e.Params {
		p := &e.Params[i]
		v, ok := given[p.Name]
		if !ok {
			if p.Default == nil && e.External {
				continue
			}
			if p.Default == nil {
				return nil, fmt.Errorf("%s: parameter %q has no default and must be given (%s)", e.Name, p.Name, p.Doc)
			}
			v = p.Default
		}
		c, err := p.Convert(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		out[p.Name] = c
	}
	if e.External {
		if err := e.addExternal(given, out); err != nil {
			return nil, err
		}
	}
	var incomplete error
	if e.Complete != nil {
		incomplete = e.Complete(out, func(name any) bool { _, ok := given[name.(string)]; return ok })
	}
	if e.Check != nil {
		if err := e.Check(out); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	if incomplete != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, incomplete)
	}
	for i := range e.Params {
		if p := &e.Params[i]; p.Later && FormatValue(out[p.Name]) == FormatValue(p.Default) {
			delete(out, p.Name)
		}
	}
	return out, nil
}

// Whole are the parameters of a trial with the later ones that they leave out, which have
// their defaults.
func (e *Experiment) Whole(p Params) Params {
	out := p
	for i := range e.Params {
		q := &e.Params[i]
		if _, there := p[q.Name]; there || !q.Later {
			continue
		}
		if len(out) == len(p) {
			out = maps.Clone(p)
		}
		out[q.Name] = q.Default
	}
	return out
}

// Describe lists the parameters that differ from their defaults as name=value.
func (e *Experiment) Describe(p Params) string {
	parts, _ := e.arguments(p)
	return strings.Join(parts, " ")
}

// Arguments are parameters as name=value for a command line that resolves to p: those that differ from their defaults,
// and those with their defaults that [Untyped.Complete] asks for or would change.
func (e *Experiment) Arguments(p Params) []string {
	short, defaults := e.arguments(p)
	if e.resolve(short, p) {
		return short
	}
	all := slices.Concat(short, defaults)
	if !e.resolve(all, p) {
		return short
	}
	for _, d := range defaults {
		if without := slices.DeleteFunc(slices.Clone(all), func(a string) bool { return a == d }); e.resolve(without, p) {
			all = without
		}
	}
	return all
}

// resolve reports whether arguments resolve to p.
func (e *Experiment) resolve(arguments []string, p Params) bool {
	given := map[string]any{}
	for _, a := range arguments {
		name, text, _ := strings.Cut(a, "=")
		given[name] = text
	}
	got, err := e.Resolve(given)
	return err == nil && maps.EqualFunc(got, p, func(a, b any) bool { return FormatValue(a) == FormatValue(b) })
}

// arguments are the parameters that differ from their defaults, and those that do not.
func (e *Experiment) arguments(p Params) (parts, defaults []string) {
	p = e.Whole(p)
	for i := range e.Params {
		q := &e.Params[i]
		value, ok := p[q.Name]
		if !ok {
			continue // an external experiment may lack it
		}
		text := FormatValue(value)
		if d, err := q.Convert(q.Default); q.Default != nil && err == nil && FormatValue(d) == text {
			defaults = append(defaults, q.Name+"="+text)
		} else {
			parts = append(parts, q.Name+"="+text)
		}
	}
	return parts, defaults
}

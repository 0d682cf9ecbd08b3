// Package experiment is the interface between the runner and what it runs.
//
// A paper's package describes each of its experiments as an [Experiment]: a
// name, typed parameters with defaults and units, the metrics that come out,
// the data sets that go in, and a function that computes one trial. The runner
// knows nothing else about an experiment, and an experiment knows nothing of
// sweeps, stores, tables or processes.
package experiment

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
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
	// changes what a trial computes. It is part of every trial's key, so that
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
	// Memory estimates the most that a trial with these settings takes, in
	// bytes, with what its process takes anyway; 0 where it is not known. It must
	// be cheap. nil means that a trial takes at most SmallMemory.
	Memory func(S) int64
	// Rules are the conditions that no tag can state. An Experiment has them as
	// conditions of its Params.
	Rules []Rule[S]
	// PrivateTiming leaves the timing out of a record with secure noise: the time that
	// a trial takes would disclose what its guarantee needs to be secret.
	PrivateTiming bool
	// CountsShared means that metrics of time count shared work as long as it took
	// when it was done ([Shared.Took]), whichever trial did it. Without, a trial with
	// such metrics does all of its work itself.
	CountsShared bool
	// Run computes one trial. The same Trial gives the same Outcome, bit for
	// bit, whatever Workers is.
	Run func(context.Context, *Trial, S) (*Outcome[M], error)
	// Release computes what is to be published, in place of Run: one run of the
	// mechanism, which spends one budget. It is nil where there is nothing to
	// publish.
	Release func(context.Context, *Trial, S) (*Release, error)
	// CheckRelease refuses settings with which a release would protect less
	// than it states. It runs before any data are read, and may be nil.
	CheckRelease func(S) error
	// Chooses names the experiment whose settings this one's release chooses, a release of
	// which names it as where they came from; empty where it chooses none.
	Chooses string
	// Forms are those in which a release with these settings can be written, of which
	// the name of its file chooses one. It is nil where there is one form, Written.
	Forms func(S) []Form
	// Instead is the advice where neither a release nor an export is there and other
	// experiments have them; it may be empty.
	Instead string
	// Written is the form of an export, and of a release without Forms, whatever its file is
	// named; another ending gets a warning. It may be empty.
	Written Form
	// Export computes what may be handed over although no (ε, δ) holds for it, such as
	// compressed features. Its Privacy has an empty guarantee and the reason for that
	// ([Privacy.Withdraw]). It books no budget. It is nil where there is nothing to hand over.
	Export func(context.Context, *Trial, S) (*Release, error)
	// CheckExport refuses settings with which there is nothing to export. It runs before
	// any data are read, and may be nil.
	CheckExport func(S) error
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

// InputTable is what a trial reads of a file of the user's.
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
}

// SmallMemory is the most that a trial of an experiment without Memory takes.
const SmallMemory = 128 << 20

// Peak returns the bytes that are set aside for a trial: what Memory estimates,
// SmallMemory where it estimates nothing.
func (e *Experiment) Peak(p Params) int64 {
	if e.Memory != nil {
		if bytes := e.Memory(p); bytes > 0 {
			return bytes
		}
	}
	return SmallMemory
}

// Timed says whether a trial reports how fast the machine was. Such a trial runs
// alone.
func (e *Experiment) Timed() bool {
	return slices.ContainsFunc(e.Metrics, func(m Metric) bool { return m.Timing })
}

// Covers says whether m documents the metric of that name: its own, or one of
// the family that a trailing "*" stands for.
func (m Metric) Covers(name string) bool {
	prefix, family := strings.CutSuffix(m.Name, "*")
	return m.Name == name || family && strings.HasPrefix(name, prefix)
}

// Trial is what one run of an experiment gets to see.
type Trial struct {
	Identity

	// Engine computes, on the trial's backend and in its element type. The runner
	// opens it and closes it: it is what the program that runs the plan gave it an
	// opener for, and nil where that gave none.
	Engine io.Closer
	// Workers bounds the trial's own parallelism (goroutines that compute at
	// the same time). It never changes a result.
	Workers int
	// Dataset returns the folder of a data set that Datasets names, or the path
	// of the file for "csv:PATH". It never fails for those: the runner skips a
	// trial whose data are not there.
	Dataset func(name string) string
	// Progress reports how much of a long trial is done. It may be called
	// often, from one goroutine at a time; it is never nil.
	Progress func(done, total int, what string)
	// Stream returns the random stream of one purpose, such as "noise" or
	// "k-means". Streams of different purposes, seeds or experiments are
	// independent of each other and of scheduling. It is never nil.
	Stream func(purpose string) *rand.Rand
	// Keeper keeps shared work between the trials of a sweep, by way of [Trial.Memo]; it
	// is nil where nothing is kept.
	Keeper Keeper
	// Secure is true when the streams come from the operating system's
	// entropy source instead of the seed.
	Secure bool
	// Book takes what a release spends from the budgets of its data, durably,
	// or says why it may not. A release calls it once, when all that can fail
	// for reasons other than noise is done and before any noise is drawn. It is
	// nil outside of a release.
	Book func(Spending) error
	// Entropy is where the noise of a release comes from, the operating system's
	// source but in audits and tests; nil outside of a release.
	Entropy io.Reader
}

// ForOthers says whether what the trial makes is for others, a release or an export: what it
// says then, where it fails included, names no private value.
func (t *Trial) ForOthers() bool { return t.Book != nil || t.Entropy != nil }

// Outcome is the result of a trial, with metrics of type M.
type Outcome[M any] struct {
	// Metrics must be finite: the runner turns a NaN or an infinity into a
	// failed trial.
	Metrics M
	// Series holds named groups of columns of equal length, by convention one
	// column "x" and the curves over it. NaN marks a gap.
	Series map[string]Series
	// Privacy states what the mechanism protects, with an empty guarantee where none
	// holds; nil where the experiment has no privacy mechanism.
	Privacy *Privacy
	// Warnings name results that are computed but suspect.
	Warnings []string
}

// Result is an outcome with its metrics by name.
type Result = Outcome[map[string]float64]

// Series is a group of columns of equal length.
type Series map[string][]float64

// Registry holds the experiments that a program offers, by name.
type Registry struct {
	byName map[string]*Experiment
}

// NewRegistry returns a registry of the given experiments. It panics on an
// invalid or doubled definition, which is a mistake in the program.
func NewRegistry(experiments ...*Experiment) *Registry {
	r := &Registry{byName: make(map[string]*Experiment, len(experiments))}
	for _, e := range experiments {
		if err := e.validate(); err != nil {
			panic("experiment: " + err.Error())
		}
		if r.byName[e.Name] != nil {
			panic("experiment: two definitions of " + e.Name)
		}
		r.byName[e.Name] = e
	}
	return r
}

// RegistryOf returns a registry of the papers' experiments. It panics as
// [NewRegistry] does.
func RegistryOf(papers []Paper) *Registry {
	var all []*Experiment
	for _, p := range papers {
		all = append(all, p.Experiments...)
	}
	return NewRegistry(all...)
}

// Lookup returns the experiment of that name, or an *UnknownError with the
// nearest valid name.
func (r *Registry) Lookup(name string) (*Experiment, error) {
	if e := r.byName[name]; e != nil {
		return e, nil
	}
	return nil, Unknown("experiment", name, r.Names())
}

// Names returns all names in order.
func (r *Registry) Names() []string {
	names := make([]string, 0, len(r.byName))
	for n := range r.byName {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// WithExport returns the names of the experiments that have an export, in
// alphabetical order.
func (r *Registry) WithExport() []string {
	return slices.DeleteFunc(r.Names(), func(name string) bool { return r.byName[name].Export == nil })
}

// WithRelease returns the names of the experiments that have a release, in
// order.
func (r *Registry) WithRelease() []string {
	return slices.DeleteFunc(r.Names(), func(name string) bool { return r.byName[name].Release == nil })
}

// Choices returns the experiments whose releases are choices of settings, each with the one
// that they are for.
func (r *Registry) Choices() map[string]string {
	out := map[string]string{}
	for name, e := range r.byName {
		if e.Chooses != "" {
			out[name] = e.Chooses
		}
	}
	return out
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
// Values may be strings (from a command line) or what a YAML or JSON decoder
// returns.
func (e *Experiment) Resolve(given map[string]any) (Params, error) {
	out := make(Params, len(e.Params))
	for _, name := range slices.Sorted(maps.Keys(given)) { // of several wrong ones the first, always the same
		if _, err := e.Param(name); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	for i := range e.Params {
		p := &e.Params[i]
		v, ok := given[p.Name]
		if !ok {
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

func (e *Experiment) validate() error {
	switch {
	case e.Name == "":
		return fmt.Errorf("an experiment without a name")
	case e.Run == nil:
		return fmt.Errorf("%s: no Run function", e.Name)
	case e.Version < 1:
		return fmt.Errorf("%s: Version must be at least 1", e.Name)
	}
	seen := map[string]bool{}
	for i := range e.Params {
		p := &e.Params[i]
		if seen[p.Name] {
			return fmt.Errorf("%s: parameter %q is defined twice", e.Name, p.Name)
		}
		seen[p.Name] = true
		if p.Default != nil {
			if _, err := p.Convert(p.Default); err != nil {
				return fmt.Errorf("%s: the default of %w", e.Name, err)
			}
		}
		if err := e.validateConditions(p, nil); err != nil {
			return err
		}
	}
	return nil
}

package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/text"
)

// settings aggregates the parameters of an experiment's trials.
type settings struct {
	name     string
	params   []experiment.Param
	known    *experiment.Experiment // nil for one that is not in the registry
	defaults map[string]string
	values   map[string]*values
	seeds    map[int64]bool
	trials   int
	metrics  *values // names, in the order of first use
}

// values are the distinct values of one parameter, in the order of the plan.
type values struct {
	texts []string
	index map[string]int // text to its position
}

// add returns the position of a value, and appends a new one.
func (v *values) add(text string) int {
	i, ok := v.index[text]
	if !ok {
		i = len(v.texts)
		v.index[text] = i
		v.texts = append(v.texts, text)
	}
	return i
}

// maxValues bounds the listed values of a parameter, and ranges of seeds.
const maxValues = 12

func newSettings(name string, reg *experiment.Registry) *settings {
	s := &settings{name: name, defaults: map[string]string{}, values: map[string]*values{},
		seeds: map[int64]bool{}, metrics: newValues()}
	if reg == nil {
		return s
	}
	if e, err := reg.Lookup(name); err == nil {
		s.known, s.params = e, e.Params
		for i := range e.Params {
			p := &e.Params[i]
			if d, err := p.Convert(p.Default); p.Default != nil && err == nil {
				s.defaults[p.Name] = experiment.FormatValue(d)
			}
		}
	}
	return s
}

func newValues() *values { return &values{index: map[string]int{}} }

// add returns the positions of the parameters' values.
func (s *settings) add(params experiment.Params, seed int64) map[string]int {
	s.trials++
	s.seeds[seed] = true
	at := make(map[string]int, len(params))
	for name, v := range params {
		vs := s.values[name]
		if vs == nil {
			vs = newValues()
			s.values[name] = vs
		}
		at[name] = vs.add(experiment.FormatValue(v))
	}
	return at
}

// names returns all parameters in their order.
func (s *settings) names() []string {
	all := make(experiment.Params, len(s.values))
	for name := range s.values {
		all[name] = nil
	}
	return s.ordered(all)
}

// doc returns the unit and documentation of a parameter, empty where it is unknown.
func (s *settings) doc(name string) (unit, doc string) {
	for _, p := range s.params {
		if p.Name == name {
			return p.Unit, p.Doc
		}
	}
	return "", ""
}

// ordered returns the names of the parameters in the experiment's order, and
// unknown ones after them.
func (s *settings) ordered(params experiment.Params) []string {
	var out []string
	for _, p := range s.params {
		if _, ok := params[p.Name]; ok {
			out = append(out, p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// ExperimentSettings are an experiment's settings in the report.
type ExperimentSettings struct {
	Experiment string
	Trials     int
	Seeds      string // such as "0..19"
	Params     []ParamValues
}

// ParamValues are the values that a parameter takes in a sweep.
type ParamValues struct {
	Name, Unit, Doc string
	Values          string
	Swept           bool // more than one value
	Default         string
	IsDefault       bool // the only value is the default
}

// Settings returns the settings of all experiments, in the order of the plan.
func (t *TrialTally) Settings() []ExperimentSettings {
	var out []ExperimentSettings
	for _, s := range t.experiments {
		one := ExperimentSettings{Experiment: s.name, Trials: s.trials, Seeds: seedText(s.seeds)}
		for _, name := range s.names() {
			vs := s.values[name].texts
			p := ParamValues{Name: name, Swept: len(vs) > 1, Default: s.defaults[name],
				Values: strings.Join(vs[:min(len(vs), maxValues)], ", ")}
			if len(vs) > maxValues {
				p.Values += ", … (" + strconv.Itoa(len(vs)) + " values)"
			}
			p.Unit, p.Doc = s.doc(name)
			_, hasDefault := s.defaults[name]
			p.IsDefault = hasDefault && !p.Swept && p.Values == p.Default
			one.Params = append(one.Params, p)
		}
		out = append(out, one)
	}
	return out
}

// seedText returns seeds as ranges: "0..4, 7".
func seedText(seeds map[int64]bool) string {
	parts := text.Ranges(slices.Collect(maps.Keys(seeds)))
	if n := len(parts); n > maxValues {
		return strings.Join(parts[:maxValues], ", ") + ", … (" + strconv.Itoa(len(seeds)) + " seeds)"
	}
	return strings.Join(parts, ", ")
}

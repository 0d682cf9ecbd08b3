package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
)

// settings aggregates the parameters of an experiment's trials.
type settings struct {
	name     string
	params   []experiment.Param
	defaults map[string]string
	values   map[string]*values
	seeds    map[int64]bool
	trials   int
}

// values are the distinct values of one parameter, in the order of the plan.
type values struct {
	texts []string
	seen  map[string]bool
	// count goes on where texts stops.
	count int
}

// maxValues is how many distinct values of a parameter are listed.
const maxValues = 12

func newSettings(name string, reg *experiment.Registry) *settings {
	s := &settings{name: name, defaults: map[string]string{}, values: map[string]*values{}, seeds: map[int64]bool{}}
	if reg == nil {
		return s
	}
	if e, err := reg.Lookup(name); err == nil {
		s.params = e.Params
		for i := range e.Params {
			p := &e.Params[i]
			if d, err := p.Convert(p.Default); p.Default != nil && err == nil {
				s.defaults[p.Name] = experiment.FormatValue(d)
			}
		}
	}
	return s
}

func (s *settings) add(params experiment.Params, seed int64) {
	s.trials++
	s.seeds[seed] = true
	for name, v := range params {
		vs := s.values[name]
		if vs == nil {
			vs = &values{seen: map[string]bool{}}
			s.values[name] = vs
		}
		text := experiment.FormatValue(v)
		if vs.seen[text] {
			continue
		}
		vs.seen[text] = true
		vs.count++
		if len(vs.texts) < maxValues {
			vs.texts = append(vs.texts, text)
		}
	}
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

// Settings are an experiment's settings as the report shows them.
type Settings struct {
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
func (t *Trials) Settings() []Settings {
	var out []Settings
	for _, s := range t.experiments {
		one := Settings{Experiment: s.name, Trials: s.trials, Seeds: seedText(s.seeds)}
		names := make(experiment.Params, len(s.values))
		for name := range s.values {
			names[name] = nil
		}
		for _, name := range s.ordered(names) {
			vs := s.values[name]
			p := ParamValues{Name: name, Swept: vs.count > 1, Default: s.defaults[name], Values: strings.Join(vs.texts, ", ")}
			if vs.count > len(vs.texts) {
				p.Values += ", … (" + strconv.Itoa(vs.count) + " values)"
			}
			for _, q := range s.params {
				if q.Name == name {
					p.Unit, p.Doc = q.Unit, q.Doc
				}
			}
			_, hasDefault := s.defaults[name]
			p.IsDefault = hasDefault && !p.Swept && p.Values == p.Default
			one.Params = append(one.Params, p)
		}
		out = append(out, one)
	}
	return out
}

// seedText writes seeds as ranges: "0..4, 7".
func seedText(seeds map[int64]bool) string {
	sorted := slices.Sorted(maps.Keys(seeds))
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		part := strconv.FormatInt(sorted[i], 10)
		if j > i {
			part += ".." + strconv.FormatInt(sorted[j], 10)
		}
		parts = append(parts, part)
		i = j + 1
	}
	if n := len(parts); n > maxValues {
		return strings.Join(parts[:maxValues], ", ") + ", … (" + strconv.Itoa(len(sorted)) + " seeds)"
	}
	return strings.Join(parts, ", ")
}

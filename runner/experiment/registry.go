package experiment

import (
	"fmt"
	"slices"
	"sync"
)

// Paper has the experiments, figures and claims of a paper. Its title and citation
// are in the ledger.
type Paper struct {
	Name        string // the first part of its experiments' and tables' names
	Experiments []*Experiment
	Figures     []Figure
	// Ledger is the YAML text of the paper's claims: every printed value that
	// is reproduced, and which trials reproduce it (package runner/claims/ledger).
	Ledger []byte
}

// Registry holds the experiments that a program offers, by name.
type Registry struct {
	byName map[string]*Experiment

	external *Experiment // see [Registry.Admit]
	mu       sync.RWMutex
	defined  map[string]*Experiment // see [Registry.Define]
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
	if e := r.lookupExternal(name); e != nil {
		return e, nil
	}
	names := r.Names()
	if r.external != nil {
		names = append(names, r.external.Name)
	}
	return nil, Unknown("experiment", name, names)
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

package experiment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Usage is the cost of processes that a trial started.
type Usage struct {
	CPU     time.Duration // user and system
	PeakRSS int64         // bytes; 0 where it is unknown
}

// Add adds the cost of one more process, which ran after the others.
func (u *Usage) Add(other Usage) {
	u.CPU += other.CPU
	u.PeakRSS = max(u.PeakRSS, other.PeakRSS)
}

// Admit makes the registry know an external experiment, for its name and every name
// "NAME/...", unless another one is defined for that.
func (r *Registry) Admit(external *Experiment) { r.external = external }

// Define adds an external experiment, such as one of a plan. Another definition of that
// name keeps the parameters that only it has.
func (r *Registry) Define(e *Experiment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.defined[e.Name]; before != nil {
		both := *e
		for _, p := range before.Params {
			if _, err := e.Param(p.Name); err != nil {
				both.Params = append(slices.Clip(both.Params), p)
			}
		}
		e = &both
	}
	defined := maps.Clone(r.defined)
	if defined == nil {
		defined = map[string]*Experiment{}
	}
	defined[e.Name] = e
	r.defined = defined
}

// lookupExternal returns an external experiment; nil where there is none of that name.
func (r *Registry) lookupExternal(name string) *Experiment {
	r.mu.RLock()
	e := r.defined[name]
	r.mu.RUnlock()
	if e != nil || r.external == nil || name != r.external.Name && !strings.HasPrefix(name, r.external.Name+"/") {
		return e
	}
	named := *r.external
	named.Name = name
	return &named
}

// addExternal adds the settings that a trial of an external experiment has beyond its
// parameters, as they are: numbers, texts, truth values and lists of numbers.
func (e *Experiment) addExternal(given map[string]any, out Params) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, there := out[name]; there {
			continue
		}
		v, err := externalValue(given[name])
		if err != nil {
			return fmt.Errorf("%s: parameter %q: %w", e.Name, name, err)
		}
		out[name] = v
	}
	return nil
}

func externalValue(v any) (any, error) {
	switch x := v.(type) {
	case string, bool, int, float64, []float64:
		return v, nil
	case []any:
		return (&Param{Infinite: true}).toNumbers(x)
	}
	return nil, errors.New("no setting of a program is a " + fmt.Sprintf("%T", v))
}

package engine

import (
	"maps"
	"slices"
)

// Warned calls f and returns the warnings that it gave, in alphabetical order, those too
// that the engine had before. Nothing else may use the engine meanwhile. The engine keeps
// them beside the others.
func (e *Engine) Warned(f func() error) (given []string, err error) {
	swap := func(to map[string]bool) (from map[string]bool) {
		e.mu.Lock()
		defer e.mu.Unlock()
		from, e.warnings = e.warnings, to
		return from
	}
	before := swap(map[string]bool{})
	defer func() { // in a panic too
		given = slices.Sorted(maps.Keys(swap(before)))
		for _, text := range given {
			e.Warn("%s", text)
		}
	}()
	return nil, f()
}

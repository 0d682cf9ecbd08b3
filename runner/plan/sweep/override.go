package sweep

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// Override replaces the values of a parameter by those of the command
// line's name=v1,v2. It applies to every block whose experiment has that
// parameter; several values are swept over. Brackets keep a list together
// (inducing_points=[5,20,35]); linspace(a,b,n) and logspace(a,b,n) are known. The error is
// an *experiment.UnknownError where no experiment of the sweep has the
// parameter. On an error the sweep is unchanged.
func (s *Sweep) Override(assignment string) error {
	name, text, ok := strings.Cut(assignment, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		return fmt.Errorf("%q is not of the form name=value", assignment)
	}
	var known []string
	values := make([][]value, len(s.blocks)) // of the blocks that it applies to
	applies := false
	for i, b := range s.blocks {
		known = append(known, b.exp.ParamNames()...)
		p, err := b.exp.Param(name)
		if err != nil {
			continue
		}
		if values[i], err = parseValues(p, text); err != nil {
			return fmt.Errorf("%s: %s: %w", assignment, b.exp.Name, err)
		}
		applies = true
	}
	if !applies {
		return fmt.Errorf("%s: %w", assignment, experiment.Unknown("parameter", name, known))
	}
	// Nothing is changed before everything is known to be right.
	for i, b := range s.blocks {
		if values[i] != nil {
			b.override(axis{name: name, values: values[i], from: assignment})
		}
	}
	return nil
}

// SetSeeds replaces the seeds of all blocks.
func (s *Sweep) SetSeeds(seeds []int64) {
	for _, b := range s.blocks {
		b.seeds, b.replaced = seeds, true
	}
}

func (b *block) override(a axis) {
	drop := func(axes []axis) []axis {
		return slices.DeleteFunc(slices.Clone(axes), func(old axis) bool { return old.name == a.name })
	}
	b.params, b.sweep, b.zip = drop(b.params), drop(b.sweep), drop(b.zip)
	for i := range b.cases {
		b.cases[i] = drop(b.cases[i])
	}
	b.replaced = true
	if len(a.values) == 1 {
		b.params = append(b.params, a)
	} else {
		b.sweep = append(b.sweep, a)
	}
}

// parseValues reads the right side of an override.
func parseValues(p *experiment.Param, text string) ([]value, error) {
	var out []value
	for _, part := range SplitList(text) {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, errors.New("an empty value")
		}
		converted, err := convert(p, part)
		if err != nil {
			return nil, err
		}
		for _, c := range converted {
			out = append(out, value{v: c})
		}
	}
	if i := repeated(out); i >= 0 {
		return nil, fmt.Errorf("the value %s is given twice", experiment.FormatValue(out[i].v))
	}
	return out, nil
}

// SplitList splits at commas that are not inside brackets or parentheses.
func SplitList(s string) []string {
	var parts []string
	depth, start := 0, 0
	for i, c := range s {
		switch c {
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, s[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, s[start:])
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

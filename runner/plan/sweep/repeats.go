package sweep

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/token"

	"privkern/runner/experiment"
)

// repeated returns the first value that an earlier one is equal to, -1 for none:
// 1, 1.0 and 1e0 are one value.
func repeated(values []value) int {
	seen := make(map[string]bool, len(values))
	for i, v := range values {
		text := experiment.FormatValue(v.v)
		if seen[text] {
			return i
		}
		seen[text] = true
	}
	return -1
}

// once refuses a value that an axis has twice.
func (r *reader) once(a axis) error {
	i := repeated(a.values)
	if i < 0 {
		return nil
	}
	return r.errorAt(a.values[i].at, fmt.Errorf("parameter %q has the value %s twice; each value runs once: leave one "+
		"of them out", a.name, experiment.FormatValue(a.values[i].v)))
}

// identity is the SHA-256, cut off, of an experiment and parameters.
type identity [16]byte

// identityOf identifies the parameters that keep holds for.
func identityOf(e *experiment.Experiment, p experiment.Params, keep func(name string) bool) identity {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00", e.Name)
	for i := range e.Params {
		if name := e.Params[i].Name; keep(name) {
			fmt.Fprintf(h, "%s=%s\x00", name, experiment.FormatValue(p[name]))
		}
	}
	return identity(h.Sum(nil)[:16])
}

// occurrence is where a setting stands.
type occurrence struct {
	block *block
	at    *token.Token
}

// mayRepeat reports whether the block may have a setting twice, or in common with another
// block. A product alone has none twice.
func (s *Sweep) mayRepeat(b *block) bool {
	if len(b.cases) > 1 || len(b.zip) > 0 {
		return true
	}
	return slices.ContainsFunc(s.blocks, func(other *block) bool { return other != b && other.exp == b.exp })
}

// fresh returns the seeds with which the setting did not stand before. It refuses
// one that did, unless the command line made it so.
func (x *expander) fresh(b *block, at *token.Token, params experiment.Params, given map[string]any) ([]int64, error) {
	id := identityOf(b.exp, params, func(string) bool { return true })
	seeds := b.seeds
	for _, before := range x.seen[id] {
		left := slices.DeleteFunc(slices.Clone(seeds), func(seed int64) bool {
			return slices.Contains(before.block.seeds, seed)
		})
		if len(left) == len(seeds) {
			continue
		}
		if !b.replaced && !before.block.replaced {
			return nil, x.sweep.reader.errorAt(at, fmt.Errorf("%s %s stands twice, first %s; leave one of them out",
				b.exp.Name, describe(given), placeOf(before.at)))
		}
		x.out.Merged += len(seeds) - len(left)
		seeds = left
	}
	x.seen[id] = append(x.seen[id], occurrence{b, at})
	return seeds, nil
}

// placeOf describes a place in the file.
func placeOf(at *token.Token) string {
	if at == nil || at.Position == nil {
		return "above"
	}
	return fmt.Sprintf("at line %d, column %d", at.Position.Line, at.Position.Column)
}

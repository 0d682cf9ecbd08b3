package sweep

import (
	"fmt"

	"privkern/runner/experiment"
)

// MaxTrials bounds what one sweep may expand to, so that a typing error does
// not fill the memory.
const MaxTrials = 2_000_000

// Setting is one trial to be run: an experiment with all its parameters and a
// seed.
type Setting struct {
	Experiment *experiment.Experiment
	Params     experiment.Params
	Seed       int64
}

// Expand returns the settings of the sweep in a fixed order: blocks as they
// are written; in a block cases, then zip, then the sweep's parameters with
// the last one changing fastest, then seeds. Settings that occur twice are
// returned twice.
func (s *Sweep) Expand() ([]Setting, error) {
	total := 0
	for _, b := range s.blocks {
		n := b.size()
		if n > MaxTrials-total {
			return nil, s.reader.errorAt(b.at, fmt.Errorf("the sweep has more than %d trials", MaxTrials))
		}
		total += n
	}
	out := make([]Setting, 0, total)
	for _, b := range s.blocks {
		var err error
		if out, err = s.expandBlock(out, b); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// size is the number of trials of the block, cut off above MaxTrials.
func (b *block) size() int {
	n := max(1, len(b.cases)) * len(b.seeds)
	mul := func(k int) {
		if n > MaxTrials {
			return
		}
		n *= k
	}
	if len(b.zip) > 0 {
		mul(len(b.zip[0].values))
	}
	for _, a := range b.sweep {
		mul(len(a.values))
	}
	return n
}

func (s *Sweep) expandBlock(out []Setting, b *block) ([]Setting, error) {
	base := map[string]any{}
	for _, a := range b.params {
		base[a.name] = a.values[0].v
	}
	cases := b.cases
	if len(cases) == 0 {
		cases = [][]axis{nil}
	}
	pairs := 1
	if len(b.zip) > 0 {
		pairs = len(b.zip[0].values)
	}
	index := make([]int, len(b.sweep))
	given := make(map[string]any, len(base)+len(b.sweep)+len(b.zip))
	for _, c := range cases {
		clear(given)
		for k, v := range base {
			given[k] = v
		}
		at := b.at
		for _, a := range c {
			given[a.name] = a.values[0].v
			at = a.at
		}
		for pair := range pairs {
			for _, a := range b.zip {
				given[a.name] = a.values[pair].v
			}
			clear(index)
			for {
				for i, a := range b.sweep {
					given[a.name] = a.values[index[i]].v
				}
				params, err := b.exp.Resolve(given)
				if err != nil {
					return nil, s.reader.errorAt(at, fmt.Errorf("%w (setting %s)", err, describe(given)))
				}
				for _, seed := range b.seeds {
					out = append(out, Setting{Experiment: b.exp, Params: params, Seed: seed})
				}
				if !next(index, b.sweep) {
					break
				}
			}
		}
	}
	return out, nil
}

// next advances the indices like an odometer; false after the last.
func next(index []int, axes []axis) bool {
	for i := len(axes) - 1; i >= 0; i-- {
		if index[i]++; index[i] < len(axes[i].values) {
			return true
		}
		index[i] = 0
	}
	return false
}

// describe lists given parameters for an error message.
func describe(given map[string]any) string {
	s := ""
	for _, name := range sortedKeys(given) {
		if s != "" {
			s += " "
		}
		s += name + "=" + experiment.FormatValue(given[name])
	}
	if s == "" {
		return "with all defaults"
	}
	return s
}

package sweep

import (
	"fmt"
	"maps"

	"privkern/runner/experiment"
	"privkern/runner/plan/search"
)

// MaxTrials bounds the trials of a sweep, so that a typing error does
// not fill the memory.
const MaxTrials = 2_000_000

// Assignment gives every parameter of an experiment a value, and the trial a seed.
type Assignment struct {
	Experiment *experiment.Experiment
	Params     experiment.Params // complete: defaults are filled in
	Seed       int64
}

// Expansion is the list of settings of a sweep, with warnings.
type Expansion struct {
	// Settings are in a fixed order: blocks as they are written; in a block cases,
	// then zip, then the sweep's parameters with the last one changing fastest,
	// then seeds. They differ from each other.
	Settings []Assignment
	// Warnings name parameters that are given and do nothing, with their places,
	// and how many trials repeat the computation of another for that.
	Warnings []string
	// Merged is how many trials name=value arguments, or other seeds, made equal to
	// another one of the sweep.
	Merged int
	// Seedless is how many trials would repeat one with another seed, and are left out.
	Seedless int
	// Arguments are the name=value arguments that the sweep has the parameter of.
	Arguments []Argument
	// Search is the search whose first round Settings are; nil for none.
	Search *search.Spec
}

// Expand returns the settings of the sweep. It refuses settings that a file has
// twice, and a parameter that varies and has no effect in any of them.
func (s *Sweep) Expand() (*Expansion, error) {
	total := 0
	for _, b := range s.blocks {
		n := b.size()
		if n > MaxTrials-total {
			return nil, s.reader.errorAt(b.at, fmt.Errorf("the sweep has more than %d trials", MaxTrials))
		}
		total += n
	}
	x := &expander{sweep: s, out: &Expansion{Settings: make([]Assignment, 0, total)}, seen: map[identity][]occurrence{}}
	for _, b := range s.blocks {
		expand := x.block
		if b.search != nil {
			expand = x.searchBlock
		}
		if err := expand(b); err != nil {
			return nil, err
		}
	}
	return x.out, nil
}

// expander expands the blocks of a sweep one after another.
type expander struct {
	sweep *Sweep
	out   *Expansion
	seen  map[identity][]occurrence
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

func (x *expander) block(b *block) error {
	r := x.sweep.reader
	if b.program != nil {
		if err := r.runnable(b.program); err != nil {
			return err
		}
	}
	uses := newUses(b)
	distinct := x.sweep.mayRepeat(b)
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
		maps.Copy(given, base)
		at := b.at
		for _, a := range c {
			given[a.name] = a.values[0].v
		}
		if len(c) > 0 {
			at = c[0].at
		}
		for pair := range pairs {
			for _, a := range b.zip {
				given[a.name] = a.values[pair].v
			}
			if len(c) == 0 && len(b.zip) > 0 {
				at = b.zip[0].values[pair].at
			}
			clear(index)
			for {
				for i, a := range b.sweep {
					given[a.name] = a.values[index[i]].v
				}
				params, err := b.exp.Resolve(given)
				if err == nil && b.program != nil {
					err = b.program.missingPlace(params)
				}
				if err != nil {
					return r.errorAt(at, fmt.Errorf("%w (setting %s)", err, describe(given)))
				}
				seeds := b.seeds
				if distinct {
					if seeds, err = x.fresh(b, at, params, given); err != nil {
						return err
					}
				}
				kept := b.exp.DistinctSeeds(params, seeds)
				x.out.Seedless += len(seeds) - len(kept)
				seeds = kept
				for _, seed := range seeds {
					x.out.Settings = append(x.out.Settings, Assignment{Experiment: b.exp, Params: params, Seed: seed})
				}
				uses.count(params, given, len(seeds))
				if !next(index, b.sweep) {
					break
				}
			}
		}
	}
	return uses.judge(r, x.out)
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

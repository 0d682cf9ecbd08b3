package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// Trial is a planned trial with its result.
type Trial struct {
	Experiment string
	Params     experiment.Params
	Seed       int64
	Metrics    map[string]float64 // nil unless it is ok
	Series     map[string]experiment.Series
	Simulated  *experiment.Simulated // the guarantee of its mechanism; nil for none
	CPU        float64               // seconds
	Warnings   []string              // of its record
	Failure    string                // why there is no result; empty for an ok trial
}

// Results are the scores of a comparison.
type Results struct {
	Contest  *Contest  `json:"-"`
	Title    string    `json:"title"`
	Unit     string    `json:"unit"`
	Delta    string    `json:"delta"`
	Measure  Measure   `json:"measure"`
	Splits   int       `json:"splits"`
	Epsilons []float64 `json:"epsilons"`
	// Blocks hold methods that protect the unit, and then those that protect less. Sentences and winners are of the first
	// block with methods.
	Blocks []*Block `json:"blocks"`
	// Trivial is the score of the trivial rule at each epsilon, and Exact that of the best method without noise; nil for
	// none.
	Trivial []Mean `json:"trivial"`
	Exact   *Mean  `json:"without_privacy"`
	// Sentences state what the scores show, one for each epsilon.
	Sentences []string   `json:"sentences"`
	Winners   []*Winner  `json:"winners"` // nil where nothing is worth a release
	Apart     []Apart    `json:"not_compared"`
	Failures  []*Failure `json:"failures"`
	Warnings  Warnings   `json:"warnings"` // of records
	Notes     []string   `json:"notes"`

	trivial [][]float64 // by epsilon and split
}

// Block are methods that protect the same.
type Block struct {
	Protects string `json:"protects"`
	Less     bool   `json:"less_than_the_unit"`
	Rows     []*Row `json:"methods"`
}

// Row are the scores of a method.
type Row struct {
	Method string `json:"method"`
	// Protects is the part of the data that it protects ([Contest.protected]); methods of one block may differ.
	Protects string  `json:"protects"`
	Cells    []*Cell `json:"scores"` // one for each epsilon
	CPU      float64 `json:"cpu_seconds_per_trial"`
	// Attacked are the outcomes of membership attacks, one for each epsilon; nil for none.
	Attacked []Attacked `json:"attacked,omitempty"`

	entry *Entry
}

// Cell is the score of a method at an epsilon.
type Cell struct {
	Epsilon float64 `json:"epsilon"`
	// Mean is that over the splits; nil where a split has none: those left are another comparison.
	*Mean
	// OK is the number of splits with a score.
	OK int `json:"splits"`
	// P is the p-value that the best method of the block is no better, adjusted for the number of methods; nil for the
	// best, and where there is no test.
	P    *float64 `json:"p,omitempty"`
	Best bool     `json:"best,omitempty"`

	scores []float64 // by split, where all have one
}

// Winner is the best method at an epsilon, with the arguments that release it.
type Winner struct {
	Method    string   `json:"method"`
	Epsilon   float64  `json:"epsilon"`
	Arguments []string `json:"arguments"`
}

// Failure is why trials of a method have no score.
type Failure struct {
	Method  string  `json:"method"`
	Epsilon float64 `json:"epsilon"`
	Seeds   []int64 `json:"seeds"`
	Reason  string  `json:"reason"`
}

// Judge returns the scores of the trials by a measure; seeds are those of the splits, in their order.
func (c *Contest) Judge(trials []Trial, seeds []int64, m Measure) *Results {
	out := &Results{Contest: c, Title: c.Title(), Unit: c.Unit, Delta: cmp.Or(c.Text("delta"), "0"), Measure: m,
		Splits: len(seeds), Epsilons: c.Epsilons, Apart: c.Apart, Notes: slices.Clone(c.Notes)}
	j := &judge{c: c, m: m, seeds: seeds, out: out, by: map[string]*Trial{}}
	for i := range trials {
		j.by[identity(trials[i].Experiment, trials[i].Params, trials[i].Seed)] = &trials[i]
	}
	j.blocks()
	j.references()
	for i := range c.Epsilons {
		out.test(i)
		out.Winners = append(out.Winners, out.winner(i))
	}
	for i := range c.Epsilons {
		out.Sentences = append(out.Sentences, out.sentence(i))
	}
	if b := out.first(); b.Less {
		out.Notes = append(out.Notes, fmt.Sprintf("no method that takes part protects one %s: the guarantee of those here, "+
			"and of their releases, is for one %s", out.Unit, out.protected(b)))
	}
	j.warn(j.clipping(trials))
	return out
}

// judge makes results.
type judge struct {
	c     *Contest
	m     Measure
	seeds []int64
	out   *Results
	by    map[string]*Trial
}

// identity is a text that settings and a seed share with no others.
func identity(name string, p experiment.Params, seed int64) string {
	text := fmt.Sprintf("%s %d", name, seed)
	for _, k := range slices.Sorted(maps.Keys(p)) {
		text += fmt.Sprintf(" %s=%q", k, experiment.FormatValue(p[k]))
	}
	return text
}

// blocks fills in the methods that are private.
func (j *judge) blocks() {
	all := []*Block{{Protects: j.c.Unit}, {Protects: j.c.protected(experiment.UnitOutput), Less: true},
		{Protects: j.c.protected(UnitInputs), Less: true}}
	for _, e := range j.c.Entries {
		if e.Role == Private {
			b := all[j.c.block(e)]
			b.Rows = append(b.Rows, j.row(e))
		}
	}
	j.out.Blocks = slices.DeleteFunc(all, func(b *Block) bool { return len(b.Rows) == 0 })
}

// block is the place of the block of a private method: 0 of those that protect the unit, 1 of those that protect
// outputs, and 2 inputs.
func (c *Contest) block(e *Entry) int {
	switch {
	case c.Ranked(e):
		return 0
	case e.Protects == UnitInputs:
		return 2
	}
	return 1
}

// Ranking are the methods of the first block of a comparison ([Results.Blocks]), of those with these names: its best
// is one of them. A suite of comparisons ranks those that protect rows. It is nil where the arguments are of neither.
func Ranking(args, names []string) []string {
	c := &Contest{Request: Request{Unit: experiment.UnitRow}}
	if _, ok := SuiteOf(strings.Join(args, " ")); !ok {
		r, err := ParseRequest(args)
		if err != nil {
			return nil
		}
		c.Request = *r
	}
	var blocks [3][]string
	for _, candidate := range Candidates() {
		if candidate.Role == Private && slices.Contains(names, candidate.Experiment) {
			at := c.block(&Entry{Candidate: candidate})
			blocks[at] = append(blocks[at], candidate.Experiment)
		}
	}
	for _, methods := range blocks {
		if methods != nil {
			return methods
		}
	}
	return nil
}

// row are the scores of a method.
func (j *judge) row(e *Entry) *Row {
	r := &Row{Method: e.Experiment, Protects: j.c.protected(e.Protects), entry: e}
	trials := 0
	for i, p := range e.Params {
		cell := &Cell{Epsilon: j.c.Epsilons[i]}
		failures := map[string]*Failure{}
		for _, seed := range j.seeds {
			t := j.by[identity(e.Experiment, p, seed)]
			if t == nil {
				t = &Trial{Failure: "it has not run"}
			}
			r.CPU += t.CPU
			trials++
			score, ok := t.Metrics[j.m.Name]
			if ok {
				cell.OK++
				cell.scores = append(cell.scores, score)
				continue
			}
			reason := cmp.Or(t.Failure, "the trial has no "+j.m.Name)
			f := failures[reason]
			if f == nil {
				f = &Failure{Method: e.Experiment, Epsilon: cell.Epsilon, Reason: reason}
				failures[reason] = f
				j.out.Failures = append(j.out.Failures, f)
			}
			f.Seeds = append(f.Seeds, seed)
		}
		if cell.OK == len(j.seeds) && cell.OK > 0 {
			cell.Mean = new(meanOf(cell.scores))
		}
		r.Cells = append(r.Cells, cell)
	}
	r.CPU /= float64(max(1, trials))
	return r
}

// scores are those of a metric on all splits of a setting; nil where one has none.
func (j *judge) scores(e *Entry, at int, metric func(map[string]float64) (float64, bool)) []float64 {
	var out []float64
	for _, seed := range j.seeds {
		t := j.by[identity(e.Experiment, e.Params[at], seed)]
		if t == nil || t.Metrics == nil {
			return nil
		}
		v, ok := metric(t.Metrics)
		if !ok {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// references fills in the trivial rule, of a method of its own where there is one, and what privacy costs.
func (j *judge) references() {
	for i := range j.c.Epsilons {
		var trivial []float64
		for _, e := range j.c.Entries {
			at := min(i, len(e.Params)-1)
			switch {
			case e.Role == Trivial:
				if own := j.scores(e, at, metric(j.m.Name)); own != nil {
					trivial = own
				}
			case trivial == nil:
				trivial = j.scores(e, at, j.m.trivialOf)
			}
		}
		j.out.trivial = append(j.out.trivial, trivial)
		if trivial != nil {
			j.out.Trivial = append(j.out.Trivial, meanOf(trivial))
		}
	}
	if len(j.out.Trivial) < len(j.c.Epsilons) {
		j.out.Trivial = nil
	}
	for _, e := range j.c.Entries {
		name := j.m.exact
		if e.Role == NonPrivate {
			name = j.m.Name
		}
		scores := j.scores(e, 0, metric(name))
		if e.Role == Trivial || scores == nil {
			continue
		}
		if m := meanOf(scores); j.out.Exact == nil || j.m.better(m.Mean, j.out.Exact.Mean) {
			j.out.Exact = &m
		}
	}
}

// clipping notes that the public range cuts off many of the outputs, and reports whether it does.
func (j *judge) clipping(trials []Trial) bool {
	for _, t := range trials {
		if share, _ := metric("clipped_fraction")(t.Metrics); share > table.MuchClipped {
			j.out.Notes = append(j.out.Notes, fmt.Sprintf("%.3g %% of the outputs are beyond low and high, and are clipped "+
				"for training: a wider public range costs noise, this one costs accuracy", 100*share))
			return true
		}
	}
	return false
}

package compression

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/attack/infer"
	"privkern/experiments/learn"
)

// Judged are the answers of an adversary in all splits.
type Judged struct {
	Adversary string          `json:"adversary"`
	Accuracy  infer.Interval  `json:"accuracy"`
	Pooled    *infer.Interval `json:"pooled,omitempty"` // over all attacked rows of a person; nil where none is named
	Untuned   []string        `json:"untuned"`          // settings at the end of what was tried, in words
	Skipped   string          `json:"skipped,omitempty"`
	Chosen    int             `json:"chosen_in"` // splits in which cross-validation chose it
}

// Named are the answers from features, or from the inputs.
type Named struct {
	Columns     int       `json:"columns"`
	Adversaries []*Judged `json:"adversaries"`
	// Chosen has the answers of the adversary that cross-validation chose in each split.
	Chosen *Judged `json:"chosen"`
}

// Names are the results of naming persons or an attribute.
type Names struct {
	Kind      Kind           `json:"kind"`
	File      string         `json:"file"`
	Hidden    string         `json:"hidden"`
	Person    string         `json:"person,omitempty"`
	Splits    int            `json:"splits"`
	Known     int            `json:"known_rows"` // of the first split
	Attacked  int            `json:"attacked_rows"`
	Classes   int            `json:"classes"`
	Guess     infer.Interval `json:"guess"` // always the largest class of the known rows
	GuessOf   *Counted       `json:"guess_pooled,omitempty"`
	Features  *Named         `json:"features"`
	Inputs    *Named         `json:"inputs"`
	Sentences []string       `json:"sentences"`
	Notes     []string       `json:"notes"`
}

// Counted is a mean number of groups per split.
type Counted struct {
	Right float64 `json:"right"`
	Of    float64 `json:"of"`
}

// answers collects those of one adversary.
type answers struct {
	right, pooled []bool
	untuned       []string
	skipped       string
	chosen        int
}

// tally collects the answers of all splits.
type tally struct {
	columns              int
	of                   map[string]*answers
	chosen               answers
	units, pooledUnits   []int
	guessed, pooledGuess []bool
}

func newTally() *tally { return &tally{of: map[string]*answers{}} }

// names attacks all splits. Steps are counted by step.
func (r *Request) names(ctx context.Context, d *data, z *mat.Dense, by infer.Means) (*Names, error) {
	if len(infer.GroupsOf(d.hidden)) < 2 {
		return nil, fmt.Errorf("all rows are of one class of %s; at least two are needed", r.Settings.Hidden)
	}
	features, inputs := newTally(), newTally()
	out := &Names{Kind: r.Kind, File: r.Path, Hidden: r.Settings.Hidden, Person: r.Settings.Person, Splits: len(r.Seeds),
		Classes: len(d.classes)}
	for i, seed := range r.Seeds {
		streams := stream(seed)
		split, err := r.divide(d, streams("split"))
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
		if i == 0 {
			out.Known, out.Attacked = len(split.known), len(split.attacked)
		}
		by.Stream = streams
		for _, side := range []struct {
			tally *tally
			x     *mat.Dense
		}{{features, z}, {inputs, d.x}} {
			if err := side.tally.split(ctx, by, d, split, side.x); err != nil {
				return nil, fmt.Errorf("seed %d: %w", seed, err)
			}
		}
	}
	pools := d.persons != nil
	out.Features, out.Inputs = features.named(pools), inputs.named(pools)
	out.Guess = infer.IntervalOf(features.guessed, features.units)
	if pools {
		out.GuessOf = counted(infer.IntervalOf(features.pooledGuess, nil), out.Splits)
	}
	out.Notes = append([]string{}, d.notes...)
	out.Sentences = out.sentences()
	return out, nil
}

// split has the adversaries learn from and name rows of x.
func (t *tally) split(ctx context.Context, by infer.Means, d *data, s *division, x *mat.Dense) error {
	_, t.columns = x.Dims()
	p := &infer.Problem{Train: learn.SelectRows(x, s.known), Labels: learn.SelectLabels(d.hidden, s.known), Folds: s.folds,
		Test: learn.SelectRows(x, s.attacked), Truth: learn.SelectLabels(d.hidden, s.attacked)}
	if d.persons != nil {
		p.Groups = infer.GroupsOf(s.units, p.Truth)
	}
	found, err := infer.Run(ctx, by, p)
	if err != nil {
		return err
	}
	t.units = append(t.units, s.units...)
	guess := largest(p.Labels)
	for _, l := range p.Truth {
		t.guessed = append(t.guessed, l == guess)
	}
	for _, rows := range p.Groups {
		t.pooledUnits = append(t.pooledUnits, s.units[rows[0]])
		t.pooledGuess = append(t.pooledGuess, p.Truth[rows[0]] == guess)
	}
	for _, f := range found.All {
		a := t.of[f.Adversary]
		if a == nil {
			a = new(answers)
			t.of[f.Adversary] = a
		}
		a.add(f)
		if f == found.Chosen {
			a.chosen++
			t.chosen.add(f)
		}
	}
	return nil
}

// add adds the answers of a split.
func (a *answers) add(f *infer.Finding) {
	if f.Skipped != "" {
		a.skipped = f.Skipped
		return
	}
	a.right = append(a.right, f.Right...)
	a.pooled = append(a.pooled, f.Pooled...)
	if f.Untuned != "" && !slices.Contains(a.untuned, f.Untuned) {
		a.untuned = append(a.untuned, f.Untuned)
	}
}

// largest is the label of most rows, the smallest of equals.
func largest(labels []int) int {
	best, most := 0, 0
	for _, rows := range infer.GroupsOf(labels) {
		l := labels[rows[0]]
		if len(rows) > most || len(rows) == most && l < best {
			best, most = l, len(rows)
		}
	}
	return best
}

// named judges the answers of all splits.
func (t *tally) named(pools bool) *Named {
	judged := func(name string, a *answers) *Judged {
		j := &Judged{Adversary: name, Untuned: append([]string{}, a.untuned...), Skipped: a.skipped, Chosen: a.chosen}
		if a.skipped != "" {
			return j
		}
		j.Accuracy = infer.IntervalOf(a.right, t.units)
		if pools {
			i := infer.IntervalOf(a.pooled, t.pooledUnits)
			j.Pooled = &i
		}
		return j
	}
	out := &Named{Columns: t.columns, Chosen: judged("chosen", &t.chosen)}
	for _, name := range infer.Adversaries {
		out.Adversaries = append(out.Adversaries, judged(name, t.of[name]))
	}
	return out
}

// counted has the mean numbers of right answers and of groups in a split.
func counted(i infer.Interval, splits int) *Counted {
	return &Counted{float64(i.Right) / float64(splits), float64(i.Of) / float64(splits)}
}

func (c *Counted) String() string { return fmt.Sprintf("%.3g of %.3g", c.Right, c.Of) }

// sentences state the outcome.
func (n *Names) sentences() []string {
	what := "the person"
	if n.Kind == Attribute {
		what = n.Hidden
	}
	subject := "From the features of a row"
	out := fmt.Sprintf("%s the adversary names %s in %s (guess: %.3g %%)", subject, what, n.Features.Chosen.Accuracy,
		100*n.Guess.Share)
	text := []string{out + ", and from its inputs in " + n.Inputs.Chosen.Accuracy.String() + "."}
	if n.GuessOf == nil {
		return text
	}
	of := "names the person of "
	if n.Kind == Attribute {
		of = "names " + n.Hidden + " of "
	}
	mean := ""
	if n.Splits > 1 {
		mean = fmt.Sprintf("; means of %d splits", n.Splits)
	}
	return append(text, fmt.Sprintf("She %s%s when the rows of a person are pooled (guess: %s), and from the inputs of "+
		"%s%s.", of, counted(*n.Features.Chosen.Pooled, n.Splits), n.GuessOf,
		counted(*n.Inputs.Chosen.Pooled, n.Splits), mean))
}

// tuned is a cell of the table.
func (j *Judged) tuned() string {
	switch {
	case j.Skipped != "":
		return "left out"
	case len(j.Untuned) > 0:
		return "no"
	}
	return "yes"
}

// untuned lists the adversaries that are not tuned, or left out.
func (n *Named) untuned(from string) (out []string) {
	for _, j := range n.Adversaries {
		switch {
		case j.Skipped != "":
			out = append(out, fmt.Sprintf("%s, from %s, was left out: %s", j.Adversary, from, j.Skipped))
		case len(j.Untuned) > 0:
			out = append(out, fmt.Sprintf("%s, from %s, is not tuned, and another may find more: %s", j.Adversary, from,
				strings.Join(j.Untuned, "; ")))
		}
	}
	return out
}

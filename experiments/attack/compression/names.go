package compression

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/learn/infer"
)

// Judged are the answers of an adversary in all splits.
type Judged struct {
	Adversary string          `json:"adversary"`
	Accuracy  infer.Interval  `json:"accuracy"`
	Pooled    *infer.Interval `json:"pooled,omitempty"` // over all attacked rows of a person; nil where none is named
	Untuned   []string        `json:"untuned"`          // settings at an end of their ladders, in words
	Skipped   string          `json:"skipped,omitempty"`
	Chosen    int             `json:"chosen_in"` // splits in which cross-validation chose it

	right, pooled []bool
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

// names attacks all splits. Steps are counted by step.
func (r *Request) names(ctx context.Context, d *data, z *mat.Dense, by infer.Means) (*Names, error) {
	if len(infer.GroupsOf(d.hidden)) < 2 {
		return nil, fmt.Errorf("all rows are of one class of %s; at least two are needed", r.Settings.Hidden)
	}
	out := &Names{Kind: r.Kind, File: r.Path, Hidden: r.Settings.Hidden, Person: r.Settings.Person, Splits: len(r.Seeds),
		Classes: len(d.classes), Features: newNamed(z), Inputs: newNamed(d.x), Notes: []string{}}
	var units, pooledUnits []int
	var guessed, pooledGuess []bool
	for i, seed := range r.Seeds {
		by.Stream = stream(seed)
		split, err := r.divide(d, by.Stream("split"))
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
		if i == 0 {
			out.Known, out.Attacked = len(split.known), len(split.attacked)
		}
		p := &infer.Problem{Labels: learn.Select(d.hidden, split.known), Folds: split.folds,
			Truth: learn.Select(d.hidden, split.attacked)}
		if d.persons != nil {
			p.Groups = infer.GroupsOf(split.units, p.Truth)
		}
		units = append(units, split.units...)
		guess := largest(p.Labels)
		for _, l := range p.Truth {
			guessed = append(guessed, l == guess)
		}
		for _, rows := range p.Groups {
			pooledUnits = append(pooledUnits, split.units[rows[0]])
			pooledGuess = append(pooledGuess, p.Truth[rows[0]] == guess)
		}
		if err = out.Features.split(ctx, by, p, split, z); err == nil {
			err = out.Inputs.split(ctx, by, p, split, d.x)
		}
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	for _, named := range []*Named{out.Features, out.Inputs} {
		for _, j := range append(named.Adversaries, named.Chosen) {
			j.judge(units, pooledUnits)
		}
	}
	out.Guess = infer.IntervalOf(guessed, units)
	if d.persons != nil {
		out.GuessOf = counted(infer.IntervalOf(pooledGuess, nil), out.Splits)
	}
	out.Notes = append(out.Notes, d.notes...)
	out.Sentences = out.sentences()
	return out, nil
}

func newNamed(x *mat.Dense) *Named {
	out := &Named{Columns: x.RawMatrix().Cols, Chosen: &Judged{Adversary: "chosen", Untuned: []string{}}}
	for _, name := range infer.Adversaries {
		out.Adversaries = append(out.Adversaries, &Judged{Adversary: name, Untuned: []string{}})
	}
	return out
}

// split has the adversaries learn from and name rows of x.
func (n *Named) split(ctx context.Context, by infer.Means, p *infer.Problem, s *division, x *mat.Dense) error {
	p.Train, p.Test = learn.SelectRows(x, s.known), learn.SelectRows(x, s.attacked)
	found, err := infer.Run(ctx, by, p)
	if err != nil {
		return err
	}
	for i, f := range found.All {
		n.Adversaries[i].add(f)
		if f == found.Chosen {
			n.Adversaries[i].Chosen++
			n.Chosen.add(f)
		}
	}
	return nil
}

// add adds the answers of a split.
func (j *Judged) add(f *infer.Finding) {
	if f.Skipped != "" {
		j.Skipped = f.Skipped
		return
	}
	j.right, j.pooled = append(j.right, f.Right...), append(j.pooled, f.Pooled...)
	if f.Untuned != "" && !slices.Contains(j.Untuned, f.Untuned) {
		j.Untuned = append(j.Untuned, f.Untuned)
	}
}

// judge settles the shares of rows, and of groups where there are any.
func (j *Judged) judge(units, pooled []int) {
	if j.Skipped != "" {
		return
	}
	j.Accuracy = infer.IntervalOf(j.right, units)
	if pooled != nil {
		i := infer.IntervalOf(j.pooled, pooled)
		j.Pooled = &i
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

// counted has the mean numbers of right answers and of groups in a split.
func counted(i infer.Interval, splits int) *Counted {
	return &Counted{float64(i.Right) / float64(splits), float64(i.Of) / float64(splits)}
}

func (c *Counted) String() string { return fmt.Sprintf("%.3g of %.3g", c.Right, c.Of) }

// sentences state the outcome.
func (n *Names) sentences() []string {
	what, of := "the person", "the person of "
	if n.Kind == Attribute {
		what, of = n.Hidden, n.Hidden+" of "
	}
	text := []string{fmt.Sprintf("From the features of a row the adversary names %s in %s (guess: %.3g %%), and from its "+
		"inputs in %s.", what, n.Features.Chosen.Accuracy, 100*n.Guess.Share, n.Inputs.Chosen.Accuracy)}
	if n.GuessOf == nil {
		return text
	}
	mean := ""
	if n.Splits > 1 {
		mean = fmt.Sprintf("; means of %d splits", n.Splits)
	}
	return append(text, fmt.Sprintf("She names %s%s when the rows of a person are pooled (guess: %s), and from the "+
		"inputs of %s%s.", of, counted(*n.Features.Chosen.Pooled, n.Splits), n.GuessOf,
		counted(*n.Inputs.Chosen.Pooled, n.Splits), mean))
}

// tuned is a cell of the table.
func (j *Judged) tuned() string {
	if len(j.Untuned) > 0 {
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

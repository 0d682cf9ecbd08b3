package compression

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"privkern/experiments/attack"
	"privkern/experiments/attack/reconstruct"
	"privkern/experiments/learn/infer"
	"privkern/experiments/model"
	"privkern/experiments/page"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Steps is the number of steps that [Run] reports.
func (r *Request) Steps() int {
	if r.Kind == Reconstruction {
		return len(r.Seeds) * len(reconstruct.Guesses)
	}
	return len(r.Seeds) * 2 * len(infer.Adversaries)
}

// Run attacks the compression on the rows that lie at a path, with a number of goroutines. Step is called as each of
// the steps is done.
func (r *Request) Run(ctx context.Context, path string, workers int, step func(what string)) (_ page.Results,
	err error) {
	d, err := r.load(path)
	if err != nil {
		return nil, err
	}
	file := &model.Model{Files: []model.File{{Path: r.Path, Payload: r.Model}}}
	z, err := file.Predict(ctx, d.x)
	if err != nil {
		return nil, err
	}
	if r.Kind == Reconstruction {
		return r.restore(ctx, d, model.Dense(z.Rows), workers, step)
	}
	e, err := engine.Open("cpu", experiment.Float64, workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return r.names(ctx, d, model.Dense(z.Rows), infer.Means{Engine: e, Workers: workers, Step: step})
}

// Page implements [page.Results].
func (n *Names) Page() *page.Page {
	p := &page.Page{Caption: n.caption(), Looking: attack.Looking, Sentences: n.Sentences,
		Header: []string{"adversary", "names", "from the inputs", "tuned"},
		Legend: "names: share of the attacked rows of which the adversary names the class, from the features and from the " +
			"inputs; intervals of 95 %, with " + n.unit() + " as independent units. chosen: by cross-validation on known rows " +
			"in each split"}
	pools := n.GuessOf != nil
	if pools {
		p.Header = []string{"adversary", "names", "pooled", "from the inputs", "pooled inputs", "tuned"}
		p.Legend += ". pooled: groups of rows that are known to be of one person and class"
	}
	row := func(features, inputs *Judged) {
		if features.Skipped != "" {
			return
		}
		cells := []string{features.Adversary}
		for _, j := range []*Judged{features, inputs} {
			own := []string{"-", "-"}
			if j.Skipped == "" {
				own[0] = j.Accuracy.String()
			}
			if j.Pooled != nil {
				own[1] = counted(*j.Pooled, n.Splits).String()
			}
			if !pools {
				own = own[:1]
			}
			cells = append(cells, own...)
		}
		p.Rows = append(p.Rows, append(cells, features.tuned()))
	}
	row(n.Features.Chosen, n.Inputs.Chosen)
	for i, j := range n.Features.Adversaries {
		row(j, n.Inputs.Adversaries[i])
	}
	guess := make([]string, len(p.Header))
	guess[0], guess[1] = "guess: the largest class", fmt.Sprintf("%.3g %%", 100*n.Guess.Share)
	if pools {
		guess[2] = n.GuessOf.String()
	}
	p.Rows = append(p.Rows, guess)
	for _, note := range append(append(n.Features.untuned("features"), n.Inputs.untuned("inputs")...), n.Notes...) {
		p.Remarks = append(p.Remarks, "note: "+note)
	}
	return p
}

// unit is that of intervals.
func (n *Names) unit() string {
	if n.GuessOf != nil {
		return "persons"
	}
	return "rows"
}

// caption introduces the table.
func (n *Names) caption() string {
	what := "Who is the person behind a row"
	if n.Kind == Attribute {
		what = "Which " + n.Hidden + " has a row"
	}
	return fmt.Sprintf("%s, of %d? %s compresses %d inputs to %d. %s %d rows are known, and %d are attacked.", what,
		n.Classes, n.File, n.Inputs.Columns, n.Features.Columns, splits(n.Splits), n.Known, n.Attacked)
}

func splits(n int) string {
	if n == 1 {
		return "In one split,"
	}
	return fmt.Sprintf("In the first of %d splits,", n)
}

// CSV implements [page.Results].
func (n *Names) CSV() [][]string {
	rows := [][]string{{"kind", "hidden", "from", "adversary", "chosen_in", "splits", "accuracy", "low", "high", "pooled",
		"pooled_low", "pooled_high", "guess", "untuned"}}
	number := experiment.FormatNumber
	add := func(from string, j *Judged) {
		row := []string{string(n.Kind), n.Hidden, from, j.Adversary, fmt.Sprint(j.Chosen), fmt.Sprint(n.Splits)}
		if j.Skipped != "" {
			rows = append(rows, append(row, "", "", "", "", "", "", number(n.Guess.Share), "left out: "+j.Skipped))
			return
		}
		row = append(row, number(j.Accuracy.Share), number(j.Accuracy.Low), number(j.Accuracy.High))
		if j.Pooled != nil {
			row = append(row, number(j.Pooled.Share), number(j.Pooled.Low), number(j.Pooled.High))
		} else {
			row = append(row, "", "", "")
		}
		rows = append(rows, append(row, number(n.Guess.Share), strings.Join(j.Untuned, "; ")))
	}
	for _, side := range []struct {
		from  string
		named *Named
	}{{"features", n.Features}, {"inputs", n.Inputs}} {
		add(side.from, side.named.Chosen)
		for _, j := range side.named.Adversaries {
			add(side.from, j)
		}
	}
	return rows
}

// mostInputs is the number of inputs with rows of their own in a table for readers.
const mostInputs = 12

// Page implements [page.Results].
func (n *Inputs) Page() *page.Page {
	p := &page.Page{Looking: attack.Looking, Sentences: n.Sentences, Header: []string{"input", "restored"},
		Caption: fmt.Sprintf("Inputs restored from features: %s compresses %d inputs to %d. %s %d rows are known, and %d "+
			"are attacked.", n.File, len(n.Names), n.Features, splits(n.Splits), n.Known, n.Attacked),
		Legend: "errors: roots of mean squares, in standard deviations of the known rows; intervals of 95 %, with " + n.Unit +
			" as independent units. restored: by the guess that known rows chose in each split (" + n.chosenIn() + ")"}
	for _, g := range n.Guesses {
		p.Header = append(p.Header, g.Guess)
	}
	row := func(name string, of func(r *Restored) reconstruct.Error) {
		cells := []string{name, of(n.Chosen).String()}
		for _, g := range n.Guesses {
			cells = append(cells, fmt.Sprintf("%.2f", of(g).RMS))
		}
		p.Rows = append(p.Rows, cells)
	}
	row("all inputs", func(r *Restored) reconstruct.Error { return r.All })
	for k, name := range n.Names {
		if k == mostInputs {
			p.Remarks = append(p.Remarks, fmt.Sprintf("note: %d more inputs are in the other formats of --output",
				len(n.Names)-k))
			break
		}
		row(name, func(r *Restored) reconstruct.Error { return r.Inputs[k] })
	}
	for _, note := range n.Notes {
		p.Remarks = append(p.Remarks, "note: "+note)
	}
	return p
}

// chosenIn counts the splits in which guesses were chosen.
func (n *Inputs) chosenIn() string {
	var parts []string
	for _, g := range n.Guesses {
		if g.Chosen > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", g.Guess, g.Chosen))
		}
	}
	return strings.Join(parts, ", ")
}

// CSV implements [page.Results].
func (n *Inputs) CSV() [][]string {
	rows := [][]string{{"input", "guess", "chosen_in", "splits", "error_sd", "low", "high"}}
	number := experiment.FormatNumber
	for _, g := range append([]*Restored{n.Chosen}, n.Guesses...) {
		add := func(name string, e reconstruct.Error) {
			rows = append(rows, []string{name, g.Guess, fmt.Sprint(g.Chosen), fmt.Sprint(n.Splits), number(e.RMS), number(e.Low),
				number(e.High)})
		}
		add("", g.All)
		for k, e := range g.Inputs {
			add(n.Names[k], e)
		}
	}
	return rows
}

package compression

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/attack/reconstruct"
	"privkern/experiments/learn"
	"privkern/experiments/learn/infer"
)

// Restored are the errors of a guess in all splits, in standard deviations of known rows.
type Restored struct {
	Guess  string              `json:"guess"`
	All    reconstruct.Error   `json:"all"`
	Inputs []reconstruct.Error `json:"inputs"`
	Chosen int                 `json:"chosen_in"` // splits in which known rows chose it
}

// Inputs are the results of a reconstruction.
type Inputs struct {
	Kind     Kind        `json:"kind"`
	File     string      `json:"file"`
	Names    []string    `json:"inputs"` // that are not constant in the known rows of a split
	Features int         `json:"features"`
	Splits   int         `json:"splits"`
	Known    int         `json:"known_rows"`
	Attacked int         `json:"attacked_rows"`
	Unit     string      `json:"unit"` // of intervals
	Guesses  []*Restored `json:"guesses"`
	// Chosen has the guess that known rows chose in each split.
	Chosen    *Restored `json:"chosen"`
	Sentences []string  `json:"sentences"`
	Notes     []string  `json:"notes"`
}

// restore attacks all splits.
func (r *Request) restore(ctx context.Context, d *data, z *mat.Dense, workers int, step func(what string)) (*Inputs,
	error) {
	m, err := reconstruct.NewMap(r.Model)
	if err != nil {
		return nil, err
	}
	out := &Inputs{Kind: r.Kind, File: r.Path, Features: len(r.Model.Columns), Splits: len(r.Seeds), Unit: "rows",
		Notes: append([]string{}, d.notes...)}
	if d.persons != nil {
		out.Unit = "persons"
	}
	errs, held, units := map[string][]*mat.Dense{}, map[string][]*mat.Dense{}, []int(nil)
	counts := map[string]int{}
	for i, seed := range r.Seeds {
		streams := stream(seed)
		split, err := r.divide(d, streams("split"))
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
		rows, own := r.some(split, streams)
		p := &reconstruct.Problem{Map: m, Known: learn.SelectRows(d.x, split.known),
			KnownFeatures: learn.SelectRows(z, split.known), Published: learn.SelectRows(z, rows),
			Truth: learn.SelectRows(d.x, rows), Workers: workers, Rand: streams("reconstruction"), Step: step}
		if d.persons != nil {
			p.Persons = learn.Select(d.persons, split.known)
		}
		f, err := reconstruct.Run(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
		if i == 0 {
			out.Known, out.Attacked = len(split.known), len(rows)
		}
		units = append(units, own...)
		for _, g := range f.All {
			errs[g.Guess], held[g.Guess] = append(errs[g.Guess], g.Errors), append(held[g.Guess], g.Held)
		}
		errs[chosenGuess], held[chosenGuess] = append(errs[chosenGuess], f.Chosen.Errors), append(held[chosenGuess],
			f.Chosen.Held)
		counts[f.Chosen.Guess]++
	}
	columns := r.varying(out, errs[chosenGuess])
	switch {
	case columns == nil:
		return nil, errors.New("every input has one value in the known rows of a split; there is nothing to restore: take " +
			"more rows, or fewer --seeds")
	case len(infer.GroupsOf(units)) < 2:
		return nil, fmt.Errorf("rows = %d draws rows of a single person; at least two are needed for an interval: take more",
			r.Settings.Rows)
	}
	for _, name := range reconstruct.Guesses {
		out.Guesses = append(out.Guesses, restoredOf(name, stacked(errs[name]), columns, units, counts[name]))
	}
	out.Chosen = restoredOf(chosenGuess, stacked(errs[chosenGuess]), columns, units, len(r.Seeds))
	best, least := 0, math.Inf(1)
	known, guess := stacked(held[chosenGuess]), stacked(held[reconstruct.Mean])
	for k, j := range columns {
		of := []int{j}
		if e := reconstruct.ErrorOf(known, of, nil).RMS / reconstruct.ErrorOf(guess, of, nil).RMS; e < least {
			best, least = k, e
		}
	}
	out.Sentences = out.sentences(best)
	return out, nil
}

// chosenGuess is the one that known rows choose.
const chosenGuess = "chosen"

// some are attacked rows, and their units: at most as many as the settings allow.
func (r *Request) some(s *division, streams streamOf) (rows, units []int) {
	if len(s.attacked) <= r.Settings.Rows {
		return s.attacked, s.units
	}
	for _, i := range streams("attacked rows").Perm(len(s.attacked))[:r.Settings.Rows] {
		rows, units = append(rows, s.attacked[i]), append(units, s.units[i])
	}
	return rows, units
}

// varying are the columns that are constant in the known rows of no split.
func (r *Request) varying(out *Inputs, errs []*mat.Dense) (columns []int) {
	constant := 0
	for j, name := range r.Model.InputNames {
		varies := true
		for _, e := range errs {
			varies = varies && e.At(0, j) == e.At(0, j)
		}
		if !varies {
			constant++
			continue
		}
		columns, out.Names = append(columns, j), append(out.Names, name)
	}
	if constant > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d inputs have one value in the known rows of a split, and are left out",
			constant))
	}
	return columns
}

// stacked puts matrices of equal columns below each other.
func stacked(all []*mat.Dense) *mat.Dense {
	var data []float64
	rows, columns := 0, 0
	for _, m := range all {
		n, d := m.Dims()
		rows, columns = rows+n, d
		data = append(data, mat.DenseCopyOf(m).RawMatrix().Data...)
	}
	return mat.NewDense(rows, columns, data)
}

// restoredOf judges errors by columns and together.
func restoredOf(name string, errs *mat.Dense, columns, units []int, chosen int) *Restored {
	out := &Restored{Guess: name, Chosen: chosen, All: reconstruct.ErrorOf(errs, columns, units)}
	for _, j := range columns {
		out.Inputs = append(out.Inputs, reconstruct.ErrorOf(errs, []int{j}, units))
	}
	return out
}

// sentences state the outcome for all inputs, and for the one that is restored best of known rows.
func (n *Inputs) sentences(best int) []string {
	mean, e := n.Guesses[0], n.Chosen.Inputs[best]
	return []string{
		fmt.Sprintf("The adversary restores the inputs with an error of %s sd where guessing has %.2f.", n.Chosen.All,
			mean.All.RMS),
		fmt.Sprintf("She restores %s, her best by known rows, with an error of %s sd where guessing has %.2f.",
			n.Names[best], e, mean.Inputs[best].RMS),
	}
}

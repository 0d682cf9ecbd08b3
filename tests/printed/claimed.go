package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"privkern/runner/claims/ledger"
)

// claimed holds the numbers of a paper's ledger. Entries of ours are left out, because
// they claim nothing for the paper.
type claimed struct {
	prints map[string]int   // number of cells that print these digits, minus those taken
	values map[float64]bool // printed by cells
	named  map[float64]bool // in labels, texts and settings
	// Labels and parameters, which rows of a table may repeat.
	labels map[float64]bool
	digits map[string]bool
}

// claimedBy collects the numbers of a ledger.
func claimedBy(l *ledger.Ledger) claimed {
	c := claimed{
		prints: map[string]int{}, digits: map[string]bool{},
		values: map[float64]bool{}, named: map[float64]bool{}, labels: map[float64]bool{},
	}
	for _, e := range l.Errata {
		c.name(e.Where, e.Text)
	}
	for _, t := range l.Tables {
		c.name(t.Title)
		c.set(t.Params)
		c.assume(t.Settings)
		for _, v := range t.Variants {
			c.name(v.Name, v.Note)
			c.set(v.Params)
			c.assume(&ledger.Settings{Assumed: v.Assumed})
		}
		for _, cell := range t.Cells {
			c.cell(cell, cmp.Or(cell.Ours, t.Ours))
		}
	}
	return c
}

func (c claimed) cell(cell *ledger.Cell, ours *bool) {
	if ours != nil && *ours || cell.Published == "" && cell.Statement == "" {
		return
	}
	for _, n := range scan(string(cell.Published), 0) {
		c.prints[n.key()]++
		c.values[n.value] = true
	}
	c.label(cell.Row, cell.Column)
	c.name(cell.Statement, cell.Note, string(cell.UncertaintyOf))
	c.set(cell.Params)
	c.assume(cell.Settings)
	for _, v := range []*float64{cell.Value, cell.Uncertainty} {
		if v != nil {
			c.values[abs(*v)] = true
		}
	}
	if h := cell.Holds; h != nil {
		c.set(h.Params)
		if h.Value != nil {
			c.named[abs(*h.Value)] = true
		}
	}
	if m := cell.Minus; m != nil {
		c.set(m.Params)
	}
}

// name adds the numbers of words.
func (c claimed) name(words ...string) {
	for _, w := range words {
		for _, n := range named(w) {
			c.named[n.value] = true
		}
	}
}

// label adds the numbers of labels and parameters.
func (c claimed) label(words ...string) {
	for _, w := range words {
		for _, n := range named(w) {
			c.named[n.value], c.labels[n.value], c.digits[n.key()] = true, true, true
		}
	}
}

// named returns the numbers of words by the rules of a text: "Table 5" does not name 5.
func named(words string) []number {
	return slices.DeleteFunc(scan(words, 0), func(n number) bool {
		return ruleOf(words, n, false) != asked && words != n.text
	})
}

func (c claimed) assume(s *ledger.Settings) {
	if s == nil {
		return
	}
	c.name(s.Note)
	for _, a := range s.Assumed {
		c.name(a.Text)
	}
}

// set adds the numbers of parameters.
func (c claimed) set(params map[string]any) {
	for _, v := range params {
		c.label(strings.NewReplacer("[", "", "]", " ", "..", " ").Replace(fmt.Sprint(v)))
	}
}

// take reports whether the ledger has a number. In a row of a table each print needs a
// cell of its own, unless it is a label or a parameter, with the same digits where cells
// also print them. A single digit in a sentence is never taken, because every ledger has
// it somewhere.
func (c claimed) take(n number) bool {
	if !n.row && !n.percent && len(n.text) == 1 {
		return false
	}
	if n.row {
		free, printed := c.prints[n.key()]
		switch {
		case free > 0:
			c.prints[n.key()]--
			return true
		case printed:
			return c.digits[n.key()]
		}
		return c.labels[n.value]
	}
	return c.named[n.value] || c.values[n.value] || n.percent && (c.named[n.value/100] || c.values[n.value/100])
}

func abs(v float64) float64 { return max(v, -v) }

// readLedger reads the numbers of a ledger.
func readLedger(path string) (claimed, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return claimed{}, err
	}
	l, err := ledger.Read(path, raw)
	if err != nil {
		return claimed{}, err
	}
	return claimedBy(l), nil
}

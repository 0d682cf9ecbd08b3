package experiment

import (
	"slices"
	"strings"
)

// Privacy says what is protected, how, and what the argument does not cover.
//
// A guarantee holds for what was computed, on the conditions that the notes name
// (hyperparameters are public, say), or it is empty: the notes never take it back.
// Where it is empty, a note says why (see [Privacy.Withdraw]).
type Privacy struct {
	Guarantee string   `json:"guarantee"` // such as "(1, 0.01)-DP"; empty where none holds
	Unit      string   `json:"unit"`      // what may change between neighbours
	Mechanism string   `json:"mechanism"` // with its source
	RNG       string   `json:"rng"`       // set by the runner: "seeded" or "secure"
	Notes     []string `json:"notes"`
}

// noGuarantee begins the note that says why a guarantee is empty.
const noGuarantee = "no guarantee"

// Withdraw empties the guarantee and notes the reason: first of all notes, or, where
// other reasons are there, after them. It changes no slice that others hold.
func (p *Privacy) Withdraw(reason string) {
	p.Guarantee = ""
	at := 0
	for at < len(p.Notes) && strings.HasPrefix(p.Notes[at], noGuarantee) {
		at++
	}
	p.Notes = slices.Concat(p.Notes[:at], []string{noGuarantee + ": " + reason}, p.Notes[at:])
}

// Refute withdraws a guarantee that the paper claims, and notes the claim.
func (p *Privacy) Refute(reason string) {
	if p.Guarantee != "" {
		p.Notes = slices.Concat(p.Notes, []string{"claimed by the paper: " + p.Guarantee + "; it does not hold " +
			"because " + reason})
	}
	p.Withdraw(reason)
}

// Statement returns the guarantee or, where it is empty, the first reason for that:
// "no guarantee: ...".
func (p *Privacy) Statement() string {
	if p.Guarantee != "" {
		return p.Guarantee
	}
	for _, note := range p.Notes {
		if strings.HasPrefix(note, noGuarantee) {
			return note
		}
	}
	return noGuarantee
}

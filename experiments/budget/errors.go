package budget

import (
	"errors"
	"fmt"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/text"
)

// ErrNone is the error where there is no ledger yet: nothing has been booked.
var ErrNone = errors.New("there is no budget ledger yet")

// LimitError is a release that does not fit into an account. Nothing is booked.
// Its text has no digest of data.
type LimitError struct {
	// Account is its number, its name and its unit, for people.
	Account  string
	Number   int    // of the account; 0 where it would be a new one
	Name     string // "" for accounts without one
	Unit     string
	Releases int // booked so far
	Limit    Limit
	Spent    Amount // by them, at the limit's delta
	Asked    Amount
	Alone    Amount // Asked at the limit's delta
	// Left is the largest Gaussian release that would still fit, at the limit's delta, and
	// LeftPure the largest pure one.
	Left     Amount
	LeftPure float64
	File     string // of the ledger, where it is not the default one
}

// Error gives the limit, the spending so far, the release, the rest, and a way out, in this
// order.
func (e *LimitError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the budget of %s, does not allow this release: its limit is %s", e.Account,
		pair(Amount{Epsilon: e.Limit.Epsilon, Delta: e.Limit.Delta}))
	at := " at the account's delta"
	if e.Releases > 0 {
		have := "have"
		if e.Releases == 1 {
			have = "has"
		}
		fmt.Fprintf(&b, ", %s %s spent %s%s", text.Count(e.Releases, "earlier release"), have, pair(e.Spent), at)
	}
	fmt.Fprintf(&b, ", this one asks for %s", pair(e.Asked))
	if e.Asked.Delta != 0 && e.Asked.Delta != e.Alone.Delta {
		fmt.Fprintf(&b, ", which is %s%s", pair(e.Alone), at)
	}
	switch {
	case e.Left.Epsilon == 0 && e.LeftPure == 0:
		b.WriteString("; nothing is left")
	default:
		fmt.Fprintf(&b, "; left are a Gaussian release with epsilon up to %s at delta %s (mu %s), or a pure epsilon "+
			"of %s", ShownDown(e.Left.Epsilon), Shown(e.Left.Delta), ShownDown(e.Left.Mu), ShownDown(e.LeftPure))
	}
	switch {
	case e.Number > 0:
		fmt.Fprintf(&b,
			"; `run budget show %d%s` lists what was spent, `run budget set %d --epsilon E%s` changes the limit",
			e.Number, e.flag(), e.Number, e.flag())
	case e.Name != "":
		fmt.Fprintf(&b,
			"; `run budget set %s --unit %s --epsilon E --delta D --create%s` opens the account with another limit",
			e.Name, e.Unit, e.flag())
	default:
		fmt.Fprintf(
			&b,
			"; `run budget set default --epsilon E%s` changes the limit of new accounts; `run budget set NAME "+
				"--epsilon E --delta D --create%[1]s` opens an account with one of its own, for --account NAME",
			e.flag(),
		)
	}
	return b.String()
}

// flag makes the commands in the text use the same ledger.
func (e *LimitError) flag() string {
	if e.File == "" {
		return ""
	}
	return " --budget-file " + text.Quote(e.File)
}

// pair writes (ε, δ).
func pair(a Amount) string { return fmt.Sprintf("(%s, %s)", Shown(a.Epsilon), Shown(a.Delta)) }

// FileError is a ledger that cannot be used, with the reason and a way out. Nothing may be
// released then.
type FileError struct {
	Path    string
	Problem string // such as "is damaged"
	Advice  string
	Err     error // may be nil
}

func (e *FileError) Error() string {
	message := fmt.Sprintf("the budget ledger %s %s", e.Path, e.Problem)
	if e.Err != nil {
		message += ": " + e.Err.Error()
	}
	if e.Advice != "" {
		message += "; " + e.Advice
	}
	return message
}

func (e *FileError) Unwrap() error { return e.Err }

// ArgumentError is a mistake in a [Change].
type ArgumentError struct{ Reason string }

func (e *ArgumentError) Error() string { return e.Reason }

func mistake(format string, args ...any) error { return &ArgumentError{fmt.Sprintf(format, args...)} }

// PublishedError is a release that cannot be booked because a part of the data is published as it
// is, by this release or by an earlier one. Nothing is booked.
type PublishedError struct {
	Account string // that protects the part
	Part    string // "inputs" or "output"
	Earlier bool   // an earlier release has published it
	Others  int    // releases that protect it, where it is this one that would publish it
	Points  bool   // by points that are rows of the account's people
}

func (e *PublishedError) Error() string {
	part := map[string]string{experiment.UnitInputs: "the inputs of every row",
		experiment.UnitOutput: "the output of every row"}[e.Part]
	if e.Earlier {
		return fmt.Sprintf("an earlier release of these people has published %s as they were, or numbers that follow from "+
			"them without noise (%s), and this one would protect them: its guarantee would protect nothing; choose a method "+
			"that takes them to be public", part, e.Account)
	}
	if e.Points && e.Others == 0 {
		return fmt.Sprintf("this release would publish %s that it protects (%s): its points are rows of these people; give "+
			"points that are no rows of these people", part, e.Account)
	}
	instead := "choose a method that protects them"
	if e.Points {
		instead = "give points that are no rows of these people"
	}
	protect := " protect"
	if e.Others == 1 {
		protect = " protects"
	}
	return fmt.Sprintf("this release publishes %s as they are, or numbers that follow from them without noise, and %s of "+
		"these people%s them (%s): that guarantee would protect nothing any more; %s", part,
		text.Count(e.Others, "earlier release"), protect, e.Account, instead)
}

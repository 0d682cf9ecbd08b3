package budget

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNone is the error where there is no ledger yet: nothing has been booked.
var ErrNone = errors.New("there is no budget ledger yet")

// LimitError is a release that does not fit into an account. Nothing is booked.
// Its text has no digest of data.
type LimitError struct {
	// Account is its number, its budget id and its unit, for people.
	Account  string
	Number   int    // of the account; 0 where it would be a new one
	Name     string // budget id; "" for accounts of data
	Unit     string
	Rule     Rule
	Releases int // booked so far
	Limit    Limit
	Spent    Amount // tightly, at the limit's delta
	Basic    Amount // Σε, Σδ
	Asked    Amount
	// Left is the largest Gaussian release that would still fit, at the δ that is
	// asked for; of sums, the rest of both.
	Left Amount
	File string // of the ledger, where it is not the default one
}

// Error gives the limit, the spending so far, the release, the rest, and a way out, in this
// order.
func (e *LimitError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the budget of %s does not allow this release: its limit is %s", e.Account,
		pair(Amount{e.Limit.Epsilon, e.Limit.Delta, 0}))
	if e.Releases > 0 {
		fmt.Fprintf(&b, ", its earlier releases (%d) have spent %s", e.Releases, pair(e.Spent))
		if e.Rule == GDP {
			fmt.Fprintf(&b, " (sums: %s)", pair(e.Basic))
		}
	}
	fmt.Fprintf(&b, ", this one asks for %s", pair(e.Asked))
	switch {
	case e.Left.Epsilon == 0:
		fmt.Fprintf(&b, "; nothing is left at delta %s", Shown(e.Left.Delta))
	case e.Rule == Basic:
		fmt.Fprintf(&b, "; left are epsilon %s and delta %s", ShownDown(e.Left.Epsilon), ShownDown(e.Left.Delta))
	default:
		fmt.Fprintf(&b, "; left is a Gaussian release with epsilon up to %s at delta %s",
			ShownDown(e.Left.Epsilon), Shown(e.Left.Delta))
	}
	if e.Left.Mu > 0 {
		fmt.Fprintf(&b, " (mu %s)", ShownDown(e.Left.Mu))
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
			"; `run budget set default --epsilon E%s` changes the limit of new accounts, and with --budget-id "+
				"the data get an account with a limit of their own",
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
	return " --budget-file " + quote(e.File)
}

// quote writes a word for a POSIX shell.
func quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// pair writes (ε, δ), with μ where there is one.
func pair(a Amount) string {
	text := fmt.Sprintf("(%s, %s)", Shown(a.Epsilon), Shown(a.Delta))
	if a.Mu > 0 {
		text += fmt.Sprintf(" with mu %s", Shown(a.Mu))
	}
	return text
}

// RuleError is a release that cannot be added up with the others of its account: it has
// neither a μ nor a pure guarantee, and the account adds up μ. Nothing is booked.
type RuleError struct{ Account string }

func (e *RuleError) Error() string {
	return e.Account + " adds up mu of Gaussian differential privacy, and this release has none: no filter of " +
		"one number is known to be valid for (epsilon, delta) beside mu; book it in an account with rule basic: " +
		"`run budget set NAME --unit row|output --epsilon E --delta D --rule basic --create` opens one for --budget-id NAME"
}

// FileError is a ledger that cannot be used, with the reason and a way out. Nothing may be
// released then.
type FileError struct {
	Path    string
	Problem string // such as "is damaged"
	Advice  string
	Err     error // may be nil
}

func (e *FileError) Error() string {
	text := fmt.Sprintf("the budget ledger %s %s", e.Path, e.Problem)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Advice != "" {
		text += "; " + e.Advice
	}
	return text
}

func (e *FileError) Unwrap() error { return e.Err }

// ArgumentError is a mistake in a [Change].
type ArgumentError struct{ Reason string }

func (e *ArgumentError) Error() string { return e.Reason }

func mistake(format string, args ...any) error { return &ArgumentError{fmt.Sprintf(format, args...)} }

// AmbiguousError is a word that names accounts of different data.
type AmbiguousError struct {
	Word    string
	Numbers []int // of two of them
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf(
		"%q names several accounts, %d and %d among them; give more digits, or the number of an account", e.Word,
		e.Numbers[0], e.Numbers[1])
}

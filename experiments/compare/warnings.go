package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// Warned are the trials of private methods with one kind of warning.
type Warned struct {
	// Text is the warning, without its advice and with "..." for numbers and names in which those of the kind differ.
	Text    string     `json:"text"`
	Methods []*Counted `json:"methods"`

	kind string
}

// Counted is how many of the trials of a method have something.
type Counted struct {
	Method string `json:"method"`
	Trials int    `json:"trials"`
	Of     int    `json:"of"`
}

// Warnings are those of several trials, each kind once.
type Warnings []*Warned

// warn counts the warnings of private methods, the most frequent kind first, without those of clipped outputs where
// they are noted.
func (j *judge) warn(noted bool) {
	for _, e := range j.c.Entries {
		if e.Role != Private {
			continue
		}
		for _, p := range e.Params {
			for _, seed := range j.seeds {
				if t := j.by[identity(e.Experiment, p, seed)]; t != nil {
					texts := slices.DeleteFunc(slices.Clone(t.Warnings), func(w string) bool { return noted && table.IsClipping(w) })
					j.out.Warnings.Add(e.Experiment, len(j.seeds)*len(e.Params), texts)
				}
			}
		}
	}
	j.out.Warnings.Sort()
}

// Add counts the warnings of a trial, one of a number of trials of its method.
func (l *Warnings) Add(method string, of int, texts []string) {
	seen := map[string]bool{} // a trial has several of a kind, one for each input
	for _, warning := range texts {
		w := l.of(strings.TrimPrefix(warning, experiment.Suspect))
		w.count(method, of, !seen[w.kind])
		seen[w.kind] = true
	}
}

// Sort puts the most frequent kind first.
func (l Warnings) Sort() {
	total := func(w *Warned) (n int) {
		for _, m := range w.Methods {
			n += m.Trials
		}
		return n
	}
	slices.SortStableFunc(l, func(a, b *Warned) int { return cmp.Compare(total(b), total(a)) })
}

// of returns the warnings of the kind of a text.
func (l *Warnings) of(warning string) *Warned {
	kind := experiment.WarningKind(warning)
	for _, w := range *l {
		if w.kind == kind {
			if w.Text != warning {
				w.Text = kind
			}
			return w
		}
	}
	w := &Warned{Text: warning, kind: kind}
	*l = append(*l, w)
	return w
}

// count adds a trial of a method, one of a number, unless it is counted.
func (w *Warned) count(method string, of int, first bool) {
	last := len(w.Methods) - 1
	if last < 0 || w.Methods[last].Method != method {
		w.Methods = append(w.Methods, &Counted{Method: method, Of: of})
		last++
	}
	if first {
		w.Methods[last].Trials++
	}
}

// String is the warning with the methods that have it.
func (w *Warned) String() string {
	var methods []string
	for _, m := range w.Methods {
		methods = append(methods, fmt.Sprintf("%s %d of %d", m.Method, m.Trials, m.Of))
	}
	every := !slices.ContainsFunc(w.Methods, func(m *Counted) bool { return m.Trials < m.Of })
	if every && len(methods) > 1 {
		return fmt.Sprintf("%s (every trial of %d methods)", w.Text, len(methods))
	}
	return fmt.Sprintf("%s (trials: %s)", w.Text, strings.Join(methods, ", "))
}

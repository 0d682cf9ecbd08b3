package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
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

// suspect begins the warnings of results that may be wrong.
const suspect = "computed but suspect: "

// warn counts the warnings of private methods, the most frequent kind first.
func (j *judge) warn() {
	for _, e := range j.c.Entries {
		if e.Role != Private {
			continue
		}
		for _, p := range e.Params {
			for _, seed := range j.seeds {
				t := j.by[identity(e.Experiment, p, seed)]
				if t == nil {
					continue
				}
				seen := map[string]bool{} // a trial has several of a kind, one for each input
				for _, text := range t.Warnings {
					text = strings.TrimPrefix(text, suspect)
					w := j.out.warned(text)
					w.count(e, len(j.seeds), !seen[w.kind])
					seen[w.kind] = true
				}
			}
		}
	}
	total := func(w *Warned) (n int) {
		for _, m := range w.Methods {
			n += m.Trials
		}
		return n
	}
	slices.SortStableFunc(j.out.Warnings, func(a, b *Warned) int { return cmp.Compare(total(b), total(a)) })
}

// warned returns the warnings of the kind of a text.
func (r *Results) warned(text string) *Warned {
	kind := kindOf(text)
	for _, w := range r.Warnings {
		if w.kind == kind {
			if w.Text != text {
				w.Text = kind
			}
			return w
		}
	}
	w := &Warned{Text: text, kind: kind}
	r.Warnings = append(r.Warnings, w)
	return w
}

// count adds a trial of a method, which has that number of splits, unless it is counted.
func (w *Warned) count(e *Entry, splits int, first bool) {
	last := len(w.Methods) - 1
	if last < 0 || w.Methods[last].Method != e.Experiment {
		w.Methods = append(w.Methods, &Counted{Method: e.Experiment, Of: splits * len(e.Params)})
		last++
	}
	if first {
		w.Methods[last].Trials++
	}
}

// kindOf is the first clause of a warning, with "..." for its numbers and for names in quotation marks.
func kindOf(text string) string {
	var b strings.Builder
	quoted, number := false, false
	for i, c := range text {
		switch {
		case c == '"':
			if quoted = !quoted; quoted {
				b.WriteString("...")
			}
		case quoted:
		case c == ';' || c == ':' && strings.HasPrefix(text[i+1:], " "):
			return b.String()
		case unicode.IsDigit(c) || number && strings.ContainsRune(".e+-", c) && !strings.HasPrefix(text[i+1:], " "):
			if !number {
				b.WriteString("...")
			}
			number = true
			continue
		default:
			b.WriteRune(c)
		}
		number = false
	}
	return b.String()
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

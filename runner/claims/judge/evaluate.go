package judge

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Evaluation is a table with what was computed for it.
type Evaluation struct {
	Paper    string
	Table    string
	Title    string
	Kind     ledger.TableKind
	Figure   string
	Variants []ledger.Variant
	Cells    []Comparison // in the order of the ledger, the variants of a cell together
	// Privacy lists the distinct privacy blocks of the records used.
	Privacy []experiment.Privacy
	// SettingsNote is what the table's settings entry says is left open.
	SettingsNote string
	// Classes are the classes of kernels that the trials of all cells were computed
	// with, each trial counted once.
	Classes   record.Classes
	Footnotes []string
}

// Comparison is one cell under one variant: the print, what was computed for it, and
// the verdict. Numbers are in the cell's unit.
type Comparison struct {
	Row, Column, Variant, Statement string
	Metric, Unit                    string
	Published                       *Print     // nil: the paper prints none
	Ours                            *Estimate  // nil: not run
	Minus                           *Baseline  // of a difference
	Holds                           *Comparand // the right-hand side of a statement
	Difference                      *float64   // ours minus published, or minus the right-hand side
	Verdict                         Verdict
	Reason                          string // why not run
	SettingsStated                  bool
	Note                            string
	Reference                       *ReferenceCheck
	TrialKeys                       []string // of the trials used, in the order of their seeds
	Classes                         record.Classes
	Warnings                        []string
	Guarantee                       string // such as "(1, 0.01)-DP", or "no guarantee: ..."; empty without a mechanism

	// Cell is the position of the cell in the ledger: its variants share it.
	Cell int
}

// Print is a published value.
type Print struct {
	Text        string
	Value       *float64 // nil where words are printed
	Uncertainty *float64 // as printed
	Rounding    float64
}

// Estimate is what was computed.
type Estimate struct {
	Mean          float64
	StandardError float64 // sample standard deviation over √Trials; 0 for one trial
	Trials        int     // used
	Wanted        int     // of the ledger
}

// Baseline is the value subtracted from ours.
type Baseline struct {
	Experiment, Metric string
	Estimate
}

// Comparand is the right-hand side of a statement.
type Comparand struct {
	Op        ledger.Relation
	Value     float64
	Metric    string // empty for a fixed value
	Tolerance float64
}

// ReferenceCheck compares with an independent implementation.
type ReferenceCheck struct {
	Value, Tolerance float64
	OK               bool // false also where the cell was not run
}

// Complete says whether all trials of the cell were there.
func (r *Comparison) Complete() bool { return r.Ours != nil && r.Ours.Trials == r.Ours.Wanted }

// Evaluate compares the records with the table. Records are matched by
// experiment, parameters and seed, not by key, since keys depend on the digests
// of data sets. Records of other settings are ignored.
func Evaluate(t *ledger.Table, reg *experiment.Registry, records *Records) (*Evaluation, error) {
	claims, err := t.Claims(reg)
	if err != nil {
		return nil, err
	}
	e := &Evaluation{Paper: t.Ledger().Paper, Table: t.Name, Title: t.Title, Kind: t.Kind, Figure: t.Figure}
	if t.Settings != nil {
		e.SettingsNote = t.Settings.Note
	}
	unplanned := records.unplanned(t, claims)
	e.Variants = slices.DeleteFunc(slices.Clone(t.Variants), func(v ledger.Variant) bool {
		return slices.Contains(unplanned, v.Name)
	})
	var keys []string
	for i := range claims {
		if slices.Contains(unplanned, claims[i].Variant) {
			continue
		}
		r, privacy := evaluate(t, &claims[i], records)
		r.Cell = slices.Index(t.Cells, claims[i].Cell)
		r.Classes = records.classesOf(r.TrialKeys)
		keys = append(keys, r.TrialKeys...)
		e.Cells = append(e.Cells, r)
		for _, p := range privacy {
			if !slices.ContainsFunc(e.Privacy, func(q experiment.Privacy) bool { return samePrivacy(p, &q) }) {
				e.Privacy = append(e.Privacy, *p)
			}
		}
	}
	slices.Sort(keys)
	e.Classes = records.classesOf(slices.Compact(keys))
	e.Footnotes = footnotes(t, e)
	return e, nil
}

func samePrivacy(a, b *experiment.Privacy) bool {
	return a.Guarantee == b.Guarantee && a.Unit == b.Unit && a.Mechanism == b.Mechanism && a.RNG == b.RNG &&
		slices.Equal(a.Notes, b.Notes)
}

func evaluate(t *ledger.Table, cl *ledger.Claim, records *Records) (Comparison, []*experiment.Privacy) {
	c := cl.Cell
	r := Comparison{Row: c.Row, Column: c.Column, Variant: cl.Variant, Statement: c.Statement,
		Metric: cl.Metric(), Unit: cmp.Or(c.Unit, t.Unit)}
	r.SettingsStated, r.Note = len(cl.Assumed) == 0, cmp.Or(c.Note, cl.SettingsNote)
	if c.Quoted { // the settings are those of our trials
		r.Verdict, r.SettingsStated, r.Note = Quoted, true, c.Note
	}
	if c.Published != "" {
		r.Published = &Print{Text: string(c.Published)}
		if p := cl.Printed; p != nil {
			r.Published.Value, r.Published.Uncertainty, r.Published.Rounding = &p.Value, p.Uncertainty, p.Rounding
		}
	}
	if cl.Reference != nil {
		r.Reference = &ReferenceCheck{Value: *cl.Reference.Value, Tolerance: *cl.Reference.Tolerance}
	}

	if c.Quoted {
		return r, nil
	}
	left := records.difference(cl.Left, cl.Minus)
	r.TrialKeys, r.Warnings = left.keys, left.warnings
	privacy := left.privacy
	var right *sample
	if cl.Right != nil {
		right = records.sample([]*ledger.Side{cl.Right}, nil)
		for _, k := range right.keys {
			if !slices.Contains(r.TrialKeys, k) {
				r.TrialKeys = append(r.TrialKeys, k)
			}
		}
		r.Warnings = appendNew(r.Warnings, right.warnings...)
		privacy = append(privacy, right.privacy...)
	}
	var guarantees []string
	for _, p := range privacy {
		guarantees = appendNew(guarantees, p.Statement())
	}
	r.Guarantee = strings.Join(guarantees, "; ")
	if len(left.values) == 0 {
		r.Verdict, r.Reason = NotRun, left.missing
		return r, privacy
	}
	r.Ours = left.estimate()
	if left.minus != nil {
		r.Minus = &Baseline{cl.Minus[0].Experiment.Name, cl.Minus[0].Metric, *left.minus}
	}
	if r.Reference != nil {
		r.Reference.OK = ledger.Within(math.Abs(r.Ours.Mean-r.Reference.Value), r.Reference.Tolerance,
			r.Ours.Mean, r.Reference.Value)
	}
	if right != nil && len(right.values) == 0 {
		r.Verdict, r.Reason = NotRun, "the right-hand side: "+right.missing
		return r, privacy
	}
	for _, s := range []*sample{left, right} {
		if s != nil && s.missing != "" {
			r.Warnings = appendNew(r.Warnings, onlySome(s))
		}
	}
	judge(t, &r, cl, right)
	return r, privacy
}

// judge sets the verdict and the difference of a result whose trials are there.
func judge(t *ledger.Table, r *Comparison, cl *ledger.Claim, right *sample) {
	ours, h := r.Ours, cl.Cell.Holds
	var diff float64
	var inside bool
	switch {
	case h != nil:
		r.Holds = &Comparand{Op: h.Op, Tolerance: h.Tolerance}
		tolerance := h.Tolerance
		if right == nil {
			r.Holds.Value = *h.Value
		} else {
			other := right.estimate()
			r.Holds.Value, r.Holds.Metric = other.Mean, right.side.Metric
			if h.Op == ledger.Equal {
				tolerance += band(0, other.StandardError, ours.StandardError)
			}
		}
		diff = ours.Mean - r.Holds.Value
		inside = h.Op.Holds(ours.Mean, r.Holds.Value, tolerance)
	case cl.Printed != nil:
		p := cl.Printed
		se := 0.0
		if p.Uncertainty != nil {
			se = *p.Uncertainty
		}
		diff = ours.Mean - p.Value
		inside = p.Relation.Holds(ours.Mean, p.Value, band(p.Rounding, se, ours.StandardError))
	default:
		r.Verdict = Unpublished
		return
	}
	r.Difference = &diff
	if r.Verdict = Match; !inside {
		r.Verdict = outside(r.SettingsStated)
	}
}

// appendNew appends what is not in the list yet.
func appendNew(list []string, items ...string) []string {
	for _, s := range items {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

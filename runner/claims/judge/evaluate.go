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

// Evaluation is a table with the values computed for it.
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
	// SettingsNote is the remark of the table's settings entry.
	SettingsNote string
	// Classes are the BLAS classes of the trials of all cells, each trial counted once.
	Classes   record.Classes
	Joint     []*Joint // verdicts on several values together
	Footnotes []string
	Brief     []string // what a short form of the table needs of them

	// leftOut are the headlines of variants that are not part of the sweep: the table
	// does not show them, but a claim without one of its parts is not judged.
	leftOut []Comparison
}

// Comparison is one cell under one variant: the print, the value computed for it, and three
// independent judgements: the verdict, the origin of the settings, and that of the data.
// Numbers are in the cell's unit.
type Comparison struct {
	Row, Column, Variant, Statement string
	Metric, Unit                    string
	Published                       *Print     // nil: the paper prints none
	Ours                            *Estimate  // nil: not run
	Minus                           *Baseline  // of a difference
	Holds                           *Comparand // the right-hand side of a statement
	Difference                      *float64   // ours minus published, or minus the right-hand side
	Band                            *Band      // of a printed number; nil where it has none
	Tolerance                       *float64   // of a printed number; nil where none is declared
	Draws                           float64    // behind the print
	Test                            *PairedTest

	Verdict Verdict
	Reason  string // for the verdicts NotRun and Unjudged

	Assumed []ledger.Assumption // none: the paper states the settings
	StandIn string              // replacement of the paper's data; empty for none

	// Headline marks the variant of the cell that is judged; the others are folded beneath.
	// Own marks an entry that is ours and not the paper's, Times a time.
	Headline, Own, Times bool
	// Entry identifies the value or claim of the paper; comparisons with one entry count
	// once. Primary is false where another cell counts instead.
	Entry   string
	Primary bool
	Claim   bool   // in words, or a part of one; otherwise a printed value
	Terms   string // digest of the conditions of the verdict, see [ledger.Claim.Digest]

	Note      string
	Reference *ReferenceCheck
	TrialKeys []string // of the trials used, in the order of their seeds
	Classes   record.Classes
	Warnings  []string
	// Mechanism is such as "(1, 0.01)-DP per row, seeded", or "no guarantee: ..."; empty for none.
	Mechanism string

	// Cell is the position of the cell in the ledger: its variants share it.
	Cell int
}

// SettingsStated reports whether the paper states the settings.
func (r *Comparison) SettingsStated() bool { return len(r.Assumed) == 0 }

// Print is a published value.
type Print struct {
	Text        string   `json:"text"`
	Value       *float64 `json:"value"`       // nil where words are printed
	Uncertainty *float64 `json:"uncertainty"` // as printed
	Rounding    float64  `json:"-"`
	// UncertaintyOf is the source of the uncertainty; empty where it is unknown.
	UncertaintyOf string `json:"-"`
}

// Estimate is a mean over trials.
type Estimate struct {
	Mean          float64
	StandardError float64 // sample standard deviation over √Trials; 0 for one trial, see Uncertainty
	Trials        int     // used
	Wanted        int     // by the ledger or the plan
}

// Uncertainty is the standard error where there is one: nil where all that enters is a single trial.
func (e *Estimate) Uncertainty() *float64 {
	if e.Trials == 1 && e.StandardError == 0 {
		return nil
	}
	return &e.StandardError
}

// Baseline is the value subtracted from ours.
type Baseline struct {
	Experiment string
	Metric     string
	Estimate
}

// Comparand is the right-hand side of a statement.
type Comparand struct {
	Op        ledger.Relation `json:"op"`
	Value     float64         `json:"value"`
	Metric    string          `json:"metric"` // empty for a fixed value
	Tolerance float64         `json:"tolerance"`
}

// ReferenceCheck compares with an independent implementation.
type ReferenceCheck struct {
	Value     float64 `json:"value"`
	Tolerance float64 `json:"tolerance"`
	OK        bool    `json:"ok"` // false where the cell was not run
}

// compare sets OK; c may be nil.
func (c *ReferenceCheck) compare(mean float64) {
	if c != nil {
		c.OK = ledger.Within(math.Abs(mean-c.Value), c.Tolerance, mean, c.Value)
	}
}

// Restore sets the results of another evaluation under the same conditions: the estimate,
// which is nil where nothing ran, the right-hand side of a statement, and the verdict.
func (r *Comparison) Restore(ours *Estimate, holds *Comparand, verdict Verdict) {
	r.Ours, r.Holds, r.Verdict, r.Reason = ours, holds, verdict, ""
	if ours != nil {
		r.Reference.compare(ours.Mean)
	}
}

// Skipped returns the reason why a value has no trials where all of them were skipped, which is for lack of data.
func (r *Comparison) Skipped() (why string, skipped bool) {
	before, why, found := strings.Cut(r.Reason, string(record.Skipped)+": ")
	alone := before == "" || strings.HasSuffix(before, ": ") && !strings.Contains(before, ";")
	return why, found && alone && r.Verdict == NotRun && !strings.Contains(why, string(record.Failed)+": ")
}

// Complete reports whether all trials of the cell have results.
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
	var cases []*evidence
	shared := pools{}
	for i := range claims {
		c := records.gather(t, &claims[i])
		if slices.Contains(unplanned, claims[i].Variant) {
			if c.Headline {
				c.Verdict = NotRun
				e.leftOut = append(e.leftOut, c.Comparison)
			}
			continue
		}
		shared.add(c.claim, c.left)
		cases = append(cases, c)
	}
	var keys []string
	for _, c := range cases {
		c.judge(shared)
		c.Classes = records.classesOf(c.TrialKeys)
		keys = append(keys, c.TrialKeys...)
		e.Cells = append(e.Cells, c.Comparison)
		for _, p := range c.privacy {
			if !slices.ContainsFunc(e.Privacy, func(q experiment.Privacy) bool { return samePrivacy(p, &q) }) {
				e.Privacy = append(e.Privacy, *p)
			}
		}
	}
	e.Joint = records.joints(t, cases)
	Holm(e)
	for _, j := range e.Joint {
		keys = append(keys, j.Keys...)
	}
	slices.Sort(keys)
	e.Classes = records.classesOf(slices.Compact(keys))
	e.Footnotes, e.Brief = footnotes(t, e), brief(t, e)
	return e, nil
}

func samePrivacy(a, b *experiment.Privacy) bool {
	return a.Statement() == b.Statement() && a.Unit == b.Unit && a.Mechanism == b.Mechanism &&
		slices.Equal(a.Notes, b.Notes)
}

// evidence is a comparison with the samples that it is judged by.
type evidence struct {
	Comparison
	claim       *ledger.Claim
	left, right *sample // right: of a statement that compares two metrics
	pairs       *sample // of a paired statement: left less right, seed by seed
	privacy     []*experiment.Privacy
}

// gather collects the evidence for a claim from the records.
func (r *Records) gather(t *ledger.Table, cl *ledger.Claim) *evidence {
	c := cl.Cell
	e := &evidence{claim: cl, left: &sample{}, Comparison: Comparison{Row: c.Row, Column: c.Column, Variant: cl.Variant,
		Statement: c.Statement, Metric: cl.Metric(), Unit: t.UnitOf(c), Cell: slices.Index(t.Cells, c),
		Draws: cl.Draws, Assumed: cl.Assumed, StandIn: cl.StandIn, Headline: cl.Headline, Own: cl.Ours, Times: cl.Times,
		Entry: cl.Entry, Primary: cl.Primary, Claim: c.Holds != nil || c.Claim != "", Terms: cl.Digest(),
		Note: cmp.Or(c.Note, cl.SettingsNote)}}
	if c.Quoted { // settings and data are those of our trials
		e.Assumed, e.StandIn, e.Note = nil, "", c.Note
	}
	if c.Published != "" {
		e.Published = &Print{Text: string(c.Published)}
		if p := cl.Printed; p != nil {
			e.Published.Value, e.Published.Uncertainty, e.Published.Rounding = &p.Value, p.Uncertainty, p.Rounding
			e.Published.UncertaintyOf = cl.UncertaintyOf
			if cl.Tolerance != nil && c.Holds == nil && !c.Quoted {
				tolerance := cl.Tolerance.Of(p.Value)
				e.Tolerance = &tolerance
			}
		}
	}
	if cl.Reference != nil {
		e.Reference = &ReferenceCheck{Value: *cl.Reference.Value, Tolerance: *cl.Reference.Tolerance}
	}
	if !c.Quoted {
		e.collect(r)
	}
	return e
}

// collect reads the samples, with their trials, warnings and privacy.
func (e *evidence) collect(records *Records) {
	cl := e.claim
	e.left = records.difference(cl.Left, cl.Minus)
	for _, m := range cl.Members {
		e.left.members = append(e.left.members, records.difference(m.Left, m.Minus))
	}
	samples := []*sample{e.left}
	if cl.Right != nil {
		e.right = records.sample([]*ledger.Side{cl.Right}, nil)
		samples = append(samples, e.right)
		if cl.Cell.Holds.Paired {
			e.pairs = records.sample(cl.Left, []*ledger.Side{cl.Right})
		}
	}
	var mechanisms []string
	for _, s := range samples {
		e.TrialKeys = appendNew(e.TrialKeys, s.keys...)
		e.Warnings = appendNew(e.Warnings, s.warnings...)
		e.privacy = append(e.privacy, s.privacy...)
	}
	for _, p := range e.privacy {
		mechanisms = appendNew(mechanisms, p.Statement())
	}
	e.Mechanism = strings.Join(mechanisms, "; ")
	if len(e.left.values) == 0 {
		e.Reason = e.left.missing
		return
	}
	e.Ours = e.left.estimate()
	if e.left.minus != nil {
		e.Minus = &Baseline{cl.Minus[0].Experiment.Name, cl.Minus[0].Metric, *e.left.minus}
	}
	e.Reference.compare(e.Ours.Mean)
	if e.right != nil && len(e.right.values) == 0 {
		e.Reason = "the right-hand side: " + e.right.missing
		return
	}
	for _, s := range samples {
		if s.missing != "" {
			e.Warnings = appendNew(e.Warnings, onlySome(s))
		}
	}
}

// appendNew appends the items that the list lacks.
func appendNew(list []string, items ...string) []string {
	for _, s := range items {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

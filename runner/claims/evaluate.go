package claims

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Evaluated is a table with what was computed for it.
type Evaluated struct {
	Paper    string
	Table    string
	Title    string
	Kind     Kind
	Figure   string
	Variants []Variant
	Cells    []Result // in the order of the ledger, the variants of a cell together
	// Privacy lists the distinct privacy blocks of the records used.
	Privacy []experiment.Privacy
	// SettingsNote is what the table's settings entry says is left open.
	SettingsNote string
	// Classes are the classes of kernels that the trials of all cells were computed
	// with, each trial counted once.
	Classes   record.Classes
	Footnotes []string
}

// Result is one cell under one variant.
type Result struct {
	Row, Column, Variant, Statement string
	Metric, Unit                    string
	Published                       *Print      // nil: the paper prints none
	Ours                            *Estimate   // nil: not run
	Minus                           *Subtracted // of a difference
	Holds                           *Compared   // the right-hand side of a statement
	Difference                      *float64    // ours minus published, or minus the right-hand side
	Verdict                         Verdict
	Reason                          string // why not run
	SettingsStated                  bool
	Note                            string
	Reference                       *ReferenceCheck
	TrialKeys                       []string // of the trials used, in the order of their seeds
	Classes                         record.Classes
	Warnings                        []string
	Guarantee                       string // such as "(1, 0.01)-DP", or "no guarantee: ..."; empty without a mechanism

	// index of the cell in the ledger: the variants of one cell share it
	cell int
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

// Subtracted is what ours is less of.
type Subtracted struct {
	Experiment, Metric string
	Estimate
}

// Compared is the right-hand side of a statement.
type Compared struct {
	Op        Relation
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
func (r *Result) Complete() bool { return r.Ours != nil && r.Ours.Trials == r.Ours.Wanted }

// Evaluate compares the records with the table. Records are matched by
// experiment, parameters and seed, not by key, since keys depend on the digests
// of data sets. Records of other settings are ignored.
func Evaluate(t *Table, reg *experiment.Registry, records *Records) (*Evaluated, error) {
	claims, err := t.claims(reg)
	if err != nil {
		return nil, err
	}
	e := &Evaluated{Paper: t.ledger.Paper, Table: t.Name, Title: t.Title, Kind: t.Kind, Figure: t.Figure}
	if t.Settings != nil {
		e.SettingsNote = t.Settings.Note
	}
	unplanned := records.unplanned(t, claims)
	e.Variants = slices.DeleteFunc(slices.Clone(t.Variants), func(v Variant) bool { return slices.Contains(unplanned, v.Name) })
	var keys []string
	for i := range claims {
		if slices.Contains(unplanned, claims[i].variant) {
			continue
		}
		r, privacy := t.evaluate(&claims[i], records)
		r.cell = slices.Index(t.Cells, claims[i].cell)
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
	return a.Guarantee == b.Guarantee && a.Unit == b.Unit && a.Mechanism == b.Mechanism && a.RNG == b.RNG && slices.Equal(a.Notes, b.Notes)
}

func (t *Table) evaluate(cl *claim, records *Records) (Result, []*experiment.Privacy) {
	c := cl.cell
	r := Result{Row: c.Row, Column: c.Column, Variant: cl.variant, Statement: c.Statement,
		Metric: cl.metric(), Unit: or(c.Unit, t.Unit)}
	stated, note := t.settings(c)
	r.SettingsStated, r.Note = stated, or(c.Note, note)
	if c.Quoted { // the settings are those of our trials
		r.Verdict, r.SettingsStated, r.Note = Quoted, true, c.Note
	}
	if c.Published != "" {
		r.Published = &Print{Text: string(c.Published)}
		if p := cl.printed; p != nil {
			r.Published.Value, r.Published.Uncertainty, r.Published.Rounding = &p.Value, p.Uncertainty, p.Rounding
		}
	}
	if cl.reference != nil {
		r.Reference = &ReferenceCheck{Value: *cl.reference.Value, Tolerance: *cl.reference.Tolerance}
	}

	if c.Quoted {
		return r, nil
	}
	left := records.difference(cl.left, cl.minus)
	r.TrialKeys, r.Warnings = left.keys, left.warnings
	privacy := left.privacy
	var right *sample
	if cl.right != nil {
		right = records.sample([]*side{cl.right}, nil)
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
		r.Minus = &Subtracted{cl.minus[0].experiment.Name, cl.minus[0].metric, *left.minus}
	}
	if r.Reference != nil {
		r.Reference.OK = within(math.Abs(r.Ours.Mean-r.Reference.Value), r.Reference.Tolerance, r.Ours.Mean, r.Reference.Value)
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
	t.judge(&r, cl, right)
	return r, privacy
}

// judge sets the verdict and the difference of a result whose trials are there.
func (t *Table) judge(r *Result, cl *claim, right *sample) {
	ours, h := r.Ours, cl.cell.Holds
	var diff float64
	var inside bool
	switch {
	case h != nil:
		r.Holds = &Compared{Op: h.Op, Tolerance: h.Tolerance}
		tolerance := h.Tolerance
		if right == nil {
			r.Holds.Value = *h.Value
		} else {
			other := right.estimate()
			r.Holds.Value, r.Holds.Metric = other.Mean, right.side.metric
			if h.Op == Equal {
				tolerance += band(0, other.StandardError, ours.StandardError)
			}
		}
		diff = ours.Mean - r.Holds.Value
		inside = h.Op.holds(ours.Mean, r.Holds.Value, tolerance)
	case cl.printed != nil:
		p := cl.printed
		se := 0.0
		if p.Uncertainty != nil {
			se = *p.Uncertainty / math.Sqrt(float64(max(t.UncertaintyOf, 1)))
		}
		diff = ours.Mean - p.Value
		inside = p.Relation.holds(ours.Mean, p.Value, band(p.Rounding, se, ours.StandardError))
	default:
		r.Verdict = Unpublished
		return
	}
	r.Difference = &diff
	if r.Verdict = Match; !inside {
		r.Verdict = outside(diff, cl.cell.Direction, r.SettingsStated)
	}
}

// sample is what the records hold of one side, or of the mean of several.
type sample struct {
	side     *side // the first
	seeds    []int64
	values   []float64
	keys     []string
	warnings []string
	privacy  []*experiment.Privacy
	missing  string // why trials are missing; empty when none is

	minus *Estimate // of a difference: what was subtracted
	// apart says that minus was subtracted as one mean: its standard error is
	// not in the scatter of the values.
	apart bool
}

// difference takes left less minus, seed by seed where every side of minus has
// the seeds of left, otherwise less the mean of minus over its own seeds.
func (r *Records) difference(left, minus []*side) *sample {
	if len(minus) == 0 || r.paired(r.seeds(left[0]), minus) {
		return r.sample(left, minus)
	}
	out, other := r.sample(left, nil), r.sample(minus, nil)
	out.keys = appendNew(out.keys, other.keys...)
	out.warnings = appendNew(out.warnings, other.warnings...)
	out.privacy = append(out.privacy, other.privacy...)
	switch {
	case len(out.values) == 0:
		return out
	case len(other.values) == 0:
		out.values, out.missing = nil, subtracted+other.missing
		return out
	case other.missing != "":
		out.warnings = appendNew(out.warnings, subtracted+onlySome(other))
	}
	out.minus, out.apart = other.estimate(), true
	for i, v := range out.values {
		out.values[i] = subtract(v, out.minus.Mean)
	}
	return out
}

// subtracted begins a reason that is about the subtrahend.
const subtracted = "what is subtracted: "

// onlySome says which trials of a sample are missing.
func onlySome(s *sample) string {
	return fmt.Sprintf("only %d of %d trials: %s", len(s.values), len(s.seeds), s.missing)
}

// sample takes, of every seed, the mean over the sides, less that over minus.
func (r *Records) sample(sides, minus []*side) *sample {
	out := &sample{side: sides[0], seeds: r.seeds(sides[0])}
	if n := len(sides[0].seeds); len(out.seeds) < n {
		out.warnings = append(out.warnings, fmt.Sprintf("planned with %d of the table's %d trials", len(out.seeds), n))
	}
	less := &sample{seeds: out.seeds}
	var reasons []string
	seedsOf := map[string][]string{}
	miss := func(seed int64, reason string) {
		reasons = appendNew(reasons, reason)
		seedsOf[reason] = append(seedsOf[reason], fmt.Sprint(seed))
	}
	for _, seed := range out.seeds {
		var found []*outcome
		var lacks, warnings []string
		mean := func(sides []*side, prefix string) (mean float64) {
			for _, s := range sides {
				o, v, warning, lack := r.value(s, seed)
				if lack != "" {
					lacks = append(lacks, prefix+lack)
					continue
				}
				mean += v / float64(len(sides))
				found = append(found, o)
				warnings = append(warnings, s.warnings(o)...)
				if warning != "" {
					out.warnings = appendNew(out.warnings, warning)
				}
			}
			return mean
		}
		value := mean(sides, "")
		if len(minus) > 0 {
			m := mean(minus, subtracted)
			value = subtract(value, m)
			if len(lacks) == 0 {
				less.values = append(less.values, m)
			}
		}
		switch {
		case len(lacks) > 0 && len(sides) == 1:
			miss(seed, strings.Join(lacks, "; "))
			continue
		case len(lacks) > 0:
			miss(seed, fmt.Sprintf("missing %d of the %d values: %s", len(lacks), len(sides)+len(minus), strings.Join(appendNew(nil, lacks...), "; ")))
			continue
		}
		out.values = append(out.values, value)
		out.warnings = appendNew(out.warnings, warnings...)
		for _, o := range found {
			out.keys = appendNew(out.keys, o.key)
			if p := o.privacy; p != nil && !slices.ContainsFunc(out.privacy, func(q *experiment.Privacy) bool { return samePrivacy(p, q) }) {
				out.privacy = append(out.privacy, p)
			}
		}
	}
	for i, reason := range reasons {
		if len(out.seeds) > 1 && len(seedsOf[reason]) < len(out.seeds) {
			reasons[i] = fmt.Sprintf("seed %s %s", strings.Join(seedsOf[reason], ", "), reason)
		}
	}
	out.missing = strings.Join(reasons, "; ")
	if len(less.values) > 0 {
		out.minus = less.estimate()
	}
	return out
}

// value returns a side's metric of one seed with its record, or why there is
// none; and a warning where several records compete.
func (r *Records) value(s *side, seed int64) (o *outcome, v float64, warning, lack string) {
	o, warning = r.find(s, seed)
	switch {
	case o == nil:
		return nil, 0, "", "no trial of this setting has run"
	case o.status != record.OK:
		return nil, 0, "", fmt.Sprintf("%s: %s", o.status, or(o.err, "no reason is recorded"))
	}
	v, ok := o.metrics[s.metric]
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, 0, "", fmt.Sprintf("the trial reports no finite %s", s.metric)
	}
	return o, v, warning, ""
}

// estimate returns mean and standard error (ddof 1), summed in the order of the
// seeds. A single trial says nothing about its scatter: 0.
func (s *sample) estimate() *Estimate {
	n := float64(len(s.values))
	e := &Estimate{Trials: len(s.values), Wanted: len(s.seeds)}
	for _, v := range s.values {
		e.Mean += v / n
	}
	if len(s.values) > 1 {
		sum := 0.0
		for _, v := range s.values {
			sum += (v - e.Mean) * (v - e.Mean)
		}
		// Equal values leave a rest of rounding, which is no scatter.
		if se := math.Sqrt(sum / (n - 1) / n); se > roundingShare*math.Abs(e.Mean) {
			e.StandardError = se
		}
	}
	if s.apart {
		e.StandardError = math.Hypot(e.StandardError, s.minus.StandardError)
	}
	return e
}

// subtract returns a − b without the digits that only rounding makes, so that
// 0.9384 − 0.9478 is exactly −0.0094 where it is compared, and equal differences
// have no scatter.
func subtract(a, b float64) float64 {
	const digits = 13 // kept of the larger operand
	v := a - b
	if v == 0 {
		return 0
	}
	n := digits - 1 + exponentOf(v) - exponentOf(max(math.Abs(a), math.Abs(b)))
	if n < 0 {
		return 0
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', n, 64), 64)
	return v
}

// roundingShare bounds what rounding alone makes of the standard error of equal
// values, as a share of their mean.
const roundingShare = 1e-13

func appendNew(list []string, items ...string) []string {
	for _, s := range items {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// footnotes says how the numbers are to be read.
func footnotes(t *Table, e *Evaluated) []string {
	trials := map[int]bool{}
	stated, published, quoted := true, false, false
	for _, r := range e.Cells {
		if r.Ours != nil {
			trials[r.Ours.Trials] = true
		}
		stated = stated && r.SettingsStated
		quoted = quoted || r.Verdict == Quoted
		published = published || r.Published != nil && r.Published.Uncertainty != nil
	}
	var out []string
	switch {
	case len(trials) == 1 && trials[1]:
		out = append(out, "ours: one trial a cell (n=1), so without a standard error.")
	case len(trials) == 1:
		for n := range trials {
			out = append(out, fmt.Sprintf("ours: mean ± standard error over n=%d trials.", n))
		}
	case len(trials) > 1:
		out = append(out, "ours: mean ± standard error over n trials; none for n=1.")
	}
	if published {
		if n := t.UncertaintyOf; n > 0 {
			out = append(out, fmt.Sprintf("published ±: a standard deviation over %d values; its standard error is ±/√%d.", n, n))
		} else {
			out = append(out, "published ±: taken as a standard error.")
		}
	}
	out = append(out, Rules)
	if quoted {
		out = append(out, QuotedRule)
	}
	if slices.ContainsFunc(t.Cells, func(c *Cell) bool { return c.MeanOf != nil }) {
		out = append(out, MeanRule)
	}
	if slices.ContainsFunc(t.Cells, func(c *Cell) bool { return c.Minus != nil }) {
		out = append(out, MinusRule)
	}
	if !stated {
		out = append(out, strings.TrimSuffix("The paper leaves settings open: "+or(e.SettingsNote, "see the notes"), ".")+".")
	} else if e.SettingsNote != "" {
		out = append(out, "Settings: "+e.SettingsNote)
	}
	if left := len(t.Variants) - len(e.Variants); left > 0 {
		var names []string
		for _, v := range t.Variants {
			if !slices.ContainsFunc(e.Variants, func(w Variant) bool { return w.Name == v.Name }) {
				names = append(names, v.Name)
			}
		}
		out = append(out, "Not part of this sweep: "+strings.Join(names, ", ")+".")
	}
	for _, v := range e.Variants {
		if v.Note != "" {
			out = append(out, fmt.Sprintf("%s: %s.", v.Name, strings.TrimSuffix(v.Note, ".")))
		}
	}
	out = append(out, e.privacyNotes()...)
	if s := e.Classes.Sentence(); s != "" {
		out = append(out, s)
	}
	return out
}

// privacyNotes has a line for each unit and mechanism, with all the guarantees that
// the records have, and one for each mechanism and reason without a guarantee.
func (e *Evaluated) privacyNotes() []string {
	var out, unguarded []string
	guarantees := map[string][]string{}
	for _, p := range e.Privacy {
		if p.Guarantee == "" {
			unguarded = appendNew(unguarded, fmt.Sprintf("Privacy: %s; %s.", p.Statement(), p.Mechanism))
			continue
		}
		s := fmt.Sprintf("protects %s; %s.", p.Unit, p.Mechanism)
		if p.RNG == "seeded" {
			s += " Seeded noise reproduces the paper and protects nobody."
		}
		if guarantees[s] == nil {
			out = append(out, s)
		}
		if !slices.Contains(guarantees[s], p.Guarantee) {
			guarantees[s] = append(guarantees[s], p.Guarantee)
		}
	}
	for i, s := range out {
		out[i] = "Privacy: " + strings.Join(guarantees[s], ", ") + "; " + s
	}
	return append(out, unguarded...)
}

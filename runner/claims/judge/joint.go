package judge

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"privkern/runner/claims/ledger"
	"privkern/runner/text"
)

// Joint is the verdict on all printed numbers of one metric of a table together, under one reading
// of the paper: the headline, or a variant that the ledger names.
//
// The print is one draw more. Of each cell, the n blocks of our trials, averaged and rounded as the
// print is, and the print are n + 1 draws. Each is compared with the other n, the print among them,
// by |mean over the cells of (x − m)/s|, with the mean m and the standard deviation s of the others.
// If the reproduction is exact, all ranks of the print are equally likely, however the cells of a
// draw depend on each other: p = (1 + the number of ours with at least the print's value)/(n + 1).
type Joint struct {
	Metric  string `json:"metric"`
	Reading string `json:"reading"` // variant; empty where the cells have none, or several
	// Headline marks the reading that counts.
	Headline bool `json:"headline"`

	Values int `json:"values"` // printed numbers in whose digits chance shows
	Above  int `json:"above"`  // of which our mean is above the print
	Below  int `json:"below"`
	// Shift is the median of our means over the prints, less 1; nil where all prints are 0.
	Shift *float64 `json:"shift"`

	Draws int     `json:"draws"`   // n
	P     float64 `json:"p_value"` // 1 where the verdict is [CannotTell]
	Holm  float64 `json:"p_holm"`  // adjusted for the other tests, see [Holm]

	Verdict JointVerdict `json:"verdict"`
	Reason  string       `json:"reason"` // of CannotTell

	Terms   string   `json:"-"` // digest of the conditions
	Missing int      `json:"-"` // values without any trial
	Cells   []int    `json:"-"` // positions of the values in the evaluation
	Keys    []string `json:"-"` // of the trials
}

// JointVerdict is the outcome of a joint test.
type JointVerdict string

// The joint verdicts.
const (
	Consistent JointVerdict = "consistent"
	Shifted    JointVerdict = "shifted"
	CannotTell JointVerdict = "cannot tell"
)

// leastDraws is the least n: with fewer no p-value is at most .05.
const leastDraws = 19

// jointVersion grows where the rule changes, so that verdicts of the older one are not read.
const jointVersion = 2

// jointRule is the footnote on joint verdicts.
const jointRule = "jointly: the print as one draw among ours, by the mean of the standardised differences of a " +
	"metric's values, in absolute value, except where draws differ by less than half a printed digit; p: the share of " +
	"draws that are as far out; %: the median of ours over the print; shifted: p ≤ .05 after Holm over the tables of " +
	"the paper that are shown."

// joints returns the joint verdicts of a table: those of metrics of which several numbers are printed.
func (r *Records) joints(t *ledger.Table, cases []*evidence) []*Joint {
	readings := []string{""}
	if t.Joint != nil {
		readings = append(readings, t.Joint.Variants...)
	}
	var out []*Joint
	for i, reading := range readings {
		byMetric := map[string][]int{}
		var metrics []string
		others := map[string]bool{} // metrics with a cell that is not the headline's
		for k, c := range cases {
			if c.claim.Joint == nil || i == 0 && !c.Headline || i > 0 && c.Variant != reading {
				continue
			}
			m := family(c.claim.Joint)
			if byMetric[m] == nil {
				metrics = append(metrics, m)
			}
			byMetric[m] = append(byMetric[m], k)
			others[m] = others[m] || !c.Headline
		}
		for _, m := range metrics {
			if i > 0 && !others[m] {
				continue // the same as the headline
			}
			if j := r.joint(m, cases, byMetric[m]); j != nil {
				j.Headline = i == 0
				out = append(out, j)
			}
		}
	}
	return out
}

// family returns the declared name of a side's metric, without the star of a family.
func family(s *ledger.Side) string {
	for _, m := range s.Experiment.Metrics {
		if m.Covers(s.Metric) {
			return strings.TrimRight(m.Name, "_*")
		}
	}
	return s.Metric
}

// joint judges the cells of one metric; nil where fewer than two have chance.
func (r *Records) joint(metric string, cases []*evidence, cells []int) *Joint {
	j := &Joint{Metric: metric, Reading: cases[cells[0]].Variant, P: 1, Holm: 1, Verdict: CannotTell}
	digest := sha256.New()
	_, _ = fmt.Fprintln(digest, jointVersion)
	var with []*evidence
	for _, k := range cells {
		c := cases[k]
		if c.Variant != j.Reading {
			j.Reading = ""
		}
		if c.claim.Deterministic {
			continue // without chance: judged apart
		}
		s := c.claim.Joint
		_, _ = fmt.Fprintln(digest, c.Terms, s.ID, s.Experiment.Version, s.Metric, s.Seeds, c.claim.JointDraws)
		with, j.Cells = append(with, c), append(j.Cells, k)
	}
	if len(with) < 2 {
		return nil
	}
	j.Values, j.Terms = len(with), hex.EncodeToString(digest.Sum(nil)[:8])
	prints, draws := r.drawsOf(j, with)
	if draws == nil {
		return j
	}
	if j.Draws = len(draws[0]); j.Draws < leastDraws {
		j.signs(prints, draws)
		j.Reason = fmt.Sprintf("%s, %d are needed", text.Count(j.Draws, "draw"), leastDraws)
		return j
	}
	if prints, draws = j.moving(prints, draws); len(prints) < 2 {
		return nil
	}
	j.signs(prints, draws)
	for c := range draws {
		draws[c] = rounded(draws[c], prints[c])
	}
	j.P = float64(1+rank(prints, draws)) / float64(j.Draws+1)
	j.decide(j.P)
	return j
}

// moving leaves out cells whose draws have a standard deviation below half a unit of the last printed
// digit: chance hardly shows in the print, which is many deviations away wherever it differs, and would
// decide alone. They are judged apart.
func (j *Joint) moving(prints []*ledger.Number, draws [][]float64) (p []*ledger.Number, d [][]float64) {
	var cells []int
	for c, of := range draws {
		if v, _ := variance(of); math.Sqrt(v) > prints[c].Rounding {
			cells, p, d = append(cells, j.Cells[c]), append(p, prints[c]), append(d, of)
		}
	}
	j.Cells, j.Values = cells, len(cells)
	return p, d
}

// drawsOf returns the prints of cells, and of each the means of blocks of as many trials as the
// print averages; it sets the reason where there are none. A block has the same seeds in all cells.
func (r *Records) drawsOf(j *Joint, cells []*evidence) (prints []*ledger.Number, draws [][]float64) {
	block := 1
	for _, c := range cells {
		k := c.claim.JointDraws
		if k < 1 || k != math.Trunc(k) {
			j.Reason = fmt.Sprintf("the print is of %g of our trials", k)
		}
		block = max(block, int(k))
	}
	values, keys := make([]map[int64]float64, len(cells)), map[string]bool{}
	seeds := r.seeds(cells[0].claim.Joint)
	for i, c := range cells {
		values[i] = map[int64]float64{}
		for _, seed := range r.seeds(c.claim.Joint) {
			if o, v, _, lack := r.value(c.claim.Joint, seed); lack == "" {
				values[i][seed] = v
				keys[o.key] = true
			}
		}
		if len(values[i]) == 0 {
			j.Missing++
		}
	}
	j.Keys = slices.Sorted(maps.Keys(keys))
	if j.Missing > 0 {
		j.Reason = fmt.Sprintf("%d of %s did not run", j.Missing, text.Count(len(cells), "value"))
	}
	if j.Reason != "" {
		return nil, nil
	}
	common := slices.DeleteFunc(slices.Clone(seeds), func(seed int64) bool {
		return slices.ContainsFunc(values, func(v map[int64]float64) bool { _, ok := v[seed]; return !ok })
	})
	draws = make([][]float64, len(cells))
	for i, c := range cells {
		k := int(c.claim.JointDraws)
		for from := 0; from+block <= len(common); from += block {
			sum := 0.0
			for _, seed := range common[from : from+k] {
				sum += values[i][seed]
			}
			draws[i] = append(draws[i], sum/float64(k))
		}
		prints = append(prints, c.claim.Printed)
	}
	return prints, draws
}

// signs counts how many of our means are above and below the print, and by how much.
func (j *Joint) signs(prints []*ledger.Number, draws [][]float64) {
	if j.Draws == 0 {
		return
	}
	var shares []float64
	for c, p := range prints {
		_, mean := variance(draws[c])
		if mean > p.Value {
			j.Above++
		} else if mean < p.Value {
			j.Below++
		}
		if p.Value != 0 {
			shares = append(shares, (mean-p.Value)/math.Abs(p.Value))
		}
	}
	if n := len(shares); n > 0 {
		slices.Sort(shares)
		median := (shares[(n-1)/2] + shares[n/2]) / 2
		j.Shift = &median
	}
}

// rounded rounds draws to the grid of a print.
func rounded(draws []float64, p *ledger.Number) []float64 {
	out := slices.Clone(draws)
	if step := 2 * p.Rounding; step > 0 {
		for i, v := range draws {
			out[i] = p.Value + step*math.Round((v-p.Value)/step)
		}
	}
	return out
}

// rank returns the number of our draws that are at least as far from the others as the print is.
func rank(prints []*ledger.Number, draws [][]float64) int {
	n := len(draws[0])
	sums := make([]float64, n+1) // over the cells; that of the print is the last
	all := make([]float64, n+1)
	for c, p := range prints {
		// About the print, so that large values lose no digits. The print is 0.
		sum, squares := 0.0, 0.0
		for i, v := range draws[c] {
			all[i] = v - p.Value
			sum, squares = sum+all[i], squares+all[i]*all[i]
		}
		all[n] = 0
		rounding := RoundingShare * p.Value
		floor := p.Rounding*p.Rounding/3 + rounding*rounding
		for i, x := range all {
			m := (sum - x) / float64(n)
			v := max(0, (squares-x*x-float64(n)*m*m)/float64(n-1)) + floor
			if d := x - m; d != 0 && v > 0 {
				sums[i] += d / math.Sqrt(v)
			}
		}
	}
	extreme := 0
	for _, s := range sums[:n] {
		if math.Abs(s) >= math.Abs(sums[n])*(1-RoundingShare) {
			extreme++
		}
	}
	return extreme
}

// jointLevel is the level of joint tests.
const jointLevel = 1 - level

// decide sets the verdict of a test that was made, by its adjusted p-value.
func (j *Joint) decide(adjusted float64) {
	j.Holm, j.Verdict = adjusted, Consistent
	if adjusted <= jointLevel+1e-12 {
		j.Verdict = Shifted
	}
}

// Ran reports whether the test was made.
func (j *Joint) Ran() bool { return j.Verdict != CannotTell }

// Found reports whether the verdict is of some draws, or was read.
func (j *Joint) Found() bool { return j.Missing < j.Values }

// Restore sets the results of another evaluation under the same conditions, of some of the values.
func (j *Joint) Restore(o *Joint, values int) {
	j.Values = values
	j.Above, j.Below, j.Shift, j.Draws, j.P, j.Holm = o.Above, o.Below, o.Shift, o.Draws, o.P, o.P
	j.Verdict, j.Reason, j.Missing = o.Verdict, o.Reason, 0
}

// Name returns metric and reading.
func (j *Joint) Name() string {
	if j.Reading == "" {
		return j.Metric
	}
	return j.Metric + ", " + j.Reading
}

// Words returns the verdict with its p-value, such as "shifted by +22 %, p ≤ .005".
func (j *Joint) Words() string {
	out := string(j.Verdict)
	if !j.Ran() {
		return out + ": " + j.Reason
	}
	if j.Verdict == Shifted && j.Shift != nil {
		out += " by " + percent(*j.Shift)
	}
	return out + ", " + j.Chance()
}

// Chance returns the p-value, such as "p = .02, .08 after Holm".
func (j *Joint) Chance() string {
	sign := "="
	if j.P*float64(j.Draws+1) < 1.5 {
		sign = "≤" // more draws might lower it
	}
	out := fmt.Sprintf("p %s %s", sign, probability(j.P))
	if j.Holm > j.P {
		out += fmt.Sprintf(", %s after Holm", probability(j.Holm))
	}
	return out
}

// percent formats a relative shift in two digits.
func percent(share float64) string {
	format := "%+.2g %%"
	if math.Abs(share) >= 0.1 {
		format = "%+.0f %%"
	}
	return strings.Replace(fmt.Sprintf(format, 100*share), "-", "−", 1)
}

// probability formats a p-value, rounded up to two digits.
func probability(p float64) string {
	step := math.Pow(10, float64(Exponent(p)-1))
	return strings.TrimPrefix(fmt.Sprintf("%.2g", math.Ceil(p/step-1e-9)*step), "0")
}

// Sentence returns the verdict with the signs and the number of draws; that of another reading than the
// headline is marked.
func (j *Joint) Sentence() string {
	out := fmt.Sprintf("%s: %s", j.Name(), j.Words())
	if !j.Headline {
		out = "not counted, " + out
	}
	if j.Draws > 0 {
		out += fmt.Sprintf(" (ours above the print in %d of %d, below in %d", j.Above, j.Values, j.Below)
		if j.Ran() {
			out += "; " + text.Count(j.Draws, "draw")
		}
		out += ")"
	}
	return out + "."
}

// Jointly returns the joint verdicts of which anything ran, in sentences.
func (e *Evaluation) Jointly() (out []string) {
	for _, j := range e.Joint {
		if j.Found() {
			out = append(out, "Jointly, "+j.Sentence())
		}
	}
	return out
}

// JointCounts counts the joint verdicts of headlines, such as "1 shifted, 2 consistent".
func JointCounts(evaluations ...*Evaluation) string {
	counts := map[JointVerdict]int{}
	for _, e := range evaluations {
		for _, j := range e.Joint {
			if j.Headline && j.Found() {
				counts[j.Verdict]++
			}
		}
	}
	var parts []string
	for _, v := range []JointVerdict{Shifted, Consistent, CannotTell} {
		if n := counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return strings.Join(parts, ", ")
}

// Holm adjusts the p-values of headlines for the number of tests of their paper (Holm 1979), of all
// that were made: the i-th smallest of m is multiplied by m − i + 1.
func Holm(evaluations ...*Evaluation) {
	byPaper := map[string][]*Joint{}
	for _, e := range evaluations {
		for _, j := range e.Joint {
			if j.Headline && j.Ran() {
				byPaper[e.Paper] = append(byPaper[e.Paper], j)
			}
		}
	}
	for _, tests := range byPaper {
		slices.SortStableFunc(tests, func(a, b *Joint) int { return cmp.Compare(a.P, b.P) })
		largest := 0.0
		for i, j := range tests {
			largest = max(largest, min(1, j.P*float64(len(tests)-i)))
			j.decide(largest)
		}
	}
}

package runs

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"privkern/runner/claims/judge"
	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/show/summary"
	"privkern/runner/show/tables"
)

// seriesDigest identifies the series of a record; NaN equals NaN.
func seriesDigest(r *record.Record) (string, error) {
	if len(r.Series) == 0 {
		return "", nil
	}
	raw, err := json.Marshal(r.Series)
	sum := sha256.Sum256(raw)
	return string(sum[:]), err
}

// pairedMetrics returns the differences of the metrics that both trials of a pair have, in the order of the experiment.
func pairedMetrics(e *experiment.Experiment, both []*loaded, pairs []pair) []Paired {
	names := map[string]bool{}
	for _, p := range pairs {
		for name := range both[0].records[p.keys[0]].Metrics {
			names[name] = true
		}
	}
	out := []Paired{}
	for _, m := range e.Metrics {
		for _, name := range sorted(names) {
			if !m.Covers(name) {
				continue
			}
			delete(names, name)
			if p, ok := pairedMetric(both, pairs, name); ok {
				p.Timing = m.Timing
				out = append(out, p)
			}
		}
	}
	test(out)
	return out
}

// differences returns those of a metric by seed, and its values in each run.
func differences(both []*loaded, pairs []pair, metric string) (bySeed map[int64][]float64, of [2]map[int64][]float64) {
	bySeed, of = map[int64][]float64{}, [2]map[int64][]float64{{}, {}}
	for _, p := range pairs {
		a, okA := both[0].records[p.keys[0]].Metrics[metric]
		b, okB := both[1].records[p.keys[1]].Metrics[metric]
		if okA && okB {
			bySeed[p.seed] = append(bySeed[p.seed], b-a)
			of[0][p.seed], of[1][p.seed] = append(of[0][p.seed], a), append(of[1][p.seed], b)
		}
	}
	return bySeed, of
}

// seedMeans are the means of each seed's differences, in the order of the seeds.
func seedMeans(bySeed map[int64][]float64) []float64 {
	var seeds []int64
	for seed := range bySeed {
		seeds = append(seeds, seed)
	}
	slices.Sort(seeds)
	var out []float64
	for _, seed := range seeds {
		out = append(out, stat.Mean(bySeed[seed], nil))
	}
	return out
}

// pairedMetric returns the difference of one metric, untested; ok is false where no pair has it.
func pairedMetric(both []*loaded, pairs []pair, metric string) (p Paired, ok bool) {
	bySeed, runs := differences(both, pairs, metric)
	if len(bySeed) == 0 {
		return p, false
	}
	means := seedMeans(bySeed)
	p = Paired{Metric: metric, Seeds: len(means), Mean: stat.Mean(means, nil), bySeed: means}
	for i := range runs {
		p.Means[i] = stat.Mean(seedMeans(runs[i]), nil)
	}
	for _, of := range bySeed {
		p.Pairs += len(of)
	}
	if len(means) > 1 {
		se := stat.StdErr(stat.StdDev(means, nil), float64(len(means)))
		p.StandardError = &se
	}
	return p, true
}

// test fills in the p-values of the metrics with two seeds or more, apart from times. A difference that is the same for
// each seed, to rounding, is not tested: its spread, of which the test has nothing but the few seeds, is unknown.
func test(all []Paired) {
	var tested []int
	var p []float64
	for i := range all {
		if all[i].Timing || all[i].Seeds < 2 || all[i].constant() {
			continue
		}
		tested = append(tested, i)
		p = append(p, pairedT(all[i].bySeed))
	}
	for k, adjusted := range holm(p) {
		all[tested[k]].P = &adjusted
	}
}

// constant reports whether the difference is the same for each seed, to rounding, and not zero.
func (p Paired) constant() bool {
	size := max(math.Abs(p.Means[0]), math.Abs(p.Means[1]))
	return p.Mean != 0 && *p.StandardError <= judge.RoundingShare*size
}

// pairedT returns the two-sided p-value of Student's t-test that differences, two or more, have the mean 0, which those
// have that are all zero.
func pairedT(differences []float64) float64 {
	n := float64(len(differences))
	mean, variance := stat.MeanVariance(differences, nil)
	if variance == 0 {
		return 1
	}
	t := mean / math.Sqrt(variance/n)
	return 2 * distuv.StudentsT{Sigma: 1, Nu: n - 1}.CDF(-math.Abs(t))
}

// holm returns p-values adjusted for their number by Holm's procedure.
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out, most := make([]float64, len(p)), 0.0
	for rank, i := range order {
		most = max(most, min(1, float64(len(p)-rank)*p[i]))
		out[i] = most
	}
	return out
}

// grid lays the metrics of a difference out.
func grid(x *ExperimentDifference) *tables.Grid {
	g := &tables.Grid{Columns: []tables.Column{{Title: "metric", Label: true}, {Title: "A", Right: true},
		{Title: "B", Right: true}, {Title: "B - A", Right: true}, {Title: "pairs", Right: true},
		{Title: "seeds", Right: true}, {Title: "p", Right: true}}}
	for _, m := range x.Metrics {
		p := "-"
		if m.P != nil {
			p = probability(*m.P)
		}
		difference := summary.SeedMean{Mean: m.Mean, StandardError: m.StandardError}
		var fields []tables.Field
		for _, s := range []string{m.Metric, number(m.Means[0]), number(m.Means[1]), difference.String(),
			strconv.Itoa(m.Pairs), strconv.Itoa(m.Seeds), p} {
			fields = append(fields, tables.Field{Text: s})
		}
		g.Lines = append(g.Lines, tables.Line{Fields: fields})
	}
	return g
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// probability writes a p-value with two digits, and the smallest as a bound.
func probability(p float64) string {
	if p < 1e-4 {
		return "< 0.0001"
	}
	return fmt.Sprintf("%.2g", p)
}

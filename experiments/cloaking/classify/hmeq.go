package classify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset/readers"
	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

const dataHMEQ = "hmeq"

// hmeqCounts are the counts of delinquent credit lines, 0 to 14, that defaults
// are predicted at (Fig. 3).
const hmeqCounts = 15

// hmeqQuantiles are those of the predictions over draws that are reported.
var hmeqQuantiles = []struct {
	name string
	p    float64
}{{"q05", 0.05}, {"q25", 0.25}, {"q50", 0.5}, {"q75", 0.75}, {"q95", 0.95}}

// HMEQ is the probability of default by the number of delinquent credit lines, Fig. 3.
var HMEQ = experiment.Of(experiment.Declaration[*hmeqSettings, hmeqMetrics]{
	Name:     "cloaking/hmeq",
	Version:  4,
	Summary:  "probability that a loan defaults by the number of delinquent credit lines",
	Source:   "Smith, Álvarez and Lawrence 2019, Section 5.4, Fig. 3",
	Datasets: func(*hmeqSettings) []string { return []string{dataHMEQ} },
	Check:    func(s *hmeqSettings) error { return checkClassifier(&s.ClassifierSettings, s.Method, s.Rows) },
	Run:      runHMEQ,
})

func runHMEQ(ctx context.Context, t *experiment.Trial, s *hmeqSettings) (*experiment.Outcome[hmeqMetrics], error) {
	all, err := readers.LoadHMEQ(t.Dataset(dataHMEQ))
	if err != nil {
		return nil, err
	}
	sample, err := drawLoans(all, s.Rows, t.Stream("loans"))
	if err != nil {
		return nil, err
	}
	c, err := newClassifier(t, &s.ClassifierSettings, s.Method)
	if err != nil {
		return nil, err
	}
	test := mat.NewDense(hmeqCounts, 1, nil)
	for k := range hmeqCounts {
		test.Set(k, 0, float64(k))
	}
	public, err := c.prepare(ctx, sample.delinquent, test, "")
	if err != nil {
		return nil, err
	}
	defer public.cov.model.Close()
	fit, err := c.fit(ctx, public, sample.labels, "")
	if err != nil {
		return nil, err
	}
	counts, probabilities := mat.Col(nil, 0, test), fit.probabilities(s.Probability)
	out := &experiment.Outcome[hmeqMetrics]{
		Metrics: hmeqMetrics{
			Default: c.defaultMetrics(probabilities), DroppedRows: float64(sample.dropped),
			Defaults: float64(sample.defaults), fitMetrics: c.fitMetrics(fit),
		},
		Series: map[string]experiment.Series{
			"probability": drawSeries(counts, probabilities), "latent": drawSeries(counts, fit.mean),
		},
		Privacy:  c.loanPrivacy(),
		Warnings: append(c.warnings(fit), sample.notes(len(all.Bad))...),
	}
	if c.publishes() {
		return out, nil
	}
	out.Series["loans"] = sample.frequencies()
	if c.scale == 0 {
		return out, nil
	}
	// The centre of the draws, as the figure shows it.
	quiet := c.withoutNoise()
	clean, err := quiet.fit(ctx, public, sample.labels, "")
	if err != nil {
		return nil, err
	}
	out.Warnings = append(out.Warnings, quiet.warnings()...)
	out.Series["without_noise"] = experiment.Series{
		"x": counts, "probability": mat.Col(nil, 0, clean.probabilities(s.Probability)),
		"latent": mat.Col(nil, 0, clean.mean),
	}
	return out, nil
}

// loanPrivacy refutes the guarantee of the noise; nil without noise.
func (c *classifier) loanPrivacy() *experiment.Privacy {
	out := c.privacy("whether a loan defaulted", nil)
	if out != nil {
		out.Refute("which loans are trained on is drawn with weights that follow from the private outcomes")
	}
	return out
}

// defaultMetrics are the mean and the quantiles over draws at every count, of the
// probabilities of default (P×D).
func (c *classifier) defaultMetrics(probabilities *mat.Dense) map[string]float64 {
	out := map[string]float64{}
	for k := range hmeqCounts {
		name := strconv.Itoa(k)
		row := slices.Clone(probabilities.RawRowView(k))
		out[name] = cloak.Mean(row)
		if c.scale == 0 {
			continue
		}
		slices.Sort(row)
		for _, q := range hmeqQuantiles {
			out[name+"_"+q.name] = stat.Quantile(q.p, stat.LinInterp, row, nil)
		}
	}
	return out
}

// drawSeries is a series with one column for each draw (P×D).
func drawSeries(x []float64, draws *mat.Dense) experiment.Series {
	s := experiment.Series{"x": x}
	for j, v := range columns(draws) {
		s[drawColumn(j)] = v
	}
	return s
}

// loanSample is the training set of the classifier.
type loanSample struct {
	delinquent *mat.Dense // number of delinquent credit lines, n×1
	labels     []float64  // +1: defaulted
	defaults   int
	dropped    int // loans of the whole file without that number
}

// drawLoans draws n different loans, each with probability proportional to 1/(n_d n_b): n_d loans
// have its number of delinquent credit lines, n_b its outcome. The paper "bias samples" two hundred
// "to approximately balance both", and gives no weights.
func drawLoans(all *readers.HMEQ, n int, rng *rand.Rand) (*loanSample, error) {
	delinquent := all.Columns["DELINQ"]
	byCount, byOutcome := map[float64]int{}, map[float64]int{}
	var rows []int
	for i, d := range delinquent {
		if !math.IsNaN(d) {
			rows = append(rows, i)
			byCount[d]++
			byOutcome[all.Bad[i]]++
		}
	}
	if n > len(rows) {
		return nil, fmt.Errorf("rows = %d: only %d loans have a number of delinquent credit lines", n, len(rows))
	}
	weights := make([]float64, len(rows))
	for i, row := range rows {
		weights[i] = 1 / float64(byCount[delinquent[row]]*byOutcome[all.Bad[row]])
	}
	out := &loanSample{
		delinquent: mat.NewDense(n, 1, nil), labels: make([]float64, n), dropped: len(delinquent) - len(rows),
	}
	for i, j := range learn.WeightedSample(weights, n, rng) {
		row := rows[j]
		out.delinquent.Set(i, 0, delinquent[row])
		out.labels[i] = -1
		if all.Bad[row] == 1 {
			out.labels[i] = 1
			out.defaults++
		}
	}
	if out.defaults == 0 || out.defaults == n {
		return nil, fmt.Errorf("all %d loans drawn have one outcome: use more rows", n)
	}
	return out, nil
}

// notes returns a note on the number of loans that were left out.
func (l *loanSample) notes(of int) []string {
	if l.dropped == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d loans have no number of delinquent credit lines (DELINQ) and were left out",
		l.dropped, of)}
}

// frequencies lists how many loans of the sample defaulted and did not, by
// count.
func (l *loanSample) frequencies() experiment.Series {
	largest := int(mat.Max(l.delinquent))
	x, defaulted, repaid := make([]float64, largest+1), make([]float64, largest+1), make([]float64, largest+1)
	for k := range x {
		x[k] = float64(k)
	}
	for i, y := range l.labels {
		k := int(l.delinquent.At(i, 0))
		if y > 0 {
			defaulted[k]++
		} else {
			repaid[k]++
		}
	}
	return experiment.Series{"x": x, "defaulted": defaulted, "repaid": repaid}
}

package cloaking

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset"
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

func hmeq() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "cloaking/hmeq",
		Version: 2,
		Summary: "probability that a loan defaults by the number of delinquent credit lines",
		Source:  "Smith, Álvarez and Lawrence 2019, Section 5.4, Fig. 3",
		Params: classificationParams(3, "credit lines", 100,
			count("rows", 200, 2, maxPoints, "loans, drawn with weights that balance the numbers of credit lines and, less so, the outcomes: about four of five have defaulted"),
		),
		Metrics: []experiment.Metric{
			{Name: "p_default_*", Doc: "p_default_K: predicted probability of default at K delinquent credit lines, K = 0 to 14, averaged over draws; p_default_K_q05, _q25, _q50, _q75 and _q95: its quantiles over draws (with noise only)"},
			{Name: "dropped_rows", Doc: "loans without a number of delinquent credit lines, which are left out"},
			{Name: "defaults", Doc: "loans of the drawn ones that defaulted"},
			stepsMetric, fitRankMetric, fitGapMetric,
		},
		Datasets: func(experiment.Params) []string { return []string{dataHMEQ} },
		Check:    func(p experiment.Params) error { return checkClassification(p, p.Int("rows")) },
		Run:      runHMEQ,
	}
}

func runHMEQ(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	all, err := dataset.LoadHMEQ(t.Dataset(dataHMEQ))
	if err != nil {
		return nil, err
	}
	loans, err := drawLoans(all, t.Params.Int("rows"), t.Stream("loans"))
	if err != nil {
		return nil, err
	}
	c, err := newClassifier(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.e.Close()) }()
	test := mat.NewDense(hmeqCounts, 1, nil)
	for k := range hmeqCounts {
		test.Set(k, 0, float64(k))
	}
	fit, err := c.predict(ctx, loans.delinquent, loans.labels, test, "")
	if err != nil {
		return nil, err
	}
	counts := mat.Col(nil, 0, test)
	privacy := c.privacy("whether a loan defaulted")
	if privacy != nil {
		privacy.Refute("which loans are trained on is drawn with weights that follow from the private outcomes")
	}
	result = &experiment.Result{
		Metrics: c.defaultMetrics(fit),
		Series: map[string]experiment.Series{
			"probability": drawSeries(counts, fit.probabilities(t.Params)),
			"latent":      drawSeries(counts, fit.mean),
		},
		Privacy:  privacy,
		Warnings: c.warnings(fit),
	}
	result.Metrics["dropped_rows"] = float64(loans.dropped)
	if loans.dropped > 0 {
		result.Warnings = append(result.Warnings, fmt.Sprintf("%d of %d loans have no number of delinquent credit lines (DELINQ) and were left out", loans.dropped, len(all.Bad)))
	}
	result.Metrics["defaults"] = float64(loans.defaults)
	if c.publishes() {
		return result, nil
	}
	result.Series["loans"] = loans.frequencies()
	if c.scale == 0 {
		return result, nil
	}
	// What the draws scatter around, as the figure shows it.
	quiet := *c
	quiet.scale, quiet.draws, quiet.steps, quiet.converge = 0, 1, convergedSteps, true
	clean, err := quiet.predict(ctx, loans.delinquent, loans.labels, test, "")
	if err != nil {
		return nil, err
	}
	result.Warnings = append(result.Warnings, quiet.warnings()...)
	result.Series["without_noise"] = experiment.Series{"x": counts, "probability": mat.Col(nil, 0, clean.probabilities(t.Params)), "latent": mat.Col(nil, 0, clean.mean)}
	return result, nil
}

// defaultMetrics are the mean and the quantiles over draws at every count.
func (c *classifier) defaultMetrics(fit *latent) map[string]float64 {
	metrics := map[string]float64{stepsMetric.Name: float64(fit.steps)}
	if c.scale > 0 {
		rank, gap := fit.rank()
		metrics[fitRankMetric.Name], metrics[fitGapMetric.Name] = float64(rank), gap
	}
	probabilities := fit.probabilities(c.t.Params)
	for k := range hmeqCounts {
		name := fmt.Sprintf("p_default_%d", k)
		row := slices.Clone(probabilities.RawRowView(k))
		metrics[name] = mean(row)
		if c.scale == 0 {
			continue
		}
		slices.Sort(row)
		for _, q := range hmeqQuantiles {
			metrics[name+"_"+q.name] = stat.Quantile(q.p, stat.LinInterp, row, nil)
		}
	}
	return metrics
}

// drawSeries is a series with one column for each draw (P×D).
func drawSeries(x []float64, draws *mat.Dense) experiment.Series {
	s := experiment.Series{"x": x}
	for j, v := range columns(draws) {
		s[drawColumn(j)] = v
	}
	return s
}

// loans is the sample that the classifier is trained on.
type loans struct {
	delinquent *mat.Dense // number of delinquent credit lines, n×1
	labels     []float64  // +1: defaulted
	defaults   int
	dropped    int // loans of the whole file without that number
}

// drawLoans draws n different loans, each with probability proportional to
// 1/(n_d n_b): n_d loans have its number of delinquent credit lines, n_b its
// outcome. The paper says that it "bias samples" two hundred "to approximately
// balance both" and not how.
func drawLoans(all *dataset.HMEQ, n int, rng *rand.Rand) (*loans, error) {
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
	out := &loans{delinquent: mat.NewDense(n, 1, nil), labels: make([]float64, n), dropped: len(delinquent) - len(rows)}
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

// frequencies lists how many loans of the sample defaulted and did not, by
// count.
func (l *loans) frequencies() experiment.Series {
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

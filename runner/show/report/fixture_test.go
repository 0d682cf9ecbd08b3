package report_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/show/plot"
	"privkern/runner/show/report"
	"privkern/runner/show/summary"
)

// demoLedger is that of the demonstration report: a table with two variants and one of
// statements.
const demoLedger = `
paper: cloaking
title: "Differentially private regression and classification with sparse Gaussian processes"
citation: "M. T. Smith, M. A. Álvarez, N. D. Lawrence (2021)"
errata:
  - {where: "Eq. (2)", text: "is the gradient of Σλ − log|M|, 1 − c_jᵀM⁻¹c_j; the norm before it should be squared."}
  - {where: "Eq. (9)", text: "is no valid bound: the cross term 2d·eᵀc is left out."}
tables:
  - name: cloaking/table1
    title: "Table 1: RMSE of height given age (1d) and age and weight (2d)"
    kind: table
    figure: cloaking/figure1
    experiment: cloaking/regression
    params: {delta: 0.01}
    seeds: 0..2
    metric: rmse_cm
    unit: cm
    settings: {assumed: [{source: ours, text: "kernel, lengthscale and noise; ours are the two variants"}]}
    uncertainty_of: "14 folds"
    draws: 0.05
    headline: "set A"
    pools: [{name: error}]
    pool: error
    variants:
      - {name: "set A", note: "best scan on the no-DP cells", params: {lengthscale: 15}}
      - {name: "set B", note: "the authors' own cross-validation code", params: {lengthscale: 25}}
    cells:
      - {row: "standard, ε = 1", column: 1d, published: "13.3 ± 3.2", params: {method: standard, epsilon: 1},
         reference: [{value: 13.5, tolerance: 0.9}]}
      - {row: "standard, ε = 1", column: 2d, published: "17.2 ± 3.1",
         params: {method: standard, epsilon: 1, inputs: age+weight}, reference: [{value: 17.0, tolerance: 0.2}]}
      - {row: "sparse, ε = 1", column: 1d, published: "9.9 ± 1.7", params: {method: sparse, epsilon: 1}}
      - {row: "sparse, ε = 1", column: 2d, published: "10.2 ± 1.6",
         params: {method: sparse, epsilon: 1, inputs: age+weight}}
      - {row: "no DP", column: 1d, published: "7.1 ± 1.8", params: {method: standard, epsilon: inf}, seeds: 0}
      - {row: "no DP", column: 2d, published: "5.2 ± 1.5",
         params: {method: standard, epsilon: inf, inputs: age+weight}, seeds: 0}
  - name: cloaking/claims
    title: "What the paper says in words"
    kind: claims
    experiment: cloaking/regression
    metric: rmse_cm
    params: {delta: 0.01, lengthscale: 15}
    cells:
      - {row: "§4", statement: "the sparse method needs less noise than the standard one",
         params: {method: sparse, epsilon: 1}, holds: {op: "<", params: {method: standard}}}
      - {row: "§4", column: "in two dimensions", statement: "adding weight to age improves the private prediction",
         params: {method: standard, epsilon: 1, inputs: age+weight}, holds: {op: "<", params: {inputs: age}}}
      - {row: "Table 2", column: "expected RMSE", published: "19.02",
         params: {method: sparse, epsilon: 1}, deterministic: true}
`

var regression = experiment.Of(experiment.Declaration[*regressionSettings, regressionMetrics]{
	Name: "cloaking/regression", Version: 1,
	Run: func(context.Context, *experiment.Trial, *regressionSettings) (*experiment.Outcome[regressionMetrics], error) {
		return nil, errors.New("not run here")
	},
})()

type regressionSettings struct {
	Inputs      inputs  `name:"inputs" default:"age" doc:"what the height is predicted from"`
	Method      method  `name:"method" default:"standard" doc:"standard, sparse (inducing inputs) or nonstationary"`
	Epsilon     float64 `name:"epsilon" default:"1" infinite:"yes" doc:"privacy loss; inf for no privacy noise"`
	Delta       float64 `name:"delta" default:"0.01" doc:"of (ε, δ)-differential privacy"`
	Lengthscale float64 `name:"lengthscale" default:"15" unit:"years" doc:"of the EQ kernel"`
}

type regressionMetrics struct {
	RMSE    float64 `name:"rmse_cm" doc:"error of the prediction"`
	NoiseSD float64 `name:"noise_sd_cm" doc:"standard deviation of the noise"`
}

type inputs int

const (
	age inputs = iota
	ageAndWeight
)

func (inputs) Choices() []string { return []string{"age", "age+weight"} }

type method int

const (
	standard method = iota
	sparse
)

func (method) Choices() []string { return []string{"standard", "sparse", "nonstationary"} }

func registry() *experiment.Registry { return experiment.NewRegistry(regression.Experiment) }

// stated returns the statement of an experiment.
func stated() *experiment.Privacy {
	return (&experiment.Privacy{Unit: "one training output changed by at most 100 cm",
		Mechanism: "cloaking (Hall et al. 2013)",
		Notes:     []string{"hyperparameters are taken as public", "inputs are not protected"}}).State(1, 0.01)
}

var privacy = *stated().Judged(false)

// unprotected is the block of trials whose mechanism protects nothing.
var unprotected = func() experiment.Privacy {
	p := stated()
	p.Withdraw("the clipping interval and the prior mean are computed from the private heights without noise")
	return *p.Judged(false)
}()

// demo is a report of the shape that a real sweep gives, with failures.
func demo(t *testing.T) report.Content {
	t.Helper()
	reg := registry()
	l, err := ledger.Read("cloaking/ledger.yaml", []byte(demoLedger))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Validate(reg); err != nil {
		t.Fatal(err)
	}
	trials := report.NewTrialTally(reg)
	var records []*record.Record
	seen := map[string]bool{}
	for _, tb := range l.Tables {
		wanted, err := tb.Trials(reg)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range wanted {
			if id := fmt.Sprint(w); !seen[id] {
				seen[id] = true
				r := fakeRecord(t, w, len(records))
				trials.Add(w.Experiment, w.Params, w.Seed, r)
				if r != nil {
					records = append(records, r)
				}
			}
		}
	}
	index, err := judge.Index(slices.Values(records))
	if err != nil {
		t.Fatal(err)
	}
	d := report.Content{Title: "Cloaking, Table 1", Generated: time.Date(2025, 3, 1, 14, 5, 0, 0, time.UTC),
		Version: "0.1.0",
		Plan: report.PlanSummary{BLASClass: "openblas-0.3.21-skylakex", Sources: []string{"configs/cloaking-table1.yaml"},
			Overrides: []string{"folds=14"}, Backend: "cpu", DType: "float64",
			Digest: "4f3c9a1d77b0", Trials: trials.Total()},
		Trials: trials, Papers: []*ledger.Ledger{l}}
	for _, tb := range l.Tables {
		e, err := judge.Evaluate(tb, reg, index)
		if err != nil {
			t.Fatal(err)
		}
		d.Tables = append(d.Tables, e)
	}
	d.Figures = []report.Plot{
		{Name: "cloaking/figure1", Title: "Cloaking noise over age",
			Caption: "Prediction with its noise (±2σ), 287 women of the !Kung census, ε = 1.", SVG: drawing(t)},
		{Name: "cloaking/figure2", Title: "Surface over age and weight",
			Error: "the finished trials do not suffice (0 belong to it): no data to draw"},
	}
	d.Metrics = []*summary.MetricTable{metricsOf(records)}
	return d
}

func fakeRecord(t *testing.T, w experiment.Identity, i int) *record.Record {
	t.Helper()
	plain, err := record.PlainParams(w.Params)
	if err != nil {
		t.Fatal(err)
	}
	r := &record.Record{Key: fmt.Sprintf("key%02d", i), Experiment: w.Experiment, Params: plain, Seed: w.Seed,
		Backend: "cpu", DType: "float64", Status: record.OK, Privacy: experiment.Unprotected(false),
		Timing: record.Timing{WallS: 1.5, CPUS: 2.25, PeakRSSBytes: 180 << 20},
		Provenance: record.Provenance{Version: "0.1.0", Revision: "502c053", Go: "go1.26.8 linux/amd64",
			CPU:      "a processor with 2 cores",
			BLAS:     "OpenBLAS 0.3.21 (SKYLAKEX, libopenblas.so.0)",
			Datasets: map[string]string{"kung": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}}}
	s := regression.Settings(w.Params)
	base := map[method]float64{standard: 13.5, sparse: 10}[s.Method]
	if s.Inputs == ageAndWeight {
		base *= 1.25
	}
	if math.IsInf(s.Epsilon, 1) {
		base = 7.1
		if s.Inputs == ageAndWeight {
			if s.Lengthscale == 25 {
				return nil
			}
			reason := `data set "kung" is not there; run: run data fetch kung`
			r.Status, r.Error = record.Skipped, &reason
		}
	} else {
		p := privacy
		if s.Method == sparse {
			p = unprotected
		}
		r.Privacy = &p
	}
	base += 0.2*float64(w.Seed) + 0.01*s.Lengthscale
	if s.Method == sparse && w.Seed == 2 && s.Lengthscale == 25 {
		reason := "the kernel matrix is not positive definite (condition 3.1e18); give a larger noise_variance"
		r.Status, r.Error = record.Failed, &reason
	}
	if w.Seed == 1 {
		r.Provenance.BLAS = "gonum (pure Go)"
	}
	if r.Status == record.OK {
		r.Metrics = experiment.MetricValues(regressionMetrics{RMSE: base, NoiseSD: base / 3})
		if w.Seed == 1 {
			r.Warnings = []string{"computed but suspect: jitter of 1e-10 was needed"}
		}
	}
	return r
}

func metricsOf(records []*record.Record) *summary.MetricTable {
	out := &summary.MetricTable{Experiment: "cloaking/regression", Varying: []string{"inputs", "method", "epsilon"},
		Metrics: []string{"rmse_cm", "noise_sd_cm"}}
	for _, r := range records[:6] {
		row := &summary.Row{Params: experiment.Params(r.Params), Trials: 1}
		for name, v := range r.Metrics {
			row.Metrics.Add(name, summary.SeedMean{Mean: v})
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func drawing(t *testing.T) []byte {
	t.Helper()
	mean, data := experiment.Line{Name: "prediction ± 2σ"}, experiment.Line{Name: "training data", Color: 2}
	band := experiment.Band{Name: mean.Name}
	for age := 0.0; age <= 84; age += 2 {
		h := 155 - 95*math.Exp(-age/9)
		mean.X, mean.Y = append(mean.X, age), append(mean.Y, h)
		band.X, band.Low, band.High = append(band.X, age), append(band.Low, h-14-age/10), append(band.High, h+14+age/10)
		data.X, data.Y = append(data.X, age), append(data.Y, h+8*math.Sin(age*1.7))
	}
	panel := func(title string) experiment.Panel {
		return experiment.Panel{Title: title, XLabel: "age (years)", YLabel: "height (cm)", Lines: []experiment.Line{mean},
			Bands: []experiment.Band{band}, Points: []experiment.Line{data}}
	}
	var b bytes.Buffer
	if err := plot.SVG(&b, []experiment.Panel{panel("standard cloaking"), panel("sparse cloaking")},
		plot.Options{ID: "figure1", Title: "Cloaking noise over age", Description: "Two panels"}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

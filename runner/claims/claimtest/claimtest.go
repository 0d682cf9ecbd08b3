// Package claimtest has a ledger of a demonstration paper, and records of its trials,
// for the tests of packages that read and show them.
package claimtest

import (
	"context"
	_ "embed" // the ledger
	"errors"
	"fmt"
	"testing"

	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Registry returns the registry of the two experiments.
func Registry() *experiment.Registry { return experiment.NewRegistry(Experiments()...) }

// Experiments returns two experiments of the shape that papers have.
func Experiments() []*experiment.Experiment {
	run := func(context.Context, *experiment.Trial, experiment.Params) (*experiment.Result, error) {
		return nil, errors.New("the tests of this package run no trial")
	}
	return []*experiment.Experiment{
		{
			Untyped: experiment.Untyped{Name: "demo/regression", Version: 1, Run: run},
			Params: []experiment.Param{
				{Name: "method", Kind: experiment.Text, Default: "standard", Values: []string{"standard", "sparse"}},
				{Name: "epsilon", Kind: experiment.Number, Default: 1.0, Min: experiment.Bound(0), OpenMin: true, Infinite: true},
				{Name: "delta", Kind: experiment.Number, Default: 0.01},
				{Name: "lengthscale", Kind: experiment.Number, Default: 15.0},
			},
			Metrics: []experiment.Metric{{Name: "rmse_cm", Unit: "cm"}, {Name: "accuracy"},
				{Name: "utility_percent", Unit: "%"}},
		},
		{
			Untyped: experiment.Untyped{Name: "demo/traces", Version: 1, Run: run},
			Params:  []experiment.Param{{Name: "points", Kind: experiment.Integer, Default: 9}},
			Metrics: []experiment.Metric{{Name: "trace_weak"}, {Name: "trace_strong"}, {Name: "gap"}, {Name: "variance_at_*"},
				{Name: "time_s", Timing: true}},
		},
	}
}

// Text is the ledger as a paper's package embeds it.
//
//go:embed demo.yaml
var Text []byte

// Ledger returns the ledger, validated.
func Ledger(t testing.TB) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Read("demo/ledger.yaml", Text)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Validate(Registry()); err != nil {
		t.Fatal(err)
	}
	return l
}

// Table returns a table of the ledger.
func Table(t testing.TB, name string) *ledger.Table {
	t.Helper()
	table, err := Ledger(t).Table(name)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Record returns a record as it comes out of the store: parameters as JSON holds them.
func Record(t testing.TB, key, name string, given map[string]any, seed int64,
	metrics map[string]float64) *record.Record {
	t.Helper()
	e, err := Registry().Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	params, err := e.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := record.PlainParams(params)
	if err != nil {
		t.Fatal(err)
	}
	return &record.Record{Schema: record.Schema, Key: key, Experiment: name, Params: plain, Seed: seed,
		Backend: "cpu", DType: "float64", Status: record.OK, Metrics: metrics,
		Privacy: experiment.Unprotected(false), Provenance: kernels(key)}
}

// kernels returns the provenance of the machine that computed the record. The trials of
// one variant of the cells with sparse cloaking have another machine.
func kernels(key string) record.Provenance {
	blas := "OpenBLAS 0.3.21 (SKYLAKEX, libopenblas.so.0)"
	if key[0] == 'd' {
		blas = "gonum (pure Go)"
	}
	return record.Provenance{Go: "go1.26.8 linux/amd64", BLAS: blas}
}

// Fail makes a record one of a trial that failed or was skipped.
func Fail(r *record.Record, status record.Status, reason string) *record.Record {
	r.Status, r.Error, r.Metrics = status, &reason, nil
	return r
}

// Records returns the records of a partly finished sweep over the demonstration ledger.
func Records(t testing.TB) []*record.Record {
	t.Helper()
	stated := (&experiment.Privacy{Unit: "one training output changed by at most 100 cm",
		Mechanism: "cloaking (Hall et al. 2013)", Notes: []string{"inputs are taken as public"}}).State(1, 0.01)
	privacy := stated.Judged(false)
	stated.Withdraw("the interval is computed from the private heights")
	withdrawn := stated.Judged(false)
	var out []*record.Record
	add := func(key, method string, epsilon any, lengthscale float64, values ...float64) {
		for seed, v := range values {
			r := Record(t, key+string(rune('0'+seed)), "demo/regression",
				map[string]any{"method": method, "epsilon": epsilon, "lengthscale": lengthscale}, int64(seed),
				map[string]float64{"rmse_cm": v})
			if epsilon != "inf" {
				r.Privacy = privacy
			}
			if method == "sparse" && lengthscale == 25 {
				r.Privacy = withdrawn
			}
			out = append(out, r)
		}
	}
	add("a", "standard", 1, 15, 13.7, 13.9, 13.8)
	add("b", "standard", 1, 25, 13.1, 13.3, 13.2)
	add("c", "sparse", 1, 15, 12.0, 12.2)
	add("d", "sparse", 1, 25, 10.1, 10.3, 10.2)
	add("e", "standard", "inf", 15, 7.12)
	out = append(out,
		Fail(Record(t, "c2", "demo/regression", map[string]any{"method": "sparse", "epsilon": 1, "lengthscale": 15}, 2, nil),
			record.Failed, "the matrix is not positive definite (condition 3e18)"),
		Fail(Record(t, "f0", "demo/regression", map[string]any{"epsilon": "inf", "lengthscale": 25}, 0, nil),
			record.Skipped, `data set "kung" is not there; run: run data fetch kung`),
		Record(t, "t9", "demo/traces", map[string]any{"points": 9}, 0,
			map[string]float64{"trace_weak": 5.32992, "trace_strong": 5.5883, "gap": 4e-7}),
		Record(t, "t5", "demo/traces", map[string]any{"points": 5}, 0,
			map[string]float64{"trace_weak": 3.1, "trace_strong": 0.125, "gap": 4e-7, "variance_at_s1": 0.5 + 1e-8}),
	)
	out[len(out)-1].Warnings = []string{"computed but suspect: condition 2e14"}
	for seed, v := range []float64{4.1, 4.3} {
		out = append(out, Record(t, fmt.Sprintf("t7%d", seed), "demo/traces", map[string]any{"points": 7}, int64(seed),
			map[string]float64{"trace_weak": v}))
	}
	out = append(out, Record(t, "t91", "demo/traces", map[string]any{"points": 9}, 1,
		map[string]float64{"trace_weak": 5.34008}))
	return out
}

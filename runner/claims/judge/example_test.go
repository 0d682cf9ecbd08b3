package judge_test

import (
	"context"
	_ "embed" // for the comments of settings and metrics
	"fmt"
	"log"
	"slices"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

//go:embed example_test.go
var exampleSource string

func init() { experiment.Document[throwSettings](exampleSource) }

// throwSettings are the settings of the example.
type throwSettings struct {
	// at which the stone is thrown, in m/s
	Speed float64 `name:"speed" default:"10" above:"0"`
}

// throwMetrics are its metrics.
type throwMetrics struct {
	// distance at which it lands
	Range float64 `name:"range_m" unit:"m"`
}

// A table sets records of trials next to the values that a paper prints, which a ledger holds.
func ExampleEvaluate() {
	throw := experiment.Of(experiment.Declaration[*throwSettings, throwMetrics]{
		Name: "physics/throw", Version: 1, Summary: "how far a stone flies",
		Seedless: func(*throwSettings) bool { return true },
		Run: func(context.Context, *experiment.Trial, *throwSettings) (*experiment.Outcome[throwMetrics], error) {
			return nil, nil
		},
	})
	experiments := experiment.NewRegistry(throw().Experiment)
	l, err := ledger.Read("physics", []byte(`
paper: physics
title: "Stones"
citation: "A. Author, 2026"
tables:
  - name: physics/table1
    title: "Table 1: how far stones fly"
    kind: table
    experiment: physics/throw
    seeds: 0
    metric: range_m
    unit: m
    tolerance: {absolute: 0.2, source: "distances were measured to 20 cm"}
    settings: {stated: true}
    cells:
      - {row: "10 m/s", column: "range", published: "10.2", params: {speed: 10}}
      - {row: "20 m/s", column: "range", published: "39.1", params: {speed: 20}}
`))
	if err != nil {
		log.Fatal(err)
	}
	table, err := l.Table("physics/table1")
	if err != nil {
		log.Fatal(err)
	}
	records, err := judge.Index(slices.Values([]*record.Record{
		{Key: "a", Experiment: "physics/throw", Params: experiment.Params{"speed": 10.0}, Status: record.OK,
			Metrics: map[string]float64{"range_m": 10.194}},
		{Key: "b", Experiment: "physics/throw", Params: experiment.Params{"speed": 20.0}, Status: record.OK,
			Metrics: map[string]float64{"range_m": 40.775}},
	}))
	if err != nil {
		log.Fatal(err)
	}
	e, err := judge.Evaluate(table, experiments, records)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range e.Cells {
		fmt.Printf("%s: published %s, ours %g, %v\n", c.Row, c.Published.Text, c.Ours.Mean, c.Verdict)
	}
	// Output:
	// 10 m/s: published 10.2, ours 10.194, match
	// 20 m/s: published 39.1, ours 40.775, differs
}

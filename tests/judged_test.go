package tests

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// unknownSpread begins the reason of a value that has too few trials to be judged.
const unknownSpread = "the spread of a trial is not known"

// unjudged are tables whose values stay without a verdict when all is run, and why.
var unjudged = map[string]string{
	"multikernel/table1": oneSplit,
	"multikernel/table2": oneSplit,
}

const oneSplit = "the paper's split is not stated; a single one says nothing of how values vary over splits"

// Once all trials of the ledgers have run, every printed value has a spread: its own, that of
// the cells that share its variance, or that of the cells that it is the mean of.
func TestEveryPrintedValueCanBeJudged(t *testing.T) {
	papers := experiments.Papers()
	registry := experiment.RegistryOf(papers)
	for _, paper := range papers {
		if paper.Ledger == nil { // experiments of no paper
			continue
		}
		l, err := ledger.Read(paper.Name, paper.Ledger)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Validate(registry); err != nil {
			t.Fatal(err)
		}
		for _, table := range l.Tables {
			t.Run(table.Name, func(t *testing.T) {
				index, err := judge.Index(slices.Values(madeUp(t, table, registry)))
				if err != nil {
					t.Fatal(err)
				}
				e, err := judge.Evaluate(table, registry, index)
				if err != nil {
					t.Fatal(err)
				}
				if reason, ok := unjudged[table.Name]; ok {
					t.Skip(reason)
				}
				for _, c := range e.Cells {
					if c.Published != nil && strings.Contains(c.Reason, unknownSpread) {
						t.Errorf("%s, %s, %s: %s", c.Row, c.Column, c.Variant, c.Reason)
					}
				}
			})
		}
	}
}

// madeUp are records of a table's trials with numbers near one for all metrics that it asks
// for.
func madeUp(t *testing.T, table *ledger.Table, registry *experiment.Registry) []*record.Record {
	t.Helper()
	claims, err := table.Claims(registry)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	records := map[string]*record.Record{}
	var out []*record.Record
	for _, cl := range claims {
		sides := slices.Concat(cl.Left, cl.Minus)
		if cl.Right != nil {
			sides = append(sides, cl.Right)
		}
		for _, s := range sides {
			for _, seed := range s.Seeds {
				key := fmt.Sprint(s.ID, seed)
				r := records[key]
				if r == nil {
					params, err := record.PlainParams(s.Params)
					if err != nil {
						t.Fatal(err)
					}
					r = &record.Record{Schema: record.Schema, Key: key, Experiment: s.Experiment.Name, Params: params,
						Seed: seed, Backend: "cpu", DType: "float64", Status: record.OK, Metrics: map[string]float64{}}
					records[key] = r
					out = append(out, r)
				}
				if _, known := r.Metrics[s.Metric]; !known {
					r.Metrics[s.Metric] = 1 + 0.01*rng.NormFloat64()
				}
			}
		}
	}
	return out
}

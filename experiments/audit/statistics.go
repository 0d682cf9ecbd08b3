package audit

import (
	"context"
	"math/rand/v2"
	"regexp"
	"slices"

	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/experiments/stats"
)

var statisticsSettings = map[string]any{
	"dataset": "csv:data.csv", "columns": "x", "epsilon": 1, "quantiles": "0.1,0.9",
}

// The statistics of a table, and those of a record: every number is noisy.
var (
	statisticsRows   = regexp.MustCompile(`(?m)^[-+0-9][-+0-9.,e]*,`)
	statisticsRecord = regexp.MustCompile(`"released":\s*\{[^}]*\}`)
)

// columnStatistics releases all statistics of a column without a public range, and replaces a row by one that
// is far from all: each of the queries but one moves, the number of values.
func columnStatistics(ctx context.Context) (Subject, error) {
	p, err := newPlanned(stats.Experiments(), "stats/columns", "data.csv", "x\n1\n1\n1\n", statisticsSettings, stats.Plan)
	if err != nil {
		return Subject{}, err
	}
	return p.statistics(ctx, "one row, replaced by any other", "300 in place of 1", 1, 300)
}

// personStatistics does the same for both rows of a person, with a public range.
func personStatistics(ctx context.Context) (Subject, error) {
	p, err := newPlanned(stats.Experiments(), "stats/columns", "data.csv", "who,x\na,0\na,0\nb,9\n", with(
		statisticsSettings, "quantiles", "0.5", "person", "who", "rows_per_person", 2, "low", 0, "high", 10), stats.Plan)
	if err != nil {
		return Subject{}, err
	}
	s, err := p.statistics(ctx, "one person with at most 2 rows, replaced by any other", "two rows of 10 in place of 0",
		2, 10)
	if err == nil {
		s.Pairs[0].Release = p.request("note,x,who\n7,-3.25,someone\n8,1e1,another\n-9,7.000,another\n", statisticsRows,
			statisticsRecord)
	}
	return s, err
}

// statistics is a subject in which the first rows get a value.
func (p *planned) statistics(ctx context.Context, unit, name string, rows int, value float64) (Subject, error) {
	first, spending, err := p.rows(ctx)
	if err != nil {
		return Subject{}, err
	}
	second := first
	for i := range rows {
		second = replaced(second, i, value, 1)
	}
	return Subject{
		Unit: unit, Claim: mechanism.Guarantee{Epsilon: spending.Epsilon, Delta: spending.Delta}, Draws: boundDraws,
		Pairs: []Pair{{Name: name, Draw: func(useSecond bool, entropy *rand.ChaCha8) (Output, error) {
			out, _, err := p.release(ctx, either(useSecond, first, second), release.Unbooked(entropy))
			if err != nil {
				return Output{}, err
			}
			// The mean is the query that moves most.
			return Output{Published: slices.Concat(out.Rows...), HasStatistic: true,
				Statistic: out.Rows[0][slices.Index(out.Columns, "mean")]}, nil
		}}},
	}, nil
}

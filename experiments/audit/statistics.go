package audit

import (
	"context"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"

	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/experiments/stats"
)

var statisticsSettings = map[string]any{
	"dataset": "csv:data.csv", "columns": "x", "quantiles": "0.5", "low": low, "high": high,
}

// The statistics of a table, and those of a record: every number is noisy.
var (
	statisticsRows   = regexp.MustCompile(`(?m)^[-+0-9][-+0-9.,e]*,`)
	statisticsRecord = regexp.MustCompile(`"released":\s*\{[^}]*\}`)
)

// Half of the values are at stays, and the others move from one end of the range to the other. Then their number does
// not move, the sum does by all of its sensitivity, and the utility of each candidate for the median by all of its,
// upwards above stays and downwards below.
const low, high, stays = 0.0, 10.0, 8.0

// columnStatistics releases number, median and mean of a column of two rows.
func columnStatistics(ctx context.Context, epsilon float64) (Subject, error) {
	p, err := newPlanned(stats.Experiments(), "stats/columns", "data.csv", "x\n0\n8\n", with(statisticsSettings,
		"epsilon", epsilon), stats.Plan)
	if err != nil {
		return Subject{}, err
	}
	return p.statistics(ctx, "one row, replaced by any other", "10 in place of 0", 1)
}

// personStatistics does the same for both rows of a person, of whom the number of rows is released as well.
func personStatistics(ctx context.Context) (Subject, error) {
	p, err := newPlanned(stats.Experiments(), "stats/columns", "data.csv", "who,x\na,0\na,0\nb,8\nb,8\n", with(
		statisticsSettings, "epsilon", 4, "person", "who", "rows_per_person", 2), stats.Plan)
	if err != nil {
		return Subject{}, err
	}
	s, err := p.statistics(ctx, "one person with at most 2 rows, replaced by any other", "two rows of 10 in place of 0", 2)
	if err == nil {
		s.Pairs[0].Release = p.request("note,x,who\n7,-3.25,someone\n8,1e1,another\n-9,7.000,another\n", statisticsRows,
			statisticsRecord)
	}
	return s, err
}

// statistics is a subject in which the first rows move to the other end.
func (p *planned) statistics(ctx context.Context, unit, name string, rows int) (Subject, error) {
	first, spending, err := p.rows(ctx)
	if err != nil {
		return Subject{}, err
	}
	second := first
	for i := range rows {
		second = replaced(second, i, high, 1)
	}
	each, times := spending.Losses[0].Size, float64(rows) // ε of each query
	// The logarithm of the likelihood ratio, but for a constant and for the rounding of numbers.
	ratio := func(at func(string) float64) float64 {
		const middle = (low + high) / 2
		sum := (at("mean") - middle) * max(at("values"), 1) // of the distances from the middle
		before, after := times*(low+stays-2*middle), times*(high+stays-2*middle)
		out := each * (math.Abs(sum-before) - math.Abs(sum-after)) / (after - before)
		if at("q0.5") > stays {
			out += each
		}
		return out
	}
	return Subject{
		Unit: unit, Claim: mechanism.Guarantee{Epsilon: spending.Epsilon, Delta: spending.Delta}, Draws: boundDraws,
		Pairs: []Pair{{Name: name, Draw: func(useSecond bool, entropy *rand.ChaCha8) (Output, error) {
			out, _, err := p.release(ctx, either(useSecond, first, second), release.Unbooked(entropy))
			if err != nil {
				return Output{}, err
			}
			return Output{Published: slices.Concat(out.Rows...), HasStatistic: true,
				Statistic: ratio(func(column string) float64 { return out.Rows[0][slices.Index(out.Columns, column)] })}, nil
		}}},
	}, nil
}

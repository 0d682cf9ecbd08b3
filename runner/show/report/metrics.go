package report

import (
	"fmt"
	"time"

	"privkern/runner/show/summary"
)

// The page lists at most maxRows settings of an experiment, and of all experiments about
// maxFields fields; the rest is in the files of tables.
const (
	maxRows   = 200
	fewRows   = 3
	maxFields = 6_000
)

// paperColumns is the number of columns of metrics that fit a page in portrait format.
const paperColumns = 8

// metrics is a summary laid out for the page: settings are lines, or columns where there are
// few settings and many metrics.
type metrics struct {
	*summary.MetricTable
	ID         string
	Listed     []setting
	Omitted    int
	Transposed bool
	Wide       bool // too wide for portrait format
}

// setting is a row of a summary with a link to its trials.
type setting struct {
	*summary.Row
	ID     string // of the value in the data block; empty without a finished trial
	Target string
}

// arrange lays a summary out, and links its rows to their trials. The table takes at most about
// left fields; arrange returns the rest.
func arrange(t *summary.MetricTable, id string, trials *TrialTally, b *block, left int) (metrics, int) {
	columns := len(t.Varying) + 1 + len(t.Metrics)
	rows := min(len(t.Rows), maxRows, max(left/columns, fewRows))
	m := metrics{MetricTable: t, ID: id, Omitted: len(t.Rows) - rows}
	for i, r := range t.Rows[:rows] {
		s := setting{Row: r}
		if known := trials.numbers(r.Keys()); len(known) > 0 {
			s.ID = fmt.Sprintf("%s-setting-%d", id, i+1)
			s.Target = trials.link(trials.details[known[0]].key)
			b.link(s.ID, known, r.Trials+r.Failed+r.Skipped)
		}
		m.Listed = append(m.Listed, s)
	}
	m.Transposed = len(t.Rows) <= 4 && len(t.Metrics) > 6
	m.Wide = !m.Transposed && columns > paperColumns
	return m, left - rows*columns
}

// estimate formats a metric of a setting; it is empty where no trial reports it.
func estimate(r setting, metric string) string {
	e, ok := r.Metrics.Of(metric)
	if !ok {
		return ""
	}
	return e.String()
}

// count returns a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// duration formats seconds.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func bytesText(n int64) string {
	const mebi = 1 << 20
	if n < 1024*mebi {
		return fmt.Sprintf("%.0f MiB", float64(n)/mebi)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1024*mebi))
}

package report

import (
	"fmt"
	"time"

	"privkern/runner/summary"
)

// maxRows is how many settings of an experiment the page lists; the rest is in
// the tables beside it.
const maxRows = 200

// metrics is a summary arranged for the page: settings as lines, or as columns
// where there are few settings and many metrics.
type metrics struct {
	*summary.Table
	Listed     []*summary.Row
	Omitted    int
	Transposed bool
}

func arrange(t *summary.Table) metrics {
	m := metrics{Table: t, Listed: t.Rows}
	if n := len(t.Rows); n > maxRows {
		m.Listed, m.Omitted = t.Rows[:maxRows], n-maxRows
	}
	m.Transposed = len(t.Rows) <= 4 && len(t.Metrics) > 6
	return m
}

// estimate writes a metric of a setting; nothing where no trial reports it.
func estimate(r *summary.Row, metric string) string {
	e, ok := r.Metrics[metric]
	if !ok {
		return ""
	}
	return e.String()
}

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// duration writes seconds for people.
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

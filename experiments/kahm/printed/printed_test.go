package printed_test

import (
	"fmt"
	"testing"

	"privkern/experiments/kahm/fit"
	"privkern/experiments/kahm/printed"
)

func TestOver(t *testing.T) {
	for _, c := range []struct{ name, cells, want string }{
		{"in order of the axis", `
      - {published: "3", params: {rows: 300}}
      - {published: "1", params: {rows: 100}}`, "[100 300] [1 3]"},
		{"a value in the place of a text", `
      - {published: "around 5", value: 5, params: {rows: 100}}`, "[100] [5]"},
		{"a text", `
      - {published: "around 5", params: {rows: 100}}`, "[] []"},
		{"another metric", `
      - {published: "5", metric: gflops, params: {rows: 100}}`, "[] []"},
		{"another experiment", `
      - {published: "5", experiment: kahm/reference, params: {rows: 100}}
      - {published: "6", experiment: kahm/timing, params: {rows: 100}}`, "[100] [6]"},
		{"a value that stands above", `
      - {published: "5", id: five, params: {rows: 100}}
      - {published: "about 5", value: 5, same_as: five, params: {rows: 100}}`, "[100] [5]"},
		{"a difference", `
      - {published: "5", minus: {metric: gflops}, params: {rows: 100}}`, "[] []"},
		{"settings that there are not", `
      - {published: "5", params: {columns: 100}}`, "[] []"},
		{"what is not shown", `
      - {published: "5", params: {rows: 100, n: 1}}
      - {published: "6", params: {rows: 100}}`, "[100] [6]"},
		{"no ledger", `
	nonsense`, "[] []"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ledger := printed.Read([]byte("tables:\n  - name: a\n    metric: time_s\n    cells:" + c.cells))
			line := printed.Over(ledger, "a", fit.Timing(), func(m *fit.TimingMetrics) any { return &m.Time },
				func(s *fit.TimingSettings) (float64, bool) { return float64(s.Rows), s.N > 1 })
			if got := fmt.Sprint(line.X, line.Y); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

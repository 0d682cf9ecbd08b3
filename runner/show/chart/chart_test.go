package chart_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/show/chart"
	"privkern/runner/show/plot"
	"privkern/runner/show/summary"
)

var inf = math.Inf(1)

// setting is a varying setting with its values.
type setting struct {
	name   string
	values []any
}

// list returns values of a setting.
func list[T any](name string, values ...T) setting {
	s := setting{name: name}
	for _, v := range values {
		s.values = append(s.values, v)
	}
	return s
}

// counted returns a setting with n values.
func counted(name string, n int) setting {
	s := setting{name: name}
	for i := range n {
		s.values = append(s.values, i+1)
	}
	return s
}

// grid returns the table of all combinations of settings, with the values 1, 2, 3, ... and a standard error of 0.25.
func grid(settings ...setting) *summary.MetricTable {
	t := empty(settings...)
	n := 1
	for _, s := range settings {
		n *= len(s.values)
	}
	for i := range n {
		p := experiment.Params{}
		at := i
		for _, s := range slices.Backward(settings) {
			p[s.name] = s.values[at%len(s.values)]
			at /= len(s.values)
		}
		add(t, p, float64(i+1))
	}
	return t
}

// empty returns a table without rows.
func empty(settings ...setting) *summary.MetricTable {
	t := &summary.MetricTable{Experiment: "demo/e", Metrics: []string{"score"}}
	for _, s := range settings {
		t.Varying = append(t.Varying, s.name)
	}
	return t
}

// add adds a row.
func add(t *summary.MetricTable, p experiment.Params, v float64) {
	r := &summary.Row{Params: p, Trials: 4}
	deviation := 0.25
	r.Metrics.Add("score", summary.SeedMean{Mean: v, StandardError: &deviation})
	t.Rows = append(t.Rows, r)
}

var score = chart.Metric{Name: "score", Unit: "cm", Best: "low"}

// shape describes the panels of a chart.
func shape(c *chart.Chart) string {
	if c == nil {
		return "none"
	}
	p := c.Panels[0]
	s := fmt.Sprintf("%d panels: %d lines, %d bands, %d rows of dots, %d whiskers", len(c.Panels), len(p.Lines),
		len(p.Bands), len(p.Points), len(p.Whiskers))
	if h := p.Heatmap; h != nil {
		s = fmt.Sprintf("%d panels: %d × %d cells", len(c.Panels), len(h.Values), len(h.Values[0]))
	}
	return s
}

// The form follows from the settings.
func TestForms(t *testing.T) {
	eps := list("epsilon", 0.1, 1, 10)
	methods := list("method", "a", "b")
	for _, c := range []struct {
		name  string
		table *summary.MetricTable
		title string
		shape string
	}{
		{"numbers", grid(eps), "score over epsilon", "1 panels: 1 lines, 1 bands, 0 rows of dots, 0 whiskers"},
		{"numbers and inf", grid(list("epsilon", 0.1, inf, 1, 10)), "score over epsilon",
			"1 panels: 1 lines, 1 bands, 1 rows of dots, 1 whiskers"},
		{"two numbers", grid(list("epsilon", 0.1, 10)), "score over epsilon",
			"1 panels: 1 lines, 0 bands, 0 rows of dots, 1 whiskers"},
		{"one number and inf", grid(list("epsilon", 1, inf)), "score over epsilon",
			"1 panels: 0 lines, 0 bands, 1 rows of dots, 1 whiskers"},
		{"categories", grid(methods), "score over method", "1 panels: 0 lines, 0 bands, 1 rows of dots, 1 whiskers"},
		{"numbers by category", grid(methods, eps), "score over epsilon by method",
			"1 panels: 2 lines, 2 bands, 0 rows of dots, 0 whiskers"},
		{"categories by flag", grid(list("private", true, false), list("method", "a", "b", "c")),
			"score over method by private", "1 panels: 0 lines, 0 bands, 2 rows of dots, 2 whiskers"},
		{"as many lines as are told apart", grid(counted("n", 9), counted("m", 8)), "score over n by m",
			"1 panels: 8 lines, 8 bands, 0 rows of dots, 0 whiskers"},
		{"more", grid(counted("n", 9), counted("m", 10)), "score over m and n", "1 panels: 9 × 10 cells"},
		{"a map for each category", grid(methods, counted("n", 9), counted("m", 10)), "score over m and n by method",
			"2 panels: 9 × 10 cells"},
		{"three settings", grid(methods, eps, counted("n", 4)), "score over n by epsilon, method",
			"2 panels: 3 lines, 3 bands, 0 rows of dots, 0 whiskers"},
		{"too many panels", grid(methods, counted("n", 8), counted("m", 8), counted("k", 8)), "score over n by m, k, method",
			"12 panels: 8 lines, 8 bands, 0 rows of dots, 0 whiskers"},
		{"nothing varies", grid(list("method", "a")), "", "none"},
		{"no rows", empty(eps), "", "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := chart.Of(c.table, score, nil)
			if s := shape(got); s != c.shape {
				t.Errorf("%s, want %s", s, c.shape)
			}
			if got == nil {
				return
			}
			if got.Title != "demo/e: "+c.title {
				t.Errorf("title %q, want %q", got.Title, c.title)
			}
			if left := strings.Contains(got.Caption, "12 of 16 combinations are drawn"); left != (len(got.Panels) == 12) {
				t.Errorf("caption %q", got.Caption)
			}
			for name, draw := range map[string]func(io.Writer) error{
				"SVG": func(w io.Writer) error { return plot.SVG(w, got.Panels, plot.Options{}) },
				"PNG": func(w io.Writer) error { return plot.PNG(w, got.Panels) },
			} {
				if err := draw(io.Discard); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// drawn returns the values in the panels, in ascending order.
func drawn(c *chart.Chart) (out []float64) {
	for _, p := range c.Panels {
		for _, l := range slices.Concat(p.Lines, p.Points) {
			out = append(out, l.Y...)
		}
		if p.Heatmap != nil {
			out = append(out, slices.Concat(p.Heatmap.Values...)...)
		}
	}
	out = slices.DeleteFunc(out, math.IsNaN)
	slices.Sort(out)
	return out
}

// Every finite value is drawn once, where no caption states otherwise: on grids with holes, in any order of the plan.
func TestEveryValueIsDrawnOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pool := []setting{list("epsilon", 0.1, 1, 10, inf), list("method", "a", "b", "c"), counted("n", 10), counted("m", 9),
		list("word", any(1), any("auto"), any(3), any(2)), list("private", true, false)}
	for i := range 200 {
		random.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		table := grid(pool[:1+random.IntN(3)]...)
		random.Shuffle(len(table.Rows), func(i, j int) { table.Rows[i], table.Rows[j] = table.Rows[j], table.Rows[i] })
		table.Rows = table.Rows[:max(len(table.Rows)*(2+random.IntN(3))/4, 2)]
		want := []float64{}
		for _, r := range table.Rows {
			e, _ := r.Metrics.Of("score")
			switch random.IntN(10) {
			case 0:
				r.Metrics = nil // as of a failed trial
			case 1:
				r.Metrics = nil
				r.Metrics.Add("score", summary.SeedMean{Mean: []float64{math.NaN(), inf, -inf}[random.IntN(3)]})
			default:
				want = append(want, e.Mean)
			}
		}
		c := chart.Of(table, score, nil)
		if c == nil {
			if len(want) > 0 {
				t.Fatalf("case %d: nothing is drawn of %d values", i, len(want))
			}
			continue
		}
		got := drawn(c)
		slices.Sort(want)
		if strings.Contains(c.Title, "over each setting") { // once for each
			got = slices.Compact(got)
		}
		if strings.Contains(c.Caption, "combinations are drawn") {
			if len(got) == 0 || len(got) >= len(want) {
				t.Errorf("case %d: %d of %d values are drawn: %s", i, len(got), len(want), c.Caption)
			}
		} else if !slices.Equal(got, want) {
			t.Errorf("case %d, %s: drawn %v, want %v", i, c.Title, got, want)
		}
		if err := plot.SVG(io.Discard, c.Panels, plot.Options{}); err != nil {
			t.Errorf("case %d: %v", i, err)
		}
	}
}

// Axes are logarithmic where values are positive and wide apart, or evenly spaced in the logarithm.
func TestLogarithmicAxis(t *testing.T) {
	for _, c := range []struct {
		x    setting
		want bool
	}{
		{list("x", 0.1, 1, 10), true},
		{list("x", 1, 2, 4), true},
		{list("x", 1, 2), false},
		{list("x", 1, 2, 3), false},
		{list("x", 1, 5, 10), false},
		{list("x", 1, 5, 11), true},
		{list("x", 0.1, 0.3, 1), true},
		{list("x", 16, 32, 64, 120), true},
		{list("x", 0, 1, 100), false},
		{list("x", -1.0, 1, 100), false},
		{list("x", 0.1, 1, 10, inf), true},
		{list("x", 50, 100, 150), false},
	} {
		if got := chart.Of(grid(c.x), score, nil).Panels[0].LogX; got != c.want {
			t.Errorf("%v: logarithmic %t, want %t", c.x.values, got, c.want)
		}
	}
}

// Infinity stands behind the numbers with its name, and no line leads there.
func TestInfinity(t *testing.T) {
	p := chart.Of(grid(list("epsilon", inf, 0.1, 1, 10)), score, map[string]string{"epsilon": "nats"}).Panels[0]
	if len(p.XNames) != 1 || p.XNames[0].Text != "inf" || p.XNames[0].At <= 10 || p.XNumbers != [2]float64{0.1, 10} {
		t.Errorf("names %+v behind %v", p.XNames, p.XNumbers)
	}
	if !slices.Equal(p.Lines[0].Y, []float64{2, 3, 4}) || !slices.Equal(p.Points[0].Y, []float64{1}) ||
		p.Points[0].X[0] != p.XNames[0].At {
		t.Errorf("line %+v, dots %+v", p.Lines, p.Points)
	}
	if p.XLabel != "epsilon (nats)" || p.YLabel != "score (cm; lower is better)" {
		t.Errorf("labels %q and %q", p.XLabel, p.YLabel)
	}
}

// A setting without a value interrupts its line, and one that the plan does not have leaves it whole.
func TestGaps(t *testing.T) {
	table := grid(counted("n", 5), list("method", "a", "b"))
	table.Rows[4].Metrics = nil                  // n=3 of a
	table.Rows = slices.Delete(table.Rows, 5, 6) // n=3 of b
	c := chart.Of(table, score, nil)
	if a, b := c.Panels[0].Lines[0].Y, c.Panels[0].Lines[1].Y; len(a) != 5 || !math.IsNaN(a[2]) || len(b) != 4 {
		t.Errorf("lines %v and %v", a, b)
	}
	if !strings.Contains(c.Caption, "1 of 9 settings have no value") {
		t.Errorf("caption %q", c.Caption)
	}
	for _, r := range table.Rows {
		r.Metrics = nil
		r.Metrics.Add("score", summary.SeedMean{Mean: math.NaN()})
	}
	if chart.Of(table, score, nil) != nil {
		t.Error("a chart of no value")
	}
}

// Settings that go together are one axis; those of a random search are an axis each.
func TestTogether(t *testing.T) {
	zipped, searched := empty(list[any]("a"), list[any]("b"), list[any]("c")), empty(list[any]("a"), list[any]("b"))
	for i := range 6 {
		add(zipped, experiment.Params{"a": i, "b": -2 * i, "c": string(rune('p' + i))}, float64(i))
		add(searched, experiment.Params{"a": i, "b": i * 5 % 7}, float64(i))
	}
	c := chart.Of(zipped, score, nil)
	if c.Title != "demo/e: score over a" || !strings.Contains(c.Caption, "b, c go with a") {
		t.Errorf("%s: %s", c.Title, c.Caption)
	}
	c = chart.Of(searched, score, nil)
	if c.Title != "demo/e: score over each setting" || len(c.Panels) != 2 || len(c.Panels[1].Points[0].X) != 6 {
		t.Errorf("%s: %s", c.Title, shape(c))
	}
}

// Drawings of very large sweeps are bounded, and state it.
func TestLarge(t *testing.T) {
	searched := empty(list[any]("a"), list[any]("b"), list[any]("method"))
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 100_000 {
		add(searched, experiment.Params{"a": random.Float64(), "b": random.Float64(), "method": string(rune('a' + i%3))},
			float64(i))
	}
	for name, table := range map[string]*summary.MetricTable{
		"numbers": grid(counted("n", 100_000)), "map": grid(counted("n", 400), counted("m", 250)), "search": searched,
		"panels": grid(counted("n", 1000), counted("m", 8), counted("k", 12)),
	} {
		t.Run(name, func(t *testing.T) {
			c := chart.Of(table, score, nil)
			if n := len(drawn(c)); n < 2000 || n > 20_000 {
				t.Errorf("%d values are drawn", n)
			}
			if !strings.Contains(c.Caption, "one is drawn") {
				t.Errorf("caption %q", c.Caption)
			}
			var b bytes.Buffer
			if err := plot.SVG(&b, c.Panels, plot.Options{}); err != nil || b.Len() > 4<<20 {
				t.Errorf("%d bytes, %v", b.Len(), err)
			}
		})
	}
}

// The numbers have every row, also those without a value.
func TestNumbers(t *testing.T) {
	table := grid(list("method", "=SUM(A1)", "b"), list("epsilon", 0.1, inf))
	table.Rows[3].Metrics = nil
	delete(table.Rows[3].Params, "epsilon")
	var b strings.Builder
	if err := chart.Of(table, score, nil).CSV(&b); err != nil {
		t.Fatal(err)
	}
	want := "method,epsilon,score,standard_error,trials\n'=SUM(A1),0.1,1,0.25,4\n'=SUM(A1),inf,2,0.25,4\n" +
		"b,0.1,3,0.25,4\nb,,,,4\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

package bench

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
)

// sharesEngine has given processor times of the process and of its runs, in seconds.
type sharesEngine struct {
	process, graphs float64
	began, unknown  bool
}

func (e *sharesEngine) Close() error { return nil }
func (e *sharesEngine) StartCPU()    { e.began = true }
func (e *sharesEngine) CPUTimes() (process, graphs float64, ok bool) {
	return e.process, e.graphs, e.began && !e.unknown
}

// Shares are those of all trials together: of short ones there are several, with an engine each.
func TestShares(t *testing.T) {
	failure := errors.New("singular")
	for _, c := range []struct {
		name        string
		engine      io.Closer
		result      error
		absent      string
		trials      int
		share       float64 // -1: not measured
		err, notRun string
	}{
		{name: "long", engine: &sharesEngine{process: 4, graphs: 1}, trials: 1, share: .25},
		{name: "short", engine: &sharesEngine{process: .2, graphs: .15}, trials: 3, share: .75},
		{name: "shorter", engine: &sharesEngine{process: .001}, trials: maxTrials},
		{name: "no clocks", engine: &sharesEngine{unknown: true}, share: -1, notRun: "no clocks"},
		{name: "no data", engine: &sharesEngine{}, absent: "run data fetch", share: -1, notRun: "run data fetch"},
		{name: "a failure", engine: &sharesEngine{process: 4}, result: failure, err: "demo/a: the trial failed: singular"},
		{name: "no meter", engine: io.NopCloser(nil), err: "measures no processor time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &experiment.Experiment{Untyped: experiment.Untyped{Name: "demo/a",
				Run: func(context.Context, *experiment.Trial, experiment.Params) (*experiment.Result, error) {
					return &experiment.Result{Metrics: map[string]float64{"y": 1}}, c.result
				}}, Metrics: []experiment.Metric{{Name: "y"}}}
			opened := 0
			rows, err := Shares(t.Context(), []ShareCase{{Of: e, Missing: c.absent,
				Share: experiment.Share{Experiment: e.Name, Settings: []string{"n=2"}, Outside: "reading"},
				Job:   trial.Job{Identity: experiment.Identity{Experiment: e.Name}}}},
				func(string, string, int) (io.Closer, error) { opened++; return c.engine, nil }, func(string) {})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r := rows[0]
			if r.Trials != c.trials || !strings.Contains(r.NotRun, c.notRun) || (r.NotRun == "") != (c.notRun == "") ||
				(r.Share == nil) != (c.share < 0) || r.Share != nil && math.Abs(*r.Share-c.share) > 1e-12 {
				t.Errorf("%+v", r)
			}
			if c.trials > 0 && opened != c.trials {
				t.Errorf("%d engines for %d trials", opened, c.trials)
			}
		})
	}
}

// A row in each format.
func TestShareRows(t *testing.T) {
	share := .416
	rows := []ShareRow{{Experiment: "demo/a", Trials: 1, CPU: 38.46, Share: &share, Outside: "reading"},
		{Experiment: "demo/b", Settings: []string{"n=2", "m=3"}, NotRun: "no data", Outside: "sorting"}}
	for _, c := range []struct {
		name  string
		write func(io.Writer) error
		want  []string
	}{
		{"text", func(w io.Writer) error { return SharesText(w, rows) },
			[]string{"demo/a  defaults  38 s  42 %\n", "demo/b  n=2 m=3         not run: no data\n"}},
		{"markdown", func(w io.Writer) error { return SharesMarkdown(w, "a processor", rows) },
			[]string{"measured on\na processor.\n", "| demo/a | defaults | 38 s | 42 % | reading |\n",
				"| demo/b | n=2 m=3 |  | not run | sorting |\n"}},
		{"JSON", func(w io.Writer) error { return SharesJSON(w, rows) },
			[]string{`"share_in_graphs": 0.416`, `"not_run": "no data"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			if err := c.write(&b); err != nil {
				t.Fatal(err)
			}
			for _, w := range c.want {
				if !strings.Contains(b.String(), w) {
					t.Errorf("%q is missing:\n%s", w, b.String())
				}
			}
		})
	}
}

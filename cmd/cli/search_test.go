package cli

import (
	"strings"
	"testing"

	"privkern/runner"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/search"
	"privkern/runner/show/summary"
)

// The note on the best of a search warns where a seed, or data, may have made it the best, and names how to judge it.
func TestOptimism(t *testing.T) {
	seedless := func(experiment.Params) bool { return true }
	for _, c := range []struct {
		name string
		of   experiment.Untyped
		data map[string]string
		rows int
		want string
	}{
		{"draws", experiment.Untyped{}, nil, 2,
			"Other seeds, or other data, give an honest one:\n  run trial demo/x 'x=a b' --seed 8"},
		{"one setting", experiment.Untyped{}, nil, 1, ""},
		{"draws nothing", experiment.Untyped{Seedless: seedless}, map[string]string{"wine": "1"}, 2,
			"drawn at random in it: other data"},
		{"draws nothing, has no data", experiment.Untyped{Seedless: seedless}, nil, 2, ""},
		{"a program", experiment.Untyped{External: true}, nil, 2,
			"A file with these settings under params\nand other seeds"},
	} {
		c.of.Name = "demo/x"
		e := &experiment.Experiment{Untyped: c.of, Params: []experiment.Param{{Name: "x", Kind: experiment.Text}}}
		r := &runner.Searched{Plan: &plan.Plan{Datasets: c.data}, Rows: make([]*summary.Row, c.rows),
			Spec: &search.Spec{Experiment: e, Seeds: []int64{7, 3}}}
		got := optimism(r, &summary.Row{Params: experiment.Params{"x": "a b"}})
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

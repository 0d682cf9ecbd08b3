package runner_test

import (
	"bytes"
	"fmt"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/runner/plan"
	"privkern/runner/show/export"
)

// A sweep without a table has charts: in plots/ as SVG, PNG and CSV, and with their numbers in the report above the
// metrics. A check finds those that are not of the records, and a repair writes them.
func TestCharts(t *testing.T) {
	c := catalogue(t)
	dir := filepath.Join(t.TempDir(), "out")
	sweep(t, c, dir, plan.Shard{}, nil, "experiment: demo/other\nsweep: {x: [1, 10, 100], width: [1, 2]}\nseeds: 0..2\n",
		"experiment: demo/double\nparams: {x: 7}\n") // where nothing varies
	r, err := c.Results(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WriteTables(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.WriteReport("test"); err != nil {
		t.Fatal(err)
	}
	plots := files(t, dir, "plots/*")
	names := slices.Sorted(maps.Keys(plots))
	want := []string{"plots/demo-other-y.csv", "plots/demo-other-y.png", "plots/demo-other-y.svg"}
	if !slices.Equal(names, want) {
		t.Fatalf("files %q, want %q", names, want)
	}
	if _, err := png.Decode(bytes.NewReader(plots["plots/demo-other-y.png"])); err != nil {
		t.Error(err)
	}
	if got := string(plots["plots/demo-other-y.csv"]); !strings.HasPrefix(got,
		"x,width,y,standard_error,trials\n1,1,3,0.5773502691896258,3\n") || strings.Count(got, "\n") != 7 {
		t.Errorf("the numbers are\n%s", got)
	}
	page := string(files(t, dir, "report.html")["report.html"])
	drawing, numbers, metrics := strings.Index(page, `<svg xmlns`), strings.Index(page, "<td>0.57735</td>"),
		strings.Index(page, `id="metrics"`)
	if drawing < 0 || drawing > numbers || numbers > metrics {
		t.Errorf("the drawing is at %d, its numbers at %d, all metrics at %d", drawing, numbers, metrics)
	}
	artifacts, err := r.Artifacts()
	if err != nil || !slices.ContainsFunc(artifacts, func(a export.Artifact) bool { return a.Path == names[1] }) {
		t.Errorf("%s is not exported, %v", names[1], err)
	}
	reasons := map[string]string{"change": "it is not what the records give", "remove": "it is missing"}
	for _, name := range names {
		for damage, reason := range reasons {
			path := filepath.Join(dir, name)
			err := os.Remove(path)
			if damage == "change" {
				err = os.WriteFile(path, append(plots[name], '\n'), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, repair := range []bool{false, true} {
				k, err := c.Check(dir, repair, "test")
				if err != nil {
					t.Fatal(err)
				}
				wantProblems(t, k, []string{name + ": " + reason}, repair)
			}
		}
	}
	if k, err := c.Check(dir, false, "test"); err != nil || len(k.Problems) > 0 {
		t.Errorf("after the repairs: %+v, %v", k, err)
	}
	if again := files(t, dir, "plots/*"); fmt.Sprint(again) != fmt.Sprint(plots) {
		t.Error("the repaired files differ from the first ones")
	}
}

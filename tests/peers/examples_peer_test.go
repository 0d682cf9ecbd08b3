package peers

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"privkern/tests/program"
)

// summaryOf runs a sweep file of docs/examples in a copy of that folder, with the data of the
// documentation, and returns the means of its tables by experiment, row and metric.
func summaryOf(t *testing.T, file string, arguments ...string) map[string][]map[string]float64 {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"docs/examples", "tests/commands/testdata/docs"} {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(program.Root(t), folder))); err != nil {
			t.Fatal(err)
		}
	}
	arguments = append([]string{"sweep", file, "--output", "json", "--out", "out"}, arguments...)
	cmd := exec.Command(program.Path(t), arguments...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var summary struct {
		Experiments []struct {
			Experiment string
			Rows       []struct {
				Metrics map[string]struct{ Mean float64 }
			}
		}
	}
	if err := json.Unmarshal(printed, &summary); err != nil {
		t.Fatal(err)
	}
	out := map[string][]map[string]float64{}
	for _, e := range summary.Experiments {
		for _, r := range e.Rows {
			means := map[string]float64{}
			for name, m := range r.Metrics {
				means[name] = m.Mean
			}
			out[e.Experiment] = append(out[e.Experiment], means)
		}
	}
	return out
}

// The example with scikit-learn has the error of our own exact methods on the same fields,
// within a tenth.
func TestExampleOfScikitLearn(t *testing.T) {
	python(t, "sklearn")
	got := summaryOf(t, "ridge.yaml", "--seeds", "0", "repeats=2")
	theirs, ours := got["command/ridge.py"], got["baseline/exact-regression"]
	if len(theirs) != 4 || len(ours) != 1 {
		t.Fatalf("%v", got)
	}
	const rmse = "rmse"
	for i, row := range theirs {
		if ratio := row[rmse] / ours[0][rmse]; ratio < 0.9 || ratio > 1.1 {
			t.Errorf("row %d: an error of %g, ours is %g", i, row[rmse], ours[0][rmse])
		}
	}
}

// The example with PyTorch tells the moons apart, and much noise costs it accuracy.
func TestExampleOfPyTorch(t *testing.T) {
	python(t, "torch")
	got := summaryOf(t, "mlp.yaml", "--seeds", "0", "noise=0,200", "steps=100")["command/mlp.py"]
	if len(got) != 2 {
		t.Fatalf("%v", got)
	}
	const accuracy = "accuracy"
	if got[0][accuracy] < 0.9 || got[1][accuracy] > got[0][accuracy] {
		t.Errorf("accuracies of %g without noise and of %g with it", got[0][accuracy], got[1][accuracy])
	}
}

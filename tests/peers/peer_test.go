package peers

import (
	"context"
	"encoding/json"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/runner"
	"privkern/runner/execute/machine"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/tests/program"
	"privkern/tests/tier"
)

// peer runs a straightforward implementation in NumPy, on one thread, and
// returns the numbers that it prints. It skips where there is no NumPy.
func peer(t testing.TB, script string, args ...string) map[string]float64 {
	t.Helper()
	var numbers map[string]float64
	printedBy(t, python(t, "numpy, scipy"), &numbers, script, args...)
	return numbers
}

// python returns a python3 that has modules, and skips where there is none.
func python(t testing.TB, modules string) string {
	t.Helper()
	if _, bench := t.(*testing.B); !bench {
		tier.Night(t, "it compares with NumPy")
	}
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import "+modules).Run() != nil {
		t.Skipf("python3 with %s is not installed: the comparison with them is not made", modules)
	}
	return python
}

// printedBy runs a script in that Python, on one thread, and decodes the JSON that it prints.
func printedBy(t testing.TB, python string, into any, script string, args ...string) {
	t.Helper()
	cmd := exec.Command(python, append([]string{filepath.Join(program.Root(t), "tests", "peers", script)}, args...)...)
	cmd.Env = append(cmd.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, stderr.String())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%s printed %q: %v", script, out, err)
	}
}

// The machines of kahm/reference are those of a straightforward implementation.
func TestKAHMAgainstNumPy(t *testing.T) {
	sameAsPeer(t, peer(t, "kahm.py", "check"), "kahm/reference", nil, 1e-9)
}

// The compressive kernels of multikernel/reference, and the weights, are those
// of the dense formulas, also for data that no check value is known of.
func TestMultikernelAgainstNumPy(t *testing.T) {
	const kernels = "linear+rbf:0.01+laplacian:0.1+polynomial:1:3:1"
	for _, size := range [][2]int{{60, 7}, {97, 12}} {
		want := peer(t, "multikernel.py", strconv.Itoa(size[0]), strconv.Itoa(size[1]))
		sameAsPeer(t, want, "multikernel/reference", map[string]any{"rows": size[0], "features": size[1], "kernels": kernels},
			1e-8)
	}
}

// sameAsPeer compares the metrics of an experiment with a peer's numbers, to a
// relative tolerance.
func sameAsPeer(t *testing.T, want map[string]float64, name string, given map[string]any, tolerance float64) {
	t.Helper()
	var e *experiment.Experiment
	for _, p := range runner.NewCatalogue(experiments.Papers()).Papers {
		for _, x := range p.Experiments {
			if x.Name == name {
				e = x
			}
		}
	}
	params, err := e.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trial.Execute(context.Background(), e, trial.Job{
		Identity: experiment.Identity{Experiment: e.Name, Params: params, Backend: "cpu", DType: "float64"},
		Workers:  1,
	}, engine.Opener, nil)
	if err != nil || r.Error != nil {
		t.Fatal(err, r.Error)
	}
	if len(want) == 0 {
		t.Fatal("the peer printed nothing")
	}
	for name, w := range want {
		got, ok := r.Metrics[name]
		if !ok || math.Abs(got-w) > tolerance*math.Abs(w) {
			t.Errorf("%s is %.15g, NumPy has %.15g", name, got, w)
		}
	}
}

// BenchmarkKAHMAgainstNumPy fits a machine of 1,000×784 samples with five layers
// and evaluates 512 queries, and reports how many times the processor time of a
// straightforward NumPy version is that of ours, each on one thread.
func BenchmarkKAHMAgainstNumPy(b *testing.B) {
	const rows, dim, n, layers, queries = 1000, 784, 20, 5, 512
	text := []string{"time"}
	for _, v := range []int{rows, dim, n, layers, queries} {
		text = append(text, strconv.Itoa(v))
	}
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	y, q := wave(rows, dim, 1e-3), wave(queries, dim, 7e-4)
	var fit, evaluate, numpyFit, numpyEvaluate float64
	for b.Loop() {
		start := machine.CPUSeconds()
		m, err := hull.Fit(context.Background(), e, y, hull.Options{Dim: n, Layers: layers})
		if err != nil {
			b.Fatal(err)
		}
		built := machine.CPUSeconds()
		if _, err := m.Distances(context.Background(), e, q); err != nil {
			b.Fatal(err)
		}
		fit, evaluate = fit+built-start, evaluate+machine.CPUSeconds()-built
		times := peer(b, "kahm.py", text...)
		numpyFit, numpyEvaluate = numpyFit+times["fit_s"], numpyEvaluate+times["evaluate_s"]
	}
	b.ReportMetric(numpyFit/fit, "numpy/fit")
	b.ReportMetric(numpyEvaluate/evaluate, "numpy/evaluate")
}

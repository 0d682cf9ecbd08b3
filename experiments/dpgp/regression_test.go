package dpgp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	modelfile "privkern/experiments/dpgp/released"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// writeOwn writes a user's file: y = 50 + 30 sin(x/4) + a cosine that stands for
// noise, at n points on [0, 20], with other values where they are given.
func writeOwn(t *testing.T, n int, other map[int]string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("name,x,y\n")
	for i := range n {
		x := 20 * math.Mod(float64(i)*0.6180339887, 1)
		row := fmt.Sprintf("%.4f,%.4f", x, 50+30*math.Sin(x/4)+3*math.Cos(97*float64(i)))
		if v := other[i]; v != "" {
			row = v
		}
		fmt.Fprintf(&b, "n%d,%s\n", i, row)
	}
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ownSettings are the public settings for [writeOwn].
func ownSettings(path string) map[string]any {
	return map[string]any{"dataset": "csv:" + path, "delta": 1e-4, "low": 0, "high": 100, "input_low": 0,
		"input_high": 20, "lengthscale": 4}
}

// forRelease makes a trial one of a release with noise of its seed.
func forRelease(t *experiment.Trial) {
	t.Secure = true
	t.Book = func(experiment.Spending) error { return nil }
	t.Entropy = rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d", t.Seed)))
}

func tryRelease(t *testing.T, seed int64, given map[string]any) (*modelfile.Model, *experiment.Release) {
	t.Helper()
	e := regression()
	trial := mustPrepare(t, e, seed, given)
	forRelease(trial)
	r, err := e.Release(context.Background(), trial)
	if err != nil {
		t.Fatalf("%v: %v", given, err)
	}
	return r.Model.(*modelfile.Model), r
}

func TestRegression(t *testing.T) {
	e := regression()
	given := ownSettings(writeOwn(t, 1500, map[int]string{3: "1,", 5: "2,140"}))
	given["epsilon"] = 3
	r := runPrepared(t, e, mustPrepare(t, e, 1, given))
	m := r.Metrics
	// The cosine has a standard deviation of 3/√2.
	if m["rmse_without_noise"] < 2 || m["rmse_without_noise"] > 6 || m["rmse"] < m["rmse_without_noise"] || m["rmse"] > 7 || m["rmse_centre"] < 15 {
		t.Errorf("%v", m)
	}
	if m["used_rows"] != 1499 || m["dropped_rows"] != 1 || m["clipped_fraction"] != 1.0/1499 || m["inducing_inputs"] != 9 {
		t.Errorf("%v", m)
	}
	if m["coverage_95"] < 0.8 || r.Privacy.Guarantee != "(3, 0.0001)-DP" || !strings.Contains(r.Privacy.Unit, "inputs (x) and output (y)") {
		t.Errorf("%v, %v", m, r.Privacy)
	}
	if r := runPrepared(t, e, mustPrepare(t, e, 1, nil)); r.Metrics["used_rows"] != 1024 || r.Metrics["rmse"] > 0.3 {
		t.Errorf("simulated: %v", r.Metrics)
	}
}

// A unit of another size changes predictions and errors by its size, and nothing
// else.
func TestOutputUnit(t *testing.T) {
	e := regression()
	path := writeOwn(t, 300, nil)
	a := runPrepared(t, e, mustPrepare(t, e, 2, ownSettings(path))).Metrics
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	for i, line := range lines[1:] {
		f := strings.Split(line, ",")
		var y float64
		if _, err := fmt.Sscan(f[2], &y); err != nil {
			t.Fatal(err)
		}
		lines[i+1] = fmt.Sprintf("%s,%s,%.10g", f[0], f[1], 1000*y-7)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	given := ownSettings(path)
	given["low"], given["high"] = -7, 99993
	b := runPrepared(t, e, mustPrepare(t, e, 2, given)).Metrics
	if math.Abs(b["rmse"]/a["rmse"]-1000) > 1e-6 || math.Abs(b["mean_sd"]/a["mean_sd"]-1000) > 1e-6 || a["coverage_95"] != b["coverage_95"] || a["sigma_a"] != b["sigma_a"] {
		t.Errorf("%v and %v", a, b)
	}
}

// A release predicts well from what is in it alone.
func TestReleasedModel(t *testing.T) {
	given := ownSettings(writeOwn(t, 3000, map[int]string{3: "1,", 5: "2,140"}))
	given["epsilon"] = 5
	m, r := tryRelease(t, 3, given)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	read, err := modelfile.Decode("m.json", text)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(3, 1, []float64{3, 10, 17})
	p, _, err := read.Predict(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	for i, mean := range p.Mean {
		if want := 50 + 30*math.Sin(x.At(i, 0)/4); math.Abs(mean-want) > 6 {
			t.Errorf("at %g: %g, want %g", x.At(i, 0), mean, want)
		}
		if math.Abs(p.Predictive[i]-math.Hypot(p.SD[i], 5)) > 1e-9 { // σ = 0.1 of half the range
			t.Errorf("at %g: sd %g, predictive %g", x.At(i, 0), p.SD[i], p.Predictive[i])
		}
	}
	if m.Privacy.RNG != "secure" || m.Privacy.Guarantee != "(5, 0.0001)-DP" || m.Output != (modelfile.Output{Name: "y", Centre: 50, Scale: 50}) || math.Abs(m.Noise-0.01) > 1e-15 {
		t.Errorf("%+v", m)
	}
	// What depends on the data without noise is nowhere: neither the counts nor the
	// errors of a trial.
	for name := range r.Metrics {
		switch name {
		case "inducing_inputs", "r_k_sq", "sensitivity", "sigma_a", "lambda":
		default:
			t.Errorf("the release has the metric %s", name)
		}
	}
	if r.Rows != nil || len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
}

// With equal noise, a substituted row moves the noisy sums by no more than the
// sensitivity; all that is released but the mean and the covariance stays.
func TestReleaseOfNeighbours(t *testing.T) {
	for _, row := range []string{"19.5,100", "0.5,-1e9", "-400,0"} {
		a, ra := tryRelease(t, 4, ownSettings(writeOwn(t, 200, nil)))
		b, rb := tryRelease(t, 4, ownSettings(writeOwn(t, 200, map[int]string{7: row})))
		if fmt.Sprint(a.Mean) == fmt.Sprint(b.Mean) {
			t.Errorf("%s: the row has no effect", row)
		}
		a.Mean, b.Mean, a.Covariance, b.Covariance = nil, nil, nil, nil
		at, _ := json.Marshal(a)
		bt, _ := json.Marshal(b)
		if string(at) != string(bt) || fmt.Sprint(ra.Metrics, ra.Warnings) != fmt.Sprint(rb.Metrics, rb.Warnings) {
			t.Errorf("%s: %s\n%s", row, at, bt)
		}
	}
	sums := func(other map[int]string) (A []float64, B *mat.Dense, r *regressor) {
		r, err := newRegressor(mustPrepare(t, regression(), 0, ownSettings(writeOwn(t, 200, other))))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.e.Close() }()
		s, err := sparsegp.Sum(context.Background(), r.e, r.model.inducing, r.x, r.y, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s.A, s.B, r
	}
	a, b, r := sums(nil)
	for _, row := range []string{"19.5,100", "0.5,-1e9", "10,1e9", "-400,0"} {
		a2, b2, _ := sums(map[int]string{7: row})
		square := 0.0
		for i := range a {
			square += (a[i] - a2[i]) * (a[i] - a2[i])
			for j := range a {
				square += (b.At(i, j) - b2.At(i, j)) * (b.At(i, j) - b2.At(i, j))
			}
		}
		if d := math.Sqrt(square); d == 0 || d > r.noise.sensitivity {
			t.Errorf("%s moves the sums by %g, the sensitivity is %g", row, d, r.noise.sensitivity)
		}
	}
}

// The sums get the noise that the model says, and repeated releases vary as their
// own standard deviations say.
func TestReleaseNoise(t *testing.T) {
	e := regression()
	given := ownSettings(writeOwn(t, 50, nil))
	given["inducing"], given["epsilon"] = "3", 2
	r, err := newRegressor(mustPrepare(t, e, 0, given))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.e.Close() }()
	s, err := sparsegp.Sum(context.Background(), r.e, r.model.inducing, r.x, r.y, nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	var a, diagonal, beside []float64
	const draws = 4000
	for range draws {
		n := r.noise.noisyCopy(s, rng)
		for i := range n.A {
			a, diagonal = append(a, n.A[i]-s.A[i]), append(diagonal, n.B.At(i, i)-s.B.At(i, i))
			for j := range i {
				if n.B.At(i, j) != n.B.At(j, i) {
					t.Fatal("B is not symmetric")
				}
				beside = append(beside, n.B.At(i, j)-s.B.At(i, j))
			}
		}
	}
	for _, c := range []struct {
		what   string
		values []float64
		sigma  float64
	}{{"A", a, r.noise.sigmaA}, {"diagonal of B", diagonal, r.noise.sigmaB}, {"beside it", beside, r.noise.sigmaB / math.Sqrt2}} {
		mean, sd := stat.MeanStdDev(c.values, nil)
		k := math.Sqrt(float64(len(c.values)))
		if math.Abs(mean) > 5*c.sigma/k || math.Abs(sd/c.sigma-1) > 5/k {
			t.Errorf("%s: mean %g, sd %g, want 0 and %g", c.what, mean, sd, c.sigma)
		}
	}
	// Releases of different streams differ, at the scale of S.
	x := mat.NewDense(1, 1, []float64{10})
	var means, sds []float64
	for seed := range int64(60) {
		m, _ := tryRelease(t, seed, given)
		p, _, err := m.Predict(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		means, sds = append(means, p.Mean[0]), append(sds, p.SD[0])
	}
	if _, sd := stat.MeanStdDev(means, nil); sd == 0 || sd > 2*stat.Mean(sds, nil) {
		t.Errorf("the means of releases vary by %g; their sd is %g", sd, stat.Mean(sds, nil))
	}
}

// Inputs of two dimensions, on a lattice and from a file.
func TestTwoInputs(t *testing.T) {
	z := lattice(3, 2, 0, 10)
	if n, d := z.Dims(); n != 9 || d != 2 || z.At(1, 0) != 0 || z.At(1, 1) != 5 || z.At(8, 0) != 10 || z.At(3, 0) != 5 {
		t.Errorf("%v", mat.Formatted(z))
	}
	if z := lattice(1, 2, 0, 10); z.At(0, 0) != 5 {
		t.Errorf("%v", mat.Formatted(z))
	}
	path := filepath.Join(t.TempDir(), "d.csv")
	text := "a,b,y\n"
	for i := range 100 {
		text += fmt.Sprintf("%d,%d,%d\n", i%10, i/10, i%10+i/10)
	}
	points := filepath.Join(t.TempDir(), "z.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(points, []byte("b,a\n0,0\n0,9\n9,0\n9,9\n5,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	given := map[string]any{"dataset": "csv:" + path, "delta": 1e-4, "inputs": "a+b", "low": 0, "high": 18,
		"inducing": "csv:" + points, "lengthscale": 8}
	m, _ := tryRelease(t, 1, given)
	if m.Mechanism.Bound != boundEq8 || len(m.Inducing) != 5 || fmt.Sprint(m.Inducing[1], m.Inducing[4]) != "[9 0] [4 5]" {
		t.Errorf("%+v", m)
	}
	delete(given, "inducing")
	given["input_low"], given["input_high"], given["inducing"] = 0, 9, "3"
	if m, _ := tryRelease(t, 1, given); len(m.Inducing) != 9 || len(m.Inducing[0]) != 2 {
		t.Errorf("%+v", m)
	}
}

func TestRegressionWorkers(t *testing.T) {
	e := regression()
	given := ownSettings(writeOwn(t, 120, nil))
	var want string
	for _, workers := range []int{1, 3} {
		trial := mustPrepare(t, e, 2, given)
		trial.Workers = workers
		got := fmt.Sprint(runPrepared(t, e, trial).Metrics)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%d workers: %s, want %s", workers, got, want)
		}
	}
}

func TestRegressionRefuses(t *testing.T) {
	path := writeOwn(t, 20, nil)
	with := func(changes ...any) map[string]any {
		out := ownSettings(path)
		for i := 0; i < len(changes); i += 2 {
			out[changes[i].(string)] = changes[i+1]
		}
		return out
	}
	e := regression()
	for _, c := range []struct {
		given map[string]any
		want  string
	}{
		{with("low", none), "low and high are not given: they are the public range of the output"},
		{with("input_low", none, "input_high", none), "input_low and input_high are not given"},
		{with("low", 5, "high", 5), "low must be below high"},
		{with("dataset", "my.csv"), "simulated or csv:PATH"},
		{with("inputs", "x+x"), `"x" is named twice`},
		{with("inputs", "x+y"), "it is one of the inputs, too"},
		{with("inputs", "x+"), "write the names"},
		{with("inducing", "many"), "nor csv:PATH"},
		{with("inducing", "0"), "inducing"},
		{with("inputs", "x+name", "inducing", "30"), "a grid in 2 inputs has 900 points"},
		{with("inputs", "x+name", "bound", "exact"), "bound = exact is for one input"},
		{map[string]any{"inputs": "a+b"}, "simulated data have one input"},
	} {
		if _, err := prepared(e, 0, c.given); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.given, err, c.want)
		}
	}
	for _, c := range []struct {
		given map[string]any
		want  string
	}{
		{with("inputs", "z"), `unknown column "z"`},
		{with("output", "name"), "expected a number"},
		{with("holdout", 0.01), "leaves 0 of 20 rows"},
	} {
		trial := mustPrepare(t, e, 0, c.given)
		if _, err := e.Run(context.Background(), trial); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.given, err, c.want)
		}
	}
	for _, c := range []struct {
		given map[string]any
		want  string
	}{
		{with("epsilon", "inf"), "would protect nobody"},
		{nil, "simulated data need no release"},
		{with("inducing", "csv:"+path), "inducing names the file of the data"},
		{with("inputs", "mean"), `predictions have a column "mean"`},
	} {
		trial := mustPrepare(t, e, 0, c.given)
		forRelease(trial)
		if _, err := e.Release(context.Background(), trial); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("release of %v: %v, want %q", c.given, err, c.want)
		}
	}
}

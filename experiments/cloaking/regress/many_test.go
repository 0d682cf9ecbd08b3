package regress

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// manyRows is a file of rows with some different inputs, in clusters far from each other.
func manyRows(rows, different int) string {
	var b strings.Builder
	b.WriteString("a,y\n")
	for i := range rows {
		u := i * 7 % different
		fmt.Fprintf(&b, "%d,%.3f\n", u%9*1000+u/9, math.Sin(float64(u))+math.Cos(float64(i)))
	}
	return b.String()
}

// Far more rows than a matrix is formed for, repeated or in clusters between which the kernel underflows, are predicted
// by method=sparse with a certificate, and a record lists some of them.
func TestManyRows(t *testing.T) {
	const rows = 12_000
	for _, different := range []int{50, 3000} {
		o := validated(t, trialtest.Options{File: cloaktest.File(t, manyRows(rows, different))}, ownFile("a", "y", -2, 2),
			func(s *regressionSettings) {
				s.Method, s.Inducing, s.Delta, s.Folds.Folds, s.Draws = cloak.Sparse, placed(9), 1e-6, 2, 3
				s.Lengthscale = method.LengthscalesOf(5)
			})
		if m := o.Metrics; *m.Rank != 9 || *m.Gap > 2e-8 || !(*m.RMSE < 1.1) || !(*m.NoiseSD > 0 && *m.NoiseSD < .25) {
			t.Errorf("%d different: rank %g, gap %g, error %g, noise %g", different, *m.Rank, *m.Gap, *m.RMSE, *m.NoiseSD)
		}
		p := o.Series["predictions"]
		if len(p["x"]) != listedRows || len(p["noise_sd"]) != listedRows || !slices.IsSorted(p["x"]) {
			t.Errorf("%d rows are listed", len(p["x"]))
		}
		if !slices.Contains(o.Privacy.Notes,
			"predictions are listed for 10000 of the 12000 rows, evenly along the first input") {
			t.Errorf("notes %q", o.Privacy.Notes)
		}
	}
}

// The memory of a trial grows with the rows of the file: by the square of the rows, but for the sparse method.
func TestMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(manyRows(10_000, 10_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(m cloak.Method, folds, inducing int) int64 {
		s := Regression().With(ownFile("a", "y", -2, 2))
		s.Dataset, s.Method, s.Folds.Folds, s.Inducing = "csv:"+path, m, folds, placed(inducing)
		return memory(s) >> 20
	}
	if got := at(cloak.Standard, 5, 0); got < 3000 || got > 3400 {
		t.Errorf("standard: %d MiB", got)
	}
	few, folds, inducing := at(cloak.Sparse, 2, 20), at(cloak.Sparse, 5, 20), at(cloak.Sparse, 2, 2000)
	if few < 100 || few > 140 || folds <= few || folds > 200 || inducing < 750 || inducing > 1000 {
		t.Errorf("sparse: %d, %d and %d MiB", few, folds, inducing)
	}
	release := Regression().With(ownFile("a", "y", -2, 2))
	release.Dataset, release.Method, release.Inducing = "csv:"+path, cloak.Sparse, placed(2000)
	before := memory(release)
	if release.Predict = "csv:" + path; memory(release)-before < 5*8*2000*9_000 {
		t.Errorf("10,000 points: %d MiB", (memory(release)-before)>>20)
	}
	if got := memory(Regression().With()); got != 0 {
		t.Errorf("the census: %d", got)
	}
}

// A release from many rows of a kernel matrix of low rank forms no matrix of their order.
func TestReleaseOfManyRows(t *testing.T) {
	const rows = 2600
	file, points := cloaktest.File(t, manyRows(rows, rows)), cloaktest.File(t, "a\n3\n4007\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := published(t, trialtest.Options{}, ownFile("a", "y", -2, 2), predicting("csv:"+points),
		func(s *regressionSettings) {
			s.Dataset, s.Delta, s.Lengthscale = "csv:"+file, 1e-6, method.LengthscalesOf(900)
		})
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; len(r.Rows) != 2 || got > 8*rows*rows {
		t.Errorf("%d rows, %d bytes", len(r.Rows), got)
	}
}

// Folds that are not in memory together have random first weights of their own: two of the same inputs have two
// designs.
func TestFirstWeightsOfFolds(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,y\n")
	for i := range 4200 {
		fmt.Fprintf(&b, "%d,%d\n", i/4%6, i%3)
	}
	o := validated(t, trialtest.Options{File: cloaktest.File(t, b.String())}, ownFile("a", "y", 0, 2),
		func(s *regressionSettings) {
			s.Folds, s.Algorithm, s.Steps = cloak.Folds{Folds: 4, FoldScheme: cloak.Interleaved}, cloak.Gradient, 1
			s.Start, s.Starts = experiment.Or[cloak.Weights, float64]{Word: cloak.RandomStart, IsWord: true}, 1
			s.Delta, s.Draws, s.Lengthscale = 1e-6, 1, method.LengthscalesOf(2)
		})
	if sd := o.Series["predictions"]["noise_sd"]; sd[0] == sd[1] { // of rows 0 and 1
		t.Errorf("two folds have noise of %g", sd[0])
	}
}

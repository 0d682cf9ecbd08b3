package nearest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/learn"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// trialOn returns a trial on data sets in a folder for each name.
func trialOn(t *testing.T, folders map[string]string, workers int) *experiment.Trial {
	t.Helper()
	return trialtest.New(t, trialtest.Options{Seed: 1, Workers: workers,
		Dataset: func(name string) string { return folders[name] }})
}

// put writes a file.
func put(t *testing.T, content []byte, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// folderOf returns the folder of a real data set and skips the test without it.
func folderOf(t *testing.T, name string) string {
	t.Helper()
	if os.Getenv(dataset.DataVariable) == "" {
		t.Skipf("needs the data set %s: set $%s", name, dataset.DataVariable)
	}
	folder, _, err := dataset.NewLocator("").Find(name)
	if err != nil {
		t.Skip(err)
	}
	return folder
}

func TestMatchingScores(t *testing.T) {
	inf := math.Inf(1)
	distances := mat.NewDense(5, 3, []float64{
		1, 2, 2, // Σ = 9
		3, 0, 4,
		1, inf, 1,
		0, 0, 0,
		inf, inf, inf,
	})
	scores := matchingScores(distances)
	for i, row := range [][]float64{
		{math.Exp(-1. / 9), math.Exp(-4. / 9), math.Exp(-4. / 9)},
		{math.Exp(-9. / 25), 1, math.Exp(-16. / 25)},
		{math.Exp(-.5), 0, math.Exp(-.5)},
		{math.Exp(-1. / 3), math.Exp(-1. / 3), math.Exp(-1. / 3)},
		{0, 0, 0},
	} {
		t.Run(fmt.Sprint(distances.RawRowView(i)), func(t *testing.T) {
			sum := 0.0 // of −ln ms_c over the classes with a distance: 1 by Eq. 63
			for c, w := range row {
				got := scores.At(i, c)
				if math.Abs(got-w) > 1e-15 {
					t.Errorf("class %d: %g, want %g", c, got, w)
				}
				if got > 0 {
					sum -= math.Log(got)
				}
			}
			if i < 4 && math.Abs(sum-1) > 1e-14 {
				t.Errorf("−Σ ln ms is %g, want 1", sum)
			}
		})
	}
}

func TestOverall(t *testing.T) {
	inf := math.Inf(1)
	got := overall(&hull.Nearest{
		Distance: mat.NewDense(3, 2, []float64{2, 1, 3, 3, inf, inf}),
		Machine:  [][]int{{4, 7}, {4, 7}, {-1, -1}},
		Pairs:    6,
	})
	if want := mat.NewDense(3, 1, []float64{1, 3, inf}); !mat.Equal(got.Distance, want) {
		t.Errorf("distances %v, want %v", mat.Formatted(got.Distance), mat.Formatted(want))
	}
	for i, want := range []int{7, 4, -1} { // of equal ones the first class
		if got.Machine[i][0] != want {
			t.Errorf("point %d: machine %d, want %d", i, got.Machine[i][0], want)
		}
	}
	if got.Pairs != 6 {
		t.Errorf("%d pairs, want 6", got.Pairs)
	}
}

// The area under the mean curve is the mean of the areas, but for the drawing's
// resolution.
func TestMeanROC(t *testing.T) {
	const rows, classes = 600, 3
	scores, labels := mat.NewDense(rows, classes, nil), make([]int, rows)
	for i := range rows {
		labels[i] = i % classes
		for c := range classes {
			v := math.Sin(float64(i*i+5*c) * .7)
			if c == labels[i] {
				v += .4 + .3*float64(c)
			}
			scores.Set(i, c, v)
		}
	}
	auc, err := learn.MacroAUC(scores, labels)
	if err != nil {
		t.Fatal(err)
	}
	roc, err := meanROC(scores, labels)
	if err != nil {
		t.Fatal(err)
	}
	x, y := roc["x"], roc["mean_true_positive_rate"]
	area := 0.0
	for i := range x[1:] {
		area += (x[i+1] - x[i]) * (y[i] + y[i+1]) / 2
	}
	if math.Abs(area-auc) > 1e-3 || auc < .6 || auc > .9 {
		t.Errorf("area under the mean curve %g, mean area %g", area, auc)
	}
	if last := len(x) - 1; x[0] != 0 || x[last] != 1 || math.Abs(y[last]-1) > 1e-12 || !slices.IsSorted(y) {
		t.Errorf("not a curve from 0 to (1, 1): %v", y)
	}
	_, err = meanROC(scores, make([]int, rows))
	trialtest.Refuses(t, err, "class 0 against the others: AUC: no negative rows")
}

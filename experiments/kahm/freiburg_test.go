package kahm

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"
)

// writeGroceries writes five classes of 12 training and 4 test images with 30
// features each, and split 0 (the paper's 1) in the formats of the data sets.
// Feature j of image i of class c is
//
//	(j+1) (cos(1.3jc) + 0.3 sin(0.37ij + i)) + 10
//
// so that the features have different scales, but feature 4, which is 10.
// changed replaces the content of files.
func writeGroceries(t *testing.T, changed map[string]string) (folders map[string]string) {
	t.Helper()
	const classes, train, test, columns = 5, 12, 4, 30
	features := mat.NewDense(classes*(train+test), columns, nil)
	var names, trainList, testList, classList strings.Builder
	row := 0
	for c := range classes {
		fmt.Fprintf(&classList, "CLASS%d %d\n", c, c)
		for i := range train + test {
			name := fmt.Sprintf("CLASS%d/%02d.png", c, i)
			fmt.Fprintln(&names, name)
			list := &trainList
			if i >= train {
				list = &testList
			}
			fmt.Fprintln(list, name, c)
			for j := range columns {
				x, k := float64(i+1), float64(j)
				v := (k+1)*(math.Cos(1.3*k*float64(c))+.3*math.Sin(.37*x*k+x)) + 10
				if j == 4 {
					v = 10
				}
				features.Set(row, j, v)
			}
			row++
		}
	}
	var array bytes.Buffer
	if err := npy.Write(&array, features); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, content := range map[string]string{
		"classid.txt": classList.String(), "splits/train0.txt": trainList.String(), "splits/test0.txt": testList.String(),
		"images.txt": names.String(), "features.npy": array.String(),
	} {
		if other, ok := changed[name]; ok {
			content = other
		}
		put(t, []byte(content), folder, name)
	}
	return map[string]string{dataFreiburg: folder, dataFreiburgFeatures: folder}
}

func TestFreiburg(t *testing.T) {
	folders := writeGroceries(t, nil)
	small := map[string]any{"n": 3, "layers": 2}
	r := mustRunOn(t, freiburg(), folders, small)
	for name, want := range map[string]float64{"accuracy": 1, "accuracy_percent": 100, "balanced_accuracy": 1, "auc": 1, "branches": 5, "unsafe_points": 0} {
		if r.Metrics[name] != want {
			t.Errorf("%s is %v, want %v: the classes are far apart", name, r.Metrics[name], want)
		}
	}
	if r.Privacy != nil {
		t.Errorf("privacy %+v without noise", r.Privacy)
	}
	if y := r.Series["roc"]["mean_true_positive_rate"]; len(y) != rocPoints || y[0] != 1 {
		t.Errorf("ROC curve %v, want 1 throughout", y)
	}
	if f := r.Metrics["clipped_fraction"]; !(f > 0 && f < .5) {
		t.Errorf("%g of the test features were clipped", f)
	}

	noisy := mustRunOn(t, freiburg(), folders, map[string]any{"n": 3, "layers": 2, "data": dataNoisy, "epsilon": .5})
	if noisy.Metrics["accuracy"] >= 1 || noisy.Metrics["auc"] >= 1 {
		t.Errorf("noise of ε = 0.5 leaves the accuracy %g and the AUC %g", noisy.Metrics["accuracy"], noisy.Metrics["auc"])
	}
	if p := noisy.Privacy; p == nil || !strings.Contains(p.Unit, "one scaled feature") ||
		!strings.Contains(strings.Join(p.Notes, "; "), "row of 30 features") || !strings.HasPrefix(p.Statement(),
		"no guarantee: the range that scales each feature") {
		t.Errorf("privacy %+v", p)
	}
	fabricated := mustRunOn(t, freiburg(), folders, map[string]any{"n": 3, "layers": 2, "data": dataFabricated, "epsilon": 32, "variant": variantPublished})
	if fabricated.Metrics["accuracy"] < .9 || fabricated.Metrics["smoothing_steps_max"] < 0 {
		t.Errorf("fabricated data: %v", fabricated.Metrics)
	}

	// However many workers, the same result.
	two, err := runOn(freiburg(), folders, 2, small)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mis", "attack_auc", "auc", "accuracy", "evaluated_fraction"} {
		if two.Metrics[name] != r.Metrics[name] {
			t.Errorf("%s is %v with two workers and %v with one", name, two.Metrics[name], r.Metrics[name])
		}
	}
}

func TestFreiburgBadInput(t *testing.T) {
	whole := writeGroceries(t, nil)
	classless := "CLASS0/00.png 0\nCLASS1/00.png 1\nCLASS2/00.png 2\nCLASS4/00.png 4\n"
	for _, c := range []struct {
		name    string
		folders map[string]string
		given   map[string]any
		want    string
	}{
		{"split 0", whole, map[string]any{"split": 0}, "split"},
		{"split 6", whole, map[string]any{"split": 6}, "split"},
		{"a split without files", whole, map[string]any{"split": 2}, "test1.txt"},
		{"more directions than features", whole, map[string]any{"n": 31}, "n = 31, but the images have only 30 features: use an n of at most 30"},
		{"more layers than directions", whole, map[string]any{"n": 3}, "layers = 5"},
		{"no training image", writeGroceries(t, map[string]string{"splits/train0.txt": classless}), nil, "split 1: class 3 (CLASS3) has no training image"},
		{"no test image", writeGroceries(t, map[string]string{"splits/test0.txt": strings.ReplaceAll(classless, "/00", "/15"), "splits/train0.txt": classless + "CLASS3/00.png 3\n"}), nil, "split 1: class 3 (CLASS3) has no test image"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := runOn(freiburg(), c.folders, 1, c.given)
			refused(t, err, c.want)
		})
	}
}

func TestScaleToTraining(t *testing.T) {
	train := mat.NewDense(3, 4, []float64{
		0, 5, -1e308, 1,
		10, 5, 1.5e308, 3,
		5, 5, 0, 2,
	})
	test := mat.NewDense(2, 4, []float64{
		20, 7, 2.5e307, 2.5,
		2.5, 5, -1.7e308, 1,
	})
	clipped := scaleToTraining(train, test)
	// Clipped are 20 and −1.7e308; 7 is in a constant column.
	if want := 2. / 8; clipped != want {
		t.Errorf("%g clipped, want %g", clipped, want)
	}
	for _, c := range []struct {
		what      string
		got, want *mat.Dense
	}{
		{"training", train, mat.NewDense(3, 4, []float64{-1, 0, -1, -1, 1, 0, 1, 1, 0, 0, -.2, 0})},
		{"test", test, mat.NewDense(2, 4, []float64{1, 0, 0, .5, -.5, 0, -1, -1})},
	} {
		if !mat.EqualApprox(c.got, c.want, 1e-15) {
			t.Errorf("%s:\n%v\nwant\n%v", c.what, mat.Formatted(c.got), mat.Formatted(c.want))
		}
	}
}

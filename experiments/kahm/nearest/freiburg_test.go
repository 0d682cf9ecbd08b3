package nearest

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
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
		"classid.txt": classList.String(), "splits/train0.txt": trainList.String(),
		"splits/test0.txt": testList.String(), "images.txt": names.String(), "features.npy": array.String(),
	} {
		if other, ok := changed[name]; ok {
			content = other
		}
		put(t, []byte(content), folder, name)
	}
	return map[string]string{dataFreiburg: folder, dataFreiburgFeatures: folder}
}

// freiburgOf runs a trial with 3 directions and 2 layers, and a change.
func freiburgOf(t *testing.T, folders map[string]string, workers int, change func(*FreiburgSettings),
) *experiment.Outcome[FreiburgMetrics] {
	t.Helper()
	s := Freiburg().With(func(s *FreiburgSettings) { s.N, s.Layers = 3, 2; change(s) })
	out, err := Freiburg().Compute(t.Context(), trialOn(t, folders, workers), s)
	if err != nil {
		t.Fatal(err)
	}
	finiteMetrics(t, out.Metrics)
	return out
}

func TestFreiburg(t *testing.T) {
	out := freiburgOf(t, writeGroceries(t, nil), 1, func(*FreiburgSettings) {})
	m := out.Metrics
	if m.Accuracy != 1 || m.AccuracyPercent != 100 || m.BalancedAccuracy != 1 || m.AUC != 1 || m.Branches != 5 ||
		m.UnsafePoints != 0 {
		t.Errorf("%v, but the classes are far apart", experiment.MetricValues(m))
	}
	if out.Privacy != nil {
		t.Errorf("privacy %+v without noise", out.Privacy)
	}
	if y := out.Series["roc"]["mean_true_positive_rate"]; len(y) != rocPoints || y[0] != 1 {
		t.Errorf("ROC curve %v, want 1 throughout", y)
	}
	if f := m.ClippedFraction; !(f > 0 && f < .5) {
		t.Errorf("%g of the test features were clipped", f)
	}
}

func TestFreiburgWithNoise(t *testing.T) {
	folders := writeGroceries(t, nil)
	noisy := freiburgOf(t, folders, 1, func(s *FreiburgSettings) { s.Data, s.Epsilon = wide.Noisy, .5 })
	if m := noisy.Metrics; m.Accuracy >= 1 || m.AUC >= 1 {
		t.Errorf("noise of ε = 0.5 leaves the accuracy %g and the AUC %g", m.Accuracy, m.AUC)
	}
	if p := noisy.Privacy; p == nil || !strings.Contains(p.Unit, "one scaled feature") ||
		!strings.Contains(strings.Join(p.Notes, "; "), "row of 30 features") || !strings.HasPrefix(p.Statement(),
		"no guarantee: the range that scales each feature") {
		t.Errorf("privacy %+v", p)
	}
	fabricated := freiburgOf(t, folders, 1, func(s *FreiburgSettings) {
		s.Data, s.Epsilon, s.Variant = wide.Fabricated, 32, wide.AsPublished
	}).Metrics
	if fabricated.Accuracy < .9 || fabricated.SmoothingStepsMax == nil || fabricated.FabricationTime == nil {
		t.Errorf("fabricated data: %v", experiment.MetricValues(fabricated))
	}
}

func TestFreiburgDoesNotDependOnWorkers(t *testing.T) {
	folders := writeGroceries(t, nil)
	one := freiburgOf(t, folders, 1, func(*FreiburgSettings) {}).Metrics
	two := freiburgOf(t, folders, 2, func(*FreiburgSettings) {}).Metrics
	if a, b := untimed(Freiburg(), one), untimed(Freiburg(), two); !maps.Equal(a, b) {
		t.Errorf("with one worker %v, with two %v", a, b)
	}
}

func TestFreiburgBadInput(t *testing.T) {
	whole := writeGroceries(t, nil)
	classless := "CLASS0/00.png 0\nCLASS1/00.png 1\nCLASS2/00.png 2\nCLASS4/00.png 4\n"
	for _, c := range []struct {
		name    string
		folders map[string]string
		change  func(*FreiburgSettings)
		want    string
	}{
		{"split 0", whole, func(s *FreiburgSettings) { s.Split = 0 }, "split"},
		{"split 6", whole, func(s *FreiburgSettings) { s.Split = 6 }, "split"},
		{"a split without files", whole, func(s *FreiburgSettings) { s.Split = 2 }, "test1.txt"},
		{"more directions than features", whole, func(s *FreiburgSettings) { s.N = 31 },
			"n = 31, but the images have only 30 features: use an n of at most 30"},
		{"more layers than directions", whole, func(s *FreiburgSettings) { s.N = 3 }, "layers = 5"},
		{"no training image", writeGroceries(t, map[string]string{"splits/train0.txt": classless}),
			func(*FreiburgSettings) {}, "split 1: class 3 (CLASS3) has no training image"},
		{"no test image", writeGroceries(t, map[string]string{
			"splits/test0.txt":  strings.ReplaceAll(classless, "/00", "/15"),
			"splits/train0.txt": classless + "CLASS3/00.png 3\n",
		}), func(*FreiburgSettings) {}, "split 1: class 3 (CLASS3) has no test image"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Freiburg().Compute(t.Context(), trialOn(t, c.folders, 1), Freiburg().With(c.change))
			trialtest.Refuses(t, err, c.want)
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
		t.Run(c.what, func(t *testing.T) {
			if !mat.EqualApprox(c.got, c.want, 1e-15) {
				t.Errorf("got\n%v\nwant\n%v", mat.Formatted(c.got), mat.Formatted(c.want))
			}
		})
	}
}

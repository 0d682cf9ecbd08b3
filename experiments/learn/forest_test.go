package learn

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Mean accuracies of RandomForestClassifier of scikit-learn 1.9.1 with 100
// trees, over ten seeds, their standard deviations in brackets.
func TestForestAgainstScikitLearn(t *testing.T) {
	for _, c := range []struct {
		n, d, classes  int
		strength       float64
		want, deviates float64
	}{
		{600, 5, 4, 0.3, 0.8465, 0.0155},
	} {
		t.Run(fmt.Sprintf("%d samples, %d features, %d classes", c.n, c.d, c.classes), func(t *testing.T) {
			x, labels, test, testLabels := halves(c.n, c.n*2/3, c.d, c.classes, c.strength)
			const seeds = 5
			mean := 0.0
			for seed := range uint64(seeds) {
				f, err := TrainForest(x, labels, stream(seed), ForestOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if a := Accuracy(f.Predict(x), labels); a < 1 {
					t.Errorf("accuracy %g on its own samples", a)
				}
				mean += Accuracy(f.Predict(test), testLabels) / seeds
			}
			// Three standard deviations of the difference of two means.
			if band := 3 * c.deviates * math.Sqrt(1./seeds+1./10); math.Abs(mean-c.want) > band {
				t.Errorf("%d samples of %d features: accuracy %.4f, want %.4f ± %.4f", c.n, c.d, mean, c.want, band)
			}
		})
	}
}

// The number of workers changes nothing, the stream does.
func TestForestIsDeterministic(t *testing.T) {
	x, labels := formulaSamples(200, 9, 3, 0.3)
	grow := func(seed uint64, workers int) *Forest {
		f, err := TrainForest(x, labels, stream(seed), ForestOptions{Trees: 20, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one := grow(1, 1)
	for _, workers := range []int{0, 2, 7, 50} {
		if !reflect.DeepEqual(grow(1, workers), one) {
			t.Errorf("%d workers: another forest", workers)
		}
	}
	if reflect.DeepEqual(grow(2, 1), one) {
		t.Error("another stream, the same forest")
	}
}

// A tree splits halfway between the values that it saw, by the feature that
// separates the classes, even if that is one of many constant ones.
func TestForestSplit(t *testing.T) {
	x := mat.NewDense(8, 10, nil)
	labels := make([]int, 8)
	for i := range 8 {
		x.Set(i, 7, float64(i))
		labels[i] = 3 * (i / 4)
	}
	f, err := TrainForest(x, labels, stream(1), ForestOptions{Trees: 30})
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range f.trees {
		if len(tree.nodes) == 1 {
			continue // it drew samples of one class
		}
		root := tree.nodes[0]
		if len(tree.nodes) != 3 || root.feature != 7 || math.Mod(root.threshold, 0.5) != 0 ||
			tree.nodes[root.left].left != 0 || tree.nodes[root.right].left != 1 {
			t.Errorf("%+v", tree)
		}
	}
	if got := f.Predict(x); !slices.Equal(got, labels) {
		t.Errorf("predictions %v", got)
	}
}

// Equal samples of different classes end in one leaf with the shares of both.
func TestForestOfEqualSamples(t *testing.T) {
	x := mat.NewDense(9, 2, nil)
	f, err := TrainForest(x, []int{1, 1, 1, 1, 1, 1, 2, 2, 2}, stream(1), ForestOptions{Trees: 200})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Predict(mat.NewDense(1, 2, []float64{5, 5})); got[0] != 1 {
		t.Errorf("class %d, want the more frequent one", got[0])
	}
	// Neighbouring numbers: the threshold is not above the lower one.
	low := 1.0
	high := math.Nextafter(low, 2)
	x = mat.NewDense(4, 1, []float64{low, low, high, high})
	f, err = TrainForest(x, []int{0, 0, 1, 1}, stream(1), ForestOptions{})
	if err != nil || !slices.Equal(f.Predict(x), []int{0, 0, 1, 1}) {
		t.Errorf("neighbouring numbers: %v, %v", f.Predict(x), err)
	}
	// A bound on the depth leaves a stump.
	y, labels := formulaSamples(100, 3, 4, 0.3)
	f, err = TrainForest(y, labels, stream(1), ForestOptions{Depth: 1})
	if err != nil || len(f.trees[0].nodes) != 3 {
		t.Errorf("a stump of %d nodes, %v", len(f.trees[0].nodes), err)
	}
}

func TestForestRefusals(t *testing.T) {
	good, labels := formulaSamples(6, 2, 2, 1)
	bad := mat.DenseCopyOf(good)
	bad.Set(3, 1, math.NaN())
	for _, c := range []struct {
		x      *mat.Dense
		labels []int
		opts   ForestOptions
		want   string
	}{
		{good, labels[1:], ForestOptions{}, "6 samples, but 5 labels"},
		{bad, labels, ForestOptions{}, "row 3, column 1 of the samples is NaN"},
		{good, labels, ForestOptions{Trees: -1}, "none may be negative"},
		{good, labels, ForestOptions{Features: 3}, "of 2 features not more can be tried"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, err := TrainForest(c.x, c.labels, stream(1), c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func BenchmarkForest(b *testing.B) {
	x, labels := formulaSamples(5451, 15, 20, 0.3)
	for b.Loop() {
		if _, err := TrainForest(x, labels, stream(1), ForestOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

package learn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

// neighbourClasses predicts with a single k.
func neighbourClasses(t testing.TB, x *mat.Dense, labels []int, queries *mat.Dense, k int) ([]int, error) {
	t.Helper()
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	all, err := NearestNeighbours(context.Background(), e, x, labels, queries, k, 1, len(labels))
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func TestNearestNeighbours(t *testing.T) {
	// Distances from 0: 1, 1, 2, 2, 2, 3.
	x := mat.NewDense(6, 1, []float64{1, -1, 2, -2, 2, 3})
	labels := []int{8, 5, 8, 5, 3, 3}
	for k, want := range map[int]int{
		1: 8, // the earlier of rows 0 and 1
		2: 5, // one vote each: the smaller class
		3: 8, // rows 0 to 2
		4: 5, // two votes each
		6: 3, // two votes each
	} {
		t.Run(fmt.Sprint("k = ", k), func(t *testing.T) {
			got, err := neighbourClasses(t, x, labels, mat.NewDense(2, 1, []float64{0, 10}), k)
			if err != nil || got[0] != want {
				t.Errorf("%d neighbours of 0: class %v, %v; want %d", k, got, err, want)
			}
		})
	}
}

// Predictions of KNeighborsClassifier of scikit-learn 1.9.1 for rows 400 to 599
// of formulaSamples(600, 5, 4, 0.3) from those before.
func TestNearestNeighboursAgainstScikitLearn(t *testing.T) {
	x, labels, test, _ := halves(600, 400, 5, 4, 0.3)
	for k, want := range map[int]string{
		1: "3130012301230123312301233120312001233120312301200123312301233123012031203120012031203123012001230123" +
			"3120012031203123312031233123312331200123312331233120312031230123312331233123312301233123312331203123",
		5: "0120312301230123012031203123012301230120012301230123312331230123312301230120312331230123012331233123" +
			"3123012301200123012331233123312301233123012331230123302331230123312331203123312331230123012331203123",
		20: "0120012001230120012301230123011001233120012331200120012001230123011001230120312301200123012001200120" +
			"3120012301200120012001203120312031233110012331203120032001230120312031233120312331200123312331200023",
	} {
		t.Run(fmt.Sprint("k = ", k), func(t *testing.T) {
			got, err := neighbourClasses(t, x, labels, test, k)
			if err != nil || digits(got) != want {
				t.Errorf("%d neighbours: %v\n%s, want\n%s", k, err, digits(got), want)
			}
		})
	}
}

// Far from zero, where a matrix product knows nothing of the differences, and
// in more than one block, the neighbours are those of the sums of squares.
func TestNearestNeighboursAreExact(t *testing.T) {
	x, labels := formulaSamples(500, 4, 7, 0.2)
	x.Apply(func(i, _ int, v float64) float64 {
		if i == 499 { // one that is far away spoils the scale
			return -1e9
		}
		return 1e6 + math.Round(8*v)
	}, x)
	got, err := neighbourClasses(t, x, labels, x, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		rows := AllRows(500)
		slices.SortStableFunc(rows, func(a, b int) int {
			d := squaredDistance(x.RawRowView(i), x.RawRowView(a)) - squaredDistance(x.RawRowView(i), x.RawRowView(b))
			return int(math.Copysign(min(1, math.Ceil(math.Abs(d))), d))
		})
		votes := make([]int, 7)
		for _, j := range rows[:3] {
			votes[labels[j]]++
		}
		if want := slices.Index(votes, slices.Max(votes)); got[i] != want {
			t.Fatalf("row %d: class %d, want %d", i, got[i], want)
		}
	}
}

func TestNearestNeighboursRefusals(t *testing.T) {
	x, labels := formulaSamples(6, 2, 2, 1)
	bad := mat.NewDense(1, 2, []float64{0, math.Inf(1)})
	for _, c := range []struct {
		labels  []int
		queries *mat.Dense
		k       int
		want    string
	}{
		{labels[1:], x, 1, "6 samples, but 5 labels"},
		{labels, x, 0, "0 neighbours of 6 samples"},
		{labels, x, 7, "7 neighbours of 6 samples"},
		{labels, mat.NewDense(1, 3, nil), 1, "the queries have 3 columns, the samples 2"},
		{labels, bad, 1, "row 0, column 1 of the samples is +Inf"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, err := neighbourClasses(t, x, c.labels, c.queries, c.k); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func BenchmarkNearestNeighbours(b *testing.B) {
	x, labels := formulaSamples(5451, 15, 20, 0.3)
	for b.Loop() {
		if _, err := neighbourClasses(b, x, labels, mat.DenseCopyOf(x.Slice(0, 1080, 0, 15)), 5); err != nil {
			b.Fatal(err)
		}
	}
}

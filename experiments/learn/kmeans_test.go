package learn

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// formulaPoints is a data set given by a formula, so that another
// implementation can be run on the same points.
func formulaPoints() *mat.Dense {
	x := mat.NewDense(120, 3, nil)
	for i := range 120 {
		for j := range 3 {
			fi, fj := float64(i), float64(j)
			x.Set(i, j, 2*math.Sin(.37*fi*(fj+1))+float64(i%7)*math.Cos(fj+1.3)+.1*math.Cos(fi*fi*.01))
		}
	}
	return x
}

func stream(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// The smallest inertia of 400 runs of scikit-learn 1.9.1 (KMeans(k, n_init=1,
// tol=0)) on the same points. Enough restarts find the same optimum.
func TestKMeansAgainstScikitLearn(t *testing.T) {
	for _, c := range []struct {
		k, restarts int
		inertia     float64
	}{
		{1, 1, 1443.0343779612854},
		{2, 5, 764.4393619729657},
		{3, 200, 619.9099218171696},
		{5, 1500, 453.66835538393184},
	} {
		got, err := KMeans(formulaPoints(), c.k, stream(7), KMeansOptions{Restarts: c.restarts})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Inertia/c.inertia-1) > 1e-9 {
			t.Errorf("k = %d: inertia %.12g, want %.12g", c.k, got.Inertia, c.inertia)
		}
	}
}

// At a fixed point of Lloyd's iteration every centre is the mean of its points
// and every point is with its nearest centre.
func TestKMeansIsAFixedPoint(t *testing.T) {
	x := formulaPoints()
	for k := 1; k <= 40; k++ {
		c, err := KMeans(x, k, stream(uint64(k)), KMeansOptions{Restarts: 2})
		if err != nil {
			t.Fatal(err)
		}
		sums, count := mat.NewDense(k, 3, nil), make([]float64, k)
		inertia := 0.0
		for i, label := range c.Labels {
			own := squaredDistance(x.RawRowView(i), c.Centres.RawRowView(label))
			inertia += own
			for other := range k {
				if squaredDistance(x.RawRowView(i), c.Centres.RawRowView(other)) < own {
					t.Fatalf("k = %d: point %d is nearer to centre %d than to its own, %d", k, i, other, label)
				}
			}
			count[label]++
			for j := range 3 {
				sums.Set(label, j, sums.At(label, j)+x.At(i, j))
			}
		}
		for l := range k {
			for j := range 3 {
				if math.Abs(sums.At(l, j)/count[l]-c.Centres.At(l, j)) > 1e-12 {
					t.Fatalf("k = %d: centre %d is not the mean of its %g points", k, l, count[l])
				}
			}
		}
		if math.Abs(inertia-c.Inertia) > 1e-9 {
			t.Errorf("k = %d: inertia is %g, reported %g", k, inertia, c.Inertia)
		}
	}
}

func TestKMeansIsDeterministic(t *testing.T) {
	a, _ := KMeans(formulaPoints(), 6, stream(3), KMeansOptions{})
	b, _ := KMeans(formulaPoints(), 6, stream(3), KMeansOptions{})
	if !mat.Equal(a.Centres, b.Centres) || !slices.Equal(a.Labels, b.Labels) {
		t.Error("two runs with equal streams differ")
	}
}

// A cluster without points takes the farthest one. The start below leaves its
// third centre empty.
func TestLloydRefillsAnEmptyCluster(t *testing.T) {
	points := [][]float64{{0}, {1}, {10}, {14}}
	l := newLloyd(points, [][]float64{{0}, {11}, {1000}})
	l.iterate(100)
	got := l.result()
	// 14 is farthest from its centre (11), leaves it, and {0,1}, {10}, {14} is
	// the best clustering.
	if want := []int{0, 0, 1, 2}; !slices.Equal(got.Labels, want) || got.Inertia != 0.5 {
		t.Errorf("labels %v, inertia %g; want %v, 0.5", got.Labels, got.Inertia, want)
	}
}

func TestKMeansAsManyClustersAsDistinctPoints(t *testing.T) {
	x := mat.NewDense(6, 1, []float64{1, 1, 2, 2, 3, 3})
	c, err := KMeans(x, 3, stream(1), KMeansOptions{})
	if err != nil || c.Inertia != 0 {
		t.Errorf("inertia %v, %v; want 0", c, err)
	}
}

func TestKMeansRefusals(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{1, 1, 2, 3})
	for _, c := range []struct {
		name string
		x    *mat.Dense
		k    int
		want string
	}{
		{"none", x, 0, "at least one"},
		{"more clusters than points", x, 5, "5 clusters of 4 points"},
		{"more clusters than distinct points", x, 4, "only 3 of the 4 points are distinct"},
		{"not finite", mat.NewDense(2, 2, []float64{1, 2, 3, math.Inf(1)}), 1, "row 1, column 1"},
	} {
		_, err := KMeans(c.x, c.k, stream(1), KMeansOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}

package learn

import (
	"fmt"
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
		t.Run(fmt.Sprintf("%d clusters, best of %d", c.k, c.restarts), func(t *testing.T) {
			got, err := KMeans(formulaPoints(), c.k, stream(7), KMeansOptions{Restarts: c.restarts})
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.Inertia/c.inertia-1) > 1e-9 {
				t.Errorf("k = %d: inertia %.12g, want %.12g", c.k, got.Inertia, c.inertia)
			}
		})
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
		{"too large", mat.NewDense(2, 1, []float64{1, -1e200}), 1,
			"row 1, column 0 of the points is -1e+200, whose square overflows"},
		{"not finite", mat.NewDense(2, 2, []float64{1, 2, 3, math.Inf(1)}), 1, "row 1, column 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := KMeans(c.x, c.k, stream(1), KMeansOptions{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

// largePoints are n points in d dimensions around k means, far from the origin.
func largePoints(n, d, k int) *mat.Dense {
	rng, x := stream(11), mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, 100+math.Sin(float64((i%k+1)*(j+1)))+rng.NormFloat64())
		}
	}
	return x
}

// Distances by a matrix product agree with sums of squared differences.
func TestProductsAgreeWithDifferences(t *testing.T) {
	x := largePoints(300, 70, 4)
	points, err := checkPoints(x, 4)
	if err != nil {
		t.Fatal(err)
	}
	centres := points[17:22]
	exact, product := make([]float64, 300*5), make([]float64, 300*5)
	differences(points).squared(centres, exact)
	newProducts(points).squared(centres, product)
	for i, want := range exact {
		if math.Abs(product[i]-want) > 1e-11*(1+want) || product[i] < 0 {
			t.Fatalf("entry %d: %.17g by a product, %.17g by differences", i, product[i], want)
		}
	}
}

// The run that passes over points visits the same clusterings as the plain one,
// in as many iterations.
func TestBoundedRunAgreesWithLloyd(t *testing.T) {
	for _, c := range []struct {
		name    string
		x       *mat.Dense
		k       int
		centres func(points [][]float64) [][]float64 // nil for k-means++
	}{
		{"clusters that mix", largePoints(700, 30, 3), 8, nil},
		{"many iterations", formulaPoints(), 6, nil},
		{"one cluster", formulaPoints(), 1, nil},
		{"empty clusters", formulaPoints(), 4, func(points [][]float64) [][]float64 {
			return [][]float64{points[0], {1e4, 0, 0}, points[1], {0, 1e4, 0}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(10) {
				points, err := checkPoints(c.x, c.k)
				if err != nil {
					t.Fatal(err)
				}
				var start [][]float64
				if c.centres != nil {
					start = c.centres(points)
				} else {
					start = seedCentres(points, c.k, differences(points), stream(seed))
				}
				for _, limit := range []int{1, 3, 300} {
					l := newLloyd(points, start)
					l.iterate(limit)
					want, got := l.result(), newBoundedRun(points, start, newProducts(points)).run(limit)
					if !slices.Equal(got.Labels, want.Labels) || got.Iterations != want.Iterations {
						t.Fatalf("%s, seed %d, limit %d: other labels than Lloyd's, after %d iterations and %d", c.name, seed, limit,
							got.Iterations, want.Iterations)
					}
					if !mat.EqualApprox(got.Centres, want.Centres, 1e-10) || math.Abs(got.Inertia-want.Inertia) > 1e-9*want.Inertia {
						t.Errorf("%s, seed %d, limit %d: inertia %.15g, want %.15g, or other centres", c.name, seed, limit, got.Inertia,
							want.Inertia)
					}
				}
			}
		})
	}
}

// A run in which points still move at the cap is an error, whichever way distances
// are computed; with one iteration more than it took, there is none.
func TestKMeansShortOfAFixedPoint(t *testing.T) {
	for _, c := range []struct {
		name  string
		x     *mat.Dense
		k     int
		large bool
	}{
		{"differences", formulaPoints(), 6, false},
		{"products", largePoints(4000, 100, 10), 12, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			points, err := checkPoints(c.x, c.k)
			if err != nil {
				t.Fatal(err)
			}
			if _, large := distancesFor(points, c.k).(*products); large != c.large {
				t.Fatalf("products %v", large)
			}
			full, err := KMeans(c.x, c.k, stream(1), KMeansOptions{Restarts: 1})
			if err != nil || full.Iterations < 3 {
				t.Fatal(full, err)
			}
			if _, err := KMeans(c.x, c.k, stream(1), KMeansOptions{Restarts: 1, Iterations: full.Iterations}); err != nil {
				t.Errorf("as many iterations as it takes: %v", err)
			}
			most := full.Iterations - 1
			_, err = KMeans(c.x, c.k, stream(1), KMeansOptions{Restarts: 1, Iterations: most})
			want := fmt.Sprintf("run 1 of 1 with %d clusters stopped after %d iterations, the most that are allowed, and ", c.k,
				most)
			still := fmt.Sprintf(" of %d points still moved", len(points))
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), still) {
				t.Errorf("%v; want %q", err, want)
			}
		})
	}
}

// k-means++ draws the same centres from distances of both kinds.
func TestSeedsFromProducts(t *testing.T) {
	points, err := checkPoints(largePoints(300, 70, 4), 6)
	if err != nil {
		t.Fatal(err)
	}
	a := seedCentres(points, 6, differences(points), stream(2))
	b := seedCentres(points, 6, newProducts(points), stream(2))
	for c := range a {
		if !slices.Equal(a[c], b[c]) {
			t.Errorf("centre %d differs", c)
		}
	}
}

func TestDistancesForLargeProblems(t *testing.T) {
	if _, exact := distancesFor(make2D(100, 784), 7).(differences); !exact {
		t.Error("a small problem does not sum differences")
	}
	if _, product := distancesFor(make2D(6742, 784), 7).(*products); !product {
		t.Error("a large problem does not use matrix products")
	}
}

func make2D(n, d int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, d)
	}
	return out
}

// A class of MNIST in size, with less structure than images have.
func BenchmarkKMeansLarge(b *testing.B) {
	x := largePoints(6742, 784, 5)
	for b.Loop() {
		c, err := KMeans(x, 7, stream(1), KMeansOptions{Restarts: 1})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(c.Iterations), "iterations")
	}
}

package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
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

// cpu opens an engine for the length of a test.
func cpu(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.Open("cpu", "float64", 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
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
			got, err := KMeans(t.Context(), cpu(t), formulaPoints(), c.k, stream(7), KMeansOptions{Restarts: c.restarts})
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
		c, err := KMeans(t.Context(), cpu(t), x, k, stream(uint64(k)), KMeansOptions{Restarts: 2})
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

// agesInHalfYears have many ties.
func agesInHalfYears() *mat.Dense {
	x, rng := mat.NewDense(266, 1, nil), stream(102)
	x.Apply(func(_, _ int, _ float64) float64 { return math.Round(rng.Float64()*160) / 2 }, x)
	return x
}

// The program of devices gives the results of the loops: for small problems in every bit, for large
// ones up to the rounding of sums, with the same streams, and with the same errors.
func TestKMeansOnDevice(t *testing.T) {
	e := cpu(t)
	for _, opts := range []KMeansOptions{{Restarts: 10, Iterations: KMeansIterations}, {Restarts: 3, Iterations: 4}} {
		problems := func() (all []KMeansProblem) {
			for i, x := range []*mat.Dense{formulaPoints(), largePoints(130, 3, 4), largePoints(4000, 100, 10),
				agesInHalfYears()} {
				all = append(all, KMeansProblem{x, 5 + 8*(i%3), stream(uint64(i))})
			}
			return append(all, KMeansProblem{formulaPoints(), 121, stream(0)})
		}
		loops, failed := make([]*Clustering, 5), make([]error, 5)
		err := KMeansAll(t.Context(), e, problems(), opts, func(i int, c *Clustering, err error) error {
			loops[i], failed[i] = c, err
			return nil
		})
		if err != nil || failed[4] == nil || (failed[0] == nil) != (opts.Iterations > 4) {
			t.Fatal(err, failed)
		}
		seen := make([]bool, len(loops)) // workers report at the same time
		err = kMeansOnDevice(t.Context(), e, problems(), opts, func(i int, c *Clustering, err error) error {
			seen[i] = true
			switch want := loops[i]; {
			case failed[i] != nil && (err == nil || err.Error() != failed[i].Error()):
				t.Errorf("problem %d: %v, want %v", i, err, failed[i])
			case failed[i] == nil && (err != nil || !slices.Equal(c.Labels, want.Labels) || c.Iterations != want.Iterations):
				t.Errorf("problem %d: %v, or other labels than those of the loop", i, err)
			case failed[i] == nil && i != 2 && (!mat.Equal(c.Centres, want.Centres) || c.Inertia != want.Inertia):
				t.Errorf("problem %d: inertia %v, want %v, or other centres", i, c.Inertia, want.Inertia)
			case failed[i] == nil && !mat.EqualApprox(c.Centres, want.Centres, 1e-10):
				t.Errorf("problem %d: other centres than those of the loop", i)
			}
			return nil
		})
		if err != nil || slices.Contains(seen, false) {
			t.Error(err, seen)
		}
	}
	// An error that each returns ends it.
	stop := errors.New("stop")
	for _, all := range []func(context.Context, *engine.Engine, []KMeansProblem, KMeansOptions,
		func(int, *Clustering, error) error) error{KMeansAll, kMeansOnDevice} {
		for _, k := range []int{2, 121} {
			err := all(t.Context(), e, []KMeansProblem{{formulaPoints(), k, stream(1)}}, KMeansOptions{Restarts: 1,
				Iterations: 100}, func(int, *Clustering, error) error { return stop })
			if !errors.Is(err, stop) {
				t.Errorf("%d clusters: %v", k, err)
			}
		}
	}
}

func TestKMeansIsDeterministic(t *testing.T) {
	a, _ := KMeans(t.Context(), cpu(t), formulaPoints(), 6, stream(3), KMeansOptions{})
	b, _ := KMeans(t.Context(), cpu(t), formulaPoints(), 6, stream(3), KMeansOptions{})
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
	c, err := KMeans(t.Context(), cpu(t), x, 3, stream(1), KMeansOptions{})
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
			_, err := KMeans(t.Context(), cpu(t), c.x, c.k, stream(1), KMeansOptions{})
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

// A run in which points still move at the cap is an error, in both ways of computing distances;
// with one iteration more than it took, there is none.
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
			full, err := KMeans(t.Context(), cpu(t), c.x, c.k, stream(1), KMeansOptions{Restarts: 1})
			if err != nil || full.Iterations < 3 {
				t.Fatal(full, err)
			}
			enough := KMeansOptions{Restarts: 1, Iterations: full.Iterations}
			if _, err := KMeans(t.Context(), cpu(t), c.x, c.k, stream(1), enough); err != nil {
				t.Errorf("as many iterations as it takes: %v", err)
			}
			most := full.Iterations - 1
			_, err = KMeans(t.Context(), cpu(t), c.x, c.k, stream(1), KMeansOptions{Restarts: 1, Iterations: most})
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

// Loops and the program of devices on the CPU, at sizes of the experiments: the folds of a
// regression on ages, inducing inputs among images' scores, and a class of MNIST in size, with
// less structure than images have.
func BenchmarkKMeans(b *testing.B) {
	for _, size := range []struct{ problems, n, d, means, k, restarts int }{
		{14, 266, 1, 5, 10, 10}, {1, 1000, 2, 5, 30, 10}, {1, 6742, 784, 5, 7, 1}} {
		problems := make([]KMeansProblem, size.problems)
		for i := range problems {
			problems[i] = KMeansProblem{largePoints(size.n, size.d, size.means), size.k, nil}
		}
		for name, all := range map[string]func(context.Context, *engine.Engine, []KMeansProblem, KMeansOptions,
			func(int, *Clustering, error) error) error{"loops": KMeansAll, "program": kMeansOnDevice} {
			b.Run(fmt.Sprintf("%v/%s", size, name), func(b *testing.B) {
				e := cpu(b)
				for b.Loop() {
					for i := range problems {
						problems[i].Rand = stream(uint64(i))
					}
					err := all(b.Context(), e, problems, KMeansOptions{Restarts: size.restarts, Iterations: KMeansIterations},
						func(_ int, _ *Clustering, err error) error { return err })
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

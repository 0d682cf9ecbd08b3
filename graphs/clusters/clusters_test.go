package clusters

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
)

// reference runs Lloyd's iteration by its definition, with sums of squared differences.
func reference(x, start *mat.Dense, most int) Run {
	n, _ := x.Dims()
	k, _ := start.Dims()
	centres, r := mat.DenseCopyOf(start), Run{Labels: make([]int, n)}
	away := make([]float64, n)
	squared := func(i, c int) (s float64) {
		for j, v := range x.RawRowView(i) {
			s += (v - centres.At(c, j)) * (v - centres.At(c, j))
		}
		return s
	}
	assign := func() (moved int) {
		for i := range n {
			best := 0
			for c := 1; c < k; c++ {
				if squared(i, c) < squared(i, best) {
					best = c
				}
			}
			if best != r.Labels[i] {
				moved++
			}
			r.Labels[i], away[i] = best, squared(i, best)
		}
		return moved
	}
	for assign(); r.Iterations < most && (r.Iterations == 0 || r.Moving > 0); r.Iterations++ {
		sizes := make([]int, k)
		for _, c := range r.Labels {
			sizes[c]++
		}
		for c := range k {
			if sizes[c] > 0 {
				continue
			}
			far := -1
			for i := range n {
				if sizes[r.Labels[i]] > 1 && (far < 0 || away[i] > away[far]) {
					far = i
				}
			}
			sizes[r.Labels[far]]--
			r.Labels[far], sizes[c] = c, 1
		}
		centres.Zero()
		for i, c := range r.Labels {
			for j, v := range x.RawRowView(i) {
				centres.Set(c, j, centres.At(c, j)+v/float64(sizes[c]))
			}
		}
		r.Moving = assign()
	}
	return r
}

// points returns n points around several means, far from the origin, and starts from these points.
func points(rng *rand.Rand, n, d, k, starts int) Problem {
	p := Problem{Points: mat.NewDense(n, d, nil)}
	p.Points.Apply(func(i, j int, _ float64) float64 {
		return 100 + 3*math.Sin(float64((i%5+1)*(j+1))) + rng.NormFloat64()
	}, p.Points)
	for range starts {
		start := mat.NewDense(k, d, nil)
		for c, i := range rng.Perm(n)[:k] {
			start.SetRow(c, p.Points.RawRowView(i))
		}
		p.Starts = append(p.Starts, start)
	}
	return p
}

// same reports whether runs are equal.
func same(a, b Run) bool {
	return slices.Equal(a.Labels, b.Labels) && a.Iterations == b.Iterations && a.Moving == b.Moving
}

// Runs agree with the definition, for problems of several sizes, to the end and to limits inside
// and at the end of a run of the program.
func TestLloyd(t *testing.T) {
	for _, dtype := range []string{"float64", "float32"} {
		e, rng := graphtest.Engine(t, dtype, 2), graphtest.Rand(4)
		problems := []Problem{points(rng, 150, 3, 4, 3), points(rng, 137, 3, 4, 3), points(rng, 40, 6, 1, 1),
			points(rng, 90, 2, 30, 2), points(rng, 12, 1, 12, 1)}
		// Clusters that are empty at first, more than one of them, and one that empties later.
		empty := points(rng, 60, 3, 4, 2)
		empty.Starts[0].SetRow(1, []float64{1e4, 0, 0})
		empty.Starts[0].SetRow(2, []float64{-1e4, 0, 0})
		problems = append(problems, empty, Problem{Points: mat.NewDense(4, 1, []float64{0, 1, 10, 14}),
			Starts: []*mat.Dense{mat.NewDense(3, 1, []float64{0, 11, 1000})}})
		if dtype == "float64" {
			n := 4000
			if testing.Short() {
				n = 1000
			}
			problems = append(problems, points(rng, n, 100, 12, 1)) // with distances by products
		}
		longest := 0
		for _, most := range []int{1, stepsPerRun, stepsPerRun + 3, 1000} {
			got, err := Lloyd(t.Context(), e, problems, most)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range problems {
				for s, start := range p.Starts {
					want := reference(p.Points, start, most)
					if !same(got[i][s], want) {
						t.Errorf("%s, problem %d, start %d, at most %d iterations: %v, want %v", dtype, i, s, most, got[i][s], want)
					}
					longest = max(longest, want.Iterations)
				}
			}
		}
		if longest <= stepsPerRun {
			t.Errorf("%d iterations at most: they are those of one run of the program", longest)
		}
	}
}

// A problem has the same runs alone and in a batch, bit for bit, for any number of workers.
func TestBatchesAndWorkers(t *testing.T) {
	rng := graphtest.Rand(9)
	problems := []Problem{points(rng, 300, 4, 7, 5), points(rng, 310, 4, 7, 5), points(rng, 290, 4, 7, 5)}
	all, err := Lloyd(t.Context(), graphtest.Engine(t, "float64", 3), problems, 1000)
	if err != nil {
		t.Fatal(err)
	}
	e := graphtest.Engine(t, "float64", 1)
	for i := range problems {
		alone, err := Lloyd(t.Context(), e, problems[i:i+1], 1000)
		if err != nil {
			t.Fatal(err)
		}
		for s := range alone[0] {
			if !same(alone[0][s], all[i][s]) {
				t.Errorf("problem %d, start %d: %v alone, %v in a batch", i, s, alone[0][s], all[i][s])
			}
		}
	}
}

func TestLloydRefuses(t *testing.T) {
	e, good := graphtest.Engine(t, "float64", 1), points(graphtest.Rand(1), 9, 2, 3, 1)
	for _, c := range []struct {
		with func(p *Problem)
		want string
	}{
		{func(p *Problem) { p.Points = mat.NewDense(1, 2, []float64{1, math.NaN()}) },
			"the matrix of points has NaN in row 0, column 1"},
		{func(p *Problem) { p.Starts = nil }, "there is no start"},
		{func(p *Problem) { p.Starts = []*mat.Dense{mat.NewDense(3, 2, []float64{0, 0, 0, 0, 0, math.Inf(1)})} },
			"a start has +Inf"},
		{func(p *Problem) { p.Starts = []*mat.Dense{mat.NewDense(3, 1, nil)} }, "a start of 3×1 numbers, for 3 clusters"},
		{func(p *Problem) { p.Starts = append(p.Starts[:1:1], mat.NewDense(2, 2, nil)) }, "a start of 2×2 numbers, for 3"},
	} {
		p := good
		c.with(&p)
		_, err := Lloyd(t.Context(), e, []Problem{good, p}, 10)
		if err == nil || !strings.Contains(err.Error(), "problem 2 of 2: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
}

// The program by itself, at the sizes of the experiments.
func BenchmarkLloyd(b *testing.B) {
	for _, size := range []struct{ problems, n, d, k, starts int }{
		{14, 266, 1, 10, 10}, {1, 1000, 2, 30, 10}, {1, 6742, 784, 7, 1}} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			e, rng := graphtest.Engine(b, "float64", 1), graphtest.Rand(3)
			problems := make([]Problem, size.problems)
			for i := range problems {
				problems[i] = points(rng, size.n, size.d, size.k, size.starts)
			}
			for b.Loop() {
				if _, err := Lloyd(b.Context(), e, problems, 10_000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

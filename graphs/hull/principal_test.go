package hull_test

import (
	"context"
	"math"
	"testing"

	"privkern/tests/tier"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/graphs/internal/graphtest"
)

// samples returns n rows of p columns: independent coordinates of the given deviations, rotated
// at random.
func samples(n, p int, deviation func(j int) float64) *mat.Dense {
	rng := graphtest.Rand(3)
	z := graphtest.Normal(rng, n, p)
	z.Apply(func(_, j int, v float64) float64 { return v * deviation(j) }, z)
	var qr mat.QR
	qr.Factorize(graphtest.Normal(rng, p, p))
	var q, y mat.Dense
	qr.QTo(&q)
	y.Mul(z, &q)
	return &y
}

// components returns the k principal scores of y and their variances, by singular values.
func components(y *mat.Dense, k int) (scores *mat.Dense, variances []float64) {
	n, p := y.Dims()
	centred := mat.DenseCopyOf(y)
	for j := range p {
		mean := mat.Sum(y.ColView(j)) / float64(n)
		for i := range n {
			centred.Set(i, j, y.At(i, j)-mean)
		}
	}
	var svd mat.SVD
	svd.Factorize(centred, mat.SVDThin)
	var u mat.Dense
	svd.UTo(&u)
	scores = mat.NewDense(n, k, nil)
	for j, s := range svd.Values(nil)[:k] {
		variances = append(variances, s*s/float64(n-1))
		for i := range n {
			scores.Set(i, j, u.At(i, j)*s)
		}
	}
	return scores, variances
}

const (
	leading = "leading principal directions"
	full    = "principal directions"
)

// runs returns the number of runs of a program while the engine counted.
func runs(e *engine.Engine, program string) int64 {
	for _, c := range e.Profile().Programs {
		if c.Program == program {
			return c.Runs
		}
	}
	return 0
}

// The scores agree with those of a singular value decomposition for both algorithms, which the
// spectrum selects.
func TestPrincipalScoresEitherWay(t *testing.T) {
	tier.Sequential(t)
	power := func(base float64) func(int) float64 {
		return func(j int) float64 { return math.Pow(base, float64(j)) }
	}
	for _, c := range []struct {
		name      string
		n, p, dim int
		deviation func(j int) float64
		rank      int
		leading   int64 // runs of the program of each name
		full      int64
	}{
		{"decay", 320, 200, 4, power(.8), 4, 1, 0},
		{"decay, Gram matrix", 200, 260, 4, power(.8), 4, 1, 0},
		{"equal variances in use", 300, 200, 4, func(j int) float64 {
			if j < 4 {
				return 1
			}
			return .1 * math.Pow(.9, float64(j))
		}, 4, 1, 0},
		{"slow decay", 320, 220, 4, power(.96), 4, 1, 0},
		{"slow decay, more steps", 320, 300, 4, func(j int) float64 {
			if j < 2 {
				return 1
			}
			return .3 * math.Pow(.978, float64(j))
		}, 4, 2, 0},
		{"few above a flat floor", 320, 200, 4, func(j int) float64 {
			if j < 2 {
				return 1
			}
			return .03
		}, 4, 1, 1},
		{"flat", 320, 200, 4, power(1), 4, 0, 1},
		{"few columns", 300, 60, 4, power(.8), 4, 0, 1},
		{"few samples", 60, 300, 4, power(.8), 4, 0, 1},
		{"plane", 320, 200, 4, func(j int) float64 {
			if j < 2 {
				return 1
			}
			return 0
		}, 2, 1, 1},
		{"above the rank's limit", 320, 200, 3, power(2e-3), 3, 1, 1},
		{"below the rank's limit", 320, 200, 3, power(3e-4), 2, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := graphtest.Engine(t, "float64", 1)
			e.StartCounting()
			y := samples(c.n, c.p, c.deviation)
			got, err := hull.PrincipalScores(context.Background(), e, y, c.dim)
			if err != nil {
				t.Fatal(err)
			}
			if l, f := runs(e, leading), runs(e, full); l != c.leading || f != c.full {
				t.Errorf("%d runs of %q, want %d; %d of %q, want %d", l, leading, c.leading, f, full, c.full)
			}
			if _, cols := got.Dims(); cols != c.rank {
				t.Fatalf("%d scores, want %d", cols, c.rank)
			}
			want, variances := components(y, c.rank)
			// In units of a deviation, as in encodings, up to rounding of the largest variance.
			tolerance := 1e-8 + 1e-12*variances[0]/variances[c.rank-1]
			for i := range 40 {
				for j := range i {
					a, b := 0.0, 0.0
					for d, v := range variances {
						a += math.Pow(got.At(i, d)-got.At(j, d), 2) / v
						b += math.Pow(want.At(i, d)-want.At(j, d), 2) / v
					}
					if math.Abs(math.Sqrt(a)-math.Sqrt(b)) > tolerance*math.Sqrt(b) {
						t.Fatalf("samples %d and %d are %.12g apart, want %.12g", i, j, math.Sqrt(a), math.Sqrt(b))
					}
				}
			}
		})
	}
}

// A machine of leading directions agrees with its definition.
func TestMachineOfLeadingDirections(t *testing.T) {
	y := samples(180, 160, func(j int) float64 { return math.Pow(.7, float64(j)) })
	q := mat.DenseCopyOf(y.Slice(0, 2, 0, 160))
	q.Apply(func(i, j int, v float64) float64 { return v + .01*float64(i+j%3) }, q)
	e := graphtest.Engine(t, "float64", 1)
	e.StartCounting()
	m, err := hull.Fit(context.Background(), e, y, hull.Options{Dim: 3, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if runs(e, leading) == 0 || runs(e, full) != 0 {
		t.Fatalf("programs %q", e.Programs())
	}
	images, _, err := m.Images(context.Background(), e, q)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		for l, want := range direct(y, 3, 2, m.Lambda, q.RawRowView(i)) {
			for j, w := range want {
				if d := math.Abs(images[l].At(i, j) - w); d > 1e-8 {
					t.Fatalf("query %d, layer %d, column %d: %g, want %g", i, l, j, images[l].At(i, j), w)
				}
			}
		}
	}
}

// The bits do not depend on the number of workers.
func TestPrincipalScoresByWorkers(t *testing.T) {
	y := samples(320, 200, func(j int) float64 { return math.Pow(.8, float64(j)) })
	var first *mat.Dense
	for _, workers := range []int{1, 3} {
		got, err := hull.PrincipalScores(context.Background(), graphtest.Engine(t, "float64", workers), y, 4)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if !mat.Equal(got, first) {
			t.Errorf("%d workers give other bits", workers)
		}
	}
}

package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/tests/tier"
)

// grid is a lattice of n points a dimension from −3 to 3.
func gridPoints(n, d int) *mat.Dense {
	all := 1
	for range d {
		all *= n
	}
	z := mat.NewDense(all, d, nil)
	for i := range all {
		for j, rest := 0, i; j < d; j, rest = j+1, rest/n {
			z.Set(i, j, -3+6*float64(rest%n)/float64(n-1))
		}
	}
	return z
}

func points(rng *rand.Rand, n, d int, width float64) *mat.Dense {
	z := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			z.Set(i, j, width*(rng.Float64()-0.5))
		}
	}
	return z
}

func largestNorm(t *testing.T, m *Model) Largest {
	t.Helper()
	l, err := m.LargestNorm()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The cost of Eq. (8) in more than one dimension, on −3 to 3 with lengthscale 1, R_y = 1 and ratio
// 1.
func TestNoiseOfEq8(t *testing.T) {
	for _, c := range []struct {
		n, d int
		want float64
	}{{7, 2, 10.7}, {4, 4, 57.6}} {
		t.Run(fmt.Sprintf("%d^%d", c.n, c.d), func(t *testing.T) {
			m := NewModel(gridPoints(c.n, c.d), 1, 1, 1, 0)
			wide, err := m.NormSquared(Eq8, 0)
			if err != nil {
				t.Fatal(err)
			}
			exact, err := m.NormSquared(Exact, 0)
			if err != nil {
				t.Fatal(err)
			}
			trialtest.Near(t, "noise of Eq. (8) over that of the maximum",
				JointSensitivity(1, 1, wide)/JointSensitivity(1, 1, exact), c.want, 0.05)
		})
	}
}

// largestFound is the largest value at random inputs, near them and at ends of ascents.
func largestFound(m *Model, rng *rand.Rand) float64 {
	n, d := m.Inducing.Z.Dims()
	found := 0.0
	at := func(x []float64) float64 {
		sum := 0.0
		for _, v := range m.Vector(x) {
			sum += v * v
		}
		return sum
	}
	x := make([]float64, d)
	for range 200 {
		i, k := rng.IntN(n), rng.IntN(n)
		for j := range x { // between two inducing inputs, and outside
			u := rng.Float64()
			x[j] = u*m.Inducing.Z.At(i, j) + (1-u)*m.Inducing.Z.At(k, j) + 0.3*m.Lengthscale*rng.NormFloat64()
		}
		value, step := at(x), 0.5*m.Lengthscale
		for step > 1e-7*m.Lengthscale { // an ascent that is not the search's own
			moved := false
			for j := range x {
				for _, by := range []float64{step, -step} {
					x[j] += by
					if v := at(x); v > value {
						value, moved = v, true
					} else {
						x[j] -= by
					}
				}
			}
			if !moved {
				step /= 2
			}
		}
		found = max(found, value)
	}
	return found
}

// The bound is above every value that is found, and where the search is complete hardly
// so; the order of the inducing inputs does not matter.
func TestLargestNorm(t *testing.T) {
	tier.Sequential(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name            string
		z               *mat.Dense
		lengthscale     float64
		mayBeIncomplete bool
	}{
		{"two dimensions", points(rng, 30, 2, 6), 1, false},
		{"two dimensions, smooth", points(rng, 30, 2, 6), 3, false},
		{"two dimensions, rough", points(rng, 60, 2, 6), 0.3, false},
		{"two dimensions, many", points(rng, 300, 2, 6), 1, false},
		{"three dimensions", points(rng, 40, 3, 6), 1.2, false},
		{"four dimensions", points(rng, 30, 4, 4), 1, false},
		{"six dimensions", points(rng, 20, 6, 3), 1, true},
		{"six dimensions, smooth", points(rng, 20, 6, 3), 3, false},
		{"a line in three dimensions", mat.NewDense(4, 3, []float64{0, 0, 0, 1, 1, 1, 2, 2, 2, 3.1, 3.1, 3.1}), 1, false},
		{"equal points", mat.NewDense(3, 2, []float64{1, 2, 1, 2, 5, 5}), 1, false},
		{"where two maxima become one", mat.NewDense(2, 2, []float64{0, 0, 1, 1}), 1, false},
		{"clusters far apart", mat.NewDense(5, 2, []float64{0, 0, 1e9, 1e9, 1e9, 1e9 + 1, -1e12, 3, 1, 0}), 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := NewModel(c.z, c.lengthscale, 1.5, 1, 0)
			l, found := largestNorm(t, m), largestFound(m, rng)
			if !c.mayBeIncomplete && !l.Complete {
				t.Error("the search came to its limit")
			}
			if l.NormSquared < found || l.Complete && l.NormSquared > found*(1+2*boxTolerance) {
				t.Errorf("%.12g, %v; an input has %.12g", l.NormSquared, l.Complete, found)
			}
			n, d := c.z.Dims()
			shuffled := mat.NewDense(n, d, nil)
			for i, to := range rng.Perm(n) {
				shuffled.SetRow(to, c.z.RawRowView(i))
			}
			again := largestNorm(t, NewModel(shuffled, c.lengthscale, 1.5, 1, 0))
			if c := again.NormSquared / l.NormSquared; l.Complete && math.Abs(c-1) > 2*boxTolerance {
				t.Errorf("%.12g in another order", again.NormSquared)
			}
		})
	}
}

// On a lattice the product equals the result of the search, for any order of the points.
func TestProductIsTheMaximum(t *testing.T) {
	tier.Sequential(t)
	for _, c := range []struct {
		n, d        int
		lengthscale float64
	}{{7, 2, 1}, {5, 2, 3}, {3, 3, 2}, {3, 4, 2}, {2, 4, 4}} {
		t.Run(fmt.Sprintf("%d^%d, l = %g", c.n, c.d, c.lengthscale), func(t *testing.T) {
			tier.Third(t)
			m := NewModel(gridPoints(c.n, c.d), c.lengthscale, 1, 1, 0)
			product := largestNorm(t, m)
			searched, complete := m.search()
			if !product.Complete || !complete || searched < product.NormSquared*(1-1e-9) ||
				searched > product.NormSquared*(1+2*boxTolerance) {
				t.Errorf("product %.12g, search %.12g, %v", product.NormSquared, searched, complete)
			}
			z := mat.DenseCopyOf(m.Inducing.Z)
			rng := rand.New(rand.NewPCG(3, 4))
			for i, to := range rng.Perm(z.RawMatrix().Rows) {
				z.SetRow(to, m.Inducing.Z.RawRowView(i))
			}
			if again := largestNorm(t, NewModel(z, c.lengthscale, 1, 1, 0)); again != product {
				t.Errorf("%+v in another order, %+v", again, product)
			}
		})
	}
}

// Points that are no lattice are not taken for one.
func TestAxes(t *testing.T) {
	for _, c := range []struct {
		name string
		z    []float64
		want string
	}{
		{"a lattice", []float64{1, 2, 0, 2, 0, 5, 1, 5}, "[[0 1] [2 5]]"},
		{"one point twice", []float64{1, 2, 0, 2, 0, 5, 0, 5}, "[]"},
		{"one point moved", []float64{1, 2, 0, 2, 0, 5, 1, 5.1}, "[]"},
		{"a point", []float64{1, 2}, "[[1] [2]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fmt.Sprint(axesOf(mat.NewDense(len(c.z)/2, 2, c.z))); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// In one dimension, with a second one that is constant or not there, the search is the
// bisection.
func TestSearchInOneDimension(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 50 {
		m := randomModel(rng)
		want := m.largest()
		got, complete := m.search()
		n, _ := m.Inducing.Z.Dims()
		flat := mat.NewDense(n, 2, nil)
		for k := range n {
			flat.SetRow(k, []float64{m.Inducing.Z.At(k, 0), 7})
		}
		line := largestNorm(t, NewModel(flat, m.Lengthscale, 1, 1, 0))
		if !complete || math.Abs(got/want-1) > 2*boxTolerance || math.Abs(line.NormSquared/want-1) > 1e-11 {
			t.Errorf("model %d: %.12g by search, %.12g on a line, want %.12g", i, got, line.NormSquared, want)
		}
	}
}

// The bounds on derivatives of a term agree with a fine grid, and exceed it by little.
func TestTermDerivatives(t *testing.T) {
	third, second := 0.0, 0.0
	for i := range 60001 {
		a := float64(i) / 10000
		third = max(third, math.Abs(12*a-8*a*a*a)*math.Exp(-a*a))
		if v := (4*a*a - 2) * math.Exp(-a*a); v > second {
			second = v
		}
	}
	if third > termThird || third < 0.999*termThird {
		t.Errorf("the largest third derivative is %g, not %g", third, termThird)
	}
	if v := (4*steepest*steepest - 2) * math.Exp(-steepest*steepest); math.Abs(v-second) > 1e-8 {
		t.Errorf("the second one is largest at %g: %g, not %g", steepest, v, second)
	}
}

// The bound of a box is above s at every place in it.
func TestBoundOfBoxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	terms := 0
	for range 300 {
		d := 1 + rng.IntN(4)
		c := newCloud(points(rng, 1+rng.IntN(12), d, 4).RawMatrix().Data, d)
		centre, half := make([]float64, d), make([]float64, d)
		width := math.Exp(-4 * rng.Float64())
		for i := range d {
			centre[i], half[i] = 4*(rng.Float64()-0.5), width*rng.Float64()
		}
		a := c.taylor(centre, half, &terms)
		bound, concave := a.bound(half), a.concave(half)
		for range 100 {
			x, y := make([]float64, d), make([]float64, d)
			for i := range d {
				x[i] = centre[i] + half[i]*(2*rng.Float64()-1)
				y[i] = centre[i] + half[i]*(2*rng.Float64()-1)
			}
			at, to := c.taylor(x, make([]float64, d), &terms), c.taylor(y, make([]float64, d), &terms)
			if at.value > bound*(1+1e-14) {
				t.Fatalf("%g in a box with the bound %g", at.value, bound)
			}
			line := at.value
			for i := range d {
				line += at.slope[i] * (y[i] - x[i])
			}
			if concave && to.value > line+1e-14 {
				t.Fatalf("%g is above the tangent, %g, in a box where s is concave", to.value, line)
			}
		}
	}
}

func TestLargestNormInManyDimensions(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	m := NewModel(points(rng, 20, 7, 3), 1, 1, 1, 0)
	if l := largestNorm(t, m); l.Complete || l.NormSquared < largestFound(m, rng) {
		t.Errorf("%+v; an input has %g", l, largestFound(m, rng))
	}
	if l := largestNorm(t, NewModel(gridPoints(2, 8), 1, 1, 1, 0)); !l.Complete {
		t.Error("a lattice in eight dimensions has no bound")
	}
	far := NewModel(mat.NewDense(2, 2, []float64{1e300, 0, 0, 1}), 1e-100, 1, 1, 0)
	if l, err := far.LargestNorm(); err != nil || math.Abs(l.NormSquared-1) > 1e-11 || !l.Complete {
		t.Errorf("%+v, %v", l, err)
	}
}

// The bound by eigenvalues lies between the largest one and M^(1/32) times it, and so above the certified
// maximum, which it meets at equal points.
func TestSpectral(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	cases := []*mat.Dense{mat.NewDense(2, 7, []float64{13: 1}), mat.NewDense(3, 7, nil), points(rng, 60, 7, 3),
		points(rng, 40, 900, .1)}
	for d := 1; d <= 6; d++ {
		cases = append(cases, points(rng, 20, d, 3), points(rng, 5, d, 40))
	}
	for _, z := range cases {
		m := NewModel(z, 1, 1, 1, 0)
		n, d := z.Dims()
		k := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range n {
				r := m.scaledDistance(i, j)
				k.SetSym(i, j, math.Exp(-r*r/2))
			}
		}
		var of mat.EigenSym
		if !of.Factorize(k, false) {
			t.Fatal("no eigenvalues")
		}
		largest, got := of.Values(nil)[n-1], m.spectral()
		if got < min(float64(n), largest) || got > largest*math.Pow(float64(n), 1.0/32)*(1+1e-11) {
			t.Errorf("%d points in %d dimensions: %.15g, the largest eigenvalue is %.15g", n, d, got, largest)
		}
		if d <= maxSearched {
			if l := largestNorm(t, m); l.Complete && got < l.NormSquared/(1+2*boxTolerance) {
				t.Errorf("%d points in %d dimensions: %.15g, the maximum is %.15g", n, d, got, l.NormSquared)
			}
		}
	}
}

// Where the work is too much there is a bound all the same.
func TestSearchAtItsLimit(t *testing.T) {
	tier.Sequential(t)
	rng := rand.New(rand.NewPCG(11, 12))
	m := NewModel(points(rng, 200, 6, 12), 1, 1, 1, 0)
	s := &searcher{terms: boxTerms - 1e5}
	for _, p := range m.clusters() {
		s.add(newCloud(p, 6))
	}
	bound, complete := s.run()
	if found := largestFound(m, rng); complete || bound < found || bound > 200 {
		t.Errorf("%g, %v; an input has %g", bound, complete, found)
	}
}

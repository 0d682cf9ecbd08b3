package scattering

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
)

// opened has registered the products of matrices.
var opened *engine.Engine

func TestMain(m *testing.M) {
	var err error
	if opened, err = engine.Open("cpu", "float64", 2); err != nil {
		panic(err)
	}
	m.Run()
}

// picture has random pixels in [−1, 1].
func picture(width, height int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	u := make([]float64, width*height)
	for i := range u {
		u[i] = 2*rng.Float64() - 1
	}
	return u
}

// field is a function of whole places that is defined everywhere.
type field func(x, y int) float64

// mirror makes a field of a plane, pixel −1 being pixel 0.
func mirror(at func(x, y int) float64, width, height int) field {
	fold := func(i, n int) int {
		for i < 0 || i >= n {
			if i < 0 {
				i = -1 - i
			} else {
				i = 2*n - 1 - i
			}
		}
		return i
	}
	return func(x, y int) float64 { return at(fold(x, width), fold(y, height)) }
}

// along are the places within a radius of the square of stride pixels that begins at 0.
func along(stride, radius int) []int {
	var out []int
	for i := -radius; i < stride+radius; i++ {
		out = append(out, i)
	}
	return out
}

// blurred is the mean of a field by normal weights about the centre of a square.
func blurred(f field, deviation float64, stride, radius int) func(x, y int) float64 {
	return func(x, y int) float64 {
		var sum, total float64
		for _, j := range along(stride, radius) {
			for _, i := range along(stride, radius) {
				dx, dy := float64(i)-float64(stride-1)/2, float64(j)-float64(stride-1)/2
				w := math.Exp(-(dx*dx + dy*dy) / 2 / deviation / deviation)
				sum, total = sum+w*f(stride*x+i, stride*y+j), total+w
			}
		}
		return sum / total
	}
}

// magnitude is that of a field under a Morlet wavelet of the scale 2^j in the direction kπ/8: the sums are written out.
func magnitude(f field, j, k, stride, radius int) func(x, y int) float64 {
	deviation, frequency := .8*math.Exp2(float64(j)), .75*math.Pi/math.Exp2(float64(j))
	angle := float64(k) * math.Pi / 8
	return func(x, y int) float64 {
		var sum, waves complex128
		var bells, mean float64
		for _, b := range along(stride, radius) {
			for _, a := range along(stride, radius) {
				z := complex(float64(a)-float64(stride-1)/2, float64(b)-float64(stride-1)/2) * cmplx.Exp(complex(0, -angle))
				bell := math.Exp(-(real(z)*real(z)+imag(z)*imag(z)/4)/2/deviation/deviation) / (4 * math.Pi * deviation * deviation)
				wave := complex(bell, 0) * cmplx.Exp(complex(0, frequency*real(z)))
				v := f(stride*x+a, stride*y+b)
				sum, waves = sum+wave*complex(v, 0), waves+wave
				bells, mean = bells+bell, mean+bell*v
			}
		}
		return cmplx.Abs(sum - waves*complex(mean/bells, 0))
	}
}

// reference are the features before they are normalised, by their formula.
func reference(u []float64, width, height int) []float64 {
	columns, rows := (width+3)/4, (height+3)/4
	v := mirror(func(x, y int) float64 { return (u[y*width+x] + 1) / 2 }, width, height)
	v = mirror(v, 4*columns, 4*rows) // the picture is filled up to whole squares first
	var out []float64
	put := func(f func(x, y int) float64) {
		for y := range rows {
			for x := range columns {
				out = append(out, f(x, y))
			}
		}
	}
	kept := func(f func(x, y int) float64, width, height int) field { // each value is computed once
		var all []float64
		for y := range height {
			for x := range width {
				all = append(all, f(x, y))
			}
		}
		return mirror(func(x, y int) float64 { return all[y*width+x] }, width, height)
	}
	put(blurred(v, 1.6, 4, 4))
	fine := make([]field, 8)
	for k := range fine {
		fine[k] = kept(magnitude(v, 0, k, 1, 4), 4*columns, 4*rows)
		put(blurred(fine[k], 1.6, 4, 4))
	}
	for _, f := range slices.Concat([]field{v}, fine) {
		for k := range 8 {
			put(blurred(kept(magnitude(f, 1, k, 2, 8), 2*columns, 2*rows), .8, 2, 2))
		}
	}
	return out
}

// Features are those of the formula, of pictures that are no squares, and no multiples of four pixels.
func TestFormula(t *testing.T) {
	for _, c := range []struct{ width, height int }{{8, 8}, {9, 6}} {
		t.Run(fmt.Sprintf("%dx%d", c.width, c.height), func(t *testing.T) {
			u, s := picture(c.width, c.height, 1), New(c.width, c.height)
			got := make([]float64, s.Len())
			s.raw(u, got, new(scratch))
			want := reference(u, c.width, c.height)
			if len(want) != len(got) {
				t.Fatalf("%d features, want %d", len(got), len(want))
			}
			for i := range want {
				trialtest.Near(t, fmt.Sprintf("feature %d", i), got[i], want[i], 1e-12)
			}
			s.Of(u, got)
			for lo := 0; lo < len(want); lo += len(want) / 27 {
				group := want[lo : lo+len(want)/27]
				mean := floats.Sum(group) / float64(len(group))
				var variance float64
				for _, v := range group {
					variance += (v - mean) * (v - mean) / float64(len(group))
				}
				for i, v := range group {
					trialtest.Near(t, fmt.Sprintf("normalised %d", lo+i), got[lo+i], (v-mean)/math.Sqrt(variance+1e-5), 1e-9)
				}
			}
			if norm := floats.Norm(got, 2); norm > math.Sqrt(float64(len(got))) {
				t.Errorf("the norm of %d features is %g", len(got), norm)
			}
		})
	}
}

// The energy of the features before they are normalised is at most that of the pixels, and a tenth more for the margins
// and the cut filters; that of white noise is mostly kept.
func TestEnergy(t *testing.T) {
	s := New(16, 16)
	out := make([]float64, s.Len())
	for seed := range uint64(5) {
		u := picture(16, 16, seed)
		s.raw(u, out, new(scratch))
		pixels := 0.0
		for _, x := range u {
			pixels += (x + 1) * (x + 1) / 4
		}
		energy := 16 * floats.Dot(out, out) / pixels
		if energy > 1.1 || energy < .6 {
			t.Errorf("the features have %g of the energy of the pixels", energy)
		}
	}
}

// A picture that is moved by four pixels has features that are moved by a place, a constant one has none but its mean,
// and no picture changes the features of another.
func TestMoved(t *testing.T) {
	const side = 56
	s := New(side, side)
	a, b := make([]float64, side*side), make([]float64, side*side)
	for i, v := range picture(8, 8, 3) {
		a[(24+i/8)*side+20+i%8] = v
		b[(24+i/8)*side+24+i%8] = v
	}
	fa, fb := make([]float64, s.Len()), make([]float64, s.Len())
	s.Of(a, fa)
	s.Of(b, fb)
	for i := range fa {
		if i%s.columns > 0 {
			trialtest.Near(t, fmt.Sprintf("feature %d", i), fb[i], fa[i-1], 1e-9)
		}
	}
	s.raw(slices.Repeat([]float64{.5}, side*side), fa, new(scratch))
	for i, v := range fa {
		want := 0.0
		if i < s.columns*s.rows {
			want = .75
		}
		trialtest.Near(t, fmt.Sprintf("constant, feature %d", i), v, want, 1e-12)
	}
	all, err := s.Matrix(t.Context(), opened, mat.NewDense(2, side*side, slices.Concat(a, b)), .5)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range all.RawRowView(1) {
		want := 1.0
		if i < s.Len() {
			want = fb[i] / 2
		}
		if v != want {
			t.Errorf("feature %d of the second row is %g, alone %g", i, v, want)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	t := New(28, 28)
	u, out := picture(28, 28, 1), make([]float64, t.Len())
	var s scratch
	for b.Loop() {
		t.of(u, out, &s)
	}
}

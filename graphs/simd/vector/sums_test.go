package vector

import (
	"math"
	"slices"
	"testing"
)

// Sums, the largest element, and squared distances agree with loops up to rounding.
func TestValues(t *testing.T) {
	t.Run("float64", func(t *testing.T) { values[float64](t, 1e-13) })
	t.Run("float32", func(t *testing.T) { values[float32](t, 1e-5) })
}

func values[T Float](t *testing.T, tolerance float64) {
	for _, n := range append(lengths(70), 128, 500) {
		x, y := numbers[T](1, n, 2, false), numbers[T](2, n, 2, false)
		size, squared, dot := 0.0, 0.0, 0.0
		for i, v := range x {
			a, b := float64(v), float64(y[i])
			size += math.Abs(a)
			squared += (a - b) * (a - b)
			dot += a * b
		}
		for name, c := range map[string][2]float64{"SquaredDistance": {float64(SquaredDistance(x, y)), squared},
			"Dot": {float64(Dot(x, y)), dot}} {
			if !(math.Abs(c[0]-c[1]) <= tolerance*(size+squared)) {
				t.Fatalf("%s of %d is %v, want %v", name, n, c[0], c[1])
			}
		}
		if n > 0 && Max(x) != slices.Max(x) {
			t.Fatalf("the largest of %d is %v, want %v", n, Max(x), slices.Max(x))
		}
		for i := range n {
			z := make([]T, n)
			for j := range z {
				z[j] = -2
			}
			z[i] = T(math.NaN())
			if m := Max(z); m == m {
				t.Fatalf("the largest of %d with NaN at %d is %v", n, i, m)
			}
		}
	}
	if m := Max([]T{T(math.Inf(-1))}); !math.IsInf(float64(m), -1) {
		t.Errorf("the largest of -Inf is %v", m)
	}
}

// AddNorms finds each single pair whose distance has cancelled, and no other.
func TestAddNormsFindsCancelledPairs(t *testing.T) {
	const n = 41
	for at := -1; at < n; at++ {
		row, norms := make([]float32, n), make([]float32, n)
		for i := range row {
			row[i], norms[i] = -1, float32(i+1)
		}
		if at >= 0 {
			row[at] = -norms[at] - 1.999
		}
		if hit := AddNorms(row, norms, 2, 1e-2); hit != (at >= 0) {
			t.Fatalf("cancelled pair at %d: found %t", at, hit)
		}
		for i, v := range row {
			if i != at && v != float32(i+2) {
				t.Fatalf("distance %d is %v", i, v)
			}
		}
	}
}

// The error of Tanh is below three units over the range, zeros keep their sign.
func TestTanh(t *testing.T) {
	var x []float64
	var single []float32
	for v := -25.0; v < 25; v += .00317 {
		x, single = append(x, v, v*1e-3), append(single, float32(v), float32(v*1e-3))
	}
	y, z := make([]float64, len(x)), make([]float32, len(x))
	Tanh(y, x)
	Tanh(z, single)
	for i, v := range x {
		if want := math.Tanh(v); math.Abs(y[i]-want) > 4*0x1p-52*math.Abs(want) {
			t.Fatalf("tanh(%v) is %v, want %v", v, y[i], want)
		}
		if want := math.Tanh(float64(single[i])); math.Abs(float64(z[i])-want) > 3*0x1p-23*math.Abs(want) {
			t.Fatalf("tanh(%v) is %v, want %v in float32", single[i], z[i], want)
		}
	}
	edge := []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1)}
	Tanh(edge, edge)
	if edge[0] != 1 || edge[1] != -1 || edge[2] == edge[2] || !math.Signbit(edge[3]) {
		t.Errorf("tanh at the edges is %v", edge)
	}
}

//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kernels"
	"privkern/graphs/op"
)

// rotated is a symmetric matrix with these eigenvalues.
func rotated(spectrum ...float64) *mat.Dense {
	n := len(spectrum)
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	normal := mat.NewDense(n, n, values(n*n, func(int) float64 { return rng.NormFloat64() }))
	var qr mat.QR
	qr.Factorize(normal)
	var q, a mat.Dense
	qr.QTo(&q)
	a.Product(&q, mat.NewDiagDense(n, spectrum), q.T())
	for i := range n {
		for j := range i {
			a.Set(i, j, a.At(j, i))
		}
	}
	return &a
}

// values are n eigenvalues by their number.
func values(n int, f func(i int) float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = f(i)
	}
	return v
}

// spectra are matrices whose eigenvalues are simple, equal, clustered, of both signs, tiny, huge or
// zero, also where the matrix is diagonal or falls apart.
func spectra() map[string]*mat.Dense {
	tridiagonal := mat.NewDense(21, 21, nil) // Wilkinson's, with pairs that agree to 15 digits
	for i := range 21 {
		tridiagonal.Set(i, i, math.Abs(float64(i)-10))
		if i > 0 {
			tridiagonal.Set(i, i-1, 1)
			tridiagonal.Set(i-1, i, 1)
		}
	}
	apart := mat.NewDense(6, 6, nil)
	apart.Slice(0, 2, 0, 2).(*mat.Dense).Copy(rotated(1, 2))
	apart.Slice(2, 6, 2, 6).(*mat.Dense).Copy(rotated(1, 2, 3, -4))
	return map[string]*mat.Dense{
		"one element": rotated(-3),
		"2×2":         rotated(1, 3),
		"both signs":  rotated(values(37, func(i int) float64 { return math.Sin(float64(7 * i)) })...),
		"decay":       rotated(values(70, func(i int) float64 { return math.Pow(.5, float64(i)) })...),
		"equal":       rotated(values(40, func(i int) float64 { return float64(i / 10) })...),
		"tiny":        rotated(values(9, func(i int) float64 { return 1e-300 * float64(i) })...),
		"huge":        rotated(values(9, func(i int) float64 { return 1e300 * float64(i) })...),
		"zero":        mat.NewDense(8, 8, nil),
		"identity":    mat.DenseCopyOf(mat.NewDiagDense(33, values(33, func(int) float64 { return 1 }))),
		"diagonal":    mat.DenseCopyOf(mat.NewDiagDense(5, []float64{2, -1, 7, 2, 0})),
		"tridiagonal": tridiagonal,
		"apart":       apart,
		"kernel's":    rotated(values(kernels.EigenOrder/2+3, func(i int) float64 { return 1 / float64(1+i) })...),
		"library's":   rotated(values(kernels.EigenOrder+1, func(i int) float64 { return 1 / float64(1+i) })...),
	}
}

// The decompositions of a batch give the matrices back, with orthonormal vectors and ascending
// values, and each has the bits that it has alone.
func TestEigenOfMembers(t *testing.T) {
	_, e := engines(t, "float64")
	for name, a := range spectra() {
		t.Run(name, func(t *testing.T) {
			n, _ := a.Dims()
			decompose := func(members int) []float64 {
				p := engine.Program{Name: "eigen", Key: fmt.Sprint("eigen ", members, n), Build: func(b *engine.Builder) {
					b.Output("out", b.Eigen(b.Tensor("a", members, n, n)))
				}}
				var data []float64
				for i := members; i > 0; i-- { // the last member is the matrix itself
					var scaled mat.Dense
					scaled.Scale(1/float64(i), a)
					data = append(data, scaled.RawMatrix().Data...)
				}
				out, err := e.Run(context.Background(), p, engine.Values{"a": engine.TensorOf(data, members, n, n)})
				if err != nil {
					t.Fatal(err)
				}
				all := numbers(t, out["out"])
				return all[len(all)-n*(n+1):]
			}
			last := decompose(2)
			if !slices.Equal(last, decompose(1)) {
				t.Error("the bits are others than alone")
			}
			w, v := last[:n], mat.NewDense(n, n, last[n:])
			if !slices.IsSorted(w) {
				t.Errorf("the values do not ascend: %v", w)
			}
			var gram, back mat.Dense
			gram.Mul(v.T(), v)
			back.Product(v, mat.NewDiagDense(n, w), v.T())
			size := mat.Max(a)
			size = max(size, -mat.Min(a))
			for i := range n {
				for j := range n {
					unit := 0.0
					if i == j {
						unit = 1
					}
					if d := math.Abs(gram.At(i, j) - unit); !(d < 1e-13) {
						t.Fatalf("the vectors %d and %d are off by %g", i, j, d)
					}
					if d := math.Abs(back.At(i, j) - a.At(i, j)); !(d <= 1e-13*size) {
						t.Fatalf("element %d, %d is off by %g of %g", i, j, d, size)
					}
				}
			}
		})
	}
}

// Blocks within and beyond the order of a factor in shared memory give the host's first pairs.
func TestLeadingEigenOfMembers(t *testing.T) {
	for dtype, tolerance := range map[string]float64{"float64": 1e-11, "float32": 1e-4} {
		host, device := engines(t, dtype)
		for _, c := range []struct{ n, k, steps int }{
			{150, kernels.FactorOrder - op.LeadingExtra, 2}, {150, kernels.FactorOrder - op.LeadingExtra + 1, 2}, {200, 3, 12},
		} {
			p := engine.Program{Name: "leading", Key: fmt.Sprint("leading", c), Build: func(b *engine.Builder) {
				b.Output("out", b.LeadingEigen(c.k, c.steps, b.Tensor("a", 2, c.n, c.n)))
			}}
			var data []float64
			for _, rate := range []float64{.8, .6} {
				a := rotated(values(c.n, func(i int) float64 { return math.Pow(rate, float64(i)) })...)
				data = append(data, a.RawMatrix().Data...)
			}
			in := engine.Values{"a": engine.TensorOf(data, 2, c.n, c.n)}
			if dtype == "float32" {
				in["a"] = engine.TensorOf(single(data), 2, c.n, c.n)
			}
			want, err := host.Run(context.Background(), p, in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := device.Run(context.Background(), p, in)
			if err != nil {
				t.Fatal(err)
			}
			g, w := numbers(t, got["out"]), numbers(t, want["out"])
			cols, few := c.n+2, min(c.k, 8) // later ones may be rounding
			for pair := range 2 * few {
				at := (pair/few*c.k + pair%few) * cols
				if d := math.Abs(g[at] - w[at]); d > tolerance+w[at+1]+g[at+1] {
					t.Errorf("%s, %v: the value in %d is off by %g, its bounds are %g and %g", dtype, c, at, d, g[at+1], w[at+1])
				}
				if g[at+1] > w[at+1]+tolerance {
					t.Errorf("%s, %v: the bound in %d is %g, that of the host %g", dtype, c, at, g[at+1], w[at+1])
				}
			}
		}
	}
}

// single are numbers in float32.
func single(v []float64) []float32 {
	s := make([]float32, len(v))
	for i, x := range v {
		s[i] = float32(x)
	}
	return s
}

// A member that is not finite fails by name, in every kernel that decomposes, and the others
// have their pairs.
func TestEigenOfMembersFails(t *testing.T) {
	_, e := engines(t, "float64")
	const n = 12
	p := engine.Program{Name: "pairs", Key: "pairs that fail", Build: func(b *engine.Builder) {
		a := b.Tensor("a", 3, n, n)
		b.Output("leading", b.LeadingEigen(2, 2, a))
		b.Output("largest", b.LargestEigen(2, a))
	}}
	a := rotated(values(n, func(i int) float64 { return float64(n - i) })...)
	bad := mat.DenseCopyOf(a)
	bad.Set(4, 4, math.Inf(1))
	data := slices.Concat(a.RawMatrix().Data, bad.RawMatrix().Data, a.RawMatrix().Data)
	out, err := e.Run(context.Background(), p, engine.Values{"a": engine.TensorOf(data, 3, n, n)})
	var failed *op.MembersError
	var noConvergence *op.NoConvergenceError
	if !errors.As(err, &failed) || len(failed.Failed) != 1 || failed.Failed[0].Member != 1 ||
		!errors.As(err, &noConvergence) {
		t.Fatalf("got %v", err)
	}
	for name, cols := range map[string]int{"leading": n + 2, "largest": n + 1} {
		pairs := numbers(t, out[name])
		for member := range 3 {
			theta := pairs[member*2*cols]
			if good := math.Abs(theta-n) < 1e-10; good == (member == 1) {
				t.Errorf("%s: the largest value of member %d is %g", name, member, theta)
			}
		}
	}
}

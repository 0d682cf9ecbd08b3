package regression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/tests/tier"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/modelfile"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/floatnoise"
	"privkern/runner/experiment"
)

// What an observer gets out of a single released model who knows all rows but the
// output of one. Normal numbers of math/rand/v2 are multiples k·w of 128 public
// numbers w, |k| ≤ 2^31, about 2^39 in all: of the candidates for the missing
// output only the true one leaves such numbers as noise of the sum A. Mean and
// covariance of the model determine A and B: what is done with the sums hides
// nothing.

// tolerance bounds the error of A in units of its noise, from the rounding of the
// model and of its inversion.
const tolerance = 1e-13

// apply returns Vf(λ)Vᵀ for a symmetric matrix VλVᵀ.
func apply(t *testing.T, a *mat.SymDense, f func(float64) float64) *mat.SymDense {
	t.Helper()
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		t.Fatal("no eigenvalues")
	}
	values := eigen.Values(nil)
	for i, v := range values {
		values[i] = f(v)
	}
	var vectors, out mat.Dense
	eigen.VectorsTo(&vectors)
	out.Product(&vectors, mat.NewDiagDense(len(values), values), vectors.T())
	return symmetric(&out)
}

func symmetric(a mat.Matrix) *mat.SymDense {
	n, _ := a.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			out.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return out
}

// invert returns the noisy sums of a released model. With P = Q⁻¹, the mean
// m = τKPA gives v = PA; the covariance S = KPK + KPGPK has a G that only depends
// on v, so that X = G^½PG^½ solves X + X² = G^½K⁻¹SK⁻¹G^½.
func invert(t *testing.T, m *modelfile.Model) (a []float64, b *mat.SymDense) {
	t.Helper()
	n, tau := len(m.Mean), 1/m.Noise
	k := mat.NewSymDense(n, nil)
	for i, zi := range m.Inducing {
		for j, zj := range m.Inducing[:i+1] {
			square := 0.0
			for d := range zi {
				square += (zi[d] - zj[d]) * (zi[d] - zj[d])
			}
			k.SetSym(i, j, m.Kernel.Variance*math.Exp(-square/(2*m.Kernel.Lengthscale*m.Kernel.Lengthscale)))
		}
		k.SetSym(i, i, k.At(i, i)+m.Jitter)
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		t.Fatal("the kernel matrix is singular")
	}
	v := new(mat.VecDense)
	if err := chol.SolveVecTo(v, mat.NewVecDense(n, m.Mean)); err != nil {
		t.Fatal(err)
	}
	v.ScaleVec(1/tau, v)
	g, half := mat.NewSymDense(n, nil), math.Pow(tau, 4)*m.Mechanism.SigmaB*m.Mechanism.SigmaB/2
	for i := range n {
		g.SetSym(i, i, tau*tau*m.Mechanism.SigmaA*m.Mechanism.SigmaA+half*mat.Dot(v, v))
	}
	g.SymRankOne(g, half, v)
	root, back := apply(t, g, math.Sqrt), apply(t, g, func(v float64) float64 { return 1 / math.Sqrt(v) })
	s := mat.NewDense(n, n, nil)
	for i, row := range m.Covariance {
		s.SetRow(i, row)
	}
	var w, y mat.Dense
	if err := chol.SolveTo(&w, s); err != nil {
		t.Fatal(err)
	}
	if err := chol.SolveTo(&w, mat.DenseCopyOf(w.T())); err != nil {
		t.Fatal(err)
	}
	y.Product(root, &w, root)
	x := apply(t, symmetric(&y), func(y float64) float64 { return 2 * y / (1 + math.Sqrt(1+4*y)) })
	var p mat.Dense
	p.Product(back, x, back)
	q := apply(t, symmetric(&p), func(v float64) float64 { return 1 / v })
	var qv mat.VecDense
	qv.MulVec(q, v)
	b = mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			b.SetSym(i, j, (q.At(i, j)-k.At(i, j))/tau)
		}
		b.SetSym(i, i, b.At(i, i)-m.Mechanism.Lambda/tau)
	}
	return qv.RawVector().Data, b
}

// attackRows are 40 rows with whole outputs from 0 to 100.
func attackRows(t *testing.T, missing, output int) (path string, x, y []float64) {
	t.Helper()
	var text strings.Builder
	text.WriteString("x,y\n")
	for i := range 40 {
		at, v := i*13%40, (37*i*i+11)%101
		if i == missing {
			v = output
		}
		x, y = append(x, float64(at)/2), append(y, float64(v))
		fmt.Fprintf(&text, "%g,%d\n", x[i], v)
	}
	path = filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, x, y
}

// guess returns the candidate of which the most coordinates of the noise of A are
// possible, and among several the likeliest one.
func guess(layers *floatnoise.Layers, r *experiment.Release, noisy, x, y []float64, missing int) (best int) {
	m, n := r.Model.(*modelfile.Model), r.Noise[0]
	z := mat.NewDense(len(m.Inducing), 1, nil)
	for j, row := range m.Inducing {
		z.SetRow(j, row)
	}
	public := sparse.NewModel(z, m.Kernel.Lengthscale, m.Kernel.Variance, m.Noise, m.Jitter)
	unit := math.Ldexp(n.Grid, -24) // of what a row adds
	with := func(sum []float64, x, y float64) []float64 {
		out := slices.Clone(sum)
		for j, k := range public.Vector([]float64{x}) {
			out[j] += math.RoundToEven((y-m.Output.Centre)/m.Output.Scale*k/unit) * unit
		}
		return out
	}
	sum := make([]float64, len(noisy))
	for row := range x {
		if row != missing {
			sum = with(sum, x[row], y[row])
		}
	}
	most, least := -1, 0.0
	for candidate := range 101 {
		count, square := 0, 0.0
		for j, v := range with(sum, x[missing], float64(candidate)) {
			z := (noisy[j] - v) / n.Scale
			if square += z * z; layers.Possible(z, tolerance) {
				count++
			}
		}
		if count > most || count == most && square < least {
			best, most, least = candidate, count, square
		}
	}
	return best
}

// A missing output is one of 101 numbers. From a single released model with noise
// of math/rand/v2 it is read off, whatever ε; with exact noise it is guessed about
// as rarely as by chance, and what the inversion gives are points of the grid.
func TestAttackOnModel(t *testing.T) {
	tier.Sequential(t)
	w := floatnoise.New()
	for _, c := range []struct {
		epsilon float64
		// limit is how many of 100 are right with a probability below 1e-6 where each is
		// with one of e^ε/(e^ε + 100).
		limit int
	}{{1, 13}, {0.1, 9}, {0.01, 8}} {
		for name, normal := range map[string]*rand.Rand{
			"math/rand/v2": rand.New(rand.NewPCG(7, 99)), "exact": nil,
		} {
			t.Run(fmt.Sprintf("epsilon %g, %s", c.epsilon, name), func(t *testing.T) {
				releases := 10
				if normal == nil {
					releases = 100
				}
				right, rng := 0, rand.New(rand.NewPCG(8, 9))
				for i := range releases {
					missing, output := rng.IntN(40), rng.IntN(101)
					path, x, y := attackRows(t, missing, output)
					trial := releaseTrial(t, int64(i), ownSettings(path), func(s *Settings) {
						s.Inducing, s.Lengthscale.Numbers, s.Epsilon, s.Delta = "6", experiment.Several{3}, c.epsilon, 1e-6
					})
					plan, err := Plan(t.Context(), trial)
					if err != nil {
						t.Fatal(err)
					}
					r, err := floatnoise.Release(t.Context(), plan, trial.Entropy, normal)
					if err != nil {
						t.Fatal(err)
					}
					a, b := invert(t, r.Model.(*modelfile.Model))
					if normal == nil {
						onGrid(t, "A", a, r.Noise[0].Grid)
						onGrid(t, "the diagonal of B", []float64{b.At(0, 0), b.At(3, 3)}, r.Noise[1].Grid)
						onGrid(t, "B beside its diagonal", []float64{b.At(0, 1), b.At(2, 5)}, r.Noise[2].Grid)
					}
					if guess(w, r, a, x, y, missing) == output {
						right++
					}
				}
				switch {
				case normal != nil && right < releases:
					t.Errorf("%d of %d missing outputs are found; the attack finds all", right, releases)
				case normal == nil && right > c.limit:
					t.Errorf("%d of %d missing outputs are found; chance and epsilon explain %d", right, releases, c.limit)
				}
			})
		}
	}
}

// onGrid tests that numbers are multiples of a unit, to the rounding of a model.
func onGrid(t *testing.T, what string, values []float64, unit float64) {
	t.Helper()
	for _, v := range values {
		if steps := v / unit; math.Abs(steps-math.Round(steps)) > 1e-6 {
			t.Errorf("%s: the model gives %.17g, %g steps of its grid", what, v, steps)
		}
	}
}

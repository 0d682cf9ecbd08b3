package logistic

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
)

// row is one with a single feature, of two classes.
type row struct {
	x float64
	y int
}

// density of the minimiser at the difference d of the two weights, whose mean does not depend on the rows: the loss of
// a row is log(1 + exp(∓dx)), the penalty λd²/4, and the noise that of half a difference, σ/√2.
func density(rows []row, lambda, sigma, d float64) float64 {
	g, h := lambda*d/2, lambda/2
	for _, r := range rows {
		s := r.x
		if r.y == 1 {
			s = -s
		}
		p := 1 / (1 + math.Exp(d*s))
		g -= s * p
		h += s * s * p * (1 - p)
	}
	sigma /= math.Sqrt2
	return math.Exp(-g*g/(2*sigma*sigma)) / (sigma * math.Sqrt(2*math.Pi)) * h
}

// divergence is the hockey-stick divergence between the minimisers of two sets of rows, integrated.
func divergence(t *testing.T, one, other []row, lambda, sigma, epsilon float64) float64 {
	width := 2 * (float64(len(one)) + 10*sigma) / lambda // |d| ≤ 2(n + 10σ/√2)/λ but with a probability below 1e-22
	step, delta, all := width/600, 0.0, 0.0
	for d := -width; d < width; d += step {
		p := density(one, lambda, sigma, d)
		all += p * step
		delta += max(0, p-math.Exp(epsilon)*density(other, lambda, sigma, d)) * step
	}
	if math.Abs(all-1) > 1e-3 {
		t.Fatalf("the density integrates to %g", all)
	}
	return delta
}

// The divergence of neighbours is within the bound. That is nearly reached by a row that is added to many that lie on
// the other side of it, where the determinants have little part.
func TestDelta(t *testing.T) {
	against := make([]row, 40)
	for i := range against {
		against[i] = row{1, 1}
	}
	for _, c := range []struct {
		terms         int
		lambda, sigma float64
		share         float64
	}{{2, .5, 4, 0}, {2, 2, 4, 0}, {2, 20, 4, 0}, {1, .5, 4, 0}, {1, 5, 4, .4}, {1, 10, 5, .4}} {
		p, most := perturbation{classes: 2, rows: 1, terms: c.terms}, 0.0
		for _, rest := range [][]row{nil, {{1, 0}, {-.5, 1}}, against} {
			for _, pair := range [][2]row{{{1, 0}, {1, 1}}, {{1, 0}, {-1, 0}}, {{.6, 0}, {0, 1}}, {{0, 0}, {1, 0}}} {
				one, other := append([]row{pair[0]}, rest...), append([]row{pair[1]}, rest...)
				if c.terms == 1 {
					other = rest
				}
				for range 2 {
					for _, epsilon := range []float64{.3, 1} {
						if left := epsilon - p.determinants(c.lambda); left >= 0 {
							delta, bound := divergence(t, one, other, c.lambda, c.sigma, epsilon), p.delta(left, c.sigma)
							if delta > bound*(1+1e-6) {
								t.Errorf("%+v: %+v: delta(%g) = %g, the bound is %g", c, pair, epsilon, delta, bound)
							}
							most = max(most, delta/bound)
						}
					}
					one, other = other, one
				}
			}
		}
		if most < c.share {
			t.Errorf("%+v: delta is %g of its bound at most: is that too large?", c, most)
		}
	}
}

// The noise has the δ that is asked for, and hardly more.
func TestSigma(t *testing.T) {
	for _, p := range []perturbation{{2, 1, 2}, {2, 1, 1}, {10, 1, 2}, {3, 5, 10}} {
		lambda, sigma, err := p.regularisation(1, 1e-5, 1000, 10)
		if err != nil {
			t.Fatal(err)
		}
		left := 1 - p.determinants(lambda)
		if d := p.delta(left, sigma); d > 1e-5 || d < 1e-5*(1-1e-6) {
			t.Errorf("%+v: delta = %g", p, d)
		}
	}
	if _, err := (perturbation{2, 1, 2}).sigma(.1, 1e-5, 1); err == nil {
		t.Error("a curvature beyond epsilon is accepted")
	}
}

// problem is a random objective.
func problem(t *testing.T, rng *rand.Rand, n, c, p int) *objective {
	normal := func(rows, columns int, scale float64) *mat.Dense {
		out := mat.NewDense(rows, columns, nil)
		for i := range rows {
			for j := range columns {
				out.Set(i, j, scale*rng.NormFloat64())
			}
		}
		return out
	}
	o := &objective{engine: engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine), x: normal(n, p, 1),
		c: c, p: p, lambda: 2, b: normal(c, p, 5)}
	for i := range n {
		v := o.x.RowView(i).(*mat.VecDense)
		v.ScaleVec(rng.Float64()/mat.Norm(v, 2), v)
		o.labels = append(o.labels, rng.IntN(c))
	}
	return o
}

// reference is the gradient, row by row.
func (o *objective) reference(theta *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(o.b)
	addScaled(out, o.lambda, theta)
	for i, label := range o.labels {
		p, sum := make([]float64, o.c), 0.0
		for k := range p {
			p[k] = math.Exp(mat.Dot(o.x.RowView(i), theta.RowView(k)))
			sum += p[k]
		}
		for k := range p {
			p[k] /= sum
			if k == label {
				p[k]--
			}
			for j := range o.p {
				out.Set(k, j, out.At(k, j)+p[k]*o.x.At(i, j))
			}
		}
	}
	return out
}

func apart(a, b *mat.Dense) float64 {
	var gap mat.Dense
	gap.Sub(a, b)
	return mat.Norm(&gap, 2)
}

func TestMinimise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, shape := range [][3]int{{1, 2, 1}, {50, 3, 4}, {2500, 2, 10}, {1100, 5, 3}} {
		o := problem(t, rng, shape[0], shape[1], shape[2])
		gamma := float64(shape[0]) * 1e-9
		theta, err := o.minimise(t.Context(), gamma)
		if err != nil {
			t.Fatal(err)
		}
		g, _, err := o.gradient(t.Context(), theta)
		if err != nil {
			t.Fatal(err)
		}
		want := o.reference(theta)
		if norm(want) > gamma || apart(g, want) > 2*o.rounding(theta) {
			t.Errorf("%v: the gradient is %g, %g from the computed one; at most %g and %g are allowed", shape, norm(want),
				apart(g, want), gamma, 2*o.rounding(theta))
		}
		if shape[0] > 50 {
			continue
		}
		if _, err := o.minimise(t.Context(), 0); err == nil {
			t.Errorf("%v: a gradient of 0 is certified", shape)
		}
	}
}

// Neighbours with one exact minimiser have noise that differs by no more than the change, which is reached, and
// computed minimisers no further apart than twice γ over λ.
func TestMinimisersOfNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	shape := perturbation{classes: 3, rows: 1, terms: 2}
	most := 0.0
	for i := range 60 {
		o := problem(t, rng, 30, 3, 4)
		addScaled(o.b, -1+float64(i), o.b) // up to far from the data
		const gamma = 1e-3
		exact, err := o.minimise(t.Context(), 1e-11*norm(o.b)+1e-11)
		if err != nil {
			t.Fatal(err)
		}
		theta, err := o.minimise(t.Context(), gamma)
		if err != nil {
			t.Fatal(err)
		}
		before, x := o.reference(exact), mat.DenseCopyOf(o.x)
		for j := range 4 {
			x.Set(0, j, -o.x.At(0, j)*.999/mat.Norm(o.x.RowView(0), 2))
		}
		other := *o
		other.x = x
		var v, b mat.Dense
		v.Sub(before, other.reference(exact))
		b.Add(o.b, &v)
		other.b = &b
		near, err := other.minimise(t.Context(), gamma)
		if err != nil {
			t.Fatal(err)
		}
		if gap := apart(theta, near); gap > 2*gamma/o.lambda {
			t.Errorf("the minimisers are %g apart, at most %g is allowed", gap, 2*gamma/o.lambda)
		}
		most = max(most, norm(&v))
	}
	if most > shape.change() || most < .6*shape.change() {
		t.Errorf("the noise differs by %g, the bound is %g", most, shape.change())
	}
}

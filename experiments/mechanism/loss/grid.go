package loss

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"privkern/runner/experiment"
)

// masses is the distribution of a privacy loss on the multiples of a spacing: the probability of the loss
// (at+i)·h has the logarithm log[i].
type masses struct {
	at       int
	log      []float64
	infinite float64 // probability of an unbounded loss
	times    int     // how often it is composed
}

// add adds probability p at a multiple of the spacing.
func (m *masses) add(multiple int, p float64) { m.log[multiple-m.at] += p }

// cell adds to the ends of the cell a ≤ loss ≤ a+h, of multiples j and j+1.
func (m *masses) cell(j int, lower, upper float64) {
	m.add(j, lower)
	m.add(j+1, upper)
}

// point adds probability p of a loss, which is distributed to the ends of its cell. An upper share of
// (1 − e^−t)/(1 − e^−h), with t from the lower end, keeps the probabilities under both hypotheses.
func (m *masses) point(loss, p, h float64) {
	j := int(math.Floor(loss / h))
	share := upperShare(loss-float64(j)*h, h)
	m.cell(j, p*(1-share), p*share)
}

func upperShare(t, h float64) float64 { return math.Expm1(-min(max(t, 0), h)) / math.Expm1(-h) }

// span returns masses that have room for losses from low to high.
func span(low, high, h float64, times int) *masses {
	at := int(math.Floor(low / h))
	return &masses{at: at, log: make([]float64, int(math.Floor(high/h))-at+2), times: times}
}

// finish takes logarithms, and leaves out the largest losses that have no probability.
func (m *masses) finish() *masses {
	for m.log[len(m.log)-1] == 0 {
		m.log = m.log[:len(m.log)-1]
	}
	for i, p := range m.log {
		m.log[i] = math.Log(p)
	}
	return m
}

// depth is how far below its largest loss a pure law is resolved; e^(−depth/2) is the probability of less.
const depth = 120

// pureMasses returns the loss of Laplace noise or a choice of ε. Both have the density c e^((l−ε)/2)/2 on
// [−ε, ε], of a choice with c = 1/(1 − e^−ε), and of Laplace noise with c = 1/2, the probability 1/2 of ε and
// e^−ε/2 of −ε.
func pureMasses(l experiment.Loss, h float64) *masses {
	e, c := l.Size, 0.5
	low := max(-e, e-depth)
	m := span(low, e, h, l.Times)
	if l.Law == exponential {
		c = -1 / math.Expm1(-e)
	} else {
		m.point(e, 0.5, h)
		if low == -e {
			m.point(-e, math.Exp(-e)/2, h)
		}
	}
	for j := m.at; float64(j)*h < e; j++ {
		a := float64(j) * h
		// Half the distances of the ends of the part of the cell from the cell's.
		u, v := max(0, low-a)/2, min(h, e-a)/2
		p, q := h/2-v, h/2-u
		f := -4 * c * math.Exp((a-e)/2) / math.Expm1(-h)
		m.cell(j, f*math.Exp(-h/2)*math.Sinh((q+p)/2)*math.Sinh((q-p)/2), f*math.Sinh((v+u)/2)*math.Sinh((v-u)/2))
	}
	if low > -e { // less probable losses count as the next multiple above
		m.add(m.at+1, c*math.Exp((low-e)/2)+math.Exp(-e)/2)
	}
	return m.finish()
}

// responseMasses returns the loss of randomised response of ε; one below the depth counts as the next multiple above.
func responseMasses(l experiment.Loss, h float64) *masses {
	low := max(-l.Size, l.Size-depth)
	m := span(low, l.Size, h, l.Times)
	m.point(l.Size, 1/(1+math.Exp(-l.Size)), h)
	if less := 1 / (1 + math.Exp(l.Size)); low == -l.Size {
		m.point(low, less, h)
	} else {
		m.add(m.at+1, less)
	}
	return m.finish()
}

// rule is a rule of Gauss and Legendre on [0, 1].
type rule struct {
	widest         float64 // the interval, in standard deviations of the noise
	nodes, weights []float64
}

// rules integrate a density to 1e-12 of it up to 34 deviations away: with m nodes the error on an interval of width w
// is at most (34w)²ᵐ m!⁴/((2m+1) (2m)!³) of it.
var rules = func() (out []rule) {
	for _, r := range []struct {
		count  int
		widest float64
	}{{3, 1.0 / 320}, {5, 1.0 / 40}, {8, 1.0 / 8}} {
		x, w := make([]float64, r.count), make([]float64, r.count)
		quad.Legendre{}.FixedLocations(x, w, 0, 1)
		out = append(out, rule{r.widest, x, w})
	}
	return out
}()

// gaussianMasses returns the loss of Gaussian noise, on a query over all units or over a sample of them. Beyond z
// deviations it counts as unbounded, or as the next multiple above.
func gaussianMasses(l experiment.Loss, added bool, h, z float64) *masses {
	pair := pairOf(l, added, z)
	m := span(pair.loss(pair.low), pair.loss(pair.high), h, l.Times)
	m.infinite = math.Erfc(z / math.Sqrt2)
	m.add(m.at+1, m.infinite)
	for j, from := m.at, pair.low; from < pair.high; j++ {
		a := float64(j) * h
		to := min(pair.high, max(from, pair.inverse(a+h)))
		if j-m.at+2 >= len(m.log) {
			to = pair.high
		}
		at := 0
		for at < len(rules)-1 && to-from > rules[at].widest {
			at++
		}
		rule := rules[at]
		parts := math.Ceil((to - from) / rule.widest)
		width := (to - from) / parts
		var lower, upper float64
		for k := 0.0; k < parts; k++ {
			for i, node := range rule.nodes {
				x := from + (k+node)*width
				p := rule.weights[i] * width * pair.density(x)
				share := upperShare(pair.loss(x)-a, h)
				lower += p * (1 - share)
				upper += p * share
			}
		}
		m.cell(j, lower, upper)
		from = to
	}
	return m.finish()
}

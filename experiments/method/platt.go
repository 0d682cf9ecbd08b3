package method

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
)

// Sigmoid is the probability 1/(1 + exp(A f + B)) that a row with the decision f is of the positive class of two.
type Sigmoid struct{ A, B float64 }

// At returns the probability for a decision.
func (s Sigmoid) At(decision float64) float64 {
	v := s.A*decision + s.B
	if v >= 0 { // exp(v) may overflow
		return math.Exp(-v) / (1 + math.Exp(-v))
	}
	return 1 / (1 + math.Exp(v))
}

// FitSigmoid returns the sigmoid of decisions about rows that are held out (n), with the positive ones among them:
// Platt 1999, "Probabilistic Outputs for Support Vector Machines", whose targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2)
// leave no row certain, by Newton's method with halved steps (Lin, Lin and Weng 2007, "A Note on Platt's
// Probabilistic Outputs for Support Vector Machines", Algorithm 1).
func FitSigmoid(decisions []float64, positive []bool) Sigmoid {
	const (
		iterations, ridge  = 100, 1e-12
		gradient, decrease = 1e-5, 1e-4
		leastStep          = 1e-10
	)
	count := 0.0
	for _, p := range positive {
		if p {
			count++
		}
	}
	others := float64(len(positive)) - count
	targets := make([]float64, len(positive))
	for i, p := range positive {
		if targets[i] = 1 / (others + 2); p {
			targets[i] = (count + 1) / (count + 2)
		}
	}
	// loss is the sum of −t ln p − (1−t) ln(1−p), without overflow.
	loss := func(s Sigmoid) (sum float64) {
		for i, f := range decisions {
			v := s.A*f + s.B
			sum += (targets[i]-1)*v + math.Max(v, 0) + math.Log1p(math.Exp(-math.Abs(v)))
		}
		return sum
	}
	s := Sigmoid{B: math.Log((others + 1) / (count + 1))}
	at := loss(s)
	for range iterations {
		h11, h22, h21, g1, g2 := ridge, ridge, 0.0, 0.0, 0.0
		for i, f := range decisions {
			p := s.At(f)
			d1, d2 := targets[i]-p, p*(1-p)
			h11, h22, h21 = h11+f*f*d2, h22+d2, h21+f*d2
			g1, g2 = g1+f*d1, g2+d1
		}
		if math.Abs(g1) < gradient && math.Abs(g2) < gradient {
			break
		}
		determinant := h11*h22 - h21*h21
		da, db := -(h22*g1-h21*g2)/determinant, -(h11*g2-h21*g1)/determinant
		slope, step := g1*da+g2*db, 1.0
		for ; step >= leastStep; step /= 2 {
			next := Sigmoid{s.A + step*da, s.B + step*db}
			if l := loss(next); l < at+decrease*step*slope {
				s, at = next, l
				break
			}
		}
		if step < leastStep {
			break // as low as float64 gets
		}
	}
	return s
}

// Coupling has the sigmoids of the pairs of a support vector machine.
type Coupling struct {
	classes  []int // that the machine knows, K
	sigmoids []Sigmoid
}

// Couple fits the sigmoids of the pairs of [learn.TrainSVM] on the rows of x (N×d): in each fold a machine is trained
// on a part, and its decisions about the other are those of rows that are held out. Every part must have two rows of
// each class to train on.
func Couple(x *mat.Dense, labels []int, folds []learn.Fold, options learn.SVMOptions) (*Coupling, error) {
	c := &Coupling{classes: slices.Compact(slices.Sorted(slices.Values(labels)))}
	pairs := len(c.classes) * (len(c.classes) - 1) / 2
	decisions, positive := make([][]float64, pairs), make([][]bool, pairs)
	for i, f := range folds {
		m, err := learn.TrainSVM(learn.SelectRows(x, f.Train), learn.Select(labels, f.Train), options)
		if err != nil {
			return nil, fmt.Errorf("part %d of %d: %w", i+1, len(folds), err)
		}
		if len(m.Classes) < len(c.classes) {
			return nil, fmt.Errorf("part %d of %d has rows of %d of %d classes to train on", i+1, len(folds), len(m.Classes),
				len(c.classes))
		}
		if len(f.Test) == 0 {
			continue
		}
		got := m.Decisions(learn.SelectRows(x, f.Test))
		for p, pair := range m.Pairs {
			for k, row := range f.Test {
				if l := labels[row]; l == pair.Positive || l == pair.Negative {
					decisions[p], positive[p] = append(decisions[p], got.At(k, p)), append(positive[p], l == pair.Positive)
				}
			}
		}
	}
	for p := range pairs {
		c.sigmoids = append(c.sigmoids, FitSigmoid(decisions[p], positive[p]))
	}
	return c, nil
}

// Probabilities returns those of a number of classes from 0 for rows with the decisions of all pairs (P×pairs), as C×P:
// the p with the least Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)² for the probabilities r of the pairs (Wu, Lin and Weng 2004,
// "Probability Estimates for Multi-class Classification by Pairwise Coupling", Eq. 13). Classes that the machine does
// not know have 0.
func (c *Coupling) Probabilities(decisions *mat.Dense, classes int) [][]float64 {
	n, _ := decisions.Dims()
	out := make([][]float64, classes)
	for k := range out {
		out[k] = make([]float64, n)
	}
	number := len(c.classes)
	r := mat.NewDense(number, number, nil)
	for i := range n {
		pair := 0
		for a := range number {
			for b := a + 1; b < number; b++ {
				p := max(leastPair, min(1-leastPair, c.sigmoids[pair].At(decisions.At(i, pair))))
				r.Set(a, b, p)
				r.Set(b, a, 1-p)
				pair++
			}
		}
		for k, p := range coupled(r) {
			out[c.classes[k]][i] = p
		}
	}
	return out
}

// leastPair bounds the probabilities of a pair, as LIBSVM does, so that each decides something.
const leastPair = 1e-7

// coupled returns the probabilities of K classes from those of pairs r (K×K) by the iteration of Algorithm 2 of Wu, Lin
// and Weng 2004, to 1e-12 of the residual: a logarithm of a small probability needs more than the usual .005/K. Of two
// classes they are those of the pair.
func coupled(r *mat.Dense) []float64 {
	k, _ := r.Dims()
	if k == 2 {
		return []float64{r.At(0, 1), r.At(1, 0)}
	}
	q := mat.NewDense(k, k, nil)
	p, qp := slices.Repeat([]float64{1 / float64(k)}, k), make([]float64, k)
	for a := range k {
		for b := range k {
			if a != b {
				q.Set(a, a, q.At(a, a)+r.At(b, a)*r.At(b, a))
				q.Set(a, b, -r.At(b, a)*r.At(a, b))
			}
		}
	}
	for range max(1000, k) {
		least := 0.0 // pᵀQp
		for a := range k {
			qp[a] = 0
			for b := range k {
				qp[a] += q.At(a, b) * p[b]
			}
			least += p[a] * qp[a]
		}
		worst := 0.0
		for _, v := range qp {
			worst = max(worst, math.Abs(v-least))
		}
		if worst < 1e-12 {
			break
		}
		for a := range k {
			d := (least - qp[a]) / q.At(a, a)
			p[a] += d
			least = (least + d*(d*q.At(a, a)+2*qp[a])) / (1 + d) / (1 + d)
			for b := range k {
				qp[b] = (qp[b] + d*q.At(a, b)) / (1 + d)
				p[b] /= 1 + d
			}
		}
	}
	return p
}

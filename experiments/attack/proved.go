package attack

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// confidence is that of proofs.
const confidence = .95

// Proved returns the least ε that is not refuted, with a confidence of 95 %, for a mechanism that is (ε, δ)-private for
// the substitution of a unit, where an adversary guessed the coins of some of m pairs and had v of r guesses right; 0
// where she has not shown anything.
//
// Each guess is right with the probability e^ε/(1+e^ε) at most given the model and the other coins, and so the number
// of right ones is at most binomial in distribution, however units depend on each other, and whichever pairs are left
// out; δ adds 2mδ·max_i P[v−i ≤ B < v]/i to its tail (Steinke, Nasr and Jagielski 2023, Theorem 5.2 and Algorithm 2,
// there for coins that add a unit; a coin here substitutes one). Several models with coins of their own are one
// mechanism for all coins.
func Proved(m, r, v int, delta float64) float64 {
	if v > r || r > m || v < 0 {
		panic("attack: more right guesses than guesses, or than pairs")
	}
	refuted := func(epsilon float64) bool { return tail(m, r, v, epsilon, delta) <= 1-confidence }
	if r == 0 || !refuted(0) {
		return 0
	}
	low, high := 0.0, 1.0
	for refuted(high) {
		low, high = high, 2*high
	}
	for high-low > 1e-9*high {
		if middle := (low + high) / 2; refuted(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// tail bounds the probability of v right guesses or more, of r guesses about m pairs.
func tail(m, r, v int, epsilon, delta float64) float64 {
	if v == 0 {
		return 1
	}
	q := 1 / (1 + math.Exp(-epsilon))
	beta := mathext.RegIncBeta(float64(v), float64(r-v+1), q)
	if delta == 0 {
		return beta
	}
	// The largest mean of successive probabilities below v.
	largest, sum := 0.0, 0.0
	for i := 1; i <= v && 1 > float64(i)*largest; i++ {
		sum += math.Exp(logBinomial(r, v-i) + float64(v-i)*math.Log(q) - float64(r-v+i)*math.Log1p(math.Exp(epsilon)))
		largest = max(largest, sum/float64(i))
	}
	return min(1, beta+2*float64(m)*delta*largest)
}

// logBinomial is the logarithm of a binomial coefficient.
func logBinomial(n, k int) float64 {
	return -mathext.Lbeta(float64(k+1), float64(n-k+1)) - math.Log(float64(n+1))
}

package release

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// quantile is where tests of frequencies fail: a right program reaches beyond it
// once in 200,000 tests, and here never, since streams are seeded.
const quantile = 0.999995

// manyDraws are enough to see a probability that is off by 1 %.
const manyDraws = 1 << 17

// seeded is a stream of bits that a number decides.
func seeded(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

// byteCounter counts the bytes that are read from it.
type byteCounter struct {
	from io.Reader
	n    int
}

func (c *byteCounter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += n
	return n, err
}

// crafted is a reader of the given chunks of 32 bits, with a seeded stream behind
// them, and a function that counts the chunks that were used up.
func crafted(chunks ...uint32) (b *bitReader, used func() int) {
	var text []byte
	for _, v := range chunks {
		text = binary.LittleEndian.AppendUint32(text, v)
	}
	c := &byteCounter{from: io.MultiReader(bytes.NewReader(text), seeded(1))}
	b = newBitReader(c)
	return b, func() int { return (c.n - (chunk - b.next)) / 4 }
}

// checkShare tests how often something of probability p has come.
func checkShare(t *testing.T, times, of int, p float64) {
	t.Helper()
	if p <= 0 || p >= 1 {
		if float64(times) != p*float64(of) {
			t.Errorf("%d of %d, want probability %g", times, of, p)
		}
		return
	}
	z := (float64(times) - float64(of)*p) / math.Sqrt(float64(of)*p*(1-p))
	if limit := distuv.UnitNormal.Quantile(1 - (1-quantile)/2); math.Abs(z) > limit {
		t.Errorf("%d of %d, want probability %g: %.2f standard deviations off", times, of, p, z)
	}
}

// checkCounts is Pearson's test of counts against probabilities that add up to
// one, in which cells are joined from the left until five are expected in each.
func checkCounts(t *testing.T, counts []int, probabilities []float64) {
	t.Helper()
	total, sum := 0, 0.0
	for i, c := range counts {
		total, sum = total+c, sum+probabilities[i]
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Fatalf("the probabilities add up to %.12g", sum)
	}
	statistic, cells, seen, want := 0.0, 0, 0, 0.0
	for i, c := range counts {
		seen, want = seen+c, want+probabilities[i]*float64(total)
		if want < 5 && i < len(counts)-1 {
			continue
		}
		if want > 0 {
			statistic += (float64(seen) - want) * (float64(seen) - want) / want
			cells++
		} else if seen > 0 {
			t.Errorf("%d of probability zero", seen)
		}
		seen, want = 0, 0
	}
	if cells < 2 {
		return
	}
	if limit := (distuv.ChiSquared{K: float64(cells - 1)}).Quantile(quantile); statistic > limit {
		t.Errorf("chi-squared %.1f of %d cells, at most %.1f", statistic, cells, limit)
	}
}

// checkLaw is the test of Kolmogorov and Smirnov.
func checkLaw(t *testing.T, sample []float64, cdf func(float64) float64) {
	t.Helper()
	slices.Sort(sample)
	n, worst := float64(len(sample)), 0.0
	for i, v := range sample {
		p := cdf(v)
		worst = max(worst, p-float64(i)/n, float64(i+1)/n-p)
	}
	if limit := math.Sqrt(math.Log(2/(1-quantile))/2) / math.Sqrt(n); worst > limit {
		t.Errorf("the distribution functions are %.5f apart, at most %.5f", worst, limit)
	}
}

// honest is a source for tests.
func honest(seed byte) *Source { return Unbooked(seeded(seed)) }

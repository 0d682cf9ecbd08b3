// Package floatnoise recognises normal numbers of math/rand/v2, for tests that
// attack releases. They are multiples k·w of 128 public numbers w, |k| ≤ 2^31, about
// 2^39 in all: noise of that kind gives away which query a number was added to.
package floatnoise

import (
	"math"
	"math/rand/v2"
)

// script is a source of the given numbers, and of zeros after them.
type script []uint64

func (s *script) Uint64() (v uint64) {
	if len(*s) > 0 {
		v, *s = (*s)[0], (*s)[1:]
	}
	return v
}

// Layers are the numbers w.
type Layers [128]float64

// New returns the layers, as the sampler itself gives them for k = 1.
func New() *Layers {
	out := new(Layers)
	for i := range out {
		out[i] = rand.New(&script{uint64(i)<<32 | 1}).NormFloat64()
	}
	return out
}

// Possible says whether math/rand/v2 has a normal number within the tolerance of v.
func (l *Layers) Possible(v, tolerance float64) bool {
	for _, w := range l {
		if k := math.Round(v / w); math.Abs(k) <= 1<<31 && math.Abs(v-k*w) <= tolerance {
			return true
		}
	}
	return false
}

// Package floatnoise makes releases with normal numbers of math/rand/v2 and recognises such
// numbers, for tests that attack releases. They are multiples k·w of 128 public numbers w,
// |k| ≤ 2^31, about 2^39 in all: noise of that kind reveals to which query it was added.
package floatnoise

import (
	"context"
	"io"
	"math"
	"math/rand/v2"

	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Release publishes the private rows of a plan: with exact noise from entropy, or, where
// normal is not nil, with its numbers times the scale of the exact noise, in floating point.
func Release(ctx context.Context, plan *release.Plan, entropy io.Reader, normal *rand.Rand) (
	*experiment.Release, error) {
	source := release.Unbooked(entropy)
	var draws []release.Draw
	source.Trace(&draws)
	out, err := plan.With(ctx, source, plan.Private)
	if normal == nil || len(draws) == 0 {
		return out, err
	}
	var noisy []float64
	for _, d := range draws {
		for _, v := range d.Query {
			noisy = append(noisy, v+d.Noise.Scale()*normal.NormFloat64())
		}
	}
	return plan.With(ctx, release.Replay(noisy), plan.Private)
}

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

// Possible reports whether math/rand/v2 has a normal number within the tolerance of v.
func (l *Layers) Possible(v, tolerance float64) bool {
	for _, w := range l {
		if k := math.Round(v / w); math.Abs(k) <= 1<<31 && math.Abs(v-k*w) <= tolerance {
			return true
		}
	}
	return false
}

// Package scattering has fixed features of grey pictures, which are stable under small shifts and deformations: the
// scattering transform of two scales and eight directions (Bruna and Mallat, "Invariant scattering convolution
// networks", IEEE Transactions on Pattern Analysis and Machine Intelligence 35, 2013; Oyallon and Mallat, "Deep
// roto-translation scattering for object classification", CVPR 2015). A linear model of them learns better under
// noise than a network that learns its own (Tramèr and Boneh, "Differentially private learning needs better features
// (or much more data)", ICLR 2021).
package scattering

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

const (
	// block is the side of the square of pixels that a place of the features stands for, 2^J for J = 2 scales.
	block = 4
	// directions is L, the number of directions of waves.
	directions = 8
	// Channels is how many features a place has: the mean, those of each wave, and of each pair of a fine one and a
	// coarse one.
	Channels = 1 + 2*directions + directions*directions
	// groups is how many groups of channels are normalised, each by itself.
	groups = 27
)

// Transform maps pictures to features. It is immutable.
type Transform struct {
	width, height int // of a picture, in pixels
	columns, rows int // of places
	fine, coarse  waves
	mean          blur // of pixels, at places
	meanOfHalves  blur // of pixels that are two by two, at places
}

// New returns the transform of pictures of a width and a height in pixels.
func New(width, height int) *Transform {
	return &Transform{
		width: width, height: height, columns: (width + block - 1) / block, rows: (height + block - 1) / block,
		fine: newWaves(0, 1, 4), coarse: newWaves(1, 2, 8), mean: newBlur(1.6, block, 4), meanOfHalves: newBlur(0.8, 2, 2),
	}
}

// Len is the number of features: [Channels] for each place.
func (t *Transform) Len() int { return Channels * t.columns * t.rows }

// Of computes the features of one picture from it alone, u (width·height) row by row, in [−1, 1].
//
// With the pixels v = (u+1)/2, reflected at the edges of the picture, they are the means φ∗v, φ∗|ψ∗v| and
// φ∗|ψ'∗|ψ∗v||, for fine and coarse waves ψ and for fine ones ψ before coarse ones ψ', at the centres of squares of
// four by four pixels, channel after channel (S). Three successive channels are a group, of whose features the mean is
// subtracted, and which are divided by √(variance + 10⁻⁵) (Wu and He, "Group normalization", ECCV 2018): the norm of
// all is √Len at most.
func (t *Transform) Of(u, out []float64) { t.of(u, out, new(scratch)) }

func (t *Transform) of(u, out []float64, s *scratch) {
	t.raw(u, out, s)
	size := len(out) / groups
	for ; len(out) > 0; out = out[size:] {
		normalise(out[:size])
	}
}

// normalise brings numbers to the mean 0 and the variance 1, or less. Its sums are in one order wherever the numbers
// lie, which those of package floats are not.
func normalise(group []float64) {
	var mean, variance float64
	for _, v := range group {
		mean += v / float64(len(group))
	}
	for i, v := range group {
		group[i] = v - mean
		variance += (v - mean) * (v - mean) / float64(len(group))
	}
	floats.Scale(1/math.Sqrt(variance+1e-5), group)
}

// raw computes the features before they are normalised.
func (t *Transform) raw(u, out []float64, s *scratch) {
	v := plane{t.width, t.height, make([]float64, len(u))}
	for i, x := range u {
		v.pixels[i] = (x + 1) / 2
	}
	v = v.reflected(0, block*t.columns-t.width, block*t.rows-t.height)
	places := t.columns * t.rows
	put := func(b blur, p plane) {
		b.of(p, out[:places])
		out = out[places:]
	}
	put(t.mean, v)
	fine := t.fine.of(v, s)
	for _, p := range fine {
		put(t.mean, p)
	}
	for _, p := range t.coarse.of(v, s) {
		put(t.meanOfHalves, p)
	}
	for _, p := range fine {
		for _, q := range t.coarse.of(p, s) {
			put(t.meanOfHalves, q)
		}
	}
}

// tile is the number of pictures that one worker transforms.
const tile = 64

// Matrix returns the features of pictures u (N×width·height), each times scale and with a constant 1 after them
// (N×(Len+1)).
func (t *Transform) Matrix(ctx context.Context, e *engine.Engine, u *mat.Dense, scale float64) (*mat.Dense, error) {
	n, _ := u.Dims()
	out := mat.NewDense(n, t.Len()+1, nil)
	return out, e.ParallelFor(ctx, n, tile, func(lo, hi int) error {
		var s scratch
		for i := lo; i < hi; i++ {
			row := out.RawRowView(i)
			t.of(u.RawRowView(i), row[:t.Len()], &s)
			floats.Scale(scale, row[:t.Len()])
			row[t.Len()] = 1
		}
		return nil
	})
}

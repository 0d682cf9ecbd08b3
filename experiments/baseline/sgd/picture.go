package sgd

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/internal/scattering"
	"privkern/experiments/model"
	"privkern/graphs/clipped"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

//go:embed picture.go
var pictureSource string

func init() { experiment.Document[Pictures](pictureSource) }

// Kind selects the numbers of a row that a network sees.
type Kind int

// The kinds.
const (
	Inputs Kind = iota
	Scattering
	Convolution
)

// Choices are their words.
func (Kind) Choices() []string { return []string{"inputs", "scattering", "convolution"} }

// Pictures are the settings of rows that are pictures.
type Pictures struct {
	// the numbers of a row that the model sees: its inputs, or features of the grey picture whose pixels they are, row by
	// row: means of fixed waves of two scales and eight directions in squares of 4 by 4 pixels (scattering), or those of
	// filters that are learnt, with 32 hidden units (convolution)
	Features Kind `name:"features" default:"inputs" later:"yes"`
	// width and height of the pictures in pixels, 4 to 128 each, of filters that are learnt 14 to 128
	Picture string `name:"picture" default:"28x28" later:"yes" when:"features is scattering or convolution"`
}

// The longest side of a picture, in pixels.
const longest = 128

// shortest is the shortest side of a picture.
func (k Kind) shortest() int {
	if k == Convolution {
		return clipped.ShortestSide
	}
	return 4
}

// picture is the size of pictures, in pixels. A nil one stands for rows that are none.
type picture struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// size returns that of the pictures; nil for none.
func (s *Pictures) size() (*picture, error) {
	if s.Features == Inputs {
		return nil, nil
	}
	w, h, _ := strings.Cut(s.Picture, "x")
	width, errW := strconv.Atoi(w)
	height, errH := strconv.Atoi(h)
	p := &picture{width, height}
	if errW != nil || errH != nil || !p.possible(s.Features) {
		return nil, fmt.Errorf("picture = %q: write width and height in pixels, from %d to %d each, such as 28x28",
			s.Picture, s.Features.shortest(), longest)
	}
	return p, nil
}

// features is how many numbers a trial holds of the features of a row: of two splits at once, twice each until memory
// is collected.
func (s *Pictures) features() int {
	size, err := s.size()
	if err != nil || size == nil {
		return 0
	}
	return 4 * s.Features.view(size).len(size.Width*size.Height)
}

func (p *picture) possible(k Kind) bool {
	return min(p.Width, p.Height) >= k.shortest() && max(p.Width, p.Height) <= longest
}

// check checks the size of pictures in a file with these numbers of inputs and classes.
func (p *picture) check(c *model.Checker, k Kind, inputs, classes int) {
	if p == nil {
		return
	}
	c.Require(classes > 0, "parameters.picture", "a file of this format has none: it predicts numbers")
	c.Require(p.possible(k), "parameters.picture", "it is %dx%d; sides are from %d to %d pixels", p.Width, p.Height,
		k.shortest(), longest)
	c.Require(p.Width*p.Height == inputs, "parameters.picture", "it has %d pixels for %d inputs", p.Width*p.Height, inputs)
}

// view gives the numbers that a network sees of rows: their inputs, the features of pictures, or their pixels.
type view struct {
	kind      Kind
	picture   *picture              // nil for inputs
	transform *scattering.Transform // nil but for its features
}

func (k Kind) view(p *picture) view {
	if k == Scattering {
		return view{k, p, scattering.New(p.Width, p.Height)}
	}
	return view{k, p, nil}
}

// len is the number of features, or of pixels, of that number of inputs.
func (v view) len(inputs int) int {
	if v.transform == nil {
		return inputs
	}
	return v.transform.Len()
}

// matrix returns the vectors (su, 1) of the rows of x (m×d), or those of their features, or the pixels of pictures in
// [0, 1]; each is computed from its row alone. The norm of features is the root of their number at most, as that of
// inputs is.
func (v view) matrix(ctx context.Context, e *engine.Engine, x *mat.Dense, s float64) (*mat.Dense, error) {
	switch v.kind {
	case Inputs:
		return widened(x, s), nil
	case Convolution:
		out := mat.DenseCopyOf(x)
		out.Apply(func(_, _ int, u float64) float64 { return (u + 1) / 2 }, out)
		return out, nil
	}
	return v.transform.Matrix(ctx, e, x, s)
}

package cloak

import (
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/density"
	"privkern/graphs/engine"
)

// DensityLengthscale is the lengthscale of §2.1, one for each dimension:
// l(x) = (1/m + ρ(x)/n)⁻¹ with ρ the density of the public inputs, in rows per
// unit, by a Gaussian KDE ([density.Marginal]).
type DensityLengthscale struct {
	Density
	inputs *mat.Dense // N×d
	// known are the lengthscales at the inputs, by dimension and coordinate: the folds of a
	// cross-validation ask for little else, each several times. They are computed when they are
	// first asked for: a release sorts the rows before, so that their order shows in no sum.
	known func(e *engine.Engine) ([]map[float64]float64, error)
}

// NewDensityLengthscale returns the lengthscale by the density of the inputs (N×d).
func NewDensityLengthscale(density Density, inputs *mat.Dense) *DensityLengthscale {
	f := &DensityLengthscale{Density: density, inputs: inputs}
	var once sync.Once
	var known []map[float64]float64
	var err error
	f.known = func(e *engine.Engine) ([]map[float64]float64, error) {
		once.Do(func() { known, err = f.atInputs(e) })
		return known, err
	}
	return f
}

// atInputs are the lengthscales at the inputs, in one run of all dimensions.
func (f *DensityLengthscale) atInputs(e *engine.Engine) ([]map[float64]float64, error) {
	_, d := f.inputs.Dims()
	distinct, most := make([][]float64, d), 0
	for j := range d {
		distinct[j] = mat.Col(nil, j, f.inputs)
		slices.Sort(distinct[j])
		distinct[j] = slices.Compact(distinct[j])
		most = max(most, len(distinct[j]))
	}
	points := mat.NewDense(most, d, nil) // zeros after the last coordinate of a dimension
	for j, all := range distinct {
		for i, x := range all {
			points.Set(i, j, x)
		}
	}
	l, err := f.at(e, points)
	if err != nil {
		return nil, err
	}
	known := make([]map[float64]float64, d)
	for j, all := range distinct {
		known[j] = make(map[float64]float64, len(all))
		for i, x := range all {
			known[j][x] = l.At(i, j)
		}
	}
	return known, nil
}

// At returns the lengthscales (P×d) at the rows of x (P×d). It takes O(N) operations for each
// row with a coordinate that is none of the inputs'. Dimensions are taken one by one, as the
// paper's kernel is a product over them (Eq. 11).
func (f *DensityLengthscale) At(e *engine.Engine, x *mat.Dense) (*mat.Dense, error) {
	known, err := f.known(e)
	if err != nil {
		return nil, err
	}
	p, d := x.Dims()
	out := mat.NewDense(p, d, nil)
	var other []int // rows with another coordinate
	for i := range p {
		all := true
		for j := range d {
			l, found := known[j][x.At(i, j)]
			out.Set(i, j, l)
			all = all && found
		}
		if !all {
			other = append(other, i)
		}
	}
	if len(other) == 0 {
		return out, nil
	}
	points := mat.NewDense(len(other), d, nil)
	for to, i := range other {
		points.SetRow(to, x.RawRowView(i))
	}
	l, err := f.at(e, points)
	if err != nil {
		return nil, err
	}
	for from, i := range other {
		out.SetRow(i, l.RawRowView(from))
	}
	return out, nil
}

// at computes the lengthscales (P×d) at some points (P×d).
func (f *DensityLengthscale) at(e *engine.Engine, x *mat.Dense) (*mat.Dense, error) {
	l, err := density.Marginal(context.Background(), e, f.inputs, x, f.Bandwidth)
	if err != nil {
		return nil, err
	}
	n, _ := f.inputs.Dims()
	l.Apply(func(_, _ int, p float64) float64 { return 1 / (1/f.Largest + float64(n)*p/f.Rows) }, l)
	return l, nil
}

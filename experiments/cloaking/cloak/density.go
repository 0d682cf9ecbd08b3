package cloak

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// DensityLengthscale is the lengthscale of §2.1, one for each dimension:
// l(x) = (1/m + ρ(x)/n)⁻¹ with ρ the density of the public inputs, in rows per
// unit, by a Gaussian KDE, or the smallest density in a window around x.
type DensityLengthscale struct {
	Density
	inputs *mat.Dense // N×d
	// known are the lengthscales at the inputs, by dimension and coordinate: the folds of a
	// cross-validation ask for little else, each several times. They are computed when they are
	// first asked for: a release sorts the rows before, so that their order shows in no sum.
	known func() []map[float64]float64
}

// NewDensityLengthscale returns the lengthscale by the density of the inputs (N×d).
func NewDensityLengthscale(density Density, inputs *mat.Dense) *DensityLengthscale {
	f := &DensityLengthscale{Density: density, inputs: inputs}
	f.known = sync.OnceValue(f.atInputs)
	return f
}

// atInputs are the lengthscales at the inputs.
func (f *DensityLengthscale) atInputs() []map[float64]float64 {
	n, d := f.inputs.Dims()
	known := make([]map[float64]float64, d)
	for j := range d {
		known[j] = make(map[float64]float64, n)
		for i := range n {
			x := f.inputs.At(i, j)
			if _, found := known[j][x]; !found {
				known[j][x] = f.at(x, j)
			}
		}
	}
	return known
}

// At returns the lengthscales (P×d) at the rows of x (P×d). It takes O(N) operations for each
// coordinate that is none of the inputs'. Dimensions are taken one by one, as the paper's
// kernel is a product over them (Eq. 11).
func (f *DensityLengthscale) At(x *mat.Dense) *mat.Dense {
	p, d := x.Dims()
	out, known := mat.NewDense(p, d, nil), f.known()
	for i := range p {
		for j := range d {
			l, found := known[j][x.At(i, j)]
			if !found {
				l = f.at(x.At(i, j), j)
			}
			out.Set(i, j, l)
		}
	}
	return out
}

// at is the lengthscale at a coordinate of a dimension, by the smallest density in its window.
// Densities are compared at places that lie a tenth of a bandwidth apart or nearer.
func (f *DensityLengthscale) at(x float64, dimension int) float64 {
	density := f.density(x, dimension)
	if f.Window > 0 {
		places := int(math.Ceil(min(maxPlaces, 10*f.Window/f.Bandwidth)))
		for i := 1; i <= places; i++ {
			offset := f.Window * float64(i) / float64(places)
			density = min(density, f.density(x-offset, dimension), f.density(x+offset, dimension))
		}
	}
	return 1 / (1/f.Largest + density/f.Rows)
}

// maxPlaces bounds the work for a wide window and a small bandwidth.
const maxPlaces = 1000

// density is the estimate at a coordinate of a dimension, in rows per unit.
func (f *DensityLengthscale) density(x float64, dimension int) float64 {
	n, _ := f.inputs.Dims()
	norm := 1 / (math.Sqrt(2*math.Pi) * f.Bandwidth)
	density := 0.0
	for k := range n {
		z := (x - f.inputs.At(k, dimension)) / f.Bandwidth
		density += math.Exp(-z * z / 2)
	}
	return density * norm
}

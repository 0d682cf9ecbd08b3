package cloak

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// DensityLengthscale is the lengthscale of §2.1, one for each dimension:
// l(x) = (1/m + ρ(x)/n)⁻¹ with ρ the density of the public inputs, in rows per
// unit, by a Gaussian KDE ([kernel.MarginalDensity]), or the smallest density in a window around x.
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

// Weights returns, for the rows of x (P×d), the weight of the short function in a weighted sum:
// w = 1 − l/m, that is ρ/(ρ + n/m) with the density ρ, half where the density is n/m. With several
// dimensions it is the smallest of their weights: a point that is an outlier in one is an outlier.
func (f *DensityLengthscale) Weights(e *engine.Engine, x *mat.Dense) ([]float64, error) {
	l, err := f.At(e, x)
	if err != nil {
		return nil, err
	}
	w := make([]float64, l.RawMatrix().Rows)
	for i := range w {
		w[i] = max(0, 1-slices.Max(l.RawRowView(i))/f.Cap)
	}
	return w, nil
}

// at computes the lengthscales (P×d) at some points (P×d), by the smallest density in their
// windows. Densities are compared at places that lie a tenth of a bandwidth apart or nearer.
func (f *DensityLengthscale) at(e *engine.Engine, x *mat.Dense) (*mat.Dense, error) {
	p, d := x.Dims()
	places := 0 // on either side
	if f.Window > 0 {
		places = int(math.Ceil(min(maxPlaces, 10*f.Window/f.Width)))
	}
	offsets := []float64{0}
	for i := 1; i <= places; i++ {
		offset := f.Window * float64(i) / float64(places)
		offsets = append(offsets, -offset, offset)
	}
	n, _ := f.inputs.Dims()
	out := mat.NewDense(p, d, nil)
	step := max(1, windowPoints/len(offsets))
	for first := 0; first < p; first += step {
		last := min(first+step, p)
		at := mat.NewDense((last-first)*len(offsets), d, nil)
		at.Apply(func(i, j int, _ float64) float64 {
			return x.At(first+i/len(offsets), j) + offsets[i%len(offsets)]
		}, at)
		densities, err := kernel.MarginalDensity(context.Background(), e, f.inputs, at, f.Width)
		if err != nil {
			return nil, err
		}
		for i := range last - first {
			for j := range d {
				smallest := mat.Min(densities.Slice(i*len(offsets), (i+1)*len(offsets), j, j+1))
				out.Set(first+i, j, 1/(1/f.Cap+float64(n)*smallest/f.Rows))
			}
		}
	}
	return out, nil
}

// maxPlaces bounds the work for a wide window and a small bandwidth, windowPoints the points
// whose densities are computed together.
const (
	maxPlaces    = 1000
	windowPoints = 1 << 14
)

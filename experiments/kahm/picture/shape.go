package picture

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// pointSet is a set of points of the plane or of space, about the size of the unit
// disc, in one part or in several of equal size: classes, or parties' shares.
type pointSet struct {
	dim   int
	parts int
	// point returns a random point of a part, in the coordinates of the shape.
	point func(part int, rng *rand.Rand) []float64
}

// pointSets are named by their looks, because the paper does not give those of its figures.
var pointSets = [...]pointSet{
	Circle: {2, 1, func(_ int, rng *rand.Rand) []float64 {
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		return []float64{cos, sin}
	}},
	Spiral: {2, 1, func(_ int, rng *rand.Rand) []float64 {
		// The root spreads the points evenly along the arms.
		t := math.Sqrt(rng.Float64())
		sin, cos := math.Sincos(3 * math.Pi * t)
		return []float64{t * cos, t * sin}
	}},
	Moons: {2, 1, func(_ int, rng *rand.Rand) []float64 {
		sin, cos := math.Sincos(math.Pi * rng.Float64())
		if rng.IntN(2) == 0 {
			return []float64{0.65*cos - 0.3, 0.65*sin - 0.15}
		}
		return []float64{0.3 - 0.65*cos, 0.15 - 0.65*sin}
	}},
	Gaussian: {2, 1, func(_ int, rng *rand.Rand) []float64 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		return []float64{0.5 * a, 0.3*a + 0.2*b}
	}},
	Helix: {3, 1, func(_ int, rng *rand.Rand) []float64 {
		t := rng.Float64()
		sin, cos := math.Sincos(4 * math.Pi * t)
		return []float64{cos, sin, 2*t - 1}
	}},
	Sphere: {3, 1, func(_ int, rng *rand.Rand) []float64 {
		z := 2*rng.Float64() - 1
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		r := math.Sqrt(1 - z*z)
		return []float64{r * cos, r * sin, z}
	}},
	SwissRoll: {3, 1, func(_ int, rng *rand.Rand) []float64 {
		// From 3π/2 to 9π/2, evenly along the roll; the root is that of t².
		t := math.Pi * math.Sqrt(2.25+18*rng.Float64())
		sin, cos := math.Sincos(t)
		return []float64{t * cos / (4.5 * math.Pi), 2*rng.Float64() - 1, t * sin / (4.5 * math.Pi)}
	}},
	ThreeClasses: {2, 3, func(part int, rng *rand.Rand) []float64 {
		// The arms of a pinwheel.
		t := rng.Float64()
		sin, cos := math.Sincos(2*math.Pi*float64(part)/3 + 1.8*t)
		return []float64{(0.2 + 0.8*t) * cos, (0.2 + 0.8*t) * sin}
	}},
	ThreeParties: {2, 3, func(part int, rng *rand.Rand) []float64 {
		// The thirds of a circle.
		sin, cos := math.Sincos(2 * math.Pi * (float64(part) + rng.Float64()) / 3)
		return []float64{cos, sin}
	}},
}

// points returns the set of points of the shape.
func (s Shape) points() *pointSet { return &pointSets[s] }

// draw returns n random points of a part (n×dim), each moved by Gaussian noise
// of a standard deviation in every coordinate.
func (s *pointSet) draw(part, n int, sd float64, rng *rand.Rand) *mat.Dense {
	y := mat.NewDense(n, s.dim, nil)
	for i := range n {
		row := y.RawRowView(i)
		copy(row, s.point(part, rng))
		for j := range row {
			row[j] += sd * rng.NormFloat64()
		}
	}
	return y
}

package scattering

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// plane is a picture of real numbers, row by row.
type plane struct {
	width, height int
	pixels        []float64
}

// reflected returns a plane with margins, before each side, and as many or more behind it, that mirror it: the pixel
// at −1 is that at 0.
func (p plane) reflected(before, right, below int) plane {
	out := plane{width: before + p.width + right, height: before + p.height + below}
	out.pixels = make([]float64, out.width*out.height)
	for y := range out.height {
		from := p.pixels[mirrored(y-before, p.height)*p.width:]
		to := out.pixels[y*out.width:]
		for x := range out.width {
			to[x] = from[mirrored(x-before, p.width)]
		}
	}
	return out
}

// mirrored is the pixel of n that stands at i in a row which is mirrored at both ends, again and again.
func mirrored(i, n int) int {
	i = ((i % (2 * n)) + 2*n) % (2 * n)
	return min(i, 2*n-1-i)
}

// places are the pixels that a filter of one side reads, from the centre of the stride pixels for which it stands.
func places(stride, radius int) []float64 {
	out := make([]float64, stride+2*radius)
	for i := range out {
		out[i] = float64(i-radius) - float64(stride-1)/2
	}
	return out
}

// blur is a weighted mean of pixels around the centres of squares.
type blur struct {
	stride, radius int
	weights        []float64 // along each side
}

// newBlur has normal weights of a standard deviation in pixels, that add to 1.
func newBlur(deviation float64, stride, radius int) blur {
	b := blur{stride, radius, places(stride, radius)}
	for i, x := range b.weights {
		b.weights[i] = math.Exp(-x * x / (2 * deviation * deviation))
	}
	floats.Scale(1/floats.Sum(b.weights), b.weights)
	return b
}

// of writes the means of a plane, whose sides are multiples of the stride.
func (b blur) of(p plane, out []float64) {
	padded := p.reflected(b.radius, b.radius, b.radius)
	columns := p.width / b.stride
	narrow := make([]float64, padded.height*columns) // blurred along rows
	for y := range padded.height {
		row := padded.pixels[y*padded.width:]
		for x := range columns {
			for i, w := range b.weights {
				narrow[y*columns+x] += w * row[x*b.stride+i]
			}
		}
	}
	clear(out)
	for y := range p.height / b.stride {
		to := out[y*columns:][:columns]
		for i, w := range b.weights {
			floats.AddScaled(to, w, narrow[(y*b.stride+i)*columns:][:columns])
		}
	}
}

// waves are filters of one scale in all directions.
type waves struct {
	stride, radius int
	// filters has for each direction a row of real parts, and one of imaginary ones (2L×taps).
	filters *mat.Dense
}

// newWaves has Morlet wavelets of the scale 2^j: the wave e^{iξu} times a Gaussian of the standard deviations σ along
// the wave and 2σ across it, less as much of that as makes the sum 0, where σ = 0.8·2^j pixels, ξ = 3π/4·2^−j, and u is
// the place along the wave, whose directions are kπ/L. The Gaussian is cut at the radius.
func newWaves(j, stride, radius int) waves {
	along := places(stride, radius)
	w := waves{stride, radius, mat.NewDense(2*directions, len(along)*len(along), nil)}
	scale := math.Ldexp(1, j)
	deviation, frequency := 0.8*scale, 3*math.Pi/4/scale
	const slant = 4.0 / directions
	for k := range directions {
		sin, cos := math.Sincos(math.Pi * float64(k) / directions)
		var bells []float64
		var wave []complex128
		var bell float64
		var sum complex128
		for _, y := range along {
			for _, x := range along {
				u, v := cos*x+sin*y, slant*(cos*y-sin*x)
				g := slant / (2 * math.Pi * deviation * deviation) * math.Exp(-(u*u+v*v)/(2*deviation*deviation))
				bells, wave = append(bells, g), append(wave, complex(g, 0)*cmplx.Exp(complex(0, frequency*u)))
				bell, sum = bell+g, sum+wave[len(wave)-1]
			}
		}
		for i, g := range bells {
			z := wave[i] - complex(g/bell, 0)*sum
			w.filters.Set(2*k, i, real(z))
			w.filters.Set(2*k+1, i, imag(z))
		}
	}
	return w
}

// scratch is memory for the patches of one plane after another.
type scratch []float64

// matrix returns one of any numbers (r×c).
func (s *scratch) matrix(r, c int) *mat.Dense {
	if len(*s) < r*c {
		*s = make([]float64, r*c)
	}
	return mat.NewDense(r, c, (*s)[:r*c])
}

// of returns the magnitudes of a plane under the filters, one for each direction. The sides of the plane are multiples
// of the stride.
func (w waves) of(p plane, s *scratch) []plane {
	padded := p.reflected(w.radius, w.radius, w.radius)
	side, columns, rows := w.stride+2*w.radius, p.width/w.stride, p.height/w.stride
	patches := s.matrix(side*side, columns*rows) // a row has one pixel of all patches
	for dy := range side {
		for dx := range side {
			to := patches.RawRowView(dy*side + dx)
			for y := range rows {
				from := padded.pixels[(y*w.stride+dy)*padded.width+dx:]
				for x := range columns {
					to[y*columns+x] = from[x*w.stride]
				}
			}
		}
	}
	var both mat.Dense
	both.Mul(w.filters, patches)
	out := make([]plane, directions)
	for k := range out {
		out[k] = plane{columns, rows, both.RawRowView(2 * k)}
		for i, imaginary := range both.RawRowView(2*k + 1) {
			out[k].pixels[i] = math.Sqrt(out[k].pixels[i]*out[k].pixels[i] + imaginary*imaginary)
		}
	}
	return out
}

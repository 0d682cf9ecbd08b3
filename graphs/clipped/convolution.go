package clipped

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
)

// Convolution is the network of Papernot, Thakurta, Song, Chien and Erlingsson ("Tempered sigmoid activations for deep
// learning with differential privacy", AAAI 2021, Table 1) for pictures of one channel: 16 filters of 8×8 pixels, two
// pixels apart, 32 filters of 4×4 places of these, two places apart, each before the largest of 2×2 neighbours and the
// hyperbolic tangent, then 32 units with hyperbolic tangents, and the outputs. The pictures have three pixels of zeros
// around them.
//
// Its weights are the filters of both layers, the units and the outputs, each a matrix by rows, with a constant as last
// column. Filters have the places of a window channel by channel, row by row.
type Convolution struct {
	Width, Height int // of pictures, [ShortestSide] at least
	Targets       int
}

// stage is a layer of filters.
type stage struct {
	filters, channels, side, pad, stride int
	high, wide                           int // places of the windows
}

// patch is the number of elements of a window.
func (s stage) patch() int { return s.channels * s.side * s.side }

// units is the number of dense units.
const units = 32

// ShortestSide is the shortest side of a picture that has windows of all layers.
const ShortestSide = 14

// stages are the layers of filters; the windows of the second are on the largest of neighbours.
func (c Convolution) stages() [2]stage {
	first := stage{filters: 16, channels: 1, side: 8, pad: 3, stride: 2}
	first.high, first.wide = (c.Height-2)/2+1, (c.Width-2)/2+1
	second := stage{filters: 32, channels: 16, side: 4, stride: 2}
	second.high, second.wide = (first.high-1-4)/2+1, (first.wide-1-4)/2+1
	return [2]stage{first, second}
}

// Sizes are the numbers of rows and columns of the weights, with the constants.
func (c Convolution) Sizes() [4][2]int {
	s := c.stages()
	flat := s[1].filters * (s[1].high - 1) * (s[1].wide - 1)
	return [4][2]int{{s[0].filters, s[0].patch() + 1}, {s[1].filters, s[1].patch() + 1}, {units, flat + 1},
		{c.Targets, units + 1}}
}

// Matrices are the weights of the layers, which share the list's memory.
func (c Convolution) Matrices(weights []float64) (all [4]*mat.Dense) {
	for i, m := range c.Sizes() {
		n := m[0] * m[1]
		all[i], weights = mat.NewDense(m[0], m[1], weights[:n]), weights[n:]
	}
	return all
}

// Start sets the first weights: constants of zero, and else uniform numbers in ±√(6/(a + b)) where a weights make an
// output of the layer, and a number that comes in is part of b outputs (Glorot and Bengio, "Understanding the
// difficulty of training deep feedforward neural networks", AISTATS 2010).
func (c Convolution) Start(weights []float64, rng *rand.Rand) {
	s := c.stages()
	for i, m := range c.Matrices(weights) {
		rows, columns := m.Dims()
		part := rows
		if i < len(s) {
			part *= s[i].side * s[i].side
		}
		end := math.Sqrt(6 / float64(columns-1+part))
		for r := range rows {
			for j := range columns - 1 {
				m.Set(r, j, end*(2*rng.Float64()-1))
			}
		}
	}
}

// Len implements [Network].
func (c Convolution) Len() int {
	n := 0
	for _, m := range c.Sizes() {
		n += m[0] * m[1]
	}
	return n
}

// Outputs implements [Network].
func (c Convolution) Outputs() int { return c.Targets }

func (c Convolution) key() string {
	return fmt.Sprintf("convolution %d %d %d", c.Width, c.Height, c.Targets)
}

// named are inputs and outputs of a layer: "forth" is the matrix of its weights transposed, without the constants,
// whose negative is "less", and "back" is the matrix; sums of gradients have the names "sum" and "constant".
func named(what string, layer int) string { return fmt.Sprintf("%s %d", what, layer) }

func (c Convolution) shapes() map[string][2]int {
	out := map[string][2]int{}
	for i, m := range c.Sizes() {
		out[named("forth", i)], out[named("less", i)] = [2]int{m[1] - 1, m[0]}, [2]int{1, m[0]}
		if i > 0 {
			out[named("back", i)] = [2]int{m[0], m[1] - 1}
		}
	}
	return out
}

func (c Convolution) inputs(weights []float64) map[string]*mat.Dense {
	out := map[string]*mat.Dense{}
	for i, all := range c.Matrices(weights) {
		rows, columns := all.Dims()
		w := mat.DenseCopyOf(all.Slice(0, rows, 0, columns-1))
		less := mat.NewDense(1, rows, mat.Col(nil, columns-1, all))
		less.Scale(-1, less)
		out[named("forth", i)], out[named("less", i)] = mat.DenseCopyOf(w.T()), less
		if i > 0 {
			out[named("back", i)] = w
		}
	}
	return out
}

func (c Convolution) collect(sums func(name string) ([]float64, error)) ([]float64, error) {
	var out []float64
	for i := range c.Sizes() {
		matrix, err := sums(named("sum", i))
		if err != nil {
			return nil, err
		}
		constants, err := sums(named("constant", i))
		if err != nil {
			return nil, err
		}
		out = append(out, augmented(matrix, constants)...)
	}
	return out, nil
}

func (c Convolution) widths() []int {
	s := c.stages()
	return []int{c.Targets, units, c.Sizes()[2][1] - 1, s[0].filters, s[0].filters * s[0].patch(), s[1].filters,
		s[1].filters * s[1].patch()}
}

func (c Convolution) lengths() bool { return false }

// forward has members of one row each, which are pictures.
func (c Convolution) forward(b *examples) (*gorgonia.Node, func(derivatives *gorgonia.Node) []layer) {
	m, s, sizes := b.size(), c.stages(), c.Sizes()
	first := c.filter(b, 0, b.Reshape(b.x, m, 1, c.Height, c.Width))
	second := c.filter(b, 1, first.out)
	flat := b.Reshape(second.out, m, sizes[2][1]-1)
	dot := func(i int, in *gorgonia.Node) *gorgonia.Node {
		return b.SubtractRow(b.MatrixProduct(in, b.weights[named("forth", i)]), b.weights[named("less", i)])
	}
	hidden := b.Tanh(dot(2, flat))
	through := func(derivatives, tanh *gorgonia.Node) *gorgonia.Node { // tanh has the derivative 1 − tanh²
		return b.Sub(derivatives, b.Hadamard(derivatives, b.Square(tanh)))
	}
	full := func(i int, in, derivatives *gorgonia.Node) *dense {
		return &dense{name: named("sum", i), constants: named("constant", i), in: b.batched(in), derivatives: derivatives,
			lengths: b.Add(b.rowSquares(in), b.Constant(1))}
	}
	return dot(3, hidden), func(derivatives *gorgonia.Node) []layer {
		inner := through(b.MatrixProduct(derivatives, b.weights[named("back", 3)]), hidden)
		outer := through(b.MatrixProduct(inner, b.weights[named("back", 2)]), flat)
		second.through(b, b.Reshape(outer, m, s[1].filters, s[1].high-1, s[1].wide-1))
		byPatches := b.MatrixProduct(b.Reshape(b.TransposeMembers(second.derivatives), m*s[1].high*s[1].wide, s[1].filters),
			b.weights[named("back", 1)])
		byPlaces := b.Adjoint(first.out, second.windows, b.Reshape(byPatches, m, s[1].high, s[1].wide, s[1].patch()))
		first.through(b, through(byPlaces, first.out))
		return []layer{first, second, full(2, flat, inner), full(3, hidden, derivatives)}
	}
}

// convolved is a layer of filters for m pictures.
type convolved struct {
	stage
	layer       int
	windows     *gorgonia.Node // m×high×wide×patch
	filtered    *gorgonia.Node // m×filters×high×wide
	pooled      *gorgonia.Node // m×filters×(high−1)×(wide−1)
	out         *gorgonia.Node // the hyperbolic tangents of that
	derivatives *gorgonia.Node // by filtered, m×filters×high·wide
	gradients   *gorgonia.Node // m×filters·patch
	constants   *gorgonia.Node // m×filters
}

// filter adds a layer of filters for pictures (m×channels×height×width).
func (c Convolution) filter(b *examples, i int, pictures *gorgonia.Node) *convolved {
	l := &convolved{stage: c.stages()[i], layer: i}
	m, places := b.size(), l.high*l.wide
	l.windows = b.Windows(pictures, l.side, l.pad, l.stride)
	products := b.SubtractRow(b.MatrixProduct(b.Reshape(l.windows, m*places, l.patch()), b.weights[named("forth", i)]),
		b.weights[named("less", i)])
	l.filtered = b.Reshape(b.TransposeMembers(b.Reshape(products, m, places, l.filters)), m, l.filters, l.high, l.wide)
	l.pooled = b.LargestOfWindows(l.filtered, 2, 1)
	l.out = b.Tanh(l.pooled)
	return l
}

// through takes the derivatives by the largest of neighbours to the filters and constants of each picture.
func (l *convolved) through(b *examples, byPooled *gorgonia.Node) {
	m, places := b.size(), l.high*l.wide
	l.derivatives = b.Reshape(b.Adjoint(l.filtered, l.pooled, byPooled), m, l.filters, places)
	l.gradients = b.Reshape(b.MatrixProduct(l.derivatives, b.Reshape(l.windows, m, places, l.patch())), m,
		l.filters*l.patch())
	l.constants = b.Reshape(b.Sum(l.derivatives, 2), m, l.filters)
}

// squares are those of DᵀP and of the constants.
func (l *convolved) squares(b *examples) *gorgonia.Node {
	return b.Add(b.rowSquares(l.gradients), b.rowSquares(l.constants))
}

// sum adds fᵀ times the gradients.
func (l *convolved) sum(b *examples, factors *gorgonia.Node) {
	f := b.Reshape(factors, 1, b.size())
	b.Output(named("sum", l.layer), b.MatrixProduct(f, l.gradients))
	b.Output(named("constant", l.layer), b.MatrixProduct(f, l.constants))
}

// mostPictures are the examples of a part, and padded ones fill it to a multiple of fewPictures.
const (
	mostPictures = 256
	fewPictures  = 32
)

// partNumbers bounds the windows and gradients of a part, 67 MB in float64. A part of pictures of 28 by 28 has as many
// as are allowed.
const partNumbers = 1 << 23

// pictures is the number of examples of a part.
func (c Convolution) pictures() int {
	numbers := 0
	for _, s := range c.stages() {
		numbers += (s.high*s.wide + s.filters) * s.patch()
	}
	return max(1, min(mostPictures, partNumbers/numbers))
}

// divide makes parts of as many pictures as have room.
func (c Convolution) divide(count int, gathered bool) (all []part) {
	pictures := c.pictures()
	few := min(fewPictures, pictures)
	for first := 0; first < count; first += pictures {
		p := part{first, min(pictures, count-first), 1, pictures}
		if gathered {
			p.rows = min(pictures, (p.count+few-1)/few*few)
		} else {
			p.rows = p.count
		}
		all = append(all, p)
	}
	return all
}

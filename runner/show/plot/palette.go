package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// palette is the palette of Okabe and Ito (https://jfly.uni-koeln.de/color/) without yellow,
// which is too faint on white, in the order of decreasing contrast.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x33, 0x33, 0x33, 0xff}, // near black
}

var (
	ink   = color.NRGBA{0x22, 0x22, 0x22, 0xff} // text
	frame = color.NRGBA{0x66, 0x66, 0x66, 0xff} // axes
	faint = color.NRGBA{0xe6, 0xe6, 0xe6, 0xff} // grid
	shade = color.NRGBA{0x80, 0x80, 0x80, 0x38} // spans
	blank = color.NRGBA{0xdd, 0xdd, 0xdd, 0xff} // NaN in a heat map
	// Numbers in the cells of a heat map. No other text has these colours, so that it can be told from them.
	onDark, onLight = color.NRGBA{0xff, 0xff, 0xfe, 0xff}, color.NRGBA{0x21, 0x21, 0x21, 0xff}
)

// colorOf returns a curve's colour. Beyond the palette colours repeat.
func colorOf(i int) color.NRGBA { return palette[i%len(palette)] }

func bandColor(i int) color.NRGBA {
	c := colorOf(i)
	c.A = 0x40
	return c
}

// tint returns the light, opaque form of a curve's colour, for regions under markers of that
// colour.
func tint(i int) color.NRGBA {
	c := colorOf(i)
	light := func(v uint8) uint8 { return uint8(math.Round(255 - 0.28*(255-float64(v)))) }
	return color.NRGBA{light(c.R), light(c.G), light(c.B), 0xff}
}

func barColor(i int) color.NRGBA {
	c := colorOf(i)
	c.A = 0x55
	return c
}

// dashes distinguishes curves without colour; a repeated colour gets a
// pattern of its own.
func dashes(i int, dashed bool) []vg.Length {
	patterns := [][]vg.Length{nil, {7, 2, 1.5, 2}, {1.5, 2}}
	if dashed {
		patterns = [][]vg.Length{{5, 3}, {9, 2, 1.5, 2, 1.5, 2}, {3, 1.5}}
	}
	return patterns[i/len(palette)%len(patterns)]
}

// viridis has the colours of matplotlib's map of that name at equal steps (public domain,
// https://bids.github.io/colormap/): its lightness rises evenly, even in grey and for
// colour-blind readers.
var viridis = []color.NRGBA{
	{0x44, 0x01, 0x54, 0xff}, {0x48, 0x18, 0x6a, 0xff}, {0x47, 0x2d, 0x7b, 0xff}, {0x42, 0x40, 0x86, 0xff},
	{0x3b, 0x52, 0x8b, 0xff}, {0x33, 0x63, 0x8d, 0xff}, {0x2c, 0x72, 0x8e, 0xff}, {0x26, 0x82, 0x8e, 0xff},
	{0x21, 0x91, 0x8c, 0xff}, {0x1f, 0xa0, 0x88, 0xff}, {0x28, 0xae, 0x80, 0xff}, {0x3f, 0xbc, 0x73, 0xff},
	{0x5e, 0xc9, 0x62, 0xff}, {0x84, 0xd4, 0x4b, 0xff}, {0xad, 0xdc, 0x30, 0xff}, {0xd8, 0xe2, 0x19, 0xff},
	{0xfd, 0xe7, 0x25, 0xff},
}

// shadeOf returns the colour of a value in [0, 1], in 256 steps; NaN is grey.
func shadeOf(f float64) color.NRGBA {
	if math.IsNaN(f) {
		return blank
	}
	f = math.Round(min(max(f, 0), 1)*255) / 255 * float64(len(viridis)-1)
	i := min(int(f), len(viridis)-2)
	f -= float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + f*(float64(b)-float64(a)))) }
	a, b := viridis[i], viridis[i+1]
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

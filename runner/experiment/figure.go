package experiment

// Figure is a plot that is drawn from finished trials.
type Figure struct {
	// Name is "paper/figure", such as "privacygp/figure1".
	Name    string
	Title   string
	Caption string // what is shown, with units and how it was made
	// Match selects the trials that belong to the figure.
	Match func(experiment string, p Params) bool
	// Draw returns the panels for the matching trials, in the order of their
	// expansion. It returns nil where they do not suffice.
	Draw func([]Observation) []Panel
}

// Observation is a finished trial as a figure sees it.
type Observation struct {
	Identity

	Metrics map[string]float64
	Series  map[string]Series
}

// Panel is one set of axes. What is empty is not drawn. A heat map without
// ranges and a grid of pictures stand alone in their panel.
type Panel struct {
	Title          string
	XLabel, YLabel string // with the unit in brackets
	LogX, LogY     bool
	// EqualAspect makes one unit of the x axis as long as one of the y axis; both
	// must be linear.
	EqualAspect bool
	Lines       []Line
	Bands       []Band
	Discs       []Discs
	Points      []Line // markers only
	Bars        []Bars
	Violins     []Violin
	Spans       []Span
	Heatmap     *Heatmap
	Pictures    *Pictures
}

// Line is a curve, or a set of markers. NaN in Y is a gap.
type Line struct {
	Name   string // for the legend; "" for none
	X, Y   []float64
	Dashed bool
	Thin   bool // for many curves of one kind
	// Color is an index into the palette (0, 1, ...): equal numbers have equal
	// colours in all panels of a figure.
	Color int
	// Marker is the shape of markers; empty for one that goes with the colour.
	Marker Marker
}

// Marker is a shape of markers.
type Marker string

// The shapes that can be asked for.
const (
	Dot   Marker = "dot"   // small, for many data
	Cross Marker = "cross" // ×
)

// Discs are circles with a size and an opacity each, under the markers of the
// panel. The x axis must be linear; NaN in Y, a radius of 0 and an opacity of 0
// are no disc.
type Discs struct {
	Name   string
	X, Y   []float64 // the centres
	Radius []float64 // in units of the x axis
	// Opacity is between 0, not to be seen, and 1; nil makes all opaque.
	Opacity []float64
	Color   int
	// Open fills with white and outlines in the colour. A span from −Inf to +Inf
	// makes the ground grey, on which white stands out.
	Open bool
}

// Violin is a sample shown by its smoothed density: an area, symmetric about
// the vertical line at At, that is widest where the values are densest. All
// violins of a panel are equally wide at their widest, and keep clear of one
// another; a sample without spread is a line across. Both axes must be linear.
type Violin struct {
	Name   string
	At     float64
	Values []float64
	// Range, from low to high, is where values can lie, such as 0 to 1 for
	// probabilities: the density ends there, and what smoothing would carry
	// beyond is folded back. Without it the density ends with the sample.
	Range [2]float64
	Color int
}

// Band is an area between two curves.
type Band struct {
	Name      string
	X         []float64
	Low, High []float64
	Color     int
}

// Span marks an interval of the x axis.
type Span struct {
	Name      string
	Low, High float64
}

// Bars is a histogram, drawn translucent so that several can stand in one
// panel. Bar i reaches from Edges[i] to Edges[i+1] and from 0 to Heights[i],
// which is at least 0; on a logarithmic axis, a height of 0 is no bar.
type Bars struct {
	Name    string
	Edges   []float64 // increasing, one more than Heights
	Heights []float64
	Color   int
}

// Heatmap shows a matrix, row 0 at the top.
type Heatmap struct {
	Values [][]float64
	XTicks []string // labels of the columns
	YTicks []string // labels of the rows
	Label  string   // what the colour means
	// XRange and YRange, from low to high, are where the first column begins
	// and the last ends, and where the last row begins and the first ends. With
	// both, the axes are numeric, have no labels of rows and columns, and
	// curves, points, bars and spans of the panel are drawn over the heat map.
	XRange, YRange [2]float64
	// Categories makes the values indices into it, such as the classes of
	// decision regions: each is drawn in the light tint of its colour in the
	// palette, and the names stand in the legend in place of a scale.
	Categories []string
}

// Ranged says whether the heat map has numeric axes.
func (h *Heatmap) Ranged() bool { return h.XRange != [2]float64{} || h.YRange != [2]float64{} }

// Pictures is a grid of small grey-scale images of one size.
type Pictures struct {
	Rows, Columns int // pixels of a picture
	// Grid holds the pixels of the picture at [row][column], row by row: 0 is
	// black, 1 is white, what lies beyond is clipped, and NaN is black. nil
	// leaves a gap.
	Grid         [][][]float64
	RowLabels    []string // of the rows of the grid; nil for none
	ColumnLabels []string // of its columns; nil for none
}

package experiment

// Figure is a plot that is drawn from finished trials.
type Figure struct {
	// Name is "paper/figure", such as "privacygp/figure1".
	Name    string
	Title   string
	Caption string // describes the plot, with units and its making
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
	// Simulated is the guarantee of the mechanism; nil for none.
	Simulated *Simulated
}

// Panel is one set of axes. Empty members are not drawn. A heat map without
// ranges and a grid of pictures stand alone in their panel.
type Panel struct {
	Title          string
	XLabel, YLabel string // with the unit in brackets
	LogX, LogY     bool
	// YEnds are the least and the largest value that the y axis shows; zero for those of the data. Lines and bands end
	// there, and markers beyond are drawn at the edge with their values. The axis must be linear.
	YEnds [2]float64
	// XCovers and YCovers are ranges, from low to high, that the axes cover at least, so that panels of one figure
	// compare; zero for none.
	XCovers, YCovers [2]float64
	// XNames are abscissae with a name, in ascending order. The rest of the axis has numbers up to the end of
	// XNumbers, which lies before them; none where that is zero, as for categories.
	XNames   []Name
	XNumbers [2]float64
	// EqualAspect makes one unit of the x axis as long as one of the y axis; both
	// must be linear.
	EqualAspect bool
	Lines       []Line
	Bands       []Band
	Discs       []Discs
	Points      []Line // markers only
	Whiskers    []Band // a vertical line from Low to High at each abscissa
	Bars        []Bars
	Violins     []Violin
	Spans       []Span
	Heatmap     *Heatmap
	Pictures    *Pictures
}

// Ends reports whether the y axis has ends of its own.
func (p *Panel) Ends() bool { return p.YEnds != [2]float64{} }

// Name is the label of a value on an axis.
type Name struct {
	At   float64
	Text string
}

// Line is a curve, or a set of markers. NaN in Y is a gap.
type Line struct {
	Name   string // for the legend; "" for none
	X, Y   []float64
	Dashed bool
	Thin   bool // for many curves of one kind
	Marked bool // with a marker at each point
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
	// probabilities: the density ends there, and the mass that smoothing would carry
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
	Label  string   // of the scale of colours
	// XRange and YRange, from low to high, are where the first column begins
	// and the last ends, and where the last row begins and the first ends. With
	// both, the axes are numeric, have no labels of rows and columns, and
	// curves, points, bars and spans of the panel are drawn over the heat map.
	XRange, YRange [2]float64
	// Covers is a range, from low to high, that the scale of colours covers at least; zero for none.
	Covers [2]float64
	// Written writes the values into the cells where all of them fit.
	Written bool
	// Categories makes the values indices into it, such as the classes of
	// decision regions: each is drawn in the light tint of its colour in the
	// palette, and the legend has the names instead of a scale.
	Categories []string
}

// Ranged reports whether the heat map has numeric axes.
func (h *Heatmap) Ranged() bool { return h.XRange != [2]float64{} || h.YRange != [2]float64{} }

// Pictures is a grid of small grey-scale images of one size.
type Pictures struct {
	Rows, Columns int // pixels of a picture
	// Grid holds the pixels of the picture at [row][column], row by row: 0 is
	// black, 1 is white, other values are clipped, and NaN is black. nil
	// leaves a gap.
	Grid      [][][]float64
	RowLabels []string // of the rows of the grid; nil for none
}

// GroupBy returns the trials in groups of equal keys, in the order of their first
// trials. A key is the settings with those that differ within a
// group at their zero values, or a struct of a few of them where settings hold lists
// and so are not comparable.
func GroupBy[S, M any, K comparable](trials []ObservationOf[S, M], key func(S) K) [][]ObservationOf[S, M] {
	var groups [][]ObservationOf[S, M]
	place := map[K]int{}
	for _, t := range trials {
		k := key(*t.Settings)
		i, known := place[k]
		if !known {
			i = len(groups)
			place[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], t)
	}
	return groups
}

// FirstOfEach returns the first trial of each setting: those with other seeds are
// left out.
func FirstOfEach[S comparable, M any](trials []ObservationOf[S, M]) []ObservationOf[S, M] {
	var first []ObservationOf[S, M]
	for _, g := range GroupBy(trials, func(s S) S { return s }) {
		first = append(first, g[0])
	}
	return first
}

// WithSeries returns the trials whose series of that name has points.
func WithSeries[S, M any](trials []ObservationOf[S, M], name string) []ObservationOf[S, M] {
	var out []ObservationOf[S, M]
	for _, t := range trials {
		if len(t.Series[name]["x"]) > 0 {
			out = append(out, t)
		}
	}
	return out
}

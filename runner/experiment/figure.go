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
	Draw func([]Finished) []Panel
}

// Finished is a finished trial as a figure sees it.
type Finished struct {
	Experiment string
	Params     Params
	Seed       int64
	Metrics    map[string]float64
	Series     map[string]Series
}

// Panel is one set of axes. What is empty is not drawn.
type Panel struct {
	Title          string
	XLabel, YLabel string // with the unit in brackets
	LogX, LogY     bool
	Lines          []Line
	Bands          []Band
	Points         []Line // markers only
	Spans          []Span
	Heatmap        *Heatmap
}

// Line is a curve, or a set of markers. NaN in Y is a gap.
type Line struct {
	Name   string // for the legend; "" for none
	X, Y   []float64
	Dashed bool
	// Color is an index into the palette (0, 1, ...): equal numbers have equal
	// colours in all panels of a figure.
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

// Heatmap shows a matrix, row 0 at the top.
type Heatmap struct {
	Values [][]float64
	XTicks []string // labels of the columns
	YTicks []string // labels of the rows
	Label  string   // what the colour means
}

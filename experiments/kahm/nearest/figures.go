package nearest

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"privkern/experiments/kahm/printed"
	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// observation is a finished trial of kahm/classifier.
type observation = experiment.ObservationOf[ClassifierSettings, TrialMetrics]

// protected are the kinds of samples of private classifiers, with their names in figures; the
// index is the colour.
var protected = []struct {
	data wide.Data
	name string
}{
	{wide.Fabricated, "fabricated (Def. 15)"},
	{wide.Noisy, "noisy (Def. 12)"},
}

const (
	// shownN and shownEpsilon are the settings at which Table 5 varies ε and n.
	shownN       = 20
	shownEpsilon = 32.0
	// misNoise is about the estimation noise of a membership-inference score,
	// misFloor where smaller scores are drawn on a logarithmic axis.
	misNoise = 5e-4
	misFloor = 1e-4
	// noiseColor is that of misNoise.
	noiseColor = 6
)

// Figure12 follows the paper's Fig. 12: accuracy and membership-inference score of
// both private classifiers, over ε and over n.
func Figure12(ledger *printed.Ledger) experiment.Figure {
	return experiment.Figure{
		Name:  "kahm/figure12",
		Title: "MNIST: accuracy and membership-inference score with noisy and with fabricated data (Fig. 12)",
		Caption: "Means over the seeds of the classifiers of Definitions 12 and 15, over the privacy-loss bound ε at " +
			"n = 20, and over the subspace dimension n at ε = 32; dashed, beside trials on all images: the values that " +
			"Table 5 prints. Scores (mis, Eq. 69, in 1/distance) below about 5e-4 are noise of the estimate; those " +
			"below 1e-4 are drawn at 1e-4.",
		Match: Classifier().Matches(func(s *ClassifierSettings) bool {
			return !s.isOwn() && s.Data != wide.Original && !s.Noiseless() && (s.N == shownN || s.Epsilon == shownEpsilon)
		}),
		Draw: Classifier().Draws(func(trials []observation) []experiment.Panel {
			var panels []experiment.Panel
			shown := map[wide.Variant]bool{}
			for _, g := range experiment.GroupBy(trials, butForCurves) {
				// One group a variant: others differ in a setting that the paper's
				// figure does not vary.
				if variant := g[0].Settings.Variant; !shown[variant] {
					shown[variant] = true
					panels = append(panels, curvePanels(g, ledger)...)
				}
			}
			return panels
		}),
	}
}

// butForCurves leaves out the settings that a group of figure 12 varies, and those
// of the score.
func butForCurves(of ClassifierSettings) classifierSettings {
	s := of.classifierSettings
	s.Epsilon, s.N, s.Data, s.Score = 0, 0, 0, Score{}
	return s
}

// axis is the abscissa of a curve.
type axis struct {
	label string
	log   bool
	of    func(*ClassifierSettings) float64
	shows func(*ClassifierSettings) bool // a setting of the curve
}

// axes are those of Fig. 12: over ε at n = 20, and over n at ε = 32.
var axes = []axis{
	{"ε", true, func(s *ClassifierSettings) float64 { return s.Epsilon },
		func(s *ClassifierSettings) bool { return s.N == shownN }},
	{"n", false, func(s *ClassifierSettings) float64 { return float64(s.N) },
		func(s *ClassifierSettings) bool { return s.Epsilon == shownEpsilon }},
}

// ordinate is the metric of a curve; values below the floor are drawn there.
type ordinate struct {
	field func(*TrialMetrics) any
	of    func(*TrialMetrics) *float64 // nil where a trial has none
	log   bool
	floor float64
	noise float64 // of the estimate; 0 where there is none to draw
}

// ordinates are those of Fig. 12: accuracy, and the score on a logarithmic axis.
var ordinates = []ordinate{
	{func(m *TrialMetrics) any { return &m.Accuracy },
		func(m *TrialMetrics) *float64 { return &m.Accuracy }, false, 0, 0},
	{func(m *TrialMetrics) any { return &m.MIS },
		func(m *TrialMetrics) *float64 { return m.MIS }, true, misFloor, misNoise},
}

// curvePanels returns the panels of trials that differ in ε, n and data only.
func curvePanels(trials []observation, ledger *printed.Ledger) (panels []experiment.Panel) {
	for _, a := range axes {
		for _, h := range ordinates {
			if p, ok := curvePanel(trials, ledger, a, h); ok {
				panels = append(panels, p)
			}
		}
	}
	return panels
}

// curvePanel returns a panel of a curve for each kind of data, and whether one of them
// is more than a point.
func curvePanel(trials []observation, ledger *printed.Ledger, a axis, h ordinate) (experiment.Panel, bool) {
	name, first := Classifier().MetricName(h.field), trials[0].Settings
	panel := experiment.Panel{
		Title:  experiment.NameOf(first.Variant) + ": " + name + " over " + a.label,
		XLabel: a.label, YLabel: name, LogX: a.log, LogY: h.log,
	}
	var longest []float64
	for color, p := range protected {
		at := func(s *ClassifierSettings) (float64, bool) { return a.of(s), s.Data == p.data && a.shows(s) }
		line := meansOver(trials, at, h.of)
		if len(line.X) == 0 {
			continue
		}
		if len(line.X) > len(longest) {
			longest = line.X
		}
		line.Y, line.Color = h.floored(line.Y), color
		panel.Points = append(panel.Points, line)
		line.Name = p.name
		panel.Lines = append(panel.Lines, line)
		if !first.allImages() {
			continue // the paper's values are of all images
		}
		published := printed.Over(ledger, "kahm/table5", Classifier(), h.field, at)
		if len(published.X) > 0 {
			published.Name, published.Y, published.Color = p.name+", published", h.floored(published.Y), color
			panel.Lines = append(panel.Lines, published)
		}
	}
	if len(longest) < 2 { // one value is no curve
		return panel, false
	}
	if h.noise > 0 {
		panel.Lines = append(panel.Lines, experiment.Line{Name: "noise of the estimate",
			X: []float64{longest[0], longest[len(longest)-1]}, Y: []float64{h.noise, h.noise}, Dashed: true,
			Color: noiseColor})
	}
	return panel, true
}

// meansOver returns the mean metric of the trials at each place of an axis, in increasing order.
// at may leave trials out; metric returns nil where a trial has none.
func meansOver[S, M any](trials []experiment.ObservationOf[S, M], at func(*S) (where float64, shown bool),
	metric func(*M) *float64) (line experiment.Line) {
	sum, count := map[float64]float64{}, map[float64]float64{}
	for _, t := range trials {
		if where, shown := at(t.Settings); shown {
			if v := metric(t.Metrics); v != nil {
				sum[where] += *v
				count[where]++
			}
		}
	}
	for _, where := range slices.Sorted(maps.Keys(sum)) {
		line.X, line.Y = append(line.X, where), append(line.Y, sum[where]/count[where])
	}
	return line
}

// floored returns y with values below the floor set to it.
func (h ordinate) floored(y []float64) []float64 {
	if h.floor == 0 {
		return y
	}
	y = slices.Clone(y)
	for i := range y {
		y[i] = max(y[i], h.floor)
	}
	return y
}

// Figure13 follows the paper's Fig. 13: how far training and test points are from the
// machines.
func Figure13() experiment.Figure {
	return experiment.Figure{
		Name:  "kahm/figure13",
		Title: "MNIST: distances of training and of test points (Fig. 13)",
		Caption: "Densities of the distances of training points and of test points to the nearest machine (Eq. 60, " +
			"pixels from 0 to 1). Left: machines of the training samples without noise. Right: machines of fabricated " +
			"samples, at ε = 16 where there is such a trial. Where the two differ, distances reveal who was in the " +
			"training set. First seed; n = 20.",
		Match: Classifier().Matches(func(s *ClassifierSettings) bool {
			return !s.isOwn() && s.N == shownN && (s.Data == wide.Original || s.Data == wide.Fabricated && !s.Noiseless())
		}),
		Draw: Classifier().Draws(func(trials []observation) []experiment.Panel {
			return distancePanels(experiment.WithSeries(trials, "distances"))
		}),
	}
}

// figure13Epsilon is the privacy-loss bound that the ledger takes the figure's
// trial at; the paper does not state it.
const figure13Epsilon = 16.0

// distancePanels returns the panel of machines of original samples, and that of
// fabricated samples under settings that are otherwise the same, where there are such
// trials.
func distancePanels(trials []observation) []experiment.Panel {
	var before, after *observation
	for i := range trials {
		t := &trials[i]
		if t.Settings.Data == wide.Fabricated && (after == nil || rank(t.Settings) < rank(after.Settings)) {
			after = t
		}
	}
	for i := range trials {
		t := &trials[i]
		if t.Settings.Data == wide.Original && before == nil &&
			(after == nil || butForNoise(*t.Settings) == butForNoise(*after.Settings)) {
			before = t
		}
	}
	var panels []experiment.Panel
	if before != nil {
		panels = append(panels, distancePanel("training samples", before))
	}
	if after != nil {
		title := fmt.Sprintf("fabricated, ε = %s, %s", experiment.FormatNumber(after.Settings.Epsilon),
			experiment.NameOf(after.Settings.Variant))
		panels = append(panels, distancePanel(title, after))
	}
	return panels
}

// rank orders the settings of fabricated data: as published before corrected, then by
// the distance of ε to the figure's.
func rank(s *ClassifierSettings) float64 {
	r := math.Abs(math.Log(s.Epsilon / figure13Epsilon))
	if s.Variant != wide.AsPublished {
		r += 1e6
	}
	return r
}

// butForNoise leaves out the settings that original data do not have, and the number of
// points that the score is computed from.
func butForNoise(of ClassifierSettings) classifierSettings {
	s := of.classifierSettings
	s.Data, s.Budget, s.Variant, s.Clusters, s.Smoothing = 0, wide.Budget{}, 0, 0, 0
	s.Points = experiment.NumberOr[wide.Whole](0)
	return s
}

// distancePanel shows the densities of the distances of training and of test points.
func distancePanel(title string, t *observation) experiment.Panel {
	s, score := t.Series["distances"], 0.0
	if t.Metrics.MIS != nil {
		score = *t.Metrics.MIS
	}
	edges := binEdges(s["x"])
	return experiment.Panel{
		Title:  fmt.Sprintf("%s: mis %.3g", title, score),
		XLabel: "distance to the nearest machine", YLabel: "density",
		Bars: []experiment.Bars{
			{Name: "training points", Edges: edges, Heights: s["train"], Color: 0},
			{Name: "test points", Edges: edges, Heights: s["test"], Color: 1},
		},
	}
}

// binEdges returns the edges of bins of equal width with the given middles.
func binEdges(middles []float64) []float64 {
	width := 1.0
	if n := len(middles); n > 1 {
		width = (middles[n-1] - middles[0]) / float64(n-1)
	}
	edges := []float64{middles[0] - width/2}
	for _, m := range middles {
		edges = append(edges, m+width/2)
	}
	return edges
}

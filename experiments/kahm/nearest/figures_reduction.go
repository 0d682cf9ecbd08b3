package nearest

import (
	"maps"
	"slices"

	"privkern/experiments/kahm/printed"
	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// Figure14a follows the paper's Fig. 14(a): the cost of fabricated data on the groceries.
func Figure14a(ledger *printed.Ledger) experiment.Figure {
	return reductions[FreiburgSettings, FreiburgMetrics]{
		of: Freiburg(), table: "kahm/table6", n: 20,
		settings: func(s *FreiburgSettings) (wide.Data, *wide.Pipeline) { return s.Data, &s.Pipeline },
		metrics:  func(m *FreiburgMetrics) *ClassifierMetrics { return &m.ClassifierMetrics },
	}.figure(ledger, "kahm/figure14a", "Freiburg groceries: reductions by fabricated data (Fig. 14a)")
}

// Figure14b follows the paper's Fig. 14(b): the cost of fabricated data on R-R intervals.
func Figure14b(ledger *printed.Ledger) experiment.Figure {
	return reductions[StressSettings, StressMetrics]{
		of: Stress(), table: "kahm/table7", n: 5,
		settings: func(s *StressSettings) (wide.Data, *wide.Pipeline) { return s.Data, &s.Pipeline },
		metrics:  func(m *StressMetrics) *ClassifierMetrics { return &m.ClassifierMetrics },
	}.figure(ledger, "kahm/figure14b", "Stress: reductions by fabricated data (Fig. 14b)")
}

// reductions are the percentages by which accuracy and score are lower with fabricated
// data than with noisy data.
type reductions[S, M any] struct {
	of       *experiment.Definition[S, M]
	table    string // whose values are printed
	n        int    // at which ε varies
	settings func(*S) (wide.Data, *wide.Pipeline)
	metrics  func(*M) *ClassifierMetrics
}

// quantity is a metric that is reduced.
type quantity struct {
	name  string
	field func(*ClassifierMetrics) any
	of    func(*ClassifierMetrics) *float64 // nil where a trial has none
}

var quantities = []quantity{
	{"accuracy", func(m *ClassifierMetrics) any { return &m.Accuracy },
		func(m *ClassifierMetrics) *float64 { return &m.Accuracy }},
	{"mis", func(m *ClassifierMetrics) any { return &m.MIS },
		func(m *ClassifierMetrics) *float64 { return m.MIS }},
}

// figure has a panel over ε and one over n, where trials vary them.
func (r reductions[S, M]) figure(ledger *printed.Ledger, name, title string) experiment.Figure {
	published := func(s *S) bool { _, p := r.settings(s); return p.Variant == wide.AsPublished }
	return experiment.Figure{
		Name: name, Title: title,
		Caption: "Percentages by which accuracy and membership-inference score (mis) of the classifier of Definition 15 " +
			"are below those of Definition 12, as published, from means over the seeds: over the privacy-loss bound ε, " +
			"and over the subspace dimension n at ε = 32. Dashed: from what the paper's table prints.",
		Match: r.of.Matches(published),
		Draw: r.of.Draws(func(trials []experiment.ObservationOf[S, M]) []experiment.Panel {
			overEpsilon := func(p *wide.Pipeline) (float64, bool) { return p.Epsilon, p.N == r.n }
			overN := func(p *wide.Pipeline) (float64, bool) { return float64(p.N), p.Epsilon == shownEpsilon }
			var panels []experiment.Panel
			for _, p := range []experiment.Panel{
				r.panel(trials, ledger, "ε", overEpsilon), r.panel(trials, ledger, "n", overN),
			} {
				if len(p.Points) > 0 {
					panels = append(panels, p)
				}
			}
			return panels
		}),
	}
}

// panel has a curve for each quantity. One value is no curve.
func (r reductions[S, M]) panel(trials []experiment.ObservationOf[S, M], ledger *printed.Ledger, label string,
	at func(*wide.Pipeline) (float64, bool)) experiment.Panel {
	panel := experiment.Panel{Title: "Reduction over " + label, XLabel: label, YLabel: "reduction (%)",
		LogX: label == "ε"}
	for color, q := range quantities {
		// curve returns the reduction of means from noisy to fabricated data.
		curve := func(means func(at func(*S) (float64, bool)) experiment.Line) experiment.Line {
			of := func(data wide.Data) experiment.Line {
				return means(func(s *S) (float64, bool) {
					given, p := r.settings(s)
					where, shown := at(p)
					return where, shown && given == data
				})
			}
			return reduction(of(wide.Noisy), of(wide.Fabricated))
		}
		line := curve(func(at func(*S) (float64, bool)) experiment.Line {
			return meansOver(trials, at, func(m *M) *float64 { return q.of(r.metrics(m)) })
		})
		if len(line.X) < 2 {
			continue
		}
		line.Name, line.Color = q.name, color
		panel.Lines, panel.Points = append(panel.Lines, line), append(panel.Points, line)
		published := curve(func(at func(*S) (float64, bool)) experiment.Line {
			return printed.Over(ledger, r.table, r.of, func(m *M) any { return q.field(r.metrics(m)) }, at)
		})
		if len(published.X) > 0 {
			published.Name, published.Color, published.Dashed = q.name+", published", color, true
			panel.Lines = append(panel.Lines, published)
		}
	}
	return panel
}

// reduction returns 100·(1 − after/before), where there are both. Of several values at a place
// the last counts.
func reduction(before, after experiment.Line) (line experiment.Line) {
	values := func(l experiment.Line) map[float64]float64 {
		out := map[float64]float64{}
		for i, at := range l.X {
			out[at] = l.Y[i]
		}
		return out
	}
	was, is := values(before), values(after)
	for _, at := range slices.Sorted(maps.Keys(was)) {
		if v, ok := is[at]; ok && was[at] > 0 {
			line.X, line.Y = append(line.X, at), append(line.Y, 100*(1-v/was[at]))
		}
	}
	return line
}

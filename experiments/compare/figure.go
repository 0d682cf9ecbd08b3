package compare

import (
	"maps"
	"slices"
	"strings"

	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Paper has the figure of comparisons, which belongs to no publication.
func Paper() experiment.Paper {
	return experiment.Paper{Name: "compare", Figures: []experiment.Figure{{
		Name:  "compare/scores",
		Title: "Private methods on the same splits",
		Caption: "Scores of each method against epsilon, with bands or bars of one standard error over the splits. The " +
			"dashed lines are the trivial rule, which looks at no input, and the best of the methods without noise. A method " +
			"protects the unit that the title names, or its outputs alone where these are named. Scores far worse than the " +
			"trivial rule are at the edge, with their values.",
		Match: Is,
		Draw:  draw,
	}}}
}

// Is reports whether a trial is one of a comparison: a candidate's with its fixed settings, and of no attack.
func Is(name string, p experiment.Params) bool {
	return slices.ContainsFunc(Candidates(), func(c Candidate) bool {
		if c.Experiment != name {
			return false
		}
		for setting, text := range c.Fixed {
			if v, ok := p[setting]; !ok || experiment.FormatValue(v) != text {
				return false
			}
		}
		return !experiment.SettingsIn[method.Recorded](p).Membership
	})
}

// curve are the trials of a method.
type curve struct {
	candidate Candidate
	settings  string               // but epsilon
	unit      string               // that is protected
	epsilons  []float64            // increasing
	trials    map[float64][]scored // by epsilon
}

type scored = map[string]float64

// draw draws a panel for each task that has trials. It draws none of trials that differ in more than epsilon and seed:
// these are several comparisons.
func draw(trials []experiment.Observation) []experiment.Panel {
	curves, ok := curvesOf(trials)
	if !ok {
		return nil
	}
	var panels []experiment.Panel
	for _, task := range []method.Task{method.Regression, method.Classification} {
		m, err := MeasureOf(task, "")
		some := slices.DeleteFunc(slices.Clone(curves), func(c *curve) bool { return c.candidate.Task != task })
		if err == nil && len(some) > 0 {
			panels = append(panels, panel(m, some))
		}
	}
	return panels
}

// curvesOf sorts trials by their methods, unless the trials of one differ in more than epsilon and seed.
func curvesOf(trials []experiment.Observation) (curves []*curve, ok bool) {
	for _, t := range trials {
		i := slices.IndexFunc(Candidates(), func(c Candidate) bool { return c.Experiment == t.Experiment })
		rest, epsilon, isNumber := experiment.Params{}, 0.0, false
		for name, v := range t.Params {
			if name == "epsilon" {
				epsilon, isNumber = v.(float64)
			} else {
				rest[name] = v
			}
		}
		if i < 0 || !isNumber || Candidates()[i].Epsilon != nil { // the setting is of another unit
			continue
		}
		settings := identity(t.Experiment, rest, 0)
		at := slices.IndexFunc(curves, func(c *curve) bool { return c.candidate.Experiment == t.Experiment })
		if at < 0 {
			at = len(curves)
			c := &curve{candidate: Candidates()[i], settings: settings, unit: experiment.UnitRow,
				trials: map[float64][]scored{}}
			if experiment.SettingsIn[method.Person](t.Params).Given() {
				c.unit = experiment.UnitPerson
			}
			curves = append(curves, c)
		}
		c := curves[at]
		if c.settings != settings {
			return nil, false
		}
		if c.trials[epsilon] == nil {
			c.epsilons = append(c.epsilons, epsilon)
		}
		c.trials[epsilon] = append(c.trials[epsilon], t.Metrics)
	}
	for _, c := range curves {
		slices.Sort(c.epsilons)
	}
	return curves, true
}

// The colours of the two dashed lines, near black with different dashes, and the number of colours.
const (
	trivialColour = 6
	exactColour   = 13
	colours       = 7
)

// panel draws the scores of some methods. A mean is over all splits: one for which a trial is missing is left out.
func panel(m Measure, curves []*curve) experiment.Panel {
	p := experiment.Panel{Title: "Private methods on the same splits, per " + curves[0].unit,
		XLabel: "ε", YLabel: m.Name, LogX: true}
	splits := 0
	for _, c := range curves {
		for _, trials := range c.trials {
			splits = max(splits, len(trials))
		}
	}
	private := slices.DeleteFunc(slices.Clone(curves), func(c *curve) bool { return c.candidate.Role != Private })
	var methods []*curve // those that are drawn
	trivial := trivialLine(m, curves, splits)
	var exact *experiment.Line
	for i, c := range private {
		colour := i + i/(colours-1) // near black is for the dashed lines
		drawn := c.draw(m, splits, colour)
		if len(drawn.line.X) == 0 {
			continue
		}
		methods, p.Lines = append(methods, c), append(p.Lines, drawn.line)
		p.Points = append(p.Points, experiment.Line{X: drawn.line.X, Y: drawn.line.Y, Color: colour})
		switch len(drawn.band.X) {
		case 0: // of one split
		case 1: // a band of one point would not show
			p.Whiskers = append(p.Whiskers, drawn.band)
		default:
			p.Bands = append(p.Bands, drawn.band)
		}
		exact = better(m, exact, &drawn.exact)
	}
	for _, c := range curves {
		if exact != nil && c.candidate.Role == NonPrivate {
			exact = better(m, exact, c.level(m, splits, exact))
		}
	}
	for _, l := range []*experiment.Line{trivial, exact} {
		if l != nil {
			p.Lines = append(p.Lines, *l)
		}
	}
	if trivial != nil {
		p.YEnds = axisEnds(m, &p, trivial)
	}
	if single(p.Lines[:len(methods)]) {
		sideBySide(&p, methods)
	}
	return p
}

// trivialLine is the line of the trivial rule, as the table has it: of a method of its own, whose choice has noise, and
// where there is none by the metric of the first method that has it; nil for none.
func trivialLine(m Measure, curves []*curve, splits int) *experiment.Line {
	by := map[float64]float64{}
	for _, role := range []Role{Private, Trivial} {
		score := m.trivialOf
		if role == Trivial {
			score = metric(m.Name)
		}
		for _, c := range slices.Backward(curves) {
			for epsilon, trials := range c.trials {
				if scores := values(trials, score); c.candidate.Role == role && len(scores) == splits {
					by[epsilon] = meanOf(scores).Mean
				}
			}
		}
	}
	if len(by) == 0 {
		return nil
	}
	out := &experiment.Line{Name: TrivialName(m.Task), Dashed: true, Color: trivialColour}
	for _, epsilon := range slices.Sorted(maps.Keys(by)) {
		out.X, out.Y = append(out.X, epsilon), append(out.Y, by[epsilon])
	}
	return out
}

// single reports whether there are curves, each of one point and all at one abscissa.
func single(lines []experiment.Line) bool {
	other := func(l experiment.Line) bool { return !slices.Equal(l.X, lines[0].X[:1]) }
	return len(lines) > 0 && !slices.ContainsFunc(lines, other)
}

// sideBySide moves scores at a single epsilon, which would lie on one another, to places above the names of their
// methods, without those of package and task. The first lines of the panel are those of the methods; the others are
// level.
func sideBySide(p *experiment.Panel, methods []*curve) {
	lines, references := p.Lines[:len(methods)], p.Lines[len(methods):]
	epsilon := lines[0].X[0]
	p.XLabel, p.LogX = "at ε = "+experiment.FormatNumber(epsilon), false
	p.XCovers = [2]float64{-.5, float64(len(methods)) - .5}
	points := []experiment.Line{{Name: "inputs and outputs protected"}, {Name: "outputs only", Color: 1}}
	bars := []experiment.Band{{}, {Color: 1}}
	task := taskNames[methods[0].candidate.Task]
	short := strings.NewReplacer("baseline/", "", "/"+task, "", "-"+task, "")
	for i, c := range methods {
		part, at := 0, float64(i)
		if c.candidate.Protects == experiment.UnitOutput {
			part = 1
		}
		p.XNames = append(p.XNames, experiment.Name{At: at, Text: short.Replace(c.candidate.Experiment)})
		points[part].X, points[part].Y = append(points[part].X, at), append(points[part].Y, lines[i].Y[0])
		if len(p.Whiskers) == len(methods) {
			b, all := p.Whiskers[i], &bars[part]
			all.X, all.Low, all.High = append(all.X, at), append(all.Low, b.Low[0]), append(all.High, b.High[0])
		}
	}
	p.Points = slices.DeleteFunc(points, func(l experiment.Line) bool { return len(l.X) == 0 })
	p.Whiskers = slices.DeleteFunc(bars, func(b experiment.Band) bool { return len(b.X) == 0 })
	for i, l := range references {
		at := max(slices.Index(l.X, epsilon), 0)
		references[i].X, references[i].Y = p.XCovers[:], []float64{l.Y[at], l.Y[at]}
	}
	p.Lines = references
}

// worse is how far behind the trivial rule the axis goes, in distances of the rule from the best score.
const worse = 0.75

// axisEnds are the ends of the vertical axis where scores are so much worse than the trivial rule that the others would
// be squeezed into less than half of it; zero where there are none.
func axisEnds(m Measure, p *experiment.Panel, trivial *experiment.Line) (out [2]float64) {
	var scores, all []float64
	for _, l := range p.Lines {
		scores = append(scores, l.Y...)
	}
	all = append(all, scores...)
	for _, b := range slices.Concat(p.Bands, p.Whiskers) {
		all = append(append(all, b.Low...), b.High...)
	}
	low, high := slices.Min(all), slices.Max(all)
	half := (high - low) / 2
	if m.Larger {
		rule := slices.Min(trivial.Y)
		low = rule - worse*(slices.Max(scores)-rule)
	} else {
		rule := slices.Max(trivial.Y)
		high = rule + worse*(rule-slices.Min(scores))
	}
	if high-low < half {
		return [2]float64{low, high}
	}
	return out
}

// better returns the line that begins better, of two that may have no points.
func better(m Measure, a, b *experiment.Line) *experiment.Line {
	if len(b.X) > 0 && (a == nil || m.better(b.Y[0], a.Y[0])) {
		return b
	}
	return a
}

// level is the line of a method without privacy at the epsilons of another; without points unless it has all splits.
func (c *curve) level(m Measure, splits int, like *experiment.Line) *experiment.Line {
	out := &experiment.Line{Name: like.Name, Dashed: like.Dashed, Color: like.Color}
	for _, trials := range c.trials {
		scores := values(trials, metric(m.Name))
		if len(scores) == splits {
			out.X = like.X
			out.Y = slices.Repeat([]float64{meanOf(scores).Mean}, len(like.X))
		}
	}
	return out
}

// drawn are the lines of a method.
type drawn struct {
	line, exact experiment.Line
	band        experiment.Band
}

// draw returns the lines of a method at the epsilons with that number of splits.
func (c *curve) draw(m Measure, splits, colour int) *drawn {
	name := c.candidate.Experiment
	if c.candidate.Protects == experiment.UnitOutput {
		name += " (outputs only)"
	}
	out := &drawn{line: experiment.Line{Name: name, Color: colour}, band: experiment.Band{Color: colour},
		exact: experiment.Line{Name: "without privacy", Dashed: true, Color: exactColour}}
	for _, epsilon := range c.epsilons {
		trials := c.trials[epsilon]
		scores := values(trials, metric(m.Name))
		if len(scores) < splits {
			continue
		}
		mean := meanOf(scores)
		out.line.X, out.line.Y = append(out.line.X, epsilon), append(out.line.Y, mean.Mean)
		if se := mean.StandardError; se != nil {
			out.band.X, out.band.Low = append(out.band.X, epsilon), append(out.band.Low, mean.Mean-*se)
			out.band.High = append(out.band.High, mean.Mean+*se)
		}
		if exact := values(trials, metric(m.exact)); exact != nil {
			out.exact.X, out.exact.Y = append(out.exact.X, epsilon), append(out.exact.Y, meanOf(exact).Mean)
		}
	}
	return out
}

// values are those of a metric, nil where a trial has none.
func values(trials []scored, metric func(scored) (float64, bool)) []float64 {
	var out []float64
	for _, t := range trials {
		v, ok := metric(t)
		if !ok {
			return nil
		}
		out = append(out, v)
	}
	return out
}

package attack

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"privkern/runner/experiment"
)

// Paper has the figure of attacks, which belongs to no publication.
func Paper() experiment.Paper {
	return experiment.Paper{Name: "attack", Figures: []experiment.Figure{{
		Name:  "attack/roc",
		Title: "Membership attacks",
		Caption: "Share of the members that an attack finds, by the share of others that it takes for members, over all " +
			"models that are attacked; both axes are logarithmic. The dashed lines are the most that the guarantee allows any " +
			"attack, and guessing. A threshold is that of the pooled scores of these models; the table has " +
			"thresholds of shadow models.",
		Match: func(_ string, p experiment.Params) bool { return Is(p) },
		Draw:  draw,
	}}}
}

// The colours of lines.
const (
	allowedColour = 6 // near black
	guessColour   = 5
)

// draw draws a panel for each setting but the seed.
func draw(trials []experiment.Observation) (panels []experiment.Panel) {
	for len(trials) > 0 {
		var own, others []experiment.Observation
		for _, t := range trials {
			if t.Experiment == trials[0].Experiment && maps.EqualFunc(t.Params, trials[0].Params, sameValue) {
				own = append(own, t)
			} else {
				others = append(others, t)
			}
		}
		if p, err := panel(own); err == nil {
			panels = append(panels, *p)
		}
		trials = others
	}
	return panels
}

func sameValue(a, b any) bool { return experiment.FormatValue(a) == experiment.FormatValue(b) }

// panel draws the attacks on models of one setting.
func panel(trials []experiment.Observation) (*experiment.Panel, error) {
	slices.SortFunc(trials, func(a, b experiment.Observation) int { return cmp.Compare(a.Seed, b.Seed) })
	first := trials[0]
	epsilon, g := budgetOf(first.Params).Epsilon, guaranteeOf(first.Experiment, first.Simulated, budgetOf(first.Params))
	p := &experiment.Panel{Title: fmt.Sprintf("%s, ε = %s", first.Experiment, experiment.FormatNumber(epsilon)),
		XLabel: "share of others taken for members", YLabel: "share of members found", LogX: true, LogY: true}
	lowest := 1.0
	for _, noise := range []bool{true, false} {
		if noise && math.IsInf(epsilon, 1) {
			continue
		}
		var models []*Model
		for _, t := range trials {
			m, err := modelOf(t.Series, noise)
			if err != nil {
				return nil, err
			}
			models = append(models, m)
		}
		j, err := newJudge(models, g)
		if err != nil {
			return nil, err
		}
		for i, name := range j.names() {
			c := j.curve(name)
			if !noise {
				name += ", without noise"
			}
			lowest = min(lowest, slices.Min(append(c.FPR, 1)))
			p.Lines = append(p.Lines, experiment.Line{Name: name, X: c.FPR, Y: c.TPR, Color: i, Thin: !noise})
		}
	}
	var x, allowed []float64
	for at := lowest; at < 1; at *= curveStep {
		x, allowed = append(x, at), append(allowed, g.Allows(at))
	}
	x, allowed = append(x, 1), append(allowed, 1)
	if !math.IsInf(epsilon, 1) {
		p.Lines = append(p.Lines, experiment.Line{Name: "allowed by the guarantee", X: x, Y: allowed, Dashed: true,
			Color: allowedColour})
	}
	p.Lines = append(p.Lines, experiment.Line{Name: "guessing", X: x, Y: x, Dashed: true, Thin: true, Color: guessColour})
	return p, nil
}

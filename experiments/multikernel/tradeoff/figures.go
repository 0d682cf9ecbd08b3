package tradeoff

import (
	"fmt"
	"slices"

	"privkern/runner/experiment"
)

// Frontier is the figure of utility against the success of adversaries.
func Frontier() experiment.Figure {
	return experiment.Figure{
		Name:  "multikernel/frontier",
		Title: "Utility against privacy over settings",
		Caption: "A point a setting, its mean over the seeds: test rows of which the utility class is recognised, over " +
			"those of which the strongest of three adversaries recognises the privacy class. Dashed: the settings that no " +
			"other one beats in both. Crosses: always the largest class. Projections have their colours. Settings are " +
			"judged on the same test rows, so that the best of many is flattered.",
		Match: Learn().Matches(nil),
		Draw:  Learn().Draws(drawFrontier),
	}
}

// setting is a point of the figure.
type setting struct {
	of           Settings
	adversary    float64
	utility      float64
	baseX, baseY float64
	seeds        float64
}

// panelOf identifies the panel of a point.
func panelOf(s *Settings) string {
	if !s.own() {
		return "rows of a formula: kind, hiding person"
	}
	return fmt.Sprintf("%s, hiding %s", s.Utility, s.Privacy)
}

func drawFrontier(trials []experiment.ObservationOf[Settings, Metrics]) []experiment.Panel {
	var names []string
	points := map[string][]*setting{}
	at := map[string]*setting{}
	for _, t := range trials {
		name, key := t.Settings.Dataset+panelOf(t.Settings), fmt.Sprintf("%+v", *t.Settings)
		p := at[key]
		if p == nil {
			p = &setting{of: *t.Settings}
			at[key] = p
			if points[name] == nil {
				names = append(names, name)
			}
			points[name] = append(points[name], p)
		}
		p.seeds++
		p.adversary += (t.Metrics.Adversary - p.adversary) / p.seeds
		p.utility += (t.Metrics.Utility - p.utility) / p.seeds
		p.baseX += (t.Metrics.PrivacyBaseline - p.baseX) / p.seeds
		p.baseY += (t.Metrics.UtilityBaseline - p.baseY) / p.seeds
	}
	var panels []experiment.Panel
	for _, name := range names {
		panels = append(panels, panel(points[name]))
	}
	return panels
}

func panel(all []*setting) experiment.Panel {
	p := experiment.Panel{Title: panelOf(&all[0].of), XLabel: "privacy class recognised by an adversary (%)",
		YLabel: "utility class recognised (%)"}
	for i, name := range projection(0).Choices() {
		line := experiment.Line{Name: name, Color: i}
		for _, s := range all {
			if s.of.Projection == projection(i) {
				line.X, line.Y = append(line.X, s.adversary), append(line.Y, s.utility)
			}
		}
		if len(line.X) > 0 {
			p.Points = append(p.Points, line)
		}
	}
	base := experiment.Line{Name: "always the largest class", Color: 6, Marker: experiment.Cross}
	for _, s := range all { // of several splits, several
		if !slices.Contains(base.X, s.baseX) {
			base.X, base.Y = append(base.X, s.baseX), append(base.Y, s.baseY)
		}
	}
	p.Points = append(p.Points, base)
	p.Lines = append(p.Lines, experiment.Line{Name: "not beaten in both", Color: 7, Dashed: true})
	for _, s := range frontier(all) {
		line := &p.Lines[0]
		line.X, line.Y = append(line.X, s.adversary), append(line.Y, s.utility)
	}
	return p
}

// frontier returns the settings that no other one dominates, in increasing order of the success of
// the adversary: none recognises at least as much of the utility with less of the privacy.
func frontier(all []*setting) []*setting {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b *setting) int {
		switch {
		case a.adversary != b.adversary:
			if a.adversary < b.adversary {
				return -1
			}
			return 1
		case a.utility > b.utility:
			return -1
		case a.utility < b.utility:
			return 1
		}
		return 0
	})
	var out []*setting
	for _, s := range sorted {
		if len(out) == 0 || s.utility > out[len(out)-1].utility {
			out = append(out, s)
		}
	}
	return out
}

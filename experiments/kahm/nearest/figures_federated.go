package nearest

import (
	"fmt"

	"privkern/experiments/kahm/printed"
	"privkern/runner/experiment"
)

// federation is a finished trial of kahm/federated.
type federation = experiment.ObservationOf[FederatedSettings, FederatedMetrics]

// spread16 is a panel of Fig. 16.
type spread16 struct {
	scenario int
	table    string
	label    string
	of       func(*FederatedSettings) float64
}

var spreads16 = []spread16{
	{classByParty, "kahm/table8", "ε", func(s *FederatedSettings) float64 { return s.Epsilon }},
	{halvedClass, "kahm/table9", "ε", func(s *FederatedSettings) float64 { return s.Epsilon }},
	{randomShares, "kahm/table10", "Q, parties", func(s *FederatedSettings) float64 { return float64(s.Parties) }},
}

// Figure16 follows the paper's Fig. 16: accuracy of the global classifier over ε in
// Scenarios 1 and 2, and over the number of parties in Scenario 3.
func Figure16(ledger *printed.Ledger) experiment.Figure {
	return experiment.Figure{
		Name:  "kahm/figure16",
		Title: "MNIST: accuracy of federated learning (Fig. 16)",
		Caption: "Accuracy of the classifier of all parties' machines (Eq. 104), fabricated data, means over the seeds: " +
			"over the privacy-loss bound ε where each class belongs to a party (Scenario 1) or is halved between two " +
			"(Scenario 2), and over the number of parties that share the images at random (Scenario 3, ε = 16). " +
			"Dashed, beside trials on all images: what Tables 8 to 10 print.",
		Match: Federated().Matches(func(s *FederatedSettings) bool { return !s.isOwn() }),
		Draw: Federated().Draws(func(trials []federation) []experiment.Panel {
			var panels []experiment.Panel
			for _, s := range spreads16 {
				if p, ok := s.panel(trials, ledger); ok {
					panels = append(panels, p)
				}
			}
			return panels
		}),
	}
}

// panel shows the trials of a scenario, a curve for settings that are otherwise the same.
func (s *spread16) panel(trials []federation, ledger *printed.Ledger) (experiment.Panel, bool) {
	panel := experiment.Panel{Title: fmt.Sprintf("Scenario %d", s.scenario), XLabel: s.label, YLabel: "accuracy",
		LogX: true}
	all := false
	groups := experiment.GroupBy(trials, func(of FederatedSettings) federatedSettings {
		f := of.federatedSettings
		if s.scenario == randomShares {
			f.Parties = 0
		} else {
			f.Epsilon = 0
		}
		f.Centralised = false
		return f
	})
	for _, g := range groups {
		first := g[0].Settings
		line := meansOver(g, func(f *FederatedSettings) (float64, bool) { return s.of(f), true },
			func(m *FederatedMetrics) *float64 { return &m.Accuracy })
		if first.Scenario != s.scenario || len(line.X) < 2 {
			continue
		}
		line.Name = fmt.Sprintf("%s, %s", experiment.NameOf(first.Data), experiment.NameOf(first.Variant))
		line.Color = len(panel.Points)
		panel.Lines, panel.Points = append(panel.Lines, line), append(panel.Points, line)
		all = all || first.allImages()
	}
	if len(panel.Points) == 0 {
		return panel, false
	}
	if all { // the paper's values are of all images
		published := printed.Over(ledger, s.table, Federated(), func(m *FederatedMetrics) any { return &m.Accuracy },
			func(f *FederatedSettings) (float64, bool) { return s.of(f), true })
		if len(published.X) > 0 {
			published.Name, published.Color = "published", len(panel.Points)
			panel.Lines = append(panel.Lines, published)
		}
	}
	return panel, true
}

package choose

import (
	"strings"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
)

func TestSelectionPrivacyBlock(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	for _, c := range []struct {
		name      string
		change    change
		guarantee string
		has, not  []string
	}{
		{"defaults", unchanged, "(2, 0.01)-DP", []string{"basic composition of the selection, (1, 0)-DP",
			"only the selected configuration would be released"}, []string{"Eq. (9)", "sse_cut", "as published"}},
		{"another budget", func(s *selectionSettings) { s.Epsilon, s.SelectionEpsilon = 0.5, 0.25 },
			"(0.75, 0.01)-DP", []string{"(0.25, 0)-DP", "(0.5, 0.01)-DP"}, nil},
		{"no noise", noiseless, "(1, 0)-DP", []string{"the selected configuration alone is protected"},
			[]string{"basic composition"}},
		{"Eq. (9)", asPublished, "no guarantee: the sensitivity of Eq. (9)",
			[]string{"claimed by the paper: (2, 0.01)-DP; it does not hold because",
				"no guarantee: the clipping interval and the prior mean are computed"}, []string{"sse_cut",
				"basic composition"}},
		{"Eq. (9), public", func(s *selectionSettings) { s.Bound, s.Normalisation = Published, cloak.Public },
			"no guarantee: the sensitivity of Eq. (9)", nil, []string{"the clipping interval and the prior mean are"}},
		{"Eq. (9), cut", func(s *selectionSettings) { s.Bound, s.Cut = Published, atMost(1e6) },
			"no guarantee: the sensitivity of Eq. (9)",
			[]string{"no guarantee: sse_cut leaves out configurations by their errors on the private heights"}, nil},
		{"cut", func(s *selectionSettings) { s.Cut = atMost(1e6) }, "no guarantee: sse_cut",
			[]string{"claimed by the paper: (2, 0.01)-DP"},
			[]string{"Eq. (9)", "the clipping interval and the prior mean are"}},
		{"as published", func(s *selectionSettings) { s.Normalisation = cloak.AsPublished },
			"no guarantee: the clipping interval and the prior mean",
			[]string{"through the prior mean, but not through the interval"}, []string{"Eq. (9)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := compute(t, census, oneOf(25, 1, 1), c.change).Privacy
			notes := strings.Join(p.Notes, "\n")
			if s := p.Statement(); !strings.HasPrefix(s, c.guarantee) || (p.Guarantee == "") != strings.HasPrefix(s,
				"no guarantee") || p.Unit != "one height changed by at most 100 cm" {
				t.Errorf("%q for %q", p.Statement(), p.Unit)
			}
			for _, s := range c.has {
				if !strings.Contains(notes, s) {
					t.Errorf("the notes leave out %q:\n%s", s, notes)
				}
			}
			for _, s := range c.not {
				if strings.Contains(notes, s) {
					t.Errorf("the notes speak of %q:\n%s", s, notes)
				}
			}
		})
	}
}

package compare

import (
	"fmt"
	"strings"
	"testing"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// Warnings that differ in numbers and names are one kind, and a trial counts once for it.
func TestWarned(t *testing.T) {
	const fit, read = "computed but suspect: the error is %g, and the middle has 9; use more rows",
		"the column \"id: 5\" looks like an identifier: use person=id"
	outside := func(rows int, name string) string {
		return fmt.Sprintf("computed but suspect: in %d of 40 rows the input %q is outside of the public range, -1.5 to "+
			"1e+06: it is extrapolated", rows, name)
	}
	clipped := table.Clipping{Outside: 3, Of: 40, Outputs: `values of "y"`, High: 1, AsRead: true}.Warning(.05)
	c := &Contest{Request: Request{Epsilons: []float64{1}, Unit: experiment.UnitRow}}
	for name, role := range map[string]Role{"one": Private, "exact": NonPrivate} {
		c.Entries = append(c.Entries, &Entry{Candidate: Candidate{Experiment: name, Role: role,
			Protects: experiment.UnitRow}, Definition: &experiment.Experiment{},
			Params: []experiment.Params{{"epsilon": 1.0}}})
	}
	for _, x := range []struct {
		name     string
		warnings [2][]string // of two splits
		want     []string
		clipped  float64
	}{
		{"none", [2][]string{}, nil, 0},
		{"on one split", [2][]string{{fmt.Sprintf(fit, 12.5)}},
			[]string{"the error is 12.5, and the middle has 9; use more rows (trials: one 1 of 2)"}, 0},
		{"other numbers", [2][]string{{fmt.Sprintf(fit, 12.5)}, {fmt.Sprintf(fit, 3e9)}},
			[]string{"the error is ..., and the middle has ... (trials: one 2 of 2)"}, 0},
		{"several inputs", [2][]string{{outside(3, "a"), outside(4, "b")}},
			[]string{"in ... of ... rows the input ... is outside of the public range, -... to ... (trials: one 1 of 2)"}, 0},
		{"the frequent first", [2][]string{{outside(3, "a"), read}, {read}}, []string{read + " (trials: one 2 of 2)",
			strings.TrimPrefix(outside(3, "a"), experiment.Suspect) + " (trials: one 1 of 2)"}, 0},
		{"few are clipped", [2][]string{{clipped}}, []string{strings.TrimPrefix(clipped, experiment.Suspect) +
			" (trials: one 1 of 2)"}, .01},
		{"a note has it", [2][]string{{clipped, read}, {clipped}}, []string{read + " (trials: one 1 of 2)"}, .011},
	} {
		t.Run(x.name, func(t *testing.T) {
			var trials []Trial
			for _, e := range c.Entries {
				for seed, warnings := range x.warnings {
					trials = append(trials, Trial{Experiment: e.Experiment, Params: e.Params[0], Seed: int64(seed),
						Metrics: map[string]float64{"rmse": 1, "clipped_fraction": x.clipped}, Warnings: warnings})
				}
			}
			m, err := MeasureOf(c.Task, "rmse")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			r := c.Judge(trials, []int64{0, 1}, m)
			if notes := strings.Join(r.Notes, ""); strings.Contains(notes, "are clipped for training") != (x.clipped > .01) {
				t.Error(notes)
			}
			for _, w := range r.Warnings {
				got = append(got, w.String())
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", x.want) {
				t.Errorf("%q, want %q", got, x.want)
			}
		})
	}
}

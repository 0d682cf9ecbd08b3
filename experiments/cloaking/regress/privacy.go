package regress

import (
	"fmt"
	"slices"

	"privkern/experiments/cloaking/cloak"
	"privkern/runner/experiment"
)

// Private parts of a record.
const (
	noteRecord = "this record itself is not private: it holds the %s, predictions without noise and errors measured on " +
		"them; only the noisy predictions would be released"
	noteRecordSecure = "this record itself is not private: its metrics are computed from the %s without noise; " +
		"noise covers the series released alone"
)

// privacy describes the protection by a release of one set of predictions; nil without noise.
func (r *predictor) privacy() *experiment.Privacy {
	if r.scale == 0 {
		return nil
	}
	record := noteRecord
	if r.publishes() {
		record = noteRecordSecure
	}
	out := r.guarantee()
	out.Notes = append(out.Notes,
		"hyperparameters are taken as public"+r.data.Names.Tuning,
		fmt.Sprintf(record, r.data.Names.Outputs),
		"each set of predictions that is released spends its own budget: the folds of a cross-validation compose",
		r.data.ClippingNote(),
	)
	return out
}

// guarantee describes the protection by a release of one set of predictions, in words that do not
// depend on the outputs.
func (r *predictor) guarantee() *experiment.Privacy {
	s, names := r.settings, r.data.Names
	notes := []string{
		fmt.Sprintf("protects the %s (training outputs) only: %s and who is in the data are taken as public", names.Outputs,
			names.Public),
		"delta is not the probability that epsilon-privacy fails, although the paper says so",
	}
	if r.data.Kung == nil {
		notes = append(notes, "low and high are taken as public, and their middle is the prior mean; sensitivity_cm, "+
			"normalisation and public_low_cm do not apply")
	}
	changed := fmt.Sprintf("changed by at most %s%s", experiment.FormatNumber(r.data.Width), names.Unit)
	unit := "one training output " + changed
	if r.own != nil {
		unit = r.own.Protected(unit, "training outputs", changed)
	}
	out := &experiment.Privacy{
		Unit:      unit,
		Mechanism: "cloaking (Smith et al. 2018, 2019): Gaussian noise shaped by the cloaking matrix, " + s.Source(),
		Notes:     slices.Concat(notes, r.data.Notes, s.Solver.Notes()),
	}
	out.State(s.Epsilon, s.Delta)
	s.Solver.Refute(out)
	if r.data.Kung != nil && s.Normalisation == cloak.AsPublished {
		out.Refute(cloak.PrivateNormalisation)
		out.Notes = append(out.Notes, cloak.PublicNormalisation)
	}
	return out
}

package compare

import (
	"fmt"
	"slices"

	"privkern/runner/experiment"
)

// Attacked is the outcome of the best membership attack on fits of a method at an epsilon.
type Attacked struct {
	Epsilon float64 `json:"epsilon"`
	Attack  string  `json:"attack"`
	// AUC is the area under its curve, with its interval of 95 %; nil where too few models have a result.
	AUC  *float64 `json:"auc"`
	Low  float64  `json:"auc_low"`
	High float64  `json:"auc_high"`
	// Allowed is the largest area that the guarantee allows any attack.
	Allowed float64 `json:"auc_allowed"`
	Proved  float64 `json:"epsilon_proved"`
	Refuted bool    `json:"refuted"` // Proved is beyond the guarantee
	// Sentence states the outcome.
	Sentence string `json:"sentence"`
}

// Attack adds the outcomes of attacks on a method, one for each epsilon.
func (r *Results) Attack(method string, outcomes []Attacked) {
	for _, b := range r.Blocks {
		for _, row := range b.Rows {
			if row.Method == method {
				row.Attacked = outcomes
			}
		}
	}
}

// Refuted reports whether an attack proves more than a guarantee allows.
func (r *Results) Refuted() bool {
	for _, row := range r.attacked() {
		if slices.ContainsFunc(row.Attacked, func(a Attacked) bool { return a.Refuted }) {
			return true
		}
	}
	return false
}

// attacked are the methods that are.
func (r *Results) attacked() (out []*Row) {
	for _, b := range r.Blocks {
		for _, row := range b.Rows {
			if row.Attacked != nil {
				out = append(out, row)
			}
		}
	}
	return out
}

// attacks are the lines of the table that have the outcomes of attacks, each group of methods below the largest areas
// that their guarantees allow.
func (r *Results) attacks() (out [][]string) {
	var stated []string // allowed for the methods above
	for _, row := range r.attacked() {
		fields, allowed := []string{row.Method}, []string{"allowed by the guarantee"}
		for _, a := range row.Attacked {
			text, most := "-", "-"
			if a.AUC != nil {
				text, most = fmt.Sprintf("%.3f [%.3f, %.3f]", *a.AUC, a.Low, a.High), fmt.Sprintf("%.3f", a.Allowed)
			}
			fields, allowed = append(fields, text), append(allowed, most)
		}
		if out == nil {
			out = append(out, []string{"AUC of the best membership attack on fits to half of the " + r.units() +
				", with its interval of 95 %; .5 is guessing"})
		}
		judged := slices.ContainsFunc(row.Attacked, func(a Attacked) bool { return a.AUC != nil })
		if judged && !slices.Equal(allowed, stated) {
			stated = allowed
			out = append(out, append(slices.Clone(allowed), ""))
		}
		out = append(out, append(fields, ""))
	}
	return out
}

// units are rows or persons.
func (r *Results) units() string {
	if r.Unit == experiment.UnitPerson {
		return "persons"
	}
	return "rows"
}

// attackRemarks are the sentences about attacks on the best methods, and about those that refute a guarantee.
func (r *Results) attackRemarks() (out []string) {
	for _, row := range r.attacked() {
		for i, a := range row.Attacked {
			if a.Refuted || row.Cells[i].Best {
				out = append(out, row.Method+" attacked. "+a.Sentence)
			}
		}
	}
	return out
}

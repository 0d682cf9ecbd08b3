package attack

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"privkern/experiments/compare"
	"privkern/experiments/page"
	"privkern/runner/experiment"
)

// Epsilon is that of a guarantee; +Inf for none.
type Epsilon float64

// MarshalJSON implements [json.Marshaler]: infinity is "inf", as in records.
func (e Epsilon) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(e), 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(float64(e))
}

// String is the number as settings have it.
func (e Epsilon) String() string { return experiment.FormatNumber(float64(e)) }

// At are the results at an epsilon.
type At struct {
	Epsilon Epsilon `json:"epsilon"`
	// Noise are those of the private fits, and Exact those of the same without noise; nil where models are too few.
	Noise *Outcome `json:"private"`
	Exact *Outcome `json:"without_noise"`
	// Refuted reports that the proof is beyond the guarantee.
	Refuted  bool     `json:"refuted"`
	Failures []string `json:"failures"`

	stated    *experiment.Simulated // by the records; nil for none
	guarantee Guarantee             // for the substitution of a unit
	entries   bool                  // epsilon protects an entry of a unit
}

// Results are those of an attack.
type Results struct {
	Title  string `json:"title"`
	Method string `json:"method"`
	Unit   string `json:"unit"`
	Delta  string `json:"delta"`
	// Canaries is the number of pairs of rows that were added, about which all numbers are; 0 for the rows of the data.
	Canaries int   `json:"canaries"`
	At       []*At `json:"results"`
	// Sentences state the findings, one for each epsilon.
	Sentences []string         `json:"sentences"`
	Warnings  compare.Warnings `json:"warnings"` // of records
	Notes     []string         `json:"notes"`
	Published bool             `json:"-"` // the data are: nobody's secret is looked at
}

// Refuted reports whether an attack proves more than a guarantee allows.
func (r *Results) Refuted() bool {
	return slices.ContainsFunc(r.At, func(a *At) bool { return a.Refuted })
}

// Judge attacks the models of trials, in the order of their seeds.
func (p *Plan) Judge(trials []compare.Trial) (*Results, error) {
	out := &Results{Title: p.Title(), Method: p.Entry.Experiment, Unit: p.Unit, Delta: cmp.Or(p.Text("delta"), "0"),
		Notes: append([]string{}, p.Notes...), Warnings: compare.Warnings{}}
	if out.Canaries = p.canaries(); out.Canaries > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("all numbers are about %d rows that were added to be found, and none "+
			"about the rows of the data: these are in the training rows of each model", 2*out.Canaries))
	}
	if p.AddsRemoves() {
		out.Notes = append(out.Notes, "neighbours=add-remove: the guarantee for the substitution of a unit, which is "+
			"attacked, is that of two steps: (2 epsilon, (1 + e^epsilon) delta)")
	}
	for _, params := range p.Entry.Params {
		var own []compare.Trial
		for _, t := range trials {
			if t.Experiment == out.Method && maps.EqualFunc(t.Params, params, sameValue) {
				own = append(own, t)
			}
		}
		at, err := at(params, own)
		if err != nil {
			return nil, err
		}
		out.At = append(out.At, at)
		for _, t := range own {
			out.Warnings.Add(out.Method, len(own)*len(p.Entry.Params), t.Warnings)
		}
		out.Sentences = append(out.Sentences, out.sentence(at))
		out.Notes = append(out.Notes, at.notes(p.Entry)...)
	}
	out.Warnings.Sort()
	return out, nil
}

// at attacks the models of one setting.
func at(params experiment.Params, trials []compare.Trial) (*At, error) {
	epsilon := budgetOf(params).Epsilon
	out := &At{Epsilon: Epsilon(epsilon), guarantee: Guarantee{Epsilon: math.Inf(1)}, Failures: []string{}}
	failures := map[string]int{}
	var private, exact []*Model
	for _, t := range trials {
		if t.Series == nil {
			failures[t.Failure]++
			private, exact = append(private, nil), append(exact, nil)
			continue
		}
		out.stated, out.guarantee = t.Simulated, guaranteeOf(t.Experiment, t.Simulated, budgetOf(params))
		out.entries = ofEntries(t.Experiment, t.Simulated, budgetOf(params))
		noisy, err := modelOf(t.Series, true)
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", t.Seed, err)
		}
		plain, err := modelOf(t.Series, false)
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", t.Seed, err)
		}
		private, exact = append(private, noisy), append(exact, plain)
	}
	for reason, n := range failures {
		out.Failures = append(out.Failures, fmt.Sprintf("%d of %d models have no result: %s", n, len(trials), reason))
	}
	slices.Sort(out.Failures)
	var err error
	out.Exact, err = Judge(exact, Guarantee{Epsilon: math.Inf(1)})
	if errors.Is(err, errFew) {
		out.Failures = append(out.Failures, err.Error())
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	if math.IsInf(epsilon, 1) {
		return out, nil
	}
	if out.Noise, err = Judge(private, out.guarantee); err != nil {
		return nil, err
	}
	out.Refuted = out.Noise.Proof.Epsilon > out.guarantee.Epsilon
	return out, nil
}

// Write writes the results in a format ([page.Write]).
func (r *Results) Write(w io.Writer, f page.Format, shell page.Shell, width int) error {
	return page.Write(w, r, f, shell, width)
}

// CSV returns a row for each attack and level, below a header.
func (r *Results) CSV() [][]string {
	rows := [][]string{{"method", "epsilon", "delta", "noise", "attack", "shadow_models", "targets", "units", "auc",
		"auc_low", "auc_high", "fpr", "fpr_measured", "tpr", "tpr_low", "tpr_high", "tpr_allowed"}}
	add := func(at *At, o *Outcome, noise bool) {
		if o == nil {
			return
		}
		for _, a := range o.Attacks {
			for _, rate := range a.Rates {
				row := []string{r.Method, at.Epsilon.String(), r.Delta, fmt.Sprint(noise), a.Attack,
					fmt.Sprint(o.Shadows), fmt.Sprint(o.Targets), fmt.Sprint(o.Units)}
				for _, v := range []float64{a.AUC.Mean, a.AUC.Low, a.AUC.High, rate.Level, rate.Alarms.Mean, rate.Found.Mean,
					rate.Found.Low, rate.Found.High, rate.Allowed} {
					row = append(row, experiment.FormatNumber(v))
				}
				rows = append(rows, row)
			}
		}
	}
	for _, at := range r.At {
		add(at, at.Noise, true)
		add(at, at.Exact, false)
	}
	return rows
}

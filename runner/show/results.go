// Package show presents the records of an output folder as tables, figures and a report.
//
// All of them are functions of the plan and its records alone, so that they can be
// regenerated at any time, and `run check` compares the files with the records.
// [Evaluate] reads every record once; each package below writes one form.
package show

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show/chart"
	"privkern/runner/show/report"
	"privkern/runner/show/summary"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// Results are the evaluated records of an output folder.
type Results struct {
	Plan      *plan.Plan
	Store     *store.Store
	Evaluated []*judge.Evaluation    // the published tables that the plan names
	Summary   []*summary.MetricTable // the metrics of all settings
	// Skipped is the number of trials that were skipped because data are missing;
	// SkippedTables are the tables whose planned trials were all skipped.
	Skipped       int
	SkippedTables []string
	Suspicions    record.Suspicions // of the records' warnings
	// Comparisons are the part of the report about comparisons of methods; nil for other plans.
	Comparisons []report.Comparison

	book    *ledger.Book
	ledgers []*ledger.Ledger // of the papers that the plan concerns
	trials  *report.TrialTally
	figures []figureTrials
	draw    sync.Once
	plots   []report.Plot           // once drawn
	charts  map[string]*chart.Chart // by the names of their plots
}

// Read evaluates the records of an output folder.
func Read(d disk.Disk, dir string, book *ledger.Book) (*Results, error) {
	s, p, err := store.OpenPlan(d, dir, book.Experiments)
	if err != nil {
		return nil, err
	}
	return Evaluate(book, s, p, s.Get)
}

// Evaluate evaluates the records of a plan, which get returns by the key of the trial. Only
// the series that figures need are kept in memory.
func Evaluate(book *ledger.Book, s *store.Store, p *plan.Plan,
	get func(key string) (*record.Record, bool, error)) (*Results, error) {
	r := &Results{Plan: p, Store: s, book: book, trials: report.NewTrialTally(book.Experiments),
		figures: figuresOf(book.Papers), charts: map[string]*chart.Chart{}}
	metrics := summary.NewTabulator(book.Experiments)
	// Every record is read once, for all consumers.
	var readErr error
	skipped := map[record.TrialID]bool{} // planned trials
	records, err := judge.Index(func(yield func(*record.Record) bool) {
		for _, t := range p.Trials {
			var rec *record.Record
			if rec, _, readErr = get(t.Key); readErr != nil {
				return
			}
			r.trials.Add(t.Experiment, t.Params, t.Seed, rec)
			if readErr = metrics.Add(t, rec); readErr != nil {
				return
			}
			r.Suspicions.Add(rec)
			isSkipped := rec != nil && rec.Status == record.Skipped
			if isSkipped {
				r.Skipped++
			}
			if len(p.Tables) > 0 {
				var id record.TrialID
				if id, readErr = record.IDOfTrial(t.Identity); readErr != nil {
					return
				}
				skipped[id] = isSkipped
			}
			if rec == nil {
				continue
			}
			if readErr = r.addToFigures(rec, t); readErr != nil {
				return
			}
			// Only tables look records up.
			if len(p.Tables) > 0 && !yield(rec) {
				return
			}
		}
	})
	if err := errors.Join(err, readErr); err != nil {
		return nil, err
	}
	r.Summary = metrics.Tables()
	if err := r.readLedgers(); err != nil {
		return nil, err
	}
	if err := r.evaluate(records); err != nil {
		return nil, err
	}
	r.SkippedTables, err = skippedTables(book, p.Tables, skipped)
	return r, err
}

// readLedgers reads the ledgers of the papers that the plan concerns.
func (r *Results) readLedgers() error {
	for _, p := range r.book.Papers {
		if !r.concerns(p.Name) {
			continue
		}
		l, err := r.book.Ledger(p.Name)
		if err != nil {
			return err
		}
		if l != nil {
			r.ledgers = append(r.ledgers, l)
		}
	}
	return nil
}

// concerns reports whether the plan has trials or tables of a paper.
func (r *Results) concerns(paper string) bool {
	return slices.ContainsFunc(r.Plan.Tables, func(t string) bool { return strings.HasPrefix(t, paper+"/") }) ||
		slices.ContainsFunc(r.Summary, func(t *summary.MetricTable) bool {
			return strings.HasPrefix(t.Experiment, paper+"/")
		})
}

// skippedTables returns the tables whose planned trials were all skipped. skipped has an
// entry for every trial of the plan.
func skippedTables(book *ledger.Book, names []string, skipped map[record.TrialID]bool) ([]string, error) {
	var out []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		trials, err := book.Trials(name)
		if err != nil {
			return nil, err
		}
		planned, computed := 0, 0
		for _, t := range trials {
			id, err := record.IDOfTrial(t)
			if err != nil {
				return nil, err
			}
			if is, ok := skipped[id]; ok {
				planned++
				if !is {
					computed++
				}
			}
		}
		if planned > 0 && computed == 0 {
			out = append(out, name)
		}
	}
	return out, nil
}

// evaluate fills in the tables that the plan names.
func (r *Results) evaluate(records *judge.Records) error {
	if len(r.Plan.Tables) == 0 {
		return nil
	}
	for _, t := range r.Plan.Trials {
		if err := records.Expect(t.Experiment, t.Params, t.Seed); err != nil {
			return err
		}
	}
	names := slices.Compact(slices.Sorted(slices.Values(r.Plan.Tables)))
	var listed []experiment.Identity
	for _, name := range names {
		trials, err := r.book.Trials(name)
		if err != nil {
			return err
		}
		listed = append(listed, trials...)
	}
	if err := records.ExpectTables(listed); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, name := range r.Plan.Tables {
		if seen[name] {
			continue
		}
		seen[name] = true
		t, err := r.book.Table(name)
		if err != nil {
			return err
		}
		e, err := judge.Evaluate(t, r.book.Experiments, records)
		if err != nil {
			return err
		}
		r.Evaluated = append(r.Evaluated, e)
	}
	judge.Holm(r.Evaluated...)
	return nil
}

// ForPeople returns the summary as people read it: where the plan has programs of the user's,
// experiments with metrics in common stand in one table first.
func (r *Results) ForPeople() []*summary.MetricTable {
	if r.Plan.Commands == nil {
		return r.Summary
	}
	if common := summary.Common(r.Summary); common != nil {
		return append([]*summary.MetricTable{common}, r.Summary...)
	}
	return r.Summary
}

// Unpublished returns the settings that no cell or joint verdict of the tables uses.
func (r *Results) Unpublished() []*summary.MetricTable {
	used := map[string]bool{}
	for _, e := range r.Evaluated {
		for i := range e.Cells {
			for _, key := range e.Cells[i].TrialKeys {
				used[key] = true
			}
		}
		for _, j := range e.Joint {
			for _, key := range j.Keys {
				used[key] = true
			}
		}
	}
	return summary.Without(r.Summary, used)
}

// Violations returns the cells outside their reference bands.
func (r *Results) Violations() []judge.Violation {
	var out []judge.Violation
	for _, e := range r.Evaluated {
		out = append(out, judge.Check(e)...)
	}
	return out
}

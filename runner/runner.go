// Package runner takes a sweep from its settings to its tables: it freezes the
// plan, runs what has no result yet, and writes tables and a report from the
// stored records. The steps are the packages below this one:
//
//	sweep     sweep files to settings
//	plan      settings to a frozen list of trials with keys
//	store     the output folder: plan and records
//	schedule  trials to workers; worker: processes that run them; trial: one trial
//	slurm     trials to the tasks of a cluster
//	merge     several output folders to one
//	seal      digests of records and plans; check.go holds a folder against them
//	claims    records to tables, published beside reproduced
//	summary   records to a table of all metrics
//	report    all of it as one HTML file; plot: figures as SVG
//	export    all of it for other programs: Parquet, CSV, LaTeX, MLflow
//	live      a view of a sweep while it runs
//
// The runner knows an experiment only through package experiment.
package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"privkern/runner/claims"
	"privkern/runner/disk"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/report"
	"privkern/runner/schedule"
	"privkern/runner/store"
	"privkern/runner/summary"
	"privkern/runner/sweep"
)

// Catalogue is what there is to run and to compare with.
type Catalogue struct {
	Papers      []experiment.Paper
	Experiments *experiment.Registry
	Book        *claims.Book
	// Disk is what output folders are on: [disk.System], but in tests.
	Disk disk.Disk
}

// NewCatalogue collects what the papers offer and checks their ledgers.
func NewCatalogue(papers []experiment.Paper) (*Catalogue, error) {
	c := &Catalogue{Disk: disk.System, Papers: papers, Experiments: experiment.RegistryOf(papers)}
	book, err := claims.Open(papers, c.Experiments)
	if err != nil {
		return nil, fmt.Errorf("a defect in a ledger: %w", err)
	}
	c.Book = book
	return c, nil
}

// Names answers which names a sweep file may use.
func (c *Catalogue) Names() sweep.Names {
	return sweep.Names{Experiments: c.Experiments, Tables: c.Book.Names()}
}

// Executor runs those trials of a frozen plan that have no result yet, and puts
// their records into the store. The summary holds even with an error.
// [schedule.Local] runs them on this machine, slurm.Executor on a cluster.
type Executor interface {
	Execute(ctx context.Context, s *store.Store, p *plan.Plan) (schedule.Summary, error)
}

// Request is a sweep to be run.
type Request struct {
	Dir      string // output folder
	Plan     *plan.Plan
	Replan   bool
	Executor Executor
}

// Freeze writes the plan into the output folder and runs nothing.
func (c *Catalogue) Freeze(dir string, p *plan.Plan, replan bool) error {
	s, err := store.CreateOn(c.Disk, dir)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	return s.FreezePlan(p, c.Experiments, replan)
}

// Run runs what has no result yet. The summary holds even with an error.
func (c *Catalogue) Run(ctx context.Context, req Request) (schedule.Summary, error) {
	s, err := store.CreateOn(c.Disk, req.Dir)
	if err != nil {
		return schedule.Summary{}, err
	}
	defer func() { _ = s.Close() }()
	if err := s.FreezePlan(req.Plan, c.Experiments, req.Replan); err != nil {
		return schedule.Summary{}, err
	}
	sum, err := req.Executor.Execute(ctx, s, req.Plan)
	if err == nil {
		err = s.Settle() // some records may be of runners that were killed
	}
	return sum, err
}

// FrozenPlan returns the plan of an output folder, provided that this program
// and the data here are those that it was made for.
func (c *Catalogue) FrozenPlan(dir string, data *plan.Datasets) (*plan.Plan, error) {
	_, p, err := c.openPlan(dir)
	if err != nil {
		return nil, err
	}
	if err := p.Check(c.Experiments, data); err != nil {
		return nil, fmt.Errorf("the plan in %s cannot be run here: %w", dir, err)
	}
	return p, nil
}

func (c *Catalogue) openPlan(dir string) (*store.Store, *plan.Plan, error) {
	return store.OpenPlanOn(c.Disk, dir, c.Experiments)
}

// Results are what the records of an output folder say.
type Results struct {
	Plan      *plan.Plan
	Store     *store.Store
	Evaluated []*claims.Evaluated
	Summary   []*summary.Table
	// Skipped is how many trials were skipped for want of data, SkippedTables are
	// the tables of which all trials were.
	Skipped       int
	SkippedTables []string

	trials  *report.Trials
	figures []drawn
}

// Results evaluates the records of an output folder.
func (c *Catalogue) Results(dir string) (*Results, error) {
	s, p, err := c.openPlan(dir)
	if err != nil {
		return nil, err
	}
	return c.Evaluate(s, p, s.Get)
}

// Evaluate evaluates records of a plan, which get looks up by the key of the
// trial. Nothing is kept of their series but what figures need.
func (c *Catalogue) Evaluate(s *store.Store, p *plan.Plan, get func(key string) (*record.Record, bool, error)) (*Results, error) {
	r := &Results{Plan: p, Store: s, trials: report.NewTrials(c.Experiments), figures: c.figures()}
	metrics := summary.NewBuilder(c.Experiments)
	// Every record is read once, and given to all that want something of it.
	var readErr error
	skipped := map[string]bool{} // by the identity of planned trials
	records, err := claims.Index(func(yield func(*record.Record) bool) {
		for _, t := range p.Trials {
			var rec *record.Record
			if rec, _, readErr = get(t.Key); readErr != nil {
				return
			}
			r.trials.Add(t.Experiment, t.Params, t.Seed, rec)
			if readErr = metrics.Add(t, rec); readErr != nil {
				return
			}
			isSkipped := rec != nil && rec.Status == record.Skipped
			if isSkipped {
				r.Skipped++
			}
			if len(p.Tables) > 0 {
				var id string
				if id, readErr = identityOf(t.Experiment, t.Params, t.Seed); readErr != nil {
					return
				}
				skipped[id] = isSkipped
			}
			if rec == nil {
				continue
			}
			if readErr = r.addToFigures(rec, t, c.Experiments); readErr != nil {
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
	if err := c.evaluate(r, records); err != nil {
		return nil, err
	}
	r.SkippedTables, err = c.skippedTables(p.Tables, skipped)
	return r, err
}

// identityOf tells the trials of one plan from each other.
func identityOf(name string, params experiment.Params, seed int64) (string, error) {
	canonical, err := record.CanonicalParams(params)
	return fmt.Sprintf("%s %d %s", name, seed, canonical), err
}

// skippedTables returns the tables that have trials in the plan, all of which were
// skipped. What was skipped is known of every trial of the plan.
func (c *Catalogue) skippedTables(names []string, skipped map[string]bool) ([]string, error) {
	var out []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		t, err := c.Book.Table(name)
		if err != nil {
			return nil, err
		}
		wanted, err := t.Trials(c.Experiments)
		if err != nil {
			return nil, err
		}
		planned, computed := 0, 0
		for _, w := range wanted {
			id, err := identityOf(w.Experiment, w.Params, w.Seed)
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
func (c *Catalogue) evaluate(r *Results, records *claims.Records) error {
	if len(r.Plan.Tables) == 0 {
		return nil
	}
	for _, t := range r.Plan.Trials {
		if err := records.Expect(t.Experiment, t.Params, t.Seed); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for _, name := range r.Plan.Tables {
		if seen[name] {
			continue
		}
		seen[name] = true
		t, err := c.Book.Table(name)
		if err != nil {
			return err
		}
		e, err := claims.Evaluate(t, c.Experiments, records)
		if err != nil {
			return err
		}
		r.Evaluated = append(r.Evaluated, e)
	}
	return nil
}

// WriteTables writes OUT/tables: every evaluated table as Markdown, CSV, LaTeX
// and JSON, and all metrics as summary.csv and summary.md.
func (r *Results) WriteTables() error {
	dir := filepath.Join(r.Store.Dir(), tablesDir)
	if err := disk.MakeFolder(r.Store.Disk(), dir, 0o777); err != nil {
		return err
	}
	return r.eachTable(func(name string, write func(io.Writer) error) error {
		return disk.WriteFileWith(r.Store.Disk(), filepath.Join(dir, name), write)
	})
}

// tablesDir and plotsDir are folders of the output folder.
const (
	tablesDir = "tables"
	plotsDir  = "plots"
)

// visitor is given files, and what writes their contents.
type visitor func(name string, write func(io.Writer) error) error

// eachTable visits the files of OUT/tables.
func (r *Results) eachTable(visit visitor) error {
	for _, e := range r.Evaluated {
		files, err := tableFiles(e)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := visit(f.name, func(w io.Writer) error { _, err := w.Write(f.data); return err }); err != nil {
				return err
			}
		}
	}
	if err := visit("summary.csv", func(w io.Writer) error { return summary.CSV(w, r.Summary) }); err != nil {
		return err
	}
	return visit("summary.md", func(w io.Writer) error { return summary.Markdown(w, r.Summary) })
}

// Unpublished returns the settings that no cell of the tables is made of.
func (r *Results) Unpublished() []*summary.Table {
	used := map[string]bool{}
	for _, e := range r.Evaluated {
		for i := range e.Cells {
			for _, key := range e.Cells[i].TrialKeys {
				used[key] = true
			}
		}
	}
	return summary.Without(r.Summary, used)
}

// HasReferences says whether any cell has a reference value to be checked
// against.
func (r *Results) HasReferences() bool {
	for _, e := range r.Evaluated {
		for i := range e.Cells {
			if e.Cells[i].Reference != nil {
				return true
			}
		}
	}
	return false
}

// Violations returns the cells that are out of their reference bands.
func (r *Results) Violations() []claims.Violation {
	var out []claims.Violation
	for _, e := range r.Evaluated {
		out = append(out, claims.Check(e)...)
	}
	return out
}

// Elapsed formats a duration for people.
func Elapsed(d time.Duration) string {
	if d < time.Minute {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

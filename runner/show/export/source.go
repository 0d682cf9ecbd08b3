// Package export writes the trials of output folders for other programs: all
// trials as one Parquet or CSV file with typed columns, the evaluated tables as
// LaTeX, and an MLflow file store. Nothing is run, and the output folders are
// only read.
//
// Outputs get their names when they are complete: a file by renaming a temporary one, an
// MLflow run by renaming its folder. A file of another program is never replaced.
package export

import (
	"context"
	"fmt"
	"time"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// Folder is an output folder whose trials are exported.
type Folder struct {
	Plan  *plan.Plan
	Store *store.Store
}

// Open opens an output folder. A plan without trials is an error.
func Open(dir string, experiments *experiment.Registry) (*Folder, error) {
	s, p, err := store.OpenPlan(disk.System, dir, experiments)
	if err != nil {
		return nil, err
	}
	if len(p.Trials) == 0 {
		return nil, fmt.Errorf("the plan of %s has no trials: there is nothing to export", dir)
	}
	return &Folder{Plan: p, Store: s}, nil
}

// Options are the options common to the formats.
type Options struct {
	Experiments *experiment.Registry
	Version     string // of this program, for the file's own provenance
	// Progress receives the number of trials that are done; it may be nil. Parquet and
	// CSV read every trial twice, and total is twice their number.
	Progress func(done, total int)
	// Foresee, if not nil, is called once by MLflow, before the second run is written, with an
	// estimate of the number of files and bytes of all runs.
	Foresee func(files int, bytes int64)
	// KeepFormulas keeps texts of a CSV file that a spreadsheet would run.
	KeepFormulas bool
}

// Counts is the size of an export.
type Counts struct {
	Trials int // written rows or runs
	NotRun int // planned trials without a record
}

// notRun is the status of a planned trial that has no record.
const notRun = "not_run"

// trial is a planned trial with its record.
type trial struct {
	plan.Trial
	source *Folder        // the first whose plan has it
	rec    *record.Record // nil where it has not run
	in     *store.Store   // where the record is
}

// status returns the status of the record.
func (t *trial) status() string {
	if t.rec == nil {
		return notRun
	}
	return string(t.rec.Status)
}

// finished returns the time at which the record was written.
func (t *trial) finished() (time.Time, error) { return t.in.Modified(t.Key) }

// reader visits the trials of the sources.
type reader struct {
	ctx     context.Context
	sources []*Folder
	opts    Options
	done    int
	total   int
}

func newReader(ctx context.Context, sources []*Folder, opts Options, passes int) *reader {
	r := &reader{ctx: ctx, sources: sources, opts: opts}
	for _, s := range sources {
		r.total += passes * len(s.Plan.Trials)
	}
	return r
}

// each passes every trial to visit, in the order of the plans, with its record. A trial of
// several plans is passed once, with a good record where any of the folders has one.
func (r *reader) each(visit func(*trial) error) error {
	seen := map[string]bool{}
	for _, s := range r.sources {
		for _, planned := range s.Plan.Trials {
			if err := context.Cause(r.ctx); err != nil {
				return err
			}
			r.done++
			if len(r.sources) > 1 {
				if seen[planned.Key] {
					continue
				}
				seen[planned.Key] = true
			}
			t := trial{Trial: planned, source: s}
			if err := t.find(s, r.sources); err != nil {
				return err
			}
			if err := visit(&t); err != nil {
				return err
			}
			if r.opts.Progress != nil {
				r.opts.Progress(r.done, r.total)
			}
		}
	}
	return nil
}

// find looks for the record in the trial's own folder, then in the others.
func (t *trial) find(own *Folder, sources []*Folder) error {
	for _, s := range append([]*Folder{own}, sources...) {
		rec, ok, err := s.Store.Get(t.Key)
		if err != nil {
			return err
		}
		if !ok || t.rec != nil && rec.Status != record.OK {
			continue
		}
		t.rec, t.in = rec, s.Store
		if rec.Status == record.OK {
			return nil
		}
	}
	return nil
}

// Ignored returns the files that are not records of their trials, each once.
func Ignored(sources []*Folder) []store.Aside {
	var out []store.Aside
	seen := map[string]bool{}
	for _, s := range sources {
		for _, a := range s.Store.Asides() {
			if id := s.Store.Dir() + "\x00" + a.File; !seen[id] {
				seen[id] = true
				out = append(out, a)
			}
		}
	}
	return out
}

// Package runner takes a sweep from its settings to its tables: it freezes the plan,
// runs the trials without a result, and verifies an output folder. The steps are the
// packages below this one, from the ground up; each imports only packages above it in
// this list:
//
//	experiment         definition of an experiment
//	text               words of messages
//	command            programs of the user's as experiments
//	record             records of trials, keys, digests
//	claims/ledger      printed values of papers, and the trials that reproduce them
//	claims/judge       records to verdicts
//	plan/search        settings of a search, round by round
//	plan/sweep         sweep files to settings
//	plan               settings to a frozen list of trials with keys
//	store/disk         files that survive a crash
//	store              the output folder: plan and records; release files
//	execute/machine    memory and processors of this machine
//	execute/trial      one trial
//	execute/worker     processes that run trials
//	execute/schedule   trials to workers
//	execute/progress   progress of a sweep
//	execute/slurm      trials to the tasks of a cluster
//	execute/merge      several output folders to one
//	execute/bench      benchmarks with peers
//	show/tables        tables in five formats
//	show/summary       a table of all metrics
//	show/plot          figures as SVG
//	show/score         the verdicts of all papers
//	show/report        all of it as one HTML file
//	show/export        all of it for other programs: Parquet, CSV, LaTeX, MLflow
//	show/runs          output folders in a list, one of them, and several next to each other
//	show               the records of a folder to tables, figures and report
//
// The runner knows an experiment only through package experiment.
package runner

import (
	"context"
	"fmt"
	"time"

	"privkern/runner/claims/ledger"
	"privkern/runner/command"
	"privkern/runner/execute/schedule"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/show"
	"privkern/runner/show/score"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// Catalogue holds the experiments, and the ledgers of the papers.
type Catalogue struct {
	*ledger.Book
	// Disk holds the output folders: [disk.System], except in tests.
	Disk disk.Disk
}

// NewCatalogue returns the catalogue of some papers.
func NewCatalogue(papers []experiment.Paper) *Catalogue {
	c := &Catalogue{Book: ledger.Open(papers), Disk: disk.System}
	command.Admit(c.Experiments)
	return c
}

// Executor runs those trials of a frozen plan that have no result yet, and puts
// their records into the store. The summary holds even with an error.
// [schedule.Local] runs them on this machine, slurm.Executor on a cluster.
type Executor interface {
	// Execute runs until every trial has a record or is given up, or until ctx ends.
	Execute(ctx context.Context, s *store.Store, p *plan.Plan) (schedule.Summary, error)
}

// SweepRun is a plan to be run, with its folder and executor.
type SweepRun struct {
	Dir      string // output folder
	Plan     *plan.Plan
	Replan   bool              // replace another plan that the folder has
	Tags     map[string]string // are added to those of the folder
	Executor Executor
	// Rewriting keeps the report up to date meanwhile; nil leaves it as it is.
	Rewriting *Rewriting
}

// Freeze writes the plan into the output folder, adds tags to those of the folder, and runs nothing.
func (c *Catalogue) Freeze(dir string, p *plan.Plan, replan bool, tags map[string]string) error {
	s, err := store.Create(c.Disk, dir)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	if err := s.FreezePlan(p, c.Experiments, replan); err != nil {
		return err
	}
	return s.AddTags(tags)
}

// Run runs the trials without a result. The summary holds even with an error.
func (c *Catalogue) Run(ctx context.Context, req SweepRun) (schedule.Summary, error) {
	s, err := store.Create(c.Disk, req.Dir)
	if err != nil {
		return schedule.Summary{}, err
	}
	defer func() { _ = s.Close() }()
	if err := s.FreezePlan(req.Plan, c.Experiments, req.Replan); err != nil {
		return schedule.Summary{}, err
	}
	if err := s.AddTags(req.Tags); err != nil {
		return schedule.Summary{}, err
	}
	stop := c.rewrite(ctx, s, req)
	sum, err := req.Executor.Execute(ctx, s, req.Plan)
	stop()
	if err == nil {
		err = s.Settle() // some records may be of runners that were killed
	}
	if err == nil {
		err = removeShared(s, req.Plan)
	}
	return sum, err
}

// removeShared removes the results of shared work once every trial of the plan has a
// record: nobody needs them any more.
func removeShared(s *store.Store, p *plan.Plan) error {
	// Without any, or where they cannot be listed, no list of a hundred thousand records.
	if kept, _ := s.Memos(); len(kept) == 0 {
		return nil
	}
	keys, err := s.Keys()
	if err != nil {
		return err
	}
	for i := range p.Trials {
		if !keys[p.Trials[i].Key] {
			return nil
		}
	}
	// A file that cannot be removed is no result, and harmless.
	_ = s.RemoveMemos()
	return nil
}

// FrozenPlan returns the plan of an output folder, provided that it was made for this
// program and the data here.
func (c *Catalogue) FrozenPlan(dir string, data *plan.Datasets) (*plan.Plan, error) {
	_, p, err := store.OpenPlan(c.Disk, dir, c.Experiments)
	if err != nil {
		return nil, err
	}
	if err := p.Check(c.Experiments, data); err != nil {
		return nil, fmt.Errorf("the plan in %s cannot be run here: %w", dir, err)
	}
	return p, nil
}

// Results evaluates the records of an output folder.
func (c *Catalogue) Results(dir string) (*show.Results, error) {
	return show.Read(c.Disk, dir, c.Book)
}

// Score counts the verdicts of all tables from the records of the folders.
func (c *Catalogue) Score(folders []string) (*score.Board, error) {
	return score.Read(c.Disk, c.Book, folders)
}

// Elapsed formats a duration for people.
func Elapsed(d time.Duration) string {
	if d < time.Minute {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

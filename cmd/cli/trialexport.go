package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments/budget"
	"privkern/experiments/dataset/table"
	"privkern/graphs/engine"
	"privkern/runner/execute/progress"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
	"privkern/runner/text"
)

// secureExport makes the noise of an export that of the operating system, and refuses
// flags that contradict one.
func (o *trialOptions) secureExport(cmd *cobra.Command) error {
	flags := cmd.Flags()
	switch {
	case !flags.Changed("export"):
		return nil
	case flags.Changed("release"):
		return usagef("--export and --release: a release has a guarantee, an export has none; give one of them")
	case flags.Changed("rng") && !o.secure:
		return usagef("--export: who knows the seed can take the noise off again; leave out --rng seeded")
	}
	o.secure = true
	return nil
}

// checkExport refuses an export that is none or could not be written, before any data
// are read.
func (a *app) checkExport(e *experiment.Experiment, params experiment.Params, o trialOptions) error {
	switch {
	case e.Export == nil && e.Release != nil:
		return usagef("%s has no export, but a release, which has a guarantee: --release FILE", e.Name)
	case e.Export == nil && e.Instead != "":
		return usagef("%s has no export: %s", e.Name, e.Instead)
	case e.Export == nil:
		return usagef("%s has no export; these have: %s", e.Name, listOrNone(a.Experiments.WithExport()))
	case o.export == "":
		return usagef("--export names no file")
	}
	if e.CheckExport != nil {
		if err := e.CheckExport(params); err != nil {
			return usagef("--export: %w", err)
		}
	}
	return a.checkNewFileOf("export", o.export, e.Written)
}

func listOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// ofExports reports whether a flag of releases is one of registered exports, too.
func ofExports(flag string) bool { return flag == "budget-file" || flag == "no-budget" }

// register opens the ledger in which an export is registered.
func (f *releaseFlags) register(a *app, o *trialOptions) error {
	switch {
	case f.noBudget && f.budgetFile != "":
		return usagef("--no-budget registers nothing; leave --budget-file out")
	case f.noBudget:
		return nil
	}
	var err error
	if o.ledger, err = a.openLedger(f.budgetFile); err != nil {
		return err
	}
	return o.ledger.Check() // before anything is computed
}

// register is a ledger as the register of the exports of a job.
type register struct {
	*budget.Ledger
	experiment string
	folders    map[string]string
	reading    table.Reading
	entered    bool
	refused    error
}

// Register implements [experiment.Exports].
func (r *register) Register(s experiment.Spending, add func([]json.RawMessage) (json.RawMessage, error)) error {
	s.Experiment = r.experiment
	data, err := dataOf(s, r.folders, r.reading)
	if err == nil {
		err = r.Ledger.Register(s, data, add)
	}
	r.entered, r.refused = err == nil, err
	return err
}

// export runs the job's export and writes its files.
func (a *app) export(
	ctx context.Context, e *experiment.Experiment, job trial.Job, o trialOptions,
) (*record.Record, error) {
	watched := progress.Watch(a.progressOptions(), e.Name)
	kept := &register{Ledger: o.ledger, experiment: e.Name, folders: job.Folders,
		reading: *experiment.SettingsIn[table.Reading](job.Params)}
	var exports experiment.Exports
	if o.ledger != nil {
		exports = kept
	}
	rec, exported, err := trial.Export(ctx, e, job, exports, engine.Opener, watched.Inner)
	watched.Close()
	var registered string
	if kept.entered {
		registered = "; it stays registered, and repeated it is the same"
	}
	switch {
	case errors.Is(err, context.Canceled):
		return nil, err
	case kept.refused != nil:
		return nil, fmt.Errorf("nothing is exported: %w", kept.refused)
	case err != nil:
		return nil, statusError{exitTrials, fmt.Sprintf("%s failed, and nothing is exported: %s%s", e.Name, err, registered)}
	}
	if err := store.WriteRelease(disk.System, o.export, rec, exported); err != nil {
		return nil, fmt.Errorf("%w%s", err, registered)
	}
	if exported.Told != "" {
		a.say("%s", exported.Told)
	}
	what := text.Count(len(exported.Rows), "row")
	if exported.Model != nil {
		what = "a model for run predict"
	}
	a.say("%s exported in %s; %[2]s%s says what it protects and what it does not", what, o.export, store.DescriptionSuffix)
	return rec, nil
}

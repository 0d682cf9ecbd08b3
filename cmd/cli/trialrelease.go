package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/pflag"

	"privkern/experiments/budget"
	"privkern/experiments/dataset/table"
	privacy "privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/execute/progress"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
	"privkern/runner/text"
)

// releaseFlags are those of a release alone.
type releaseFlags struct {
	tuning, budgetFile, account, newPeople string
	showAccount, noBudget, allowLargeDelta bool
}

func (f *releaseFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.tuning, "tuning", string(experiment.TuningUnaccounted), "release: where its hyper-parameters "+
		"came from: public, unaccounted, or the file of a choice that cloaking/selection or dpgp/hyperparameters released")
	flags.Var((*budgetFile)(&f.budgetFile), "budget-file", "release or export: "+budgetFileUsage)
	flags.StringVar(&f.account, "account", "", "release: book on the account of this name, a new one where no other "+
		"knows the data; its number or label name it, too")
	flags.StringVar(&f.account, "budget-id", "", "release: the same as --account")
	flags.StringVar(&f.newPeople, "new-people", "", "release: the reason why data that other accounts know are of other "+
		"people; it is kept in the ledger alone")
	flags.BoolVar(&f.showAccount, "show-account", false, "release: print the accounts that are charged, and their rest, "+
		"on standard error, for your eyes alone")
	flags.BoolVar(&f.noBudget, "no-budget", false, "release or export: book or register nothing; its description says so")
	flags.BoolVar(&f.allowLargeDelta, "allow-large-delta", false, "release: allow delta of 1/n and more, for n rows")
}

// names are the flags' names.
func (f *releaseFlags) names() []string {
	return []string{"tuning", "budget-file", "account", "budget-id", "new-people", "show-account", "no-budget",
		"allow-large-delta"}
}

// check refuses flags that are given without a value, as by an empty variable of a shell.
func (f *releaseFlags) check(flags *pflag.FlagSet) error {
	for _, name := range f.names() {
		if flags.Changed(name) && flags.Lookup(name).Value.String() == "" {
			return usagef("--%s is empty; give a value or leave it out", name)
		}
	}
	if flags.Changed("account") && flags.Changed("budget-id") {
		return usagef("--account and --budget-id are the same; give one of them")
	}
	return nil
}

// into sets the options of a release, and refuses invalid ones.
func (f *releaseFlags) into(a *app, o *trialOptions, e *experiment.Experiment, params experiment.Params) error {
	o.allowLargeDelta, o.showAccount = f.allowLargeDelta, f.showAccount
	o.account = budget.Request{Account: f.account, NewPeople: f.newPeople}
	o.releaseOptions.Unbooked = f.noBudget
	switch tuning := experiment.Tuning(f.tuning); tuning {
	case experiment.TuningPublic, experiment.TuningUnaccounted:
		o.releaseOptions.Tuning = tuning
	default:
		chosen, err := privacy.ReadConfiguration(f.tuning, a.Experiments)
		if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(f.tuning, "./") {
			err := usagef("--tuning is %q; use public, unaccounted or the file of a released choice", f.tuning)
			near := experiment.Nearest(f.tuning,
				[]string{string(experiment.TuningPublic), string(experiment.TuningUnaccounted)})
			if near != "" {
				err = usagef("--tuning is %q; did you mean %q?", f.tuning, near)
			}
			return err
		}
		if err == nil {
			err = chosen.Matches(e, params)
		}
		if err != nil {
			return usagef("--tuning: %w", err)
		}
		o.releaseOptions.Tuning = experiment.TuningBooked
	}
	if f.noBudget && (f.budgetFile != "" || f.account != "" || f.newPeople != "" || f.showAccount) {
		return usagef("--no-budget books nothing; leave --budget-file, --account, --new-people and --show-account out")
	}
	if f.noBudget {
		return nil
	}
	if err := o.account.Check(); err != nil {
		return usageError{err}
	}
	var err error
	if o.ledger, err = a.openLedger(f.budgetFile); err != nil {
		return err
	}
	return o.ledger.Check() // before anything is computed
}

// checkRelease refuses a release that would protect nobody or could not be
// written, before any data are read.
func (a *app) checkRelease(e *experiment.Experiment, params experiment.Params, o trialOptions) error {
	switch {
	case e.Release == nil && e.Instead != "":
		return usagef("%s has no release: %s", e.Name, e.Instead)
	case e.Release == nil:
		return usagef("%s has no release; these have: %s", e.Name, strings.Join(a.Experiments.WithRelease(), ", "))
	case !o.secure:
		return usagef("--release: noise from a seed protects nobody; add --rng secure")
	case o.release == "":
		return usagef("--release names no file")
	}
	if e.CheckRelease != nil {
		if err := e.CheckRelease(params); err != nil {
			return usagef("--release: %w", err)
		}
	}
	if e.Forms != nil {
		return checkNewFile("release", o.release, e.Forms(params))
	}
	return a.checkNewFileOf("release", o.release, e.Written)
}

// checkNewFileOf is checkNewFile with a warning for a file of a flag whose name
// ends like that of another form.
func (a *app) checkNewFileOf(flag, path string, written experiment.Form) error {
	if err := checkNewFile(flag, path, nil); err != nil {
		return err
	}
	if other := store.CheckEnding(path, written); other != nil {
		a.complain("warning: --%s: %v", flag, other)
	}
	return nil
}

// checkNewFile refuses a file of a flag that is there, that cannot be written, or whose name
// asks for none of the forms.
func checkNewFile(flag, path string, forms []experiment.Form) error {
	err := store.CheckReleasePath(disk.System, path, forms, experiment.Size{})
	var exists *store.ExistsError
	var form *store.FormError
	if errors.As(err, &exists) || errors.As(err, &form) {
		return usagef("--%s: %w", flag, err)
	}
	return err
}

// release runs the job's release and writes its files.
func (a *app) release(
	ctx context.Context, e *experiment.Experiment, job trial.Job, o trialOptions,
) (*record.Record, error) {
	watched := progress.Watch(a.progressOptions(), e.Name)
	options := o.releaseOptions
	options.Open = engine.Opener
	var warning, spent string
	var refused error
	var booked []budget.Booking
	options.Book = func(s experiment.Spending) error {
		s.Experiment = e.Name
		if warning, refused = privacy.CheckDelta(s, o.allowLargeDelta); refused != nil {
			return refused
		}
		if !o.unwritten {
			refused = room(e, job.Params, o.release, s.Size)
		}
		if refused == nil && !options.Unbooked {
			if booked, refused = o.book(s, job); refused == nil {
				spent = "; its budget is spent all the same (run budget list): another attempt spends another"
			}
		}
		return refused
	}
	rec, rel, err := trial.Release(ctx, e, job, options, watched.Inner)
	watched.Close()
	if o.showAccount {
		a.showBookings(booked)
	}
	switch {
	case errors.Is(err, context.Canceled):
		if spent != "" {
			a.complain("the release was interrupted%s", spent)
		}
		return nil, err
	case refused != nil:
		return nil, refused
	case err != nil:
		return nil, statusError{exitTrials, fmt.Sprintf("%s failed, and nothing is released: %s%s", e.Name, err, spent)}
	}
	if warning != "" {
		rec.Warnings = append(rec.Warnings, warning)
	}
	if o.unwritten {
		return rec, nil
	}
	if err := store.WriteRelease(disk.System, o.release, rec, rel); err != nil {
		return nil, fmt.Errorf("%w%s", err, spent)
	}
	if rel.Model != nil && (rel.Columns == nil || experiment.FormOf(o.release) == experiment.FormModel) {
		what := "a model released in %s, for run predict; %[1]s%s says what is protected"
		if _, choice := rel.Model.(*privacy.Configuration); choice {
			what = "a choice released in %s, for --tuning; %[1]s%s says what is protected"
		}
		a.say(what, o.release, store.DescriptionSuffix)
		return rec, nil
	}
	a.say("%s released in %s; %s%s says what is protected", text.Count(len(rel.Rows), "row"), o.release,
		strings.TrimRight(o.release, "/"), store.DescriptionSuffix)
	return rec, nil
}

// book books a release on the accounts of its data.
func (o *trialOptions) book(s experiment.Spending, job trial.Job) ([]budget.Booking, error) {
	data, err := dataOf(s, job.Folders, *experiment.SettingsIn[table.Reading](job.Params))
	if err != nil {
		return nil, err
	}
	return o.ledger.Book(s, data, o.account)
}

// dataOf describes the data of a release or an export, and its points.
func dataOf(s experiment.Spending, folders map[string]string, reading table.Reading) (budget.Data, error) {
	data, err := budget.DataOf(s.Dataset, folders[s.Dataset], reading, s.Person)
	if err == nil && s.Points != "" {
		var points budget.Data
		points, err = budget.DataOf(s.Points, folders[s.Points], reading.In(s.Dataset), "")
		data = data.At(points)
	}
	return data, err
}

// showBookings prints the accounts that a release was charged to, for the operator alone.
func (a *app) showBookings(booked []budget.Booking) {
	for _, b := range booked {
		how := "found by " + b.Found
		if b.Found == budget.Opened {
			how = "opened now"
		}
		a.complain("account %d (%s, unit %s), %s: spent %s, limit %s, left %s", b.Number, b.Account, b.Unit, how,
			amount(b.Spent), amount(b.Limit), leftOf(b.Report))
	}
}

// room refuses a release for which there is no room on the disk, before anything is spent.
func room(e *experiment.Experiment, params experiment.Params, path string, size experiment.Size) error {
	var forms []experiment.Form
	if e.Forms != nil {
		forms = e.Forms(params)
	}
	if err := store.CheckReleasePath(disk.System, path, forms, size); err != nil {
		return fmt.Errorf("nothing is released: %w", err)
	}
	return nil
}

package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privkern/experiments/compare/choose"
	"privkern/graphs/backend"
	"privkern/runner/experiment"
	"privkern/runner/text"
)

// choiceFlags are those of a private choice among the methods of a comparison.
type choiceFlags struct {
	releaseFlags
	choose       bool
	release, rng string
	share, held  float64

	others []string // flags of a comparison that a choice does not have
}

// add adds them to those of a comparison, which are there.
func (f *choiceFlags) add(flags *pflag.FlagSet) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "ignore-memory" {
			f.others = append(f.others, flag.Name)
		}
	})
	flags.BoolVar(&f.choose, "choose", false, "choose one method privately, by part of the rows, and book what that "+
		"costs; requires --rng secure")
	flags.StringVar(&f.release, "release", "", "choice: release the chosen method from all rows to this new file, within "+
		"the same epsilon and delta")
	flags.StringVar(&f.rng, "rng", "seeded", "choice: source of all that is random: secure (the operating system)")
	flags.Float64Var(&f.share, "share", choose.DefaultShare, "choice: share of the budget (of mu^2) that it takes where "+
		"a release follows")
	flags.Float64Var(&f.held, "held-out", choose.DefaultHeldOut, "choice: share of the rows, or persons, by which is "+
		"chosen among methods that are trained on the others")
	f.releaseFlags.add(flags)
}

// own are the names of the flags of a choice.
func (f *choiceFlags) own() []string { return append(f.names(), "release", "rng", "share", "held-out") }

// check refuses flags of a choice without one, and a choice with flags that it does not have.
func (f *choiceFlags) check(cmd *cobra.Command) error {
	flags := cmd.Flags()
	if !f.choose {
		for _, name := range f.own() {
			if flags.Changed(name) {
				return usagef("--%s is for a private choice: add --choose", name)
			}
		}
		return nil
	}
	for _, name := range f.others {
		if flags.Changed(name) {
			return usagef("--%s is for a comparison; with --choose leave it out", name)
		}
	}
	switch {
	case f.rng != "secure":
		return usagef("--choose: noise from a seed protects nobody; add --rng secure")
	case flags.Changed("share") && !flags.Changed("release"):
		return usagef("--share: without --release FILE the choice takes all of the budget; leave --share out")
	}
	return f.releaseFlags.check(flags)
}

// chooseMethod chooses one of the methods of a comparison, and releases it where a file is named.
func (a *app) chooseMethod(cmd *cobra.Command, args []string, metric string, ignoreMemory bool, f *choiceFlags) error {
	contest, err := a.comparison(args, nil)
	if err != nil {
		return err
	}
	releases := cmd.Flags().Changed("release")
	c, err := choose.New(contest, choose.Options{Share: f.share, HeldOut: f.held, Measure: metric,
		Alone: !releases})
	if err != nil {
		return usageError{err}
	}
	for _, note := range contest.Notes {
		a.complain("note: %s", note)
	}
	e, params := c.Experiment()
	o := trialOptions{backend: backend.Auto, dtype: experiment.Float64, secure: true, release: f.release,
		unwritten: !releases, ignoreMemory: ignoreMemory}
	if releases {
		if err := a.checkRelease(e, params, o); err != nil {
			return err
		}
	}
	if err := f.into(a, &o, e, params); err != nil {
		return err
	}
	given := slices.ContainsFunc([]string{"tuning", "metric", "share", "held-out"}, cmd.Flags().Changed)
	if !given && c.Defaults() {
		o.releaseOptions.Tuning = experiment.TuningIncluded
	}
	o.summarise = func() error { return a.printFolded(c.Text(f.release, text.Quote)) }
	return a.runTrial(cmd, e, params, o)
}

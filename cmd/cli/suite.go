package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments/compare"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

// suiteOf returns the suite of comparisons that is the only argument.
func suiteOf(args []string) (compare.Suite, bool) {
	if len(args) != 1 {
		return compare.Suite{}, false
	}
	return compare.SuiteOf(args[0])
}

// suiteNames are the names of the suites of comparisons.
func suiteNames() (out []string) {
	for _, s := range compare.Suites() {
		out = append(out, s.Name)
	}
	return out
}

// refuseSuites refuses suites of comparisons among other tables: their results have a form of their own.
func refuseSuites(names []string) error {
	for _, name := range names {
		if slices.Contains(suiteNames(), name) {
			return usagef("%s is a list of comparisons, which is printed in a form of its own: give it alone", name)
		}
	}
	return nil
}

// suite settles the comparisons of a suite, as those of a plan that has them; nil for new ones.
func (a *app) suite(s compare.Suite, p *plan.Plan) (out []*compare.Contest, err error) {
	for i, args := range s.Comparisons {
		var from *planned
		if p != nil {
			from = &planned{p, i}
		}
		c, err := a.comparison(args, from)
		var missing plan.MissingDataset
		switch {
		case errors.As(err, &missing):
			return nil, &skippedError{fmt.Errorf("%s was skipped, so that nothing of it was computed\n  %w", s.Name, err)}
		case err != nil:
			return nil, err
		}
		c.Published = true
		out = append(out, c)
	}
	return out, nil
}

// runSuite runs the trials of a suite, and prints its comparisons.
func (a *app) runSuite(cmd *cobra.Command, o *runOptions, shard plan.Shard, seeds []int64, format tables.Format,
	s compare.Suite) error {
	contests, err := a.suite(s, nil)
	if err != nil {
		return err
	}
	if seeds == nil {
		text := s.Seeds
		if o.attack {
			text = defaultAttacks
		}
		if seeds, err = sweep.ParseSeeds(text); err != nil {
			return err
		}
	}
	all, err := o.attacked(seeds, contests...)
	if err != nil {
		return err
	}
	return a.launch(cmd, *o, shard, format, func() (*plan.Draft, error) {
		name := "table-" + strings.ReplaceAll(s.Name, "/", "-")
		if o.attack {
			name += "-attack"
		}
		d, err := listedDraft(name, s.Title, []string{s.Name}, all, seeds, o.dtype)
		if err == nil {
			d.Named = true
		}
		return d, err
	})
}

// originOf states the number of trials with a record, their processor time, the programs and machines that computed
// them, and their data.
func originOf(p *plan.Plan, records []*record.Record) string {
	n, seconds, by := 0, 0.0, map[string]bool{}
	for _, rec := range records {
		if rec == nil {
			continue
		}
		n, seconds = n+1, seconds+rec.Timing.CPUS
		made := rec.Provenance
		by[fmt.Sprintf("privkern %s (revision %s, %s) on %s", made.Version, made.Revision, made.Go, made.CPU)] = true
	}
	var data []string
	for _, name := range p.DatasetNames() {
		data = append(data, fmt.Sprintf("%s with the SHA-256 %.12s...", name, p.Datasets[name]))
	}
	return fmt.Sprintf("%s, %.0f s of processor time, by %s; %s", text.Count(n, "trial"), seconds,
		strings.Join(slices.Sorted(maps.Keys(by)), " and "), strings.Join(data, ", "))
}

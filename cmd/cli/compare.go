package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments/attack"
	"privkern/experiments/compare"
	"privkern/experiments/page"
	"privkern/runner/execute/machine"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/show"
	"privkern/runner/show/report"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

const metricUsage = "what methods are compared by: rmse (default), mae or r2 of numbers; accuracy (default), auc, " +
	"balanced_accuracy or log_loss of classes"

func (a *app) compareCommand() *cobra.Command {
	var o runOptions
	var f choiceFlags
	cmd := &cobra.Command{
		Use:   "compare dataset=DATA output=COLUMN epsilon=E1,E2 delta=D [name=value ...]",
		Short: "Compare the private methods on your own data",
		Long: `Judge every method that fits your data at the same unit and the same (epsilon, delta), on
the same splits, and print which is best, by how much, and the command that releases it.

The trials are those of a sweep: Ctrl-C stops them and the same command goes on, --jobs,
--shard and --executor slurm share them out, and run report OUT prints the results again.
Each seed is a split, which holds out a fifth of the rows.

  epsilon=.3,1,3   the methods are compared at each of these
  unit=row         what is protected: row (default), or output, where inputs are public;
                   person with person=COLUMN rows_per_person=M. Methods that protect less
                   are shown in a block of their own and not ranked with the others
  methods=A,B      only these; run list METHOD describes one
  task=regression  or classification; without it the output decides
  name=value       any other setting goes to the methods that have it, as in run trial

The best method is marked *, and ~ those not distinguished from it by the corrected
resampled t-test (Nadeau and Bengio 2003; Holm over the methods, 5 %). A method that
fails on a split is shown as failed and not averaged.

With --attack each method that protects rows or persons is attacked as by run attack, on
fits to random halves, of which each seed is one more: the table has the area under the
curve of the best membership attack, and the largest that the guarantee allows.

The scores are computed from private rows without noise. They are for your eyes alone;
the release that follows does not cover that you chose by them. docs/compare.md leads
from a file to a decision to a release.

With --choose the program chooses, and prints no score. Two fifths of the rows (or
persons), drawn at random, are held out; each method that protects the unit is trained on
the others with noise; and one is drawn by the exponential mechanism, by its bounded loss
on those held out: --metric rmse or mae of numbers, accuracy or log_loss of classes. With
--release FILE the chosen method is released from all rows. Choice and release are within
the one epsilon and delta together, which are booked once, as those of run trial --release
are; without it the choice takes all of them.`,
		Example: `  run compare dataset=csv:my.csv inputs=dose+age output=response low=0 high=10 \
      input_low=0,18 input_high=20,90 epsilon=.3,1,3 delta=1e-6
  run compare dataset=csv:my.csv output='kind[a|b|c]' input_low=0 input_high=1 epsilon=1 \
      delta=1e-6 --seeds 0..19
  run compare dataset=csv:my.csv inputs=age output=height low=40 high=200 input_low=0 \
      input_high=90 epsilon=1 delta=1e-5 unit=output --metric mae --output csv
  run compare dataset=csv:my.csv inputs=dose output=response low=0 high=10 input_low=0 \
      input_high=20 epsilon=1 delta=1e-6 --choose --rng secure --release model.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if f.choose {
				return a.chooseMethod(cmd, args, o.metric, o.ignoreMemory, &f)
			}
			if o.seeds == "" && !cmd.Flags().Changed("seeds") {
				if o.seeds = defaultSplits; o.attack {
					o.seeds = defaultAttacks
				}
			}
			shard, seeds, format, err := o.validate(cmd)
			if err != nil {
				return err
			}
			c, err := a.comparison(args, nil)
			if err != nil {
				return err
			}
			if _, err := compare.MeasureOf(c.Task, o.metric); err != nil {
				return usagef("--metric: %w", err)
			}
			a.warnOfMemory(c)
			all, err := o.attacked(seeds, c)
			if err != nil {
				return err
			}
			return a.launch(cmd, o, shard, format, func() (*plan.Draft, error) {
				return listedDraft("compare", c.Title(), args, all, seeds, o.dtype)
			})
		},
	}
	o.addFlags(cmd, "float64 or float32 (default float64)")
	cmd.Flags().Lookup("seeds").Usage = "seeds, each of which is a split (default " + defaultSplits + ")"
	o.addAttack(cmd)
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&o.metric, "metric", "", metricUsage)
	return cmd
}

// Seeds of a comparison that names none.
const (
	defaultSplits  = "0..9"
	defaultAttacks = "0..31" // with --attack
)

// addAttack adds the flag of comparisons whose methods are attacked.
func (o *runOptions) addAttack(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.attack, "attack", false, "of a comparison: attack the methods, too (default seeds "+
		defaultAttacks+")")
}

// attacked are comparisons and, where they are asked for, attacks on their methods.
func (o *runOptions) attacked(seeds []int64, contests ...*compare.Contest) ([]*compare.Contest, error) {
	if !o.attack {
		return contests, nil
	}
	if err := enough(seeds); err != nil {
		return nil, err
	}
	all := contests
	for _, c := range contests {
		plans, _ := attack.Each(c)
		for _, p := range plans {
			all = append(all, p.Contest)
		}
	}
	if len(all) == len(contests) {
		return nil, usagef("--attack: no method that takes part protects rows and can be attacked; leave it out")
	}
	return all, nil
}

// comparison settles the comparison that arguments ask for, as that of a plan that has it; nil for a new one.
func (a *app) comparison(args []string, from *planned) (*compare.Contest, error) {
	request, err := compare.ParseRequest(args)
	return settled(a, request, from, err, compare.New)
}

// planned is the comparison or attack at an index of a plan.
type planned struct {
	*plan.Plan
	at int
}

// facts are those of the data that the plan has; nil for none.
func (p *planned) facts() (out *compare.Facts, err error) {
	if p == nil || p.at >= len(p.Facts) {
		return nil, nil //nolint:nilnil // the data have them
	}
	if err := json.Unmarshal(p.Facts[p.at], &out); err != nil {
		return nil, fmt.Errorf("the facts of the plan: %w", err)
	}
	return out, nil
}

// settled settles a request, which failed to be read with an error, by the facts of its plan, or else on the data that
// it names.
func settled[T any](a *app, r *compare.Request, from *planned, err error,
	settle func(*experiment.Registry, *compare.Request, string) (T, error)) (out T, _ error) {
	if err != nil {
		return out, usageError{err}
	}
	if r.Facts, err = from.facts(); err != nil {
		return out, err
	}
	var data plan.Dataset
	if r.Facts == nil {
		name := r.Text("dataset")
		if data = a.datasets().Get(name); data.Err != nil {
			return out, data.Err
		}
		if from != nil && data.Digest != from.Datasets[name] {
			return out, fmt.Errorf("%s is not the file of the trials (SHA-256 %.12s, in the plan %.12s), which is read for a "+
				"plan of an earlier version: run this where that file is", name, data.Digest, from.Datasets[name])
		}
	}
	out, err = settle(a.Experiments, r, data.Folder)
	if _, ok := errors.AsType[*compare.RefusedError](err); ok {
		err = usageError{err}
	}
	return out, err
}

// largeTrial is the memory of a trial in bytes, above which a comparison warns before it starts.
const largeTrial = 2 << 30

// warnOfMemory names the methods of a comparison with large trials, by their estimates.
func (a *app) warnOfMemory(c *compare.Contest) {
	var large []string
	for _, e := range c.Entries {
		var need int64
		for _, p := range e.Params {
			if e.Definition.Memory != nil {
				need = max(need, e.Definition.Memory(p))
			}
		}
		if need > largeTrial {
			large = append(large, fmt.Sprintf("%s %s", e.Experiment, machine.Gibibytes(need)))
		}
	}
	if large != nil {
		a.complain("warning: trials of these methods take much memory, and minutes: %s; methods= names others",
			strings.Join(large, ", "))
	}
}

// listedDraft is the draft of the trials of comparisons, and of attacks on their methods, by the name of the folder, a
// title and the arguments of the command.
func listedDraft(name, title string, args []string, all []*compare.Contest, seeds []int64, dtype string) (*plan.Draft,
	error) {
	var settings []sweep.Assignment
	var facts []json.RawMessage
	seen := map[*compare.Facts]bool{} // attacks share those of the comparison
	for _, c := range all {
		for _, e := range c.Entries {
			for _, p := range e.Params {
				settings = append(settings, sweep.Assignment{Experiment: e.Definition, Params: p})
			}
		}
		if seen[c.Facts] {
			continue
		}
		seen[c.Facts] = true
		raw, err := json.Marshal(c.Facts)
		if err != nil {
			return nil, err
		}
		facts = append(facts, raw)
	}
	d := plan.Listed(name, title, args, settings, seeds, dtype)
	d.Facts = facts
	return d, nil
}

// judgedComparison is a comparison with its results, or several in a suite.
type judgedComparison struct {
	suite   *compare.Suite // nil for one
	results []*compare.Results
}

// refuted reports whether an attack on a method proves more than its guarantee allows.
func (j *judgedComparison) refuted() bool {
	return j != nil && slices.ContainsFunc(j.results, func(r *compare.Results) bool { return r.Refuted() })
}

// compared judges the results of a plan that is a comparison or several, by a metric, "" for their own, and gives them
// to its report; nil for other plans.
func (a *app) compared(r *show.Results, metric string) (*judgedComparison, error) {
	attacks := false
	if !listed(r.Plan, func(t plan.Trial) bool {
		attacked := attack.Is(t.Params)
		attacks = attacks || attacked
		return attacked || compare.Is(t.Experiment, t.Params)
	}) || onlyAttacks(r.Plan) {
		return nil, nil //nolint:nilnil // there is none
	}
	j, contests, err := a.contests(r.Plan)
	if err != nil {
		return nil, err
	}
	records, err := recordsOf(r)
	if err != nil {
		return nil, err
	}
	if j.suite != nil {
		metric = cmp.Or(metric, j.suite.Measure)
		j.suite.Notes = append(j.suite.Notes, originOf(r.Plan, records))
	}
	trials, seeds := trialsOf(r.Plan, records)
	for _, c := range contests {
		measure, err := compare.MeasureOf(c.Task, metric)
		if err != nil {
			return nil, usagef("--metric: %w", err)
		}
		results := c.Judge(trials, seeds, measure)
		if attacks {
			if err := attack.Attacked(c, trials, results); err != nil {
				return nil, err
			}
		}
		j.results = append(j.results, results)
		r.Comparisons = append(r.Comparisons, pageOf(results.Page()))
	}
	return j, nil
}

// rivals tells which settings of a comparison are ranked, for the best of its run; nil for another plan. Attacks on
// methods are trials of half the rows.
func rivals(h *plan.Head) func(name, params string) bool {
	methods := compare.Ranking(h.Overrides, h.Experiments())
	if len(h.Sources)+len(h.Tables) > 0 || methods == nil {
		return nil
	}
	return func(name, params string) bool {
		var s struct{ Membership bool }
		return slices.Contains(methods, name) && json.Unmarshal([]byte(params), &s) == nil && !s.Membership
	}
}

// listed reports whether a plan was made of arguments of the command line, and all of its trials are of a kind.
func listed(p *plan.Plan, kind func(plan.Trial) bool) bool {
	return len(p.Sources)+len(p.Tables) == 0 &&
		!slices.ContainsFunc(p.Trials, func(t plan.Trial) bool { return !kind(t) })
}

// contests settles the comparisons of a plan.
func (a *app) contests(p *plan.Plan) (*judgedComparison, []*compare.Contest, error) {
	if suite, ok := suiteOf(p.Overrides); ok {
		contests, err := a.suite(suite, p)
		return &judgedComparison{suite: &suite}, contests, err
	}
	c, err := a.comparison(p.Overrides, &planned{Plan: p})
	return &judgedComparison{}, []*compare.Contest{c}, err
}

// pageOf is a page for a report.
func pageOf(p *page.Page) report.Comparison {
	out := report.Comparison{Caption: p.Caption, Header: p.Header, Rows: p.Rows, Legend: p.Legend,
		Sentences: p.Sentences, Remarks: p.Remarks, Looking: p.Looking}
	for _, r := range p.Releases {
		out.Releases = append(out.Releases, report.Release{Title: r.Title, Command: text.Command(r.Arguments, page.Width)})
	}
	return out
}

// write writes the results in a format, text in lines of a width.
func (j *judgedComparison) write(w io.Writer, f page.Format, width int) error {
	if j.suite != nil {
		return compare.WriteSuite(w, *j.suite, j.results, f, text.Command, width)
	}
	return j.results[0].Write(w, f, text.Command, width)
}

// printForms writes results into files of all formats, with a name, and prints them in one; write writes them in a
// format, text in lines of a width.
func (a *app) printForms(r *show.Results, name string, format tables.Format,
	write func(w io.Writer, f page.Format, width int) error) error {
	err := write(a.out, page.Format(format), min(page.Width, columns(a.out)))
	for _, f := range tables.Formats {
		if f == string(tables.FormatText) {
			continue
		}
		file := func(w io.Writer) error { return write(w, page.Format(f), page.Width) }
		if fileErr := r.WriteComparison(name+tables.Format(f).Extension(), file); fileErr != nil {
			return errors.Join(err, fileErr)
		}
	}
	return err
}

// recordsOf are the records of the trials of a plan, nil where there is none.
func recordsOf(r *show.Results) ([]*record.Record, error) {
	out := make([]*record.Record, len(r.Plan.Trials))
	for i, t := range r.Plan.Trials {
		rec, _, err := r.Store.Get(t.Key)
		if err != nil {
			return nil, err
		}
		out[i] = rec
	}
	return out, nil
}

// trialsOf are the trials of a plan with their results, by their records, and its seeds in their order.
func trialsOf(p *plan.Plan, records []*record.Record) (trials []compare.Trial, seeds []int64) {
	for i, t := range p.Trials {
		if !slices.Contains(seeds, t.Seed) {
			seeds = append(seeds, t.Seed)
		}
		rec := records[i]
		trial := compare.Trial{Experiment: t.Experiment, Params: t.Params, Seed: t.Seed}
		switch {
		case rec == nil:
			trial.Failure = "it has not run"
		case rec.Status != record.OK:
			trial.CPU, trial.Failure = rec.Timing.CPUS, *rec.Error
		default:
			trial.CPU, trial.Metrics, trial.Warnings = rec.Timing.CPUS, rec.Metrics, rec.Warnings
			if trial.Series = rec.SeriesValues(); rec.Privacy != nil {
				trial.Simulated = rec.Privacy.Simulated
			}
		}
		trials = append(trials, trial)
	}
	return trials, seeds
}

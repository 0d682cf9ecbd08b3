package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments/dataset"
	"privkern/experiments/learn/bayesopt"
	"privkern/graphs/engine"
	"privkern/runner"
	"privkern/runner/execute/schedule"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/search"
	"privkern/runner/record"
	"privkern/runner/show/summary"
	"privkern/runner/show/tables"
	"privkern/runner/store"
	"privkern/runner/text"
)

// searchSettings is how many settings of a search its last table has.
const searchSettings = 10

// propose answers a question of a Bayesian search, on the processor: a point is one of few numbers.
func propose(ctx context.Context, q search.Question) ([][]float64, error) {
	e, err := engine.Open("cpu", experiment.Float64, 0)
	if err != nil {
		return nil, err
	}
	points, err := bayesopt.Propose(ctx, e, bayesopt.Question(q))
	return points, errors.Join(err, e.Close())
}

// takeRounds makes p the plan of the folder where that has rounds of the same search already. It refuses flags that a
// search does not have, and a budget that these rounds exceed.
func (a *app) takeRounds(dir string, w *plan.Draft, p *plan.Plan, data *plan.Datasets, o *runOptions) error {
	if w.Spec == nil {
		return nil
	}
	if o.shard != "" {
		return usagef("--shard: the next round of a search waits for all trials of a round; use --executor slurm, or " +
			"--plan-only and the parts of `run work`, round by round")
	}
	if _, err := store.Peek(a.Disk, dir, p, a.Experiments, o.replan); err != nil {
		return err
	}
	settings := map[record.SettingID]bool{}
	for _, t := range p.Trials {
		id, err := record.IDOfSetting(t.Experiment, t.Params)
		if err != nil {
			return err
		}
		settings[id] = true
	}
	if n := len(settings); n > w.Spec.Budget {
		return usagef("the budget is %s, and the search in %s has %d already: give at least that, or another "+
			"--out", text.Count(w.Spec.Budget, "setting"), dir, n)
	}
	if o.dryRun {
		a.say("round %d of a search of %s; the next ones follow from its results", len(p.Search.Rounds),
			text.Count(w.Spec.Budget, "setting"))
	}
	return p.Check(a.Experiments, data)
}

// freezeRound freezes a plan for run work. That of a search gets its next round where the last one has run.
func (a *app) freezeRound(ctx context.Context, dir string, w *plan.Draft, p *plan.Plan, data *plan.Datasets,
	replan bool, tags map[string]string) error {
	if err := a.Freeze(dir, p, replan, tags); err != nil {
		return err
	}
	if w.Spec != nil {
		grown, more, err := a.Grow(ctx, dir, w, data, propose)
		if err != nil {
			return err
		}
		*p = *grown
		left, err := a.left(dir, p, "", plan.Shard{Count: 1})
		if err == nil && left == 0 && !more {
			a.say("the search has ended: `run report %s` prints its results", dir)
			return nil
		}
		a.say("the plan has round %d of a search of %s; once it has run, the same command appends the next one",
			len(p.Search.Rounds), text.Count(w.Spec.Budget, "setting"))
	}
	a.say("the plan is in %s: %s on %s; `run work %[1]s` runs them", dir, text.Count(len(p.Trials), "trial"), p.Backend)
	return nil
}

// runRounds runs a plan, and that of a search round after round until its budget is spent. It ends early where trials
// are left without a result.
func (a *app) runRounds(cmd *cobra.Command, o *runOptions, dir string, w *plan.Draft, p *plan.Plan, data *plan.Datasets,
	runPlan func() (schedule.Summary, error)) (schedule.Summary, error) {
	defer func() { a.known = false }()
	for {
		sum, err := runPlan()
		if err != nil || w.Spec == nil || sum.NotRun+sum.Skipped > 0 {
			return sum, err
		}
		results, err := a.Searched(dir, w)
		if err != nil {
			return sum, err
		}
		a.say("%s", roundText(results))
		grown, more, err := a.Grow(cmd.Context(), dir, w, data, propose)
		if err != nil || !more {
			return sum, err
		}
		*p, o.replan, o.retry = *grown, false, "" // trials run again once
		a.known = true
	}
}

// roundText describes a search after its last round.
func roundText(r *runner.Searched) string {
	s := fmt.Sprintf("round %d: %d of %s", len(r.Plan.Search.Rounds), len(r.Rows), text.Count(r.Spec.Budget, "setting"))
	best := r.Best()
	if len(best) == 0 {
		return s + "; none has a result so far"
	}
	mean, _ := best[0].Metrics.Of(r.Spec.Metric)
	return fmt.Sprintf("%s; best %s %s (%s)", s, r.Spec.Metric, mean, settingText(r, best[0]))
}

// settingText writes the part of a setting that the search chose.
func settingText(r *runner.Searched, row *summary.Row) string {
	var parts []string
	params := r.Spec.Experiment.Whole(row.Params)
	for _, name := range r.Table(0).Varying {
		parts = append(parts, name+"="+experiment.FormatValue(params[name]))
	}
	return strings.Join(parts, " ")
}

// presentSearch prints the best settings of a search to people.
func (a *app) presentSearch(dir string, w *plan.Draft, format tables.Format) error {
	if w.Spec == nil || format != tables.FormatText {
		return nil
	}
	r, err := a.Searched(dir, w)
	if err != nil {
		return err
	}
	best := r.Best()
	if len(best) == 0 {
		return nil
	}
	t := r.Table(searchSettings)
	if _, err := fmt.Fprintf(a.out, "The best %d of %s (%s %s, %s)\n\n", len(t.Rows), text.Count(len(r.Rows), "setting"),
		r.Spec.Direction(), r.Spec.Metric, text.Count(len(r.Plan.Search.Rounds), "round")); err != nil {
		return err
	}
	if err := summary.Text(a.out, []*summary.MetricTable{t}, columns(a.out)); err != nil {
		return err
	}
	for _, d := range r.Spec.AtEnds(best[0].Params) {
		if _, err := fmt.Fprintf(a.out, "The best has %s at an end of its interval %s: a wider one may have better "+
			"settings.\n", d.Param.Name, d); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(a.out, optimism(r, best[0]))
	if err == nil && slices.ContainsFunc(r.Plan.DatasetNames(), dataset.IsOwn) {
		_, err = fmt.Fprintf(a.out, "\nChoosing by private data spends privacy that no record books: a release with these "+
			"settings has a weaker guarantee than it states. run compare --choose chooses privately.\n")
	}
	return err
}

// optimism states how far the best of a search may be believed, with a command that shows more. It is empty where the
// result depends on the settings alone.
func optimism(r *runner.Searched, best *summary.Row) string {
	e := r.Spec.Experiment
	s := fmt.Sprintf("The best of %d is optimistic: it was chosen by the numbers above. ", len(r.Rows))
	drawn := len(e.DistinctSeeds(best.Params, []int64{0, 1})) > 1
	switch {
	case len(r.Rows) < 2 || !drawn && len(r.Plan.Datasets) == 0:
		return ""
	case !drawn:
		return s + "Nothing is drawn at random in it: other data give an honest one.\n"
	case e.External:
		return s + "A file with these settings under params\nand other seeds, or other data, give an honest one.\n"
	}
	words := []string{"run", "trial", e.Name}
	for _, argument := range e.Arguments(best.Params) {
		words = append(words, text.Quote(argument))
	}
	return fmt.Sprintf("%sOther seeds, or other data, give an honest one:\n  %s --seed %d\n", s, strings.Join(words, " "),
		slices.Max(r.Spec.Seeds)+1)
}

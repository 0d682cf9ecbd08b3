package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"privkern/experiments"
	"privkern/graphs/engine"
	"privkern/runner/execute/bench"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
)

func (a *app) sharesCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "shares [EXPERIMENT...]",
		Short: "Measure how much of each experiment runs inside graphs",
		Long: `Run a trial of each experiment on the CPU with one worker, short ones several times,
and print how much of its processor time is inside runs of programs, which the CPU and
CUDA compute alike. --output markdown adds the work that stays outside, with the
reason: it is the page docs/shares.md.

Experiments whose data are not there are not run.`,
		Example: `  run bench shares
  run bench shares dpgp/inference privacygp/satellite
  run bench shares --output markdown > docs/shares.md`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cases, err := a.shareCases(args)
			if err != nil {
				return err
			}
			rows, err := bench.Shares(cmd.Context(), cases, engine.Opener, func(name string) { a.say("%s", name) })
			if err != nil {
				return err
			}
			switch output {
			case "json":
				return bench.SharesJSON(a.out, rows)
			case "markdown":
				h := host("")
				return bench.SharesMarkdown(a.out, h.CPU+" with "+h.BLAS, rows)
			}
			return bench.SharesText(a.out, rows)
		},
	}
	formats(cmd, &output, "table, json or markdown", "table", "json", "markdown")
	return cmd
}

// shareCases are the cases of the named experiments, of all without a name.
func (a *app) shareCases(names []string) ([]bench.ShareCase, error) {
	for _, name := range names {
		if _, err := a.Experiments.Lookup(name); err != nil {
			return nil, usageError{err}
		}
	}
	data := a.datasets()
	var cases []bench.ShareCase
	for _, share := range experiments.Shares() {
		if len(names) > 0 && !slices.Contains(names, share.Experiment) {
			continue
		}
		c, err := a.shareCase(share, data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", share.Experiment, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// shareCase finds the experiment and its data.
func (a *app) shareCase(share experiment.Share, data *plan.Datasets) (bench.ShareCase, error) {
	c := bench.ShareCase{Share: share}
	var err error
	if c.Of, err = a.Experiments.Lookup(share.Experiment); err != nil {
		return c, err
	}
	params, err := a.resolveArguments(c.Of, share.Settings)
	if err != nil {
		return c, err
	}
	t, folders, missing, err := plan.Single(sweep.Assignment{Experiment: c.Of, Params: params}, data,
		plan.Options{Backend: "cpu", DType: experiment.Float64})
	if err != nil {
		return c, err
	}
	c.Job = trial.Job{Key: t.Key, Identity: t.Identity, Workers: 1, Folders: folders}
	if missing != nil {
		c.Missing = missing.Error()
	}
	return c, nil
}

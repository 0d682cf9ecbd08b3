package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"privkern/runner"
	"privkern/runner/execute/schedule"
)

func (a *app) workCommand() *cobra.Command {
	var o workOptions
	cmd := &cobra.Command{
		Use:   "work FOLDER",
		Short: "Run the trials of a plan frozen in an output folder",
		Long: `Run those trials of the plan in an output folder that have no result yet, or a
part of them, on the backend of the plan. The folder is one that run sweep made;
the sweep file is not needed. The tasks of a cluster run this command. It makes no
tables; run report FOLDER makes them when all parts have run. While trials run, it
rewrites report.html as run sweep does.

Part i/n consists of the trials i, i+n, i+2n, ... of the plan, or with --only of
its timed or untimed trials, so that timed trials can have whole nodes. The logs
of parts are in FOLDER/logs. See run help clusters and run help exit-codes.`,
		Example: `  run work /shared/mine --shard 2/8
  run work /shared/mine --shard "$((JOB_COMPLETION_INDEX+1))/8" --timeout 1h
  run work /shared/mine --only timed --shard 1/2
  run work /shared/mine --retry failed`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			shard, err := o.validate(cmd)
			if err == nil {
				err = o.validateOnly(cmd)
			}
			if err != nil {
				return err
			}
			spareMemory()
			data := a.datasets()
			p, err := a.FrozenPlan(args[0], data)
			if err != nil {
				return err
			}
			o.backend = p.Backend
			if err := a.ready(cmd, &o, shard, args[0], p); err != nil {
				return err
			}
			log := "log.jsonl"
			if shard.Count > 1 || o.only != "" {
				// Not every shared file system appends whole lines from many machines.
				name := fmt.Sprintf("%d-of-%d.jsonl", shard.Index+1, shard.Count)
				if o.only != "" {
					name = o.only + "-" + name
				}
				log = filepath.Join("logs", name)
			}
			sum, err := a.run(cmd.Context(), runner.SweepRun{Dir: args[0], Plan: p}, o.describeDevices(), log,
				a.local(o, shard, data))
			if err != nil {
				return err
			}
			a.settleReport(args[0])
			a.suspectPart(args[0], shard)
			return a.outcome(sum, p, data)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.only, onlyFlag, "", "run only these trials: timed or untimed")
	return cmd
}

const onlyFlag = "only"

// validateOnly refuses wrong values of --only.
func (o *workOptions) validateOnly(cmd *cobra.Command) error {
	if err := notEmpty(cmd, onlyFlag); err != nil || o.only == "" {
		return err
	}
	return oneOf(onlyFlag, o.only, string(schedule.TimedTrial), string(schedule.UntimedTrial))
}

package main

import "github.com/spf13/cobra"

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit statuses mean",
		Long: `Exit statuses:

  0    all well (a trial that is skipped for want of data is no failure)
  1    an error: a file, a folder or a device could not be used
  2    usage: an unknown command, flag, experiment, parameter or table, a
       mistake in a sweep file, or an output folder with another plan
  3    some trials failed; the others' results are kept
  4    --check: a value is out of its reference band, or was not computed;
       run audit: a mechanism spends more privacy than it claims
  130  interrupted (SIGINT or SIGTERM); the same command goes on. A server that
       is meant to run until then, run report --serve, ends with 0`,
	}
}

func sweepFilesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "sweep-files",
		Short: "How to write a sweep file",
		Long: `A sweep file is YAML:

  # yaml-language-server: $schema=./sweep.schema.json
  title: "Cloaking, Table 1"
  experiment: cloaking/regression
  params: {delta: 0.01, folds: 14}        # fixed
  sweep:                                  # all combinations
    method: [standard, sparse]
    epsilon: [0.5, 1, inf]
  zip:                                    # paired: first with first, ...
    lengthscale: [15, 25]
    noise_variance: [2, 1]
  cases:                                  # explicit settings
    - {inputs: age}
    - {inputs: age+weight, inducing: 8}
  seeds: 0..19                            # one number, a list or a range
  tables: [cloaking/table1]               # printed at the end

sweep, zip and cases combine as a product; cases may override params. In place
of a list, linspace(a,b,n) gives n equally spaced numbers from a to b, and
logspace(a,b,n) the powers 10^a to 10^b, as in NumPy. For several experiments
put such blocks under runs:

  runs:
    - experiment: privacygp/example1
      sweep: {xi: linspace(0.1,0.9,9)}
    - experiment: privacygp/uniform

On the command line, name=v1,v2 replaces what the files say of a parameter;
brackets keep a list together: inducing_points=[5,20,35].

Everything is checked before anything runs; a mistake is shown with file, line
and column. run schema prints the JSON Schema for editors; run list NAME shows
an experiment's parameters.`,
	}
}

package main

import "github.com/spf13/cobra"

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit statuses mean",
		Long: `Exit statuses:

  0    all well (a trial that is skipped for want of data is no failure)
  1    an error: a file, a folder or a device could not be used; a limit on
       memory ended this program; all trials of a sweep, of a printed table or
       of merged folders were skipped for want of data; run check: something in
       the folder does not hold
  2    usage: an unknown command, flag, experiment, parameter or table, a
       mistake in a sweep file, or an output folder with another plan
  3    some trials failed, or have no result because the machine kept them from
       one again and again (killed, out of memory, no process to be had, their
       task on a cluster lost: --requeue); the others' results are kept, and the
       same command runs those without a result
  4    --check: a value is out of its reference band, or was not computed;
       run audit: a mechanism spends more privacy than it claims
  130  interrupted (SIGINT or SIGTERM); the same command goes on. A server that
       is meant to run until then, run report --serve, ends with 0`,
	}
}

func foldersTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "folders",
		Short: "What is in an output folder",
		Long: `An output folder (--out; by default results/runs/NAME) holds:

  plan.json        the frozen list of trials
  trials/KEY.json  the record of a trial: status ok, failed with "error", or
                   skipped. An error is one sentence
  logs/KEY.log     what a trial left that crashed or fell, or whose worker the
                   machine ended: the stack, or what the process printed, its
                   beginning and its end, at most 1 MiB. The latest one counts
  log.jsonl        what happened, a line an event; logs/I-of-N.jsonl for a part.
                   "again" and "given_up" are runs without a result
  tables, plots, report.html
                   what the records give
  aside            files that did not hold
  slurm            batch scripts, logs and list of a cluster's jobs
  lock             taken while a trial runs

A trial whose worker is killed, or that finds no memory, process, thread, file
or disk to work with, has no record: what the machine did to it is no result. It
is run again up to --requeue times in the same run, for the last time alone, and
then by the same command. run check verifies a folder; logs are not verified.`,
	}
}

func releasesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "releases",
		Short: "What a release holds, and how its files are written",
		Long: `A release is what run trial --release FILE publishes. It is two files.

FILE is one of
  - a table: comma-separated values with a header. Numbers have the digits that
    are needed to read them back;
  - a model, "model": "dpgp/1", for run predict;
  - a choice of hyper-parameters, "choice": "choice/1", for --tuning.

FILE.json describes it. It is the trial's record without the released numbers,
with one more member:

  "params"    the settings that do something (run list EXPERIMENT says where each
              applies). A file of the user's is named by its kind alone ("csv"):
              no path leaves
  "metrics"   of public values and of the noise alone
  "privacy"   guarantee, unit of protection, mechanism, and notes on what is
              taken as public
  "provenance"  of the program; "datasets" is empty, since a digest of private
              data would be a function of them
  "release"
    "format"  "release/1"
    "noise"   what was drawn, in order, each with
      "law"          "gaussian", "laplace" or "exponential mechanism"
      "query"        what the noise is added to
      "coordinates"  how many numbers, each with independent noise
      "sensitivity"  how far one protected unit moves the query as it is computed,
                     rounding included
      "scale"        the standard deviation (gaussian) or the scale (laplace) of
                     the noise in each coordinate
      "grid"         a power of two. The exact sum of query and real-valued noise
                     is rounded to its multiples; everything that is published is
                     computed from these and from public values
    "tuning"  where the hyper-parameters came from: "public" (stated by the
              operator), "booked" (chosen by a mechanism with a budget of its own)
              or "unaccounted" (the guarantee does not cover their choice)
    "budget"  "booked", or "not booked" (--no-budget)

Readers of these files are not trusted; the operator is. How long a release
takes is outside of the guarantee.`,
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
and column. A value or a setting that stands twice is one, and so is a sweep over
a parameter that does nothing: run list NAME says where each applies. Where it
does nothing in some of the settings only, these run and are counted, and a single
value that does nothing is a warning. Trials that several files have run once. The
columns of your own files are looked for, too.

run schema prints the JSON Schema for editors; run list NAME shows an
experiment's parameters.`,
	}
}

func clustersTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "clusters",
		Short: "How to run a sweep on many machines",
		Long: `All machines need this program and the output folder at the same path, on a
file system that they share.

With Slurm:

  run sweep FILE --executor slurm --slurm partition=gpu,gres=gpu:1,time=2:00:00

freezes the plan, submits array jobs whose tasks run parts of it, and follows
them to the tables, with the exit statuses of a local run. --slurm takes any
option of sbatch by its long name; each task runs one trial at a time on the
cores that it is given (--slurm cpus-per-task=4; --jobs for more trials).
--trials-per-task sets the size of a task, --max-running how many run at a
time. Timed trials are tasks of jobs of their own that have their nodes to
themselves (sbatch --exclusive), unless --share-timings is given.

The program may end, or lose its terminal: the same command attaches to the
jobs that are there. Ctrl-C asks whether to leave or cancel them; without a
terminal it leaves them. A task that is lost (killed, out of time, its node
failed, out of memory, preempted, gone from the queue), or that leaves a trial
without a result because its worker was killed, is submitted again up to
--requeue times; then its trials are reported with the end of its log, and the
exit status is 3. A trial that failed has a result and is not run again, except
by --retry, which first puts the records aside.

In OUT/slurm are the batch scripts, the tasks' logs, and jobs.json: which job
has which parts, and since when.

With any other scheduler, make the plan once and run its parts:

  run sweep FILE --out OUT --plan-only
  run work OUT --shard 1/8        # ... to 8/8, anywhere, in any order
  run report OUT                  # the tables

A timed trial runs beside none of the same folder on its machine. To keep other
programs away from it, too, run the two kinds apart, and the timed one on whole
nodes:

  run work OUT --only untimed --shard 1/8
  run work OUT --only timed --shard 1/2

Machines of other BLAS kernels compute other last digits: a run says so, and so do
the tables.

Without a shared file system, every machine has its own folder, and run merge
unites them:

  run sweep FILE --shard 1/8 --out part1
  run merge part1 part2 ... --out OUT

A trial is locked while it is run, so that two machines never run it at the
same time. The locks are those of the file system: byte-range locks (fcntl),
which NFS version 4, Lustre mounted with flock, GPFS and CephFS keep across
machines. What a killed process held is free at once; what a dead machine held,
when the server notices (a lease, about 90 seconds, under NFS 4; version 3 may
wait for the machine's return). Where nothing runs any more and a lock stays,
remove OUT/lock. Where locks hold on one machine only, a trial may be computed
twice, and a task may have to be run again: no result is lost, as records are
renamed into place whole.`,
	}
}

package cli

import "github.com/spf13/cobra"

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit statuses mean",
		Long: `Exit statuses:

  0    success (a trial skipped because its data set is missing is no failure)
  1    an error: a file, a folder or a device cannot be used; a memory limit
       ended this program; all trials of a sweep, of a printed table or of
       merged folders were skipped because data are missing; run check found a
       problem in the folder
  2    usage: an unknown command, flag, experiment, setting or table, a sweep
       file that does not exist or has a mistake, or an output folder with a
       different plan
  3    some trials failed, or have no result because the machine repeatedly
       prevented one (killed, out of memory, no process available, device lost
       or full, cluster task lost; see --requeue); the results of the others are
       kept, and the same command runs the trials without a result. A sweep stops
       with it where the machine refused three trials in a row, or one more than
       run at a time: no process, thread, file or device is to be had
  4    --check: a value is outside its reference band or missing; of
       run table --all --against: a value or claim that counts has another
       verdict or cannot be compared, or nothing that counts was compared;
       run audit: a mechanism spends more privacy than it claims; run attack: an
       attack proves that a method does
  130  interrupted (SIGINT or SIGTERM); the same command resumes the work
  141  nobody reads standard output any more, as with | head: the command ends, as
       by SIGPIPE. run sweep and run table NAME only stop printing: the trials, the
       files of the tables and the report are made, and the exit status is theirs`,
	}
}

func foldersTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "folders",
		Short: "Contents of an output folder",
		Long: `--out names the output folder. By default it is in results/runs and has the
name of the sweep file, as a+b of two files, or table-PAPER-NAME of a table. With
other values, seeds or another element type from the command line a hash of these
follows (NAME-HASH), and for trials on a GPU -cuda. It holds:

  plan.json        the frozen list of trials
  trials/KEY.json  the record of a trial: status ok, failed with "error", or
                   skipped. An error is one sentence. "privacy" has no
                   guarantee, which a release alone has, but "simulated": the
                   one that the mechanism would have in a release
  logs/KEY.log     the latest log of a trial that crashed, or whose worker was
                   killed: the stack, or the beginning and end of what the
                   process printed, at most 1 MiB
  profiles/KEY.pprof
                   with --profile: where a trial spent its processor time
  log.jsonl        the events of the runs, one a line; logs/I-of-N.jsonl for a
                   part. "again" and "given_up" are runs without a result
  tables, plots, report.html
                   made from the records
  aside            invalid files that were put aside
  slurm            batch scripts, logs and the list of a cluster's jobs
  lock             held while a trial runs
  tags.json        names and values of --tag

run list runs lists output folders, run show FOLDER shows one, run diff compares two.

A trial whose worker is killed, or that gets no memory, process, thread, file or
disk space, has no record, because a failure of the machine is no result. It is
rerun up to --requeue times in the same run, the last time alone, and then by the
next run of the same command. A lasting shortage stops the run after a few trials
(run help exit-codes). run check verifies a folder, except for the logs.`,
	}
}

func releasesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "releases",
		Short: "Contents and format of the files of a release",
		Long: `run trial --release FILE publishes a release, which consists of two files.

FILE is one of
  - a table: comma-separated values with a header. Numbers have the digits that
    are needed to read them back;
  - a model, "model": "dpgp/1" or "format": "privkern/kahm-model/2", for run
    predict;
  - rows with a class each, by kahm/classifier, as the name of FILE has it: a table
    (NAME.csv), a NumPy array with the classes in another (NAME.npy and
    NAME.labels.npy), or a folder of pictures (FOLDER/); NAME.json is the model;
  - a choice of hyper-parameters, "choice": "choice/1", for --tuning.

FILE.json describes it. It is the trial's record without the released numbers,
with one more member:

  "params"    the settings of the trial that have an effect in it (run list EXPERIMENT
              shows where each applies). Those that only judge it, such as folds,
              draws, holdout and repeats, are among them and have no part in a
              release. A file of the user's is named by its kind alone ("csv"): no
              path leaves
  "seed"      as it was given. All that is random in a release, the noise as well as
              starts of k-means, comes from the operating system: nothing follows
              from the seed
  "metrics"   of public values and of the noise alone
  "privacy"   guarantee, unit of protection, mechanism, and notes on what is
              taken as public. Where one row is protected, "groups" has the
              guarantee for 2, 5 and 10 rows ("rows", "epsilon", "delta") that
              belong to one person
  "provenance"  of the program; "datasets" is empty, since a digest of private
              data would be a function of them
  "release"
    "format"  "release/1"
    "noise"   the draws, in order, each with
      "law"          "gaussian", "laplace", "exponential mechanism" or "randomised
                     response"
      "query"        the quantity that the noise is added to
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
    "settings"  of a choice: those that it chose, as FILE has them; a FILE that was
              changed is refused by --tuning

The operator is trusted; readers of these files are not. The running time of a
release is outside the guarantee.

run trial --export FILE writes the same two files for results without (epsilon, delta).
The guarantee in FILE.json is empty, the first of the notes says why, and in place
of "release" it has

  "export"
    "format"  "export/1"
    "noise"   as above; empty where nothing of the release layer was drawn`,
	}
}

func sweepFilesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "sweep-files",
		Short: "How to write a sweep file",
		Long: `A sweep file is YAML:

  # yaml-language-server: $schema=./sweep.schema.json
  title: "Cloaking, Table 1"
  dtype: float64                          # or float32; float64 by default
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
  metrics: [rmse_cm]                      # shown of own sweeps; default: results

sweep, zip and cases combine as a product; cases may override params. Instead of a
list, linspace(a,b,n) gives n equally spaced numbers from a to b, and
logspace(a,b,n) the powers 10^a to 10^b. The numbers are (a(n-1-i) + b i)/(n-1), as
rounded, and so the same from b to a; their last bits may differ from NumPy's, and
those of the first and last number from a and b. For several experiments, put such
blocks under runs:

  runs:
    - experiment: privacygp/example1
      sweep: {xi: "linspace(0.1,0.9,9)"}  # quoted: braces and brackets split at commas
    - experiment: privacygp/uniform

A file may go on from another, and refer to values:

  include: base.yaml                      # relative to this file; or a list of files
  params: {delta: 1e-5}                   # replaces or adds to those of base.yaml
  title: "At delta ${delta}"              # a scalar or one of params of the file
  sweep:
    epsilon: ["${env:EPSILON:1}", 8]      # the environment, with a default

What stands in the including file replaces what the included one has: params, sweep
and zip name by name, everything else as a whole. A parameter under sweep replaces
one of the base's params, and the other way round. ${name} is the value before
name=value of the command line; quote it between brackets or braces. $${ is a
plain ${.

Instead of sweep, zip and cases, a search chooses settings in rounds, by the results of
the rounds before:

  search:
    method: bayesian                      # random, halving or bayesian
    budget: 40                            # settings in all, each over all seeds
    metric: accuracy                      # its mean over the seeds
    direction: maximise                   # or minimise
    space: {lengthscale: log(1, 100), inducing: 2..60, inputs: [age, weight]}
    batch: 4                              # settings of a round
    seed: 0                               # of the choice
    fidelity: {epochs: [1, 3, 9]}         # of halving: a setting from cheap to dear
    eta: 3                                # of halving: 1/eta stay at the next level

Intervals are linear(a, b), log(a, b) or whole numbers a..b. A search stands alone in
its file. The plan grows by a round when all of its trials have a result; the same
command goes on, also with a larger budget (not of halving). A setting with a trial that
fails counts as the worst.

A program of yours, in any language, is swept by

  experiment: command
  command: [sh, train.sh, "--lr={lr}"]  # a list of arguments, in the file's folder
  declare: {lr: {type: float, min: 0, max: 1}}
  sweep: {lr: [0.01, 0.1]}

It prints {"metrics": {"loss": 0.5}} as its last line, and has its seed in
PRIVKERN_SEED. name, files (whose digests are its version; by default arguments that
are files), stdin: json and output are explained in docs/command.md.

On the command line, name=v1,v2 replaces the values of a setting in the files;
brackets keep a list together: inducing_points=[5,20,35]. --seeds and --dtype replace
the seeds and the element type; files of one sweep that name different ones need
--dtype.

Everything is checked before any trial runs, including the columns of your own
files; an error names file, line and column. A value or a combination of settings
that occurs twice is an error, and so is a sweep over a setting that has no effect
(run list NAME shows where each applies). If it has no effect in some combinations
only, all of them run, and a warning counts those that repeat another; so is a
single value without effect a warning.
Trials that occur in several files run once, and those that draw nothing at random
with the first seed alone.

metrics, at the top of the file, are those that its table shows: names, or families
such as confusion_*. They are no part of the trials, and may change between runs.

run schema prints the JSON Schema for editors; run list NAME shows the settings of
an experiment.`,
	}
}

func clustersTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "clusters",
		Short: "How to run a sweep on many machines",
		Long: `All machines need this program and the output folder at the same path, on a
file system that they share.

With Slurm:

  run sweep FILE --executor slurm --slurm partition=gpu,gres=gpu:1,time=2:00:00 \
      --backend cuda

freezes the plan, submits array jobs whose tasks run parts of it, and follows
them until the tables are made, with the exit statuses of a local run. --slurm
takes any option of sbatch by its long name; each task runs one trial at a time on
its cores (--slurm cpus-per-task=4; --jobs for more trials). --trials-per-task
sets the size of a task, --max-running the number of running tasks. Timed trials
are tasks of separate jobs with exclusive nodes (sbatch --exclusive), unless
--share-timings is given.

The program may end or lose its terminal: the same command attaches to the
existing jobs. Ctrl-C asks whether to leave or cancel them; without a terminal it
leaves them. A task that is lost (killed, out of time, node failure, out of
memory, preempted, missing from the queue), or that leaves a trial without a
result because its worker was killed, is resubmitted up to --requeue times; after
that its trials are reported with the end of its log, and the exit status is 3. A
failed trial has a result and is not rerun, except with --retry, which first puts
the records aside.

A plan whose trials other machines run (--executor slurm, --plan-only, --shard)
takes the cpu unless --backend cuda is given. Once frozen it keeps its backend.

OUT/slurm holds the batch scripts and the logs of the tasks, JOB_INDEX.log.

With any other scheduler, make the plan once and run its parts:

  run sweep FILE --out OUT --plan-only
  run work OUT --shard 1/8        # ... to 8/8, anywhere, in any order
  run report OUT                  # the tables

On its machine, a timed trial never runs at the same time as another trial of the same folder.
To keep other programs away from it as well, run the two kinds separately, and the
timed trials on whole nodes:

  run work OUT --only untimed --shard 1/8
  run work OUT --only timed --shard 1/2

Different BLAS kernels compute different last digits; runs and tables report this.

Without a shared file system, every machine has its own folder, and run merge
merges them:

  run sweep FILE --shard 1/8 --out part1
  run merge part1 part2 ... --out OUT

Parts that share a folder share work, too: work that several trials need is
done once and kept in OUT/shared, within --shared-limit, until all trials have
a record. It may be deleted at any time.

A trial is locked while it runs, so that two machines never run it at the same
time. The locks are byte-range locks of the file system (fcntl), which NFS
version 4, Lustre mounted with flock, GPFS and CephFS keep across machines. The
locks of a killed process are released at once; those of a dead machine when the
server notices (under NFS 4 a lease of about 90 seconds; version 3 may wait for
the machine to return). If nothing is running and a lock remains, remove OUT/lock.
If locks hold on one machine only, a trial may be computed twice, and a task may
have to be rerun; no result is lost, because records are renamed into place whole.`,
	}
}

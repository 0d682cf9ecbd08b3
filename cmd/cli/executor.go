package cli

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"privkern/experiments/dataset"
	"privkern/runner"
	"privkern/runner/execute/progress"
	"privkern/runner/execute/schedule"
	"privkern/runner/execute/slurm"
	"privkern/runner/plan"
)

// newExecutor returns the executor of the trials, which reports to the reporter.
type newExecutor func(*progress.Reporter) (runner.Executor, error)

// requeueFlag is the name of a flag of sweep, table and work.
const requeueFlag = "requeue"

// sharedLimitFlag is the name of a flag of sweep, table and work, and defaultSharedLimit
// its value, in MiB: the shipped sweeps need a hundredth of it.
const (
	sharedLimitFlag    = "shared-limit"
	defaultSharedLimit = 1024
)

// workOptions are the flags of how trials are run, which sweep, table and work
// share.
type workOptions struct {
	jobs         int
	failFast     bool
	keepGoing    bool
	retry        string
	timeout      time.Duration
	requeue      int
	ignoreMemory bool
	shareTimings bool
	profile      bool
	sharedLimit  int64 // MiB
	shard        string
	only         string // a flag of work
	backend      string // a flag of sweep and table; work has it from the plan
	gpu          string // describes the device; empty on the CPU
	devices      []int  // for the workers; none on the CPU, or where the user has chosen one
}

func (o *workOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(
		&o.jobs,
		"jobs",
		"j",
		runtime.GOMAXPROCS(0),
		"trials to run at a time (on cuda, one per device by default), "+
			"fewer where memory is short; each uses its share of the cores. Timed trials run alone, on all cores",
	)
	f.BoolVar(&o.failFast, "fail-fast", false, "stop at the first trial that fails or has no result")
	f.BoolVar(&o.keepGoing, "keep-going", true, "run all trials even if some fail")
	f.StringVar(&o.retry, "retry", "", "rerun finished trials: failed or all")
	f.DurationVar(&o.timeout, "timeout", 0, "end a trial that takes longer than this, such as 10m; 0 for no limit")
	f.IntVar(
		&o.requeue,
		requeueFlag,
		2,
		"how many times to rerun a trial, or resubmit a lost cluster task, that the machine "+
			"kept from a result (worker killed, out of memory, no process available, device lost or full); 0 for never",
	)
	f.BoolVar(&o.ignoreMemory, "ignore-memory", false, ignoreMemoryUsage)
	f.BoolVar(
		&o.shareTimings,
		"share-timings",
		false,
		"run timed trials together with others instead of alone; their records state it",
	)
	f.BoolVar(&o.profile, profileFlag, false,
		"count the requests of the programs of each trial to a device, in its record, and write profiles/KEY.pprof to the "+
			"output folder (see run trial --help)")
	f.Int64Var(
		&o.sharedLimit,
		sharedLimitFlag,
		defaultSharedLimit,
		"MiB that results of work which trials share may take in OUT/shared while the sweep runs; 0 to keep none",
	)
	f.StringVar(&o.shard, "shard", "", "run part i of n of the plan, such as 1/4")
	cmd.MarkFlagsMutuallyExclusive("fail-fast", "keep-going")
}

// notEmpty refuses flags that are given without a value: an empty shell
// variable must not turn a part into the whole.
func notEmpty(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return usagef("--%s is empty", name)
		}
	}
	return nil
}

// validate refuses wrong values of flags.
func (o *workOptions) validate(cmd *cobra.Command) (plan.Shard, error) {
	if err := notEmpty(cmd, "shard", "retry"); err != nil {
		return plan.Shard{}, err
	}
	switch {
	case o.jobs < 1:
		return plan.Shard{}, usagef("--jobs is %d; it must be at least 1", o.jobs)
	case o.requeue < 0:
		return plan.Shard{}, usagef("--%s is %d; it must not be negative", requeueFlag, o.requeue)
	case o.sharedLimit < 0 || o.sharedLimit > math.MaxInt64>>20:
		return plan.Shard{}, usagef("--%s is %d; it must be from 0 to %d MiB", sharedLimitFlag, o.sharedLimit,
			int64(math.MaxInt64>>20))
	case o.timeout < 0:
		return plan.Shard{}, usagef("--timeout is %v; it must not be negative", o.timeout)
	}
	if o.retry != "" {
		if err := oneOf("retry", o.retry, "failed", "all"); err != nil {
			return plan.Shard{}, err
		}
	}
	if o.shard == "" {
		return plan.Shard{Count: 1}, nil
	}
	shard, err := plan.ParseShard(o.shard)
	if err != nil {
		return shard, usagef("--shard: %w", err)
	}
	return shard, nil
}

// stopsAtFailure reports whether a run ends at its first failure: --fail-fast, or
// --keep-going=false.
func (o *workOptions) stopsAtFailure() bool { return o.failFast || !o.keepGoing }

// local runs a part of a plan on this machine.
func (a *app) local(o workOptions, shard plan.Shard, data *plan.Datasets) newExecutor {
	return func(reporter *progress.Reporter) (runner.Executor, error) {
		threads := max(1, runtime.GOMAXPROCS(0)/o.jobs)
		newRunner, err := newWorkers(threads, o.devices)
		if err != nil {
			return nil, err
		}
		return &schedule.Local{
			Kind: schedule.TrialKind(o.only), Shard: shard, Experiments: a.Experiments, Data: data,
			Options: schedule.Options{
				Jobs:         o.jobs,
				Workers:      threads,
				Timeout:      o.timeout,
				FailFast:     o.stopsAtFailure(),
				Retry:        schedule.Retry(o.retry),
				Requeue:      o.requeue,
				Memory:       availableMemory(o.ignoreMemory),
				Process:      processLimit(o.ignoreMemory),
				ShareTimings: o.shareTimings,
				Profile:      o.profile,
				SharedLimit:  o.sharedLimit << 20,
				Notice:       func(text string) { reporter.Notice(text, false) },
				Host:         host(o.gpu),
				NewRunner:    newRunner,
				Observer:     reporter,
			},
		}, nil
	}
}

// slurmOptions are the flags of --executor slurm.
type slurmOptions struct {
	given         []string
	options       []slurm.Option
	trialsPerTask int
	arrayChunk    int
	maxRunning    int
}

// Names of the flags of --executor slurm.
const (
	slurmFlag         = "slurm"
	trialsPerTaskFlag = "trials-per-task"
	arrayChunkFlag    = "array-chunk"
	maxRunningFlag    = "max-running"
)

func (o *slurmOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(
		&o.given,
		slurmFlag,
		nil,
		"with --executor slurm: sbatch options, such as partition=gpu,gres=gpu:1,time=2:00:00; repeatable",
	)
	f.IntVar(
		&o.trialsPerTask,
		trialsPerTaskFlag,
		0,
		fmt.Sprintf(
			"with --executor slurm: trials per task (default: enough for at most %d tasks)",
			slurm.DefaultTasks,
		),
	)
	f.IntVar(
		&o.arrayChunk,
		arrayChunkFlag,
		0,
		fmt.Sprintf(
			"with --executor slurm: maximum size of an array job (default: %d)",
			slurm.DefaultChunk,
		),
	)
	f.IntVar(&o.maxRunning, maxRunningFlag, 0, "with --executor slurm: maximum number of running tasks; 0 for no limit")
}

// validate refuses wrong values of flags, and all of them where Slurm is not
// used.
func (o *slurmOptions) validate(cmd *cobra.Command, used bool) (err error) {
	for _, name := range []string{slurmFlag, trialsPerTaskFlag, arrayChunkFlag, maxRunningFlag} {
		if !used && cmd.Flags().Changed(name) {
			return usagef("--%s is for --executor slurm", name)
		}
	}
	if !used {
		return nil
	}
	if cmd.Flags().Changed("shard") {
		return usagef("--shard and --executor slurm exclude each other: the tasks divide the plan among themselves")
	}
	for name, least := range map[string]int{trialsPerTaskFlag: 1, arrayChunkFlag: 1, maxRunningFlag: 0} {
		v, err := cmd.Flags().GetInt(name)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed(name) && v < least {
			return usagef("--%s is %d; it must be at least %d", name, v, least)
		}
	}
	if o.options, err = slurm.ParseOptions(o.given); err != nil {
		return usagef("--%s: %w", slurmFlag, err)
	}
	return nil
}

// goRun matches programs that `go run` has made, in a temporary folder or in the
// build cache.
var goRun = regexp.MustCompile(`/go-build[0-9]*/`)

// slurm submits the trials to a cluster.
func (a *app) slurm(cmd *cobra.Command, o runOptions) newExecutor {
	return func(reporter *progress.Reporter) (runner.Executor, error) {
		program, err := executable()
		if err != nil {
			return nil, err
		}
		if goRun.MatchString(program) {
			return nil, fmt.Errorf(
				"the tasks of a cluster cannot use a program that `go run` built, because it is deleted at the end; " +
					"build it into a folder that all nodes can read: go build -o run ./cmd/run",
			)
		}
		jobs := 1 // a task has other cores than this machine
		if cmd.Flags().Changed("jobs") {
			jobs = o.jobs
		}
		// A trial that the machine kept from a result costs its task, which is submitted
		// again; run again inside of it, it would be run the square of --requeue times.
		work := []string{"--jobs", strconv.Itoa(jobs), "--" + requeueFlag, "0"}
		if o.timeout > 0 {
			work = append(work, "--timeout", o.timeout.String())
		}
		if o.ignoreMemory {
			work = append(work, "--ignore-memory")
		}
		if o.shareTimings {
			work = append(work, "--share-timings")
		}
		if o.profile {
			work = append(work, "--"+profileFlag)
		}
		if o.sharedLimit != defaultSharedLimit {
			work = append(work, "--"+sharedLimitFlag, strconv.FormatInt(o.sharedLimit, 10))
		}
		if a.dataFolder != "" {
			folder, err := filepath.Abs(a.dataFolder)
			if err != nil {
				return nil, err
			}
			work = append(work, "--data", folder)
		}
		var environment []string
		if folder := os.Getenv(dataset.DataVariable); folder != "" {
			if folder, err = filepath.Abs(folder); err != nil {
				return nil, err
			}
			environment = append(environment, dataset.DataVariable+"="+folder)
		}
		return &slurm.Executor{
			Program:       program,
			Work:          work,
			Environment:   environment,
			Timed:         a.timed,
			ShareTimings:  o.shareTimings,
			Options:       o.options,
			TrialsPerTask: o.trialsPerTask,
			Chunk:         o.arrayChunk,
			MaxRunning:    o.maxRunning,
			Requeue:       o.requeue,
			Retry:         schedule.Retry(o.retry),
			FailFast:      o.stopsAtFailure(),
			Observer:      reporter,
			Cancel:        a.askToCancel(cmd.Context(), reporter),
		}, nil
	}
}

// timed reports whether a trial runs alone. The experiments of a plan are known.
func (a *app) timed(t plan.Trial) bool {
	e, err := a.Experiments.Lookup(t.Experiment)
	return err == nil && e.Timed()
}

// askToCancel returns the question that an interrupted run asks on a terminal;
// nil where there is nobody to answer.
func (a *app) askToCancel(ctx context.Context, reporter *progress.Reporter) func(jobs int) bool {
	in, ok := a.in.(*os.File)
	if !ok || !isTerminal(in) || !isTerminal(a.err) {
		return nil
	}
	return func(jobs int) bool {
		// Who sends SIGTERM does not sit at the terminal.
		if cause := context.Cause(ctx); cause != nil && strings.HasPrefix(cause.Error(), syscall.SIGTERM.String()) {
			return false
		}
		reporter.Close()
		noun := "job goes on"
		if jobs > 1 {
			noun = fmt.Sprintf("%d jobs go on", jobs)
		}
		_, _ = fmt.Fprintf(a.err, "The %s without this program. Leave or cancel? [L/c] ", noun)
		answer, _ := bufio.NewReader(in).ReadString('\n') // an end of input leaves them
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "c" || answer == "cancel"
	}
}

package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// callLimit ends a command whose controller does not answer.
const callLimit = 2 * time.Minute

var errNoAnswer = fmt.Errorf("no answer after %v", callLimit)

// CommandError says that one of Slurm's commands could not be run or failed.
type CommandError struct {
	Name   string
	Stderr string
	Err    error
}

func (e *CommandError) Error() string {
	if errors.Is(e.Err, exec.ErrNotFound) {
		return fmt.Sprintf("%s is not in PATH: --executor slurm needs Slurm's commands; start it where jobs are submitted",
			e.Name)
	}
	if e.Stderr != "" {
		return fmt.Sprintf("%s: %s (%v)", e.Name, e.Stderr, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Name, e.Err)
}

// Unwrap returns the reason.
func (e *CommandError) Unwrap() error { return e.Err }

// needed are the commands without which nothing is begun. sacct is asked where
// it is there.
var needed = []string{"sbatch", "squeue", "scontrol", "scancel"}

func checkCommands() error {
	if os.Getenv("SBATCH_CLUSTERS") != "" {
		return errors.New("SBATCH_CLUSTERS is set, which only sbatch reads: the jobs would not be found in the queue; " +
			"unset it")
	}
	for _, name := range needed {
		if _, err := exec.LookPath(name); err != nil {
			return &CommandError{Name: name, Err: err}
		}
	}
	return nil
}

// call runs one of Slurm's commands and returns what it prints.
func call(ctx context.Context, name string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, callLimit)
	defer stop()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = environment()
	// Ctrl-C is for this program: an interrupted sbatch might have submitted.
	cmd.SysProcAttr = ownGroup()
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil && ctx.Err() != nil {
		err = errNoAnswer
	}
	if err != nil {
		return "", &CommandError{Name: name, Stderr: strings.TrimPrefix(strings.TrimSpace(stderr.String()), name+": "),
			Err: err}
	}
	return stdout.String(), nil
}

// environment is that of Slurm's commands, without what a user has set for
// himself: filters and formats would hide jobs, and options that the executor
// reserves would come in by another door.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		if option, ok := strings.CutPrefix(name, "SBATCH_"); ok {
			_, reserved := own[strings.ReplaceAll(strings.ToLower(option), "_", "-")]
			return reserved
		}
		return strings.HasPrefix(name, "SQUEUE_") || strings.HasPrefix(name, "SACCT_")
	})
}

// submit hands a batch script to Slurm and returns the job's id.
func submit(ctx context.Context, script string, options []Option) (string, error) {
	args := []string{"--parsable"}
	for _, o := range options {
		args = append(args, o.String()) // over what SBATCH_ variables say
	}
	out, err := call(ctx, "sbatch", append(args, script)...)
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // id[;cluster]
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return "", &CommandError{Name: "sbatch", Err: fmt.Errorf("%q is no job id", out)}
	}
	return id, nil
}

// trySubmit asks whether a job with the options would be taken, and submits none.
func trySubmit(ctx context.Context, options []Option) error {
	args := []string{"--test-only"}
	for _, o := range options {
		args = append(args, o.String())
	}
	_, err := call(ctx, "sbatch", append(args, "--wrap=true")...)
	return err
}

var (
	maxArraySize  = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*(\d+)`)
	maxArrayTasks = regexp.MustCompile(`(?m)^SchedulerParameters\s*=.*\bmax_array_tasks=(\d+)`)
)

// arrayLimit returns how many tasks an array job of this site may have.
func arrayLimit(ctx context.Context) (int, error) {
	out, err := call(ctx, "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	limit, err := parseArrayLimit(out)
	if err != nil {
		return 0, &CommandError{Name: "scontrol", Err: err}
	}
	return limit, nil
}

func parseArrayLimit(config string) (int, error) {
	m := maxArraySize.FindStringSubmatch(config)
	if m == nil {
		return 0, errors.New("the configuration has no MaxArraySize")
	}
	limit, err := strconv.Atoi(m[1]) // indexes are below it
	if err != nil {
		return 0, err
	}
	if m := maxArrayTasks.FindStringSubmatch(config); m != nil {
		tasks, err := strconv.Atoi(m[1])
		if err != nil {
			return 0, err
		}
		limit = min(limit, tasks)
	}
	if limit < 1 {
		return 0, errors.New("this site allows no array jobs (MaxArraySize)")
	}
	return limit, nil
}

// cancel ends jobs.
func cancel(ctx context.Context, jobs ...string) error {
	if len(jobs) == 0 {
		return nil
	}
	_, err := call(ctx, "scancel", jobs...)
	return err
}

// taskID names a task of an array job.
type taskID struct {
	job   string
	index int
}

func (t taskID) String() string { return t.job + "_" + strconv.Itoa(t.index) }

// task is what Slurm says of a task.
type task struct {
	name   string // of its job
	state  string // in words of squeue, such as PENDING
	reason string // why it is pending, or how it ended
}

// ended are the states from which a task does not come back.
var ended = map[string]bool{
	"BOOT_FAIL": true, "CANCELLED": true, "COMPLETED": true, "DEADLINE": true, "FAILED": true,
	"NODE_FAIL": true, "OUT_OF_MEMORY": true, "PREEMPTED": true, "REVOKED": true, "TIMEOUT": true,
}

func (t task) live() bool { return !ended[t.state] }

// stuck says that Slurm holds a task after its node could not start it; nobody
// but an operator would release it.
func (t task) stuck() bool {
	reason := strings.ReplaceAll(t.reason, "_", " ")
	return t.live() && strings.Contains(reason, "launch failed requeued held")
}

// queue returns the tasks of the users that Slurm still knows, ended ones too.
func queue(ctx context.Context, users []string) (map[taskID]task, error) {
	out, err := call(ctx, "squeue", "--noheader", "--array", "--states=all", "--user="+strings.Join(users, ","),
		"--format=%F|%K|%j|%T|%r")
	if err != nil {
		return nil, err
	}
	return parseQueue(out), nil
}

// parseQueue reads the lines of squeue. Jobs that are no arrays have no index
// and are none of ours.
func parseQueue(out string) map[taskID]task {
	tasks := map[taskID]task{}
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 5)
		if len(f) < 5 {
			continue
		}
		index, err := strconv.Atoi(f[1])
		if err != nil {
			continue
		}
		tasks[taskID{f[0], index}] = task{name: f[2], state: f[3], reason: f[4]}
	}
	return tasks
}

// accounted asks the accounting how tasks ended that the queue has forgotten;
// it is empty where a site has none.
func accounted(ctx context.Context, jobs []string) map[taskID]task {
	if len(jobs) == 0 {
		return nil
	}
	out, err := call(ctx, "sacct", "--noheader", "--allocations", "--parsable2", "--format=JobID,JobName%64,State",
		"--jobs="+strings.Join(jobs, ","))
	if err != nil {
		return nil
	}
	return parseAccounts(out)
}

func parseAccounts(out string) map[taskID]task {
	tasks := map[taskID]task{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 {
			continue
		}
		job, at, _ := strings.Cut(f[0], "_")
		index, err := strconv.Atoi(at)
		if err != nil { // "12_[3-7]": still waiting
			continue
		}
		state, _, _ := strings.Cut(f[2], " ") // "CANCELLED by 1000"
		tasks[taskID{job, index}] = task{name: f[1], state: state}
	}
	return tasks
}

package slurm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// callLimit ends a command whose controller does not answer.
const callLimit = 2 * time.Minute

// CommandError is the failure of one of Slurm's commands.
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
	if strings.Contains(e.Stderr, "job array") {
		return fmt.Sprintf("%s: %s (%v); --array-chunk sets the most tasks of an array job", e.Name, e.Stderr, e.Err)
	}
	if e.Stderr != "" {
		return fmt.Sprintf("%s: %s (%v)", e.Name, e.Stderr, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Name, e.Err)
}

// Unwrap returns the reason.
func (e *CommandError) Unwrap() error { return e.Err }

// needed are the commands without which nothing is begun.
var needed = []string{"sbatch", "squeue", "scancel"}

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

// call runs one of Slurm's commands and returns its standard output.
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
		err = fmt.Errorf("no answer after %v", callLimit)
	}
	if err != nil {
		return "", &CommandError{Name: name, Stderr: strings.TrimPrefix(strings.TrimSpace(stderr.String()), name+": "),
			Err: err}
	}
	return stdout.String(), nil
}

// environment returns the environment of Slurm's commands, without the filters and
// formats of a user, which would hide jobs, and without the options that the executor
// reserves.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		if option, ok := strings.CutPrefix(name, "SBATCH_"); ok {
			_, reserved := own[strings.ReplaceAll(strings.ToLower(option), "_", "-")]
			return reserved
		}
		return strings.HasPrefix(name, "SQUEUE_")
	})
}

// submit submits a batch script and returns the id of the job.
func submit(ctx context.Context, script string, options []Option) (string, error) {
	args := []string{"--parsable"}
	for _, o := range options {
		args = append(args, o.String()) // which override SBATCH_ variables
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

// testSubmit returns the error with which a job with the options would be refused.
func testSubmit(ctx context.Context, options []Option) error {
	args := []string{"--test-only"}
	for _, o := range options {
		args = append(args, o.String())
	}
	_, err := call(ctx, "sbatch", append(args, "--wrap=true")...)
	return err
}

// task is a task of an array job as squeue shows it.
type task struct {
	job    string
	index  int
	name   string // of the job
	state  string // such as PENDING
	user   string // the number of the job's owner
	reason string // for which it is pending, or of its end
}

// String returns the id of the task.
func (t task) String() string { return t.job + "_" + strconv.Itoa(t.index) }

// States of this package: of a task that the queue lacks, and of one that its node
// could not start and that Slurm holds until an operator releases it.
const (
	gone         = "GONE"
	launchFailed = "LAUNCH_FAILED"
)

// ended are the states from which a task does not come back.
var ended = map[string]bool{
	"BOOT_FAIL": true, "CANCELLED": true, "COMPLETED": true, "DEADLINE": true, "FAILED": true,
	"NODE_FAIL": true, "OUT_OF_MEMORY": true, "PREEMPTED": true, "REVOKED": true, "TIMEOUT": true,
	gone: true, launchFailed: true,
}

func (t task) live() bool { return !ended[t.state] }

// sortJobs returns ids of jobs in the order of submission, which is that of the numbers.
func sortJobs(jobs map[string]bool) []string {
	return slices.SortedFunc(maps.Keys(jobs), func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	})
}

// queue returns the tasks in the queue, with those that ended a short time ago: those of
// users, or of all users where none is given.
func queue(ctx context.Context, users ...string) ([]task, error) {
	args := []string{"--noheader", "--array", "--states=all", "--format=%F|%K|%j|%T|%U|%r"}
	if len(users) > 0 {
		args = append(args, "--user="+strings.Join(users, ","))
	}
	out, err := call(ctx, "squeue", args...)
	if err != nil {
		return nil, err
	}
	return parseQueue(out), nil
}

// parseQueue reads the lines of squeue. Jobs that are no arrays have no index and are
// left out.
func parseQueue(out string) []task {
	var tasks []task
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 6)
		if len(f) < 6 {
			continue
		}
		index, err := strconv.Atoi(f[1])
		if err != nil || index < 0 {
			continue
		}
		t := task{job: f[0], index: index, name: f[2], state: f[3], user: f[4], reason: f[5]}
		if t.live() && strings.Contains(strings.ReplaceAll(t.reason, "_", " "), "launch failed requeued held") {
			t.state = launchFailed
		}
		tasks = append(tasks, t)
	}
	return tasks
}

package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"privkern/runner/execute/machine"
	"privkern/runner/execute/trial"
	"privkern/runner/record"
)

// Process runs jobs one after another in a worker process, which it starts
// when the first job comes and again after one has died. It is not safe for
// concurrent use.
type Process struct {
	// Command is the program and its arguments; Env is added to the
	// environment.
	Command []string
	Env     []string

	cmd      *exec.Cmd
	family   family
	in       io.WriteCloser
	messages *bufio.Reader
	pipe     *os.File
	output   *output
	ready    bool // the process that runs has begun to read jobs
}

const (
	// killMoment is how long a process may take that ends by itself.
	killMoment = 50 * time.Millisecond
	// killGrace is the time that a killed worker's trial waits before it counts as
	// without a result.
	killGrace = time.Second
	// outputGrace is the time for which the output of a child's descendants is awaited
	// after its end.
	outputGrace = time.Second
)

// ErrTimeout is the error of a trial that exceeded its time limit.
var ErrTimeout = errors.New("timed out")

// Run runs one job. Where ctx ends or the time limit (0 for none) passes, the
// process is killed: a trial is never waited for. The error is a
// [trial.Trouble] where the process ended before the trial did or none could be
// had, and [trial.ErrNotStarted] where its program cannot be started at all.
func (p *Process) Run(ctx context.Context, job trial.Job, limit time.Duration,
	progress trial.ProgressFunc) (*record.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.cmd == nil {
		if err := p.start(); err != nil {
			if errors.Is(err, syscall.EBADF) {
				// The descriptors of a new process are first numbered behind all others,
				// and a number beyond the limit is no descriptor.
				err = fmt.Errorf("%w (%w)", err, syscall.EMFILE)
			}
			err = fmt.Errorf("%w: %w", trial.ErrNotStarted, err)
			if trouble := trial.Shortage(err); trouble != nil {
				return nil, trouble
			}
			return nil, err
		}
	} else {
		p.output.reset() // of earlier trials
	}
	type answer struct {
		message
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		m, err := p.exchange(job, progress)
		answers <- answer{m, err}
	}()
	var timeout <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case a := <-answers:
		if a.err != nil {
			return nil, p.ended(ctx, a.err)
		}
		if a.Last { // its device is of no more use; the next job gets a new process
			p.kill()
		}
		if a.Trouble != nil {
			return nil, a.Trouble
		}
		a.Record.Log = a.Log
		return a.Record, nil
	case <-timeout:
		p.kill()
		<-answers
		return nil, fmt.Errorf("%w after %v", ErrTimeout, limit)
	case <-ctx.Done():
		p.kill()
		<-answers
		return nil, ctx.Err()
	}
}

// ended returns why a process that cannot be spoken with any more is of no use.
func (p *Process) ended(ctx context.Context, err error) error {
	grace := killMoment
	if errors.Is(err, io.EOF) || machine.BrokenPipe(err) {
		// It is ending by itself, even if the machine is loaded or another process
		// holds its output.
		grace = 2 * outputGrace
	}
	end := p.killAfter(grace)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if end.ours { // it was alive: the trouble is with the messages
		return &trial.Trouble{Reason: fmt.Sprintf("the worker process cannot be understood: %v", err), Output: end.Output}
	}
	if end.Signal == syscall.SIGKILL {
		// A scheduler that kills a whole job may kill the worker first: this runner may
		// be gone by the end of this.
		select {
		case <-time.After(killGrace):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	trouble := end.trouble("the worker process")
	// Before it reads a job every worker does the same.
	trouble.Refused = trouble.Refused || trouble.Machine && !p.ready
	return trouble
}

// exchange sends the job and reads messages up to the one that ends it.
func (p *Process) exchange(job trial.Job, progress trial.ProgressFunc) (message, error) {
	raw, err := json.Marshal(job)
	if err != nil {
		return message{}, err
	}
	if _, err := p.in.Write(append(raw, '\n')); err != nil {
		return message{}, err
	}
	for {
		line, err := p.messages.ReadBytes('\n')
		if err != nil {
			return message{}, err
		}
		var m message
		if err = json.Unmarshal(line, &m); err != nil || m.Record != nil || m.Trouble != nil {
			return m, err
		}
		if m.Ready {
			p.ready = true
			continue
		}
		if m.Notice != "" {
			if job.Notice != nil {
				job.Notice(m.Notice)
			}
			continue
		}
		if progress != nil {
			progress(m.Done, m.Total, m.Phase)
		}
	}
}

func (p *Process) start() error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(p.Command[0], p.Command[1:]...)
	cmd.Env = append(os.Environ(), p.Env...)
	p.output = &output{}
	cmd.Stdout, cmd.Stderr = p.output, p.output
	// A process that a trial has started may hold standard output for longer
	// than the worker lives.
	cmd.WaitDelay = outputGrace
	in, err := cmd.StdinPipe()
	var started family
	if err == nil {
		started, err = startFamily(cmd, write)
	}
	_ = write.Close() // the worker has its own
	if err != nil {
		_ = read.Close()
		return err
	}
	p.cmd, p.family, p.in, p.pipe, p.messages, p.ready = cmd, started, in, read, bufio.NewReader(read), false
	return nil
}

// exit is the ending of a worker.
type exit struct {
	exitState
	ours bool // it ended because the runner ended it
}

// kill ends the process.
func (p *Process) kill() { p.killAfter(killMoment) }

// killAfter ends the process, which has the given time to end by itself, and returns
// its ending.
func (p *Process) killAfter(grace time.Duration) exit {
	if p.cmd == nil {
		return exit{ours: true}
	}
	// One that is ending by itself gets a moment, so that the reason is its
	// own and not this kill.
	done := make(chan struct{})
	killed := make(chan bool, 1)
	go func() {
		select {
		case <-done:
			killed <- false
		case <-time.After(grace):
			_ = p.family.kill()
			killed <- true
		}
	}()
	_ = p.in.Close()
	_ = p.cmd.Wait() // the state has more than the error
	close(done)
	_ = p.pipe.Close()
	state := p.cmd.ProcessState
	end := exit{exitState: exitStateOf(state, strings.TrimSpace(p.output.String())), ours: <-killed || state.Success()}
	// Processes that a trial has started end with it.
	_ = p.family.kill()
	p.family.close()
	p.cmd = nil
	return end
}

// Close ends the process.
func (p *Process) Close() {
	if p.cmd != nil {
		p.kill()
	}
}

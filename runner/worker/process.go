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
	"sync"
	"time"

	"privkern/runner/record"
	"privkern/runner/trial"
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
	in       io.WriteCloser
	messages *bufio.Reader
	pipe     *os.File
	stderr   *tail
}

const (
	// killGrace is how long a killed worker's trial waits before it counts as
	// failed.
	killGrace = time.Second
	// outputGrace is how long what a worker's descendants print is waited for
	// after the worker has ended.
	outputGrace = time.Second
)

// ErrTimeout says that a trial was ended because it took too long.
var ErrTimeout = errors.New("timed out")

// CrashError says that the worker process ended while it ran a trial.
type CrashError struct {
	State  string // how it ended, such as "signal: killed"
	Stderr string // the end of what it printed
	Ours   bool   // it ended because it was told to
	Killed bool   // by SIGKILL
}

func (e *CrashError) Error() string {
	s := "the worker process ended: " + e.State
	if e.Killed {
		s += " (perhaps for want of memory)"
	}
	if e.Stderr != "" {
		s += "\n" + e.Stderr
	}
	return s
}

// Run runs one job. Where ctx ends or the time limit (0 for none) passes, the
// process is killed: a trial is never waited for. The error is
// [trial.ErrNotStarted] where there is no process to run it.
func (p *Process) Run(ctx context.Context, job trial.Job, limit time.Duration, progress trial.Progress) (*record.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.cmd == nil {
		if err := p.start(); err != nil {
			return nil, fmt.Errorf("%w: %w", trial.ErrNotStarted, err)
		}
	}
	type answer struct {
		r    *record.Record
		last bool
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		r, last, err := p.exchange(job, progress)
		answers <- answer{r, last, err}
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
			crash := p.kill()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if crash.Ours { // it was alive: the trouble is with the messages
				return nil, fmt.Errorf("the worker process cannot be understood: %w", a.err)
			}
			if crash.Killed {
				// Whoever kills a whole job, as a cluster's scheduler does, may come
				// to the worker first: that is no failure of the trial, and is none
				// in the records if the runner is gone by the end of this.
				select {
				case <-time.After(killGrace):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return nil, crash
		}
		if a.last { // its device is of no more use; the next job gets a new process
			_ = p.kill()
		}
		return a.r, nil
	case <-timeout:
		_ = p.kill()
		<-answers
		return nil, fmt.Errorf("%w after %v", ErrTimeout, limit)
	case <-ctx.Done():
		_ = p.kill()
		<-answers
		return nil, ctx.Err()
	}
}

// exchange sends the job and reads messages up to its record; last says that the
// worker ends after it.
func (p *Process) exchange(job trial.Job, progress trial.Progress) (r *record.Record, last bool, err error) {
	raw, err := json.Marshal(job)
	if err != nil {
		return nil, false, err
	}
	if _, err := p.in.Write(append(raw, '\n')); err != nil {
		return nil, false, err
	}
	for {
		line, err := p.messages.ReadBytes('\n')
		if err != nil {
			return nil, false, err
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, false, err
		}
		if m.Record != nil {
			return m.Record, m.Last, nil
		}
		if progress != nil {
			progress(m.Done, m.Total, m.What)
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
	cmd.ExtraFiles = []*os.File{write}
	p.stderr = &tail{}
	cmd.Stdout, cmd.Stderr = p.stderr, p.stderr
	cmd.SysProcAttr = detached()
	// A process that a trial has started may hold standard output for longer
	// than the worker lives.
	cmd.WaitDelay = outputGrace
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	_ = write.Close() // the worker has its own
	if err != nil {
		_ = read.Close()
		return err
	}
	p.cmd, p.in, p.pipe, p.messages = cmd, in, read, bufio.NewReader(read)
	return nil
}

// kill ends the process and says how it ended.
func (p *Process) kill() *CrashError {
	if p.cmd == nil {
		return &CrashError{State: "not started"}
	}
	// One that is ending by itself gets a moment, so that the reason is its
	// own and not this kill.
	done := make(chan struct{})
	killed := make(chan bool, 1)
	go func() {
		select {
		case <-done:
			killed <- false
		case <-time.After(50 * time.Millisecond):
			_ = killAll(p.cmd.Process)
			killed <- true
		}
	}()
	_ = p.in.Close()
	_ = p.cmd.Wait() // the state says more than the error
	close(done)
	_ = p.pipe.Close()
	state := p.cmd.ProcessState
	crash := &CrashError{State: state.String(), Stderr: p.stderr.String(), Ours: <-killed || state.Success(), Killed: wasKilled(state)}
	// What a trial has started ends with it.
	_ = killAll(p.cmd.Process)
	p.cmd = nil
	return crash
}

// Close ends the process.
func (p *Process) Close() {
	if p.cmd != nil {
		_ = p.kill()
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailBytes = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if len(t.buf) > tailBytes {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-tailBytes:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}

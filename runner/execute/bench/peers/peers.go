// Package peers measures the work of benchmarks in common libraries, NumPy and SciPy.
//
// The libraries are those of a Python program, which one process runs for all benchmarks: it
// is asked over a pipe, computes on one thread and measures its own processor time, so that
// neither its start nor the making of inputs counts. The program is embedded because
// `run bench` is used where there is no checkout, too; nothing else of the project runs
// Python, and without it the benchmarks are measured alone.
package peers

import (
	"bufio"
	"context"
	_ "embed" // the program
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"privkern/runner/experiment"
)

//go:embed peers.py
var program string

// safePath keeps the working folder out of the path of Python's imports (3.11 and
// later).
const safePath = "PYTHONSAFEPATH=1"

// lastWait is how long a process may take to end that has nothing more to do.
const lastWait = time.Second

// ErrNone is returned by Start where no Python program has NumPy.
var ErrNone = errors.New("no python3 of PATH has NumPy")

// MissingError is the error of a work that needs a library that is not installed.
type MissingError struct{ Library string }

func (e *MissingError) Error() string { return e.Library + " is not installed" }

// Process is a Python process that computes the work of peers. It is not safe for concurrent
// use.
type Process struct {
	// Libraries are versions, such as "Python 3.11.2, NumPy 1.24.2".
	Libraries string

	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Scanner
	stderr  strings.Builder
}

// Start starts the process with a Python program; with "", the first python3 in the folders
// of PATH that has NumPy. It ends with the context or by Close.
func Start(ctx context.Context, python string) (*Process, error) {
	if python != "" {
		return start(ctx, python)
	}
	seen := map[string]bool{}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(folder, "python3")
		if info, err := os.Stat(path); err != nil || info.IsDir() || seen[path] {
			continue
		}
		seen[path] = true
		probe := exec.CommandContext(ctx, path, "-c", "import numpy")
		probe.Env = append(probe.Environ(), safePath)
		if probe.Run() == nil {
			return start(ctx, path)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, ErrNone
}

func start(ctx context.Context, python string) (*Process, error) {
	p := &Process{cmd: exec.CommandContext(ctx, python, "-B", "-c", program)}
	p.cmd.Env = append(p.cmd.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1",
		"VECLIB_MAXIMUM_THREADS=1", safePath)
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = lastWait
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("peers by %s: %w", python, err)
	}
	p.answers = bufio.NewScanner(out)
	var hello struct{ Libraries string }
	if err := p.answer(&hello); err != nil {
		return nil, fmt.Errorf("peers by %s: %w", python, err)
	}
	p.Libraries = hello.Libraries
	return p, nil
}

// answer reads a line of JSON. Where there is none, the process has ended.
func (p *Process) answer(to any) error {
	if p.answers.Scan() {
		if err := json.Unmarshal(p.answers.Bytes(), to); err != nil {
			return fmt.Errorf("answered %q: %w", p.answers.Text(), err)
		}
		return nil
	}
	err := p.wait()
	lines := strings.Split(strings.TrimSpace(p.stderr.String()), "\n")
	if last := lines[len(lines)-1]; last != "" { // of a traceback, the exception
		return errors.New(last)
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Measurement is the time and the result of a peer.
type Measurement struct {
	Library    string  // that computed, such as "NumPy"
	CPUSeconds float64 // of one call, the mean of all
	Result     float64 // Frobenius norm
}

// Measure does a work some times. It fails with a *MissingError where a library is missing.
func (p *Process) Measure(work experiment.Peer, calls int) (Measurement, error) {
	request, err := json.Marshal(map[string]any{"work": work.Work, "dtype": work.DType, "sizes": work.Sizes,
		"calls": calls})
	if err != nil {
		return Measurement{}, err
	}
	var a struct {
		Missing string
		Library string
		CPU     float64 `json:"cpu_s"`
		Result  float64
	}
	// A process that has ended refuses the request; its answer has the reason.
	_, _ = p.in.Write(append(request, '\n'))
	if err := p.answer(&a); err != nil {
		return Measurement{}, fmt.Errorf("peer %s: %w", work.Work, err)
	}
	if a.Missing != "" {
		return Measurement{}, &MissingError{Library: a.Missing}
	}
	return Measurement{Library: a.Library, CPUSeconds: a.CPU, Result: a.Result}, nil
}

// Close ends the process.
func (p *Process) Close() { _ = p.wait() }

// wait closes the pipe to the process, which ends it, and kills one that does not end by itself.
func (p *Process) wait() error {
	_ = p.in.Close()
	kill := time.AfterFunc(lastWait, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	return p.cmd.Wait()
}

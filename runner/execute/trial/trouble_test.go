package trial_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

func TestShortage(t *testing.T) {
	for _, c := range []struct {
		name, want string // the reason; "" for an error that is the trial's
		err        error
	}{
		{"memory", "the machine is short of memory: mmap: cannot allocate memory",
			os.NewSyscallError("mmap", syscall.ENOMEM)},
		{"processes", "the machine is short of processes or threads: fork: resource temporarily unavailable",
			os.NewSyscallError("fork", syscall.EAGAIN)},
		{"files", "the machine is short of open files of a process: open a.csv: too many open files",
			&fs.PathError{Op: "open", Path: "a.csv", Err: syscall.EMFILE}},
		{"everybody's files", "the machine is short of open files of all processes: wrapped: too many open files in system",
			fmt.Errorf("wrapped: %w", syscall.ENFILE)},
		{"a full disk", "the machine is short of space on a disk: no space left on device", syscall.ENOSPC},
		{"a quota", "the machine is short of space within a quota: disk quota exceeded", syscall.EDQUOT},
		{"a broken disk", "the machine is short of a disk that can be read and written: input/output error", syscall.EIO},
		{"a file server", "the machine is short of a file server that has its files: stale file handle", syscall.ESTALE},
		{"one of several", "the machine is short of memory: singular; cannot allocate memory",
			errors.Join(errors.New("singular"), syscall.ENOMEM)},
		{"no such file", "", &fs.PathError{Op: "open", Path: "a.csv", Err: syscall.ENOENT}},
		{"the same words, from the trial", "", errors.New("cannot allocate memory")},
		{"none", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := trial.Shortage(c.err)
			switch {
			case got == nil && c.want != "":
				t.Error("it is taken for the trial's")
			case got != nil && (got.Reason != c.want || !got.Machine || !got.Refused || got.Advice == ""):
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

// A trial without a result because of the machine has no record; one that fails by
// itself has one.
func TestShortageIsNoResult(t *testing.T) {
	e := demo(func(context.Context, *experiment.Trial) (*experiment.Result, error) {
		return nil, &fs.PathError{Op: "open", Path: "my.csv", Err: syscall.EMFILE}
	})
	r, err := trial.Execute(context.Background(), e, trial.Job{}, nil, nil)
	var trouble *trial.Trouble
	if r != nil || !errors.As(err, &trouble) || !trouble.Machine ||
		!strings.HasSuffix(trouble.Reason, "open my.csv: too many open files") {
		t.Errorf("%+v, %v", r, err)
	}
}

// deviceError is the error of a lost device.
type deviceError struct{}

func (deviceError) Error() string         { return "the device is lost" }
func (deviceError) MachineAdvice() string { return "look after the device" }

// An engine that cannot be opened or fails leaves no result either.
func TestDeviceIsTheMachine(t *testing.T) {
	for _, c := range []struct {
		name      string
		open, run error
		want      trial.Trouble
	}{
		{"it cannot be opened", errors.New("no\ndevice"), nil,
			trial.Trouble{Machine: true, Refused: true, Reason: "no; device"}},
		{"it is lost", nil, fmt.Errorf("solving: %w", deviceError{}),
			trial.Trouble{Machine: true, Reason: "solving: the device is lost", Advice: "look after the device"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := demo(func(context.Context, *experiment.Trial) (*experiment.Result, error) { return nil, c.run })
			opener := func(string, string, int) (io.Closer, error) { return io.NopCloser(nil), c.open }
			r, err := trial.Execute(context.Background(), e, trial.Job{}, opener, nil)
			var trouble *trial.Trouble
			if r != nil || !errors.As(err, &trouble) || *trouble != c.want {
				t.Errorf("%+v, %+v", r, err)
			}
		})
	}
}

// A panic is a sentence in the record, and its stack is for the log. A release
// has no log: its stack is nowhere.
func TestStacks(t *testing.T) {
	fall := func() { panic("two\nlines") }
	e := demo(func(context.Context, *experiment.Trial) (*experiment.Result, error) { fall(); return nil, nil })
	r, err := trial.Execute(context.Background(), e, trial.Job{}, nil, nil)
	if err != nil || r.Status != record.Failed || *r.Error != "a defect in demo/a: panic: two; lines" {
		t.Fatalf("%+v, %v", r, err)
	}
	if !strings.HasPrefix(r.Log, "a defect in demo/a: panic: two\nlines\n") ||
		!strings.Contains(r.Log, "trouble_test.go:") {
		t.Errorf("the log: %s", r.Log)
	}
	e = releasing(func(*experiment.Trial) (*experiment.Release, error) { fall(); return nil, nil })
	_, _, err = trial.Release(context.Background(), e, trial.Job{
		Identity: experiment.Identity{Experiment: "demo/a"}, Secure: true,
	}, booked, nil)
	if err == nil || strings.Contains(err.Error(), ".go:") ||
		!strings.Contains(err.Error(), "a defect in demo/a: panic: two\nlines") {
		t.Errorf("%v", err)
	}
}

package trial

import (
	"errors"
	"fmt"
	"syscall"

	"privkern/runner/text"
)

// Trouble is why a trial that was to run has no record of its own.
type Trouble struct {
	// Machine is true where the machine caused the trouble. Then the trial has no
	// result and runs again. Trouble that the trial caused, such as a crash, is a
	// failure.
	Machine bool `json:"machine"`
	// Refused is true where any trial would be in this trouble, because a process, a file or a device that
	// all need cannot be had. Memory that runs out or a signal during a trial may be due to that trial alone.
	Refused bool   `json:"refused,omitempty"`
	Reason  string `json:"reason"`           // one sentence, without its full stop
	Advice  string `json:"advice,omitempty"` // remedy where it goes on, in the form of Reason
	Output  string `json:"-"`                // of the process, for the log of the trial
}

func (t *Trouble) Error() string { return t.Reason }

// ErrNotStarted is the error where the program that runs trials cannot be started at
// all, such as one that was removed.
var ErrNotStarted = errors.New("a worker process cannot be started")

// Advice for machines that are short of something.
const (
	MemoryAdvice  = "run fewer trials at a time (--jobs 1), raise the limit on memory, or use a smaller setting"
	ThreadsAdvice = "run fewer trials at a time (--jobs 1), or raise the limit on processes (ulimit -u) or memory"
	FilesAdvice   = "run fewer trials at a time (--jobs 1), or raise the limit on open files (ulimit -n)"
	diskAdvice    = "make room on the disk"
	filesAdvice   = "look after the file system"
)

// shortage is an error of a system call by which a machine refuses anybody.
type shortage struct {
	errno  syscall.Errno
	of     string
	advice string
}

// machineError is an error of an engine, such as a lost device.
type machineError interface {
	error
	MachineAdvice() string
}

// notOpened is the trouble of a trial whose engine cannot be opened.
func notOpened(err error) *Trouble {
	return &Trouble{Machine: true, Refused: true, Reason: text.Sentence(err.Error())}
}

// ofMachine returns the trouble of an error that is the doing of this machine or of a
// device; nil for every other error.
func ofMachine(err error) *Trouble {
	if trouble, ok := errors.AsType[*Trouble](err); ok {
		return trouble
	}
	if device, ok := errors.AsType[machineError](err); ok {
		return &Trouble{Machine: true, Reason: text.Sentence(err.Error()), Advice: device.MachineAdvice()}
	}
	return Shortage(err)
}

// Shortage returns the trouble of an error by which this machine is short of something;
// nil for every other error.
func Shortage(err error) *Trouble {
	for _, s := range shortages {
		if errors.Is(err, s.errno) {
			return &Trouble{
				Machine: true, Refused: true, Advice: s.advice,
				Reason: fmt.Sprintf("the machine is short of %s: %s", s.of, text.Sentence(err.Error())),
			}
		}
	}
	return nil
}

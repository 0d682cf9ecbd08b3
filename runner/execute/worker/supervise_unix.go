//go:build unix

package worker

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"privkern/runner/execute/machine"
)

// A Go program that runs into `ulimit -v` dies with a dump of its stacks and status 2,
// and one that the kernel kills for want of memory prints nothing: only another process
// can report it. So this program runs as a child of itself where a limit on memory
// holds.

// childVar marks the child. stderrFD is its descriptor of the true standard error,
// because the Go runtime prints to descriptor 2 when it dies, which goes to the parent.
const (
	childVar = "PRIVKERN_SUPERVISED"
	stderrFD = 3
)

// MinAddressSpace is the least limit on the address space (ulimit -v) under which
// a trial can be expected to run: measured with sweeps on two cores. Most of it is
// reserved and never used, by the Go runtime (about 0.7 GiB), for the stacks and
// heaps of C threads, and by OpenBLAS (128 MiB a thread).
const MinAddressSpace = 7 << 28 // 1.75 GiB

// NeedsSupervision reports whether a limit on memory holds for this process and it is
// not the child already.
func NeedsSupervision() bool {
	if os.Getenv(childVar) != "" {
		return false
	}
	_, limited := machine.ProcessLimit()
	return limited || machine.GroupLimit() > 0
}

// Supervise runs this program again with the same arguments, and returns its exit
// status, or as an error in a sentence how the machine ended it. Its last words go to
// messages. SIGINT and SIGTERM are passed on; a second one ends it at once.
func Supervise(messages io.Writer) (status int, err error) {
	limit, limited := machine.ProcessLimit()
	if limited && limit.Flag == "-v" && limit.Bytes < MinAddressSpace {
		return 0, fmt.Errorf("the limit on the address space of a process is %s (ulimit -v), and this program needs %s at "+
			"least, most of which it reserves and never uses: raise the limit", machine.Gibibytes(limit.Bytes),
			machine.Gibibytes(MinAddressSpace))
	}
	program, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("this program's own file cannot be found: %w", err)
	}
	var said output
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), childVar+"=1")
	if os.Getenv(arenaVar) == "" {
		// The C library reserves 128 MiB of addresses for the heap of every thread.
		cmd.Env = append(cmd.Env, arenaVar+"=1")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, &said
	cmd.ExtraFiles = []*os.File{os.Stderr}
	cmd.SysProcAttr = endWithParent(&syscall.SysProcAttr{})
	cmd.WaitDelay = outputGrace
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("this program cannot be started under its limit on memory: %w", err)
	}
	over := make(chan struct{})
	interrupted := make(chan bool, 1)
	go func() { interrupted <- passOn(signals, over, cmd.Process) }()
	_ = cmd.Wait() // the state has more than the error
	close(over)
	stopped := <-interrupted

	end := exitStateOf(cmd.ProcessState, said.String())
	if stopped && end.Signal != 0 {
		return Interrupted, nil
	}
	if trouble := end.trouble("this program"); trouble.Machine {
		return 0, fmt.Errorf("%s; %s", trouble.Reason, advice(limit, limited))
	}
	_, _ = io.WriteString(messages, end.Output)
	if end.Signal != 0 {
		return 128 + int(end.Signal), nil
	}
	return end.Status, nil
}

// Interrupted is the status of a program that a second signal has ended.
const Interrupted = 130

// arenaVar is the environment variable of the C library for how many heaps its
// threads share.
const arenaVar = "MALLOC_ARENA_MAX"

// advice names the limit that holds, and the remedies.
func advice(limit machine.MemoryLimit, limited bool) string {
	which := "the limit of its control group is " + machine.Gibibytes(machine.GroupLimit())
	if limited {
		which = fmt.Sprintf("the limit of this shell is %s (ulimit %s)", machine.Gibibytes(limit.Bytes), limit.Flag)
	}
	return which + "; raise it, run fewer trials at a time (--jobs 1), or use a smaller setting"
}

// passOn passes signals on to the child until it is over, and reports whether there was
// one. The child ignores the signals themselves, because a terminal and a scheduler
// send them to parent and child both, and the second would end it.
func passOn(signals <-chan os.Signal, over <-chan struct{}, child *os.Process) (any bool) {
	for {
		select {
		case <-over:
			return any
		case s := <-signals:
			switch {
			case any:
				_ = child.Kill()
			case s == syscall.SIGTERM:
				_ = child.Signal(syscall.SIGUSR2)
			default:
				_ = child.Signal(syscall.SIGUSR1)
			}
			any = true
		}
	}
}

// Context returns a context that the first SIGINT or SIGTERM ends, and with it the
// work in an orderly way. After that the default holds, so that a second one ends
// the process. In the child of [Supervise] it also gives [os.Stderr] its true meaning.
func Context() (ctx context.Context, stop func()) {
	if os.Getenv(childVar) == "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		return ctx, stop
	}
	// Processes that this one starts are no such children.
	_ = os.Unsetenv(childVar)
	syscall.CloseOnExec(stderrFD)
	os.Stderr = os.NewFile(stderrFD, "/dev/stderr")
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		select {
		case s := <-signals:
			cause := interruption{os.Interrupt}
			if s == syscall.SIGUSR2 {
				cause.Signal = syscall.SIGTERM
			}
			cancel(cause)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// interruption is the cause of a context that a signal has ended, as
// [signal.NotifyContext] words it.
type interruption struct{ os.Signal }

func (i interruption) Error() string { return i.String() + " signal received" }

// Unwrap makes it an end of a context for those who ask for one.
func (i interruption) Unwrap() error { return context.Canceled }

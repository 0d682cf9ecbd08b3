package worker

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// NeedsSupervision is false: no limit on memory holds for a program of Windows that
// this one looks at.
func NeedsSupervision() bool { return false }

// Supervise returns an error: it is for limits on memory, which only Unix has.
func Supervise(io.Writer) (status int, err error) {
	return 0, errors.New("this program runs as a child of itself only under limits on memory, which Windows has none of")
}

// Context returns a context that Ctrl-C ends, or the end of the console or the
// session, and with it the work in an orderly way. After that the default holds, so
// that a second one ends the process.
func Context() (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

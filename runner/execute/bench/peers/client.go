package peers

import (
	"context"
	"errors"

	"privkern/runner/experiment"
)

// Client starts the process for the first work, so that benchmarks without peers need
// none. It reports the libraries, or that there are none, once.
type Client struct {
	ctx     context.Context
	python  string
	say     func(format string, args ...any)
	process *Process
	err     error // of the start
	said    map[string]bool
}

// NewClient returns a client of a Python program, as for [Start]. The function say
// prints a line of a message.
func NewClient(ctx context.Context, python string, say func(format string, args ...any)) *Client {
	return &Client{ctx: ctx, python: python, say: say, said: map[string]bool{}}
}

// Measure is Process.Measure. It fails with ErrNone where there is no program, and with the
// context's error once that has ended.
func (c *Client) Measure(work experiment.Peer, calls int) (Measurement, error) {
	if c.process == nil && c.err == nil {
		switch c.process, c.err = Start(c.ctx, c.python); {
		case c.err == nil:
			c.say("peers: %s", c.process.Libraries)
		case errors.Is(c.err, ErrNone):
			c.say("no peers: %v; --peers PYTHON names another", c.err)
		}
	}
	if err := c.ctx.Err(); err != nil && c.err != nil { // it was ended while it started
		return Measurement{}, err
	} else if c.err != nil {
		return Measurement{}, c.err
	}
	m, err := c.process.Measure(work, calls)
	if missing := (*MissingError)(nil); errors.As(err, &missing) && !c.said[missing.Library] {
		c.said[missing.Library] = true
		c.say("no peers by %s: it is not installed", missing.Library)
	}
	if err != nil && c.ctx.Err() != nil { // the process was ended
		err = c.ctx.Err()
	}
	return m, err
}

// Libraries are those of the process; empty where none was started.
func (c *Client) Libraries() string {
	if c.process == nil {
		return ""
	}
	return c.process.Libraries
}

// Close ends the process.
func (c *Client) Close() {
	if c.process != nil {
		c.process.Close()
	}
}

package progress

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"privkern/runner/execute/machine"
)

// patience is the time after which a reader that takes no message or result counts as absent.
const patience = time.Second

// Messages writes to standard error, whose reader may be a stopped terminal or a program that does
// not read. A write never waits: messages are kept for the reader up to a limit, and dropped above
// it. It is safe for concurrent use.
type Messages struct {
	to   *os.File
	most int // bytes that wait; one message may be longer

	mu      sync.Mutex
	changed *sync.Cond
	waiting [][]byte
	bytes   int  // of waiting
	writing bool // a message, or a call of onGone
	written int  // messages and other steps
	stuck   int  // written, when it was last waited for in vain; -1: never
	dropped int  // since the last note
	missing func(n int) string
	gone    bool
	onGone  func()
}

// NewMessages returns a writer to a file, for which most bytes wait.
func NewMessages(to *os.File, most int) *Messages {
	m := &Messages{to: to, most: most, stuck: -1}
	m.changed = sync.NewCond(&m.mu)
	go m.pass()
	return m
}

// Fd returns the descriptor of the file, by which a terminal is asked for its size.
func (m *Messages) Fd() uintptr { return m.to.Fd() }

// Missing sets the text of a note about n dropped messages, which follows the kept ones.
func (m *Messages) Missing(text func(n int) string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.missing = text
}

// OnGone sets a function that is called once where the reader is gone. Nothing is written from then
// on.
func (m *Messages) OnGone(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.onGone = f
	m.changed.Broadcast()
}

// Write takes a message. It never fails, because nothing depends on messages.
func (m *Messages) Write(message []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.gone:
	case m.bytes > 0 && m.bytes+len(message) > m.most:
		m.dropped++
	default:
		m.waiting = append(m.waiting, bytes.Clone(message))
		m.bytes += len(message)
		m.changed.Broadcast()
	}
	return len(message), nil
}

// Flush waits until the messages are written, or for a moment where nobody reads them.
func (m *Messages) Flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.left() && m.written != m.stuck {
		before, late := m.written, false
		timer := time.AfterFunc(patience, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			late = true
			m.changed.Broadcast()
		})
		for m.left() && m.written == before && !late {
			m.changed.Wait()
		}
		timer.Stop()
		if m.written == before {
			m.stuck = before
		}
	}
}

// left reports whether pass has anything to do.
func (m *Messages) left() bool {
	return m.writing || len(m.waiting) > 0 || m.dropped > 0 && m.missing != nil || m.gone && m.onGone != nil
}

// pass hands messages to the reader, for as long as the program runs.
func (m *Messages) pass() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		for !m.left() {
			m.changed.Wait()
		}
		step := m.next()
		m.writing = true
		m.mu.Unlock()
		err := step()
		m.mu.Lock()
		m.writing = false
		m.written++
		if err != nil && machine.BrokenPipe(err) {
			m.gone, m.waiting, m.bytes, m.dropped = true, nil, 0, 0
		}
		m.changed.Broadcast()
	}
}

// next returns the next step: to write a message or the note about dropped ones, or to call onGone.
func (m *Messages) next() func() error {
	if m.gone {
		f := m.onGone
		m.onGone = nil
		return func() error { f(); return nil }
	}
	var message []byte
	if len(m.waiting) > 0 {
		message = m.waiting[0]
		m.waiting = m.waiting[1:]
		m.bytes -= len(message)
	} else {
		message = []byte(m.missing(m.dropped) + "\n")
		m.dropped = 0
	}
	return func() error {
		_, err := m.to.Write(message)
		return err
	}
}

// ErrNoReader is the error of a write to standard output whose reader is gone.
var ErrNoReader = errors.New("nobody reads standard output any more")

// Results writes to standard output after the messages of earlier writes. It waits for a reader
// until the program is interrupted.
type Results struct {
	ctx      context.Context //nolint:containedctx // of the program, which its output lives as long as
	to       *os.File
	messages *Messages

	mu     sync.Mutex
	gone   bool
	onGone func()
}

// NewResults returns a writer to a file, until ctx ends.
func NewResults(ctx context.Context, to *os.File, messages *Messages) *Results {
	return &Results{ctx: ctx, to: to, messages: messages}
}

// Fd returns the descriptor of the file, by which a terminal is asked for its size.
func (r *Results) Fd() uintptr { return r.to.Fd() }

// OnGone sets a function that is called once where the reader is gone, and has writes succeed from
// then on: only printing ends. Without it they fail with [ErrNoReader].
func (r *Results) OnGone(f func()) { r.onGone = f }

// Write implements [io.Writer].
func (r *Results) Write(b []byte) (int, error) {
	r.messages.Flush()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return r.unread(b)
	}
	type outcome struct {
		n   int
		err error
	}
	done := make(chan outcome, 1)
	own := bytes.Clone(b) // it may still be written when this returns
	go func() {
		n, err := r.to.Write(own)
		done <- outcome{n, err}
	}()
	var o outcome
	select {
	case o = <-done:
	case <-r.ctx.Done():
		select {
		case o = <-done:
		case <-time.After(patience):
			return 0, r.ctx.Err()
		}
	}
	if o.err == nil || !machine.BrokenPipe(o.err) {
		return o.n, o.err
	}
	r.gone = true
	if r.onGone != nil {
		r.onGone()
	}
	return r.unread(b)
}

// unread returns the outcome of a write without a reader.
func (r *Results) unread(b []byte) (int, error) {
	if r.onGone == nil {
		return 0, ErrNoReader
	}
	return len(b), nil
}

// Note writes a notice to a log.
func Note(log io.Writer, text string) {
	if raw, err := (event{Event: "notice", Message: text}).line(); err == nil {
		_, _ = log.Write(raw) // the log is a convenience
	}
}

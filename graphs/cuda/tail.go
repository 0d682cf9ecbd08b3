//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"sync"

	"gorgonia.org/gorgonia"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
)

// tail is the end of a run that the host has not waited for, with the resources that the run uses
// until then.
type tail struct {
	gpu  *gpu
	lane *lane
	// The resources of the run, and the page-locked places for the failure numbers of its
	// operations.
	run   run
	infos []int32

	once  sync.Once    // of the wait
	err   error        // of the run
	mu    sync.Mutex   // of the event
	event driver.Event // after the run; 0 once it has been waited for
}

var _ engine.Tail = (*tail)(nil)

// Detach implements [engine.Device]. It waits where the host has to deliver numbers at the
// run's end.
func (d *device) Detach() (engine.Tail, error) {
	g := d.gpu
	if d.run.lane == nil || d.run.err != nil || len(d.run.downloads) > 0 || g.gone() != nil {
		return nil, d.Sync()
	}
	t := &tail{gpu: g, lane: d.run.lane}
	err := g.call(func() (err error) {
		if t.infos, err = d.askInfos(); err != nil {
			return err
		}
		if t.event, err = g.newEvent(); err != nil {
			return err
		}
		return g.failed("recording an event", g.api.Record(t.event, t.lane.stream))
	})
	if err != nil {
		if t.event != 0 {
			g.putEvent(t.event)
		}
		return nil, errors.Join(err, d.Sync())
	}
	t.run = d.run
	if t.run.replayed != nil {
		t.run.replayed.last = t
	}
	d.run, d.like = run{}, nil
	g.mu.Lock()
	defer g.mu.Unlock()
	t.lane.tails++
	g.idle = append(g.idle, t.lane) // its free blocks stay, which queued work may use
	return t, nil
}

// newEvent returns an event that nobody uses. The calling thread has the context.
func (g *gpu) newEvent() (driver.Event, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.events); n > 0 {
		e := g.events[n-1]
		g.events = g.events[:n-1]
		return e, nil
	}
	e, err := g.api.NewEvent()
	return e, g.failed("making an event", err)
}

// putEvent takes an event back.
func (g *gpu) putEvent(e driver.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events = append(g.events, e)
}

// After implements [engine.Device]. In the run's own lane everything follows it; another
// lane waits for its event.
func (d *device) After(other engine.Tail) error {
	t := other.(*tail)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.event == 0 {
		return nil
	}
	if d.run.lane == nil {
		d.like = t.lane
	}
	return d.on(func(l *lane) error {
		if l == t.lane {
			return nil
		}
		return d.gpu.failed("following an event", d.gpu.api.Follow(l.stream, t.event))
	})
}

// Take implements [engine.Device]: other runs may use any memory of the device.
func (d *device) Take(t engine.DTensor) (engine.Buf, error) { return t.Buf, nil }

// Lend implements [engine.Device].
func (d *device) Lend(kept, _ engine.DTensor) (engine.Buf, error) { return kept.Buf, nil }

// Done implements [engine.Tail]. Of a device that is lost nothing is waited for.
func (t *tail) Done() (done bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.event == 0 || t.gpu.gone() != nil {
		return true
	}
	err := t.gpu.call(func() (err error) {
		done, err = t.gpu.api.Passed(t.event)
		return t.gpu.failed("asking for an event", err)
	})
	return done || err != nil // which Wait returns
}

// ended waits for the run, once, and returns its error.
func (t *tail) ended() error {
	t.once.Do(func() {
		g := t.gpu
		if t.err = g.gone(); t.err == nil {
			t.err = g.call(func() error { return g.failed("waiting for the device", g.api.Wait(t.event)) })
		}
		if t.err == nil {
			t.err = t.run.failure(t.infos, g, t.explain)
		}
	})
	return t.err
}

// Wait implements [engine.Tail].
func (t *tail) Wait() error {
	err := t.ended()
	members := t.run.failed.Err()
	if err = errors.Join(err, t.release()); err != nil {
		return err
	}
	return members
}

// explain is [device.explain] in a lane of its own: the run has ended.
func (t *tail) explain(o gorgonia.Op, in []engine.DTensor, info int) error {
	d := &device{gpu: t.gpu}
	err := d.on(func(*lane) error { return d.explain(o, in, info) })
	return errors.Join(err, d.Sync())
}

// release releases the resources of the run. Those of a lost device are not used again.
func (t *tail) release() error {
	g, r := t.gpu, &t.run
	err := g.unhold(r.held)
	if r.infos != 0 && r.replayed == nil {
		err = errors.Join(err, g.release(nil, r.infos))
	}
	t.mu.Lock()
	event := t.event
	t.event = 0
	t.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	t.lane.tails--
	if g.gone() == nil {
		g.events = append(g.events, event)
		g.pinned = append(g.pinned, r.chunks...)
	}
	t.run, t.infos = run{}, nil
	return err
}

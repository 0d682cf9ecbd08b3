//go:build linux && (amd64 || arm64)

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
)

// recordedInfos bounds the operations of a recorded run that can fail, or their members.
const recordedInfos = 1 << 14

// recording is the work of a run as a CUDA graph. Its addresses are fixed: the recording keeps
// all memory that was taken while it was made, and its replays are queued in the lane where it
// was made, in which they follow one another. It belongs to one device.
type recording struct {
	d    *device
	lane *lane
	exec driver.Exec
	free map[int][]driver.Pointer // of the lane, while the recording is made
	// The blocks that work of the recording uses.
	blocks map[driver.Pointer]bool
	// As in a run.
	fallible       []fallible
	infos          driver.Pointer
	room, failures int
	last           *tail // of the last replay that the host has not waited for
	dropped        bool  // guarded by the device's lock
}

var _ engine.Replayer = (*device)(nil)

// Replays implements [engine.Replayer].
func (d *device) Replays() bool { return d.gpu.replays }

// replayMode reads [engine.ReplayVariable].
func replayMode() (bool, error) {
	switch set := cmp.Or(os.Getenv(engine.ReplayVariable), "auto"); set {
	case "auto", "never":
		return set == "auto", nil
	default:
		return false, fmt.Errorf("%s is %q: it must be auto or never", engine.ReplayVariable, set)
	}
}

// errRecording is returned for work that a recording cannot hold.
var errRecording = errors.New("it cannot be recorded")

// refused returns an error while a recording is made.
func (d *device) refused(what string) error {
	if l := d.run.lane; l != nil && l.recording != nil {
		return fmt.Errorf("%s: %w", what, errRecording)
	}
	return nil
}

// note keeps a block for the recording that is made in the lane.
func (l *lane) note(block driver.Pointer) {
	if l.recording != nil {
		l.recording.blocks[block] = true
	}
}

// Record implements [engine.Replayer]. The libraries' handles are made before: that waits for the
// device.
func (d *device) Record() error {
	return d.on(func(l *lane) (err error) {
		if d.run.failures > 0 {
			return errors.New("a recording begins behind operations that may fail")
		}
		if d.gpu.libs.blas != nil {
			_, err = l.blasHandle()
		}
		if err == nil && d.gpu.libs.solver != nil {
			_, err = l.solverHandle()
		}
		if err != nil {
			return err
		}
		if err := d.gpu.failed("beginning a capture", d.gpu.api.BeginCapture(l.stream)); err != nil {
			return err
		}
		l.recording = &recording{d: d, lane: l, free: l.free, blocks: map[driver.Pointer]bool{}}
		l.free = map[int][]driver.Pointer{} // queued work may use the blocks that are free outside
		return nil
	})
}

// Recorded implements [engine.Replayer].
func (d *device) Recorded(failed error) (made engine.Recording, err error) {
	g, l := d.gpu, d.run.lane
	r := l.recording
	err = g.call(func() error {
		graph, err := g.api.EndCapture(l.stream)
		if err = errors.Join(failed, g.failed("ending a capture", err)); err == nil {
			r.exec, err = g.api.Instantiate(graph)
			err = g.failed("making a graph of a capture", err)
		}
		if graph != 0 {
			err = errors.Join(err, g.failed("destroying a graph", g.api.DestroyGraph(graph)))
		}
		return err
	})
	l.recording, l.free, r.free = nil, r.free, nil
	run := &d.run
	r.fallible, r.infos, r.room, r.failures = run.fallible, run.infos, run.room, run.failures
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range run.held {
		b.holds--
	}
	run.held, run.fallible, run.infos, run.room, run.failures = nil, nil, 0, 0, 0
	for block := range r.blocks { // those that are free again, too
		if size := g.pool.size[block]; !g.pool.used[block] {
			g.pool.kept -= size
			g.pool.take(block, size)
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.drop())
	}
	g.recordings[r] = true
	l.owner, d.own = r, l
	return r, nil
}

// Settle implements [engine.Recording].
func (r *recording) Settle() {
	if r.last != nil && len(r.fallible) > 0 {
		_ = r.last.ended() // the error is that of the other run
	}
	r.last = nil
}

// Replay implements [engine.Recording].
func (r *recording) Replay() error {
	d, g := r.d, r.d.gpu
	return d.on(func(l *lane) error {
		g.mu.Lock()
		dropped := r.dropped
		g.mu.Unlock()
		if dropped || l != r.lane {
			return engine.ErrForgotten
		}
		if err := g.failed("launching a graph", g.api.LaunchGraph(r.exec, l.stream)); err != nil {
			return err
		}
		d.run.fallible, d.run.infos, d.run.room, d.run.failures = r.fallible, r.infos, r.room, r.failures
		d.run.replayed = r
		return nil
	})
}

// Copy implements [engine.Replayer].
func (d *device) Copy(to, from engine.DTensor) error {
	return d.on(func(l *lane) error {
		return d.gpu.failed("copying on the device",
			d.gpu.api.Copy(to.Buf.(*buffer).block, from.Buf.(*buffer).block, to.Bytes(), l.stream))
	})
}

// Close implements [engine.Recording].
func (r *recording) Close() {
	g := r.d.gpu
	if g.gone() != nil {
		return
	}
	if r.last != nil {
		_ = r.last.ended() // the error is that of the run
	}
	_ = g.call(func() error {
		_ = g.api.Synchronize(r.lane.stream)
		g.mu.Lock()
		defer g.mu.Unlock()
		return r.drop()
	})
}

// drop gives the memory of a recording back, of which nothing is queued. The caller holds the
// device's lock and a thread with the context.
func (r *recording) drop() (err error) {
	g := r.d.gpu
	if r.dropped {
		return nil
	}
	r.dropped = true
	if r.exec != 0 {
		err = g.failed("destroying a graph", g.api.DestroyExec(r.exec))
	}
	for block := range r.blocks {
		size := g.pool.size[block]
		delete(g.pool.used, block)
		g.pool.inUse -= size
		g.pool.kept += size
		g.pool.free[size] = append(g.pool.free[size], block)
	}
	delete(g.recordings, r)
	if r.lane.owner == r {
		r.lane.owner = nil
	}
	return err
}

// dropIdle drops the recordings that no run has queued. The caller holds the device's lock and a
// thread with the context.
func (g *gpu) dropIdle() {
	for r := range g.recordings {
		if slices.Contains(g.idle, r.lane) && r.lane.tails == 0 {
			_ = r.drop() // the allocation that needs the memory fails then
		}
	}
}

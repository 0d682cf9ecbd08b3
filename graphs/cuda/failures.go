//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"gorgonia.org/gorgonia"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
	"privkern/graphs/kernels"
	"privkern/graphs/op"
)

// An operation that fails leaves a number in the device's memory, a member of a batch one of
// its own. The host reads them at the end of a run.

// Failure implements [op.Stream].
func (t *task) Failure() kernels.Flag {
	if t.err != nil {
		return 0
	}
	if t.batch != nil {
		return t.memberFailure()
	}
	return t.failures(1, false)
}

// failures holds n places, one for each member of a batch. The operands are held until the end of
// the run, because the error needs them.
func (t *task) failures(n int, members bool) kernels.Flag {
	r := &t.d.run
	if r.failures+n > r.room && r.failures > 0 {
		if t.err = t.d.settle(); t.err != nil {
			return 0
		}
	}
	if r.infos == 0 {
		room := max(n, maxInfos)
		if t.lane.recording != nil {
			room = max(n, recordedInfos)
		}
		if 4*room > chunkBytes {
			t.Fail(fmt.Errorf("a batch of %d members: at most %d of an operation that may fail", n, chunkBytes/4))
			return 0
		}
		block, err := t.gpu.alloc(t.lane, 4*room)
		if err == nil {
			r.infos, r.room = block, room
			err = t.gpu.failed("clearing memory", t.gpu.api.Clear(block, 4*room, t.lane.stream))
		}
		if err != nil {
			t.err = err
			return 0
		}
	}
	at := kernels.Flag(r.infos) + kernels.Flag(4*r.failures)
	r.fallible = append(r.fallible, fallible{op: t.op, in: t.in, at: r.failures, count: n, members: members})
	r.failures += n
	for _, x := range t.in {
		b := x.Buf.(*buffer)
		t.gpu.hold(b)
		r.held = append(r.held, b)
	}
	return at
}

// settle waits for the device, delivers downloads, and finds the first operation that failed. It
// releases the operands that were held for that. It also runs in the middle of a run, when memory
// or places for failures are used up.
func (d *device) settle() error {
	if err := d.refused("a wait in the middle of a run"); err != nil {
		return err
	}
	r := &d.run
	infos, err := d.askInfos()
	if err != nil {
		return err
	}
	if err := r.lane.wait(); err != nil {
		return err
	}
	infos = slices.Clone(infos)
	d.deliver()
	return errors.Join(r.failure(infos, d.gpu, d.explain), d.release())
}

// askInfos queues a copy of the failure numbers to page-locked memory.
func (d *device) askInfos() ([]int32, error) {
	r, g := &d.run, d.gpu
	if r.failures == 0 {
		return nil, nil
	}
	at, err := d.stage(4 * r.failures)
	if err != nil {
		return nil, err
	}
	infos := unsafe.Slice((*int32)(at), r.failures)
	err = g.api.Download(at, r.infos, 4*len(infos), r.lane.stream)
	return infos, g.failed("copying from the device", err)
}

// explanation is the error of an operation that left a number other than zero.
type explanation func(o gorgonia.Op, in []engine.DTensor, info int) error

// failure is the error of the first operation that failed. Failures of members of batches
// are kept for the end of the run.
func (r *run) failure(infos []int32, g *gpu, explain explanation) error {
	for _, f := range r.fallible {
		left := infos[f.at : f.at+f.count]
		switch {
		case f.members:
			if err := r.membersFailure(f, left, g, explain); err != nil {
				return err
			}
		case left[0] != 0:
			return explain(f.op, f.in, int(left[0]))
		}
	}
	return nil
}

// membersFailure is failure for a batch.
func (r *run) membersFailure(f fallible, infos []int32, g *gpu, explain explanation) error {
	all := make([]error, len(infos))
	failed := false
	for i, info := range infos {
		// Earlier failures left NaN, which need no further error.
		if info == 0 || r.failed.Known(len(infos), i) {
			continue
		}
		o, in := memberOf(f, i)
		if all[i] = explain(o, in, int(info)); g.gone() != nil {
			return all[i]
		}
		failed = true
	}
	if !failed {
		return nil
	}
	return r.failed.Keep(op.NewMembersError(all))
}

// memberOf is a batch's operation on the operands of one member.
func memberOf(f fallible, i int) (op.Op, []engine.DTensor) {
	batch := f.op.(op.Op)
	in := make([]engine.DTensor, len(f.in))
	for j, t := range f.in {
		in[j] = t
		if shape, shared := batch.MemberShape(j, t.Shape); !shared {
			at := t.Buf.(*buffer).block + driver.Pointer(i*shape.TotalSize()*int(t.DType.Size()))
			in[j] = engine.DTensor{Buf: &buffer{block: at}, Shape: shape, DType: t.DType}
		}
	}
	return batch.Member(), in
}

// explain lets the host fail on the same inputs, which gives the same error.
// That the host does not fail is possible, where rounding decides.
func (d *device) explain(o gorgonia.Op, in []engine.DTensor, info int) error {
	values := make([]gorgonia.Value, len(in))
	for i, t := range in {
		v, data := newValue(t)
		if err := d.download(d.run.lane, v, data, t.Buf.(*buffer).block); err != nil {
			return err
		}
		values[i] = v
	}
	if err := d.drain(); err != nil {
		return err
	}
	if _, err := op.Do(o, values...); err != nil {
		return err
	}
	name := o.String()
	if ours, ok := o.(op.Op); ok {
		name = ours.Name()
	}
	return fmt.Errorf("%s failed on the device (code %d), though not on the host: the matrix is at the edge of what the "+
		"precision resolves; add jitter to its diagonal, or compute in float64", name, info)
}

// release gives up the inputs that were held for errors.
func (d *device) release() error {
	r := &d.run
	err := d.gpu.unhold(r.held)
	r.held, r.fallible, r.failures = nil, nil, 0
	if r.infos != 0 && r.replayed == nil {
		err = errors.Join(err, d.gpu.release(r.lane, r.infos))
	}
	r.infos, r.replayed = 0, nil
	return err
}

package engine

import (
	"errors"
	"fmt"
	"sync"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cost"
	"privkern/graphs/engine/counts"
	"privkern/graphs/kernels"
	"privkern/graphs/op"
)

// countedDevice is a device for one program: it counts the program's work, and computes on
// the host the operations that the device has no kernel for.
type countedDevice struct {
	Device
	counts counts.Recorder
	// fellBack is called for each operation that the host computes instead; it may be nil.
	fellBack func(op string)
	// warn adds a warning to the record.
	warn    func(format string, args ...any)
	always  bool         // counts also where the counter does not
	pending counts.Tally // since the last Sync
	mu      sync.Mutex   // of pending where steps run at the same time
}

// pooled is a Device that computes on several goroutines, each of which calls begin before
// its work, the caller's excepted, and stop after it.
type pooled interface {
	around(begin func() (stop func()))
}

// counting returns a device for a program with the engine's counter.
func (e *Engine) counting(key counts.Key) *countedDevice {
	d := &countedDevice{Device: e.device(), counts: counts.For(&e.Counter, key), fellBack: e.fellBack, warn: e.Warn}
	if p, ok := d.Device.(pooled); ok {
		p.around(d.counts.Clock)
	}
	return d
}

// operandsOf returns the shapes and element types of tensors, for package cost.
func operandsOf(all []DTensor) []cost.Operand {
	operands := make([]cost.Operand, len(all))
	for i, t := range all {
		operands[i] = cost.Operand{Shape: t.Shape, DType: t.DType}
	}
	return operands
}

// Upload implements [Device].
func (d *countedDevice) Upload(dst DTensor, v gorgonia.Value) error {
	d.copied(dst.Bytes(), 0)
	return d.Device.Upload(dst, v)
}

// Download implements [Device].
func (d *countedDevice) Download(src DTensor) (gorgonia.Value, error) {
	d.copied(0, src.Bytes())
	return d.Device.Download(src)
}

// give hands over memory where the device is a giver, and counts the copy that another
// device would make.
func (d *countedDevice) give(kept, as DTensor) (gorgonia.Value, error) {
	g, ok := d.Device.(giver)
	if !ok {
		return nil, nil
	}
	v, err := g.give(kept, as)
	if v != nil {
		d.copied(0, as.Bytes())
	}
	return v, err
}

// copied counts a copy of some bytes.
func (d *countedDevice) copied(up, down int) {
	if d.counts.On() {
		d.pending.Work.Add(cost.Work{Copies: 1, Up: int64(up), Down: int64(down)})
	}
}

// Launch computes one operation on the device, or on the host where the device has no
// kernel for it, and counts it.
func (d *countedDevice) Launch(o gorgonia.Op, out DTensor, in []DTensor) error {
	err := d.Device.Launch(o, out, in)
	refused := errors.Is(err, ErrNoKernel)
	if d.counts.On() || d.always {
		d.mu.Lock()
		d.count(o, out, in, refused)
		d.mu.Unlock()
	}
	if refused {
		return d.fallBack(o, out, in)
	}
	return err
}

// count counts an operation. Where the device refused it, the copies are those of
// [countedDevice.fallBack]; the host's device refuses none.
func (d *countedDevice) count(o gorgonia.Op, out DTensor, in []DTensor, refused bool) {
	if refused {
		d.pending.Fallbacks++
		return
	}
	work, ok := cost.Of(o, cost.Operand{Shape: out.Shape, DType: out.DType}, operandsOf(in))
	if !ok {
		d.pending.Fallbacks++
		for _, t := range in {
			d.copied(0, t.Bytes())
		}
		d.pending.Waits++
		d.copied(out.Bytes(), 0)
		return
	}
	d.pending.Work.Add(work)
}

// fallBack computes one operation on the host, at the cost of two copies and a wait for
// the device.
func (d *countedDevice) fallBack(o gorgonia.Op, out DTensor, in []DTensor) (err error) {
	if d.fellBack != nil {
		d.fellBack(o.String())
	}
	values := make([]gorgonia.Value, len(in))
	for i, t := range in {
		if values[i], err = d.Download(t); err != nil {
			return fmt.Errorf("%v, input %d, for the host: %w", o, i, err)
		}
	}
	var failed op.Failures // of members of batches
	if err := failed.Keep(d.Sync()); err != nil {
		return err
	}
	var v gorgonia.Value
	err = protect(func() (err error) { v, err = o.Do(values...); return err })
	if err = failed.Keep(err); err == nil {
		if v, err = shaped(v, out); err == nil {
			err = d.Upload(out, v)
		}
	}
	if err != nil {
		return fmt.Errorf("%v, on the host: %w", o, err)
	}
	return failed.Err()
}

// countChain counts one launch of a chain's kernel.
func (d *countedDevice) countChain(c *kernels.Chain, dtype tensor.Dtype, out, in []DTensor) {
	if d.counts.On() || d.always {
		operands := append(operandsOf(in), operandsOf(out)...)
		d.pending.Work.Add(cost.OfChain(len(c.Steps), c.N, dtype, operands...))
	}
}

// Sync implements [Device].
func (d *countedDevice) Sync() error {
	d.ended(1)
	return d.Device.Sync()
}

// Detach implements [Device].
func (d *countedDevice) Detach() (Tail, error) {
	d.ended(0)
	return d.Device.Detach()
}

// ended adds to the program's counts the work since the last run, if there was any, with
// the waits for it.
func (d *countedDevice) ended(waits int) {
	p := &d.pending
	queued := p.Work.Launches > 0 || p.Work.Copies > 0 || p.Fallbacks > 0
	if d.counts.On() && queued {
		p.Waits += waits
		d.counts.Add(*p)
		*p = counts.Tally{}
	}
}

package engine

import (
	"errors"
	"fmt"
	"sync"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cost"
	"privkern/graphs/kernels"
	"privkern/graphs/op"
)

// countedDevice is a device as one program uses it: it counts what the program asks of the
// device, and computes on the host the operations that the device has no kernel for.
type countedDevice struct {
	Device
	counts *counter
	key    countKey
	// fellBack is called for each operation that the host computes instead; it may be nil.
	fellBack func(op string)
	pending  tally      // since the last Sync
	mu       sync.Mutex // of pending where steps run at the same time
}

// counting returns a device for a program with the engine's counter.
func (e *Engine) counting(key countKey) *countedDevice {
	d := e.device()
	if p, ok := d.(pooled); ok {
		p.around(func() (stop func()) { return e.counts.clock(key) })
	}
	return &countedDevice{Device: d, counts: &e.counts, key: key, fellBack: e.fellBack}
}

// operandsOf are tensors as package cost sees them.
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
	if d.counts.on.Load() {
		d.pending.work.Add(cost.Work{Copies: 1, Up: int64(up), Down: int64(down)})
	}
}

// Launch computes one operation on the device, or on the host where the device has no
// kernel for it, and counts it.
func (d *countedDevice) Launch(o gorgonia.Op, out DTensor, in []DTensor) error {
	err := d.Device.Launch(o, out, in)
	refused := errors.Is(err, ErrNoKernel)
	if d.counts.on.Load() {
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
		d.pending.fallbacks++
		return
	}
	work, ok := cost.Of(o, cost.Operand{Shape: out.Shape, DType: out.DType}, operandsOf(in))
	if !ok {
		d.pending.fallbacks++
		for _, t := range in {
			d.copied(0, t.Bytes())
		}
		d.pending.waits++
		d.copied(out.Bytes(), 0)
		return
	}
	d.pending.work.Add(work)
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
	if d.counts.on.Load() {
		operands := append(operandsOf(in), operandsOf(out)...)
		d.pending.work.Add(cost.OfChain(len(c.Steps), c.N, dtype, operands...))
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
	queued := p.work.Launches > 0 || p.work.Copies > 0 || p.fallbacks > 0
	if d.counts.on.Load() && queued {
		p.waits += waits
		d.counts.add(d.key, *p)
		*p = tally{}
	}
}

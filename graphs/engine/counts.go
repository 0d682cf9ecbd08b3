package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cost"
	"privkern/graphs/cuda/kernels"
)

// Count is what the runs of one program in one element type asked of a device, or would
// have asked of one: on the CPU, too, launches and copies are those of a CUDA device, where
// nothing is fused.
type Count struct {
	Program string `json:"program"`
	DType   string `json:"dtype"`
	Runs    int64  `json:"runs"`
	// Launches are those of kernels, copies on the device and calls of libraries.
	Launches int64 `json:"launches"`
	// Synchronisations is how often the host waits for the device: at the end of each run,
	// and for each fallback. Waits inside a device for room to copy are not counted.
	Synchronisations int64 `json:"synchronisations"`
	// Copies between host and device, and what they copy.
	Copies    int64 `json:"copies"`
	BytesUp   int64 `json:"bytes_up"`
	BytesDown int64 `json:"bytes_down"`
	// Operations in floating point, and the traffic of the device's memory.
	Operations float64 `json:"operations"`
	Traffic    float64 `json:"traffic_bytes"`
	// Fallbacks are operations without a kernel, which the host computes.
	Fallbacks int64 `json:"fallbacks,omitempty"`
	// Seconds is the wall time of the runs, added up over goroutines.
	Seconds float64 `json:"seconds"`
	// Predicted is what package cost predicts for devices, in seconds, by name.
	Predicted map[string]float64 `json:"predicted_s"`
}

// Profile is what an engine counted.
type Profile struct {
	// Programs come with the longest wall time first.
	Programs []Count `json:"programs"`
	Total    Count   `json:"total"`
}

// counter adds up what the devices of an engine count. Nothing is counted before it is on.
type counter struct {
	on atomic.Bool

	mu  sync.Mutex
	all map[countKey]*tally
}

// countKey is a program in an element type.
type countKey struct{ program, dtype string }

// tally is a Count with its times by place.
type tally struct {
	Count
	predicted cost.Seconds
}

// StartCounting counts what runs from now on. Counting costs a run some microseconds an
// operation and changes no result.
func (e *Engine) StartCounting() { e.counts.on.Store(true) }

// StopCounting counts nothing that begins from now on.
func (e *Engine) StopCounting() { e.counts.on.Store(false) }

// Profile is what was counted since StartCounting.
func (e *Engine) Profile() Profile {
	e.counts.mu.Lock()
	defer e.counts.mu.Unlock()
	p := Profile{Programs: []Count{}}
	var predicted cost.Seconds
	for _, t := range e.counts.all {
		c := t.Count
		c.Predicted = t.predicted.ByName()
		p.Programs = append(p.Programs, c)
		p.Total.add(c)
		predicted.Add(t.predicted)
	}
	p.Total.Predicted = predicted.ByName()
	slices.SortFunc(p.Programs, func(a, b Count) int {
		return cmp.Or(-cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Program, b.Program), cmp.Compare(a.DType, b.DType))
	})
	return p
}

// MarshalProfile is the profile as JSON, for a runner that knows nothing of graphs.
func (e *Engine) MarshalProfile() ([]byte, error) { return json.Marshal(e.Profile()) }

// add adds all but what is predicted.
func (c *Count) add(other Count) {
	c.Runs += other.Runs
	c.Launches += other.Launches
	c.Synchronisations += other.Synchronisations
	c.Copies += other.Copies
	c.BytesUp += other.BytesUp
	c.BytesDown += other.BytesDown
	c.Operations += other.Operations
	c.Traffic += other.Traffic
	c.Fallbacks += other.Fallbacks
	c.Seconds += other.Seconds
}

// add adds a count to that of a program.
func (c *counter) add(key countKey, t tally) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[countKey]*tally{}
	}
	to := c.all[key]
	if to == nil {
		to = &tally{Count: Count{Program: key.program, DType: key.dtype}}
		c.all[key] = to
	}
	to.Count.add(t.Count)
	to.predicted.Add(t.predicted)
}

// ran counts a run of a program, which began at some time.
func (c *counter) ran(key countKey, began time.Time) {
	if c.on.Load() {
		c.add(key, tally{Count: Count{Runs: 1, Seconds: time.Since(began).Seconds()}})
	}
}

// countingDevice is a device that counts on the way to another one, which computes.
type countingDevice struct {
	Device
	counts  *counter
	key     countKey
	pending tally // since the last Sync
}

// counting returns a device that counts for a program. It fuses where the other one does.
func (e *Engine) counting(key countKey) Device {
	d := &countingDevice{Device: e.device(), counts: &e.counts, key: key}
	if f, ok := d.Device.(Fuser); ok {
		return &countingFuser{d, f}
	}
	return d
}

// countingFuser is a countingDevice for a device that fuses.
type countingFuser struct {
	*countingDevice
	fuser Fuser
}

// Fuses implements [Fuser].
func (d *countingFuser) Fuses() bool { return d.fuser.Fuses() }

// Fuse implements [Fuser].
func (d *countingFuser) Fuse(c *kernels.Chain, dtype tensor.Dtype) (Fused, error) {
	f, err := d.fuser.Fuse(c, dtype)
	if err != nil {
		return nil, err
	}
	return &countingChain{f, d.countingDevice, c, dtype}, nil
}

// countingChain counts the launches of a chain's kernel.
type countingChain struct {
	Fused
	device *countingDevice
	chain  *kernels.Chain
	dtype  tensor.Dtype
}

// Launch implements [Fused].
func (c *countingChain) Launch(out, in []DTensor) error {
	err := c.Fused.Launch(out, in)
	if err == nil && c.device.counts.on.Load() {
		operands := append(operandsOf(in), operandsOf(out)...)
		c.device.worked(cost.OfChain(len(c.chain.Steps), c.chain.N, c.dtype, operands...))
	}
	return err
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
func (d *countingDevice) Upload(dst DTensor, v gorgonia.Value) error {
	if d.counts.on.Load() {
		d.copied(int64(dst.Bytes()), 0)
	}
	return d.Device.Upload(dst, v)
}

// Download implements [Device].
func (d *countingDevice) Download(src DTensor) (gorgonia.Value, error) {
	if d.counts.on.Load() {
		d.copied(0, int64(src.Bytes()))
	}
	return d.Device.Download(src)
}

// copied counts a copy.
func (d *countingDevice) copied(up, down int64) {
	d.pending.Copies++
	d.pending.BytesUp += up
	d.pending.BytesDown += down
	d.pending.predicted.Add(cost.Copies(1, up+down))
}

// waited counts a wait for the device.
func (d *countingDevice) waited() {
	d.pending.Synchronisations++
	d.pending.predicted.Add(cost.Waits(1))
}

// Launch implements [Device].
func (d *countingDevice) Launch(o gorgonia.Op, out DTensor, in []DTensor) error {
	err := d.Device.Launch(o, out, in)
	if d.counts.on.Load() {
		d.count(o, out, in, errors.Is(err, ErrNoKernel))
	}
	return err
}

// count counts an operation. Of one without a kernel a device that says so leaves the copies
// to the executor, which makes them; the host never says so.
func (d *countingDevice) count(o gorgonia.Op, out DTensor, in []DTensor, refused bool) {
	if refused {
		d.pending.Fallbacks++
		return
	}
	work, ok := cost.Of(o, cost.Operand{Shape: out.Shape, DType: out.DType}, operandsOf(in))
	if !ok {
		d.pending.Fallbacks++
		for _, t := range in {
			d.copied(0, int64(t.Bytes()))
		}
		d.waited()
		d.copied(int64(out.Bytes()), 0)
		return
	}
	d.worked(work)
}

// worked counts work of the device.
func (d *countingDevice) worked(work cost.Work) {
	d.pending.Launches += int64(work.Launches)
	d.pending.Operations += work.Operations
	d.pending.Traffic += work.Traffic
	d.pending.Copies += int64(work.Copies)
	d.pending.BytesUp += work.Up
	d.pending.BytesDown += work.Down
	d.pending.predicted.Add(work.Seconds)
	d.pending.predicted.Add(cost.Copies(work.Copies, work.Up+work.Down))
}

// queued says whether anything was done since the last Sync.
func (d *countingDevice) queued() bool {
	return d.pending.Launches > 0 || d.pending.Copies > 0 || d.pending.Fallbacks > 0
}

// Sync implements [Device].
func (d *countingDevice) Sync() error {
	if d.counts.on.Load() && d.queued() {
		d.waited()
		d.counts.add(d.key, d.pending)
		d.pending = tally{}
	}
	return d.Device.Sync()
}

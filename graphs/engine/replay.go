package engine

import (
	"context"
	"errors"
	"slices"

	"privkern/graphs/cost"
	"privkern/graphs/op"
)

// ReplayVariable is the environment variable that has runs of loops replayed, auto, or queued launch by
// launch, never. A device reads it when it is opened.
const ReplayVariable = "PRIVKERN_REPLAY"

// Replayer is a device that may keep the work that a run queues, to queue it again by one call.
type Replayer interface {
	Device
	// Replays reports whether it does.
	Replays() bool
	// Record lets the device keep the launches that follow, in place of queueing them, until
	// Recorded. Memory that is taken meanwhile is the recording's, with all that is in it after a
	// replay. Copies to and from the host, and waits, fail.
	Record() error
	// Recorded returns the launches since Record. It fails with the error of one of them.
	Recorded(failed error) (Recording, error)
	// Copy queues a copy to memory of the same size.
	Copy(to, from DTensor) error
}

// Recording is the launches of a run, at the addresses that they had.
type Recording interface {
	// Settle waits for the last replay where the memory that the next one overwrites may be needed
	// to explain its failure.
	Settle()
	// Replay queues the launches. It fails with [ErrForgotten] once the device has needed the
	// recording's memory.
	Replay() error
	// Close waits for replays and frees the memory.
	Close()
}

// ErrForgotten is returned for a recording that a device has given up.
var ErrForgotten = errors.New("the device has needed the memory of the recording")

const (
	// recordAfter is the number of runs of a program before one is recorded: a loop shows in them
	// which inputs are in one place.
	recordAfter = 3
	// mostRecorded bounds the values of a run that is recorded, in bytes, all together.
	mostRecorded = 256 << 20
	// worthwhile is the share of the predicted time of a run that a replay has to save.
	worthwhile = 0.25
)

// tape is the recording of an executor's runs. Where inputs lie elsewhere in each run, as the
// weights of a descent do, they are copied to the recording's places, and the outputs that stay
// are copied from theirs: an input that has moved once is one of those, and the run is recorded
// anew. On the CPU nothing is recorded, and runs are counted as if.
type tape struct {
	x       *Executor
	runs    int
	never   bool
	seen    map[int]*memory // where inputs and constants were in the last run
	moves   map[int]bool    // the inputs that change their place
	rec     Recording
	private map[int]DTensor // the places of inputs that move
	loaded  []string        // the inputs that came in an arena in this run
	arena   []string        // those that have one in the recording
	results map[int]DTensor // of the outputs
	ready   map[*chain]bool // which chains are recorded as one kernel
	work    cost.Work       // of the recording
}

// idle reports whether runs go the usual way: on the CPU where nobody counts, too.
func (t *tape) idle() bool {
	d := t.x.device
	device, records := d.Device.(Replayer)
	return t.never || len(t.x.steps) == 0 || records && !device.Replays() || !records && !d.counts.On()
}

// look finds inputs that have moved since the last run, and drops a recording that another has
// to replace.
func (t *tape) look(inputs Values) {
	if t.never {
		t.drop()
	}
	if t.idle() {
		return
	}
	if t.seen == nil {
		t.seen, t.moves = map[int]*memory{}, map[int]bool{}
	}
	for name, slot := range t.x.inputs {
		at := t.x.kept[slot] // nil for a value of the host
		if r, ok := inputs[name].(*Resident); ok {
			at = r.memory
		}
		last, known := t.seen[slot]
		if !t.moves[slot] && (at == nil || known && last != at) {
			t.moves[slot] = true
			t.drop()
		}
		t.seen[slot] = at
	}
	if _, records := t.x.device.Device.(Replayer); records && t.runs >= recordAfter && t.changed() {
		t.drop()
	}
	if t.rec != nil {
		t.rec.Settle()
	}
}

// run computes a run's outputs, unless this run is to go the usual way.
func (t *tape) run(ctx context.Context, l *leases, held *slots, failed *op.Failures) (done bool, err error) {
	if err := ctx.Err(); err != nil || t.idle() {
		return false, err
	}
	if t.runs++; t.runs <= recordAfter {
		return false, nil
	}
	if t.runs == recordAfter+1 && !t.pays(len(l.stay)) {
		t.never = true
		return false, nil
	}
	device, records := t.x.device.Device.(Replayer)
	if !records {
		return true, t.pretend(ctx, l, held, failed)
	}
	if err := t.replay(ctx, device, held); err != nil {
		t.never = true // the next run drops the recording: this one may have values in its memory
		if warn := t.x.device.warn; warn != nil && ctx.Err() == nil {
			warn("%s: runs of a loop are queued launch by launch, which is slower: %v", t.x.graph.Program, err)
		}
		return false, ctx.Err()
	}
	return true, t.take(device, l, held)
}

// places returns the memory of a recording for inputs that come in an arena, nil where it has
// none.
func (t *tape) places(names []string) (to []DTensor) {
	if t.rec == nil || !slices.Equal(names, t.arena) {
		return nil
	}
	for _, name := range names {
		to = append(to, t.private[t.x.inputs[name]])
	}
	return to
}

// copies returns the number of copies of inputs that a replay makes: those in an arena are
// brought to their places.
func (t *tape) copies() int { return len(t.moves) - len(t.loaded) }

// drop forgets the recording.
func (t *tape) drop() {
	if t.rec != nil {
		t.rec.Close()
	}
	for _, p := range t.private {
		t.x.device.Free(p.Buf)
	}
	t.rec, t.private, t.results, t.arena = nil, nil, nil, nil
}

// pays reports whether replays save a share of the time of runs, as predicted for the first of
// the devices that package cost knows, with room for their values.
func (t *tape) pays(stay int) bool {
	var all cost.Work
	bytes := 0
	for slot := range t.x.shapes {
		bytes += t.x.slot(slot).Bytes()
	}
	for _, s := range t.x.steps {
		in := make([]DTensor, len(s.in))
		for i, slot := range s.in {
			in[i] = t.x.slot(slot)
		}
		out := t.x.slot(s.out)
		w, ok := cost.Of(s.op, cost.Operand{Shape: out.Shape, DType: out.DType}, operandsOf(in))
		if !ok || w.Copies > 0 || w.Alone || op.Random(s.op) {
			return false
		}
		all.Add(w)
	}
	return bytes <= mostRecorded && all.Replayed(len(t.moves) + stay).Seconds[0] < (1-worthwhile)*all.Seconds[0]
}

// pretend computes a run on the host, and counts it as a replay.
func (t *tape) pretend(ctx context.Context, l *leases, held *slots, failed *op.Failures) error {
	d := t.x.device
	before := d.pending.Work
	d.pending.Work = cost.Work{}
	err := t.x.compute(ctx, held, failed)
	work := d.pending.Work.Replayed(t.copies() + len(l.stay))
	d.pending.Work = before
	d.pending.Work.Add(work)
	return err
}

// replay queues the recording, which it makes where there is none.
func (t *tape) replay(ctx context.Context, d Replayer, held *slots) error {
	if t.rec == nil {
		if err := t.record(ctx, d, held); err != nil {
			return err
		}
	}
	for slot, to := range t.private {
		if from := held.values[slot]; from.Buf != to.Buf {
			if err := d.Copy(to, from); err != nil {
				return err
			}
		}
	}
	return t.rec.Replay()
}

// changed asks for the kernels of the chains, and reports whether the recording has others.
func (t *tape) changed() (changed bool) {
	if t.ready == nil {
		t.ready = map[*chain]bool{}
	}
	for _, u := range t.x.units {
		if u.chain == nil {
			continue
		}
		ready, err := u.chain.kernel.Ready()
		ready = ready && err == nil // the operations one by one have the same bits
		changed = changed || ready != t.ready[u.chain]
		t.ready[u.chain] = ready
	}
	return changed
}

// record makes the recording.
func (t *tape) record(ctx context.Context, d Replayer, held *slots) (err error) {
	x, r := t.x, newSlots(t.x)
	copy(r.values, held.values)
	r.ready = t.ready
	t.private = map[int]DTensor{}
	places := x.slotsOf(t.loaded)
	if len(places) > 0 {
		if err := x.device.arena(places); err != nil {
			return err
		}
	}
	for i, name := range t.loaded {
		t.private[x.inputs[name]] = places[i]
	}
	for _, name := range x.graph.InputNames {
		slot, used := x.inputs[name]
		if _, placed := t.private[slot]; !used || placed || !t.moves[slot] {
			continue
		}
		p := x.slot(slot)
		if p.Buf, err = d.Alloc(p.Bytes()); err != nil {
			return err
		}
		t.private[slot] = p
	}
	for slot, p := range t.private {
		r.values[slot] = p
	}
	t.arena = slices.Clone(t.loaded)
	if err := d.Record(); err != nil {
		return err
	}
	pending := x.device.pending
	x.device.pending.Work, x.device.always = cost.Work{}, true
	var none op.Failures // on the device operations fail at the end of a run
	err = none.Keep(x.oneByOne(ctx, r, &none))
	t.work = x.device.pending.Work
	x.device.pending, x.device.always = pending, false
	if t.rec, err = d.Recorded(err); err != nil {
		t.rec = nil
		return err
	}
	t.results = map[int]DTensor{}
	for _, slot := range x.output {
		if r.live[slot] {
			t.results[slot] = r.values[slot]
		}
	}
	return nil
}

// take gives a run the outputs of a replay. Those that stay get memory of their own.
func (t *tape) take(d Replayer, l *leases, held *slots) (err error) {
	copies := t.copies()
	for _, name := range t.x.graph.OutputNames {
		slot := t.x.output[name]
		from, computed := t.results[slot]
		switch {
		case !computed || held.live[slot]:
		case !l.stays(name):
			held.values[slot] = from
		default:
			to, err := held.alloc(slot, "output "+name)
			if err == nil {
				copies++
				err = d.Copy(to, from)
			}
			if err != nil {
				return err
			}
		}
	}
	if t.x.device.counts.On() {
		t.x.device.pending.Work.Add(t.work.Replayed(copies))
	}
	return nil
}

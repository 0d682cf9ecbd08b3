package hull

import (
	"errors"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

// placement is what an ensemble has on a device.
type placement struct {
	mu     sync.Mutex // is held by a search
	e      *engine.Engine
	origin []float64 // the mean of the machines' means: an origin near all of them
	// inputs are the constants of each machine, as directProgram names them, nil where they
	// are not on the device; order lists those that are, the latest last.
	inputs []engine.Values
	order  []int
	full   bool // the device has no room for more
	stays  bool // after a search
}

// Keep lets the machines' constants stay on the device after a search that is [Resident],
// for those that follow on the same engine, until Close or until the engine is closed.
// Otherwise every search copies them, and frees them at its end.
func (s *Ensemble) Keep() {
	s.device.mu.Lock()
	defer s.device.mu.Unlock()
	s.device.stays = true
}

// Close frees what the ensemble keeps on a device; it waits for a search. The ensemble can
// be used again.
func (s *Ensemble) Close() {
	s.device.mu.Lock()
	defer s.device.mu.Unlock()
	s.device.stays = false
	s.device.clear()
}

// begin starts a search on an engine; one at a time has the placement. The function that it
// returns ends it.
func (p *placement) begin(e *engine.Engine, machines []*Machine) (end func()) {
	p.mu.Lock()
	if p.e != e {
		p.clear()
		p.e = e
	}
	if p.inputs == nil {
		p.inputs = make([]engine.Values, len(machines))
	}
	if p.origin == nil {
		p.origin = make([]float64, machines[0].columns)
		for _, m := range machines {
			for j, v := range m.mean {
				p.origin[j] += v / float64(len(machines))
			}
		}
	}
	return func() {
		if !p.stays {
			p.clear()
		}
		p.mu.Unlock()
	}
}

// clear frees everything.
func (p *placement) clear() {
	for p.giveUp() {
	}
	p.e, p.inputs, p.full = nil, nil, false
}

// giveUp frees the constants of the machine that was placed last, if there is one: it is the
// one that a pass over all machines comes to last.
func (p *placement) giveUp() bool {
	if len(p.order) == 0 {
		return false
	}
	b := p.order[len(p.order)-1]
	p.order = p.order[:len(p.order)-1]
	p.inputs[b].Close()
	p.inputs[b], p.full = nil, true
	return true
}

// withRoom calls f again, for as long as the device is full and constants can be given up.
func (p *placement) withRoom(f func() error) error {
	for {
		if err := f(); !errors.Is(err, engine.ErrOutOfDeviceMemory) || !p.giveUp() {
			return err
		}
	}
}

// machine returns the constants of a machine: resident ones where there is room, the host's
// otherwise, which a run then copies.
func (p *placement) machine(b int, m *Machine) (engine.Values, error) {
	if p.inputs[b] != nil {
		return p.inputs[b], nil
	}
	host := p.constants(m)
	if p.full {
		return host, nil
	}
	placed := engine.Values{}
	for name, v := range host {
		r, err := p.e.Keep(v)
		if err != nil {
			placed.Close()
			if errors.Is(err, engine.ErrOutOfDeviceMemory) {
				p.full = true
				return host, nil
			}
			return nil, fmt.Errorf("machine %d: %s: %w", b, name, err)
		}
		placed[name] = r
	}
	p.inputs[b], p.order = placed, append(p.order, b)
	return placed, nil
}

// constants are the inputs of directProgram that belong to a machine. The difference μ−o is
// taken in float64 and rounded once.
func (p *placement) constants(m *Machine) engine.Values {
	offset := mat.NewDense(1, m.columns, nil)
	for j, v := range m.mean {
		offset.Set(0, j, v-p.origin[j])
	}
	in := engine.Values{"offset": p.e.Matrix(offset), "directions": p.e.Matrix(mat.DenseCopyOf(m.directions.T()))}
	for l, layer := range m.layers {
		in[fmt.Sprintf("points %d", l)] = layer.points
		in[fmt.Sprintf("weights %d", l)] = layer.weights
		in[fmt.Sprintf("solutions %d", l)] = layer.solutions
	}
	return in
}

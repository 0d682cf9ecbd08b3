package hull

import (
	"errors"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/cpublas"
	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// placement is what an ensemble has on a device.
type placement struct {
	mu      sync.Mutex // is held by a search
	e       *engine.Engine
	origin  []float64 // the mean of the machines' means: an origin near all of them
	bundles []bundle
	order   []int // of the bundles whose constants are on the device, the latest last
	most    int   // machines of a bundle, where the device has no room for more; 0 for any number
	full    bool  // the device has no room for more
	stays   bool  // after a search
}

// bundle is machines that are searched in common runs: of a size class n of samples, with
// equal numbers of directions and of layers.
type bundle struct {
	n, dim, layers int
	machines       []int         // their numbers, in ascending order
	inputs         engine.Values // their constants, as directProgram names them, where those are on the device
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
		p.e, p.most = e, 0
	}
	if p.bundles == nil {
		p.divide(machines)
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

// divide puts the machines into bundles, as large as memory allows. What a run takes for a
// machine beside its constants is, for every query, its coordinates, two images and kernel
// values.
func (p *placement) divide(machines []*Machine) {
	type kind struct{ n, dim, layers int }
	numbers := map[kind][]int{}
	var kinds []kind
	for i, m := range machines {
		k := kind{padded(m.samples), m.Dim(), len(m.layers)}
		if numbers[k] == nil {
			kinds = append(kinds, k)
		}
		numbers[k] = append(numbers[k], i)
	}
	for _, k := range kinds {
		coordinates, all := k.dim+machines[0].columns, numbers[k]
		each := mostRows(p.e, coordinates)*(3*coordinates+k.n) + k.layers*k.n*(coordinates+1+k.dim)
		most := max(1, deviceBatchBytes/(each*int(p.e.ElementType().Size())))
		if p.most > 0 {
			most = min(most, p.most)
		}
		parts := (len(all) + most - 1) / most
		for part := range parts { // about equal
			p.bundles = append(p.bundles, bundle{n: k.n, dim: k.dim, layers: k.layers,
				machines: all[part*len(all)/parts : (part+1)*len(all)/parts]})
		}
	}
}

// padded is the number of samples to which those of a machine are padded for a search.
func padded(n int) int {
	if n <= searchClass {
		return batch.SizeClass(n)
	}
	return (n + searchClass - 1) / searchClass * searchClass
}

// searchClass is of what the size classes of machines for a search are multiples.
const searchClass = 256

// narrow frees everything and halves the bundles, if there is one of several machines.
func (p *placement) narrow(machines []*Machine) bool {
	largest := 0
	for _, b := range p.bundles {
		largest = max(largest, len(b.machines))
	}
	if largest < 2 {
		return false
	}
	p.clear()
	p.most = largest / 2
	p.divide(machines)
	return true
}

// clear frees everything.
func (p *placement) clear() {
	for p.giveUp() {
	}
	p.bundles, p.full = nil, false
}

// giveUp frees the constants of the bundle that was placed last, if there is one: it is the
// one that a pass over all machines comes to last.
func (p *placement) giveUp() bool {
	if len(p.order) == 0 {
		return false
	}
	b := &p.bundles[p.order[len(p.order)-1]]
	p.order = p.order[:len(p.order)-1]
	b.inputs.Close()
	b.inputs, p.full = nil, true
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

// constantsOf returns the constants of a bundle: resident ones where there is room, the
// host's otherwise, which a run then copies.
func (p *placement) constantsOf(i int, machines []*Machine) (engine.Values, error) {
	b := &p.bundles[i]
	if b.inputs != nil {
		return b.inputs, nil
	}
	host, err := p.constants(b, machines)
	if err != nil || p.full {
		return host, err
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
			return nil, fmt.Errorf("machines from %d on: %s: %w", b.machines[0], name, err)
		}
		placed[name] = r
	}
	b.inputs, p.order = placed, append(p.order, i)
	return placed, nil
}

// constants are the inputs of directProgram that belong to the machines of a bundle. The
// differences μ−o are taken in float64 and rounded once.
func (p *placement) constants(b *bundle, machines []*Machine) (engine.Values, error) {
	columns, dtype := len(p.origin), p.e.ElementType()
	offsets, directions := make([]*mat.Dense, len(b.machines)), make([]*mat.Dense, len(b.machines))
	for i, number := range b.machines {
		m := machines[number]
		if of := m.layers[0].solutions.Dtype(); of != dtype {
			return nil, fmt.Errorf("machine %d was fitted in %v, and the engine computes in %v", number, of, dtype)
		}
		offsets[i], directions[i] = mat.NewDense(1, columns, nil), mat.DenseCopyOf(m.directions.T())
		for j, v := range m.mean {
			offsets[i].Set(0, j, v-p.origin[j])
		}
	}
	offset, err1 := batch.Matrices(dtype, 1, columns, offsets)
	rows, err2 := batch.Matrices(dtype, columns, b.dim, directions)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	in := engine.Values{"offset": offset, "directions": rows}
	for l := range b.layers {
		add := func(name string, rows int, fill float64, of func(*layer) *tensor.Dense) {
			all := make([]*tensor.Dense, len(b.machines))
			for i, number := range b.machines {
				all[i] = of(&machines[number].layers[l])
			}
			in[fmt.Sprintf("%s %d", name, l)] = stacked(dtype, rows, fill, all)
		}
		// Points that pad the samples are far away, and contribute nothing.
		add("points", b.n, op.Far, func(x *layer) *tensor.Dense { return x.points })
		add("weights", 1, 0, func(x *layer) *tensor.Dense { return x.weights })
		add("solutions", b.n, 0, func(x *layer) *tensor.Dense { return x.solutions })
	}
	return in, nil
}

// stacked are matrices of equal columns as a batch, with rows of a number below each.
func stacked(dtype tensor.Dtype, rows int, fill float64, members []*tensor.Dense) *tensor.Dense {
	if dtype == tensor.Float32 {
		return stack(rows, float32(fill), members)
	}
	return stack(rows, fill, members)
}

func stack[T cpublas.Float](rows int, fill T, members []*tensor.Dense) *tensor.Dense {
	cols := members[0].Shape()[1]
	data := make([]T, len(members)*rows*cols)
	for i, m := range members {
		of := data[i*rows*cols : (i+1)*rows*cols]
		for j := copy(of, engine.Data(m).([]T)); j < len(of) && fill != 0; j++ {
			of[j] = fill
		}
	}
	return engine.TensorOf(data, len(members), rows, cols)
}

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

// placement holds the constants of an ensemble on a device.
type placement struct {
	mu      sync.Mutex // held by a search
	e       *engine.Engine
	origin  []float64 // the mean of the machines' means
	bundles []bundle
	order   []int // bundles whose constants are on the device, the latest last
	most    int   // bound on the machines of a bundle; 0 for none
	full    bool  // the device has no room for further constants
	stays   bool  // constants stay on the device after a search
}

// bundle is a set of machines that share runs of a search: of a size class n of samples, with equal
// numbers of directions and of layers.
type bundle struct {
	n, dim, layers int
	machines       []int         // indices, in ascending order
	inputs         engine.Values // inputs of directProgram on the device; nil if they are not there
}

// Keep keeps the machines' constants on the device after a [Resident] search, for later searches on
// the same engine, until Close or until the engine is closed. Otherwise every search copies and frees
// them.
func (s *Ensemble) Keep() {
	s.device.mu.Lock()
	defer s.device.mu.Unlock()
	s.device.stays = true
}

// Close frees the constants that the ensemble keeps on a device, after a search in progress. The
// ensemble can be used again.
func (s *Ensemble) Close() {
	s.device.mu.Lock()
	defer s.device.mu.Unlock()
	s.device.stays = false
	s.device.clear()
}

// begin starts a search on an engine, and returns the function that ends it. Searches follow one
// another.
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

// divide puts the machines into bundles as large as memory allows. For each machine a run takes, in
// addition to its constants, coordinates, two images and kernel values of every query.
func (p *placement) divide(machines []*Machine) {
	type shape struct{ n, dim, layers int }
	numbers := map[shape][]int{}
	var shapes []shape
	for i, m := range machines {
		k := shape{padded(m.samples), m.Dim(), len(m.layers)}
		if numbers[k] == nil {
			shapes = append(shapes, k)
		}
		numbers[k] = append(numbers[k], i)
	}
	for _, k := range shapes {
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

// padded returns the number of samples to which those of a machine are padded in a search.
func padded(n int) int {
	if n <= searchClass {
		return batch.SizeClass(n)
	}
	return (n + searchClass - 1) / searchClass * searchClass
}

// searchClass is the step between the size classes of a search above it.
const searchClass = 256

// narrow frees everything and halves the bundles. It returns false if each has a single machine.
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

// giveUp frees the constants of the bundle that was placed last, which is the last one in a pass over
// all machines. It returns false if there is none.
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

// withRoom calls f until the device has room for it or no constants are left to give up.
func (p *placement) withRoom(f func() error) error {
	for {
		if err := f(); !errors.Is(err, engine.ErrOutOfDeviceMemory) || !p.giveUp() {
			return err
		}
	}
}

// constantsOf returns the constants of a bundle: resident ones where there is room, otherwise those
// of the host, which the run copies.
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

// constants returns the inputs of directProgram that depend on the machines of a bundle. The
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
		// Padding points are far away, where the kernel is zero.
		add("points", b.n, op.Far, func(x *layer) *tensor.Dense { return x.points })
		add("weights", 1, 0, func(x *layer) *tensor.Dense { return x.weights })
		add("solutions", b.n, 0, func(x *layer) *tensor.Dense { return x.solutions })
	}
	return in, nil
}

// stacked returns matrices with equal columns as a batch, each padded to rows by the value fill.
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

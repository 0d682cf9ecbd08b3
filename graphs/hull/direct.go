package hull

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

const (
	// directBytes bounds the queries of one run, of which a device holds a few copies.
	directBytes = 64 << 20
	// directLeast is the number of queries that are not divided further where a device is
	// full.
	directLeast = 16
)

// directProgram computes "distance l" (q×1) of "queries" (q×p) to every layer of a machine.
//
// Queries and the machine's mean come from one origin o: y−o, and the "offset" μ−o (1×p).
// With the "directions" Vᵀ (p×s) the coordinates [V(y−μ), y−μ] (q×(s+p)) are made here, and
// the layers read them as in machineProgram; layer l has rows[l] points.
//
// y−μ is a difference of rounded numbers: beside one that is taken in float64 it is off by
// up to ‖y−o‖+‖μ−o‖ units of roundoff. A common offset of all data costs nothing, since o
// has it too; machines that are far from one another cost float32 as many digits as their
// distance exceeds that of the query.
func directProgram(q, p, s int, rows []int) engine.Program {
	return engine.Program{Name: "distances to a machine", Key: fmt.Sprintf("direct %d %d %d %v", q, p, s, rows),
		Build: func(b *engine.Builder) {
			y := b.SubRow(b.Input("queries", q, p), b.Input("offset", 1, p))
			queries := b.Concat(1, b.Mul(y, b.Input("directions", p, s)), y)
			z := queries
			for l, n := range rows {
				layer := func(name string) string { return fmt.Sprintf("%s %d", name, l) }
				points, weights := b.Input(layer("points"), n, s-l), b.Input(layer("weights"), 1, s-l)
				z = b.AffineHull(z, points, weights, b.Input(layer("solutions"), n, s+p+1)) // Eq. 51
				b.Output(layer("distance"), b.RowDistance(s, queries, z))
			}
		}}
}

// directRows is the number of queries of one run: parts of q that are about equal, so that
// there are graphs of one or two shapes.
func (s *search) directRows(q int) int {
	dims := 0
	for _, m := range s.machines {
		dims = max(dims, m.Dim())
	}
	most := directBytes / ((dims + s.columns) * int(s.e.ElementType().Size()))
	parts := (q-1)/min(searchChunk, max(directLeast, most)) + 1
	return (q + parts - 1) / parts
}

// directly computes all distances of the chunk's queries from lo to before hi, of fewer at a
// time where the device has no room for all.
func (s *search) directly(lo, hi int) error {
	err := s.pass(lo, hi)
	if !errors.Is(err, engine.ErrOutOfDeviceMemory) || hi-lo <= directLeast {
		return err
	}
	middle := lo + (hi-lo)/2
	if err := s.directly(lo, middle); err != nil {
		return err
	}
	return s.directly(middle, hi)
}

// pass computes all distances of some queries: one run for each machine, none of which the
// host waits for, and one copy of all distances.
func (s *search) pass(lo, hi int) error {
	var queries *engine.Resident
	err := s.device.withRoom(func() (err error) {
		queries, err = s.e.Keep(s.fromOrigin(lo, hi))
		return err
	})
	if err != nil {
		return err
	}
	defer queries.Close()
	distances := engine.Values{}
	defer func() { distances.Close() }()
	for b, m := range s.machines {
		out, err := s.queue(b, queries)
		if err != nil {
			return err
		}
		for l := range m.layers {
			distances[fmt.Sprintf("%d %d", b, l)] = out[fmt.Sprintf("distance %d", l)]
		}
	}
	host, err := engine.Host(s.ctx, distances)
	if err != nil {
		return err
	}
	return s.read(lo, hi, engine.Read(host))
}

// queue starts the run of one machine, whose outputs stay.
func (s *search) queue(b int, queries *engine.Resident) (out engine.Values, err error) {
	m := s.machines[b]
	rows, stay := make([]int, len(m.layers)), make([]string, len(m.layers))
	for l, layer := range m.layers {
		rows[l], stay[l] = layer.points.Shape()[0], fmt.Sprintf("distance %d", l)
	}
	program := directProgram(queries.Shape()[0], m.columns, m.Dim(), rows)
	err = s.device.withRoom(func() error {
		constants, err := s.device.machine(b, m)
		if err != nil {
			return err
		}
		in := engine.Values{"queries": queries}
		for name, v := range constants {
			in[name] = v
		}
		out, err = s.e.Run(s.ctx, program, in, engine.Stay(stay...))
		return err
	})
	return out, err
}

// read takes the distances of the queries from lo to before hi, in the order of machines.
func (s *search) read(lo, hi int, r *engine.Reader) error {
	for b, m := range s.machines {
		nearest, without := make([]float64, hi-lo), make([]bool, hi-lo)
		for i := range nearest {
			nearest[i] = math.Inf(1)
		}
		for l := range m.layers {
			for i, d := range r.Floats(fmt.Sprintf("%d %d", b, l)) {
				nearest[i] = min(nearest[i], d)
				without[i] = without[i] || math.IsInf(d, 1)
			}
		}
		if err := r.Err(); err != nil {
			return err
		}
		for i, d := range nearest {
			s.take(b, lo+i, d)
			if without[i] {
				s.out.Unsafe++
			}
		}
	}
	pairs := int64(hi-lo) * int64(len(s.machines))
	s.out.Pairs, s.out.Evaluated = s.out.Pairs+pairs, s.out.Evaluated+pairs
	return nil
}

// fromOrigin are the chunk's queries from lo to before hi from the placement's origin, in
// the engine's element type. The differences are taken in float64 and rounded once.
func (s *search) fromOrigin(lo, hi int) *tensor.Dense {
	out := mat.NewDense(hi-lo, s.columns, nil)
	for i := range hi - lo {
		to := out.RawRowView(i)
		for j, v := range s.queries.RawRowView(lo + i) {
			to[j] = v - s.device.origin[j]
		}
	}
	return s.e.Tensor(out)
}

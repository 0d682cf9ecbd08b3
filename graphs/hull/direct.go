package hull

import (
	"errors"
	"fmt"
	"maps"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

const (
	// directBytes bounds the memory of the queries of one run; a device holds a few copies.
	directBytes = 64 << 20
	// directLeast is the number of queries below which a full device is an error.
	directLeast = 16
)

// directProgram computes "distance l" (m×q×1) of "queries" (q×p) to layer l of each of m machines of
// n samples.
//
// Queries y−o and the "offset" μ−o (m×1×p) have a common origin o. With the "directions" Vᵀ (m×p×s)
// the program computes the coordinates [V(y−μ), y−μ] (m×q×(s+p)), which the layers read as in
// machineProgram.
//
// y−μ is a difference of rounded numbers, and its error is up to ‖y−o‖+‖μ−o‖ units of roundoff. A
// common offset of all data costs nothing, because o contains it; for machines far from one another
// float32 loses the digits by which ‖μ−o‖ exceeds the distance of the query.
func directProgram(m, q, p, s, n, layers int) engine.Program {
	return engine.Program{Name: "distances to machines",
		Key: fmt.Sprintf("direct %d %d %d %d %d %d", m, q, p, s, n, layers), Build: func(b *engine.Builder) {
			y := b.SubtractRow(b.Input("queries", q, p), b.Tensor("offset", m, 1, p))
			queries := b.Concat(2, b.MatrixProduct(y, b.Tensor("directions", m, p, s)), y)
			z := queries
			for l := range layers {
				layer := func(name string) string { return fmt.Sprintf("%s %d", name, l) }
				points, weights := b.Tensor(layer("points"), m, n, s-l), b.Tensor(layer("weights"), m, 1, s-l)
				z = b.AffineHull(z, points, weights, b.Tensor(layer("solutions"), m, n, s+p+1)) // Eq. 51
				b.Output(layer("distance"), b.RowDistance(s, queries, z))
			}
		}}
}

// directRows returns the number of queries of one run. It divides q into about equal parts, so that
// there are graphs of one or two shapes.
func (s *search) directRows(q int) int {
	dims := 0
	for _, m := range s.machines {
		dims = max(dims, m.Dim())
	}
	parts := (q-1)/mostRows(s.e, dims+s.columns) + 1
	return (q + parts - 1) / parts
}

// mostRows returns the largest number of queries of one run for a number of coordinates.
func mostRows(e *engine.Engine, coordinates int) int {
	return min(searchChunk, max(directLeast, directBytes/(coordinates*int(e.ElementType().Size()))))
}

// directly computes all distances of queries [lo, hi) of the chunk. Where the device has no room, it
// divides the machines, then the queries.
func (s *search) directly(lo, hi int) error {
	err := s.pass(lo, hi)
	for errors.Is(err, engine.ErrOutOfDeviceMemory) && s.device.narrow(s.machines) {
		err = s.pass(lo, hi)
	}
	if !errors.Is(err, engine.ErrOutOfDeviceMemory) || hi-lo <= directLeast {
		return err
	}
	middle := lo + (hi-lo)/2
	if err := s.directly(lo, middle); err != nil {
		return err
	}
	return s.directly(middle, hi)
}

// pass computes all distances of queries [lo, hi): one run for each bundle of machines without a
// wait, then one copy of all distances.
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
	for i := range s.device.bundles {
		out, err := s.queue(i, queries)
		if err != nil {
			return err
		}
		for l := range s.device.bundles[i].layers {
			distances[distanceOf(i, l)] = out[fmt.Sprintf("distance %d", l)]
		}
	}
	host, err := engine.Host(s.ctx, distances)
	if err != nil {
		return err
	}
	return s.read(lo, hi, engine.Read(host))
}

// distanceOf returns the name of the distances to a layer of the machines of a bundle.
func distanceOf(bundle, layer int) string { return fmt.Sprintf("%d %d", bundle, layer) }

// queue starts the run of bundle i. Its outputs stay on the device.
func (s *search) queue(i int, queries *engine.Resident) (out engine.Values, err error) {
	b := &s.device.bundles[i]
	stay := make([]string, b.layers)
	for l := range stay {
		stay[l] = fmt.Sprintf("distance %d", l)
	}
	program := directProgram(len(b.machines), queries.Shape()[0], s.columns, b.dim, b.n, b.layers)
	err = s.device.withRoom(func() error {
		constants, err := s.device.constantsOf(i, s.machines)
		if err != nil {
			return err
		}
		in := engine.Values{"queries": queries}
		maps.Copy(in, constants)
		out, err = s.e.Run(s.ctx, program, in, engine.Stay(stay...))
		return err
	})
	return out, err
}

// read takes the distances of queries [lo, hi).
func (s *search) read(lo, hi int, r *engine.Reader) error {
	q := hi - lo
	for i, bundle := range s.device.bundles {
		layers := make([][]float64, bundle.layers)
		for l := range layers {
			layers[l] = r.Floats(distanceOf(i, l))
		}
		if err := r.Err(); err != nil {
			return err
		}
		for row, b := range bundle.machines {
			for at := range q {
				nearest, without := math.Inf(1), false
				for _, distances := range layers {
					d := distances[row*q+at]
					nearest, without = min(nearest, d), without || math.IsInf(d, 1)
				}
				s.take(b, lo+at, nearest)
				if without {
					s.out.Unsafe++
				}
			}
		}
	}
	pairs := int64(q) * int64(len(s.machines))
	s.out.Pairs, s.out.Evaluated = s.out.Pairs+pairs, s.out.Evaluated+pairs
	return nil
}

// fromOrigin returns queries [lo, hi) of the chunk relative to the placement's origin, in the
// engine's element type. The differences are taken in float64 and rounded once.
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

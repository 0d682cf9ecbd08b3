package experiments

import (
	"context"

	"privkern/graphs/hull"
)

// machine measures a call whose operations depend on the data.
func (d *devices) machine(ctx context.Context, s setting) error {
	y, queries := normalMatrix(d.sizes.machine, d.sizes.pixels), normalMatrix(d.sizes.distances, d.sizes.pixels)
	return s.rate(ctx, 0, 0, func() error {
		m, err := hull.Fit(ctx, s.e, y, hull.Options{Dim: 20})
		if err != nil {
			return err
		}
		_, err = m.Distances(ctx, s.e, queries)
		return err
	})
}

// search measures the search of an ensemble as a device does it.
func (d *devices) search(ctx context.Context, s setting) error {
	const dims = 20
	z := d.sizes
	machines := make([]*hull.Machine, z.ensemble)
	for b := range machines {
		y := normalMatrix(z.machine+b, z.pixels) // of as many samples no two classes are
		var err error
		if machines[b], err = hull.Fit(ctx, s.e, y, hull.Options{Dim: dims, Layers: z.layers}); err != nil {
			return err
		}
	}
	e, err := hull.NewEnsemble(machines, make([]int, len(machines)))
	if err != nil {
		return err
	}
	e.Keep()
	defer e.Close()
	queries, layers := normalMatrix(z.distances, z.pixels), z.ensemble*z.layers
	return s.rate(ctx, layers*2*z.distances*z.machine*(dims+z.pixels+1),
		layers*(3*z.distances*z.pixels+z.machine*(dims+z.pixels+1)), func() error {
			_, err := e.Nearest(ctx, s.e, queries, hull.Search{Method: hull.Resident})
			return err
		})
}

package fit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// Benchmarks measure the machines, on the CPU with one worker.
func Benchmarks() []experiment.Benchmark {
	return []experiment.Benchmark{
		{Name: "kahm/build", Run: benchBuild, Doc: "A machine of 1,000 pictures of 28×28, n = 20, 5 layers: the secant " +
			"iteration, and the paper's beside it."},
		{Name: "kahm/wide", Run: benchWide, Doc: "A machine of 1,000 samples of 10,000 columns, n = 20, one layer " +
			"(Table 11's last row)."},
		{Name: "kahm/search", Long: true, Run: benchSearch,
			Doc: "The nearest of 60 machines of 1,000 pictures each, 5 layers (as for handwritten digits): all " +
				"distances in float64 for 128 pictures, and with bounds for 10,000. Fitting the machines takes a minute."},
	}
}

const benchSide = 28

// pictures are formula-generated grey-scale pictures of one kind: strokes of
// blobs that a few latent numbers bend, as pen strokes are.
func pictures(kind uint64, number int, rng *rand.Rand) *mat.Dense {
	const blobs, latent = 9, 8
	shape := rand.New(rand.NewPCG(kind, 5))
	var at [blobs][2]float64
	var bend [blobs][latent][2]float64
	x, y, direction := 8+12*shape.Float64(), 8+12*shape.Float64(), 2*math.Pi*shape.Float64()
	for k := range at {
		at[k] = [2]float64{x, y}
		direction += shape.NormFloat64() * .8
		x, y = min(22, max(6, x+2.2*math.Cos(direction))), min(22, max(6, y+2.2*math.Sin(direction)))
		for l := range bend[k] {
			bend[k][l] = [2]float64{shape.NormFloat64() * .5, shape.NormFloat64() * .5}
		}
	}
	out := mat.NewDense(number, benchSide*benchSide, nil)
	for i := range number {
		var z [latent]float64
		for l := range z {
			z[l] = rng.NormFloat64()
		}
		row := out.RawRowView(i)
		for k := range at {
			cx, cy := at[k][0]+.2*rng.NormFloat64(), at[k][1]+.2*rng.NormFloat64()
			for l, v := range z {
				cx += v * bend[k][l][0]
				cy += v * bend[k][l][1]
			}
			for r := range benchSide {
				for c := range benchSide {
					d := (float64(r)-cy)*(float64(r)-cy) + (float64(c)-cx)*(float64(c)-cx)
					if d < 16 {
						row[r*benchSide+c] = min(1, row[r*benchSide+c]+math.Exp(-d/2.5))
					}
				}
			}
		}
	}
	return out
}

// withEngine calls f with an engine of the CPU in float64, with one worker.
func withEngine(f func(e *engine.Engine) error) (err error) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return f(e)
}

// benchBuild times a machine of pictures, by the secant iteration and by the paper's (43).
func benchBuild(ctx context.Context, m experiment.Meter) error {
	y := pictures(1, 1000, rand.New(rand.NewPCG(1, 1)))
	return withEngine(func(e *engine.Engine) error {
		fit := func(it hull.Iteration) func() error {
			return func() error {
				_, err := hull.Fit(ctx, e, y, hull.Options{Dim: 20, Layers: 5, Iteration: it})
				return err
			}
		}
		secant, err := m.Time("secant", fit(hull.Secant))
		if err != nil {
			return err
		}
		picard, err := m.Time("the paper's iteration", fit(hull.Picard))
		if err != nil {
			return err
		}
		m.Value("the paper's iteration to secant", picard/secant, "times", experiment.Target{AtLeast: 1.5})
		return nil
	})
}

// benchWide times a machine of samples with more columns than rows.
func benchWide(ctx context.Context, m experiment.Meter) error {
	rng := rand.New(rand.NewPCG(2, 1))
	y := mat.NewDense(1000, 10000, nil)
	for i := range y.RawMatrix().Data {
		y.RawMatrix().Data[i] = rng.NormFloat64()
	}
	return withEngine(func(e *engine.Engine) error {
		cpu, err := m.Time("fit", func() error {
			_, err := hull.Fit(ctx, e, y, hull.Options{Dim: 20})
			return err
		})
		m.Value("fit: CPU", cpu, "s", experiment.Target{AtMost: 3})
		return err
	})
}

// benchSearch times the search for the nearest machine, and counts how often the bounds
// spare a distance.
func benchSearch(ctx context.Context, m experiment.Meter) error {
	const kinds, samples, queries, few = 60, 1000, 10000, 128
	rng := rand.New(rand.NewPCG(3, 1))
	return withEngine(func(e *engine.Engine) error {
		machines, groups := make([]*hull.Machine, kinds), make([]int, kinds)
		q := mat.NewDense(queries, benchSide*benchSide, nil)
		for k := range machines {
			var err error
			machines[k], err = hull.Fit(ctx, e, pictures(uint64(k), samples, rng), hull.Options{Dim: 20, Layers: 5})
			if err != nil {
				return err
			}
			groups[k] = k
			more := pictures(uint64(k), queries/kinds+1, rng)
			for i := range more.RawMatrix().Rows {
				if r := i*kinds + k; r < queries {
					q.SetRow(r, more.RawRowView(i))
				}
			}
		}
		s, err := hull.NewEnsemble(machines, groups)
		if err != nil {
			return err
		}
		first := mat.DenseCopyOf(q.Slice(0, few, 0, benchSide*benchSide))
		var full, pruned *hull.Nearest
		slow, err := m.Time("all distances in float64, 128 pictures", func() (err error) {
			full, err = s.Nearest(ctx, e, first, hull.Search{Exhaustive: true})
			return err
		})
		if err != nil {
			return err
		}
		fast, err := m.Time("with bounds, 10,000 pictures", func() (err error) {
			pruned, err = s.Nearest(ctx, e, q, hull.Search{})
			return err
		})
		if err != nil {
			return err
		}
		equal := 0
		for i := range few {
			if full.Machine[i][0] == pruned.Machine[i][0] {
				equal++
			}
		}
		m.Value("pairs evaluated in full", 100*float64(pruned.Evaluated)/float64(pruned.Pairs), "%",
			experiment.Target{})
		m.Value("of 128 decisions, equal", float64(equal), "", experiment.Target{AtLeast: few})
		m.Value("all distances to bounds, per picture", slow/few/(fast/queries), "times",
			experiment.Target{AtLeast: 8})
		return nil
	})
}

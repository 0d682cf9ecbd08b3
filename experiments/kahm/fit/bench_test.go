package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/hull"
)

const benchSide = 28

// pictures returns grey-scale pictures of one kind by formula: strokes of blobs that a few
// latent numbers bend.
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

// benchEngine returns an engine of the CPU in float64, with one worker.
func benchEngine(b *testing.B) *engine.Engine {
	b.Helper()
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	return e
}

// BenchmarkFit fits a machine of 1,000 pictures of 28×28, n = 20, 5 layers, by the secant
// iteration and by the paper's (43), and one of 1,000 samples of 10,000 columns, n = 20, one
// layer (the last row of Table 11).
func BenchmarkFit(b *testing.B) {
	small := pictures(1, 1000, rand.New(rand.NewPCG(1, 1)))
	rng := rand.New(rand.NewPCG(2, 1))
	wide := mat.NewDense(1000, 10000, nil)
	wide.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, wide)
	e := benchEngine(b)
	for _, row := range []struct {
		name    string
		y       *mat.Dense
		options hull.Options
	}{
		{"secant", small, hull.Options{Dim: 20, Layers: 5, Iteration: hull.Secant}},
		{"picard", small, hull.Options{Dim: 20, Layers: 5, Iteration: hull.Picard}},
		{"wide", wide, hull.Options{Dim: 20}},
	} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := hull.Fit(b.Context(), e, row.y, row.options); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSearch finds the nearest of 60 machines of 1,000 pictures each, 5 layers (as for
// handwritten digits): by all distances in float64 for 128 pictures, and with bounds for
// 10,000. Fitting the machines takes a minute.
func BenchmarkSearch(b *testing.B) {
	const kinds, samples, queries, few = 60, 1000, 10000, 128
	rng := rand.New(rand.NewPCG(3, 1))
	e := benchEngine(b)
	machines, groups := make([]*hull.Machine, kinds), make([]int, kinds)
	q := mat.NewDense(queries, benchSide*benchSide, nil)
	for k := range machines {
		var err error
		machines[k], err = hull.Fit(b.Context(), e, pictures(uint64(k), samples, rng), hull.Options{Dim: 20, Layers: 5})
		if err != nil {
			b.Fatal(err)
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
		b.Fatal(err)
	}
	for _, row := range []struct {
		name     string
		pictures int
		search   hull.Search
	}{{"exhaustive", few, hull.Search{Exhaustive: true}}, {"bounds", queries, hull.Search{}}} {
		b.Run(row.name, func(b *testing.B) {
			some := mat.DenseCopyOf(q.Slice(0, row.pictures, 0, benchSide*benchSide))
			var found *hull.Nearest
			for b.Loop() {
				var err error
				if found, err = s.Nearest(b.Context(), e, some, row.search); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N*row.pictures), "ms/picture")
			b.ReportMetric(100*float64(found.Evaluated)/float64(max(1, found.Pairs)), "%evaluated")
		})
	}
}

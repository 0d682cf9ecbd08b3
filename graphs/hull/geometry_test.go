package hull_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/hull"
	"privkern/graphs/internal/graphtest"
)

// formula is the formula-generated data of class c: 40×12.
func formula(c float64) *mat.Dense {
	y := mat.NewDense(40, 12, nil)
	for i := range 40 {
		for j := range 12 {
			a, b := float64(i+1), float64(j+1)
			y.Set(i, j, math.Sin(.37*a*b+a+c)+.6*c*math.Cos(.5*b))
		}
	}
	return y
}

func query() *mat.Dense {
	q := mat.NewDense(1, 12, nil)
	for j := range 12 {
		q.Set(0, j, .8*math.Sin(.37*7.5*float64(j+1)+7.5))
	}
	return q
}

// Values of an independent implementation in extended precision.
func TestReference(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		e := graphtest.Engine(t, "float64", 1)
		for _, it := range []hull.Iteration{hull.Picard, hull.Secant} {
			for c, gamma := range []float64{1.7876986487886992, 2.2022103837600944, 2.5986224160128337} {
				m, err := hull.Fit(context.Background(), e, formula(float64(c)), hull.Options{Dim: 5, Layers: 3, Iteration: it})
				if err != nil {
					t.Fatal(err)
				}
				if c == 0 {
					for l, want := range []float64{1.3069495043456074, 1.3424050108117629, 1.370985548498175} {
						if got := m.Lambda(l); math.Abs(got-want) > 1e-12 {
							t.Errorf("λ of layer %d is %.16g, want %.16g", l+1, got, want)
						}
						if it == hull.Picard && m.Iterations(l) != 9 {
							t.Errorf("layer %d took %d iterations, want 9", l+1, m.Iterations(l))
						}
					}
				}
				d, err := m.Distances(context.Background(), e, query())
				if err != nil {
					t.Fatal(err)
				}
				if _, got := hull.NearestLayer(d.RawRowView(0)); math.Abs(got-gamma) > 1e-10 {
					t.Errorf("class %d: the distance is %.16g, want %.16g", c, got, gamma)
				}
			}
		}
	})
}

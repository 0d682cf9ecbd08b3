package recognise

import (
	"math"
	"math/rand/v2"

	"privkern/experiments/dataset/readers"

	"gonum.org/v1/gonum/mat"
)

// Columns of the surrogate depend on few hidden movements, as HAR's, which
// describe one recording of six signals in 561 ways.
const surrogateMovements = 40

// surrogate returns simulated windows with the size and the structure of HAR's first 20 people:
// nobody's data. Windows of a person at an activity follow one another in time, and neighbouring
// windows share half of their own movement, as windows that overlap by half do.
//
// A window is tanh(W(a + p + i + e)/√40): hidden movements of the activity, of the person, of the
// person at the activity, and of the window, which are normal with deviations 1, .3, .6 and 1.
func surrogate(windows, columns int, rng *rand.Rand) Samples {
	normal := func(rows, columns int, deviation float64) *mat.Dense {
		m := mat.NewDense(rows, columns, nil)
		m.Apply(func(_, _ int, _ float64) float64 { return deviation * rng.NormFloat64() }, m)
		return m
	}
	const groups = harSubjects * readers.HARActivities
	mixing := normal(surrogateMovements, columns, 1/math.Sqrt(surrogateMovements))
	activity, person := normal(readers.HARActivities, surrogateMovements, 1), normal(harSubjects, surrogateMovements, .3)
	own := normal(groups, surrogateMovements, .6)

	hidden := mat.NewDense(windows, surrogateMovements, nil)
	s := Samples{X: mat.NewDense(windows, columns, nil), Utility: make([]int, windows), Privacy: make([]int, windows)}
	noise := make([]float64, surrogateMovements)
	previous := -1
	for i := range windows {
		g := i * groups / windows
		p, a := g/readers.HARActivities, g%readers.HARActivities
		s.Utility[i], s.Privacy[i] = a, p
		row := hidden.RawRowView(i)
		for j := range row {
			if fresh := rng.NormFloat64(); g != previous {
				noise[j] = fresh
			} else {
				noise[j] = .5*noise[j] + math.Sqrt(.75)*fresh
			}
			row[j] = activity.At(a, j) + person.At(p, j) + own.At(g, j) + noise[j]
		}
		previous = g
	}
	s.X.Mul(hidden, mixing)
	s.X.Apply(func(_, _ int, v float64) float64 { return math.Tanh(v) }, s.X)
	return s
}

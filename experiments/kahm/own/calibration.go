package own

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/learn"
)

// Calibration are the training rows in [0, 1], split again: machines of one part see the other as they will see rows
// that nobody trained on.
type Calibration struct {
	Train  []wide.Source // one for each class or, where the rows have parties, for each party and class that has rows
	Held   *mat.Dense    // n×p
	Labels []int         // classes of Held, n
}

// calibrated is the share of the training rows of each class that machines for a calibration do not see.
const calibrated = 1. / 3

// Calibration splits the training rows by random draws. Rows of a person stay together. A class of which no row can be
// on either side is an error.
func (j *Judged) Calibration(rng *rand.Rand) (*Calibration, error) {
	part := &Rows{Data: &table.Data{}, Classes: j.Classes}
	part.Labels = learn.Select(j.Labels, j.trained)
	if j.People != nil {
		people := *j.People
		people.Of = learn.Select(j.People.Of, j.trained)
		part.People = &people
	}
	train, held, err := part.split(calibrated, rng)
	if err != nil {
		return nil, fmt.Errorf("of the rows that are trained on, a part is held out to fit probabilities: %w", err)
	}
	x, _ := scaled(learn.SelectRows(j.X, j.trained), j.Ranges)
	out := &Calibration{Held: learn.SelectRows(x, held)}
	if j.Parties == nil {
		out.Train = part.sources(x, train, 0)
	} else {
		out.Train = part.shares(x, train, learn.Select(j.Parties, j.trained), len(j.Holders))
	}
	out.Labels = learn.Select(part.Labels, held)
	return out, nil
}

// ClassSizes returns the number of training rows of each class, C.
func (j *Judged) ClassSizes() []int {
	sizes := make([]int, len(j.Classes))
	for _, i := range j.trained {
		sizes[j.Labels[i]]++
	}
	return sizes
}

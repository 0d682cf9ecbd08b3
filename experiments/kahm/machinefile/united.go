package machinefile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/kahm/wide"
	"privkern/graphs/engine"
	"privkern/graphs/hull"
)

// United is the classifier of one or more files: a point has the class of the nearest
// machine of any of them (Eq. 104, Remark 6). Parties exchange files, and no rows.
type United struct {
	models  []*Model
	classes []string // of all models, in the order in which they first occur

	mu       sync.Mutex
	ensemble *hull.Ensemble // nil until it is asked for
	machine  []place
	warnings []string // of the fit
}

// place says of a machine of which file and class it is.
type place struct{ model, class int }

// Unite unites classifiers of the same inputs and ranges. The error names the first of the
// models, counted from 0, that does not suit the one before all.
func Unite(models ...*Model) (*United, error) {
	u := &United{models: models}
	first := models[0]
	for i, m := range models {
		switch {
		case !slices.Equal(m.Inputs, first.Inputs):
			return nil, fmt.Errorf("model %d is of other inputs than model 1, or has them in another order: %s and not %s",
				i+1, names(m.Inputs), names(first.Inputs))
		case !slices.Equal(m.Low, first.Low) || !slices.Equal(m.High, first.High):
			return nil, fmt.Errorf("model %d has other ranges of its inputs than model 1: their distances do not compare; "+
				"the parties need the same low and high", i+1)
		}
		for _, c := range m.Classes {
			if !slices.Contains(u.classes, c) {
				u.classes = append(u.classes, c)
			}
		}
	}
	return u, nil
}

// names lists a few names.
func names(all []string) string {
	const most = 5
	if len(all) > most {
		return fmt.Sprintf("%q and %d more", all[:most], len(all)-most)
	}
	return fmt.Sprintf("%q", all)
}

// Inputs are the columns that are predicted from.
func (u *United) Inputs() []string { return u.models[0].Inputs }

// Classification is of points, one after the other.
type Classification struct {
	Class    []string // the class of the nearest machine
	Distance []float64
	Party    []int // the model that has it, counted from 1
	Warnings []string
}

// Classify classifies the rows of x (P×p), in float64 on one engine for cpu. Warnings say
// what is computed but suspect.
func (u *United) Classify(ctx context.Context, x *mat.Dense) (c *Classification, err error) {
	e, err := engine.Open("cpu", "float64", 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := u.fit(ctx, e); err != nil {
		return nil, err
	}
	scaled, outside := mat.DenseCopyOf(x), 0
	ranges := &wide.Ranges{Low: u.models[0].Low, High: u.models[0].High}
	n, p := x.Dims()
	for i := range n {
		outside += ranges.Scale(scaled.RawRowView(i))
	}
	nearest, err := u.ensemble.Nearest(ctx, e, scaled, hull.Search{})
	if err != nil {
		return nil, err
	}
	c = &Classification{Warnings: append(slices.Clone(u.warnings), e.Warnings()...)}
	if outside > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d of %d numbers are beyond the range of their input, and were taken "+
			"for its end", outside, n*p))
	}
	for i := range n {
		at := nearest.Machine[i][0]
		if at < 0 {
			return nil, fmt.Errorf("row %d of the inputs (counted from 1) has no image under any machine, because the sum of "+
				"memberships is not safely positive (the paper's Eq. 148 fails): there is no class for it", i+1)
		}
		c.Class = append(c.Class, u.classes[u.machine[at].class])
		c.Distance = append(c.Distance, nearest.Distance.At(i, 0))
		c.Party = append(c.Party, u.machine[at].model+1)
	}
	return c, nil
}

// fit fits the machines of all models.
func (u *United) fit(ctx context.Context, e *engine.Engine) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ensemble != nil {
		return nil
	}
	var all []*hull.Machine
	u.machine = nil
	for k, m := range u.models {
		samples := make([]*mat.Dense, len(m.Machines))
		for i, one := range m.Machines {
			samples[i] = one.matrix()
			u.machine = append(u.machine, place{k, slices.Index(u.classes, m.Classes[one.Class])})
		}
		fitted := make([]*hull.Machine, len(samples))
		err := hull.FitAll(ctx, e, samples, wide.MachineOptions(m.Directions, m.Layers),
			func(i int, machine *hull.Machine, err error) error {
				if err != nil {
					return fmt.Errorf("machine %d of model %d: %w", i+1, k+1, err)
				}
				fitted[i] = machine
				return nil
			})
		if err != nil {
			return err
		}
		all = append(all, fitted...)
	}
	ensemble, err := hull.NewEnsemble(all, make([]int, len(all)))
	u.ensemble = ensemble
	return err
}

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
	files   []File
	classes []string // of all files, in the order in which they first occur

	mu       sync.Mutex
	ensemble *hull.Ensemble // nil until it is asked for
	machine  []place
	warnings []string // of the fit
}

// File is a model with the path of its file.
type File struct {
	Path string
	*Model
}

// place says of a machine of which file and class it is.
type place struct{ file, class int }

// Unite unites classifiers of the same inputs and ranges. The error names the path of the
// first that does not suit the one before all.
func Unite(files ...File) (*United, error) {
	u := &United{files: files}
	first := files[0]
	for _, m := range files {
		if !slices.Equal(m.Inputs, first.Inputs) {
			return nil, fmt.Errorf("%s is of other inputs than %s, or has them in another order: %s and not %s; the parties "+
				"need the same inputs", m.Path, first.Path, names(m.Inputs), names(first.Inputs))
		}
		for j, name := range m.Inputs {
			if m.Low[j] != first.Low[j] || m.High[j] != first.High[j] {
				return nil, fmt.Errorf("%s has another range of the input %q than %s, %g to %g and not %g to %g: their distances "+
					"do not compare; the parties need the same low and high", m.Path, name, first.Path, m.Low[j], m.High[j],
					first.Low[j], first.High[j])
			}
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
func (u *United) Inputs() []string { return u.files[0].Inputs }

// Classification is of points, one after the other.
type Classification struct {
	Class    []string // the class of the nearest machine
	Distance []float64
	Party    []int // the file that has it, counted from 1
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
	ranges := &wide.Ranges{Low: u.files[0].Low, High: u.files[0].High}
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
		c.Party = append(c.Party, u.machine[at].file+1)
	}
	return c, nil
}

// fit fits the machines of all files.
func (u *United) fit(ctx context.Context, e *engine.Engine) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ensemble != nil {
		return nil
	}
	var all []*hull.Machine
	u.machine = nil
	for k, m := range u.files {
		samples := make([]*mat.Dense, len(m.Machines))
		for i, one := range m.Machines {
			samples[i] = one.matrix()
			u.machine = append(u.machine, place{k, slices.Index(u.classes, m.Classes[one.Class])})
		}
		fitted := make([]*hull.Machine, len(samples))
		err := hull.FitAll(ctx, e, samples, wide.MachineOptions(m.Directions, m.Layers),
			func(i int, machine *hull.Machine, err error) error {
				if err != nil {
					return fmt.Errorf("%s: machines[%d]: %w", m.Path, i, err)
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

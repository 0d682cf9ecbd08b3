package machinefile

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/kahm/wide"
	"privkern/experiments/model"
	"privkern/graphs/engine"
	"privkern/graphs/hull"
)

// Unite implements [model.Uniter]: the files must have the inputs and ranges of the first.
func (m *Model) Unite(files []model.File) error {
	first := files[0].Path
	for _, f := range files {
		other, ok := f.Payload.(*Model)
		if !ok {
			return fmt.Errorf("%s is of another format than %s: only classifiers of affine hull machines are united with each "+
				"other; leave it out", f.Path, first)
		}
		if !slices.Equal(other.Inputs, m.Inputs) {
			return fmt.Errorf("%s is of other inputs than %s, or has them in another order: %s and not %s; the parties "+
				"need the same inputs", f.Path, first, names(other.Inputs), names(m.Inputs))
		}
		for j, name := range m.Inputs {
			if other.Low[j] != m.Low[j] || other.High[j] != m.High[j] {
				return fmt.Errorf("%s has another range of the input %q than %s, %g to %g and not %g to %g: their distances "+
					"do not compare; the parties need the same low and high", f.Path, name, first, other.Low[j], other.High[j],
					m.Low[j], m.High[j])
			}
		}
	}
	return nil
}

// names lists a few names.
func names(all []string) string {
	const most = 5
	if len(all) > most {
		return fmt.Sprintf("%q and %d more", all[:most], len(all)-most)
	}
	return fmt.Sprintf("%q", all)
}

// Predict implements [model.Payload] by the nearest machine of any file (Eq. 104, Remark 6):
// the distance to it, its class and, of several files, the one that has it, counted from 1.
func (m *Model) Predict(ctx context.Context, q *model.Query) (*model.Prediction, error) {
	machines, owners, err := fit(ctx, q.Engine, q.Files)
	if err != nil {
		return nil, err
	}
	ensemble, err := hull.NewEnsemble(machines, make([]int, len(machines)))
	if err != nil {
		return nil, err
	}
	scaled, outside := m.scaled(q.X)
	n, inputs := scaled.Dims()
	nearest, err := ensemble.Nearest(ctx, q.Engine, scaled, hull.Search{})
	if err != nil {
		return nil, err
	}
	p := &model.Prediction{Columns: []string{columnDistance}, Warnings: q.Engine.Warnings()}
	p.WarnOfEnds(outside, n*inputs)
	several := len(q.Files) > 1
	if several {
		p.Columns = append(p.Columns, columnParty)
	}
	for i := range n {
		at := nearest.Machine[i][0]
		if at < 0 {
			return nil, fmt.Errorf("row %d of the inputs (counted from 1) has no image under any machine, because the sum of "+
				"memberships is not safely positive (the paper's Eq. 148 fails): there is no class for it", i+1)
		}
		row := []float64{nearest.Distance.At(i, 0)}
		if several {
			row = append(row, float64(owners[at].party))
		}
		p.Rows, p.Labels = append(p.Rows, row), append(p.Labels, owners[at].class)
	}
	return p, nil
}

// scaled are the rows of x in the unit of the samples, and how many numbers were beyond their range.
func (m *Model) scaled(x *mat.Dense) (u *mat.Dense, outside int) {
	u = mat.DenseCopyOf(x)
	ranges := &wide.Ranges{Low: m.Low, High: m.High}
	for i := range u.RawMatrix().Rows {
		outside += ranges.Scale(u.RawRowView(i))
	}
	return u, outside
}

// Scores implements [model.Scorer]: minus the distance to the nearest machine of each class.
func (m *Model) Scores(ctx context.Context, q *model.Query) ([][]float64, error) {
	machines, _, err := fit(ctx, q.Engine, q.Files)
	if err != nil {
		return nil, err
	}
	classes := make([]int, len(machines))
	for i, one := range m.Machines {
		classes[i] = one.Class
	}
	ensemble, err := hull.NewEnsemble(machines, classes)
	if err != nil {
		return nil, err
	}
	u, _ := m.scaled(q.X)
	nearest, err := ensemble.Nearest(ctx, q.Engine, u, hull.Search{ByGroup: true})
	if err != nil {
		return nil, err
	}
	return Nearness(nearest.Distance), nil
}

// Nearness are minus the distances of points to machines of classes (N×C), as scores of the classes (C×N). An infinite
// distance, of a point without an image, becomes the largest finite one, or 0 where there is none: differences
// of scores are numbers then.
func Nearness(distances *mat.Dense) [][]float64 {
	n, classes := distances.Dims()
	largest := 0.0
	for _, v := range distances.RawMatrix().Data {
		if !math.IsInf(v, 1) {
			largest = max(largest, v)
		}
	}
	out := make([][]float64, classes)
	for c := range out {
		for i := range n {
			out[c] = append(out[c], -min(distances.At(i, c), largest))
		}
	}
	return out
}

// Held implements [model.Holder]: the samples with their classes.
func (m *Model) Held() (h model.Held) {
	ranges := &wide.Ranges{Low: m.Low, High: m.High}
	for j, low := range m.Low {
		scale := 0.0
		if m.High[j] > low {
			scale = 1 / (m.High[j] - low)
		}
		h.Scale = append(h.Scale, scale)
	}
	for _, one := range m.Machines {
		for _, u := range one.Samples {
			row := slices.Clone(u)
			ranges.Restore(row)
			h.Points, h.Outputs = append(h.Points, row), append(h.Outputs, float64(one.Class))
		}
	}
	return h
}

// owner identifies the class and the file of a machine.
type owner struct {
	class string
	party int // counted from 1
}

// fit fits the machines of all files.
func fit(ctx context.Context, e *engine.Engine, files []model.File) (all []*hull.Machine, owners []owner, err error) {
	for k, f := range files {
		m := f.Payload.(*Model)
		fitted, err := m.fit(ctx, e)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		all = append(all, fitted...)
		for _, one := range m.Machines {
			owners = append(owners, owner{m.Classes[one.Class], k + 1})
		}
	}
	return all, owners, nil
}

// fit fits the machines, with the λ that they have.
func (m *Model) fit(ctx context.Context, e *engine.Engine) ([]*hull.Machine, error) {
	opts, samples := wide.MachineOptions(m.Directions, m.Layers, wide.Exact), make([]*mat.Dense, len(m.Machines))
	for i, one := range m.Machines {
		samples[i] = model.Dense(one.Samples)
		if one.Lambda != nil { // all have it, or none
			opts.Lambdas = append(opts.Lambdas, one.Lambda)
		}
	}
	fitted := make([]*hull.Machine, len(samples))
	err := hull.FitAll(ctx, e, samples, opts, func(i int, machine *hull.Machine, err error) error {
		if err != nil {
			return fmt.Errorf("machines[%d]: %w", i, err)
		}
		fitted[i] = machine
		return nil
	})
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

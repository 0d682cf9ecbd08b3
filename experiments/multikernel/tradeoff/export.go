package tradeoff

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/model"
	"privkern/experiments/multikernel/kernellist"
	"privkern/experiments/multikernel/projectionfile"
	"privkern/experiments/multikernel/recognise"
	"privkern/graphs/discriminant"
	"privkern/runner/experiment"
)

const about = "A learnt compression: run predict FILE --at DATA makes features of rows that have the inputs. It has " +
	"no guarantee; see privacy."

// export learns the compression from all rows.
func export(ctx context.Context, t *experiment.Trial, s *Settings) (*experiment.Release, error) {
	l, err := newLearner(t, s)
	if err != nil {
		return nil, err
	}
	rows := learn.AllRows(len(l.data.joint))
	if err := s.checkRows(len(rows)); err != nil {
		return nil, err
	}
	l.all = len(l.spec.Kernels) + 1
	c, err := l.choose(ctx, l.spec.Kernels, rows)
	if err != nil {
		return nil, err
	}
	l.step("kernels chosen")
	p, err := l.part(rows, c.rho)
	if err != nil {
		return nil, err
	}
	maps, factors := make([]*discriminant.Map, len(c.kernels)), make([]*mat.Dense, len(c.kernels))
	for i, k := range c.kernels {
		if maps[i], factors[i], err = p.fit(ctx, k); err != nil {
			return nil, err
		}
		l.step("kernels compressed")
	}
	f, err := l.spec.Combine(ctx, l.e, factors, make([]*mat.Dense, len(factors)), p.train.Utility, p.train.Privacy)
	if err != nil {
		return nil, err
	}
	m := l.model(p, c.kernels, maps, f.Weights, f.Traces)
	var warnings []string
	if m.Points.Are == projectionfile.TrainingRows {
		warnings = append(warnings, heldWords[m.Points.Are])
	}
	if w := recognise.NotCompressed(l.components, f.Weights, len(l.data.names)); w != "" {
		warnings = append(warnings, w)
	}
	return &experiment.Release{Model: m, Privacy: m.Privacy, Warnings: append(warnings, l.e.Warnings()...),
		Metrics: map[string]float64{"components": float64(l.components)}}, nil
}

// model returns the file. Kernels without weight are omitted.
func (l *learner) model(p *part, kernels []kernellist.Kernel, maps []*discriminant.Map, weights, traces []float64,
) *projectionfile.Model {
	s := l.settings
	m := &projectionfile.Model{Format: projectionfile.Format, About: about, InputNames: l.data.names,
		Hidden:     l.data.privacy.column,
		Projection: s.Projection.String(), Method: s.Method, Points: projectionfile.Points{Are: projectionfile.NoPoints}}
	for _, u := range l.data.utilities {
		m.Utility = append(m.Utility, u.column)
	}
	if p.scaling != nil {
		m.Scaling = &projectionfile.Scaling{Mean: p.scaling.Mean, Scale: p.scaling.Scale}
	}
	for i, k := range kernels {
		if weights[i] == 0 {
			continue
		}
		direct := k.Family == "linear"
		m.Kernels = append(m.Kernels, projectionfile.Kernel{Name: k.Text, Weight: weights[i],
			Scale: math.Sqrt(weights[i] / traces[i]), Direct: direct,
			Coefficients: model.Rows(maps[i].Coefficients), Shift: slices.Clone(maps[i].Shift)})
		if !direct {
			m.Points = l.points(p)
		}
	}
	for i := range len(m.Kernels) * l.components {
		m.Columns = append(m.Columns, fmt.Sprintf("z%d", i+1))
	}
	m.Privacy = l.data.privacyOf()
	m.Privacy.Notes = append(m.Privacy.Notes, heldWords[m.Points.Are], "coefficients, scales and means are computed from "+
		"all rows, without noise")
	return m
}

// heldWords describe the rows in a file by the origin of its points.
var heldWords = map[string]string{
	projectionfile.NoPoints: "the file holds no row: its kernels are linear",
	projectionfile.TrainingRows: "the file holds the training rows themselves, all inputs of all of them or of as many " +
		"as nystrom, since its kernels compare with them: hand it to nobody who may not see these rows, or export with " +
		"landmarks, or with " +
		"kernels=linear",
	projectionfile.Landmarks: "the file holds the landmarks, which whoever exported it says are public, and no other row",
}

// points returns the first arguments of the kernels, in the unit of the inputs.
func (l *learner) points(p *part) projectionfile.Points {
	if p.drawn != nil {
		return projectionfile.Points{Are: projectionfile.TrainingRows, Rows: model.Rows(p.drawn)}
	}
	if l.data.landmarks != nil {
		return projectionfile.Points{Are: projectionfile.Landmarks, Rows: model.Rows(l.data.landmarks)}
	}
	return projectionfile.Points{Are: projectionfile.TrainingRows, Rows: model.Rows(l.data.x)}
}

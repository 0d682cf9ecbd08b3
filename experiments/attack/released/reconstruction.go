package released

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"privkern/experiments/learn"
	"privkern/experiments/model"
)

// reconstruction restores outputs of all rows from their inputs.
func (f *File) reconstruction(ctx context.Context, d *data, out *Results) error {
	p, err := f.predict(ctx, d.X)
	if err != nil {
		return err
	}
	n, member := d.Len(), d.rowMembers()
	truth, restored := d.Values, p.Mean
	if d.Labels != nil {
		truth, restored = make([]float64, n), make([]float64, n)
		for i, l := range d.Labels {
			truth[i], restored[i] = float64(l), float64(largest(p.Scores, i))
		}
	}
	out.measure(d.Labels != nil, "the output of a row")
	if d.Labels == nil {
		out.add("middle of the range", slices.Repeat([]float64{f.of.Middle}, n), truth, member)
	}
	if d.others() > 0 {
		common, blind, err := d.known(truth)
		if err != nil {
			return err
		}
		if d.Labels != nil {
			out.add("largest class of others", common, truth, member)
		}
		out.add(without, blind, truth, member)
	}
	out.add(with, restored, truth, member)
	if holder, ok := f.Files[0].Payload.(model.Holder); ok {
		h := holder.Held()
		at, _, err := nearest(ctx, h, d.X)
		if err != nil {
			return err
		}
		out.add(held, pick(h.Outputs, at), truth, member)
	}
	out.conclude(d.Output, member)
	return nil
}

// known are guesses by others alone: their largest class, and predictions of a learner from the inputs, of each row by
// others of the other parts.
func (d *data) known(truth []float64) (common, blind []float64, err error) {
	part := d.rowParts()
	common, blind = make([]float64, d.Len()), make([]float64, d.Len())
	for k := range parts {
		train := among(part, k, false, func(row int) bool { return row >= d.members })
		test := among(part, k, true, nil)
		x, at, y := learn.SelectRows(d.X, train), learn.SelectRows(d.X, test), pick(truth, train)
		if d.Labels == nil {
			values, err := regress(x, y, at)
			if err != nil {
				return nil, nil, err
			}
			for i, row := range test {
				blind[row] = values[i]
			}
			continue
		}
		labels, counts := pick(d.Labels, train), make([]float64, len(d.Classes))
		for _, l := range labels {
			counts[l]++
		}
		scores, err := classify(x, labels, max(2, len(d.Classes)), at)
		if err != nil {
			return nil, nil, err
		}
		for i, row := range test {
			common[row], blind[row] = float64(floats.MaxIdx(counts)), float64(largest(scores, i))
		}
	}
	return common, blind, nil
}

package released

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/experiments/model"
)

// reconstruction restores outputs of all rows from their inputs.
func (f *File) reconstruction(ctx context.Context, d *data, out *Results) error {
	p, err := f.predict(ctx, d.X)
	if err != nil {
		return err
	}
	n, member := d.Len(), d.rowMembers()
	truth := d.Values
	if d.Labels != nil {
		truth = make([]float64, n)
		for i, l := range d.Labels {
			truth[i] = float64(l)
		}
	}
	out.measure(d.Labels != nil, "the output of a row")
	if d.Labels == nil {
		out.add("middle of the range", slices.Repeat([]float64{f.of.Middle}, n), truth, member)
	}
	if d.others() > 0 {
		blind, common, err := d.known(d.rowParts())
		if err != nil {
			return err
		}
		if d.Labels != nil {
			out.add("largest class of others", common, truth, member)
		}
		out.add(without, restored(blind), truth, member)
	}
	out.add(with, restored(p), truth, member)
	if holder, ok := f.Files[0].Payload.(model.Holder); ok {
		h := holder.Held()
		at, _, err := nearest(ctx, h, d.X)
		if err != nil {
			return err
		}
		out.add(held, learn.Select(h.Outputs, at), truth, member)
	}
	out.conclude(d.Output, member)
	return nil
}

// restored are the outputs that a prediction names: numbers, or those of classes.
func restored(p *method.Prediction) []float64 {
	if p.Scores == nil {
		return p.Mean
	}
	out := make([]float64, len(p.Scores[0]))
	for i := range out {
		out[i] = float64(largest(p.Scores, i))
	}
	return out
}

// known returns predictions of outputs by others alone, those of a learner from the inputs, of each row by others of
// the other parts; and the number of their largest class.
func (d *data) known(part []int) (p *method.Prediction, common []float64, err error) {
	classes := 1
	if d.Labels != nil {
		classes = max(2, len(d.Classes))
	}
	all, common := make([][]float64, classes), make([]float64, d.Len())
	for c := range all {
		all[c] = make([]float64, d.Len())
	}
	for k := range parts {
		train := among(part, k, false, func(row int) bool { return row >= d.members })
		test := among(part, k, true, nil)
		x, at := learn.SelectRows(d.X, train), learn.SelectRows(d.X, test)
		scores, counts := make([][]float64, classes), make([]float64, classes)
		if d.Labels == nil {
			scores[0], err = regress(x, learn.Select(d.Values, train), at)
		} else {
			labels := learn.Select(d.Labels, train)
			for _, l := range labels {
				counts[l]++
			}
			scores, err = classify(x, labels, classes, at)
		}
		if err != nil {
			return nil, nil, err
		}
		for i, row := range test {
			common[row] = float64(floats.MaxIdx(counts))
			for c := range all {
				all[c][row] = scores[c][i]
			}
		}
	}
	if d.Labels == nil {
		return &method.Prediction{Mean: all[0]}, common, nil
	}
	return &method.Prediction{Scores: all}, common, nil
}

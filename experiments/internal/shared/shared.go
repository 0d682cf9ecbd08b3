// Package shared does work that trials of a sweep have in common once: it joins the
// results that the runner keeps ([experiment.Trial.Memo]) with the warnings of an engine.
package shared

import (
	"context"
	"fmt"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Numbers are the results of work: columns by name.
type Numbers map[string][]float64

// Work returns the result of compute, in this or in another trial of the sweep,
// and the time of the work. Name and key are those of [experiment.Trial.Memo]. The engine
// has the warnings of the work either way; nothing else may use it meanwhile.
func Work(ctx context.Context, t *experiment.Trial, e *engine.Engine, name string, key func(*experiment.Inputs),
	compute func() (Numbers, error)) (Numbers, time.Duration, error) {
	v, err := t.Memo(ctx, name, key, func() (*experiment.Shared, error) {
		var out Numbers
		given, err := e.Warned(func() (err error) {
			out, err = compute()
			return err
		})
		if err != nil {
			return nil, err
		}
		return &experiment.Shared{Numbers: out, Texts: given}, nil
	})
	if err != nil {
		return nil, 0, err
	}
	for _, text := range v.Texts {
		e.Warn("%s", text)
	}
	return v.Numbers, v.Took, nil
}

// AddMatrix adds the shape and the elements of a matrix to the inputs of some work.
func AddMatrix(in *experiment.Inputs, x *mat.Dense) {
	n, columns := x.Dims()
	in.Whole(n, columns)
	for i := range n {
		in.Numbers(x.RawRowView(i)...)
	}
}

// Column returns the column of that name, which must have count numbers.
func (n Numbers) Column(name string, count int) ([]float64, error) {
	if got := len(n[name]); got != count {
		return nil, fmt.Errorf("a defect: shared work has %d numbers %q, not %d", got, name, count)
	}
	return n[name], nil
}

package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/discriminant"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

// discriminantFeatures measures the fit of one compressive kernel and the features of
// further samples, in float64 with one worker.
func discriminantFeatures(rows, tests, columns, classes int) func(context.Context, experiment.Meter) error {
	return func(ctx context.Context, m experiment.Meter) (err error) {
		e, err := engine.Open("cpu", "float64", 1)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, e.Close()) }()
		x := wave(rows+tests, columns, 1e-3)
		x.Apply(func(i, j int, v float64) float64 { return (v + math.Sin(float64(i%classes+j+1))) / 2 }, x)
		labels := make([]int, rows)
		for i := range labels {
			labels[i] = i % classes
		}
		train := mat.DenseCopyOf(x.Slice(0, rows, 0, columns))
		test := mat.DenseCopyOf(x.Slice(rows, rows+tests, 0, columns))
		options := discriminant.Options{Ridge: 10, SignalRidge: 1e-4, Components: classes - 1}
		var fitted *discriminant.Projection
		var projected *mat.Dense
		_, err = m.Beside(fmt.Sprintf("RBF %d×%d float64", rows, columns), experiment.Peer{
			Work: "features", DType: "float64", Sizes: []int{rows, tests, columns, classes}, AtMost: 1,
			Tolerance: tolerances["float64"],
			Result: func() (float64, error) {
				return math.Hypot(mat.Norm(fitted.Features, 2), mat.Norm(projected, 2)), nil
			},
		}, func() (err error) {
			if fitted, err = discriminant.Fit(ctx, e, kernel.RBF(.01), train, labels, options); err != nil {
				return err
			}
			projected, err = fitted.Project(ctx, e, test)
			return err
		})
		return err
	}
}

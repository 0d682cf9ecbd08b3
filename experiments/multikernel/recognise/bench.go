package recognise

import (
	"context"
	"errors"
	"math/rand/v2"

	"privkern/experiments/dataset"
	"privkern/experiments/multikernel/kernellist"
	"privkern/graphs/discriminant"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Benchmarks measure the features, on the CPU with one worker.
func Benchmarks() []experiment.Benchmark {
	return []experiment.Benchmark{
		{Name: "multikernel/har", Long: true, Run: benchHAR,
			Doc: "Features of experiment I on har-surrogate: four RBF kernels, 5,451 training and 1,080 test samples " +
				"of 561 columns."},
	}
}

func benchHAR(ctx context.Context, m experiment.Meter) (err error) {
	rng := rand.New(rand.NewPCG(4, 1))
	all := surrogate(dataset.HARReconstructed, dataset.HARFeatures, rng)
	trainRows, testRows, err := harDivision.split(all, SplitLast, rng)
	if err != nil {
		return err
	}
	train, test := all.take(trainRows), all.take(testRows)
	spec := Spec{Kernels: kernellist.Must(harKernels[0]), weights: weightSNR, scoreRidge: referenceRidge,
		compression: discriminant.Options{Ridge: 10, SignalRidge: 1e-4, Components: 5}}
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return m.Memory("memory", experiment.Target{AtMost: 2048}, func() error {
		cpu, err := m.Time("four kernels", func() error {
			_, err := MakeFeatures(ctx, new(experiment.Trial), e, train, test.X, spec, nil)
			return err
		})
		m.Value("four kernels: CPU", cpu, "s", experiment.Target{AtMost: 90})
		return err
	})
}

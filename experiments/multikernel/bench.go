package multikernel

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/multikernel"
	"privkern/runner/experiment"
)

// benchmarks measure the features, on the CPU with one worker.
func benchmarks() []experiment.Benchmark {
	return []experiment.Benchmark{
		{Name: "multikernel/har", Doc: "Features of experiment I on data of the size of HAR: four RBF kernels, 5,451 training and 1,080 test samples of 561 columns. Memory counts what earlier benchmarks of the process took: run it alone.", Run: benchHAR},
	}
}

// windows are random samples of the given number of classes and people, each of
// which moves the mean.
func windows(number, columns, classes, people int, rng *rand.Rand) Samples {
	move := func(kinds int, size float64) *mat.Dense {
		m := mat.NewDense(kinds, columns, nil)
		m.Apply(func(_, _ int, _ float64) float64 { return size * rng.NormFloat64() }, m)
		return m
	}
	activity, person := move(classes, .3), move(people, .1)
	s := Samples{X: mat.NewDense(number, columns, nil), Utility: make([]int, number), Privacy: make([]int, number)}
	for i := range number {
		s.Utility[i], s.Privacy[i] = rng.IntN(classes), rng.IntN(people)
		row, a, p := s.X.RawRowView(i), activity.RawRowView(s.Utility[i]), person.RawRowView(s.Privacy[i])
		for j := range row {
			row[j] = a[j] + p[j] + .3*rng.NormFloat64()
		}
	}
	return s
}

func benchHAR(ctx context.Context, m experiment.Meter) (err error) {
	const train, test, columns = 5451, 1080, 561
	all := windows(train+test, columns, 6, 20, rand.New(rand.NewPCG(4, 1)))
	first := Samples{X: all.X.Slice(0, train, 0, columns).(*mat.Dense), Utility: all.Utility[:train], Privacy: all.Privacy[:train]}
	rest := all.X.Slice(train, train+test, 0, columns).(*mat.Dense)
	spec := Spec{kernels: mustKernels(harKernels[0]), weights: weightSNR, scoreRidge: referenceRidge,
		compression: multikernel.Options{Ridge: 10, SignalRidge: 1e-4, Components: 5}}
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	cpu, err := m.Time("four kernels", func() error {
		_, err := MakeFeatures(ctx, e, first, rest, spec, nil)
		return err
	})
	if err != nil {
		return err
	}
	m.Value("four kernels: CPU", cpu, "s", experiment.Target{AtMost: 90})
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m.Value("memory taken from the system", float64(stats.Sys)/(1<<20), "MiB", experiment.Target{AtMost: 2048})
	return nil
}

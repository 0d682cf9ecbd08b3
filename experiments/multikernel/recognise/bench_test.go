package recognise

import (
	"math/rand/v2"
	"testing"

	"privkern/experiments/dataset/readers"
	"privkern/experiments/multikernel/kernellist"
	"privkern/graphs/discriminant"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// BenchmarkHAR computes the features of experiment I on har-surrogate: four RBF kernels,
// 5,451 training and 1,080 test samples of 561 columns.
func BenchmarkHAR(b *testing.B) {
	rng := rand.New(rand.NewPCG(4, 1))
	all := surrogate(readers.HARReconstructed, readers.HARFeatures, rng)
	trainRows, testRows, err := harDivision.split(all, SplitLast, rng)
	if err != nil {
		b.Fatal(err)
	}
	train, test := all.take(trainRows), all.take(testRows)
	spec := Spec{Kernels: kernellist.Must(harKernels[0]), weights: weightSNR, scoreRidge: referenceRidge,
		compression: discriminant.Options{Ridge: 10, SignalRidge: 1e-4, Components: 5}}
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	for b.Loop() {
		if _, err := MakeFeatures(b.Context(), new(experiment.Trial), e, train, test.X, spec, nil); err != nil {
			b.Fatal(err)
		}
	}
}

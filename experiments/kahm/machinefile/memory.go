package machinefile

import (
	"runtime"
	"slices"

	"privkern/experiments/model"
)

// The constants of the estimate of memory. Measured were, in MiB above the 55 of the process:
// 109 for a machine of 2000 samples of 2 inputs and one layer, 211 for two, 438 for two of
// 3000, as for four on two cores; 658 for one of 3000 samples of 20 inputs in 10 layers, 1230
// for one of 2000 samples of 100 inputs in 100, 1699 for two of 200 samples of 800 inputs in
// 200.
const (
	processBytes = 100 << 20
	numberBytes  = 8
	// kernelCopies and nestedCopies are the numbers of N×N matrices of a machine of N samples
	// that are alive at a time, with one layer and with more.
	kernelCopies, nestedCopies = 3.5, 10.0
	// layerCopies counts copies of a fitted layer, with those that are collected later.
	layerCopies = 2.5
	// sampleCopies counts copies of samples and of rows to classify.
	sampleCopies = 5
)

// Memory implements [model.Sizer]. Fitting a machine of N samples takes a few N×N matrices, and
// as many machines are fitted at a time as there are processors; a fitted layer of d
// directions holds N×(p + 3d) numbers.
func (m *Model) Memory(files []model.File, rows int) int64 {
	bytes := processBytes + numberBytes*sampleCopies*float64(rows)*float64(len(m.Inputs))
	var fits []float64
	for _, f := range files {
		m := f.Payload.(*Model)
		p, layers := float64(len(m.Inputs)), float64(m.Layers)
		copies := nestedCopies
		if m.Layers == 1 {
			copies = kernelCopies
		}
		directions := float64(m.Directions) - (layers-1)/2 // of a layer, in the mean
		for _, one := range m.Machines {
			n := float64(len(one.Samples))
			fits = append(fits, numberBytes*copies*n*n)
			bytes += numberBytes * n * (sampleCopies*p + layerCopies*layers*(p+3*directions))
		}
	}
	slices.Sort(fits)
	for _, fit := range fits[max(0, len(fits)-runtime.GOMAXPROCS(0)):] {
		bytes += fit
	}
	return int64(min(bytes, 1<<62))
}

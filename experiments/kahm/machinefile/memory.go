package machinefile

import (
	"runtime"
	"slices"
)

// What the estimate of memory counts with. Measured were, in MiB above the 55 of the process:
// 109 for a machine of 2000 samples of 2 inputs and one layer, 211 for two, 438 for two of
// 3000, as for four on two cores; 658 for one of 3000 samples of 20 inputs in 10 layers, 1230
// for one of 2000 samples of 100 inputs in 100, 1699 for two of 200 samples of 800 inputs in
// 200.
const (
	processBytes = 100 << 20
	numberBytes  = 8
	// kernelCopies and nestedCopies are how many matrices of a machine's samples by its samples
	// there are at a time, of one layer and of more.
	kernelCopies, nestedCopies = 3.5, 10.0
	// layerCopies is how often the numbers of a fitted layer are there, with what is collected
	// later.
	layerCopies = 2.5
	// sampleCopies is how often samples, and rows to classify, are there.
	sampleCopies = 5
)

// Memory implements [model.Sizer]. Fitting a machine of N samples takes a few N×N matrices, and
// as many machines are fitted at a time as there are processors; what is fitted stays: N×(p +
// 3d) numbers for a layer of d directions.
func (u *United) Memory(rows int) int64 {
	bytes := float64(processBytes)
	var fits []float64
	for _, m := range u.files {
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
	bytes += numberBytes * sampleCopies * float64(rows) * float64(len(u.Inputs()))
	return int64(min(bytes, 1<<62))
}

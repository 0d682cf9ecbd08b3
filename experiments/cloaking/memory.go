package cloaking

import "privkern/runner/experiment"

// laplaceMemory estimates what the classification of n training points takes,
// in bytes: with the standard method fourteen n×n matrices of the Laplace
// approximation and of its noise, otherwise little. For stripes of 500, 1,000
// and 2,000 points 99, 181 and 448 MiB were measured.
func laplaceMemory(p experiment.Params, n int) int64 {
	const process, float = 72 << 20, 8
	if p.Text("method") != methodStandard {
		return process
	}
	return process + 14*float*int64(n)*int64(n)
}

// digitsMemory is what loading the digits takes.
const digitsMemory = 110 << 20

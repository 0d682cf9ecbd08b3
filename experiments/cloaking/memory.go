package cloaking

import "privkern/runner/experiment"

// laplaceMemory estimates what the classification of n training points takes,
// in bytes: with the standard method sixteen n×n matrices of the Laplace
// approximation and of its noise, otherwise little, at most 103 MiB. For stripes of 500, 1,000
// and 2,000 points 99, 181 and 448 MiB were measured.
func laplaceMemory(p experiment.Params, n int) int64 {
	const process, float = 100 << 20, 8
	if p.Text("method") != methodStandard {
		return process + 25<<20
	}
	return process + 16*float*int64(n)*int64(n)
}

// digitsMemory is what loading the digits takes.
const digitsMemory = 130 << 20

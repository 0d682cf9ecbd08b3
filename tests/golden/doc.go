// Package golden holds the results of every experiment to the last bit, on the
// program's own kernels, in float64 on the CPU. Its tests run one or more small settings
// of each experiment and compare them with testdata/, a file for each experiment, at the
// level of vector instructions that PRIVKERN_SIMD names: all have the same bits. A
// difference at the same result version is a mistake: stored results of the old code
// would be taken for those of the new one. The message of a failure names each metric
// and series that changed, beyond rounding or in the last bits.
//
// A result that is meant to change has a raised version and a reason in the changelog.
// Then
//
//	go test ./tests/golden -update
//
// writes the files anew. It refuses a changed result whose version was not raised.
package golden

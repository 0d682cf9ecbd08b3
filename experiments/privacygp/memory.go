package privacygp

// matrixMemory estimates the memory of a trial with n points, in bytes: the given number of n×n
// matrices in addition to the process. Measured were, in MiB: example1 49 to 72, 112 and 189 for 9,
// 600 and 1,000 points, example2 58 and 121 for 9 and 600, uniform 91 and 151 for 600 and 1,000,
// satellite 109 and 149 for these, weak 57, 77 and 109 for 9, 250 and 500.
func matrixMemory(matrices, n int) int64 {
	const process, float = 92 << 20, 8
	return process + int64(matrices)*float*int64(n)*int64(n)
}

package simd

// available has NEON without a question: every arm64 processor that Go runs on has it.
func available() []Level { return []Level{Portable, NEON} }

package simd

// available includes NEON, which every arm64 processor supported by Go has.
func available() []Level { return []Level{Portable, NEON} }

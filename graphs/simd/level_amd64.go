package simd

import "golang.org/x/sys/cpu"

func available() []Level {
	levels := []Level{Portable}
	x := &cpu.X86
	if x.HasAVX2 && x.HasFMA {
		levels = append(levels, AVX2)
		if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL {
			levels = append(levels, AVX512)
		}
	}
	return levels
}

#include "textflag.h"
#include "../vector/neon_arm64.h"

// The largest elements of the columns of a panel, as in largest_amd64.s: R0 rows, of 4 vectors.

#define LARGEST(FMAX) \
	MOVD n+0(FP), R0;                       \
	MOVD x+8(FP), R1;                       \
	MOVD out+16(FP), R2;                    \
	VLD1 (R1), [V0.B16, V1.B16, V2.B16, V3.B16]; \
loop:                                     \
	VLD1.P 64(R1), [V4.B16, V5.B16, V6.B16, V7.B16]; \
	FMAX(4, 0, 0);                          \
	FMAX(5, 1, 1);                          \
	FMAX(6, 2, 2);                          \
	FMAX(7, 3, 3);                          \
	SUBS $1, R0;                            \
	BNE  loop;                              \
	VST1 [V0.B16, V1.B16, V2.B16, V3.B16], (R2); \
	RET

// func largestF64(n int, x, out *float64)
TEXT ·largestF64(SB), NOSPLIT, $0-24
	LARGEST(FMAXD)

// func largestF32(n int, x, out *float32)
TEXT ·largestF32(SB), NOSPLIT, $0-24
	LARGEST(FMAXS)

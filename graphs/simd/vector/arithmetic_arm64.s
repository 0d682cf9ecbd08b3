#include "textflag.h"
#include "neon_arm64.h"

// Operations on matching elements; n is a multiple of 64 bytes.

#define COMBINE(op, es) \
	MOVD dst+0(FP), R0; \
	MOVD x+8(FP), R1;   \
	MOVD y+16(FP), R2;  \
	MOVD n+24(FP), R3;  \
loop:                   \
	VLD1.P 64(R1), [V16.B16, V17.B16, V18.B16, V19.B16]; \
	VLD1.P 64(R2), [V20.B16, V21.B16, V22.B16, V23.B16]; \
	op(20, 16, 16);     \
	op(21, 17, 17);     \
	op(22, 18, 18);     \
	op(23, 19, 19);     \
	VST1.P [V16.B16, V17.B16, V18.B16, V19.B16], 64(R0); \
	SUBS $(64/es), R3, R3; \
	BGT  loop;          \
	RET

// func add64NEON(dst, x, y *float64, n int)
TEXT ·add64NEON(SB), NOSPLIT, $0-32
	COMBINE(FADDD, 8)

// func sub64NEON(dst, x, y *float64, n int)
TEXT ·sub64NEON(SB), NOSPLIT, $0-32
	COMBINE(FSUBD, 8)

// func mul64NEON(dst, x, y *float64, n int)
TEXT ·mul64NEON(SB), NOSPLIT, $0-32
	COMBINE(FMULD, 8)

// func add32NEON(dst, x, y *float32, n int)
TEXT ·add32NEON(SB), NOSPLIT, $0-32
	COMBINE(FADDS, 4)

// func sub32NEON(dst, x, y *float32, n int)
TEXT ·sub32NEON(SB), NOSPLIT, $0-32
	COMBINE(FSUBS, 4)

// func mul32NEON(dst, x, y *float32, n int)
TEXT ·mul32NEON(SB), NOSPLIT, $0-32
	COMBINE(FMULS, 4)

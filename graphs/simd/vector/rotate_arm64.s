#include "textflag.h"
#include "neon_arm64.h"

// Rotations and sums of rows; n is a multiple of 64 bytes.

// Two elements of a in A and of b in B.
#define ROTATE(A, B) \
	FMULD(2, B, 24);                     \
	FMULD(0, B, 25);                     \
	FMLAD(0, A, 24);                     \
	FMLAD(1, A, 25);                     \
	COPY(24, A);                         \
	COPY(25, B)

// func rotateNEON(a, b *float64, n int, c, s float64)
TEXT ·rotateNEON(SB), NOSPLIT, $0-40
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD n+16(FP), R2
	FMOVD c+24(FP), F0
	FMOVD s+32(FP), F1
	FNEGD(1, 2)
	VDUP V0.D[0], V0.D2
	VDUP V1.D[0], V1.D2
	VDUP V2.D[0], V2.D2

loop:
	VLD1 (R0), [V16.D2, V17.D2, V18.D2, V19.D2]
	VLD1 (R1), [V20.D2, V21.D2, V22.D2, V23.D2]
	ROTATE(16, 20)
	ROTATE(17, 21)
	ROTATE(18, 22)
	ROTATE(19, 23)
	VST1.P [V16.D2, V17.D2, V18.D2, V19.D2], 64(R0)
	VST1.P [V20.D2, V21.D2, V22.D2, V23.D2], 64(R1)
	SUBS $8, R2, R2
	BGT  loop
	RET

// func axpyNEON(x, y *float64, n int, alpha float64)
TEXT ·axpyNEON(SB), NOSPLIT, $0-32
	MOVD x+0(FP), R0
	MOVD y+8(FP), R1
	MOVD n+16(FP), R2
	FMOVD alpha+24(FP), F0
	VDUP V0.D[0], V0.D2

loop:
	VLD1.P 64(R0), [V16.D2, V17.D2, V18.D2, V19.D2]
	VLD1 (R1), [V20.D2, V21.D2, V22.D2, V23.D2]
	FMLAD(0, 16, 20)
	FMLAD(0, 17, 21)
	FMLAD(0, 18, 22)
	FMLAD(0, 19, 23)
	VST1.P [V20.D2, V21.D2, V22.D2, V23.D2], 64(R1)
	SUBS $8, R2, R2
	BGT  loop
	RET

#include "textflag.h"
#include "neon_arm64.h"

// Elementwise kernels; n is a multiple of 64 bytes.

// ---- float64 ----

// func scal64NEON(dst, src *float64, n int, alpha float64)
TEXT ·scal64NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	FMOVD alpha+24(FP), F0
	VDUP V0.D[0], V0.D2

loop:
	VLD1.P 64(R1), [V16.D2, V17.D2, V18.D2, V19.D2]
	FMULD(0, 16, 20)
	FMULD(0, 17, 21)
	FMULD(0, 18, 22)
	FMULD(0, 19, 23)
	VST1.P [V20.D2, V21.D2, V22.D2, V23.D2], 64(R0)
	SUBS $(64/8), R2, R2
	BGT  loop
	RET

// func norms64NEON(dst, norms *float64, n int, norm, near float64) bool
TEXT ·norms64NEON(SB), NOSPLIT, $0-41
	MOVD dst+0(FP), R0
	MOVD norms+8(FP), R1
	MOVD n+16(FP), R2
	FMOVD norm+24(FP), F0
	FMOVD near+32(FP), F1
	VDUP V0.D[0], V0.D2
	VDUP V1.D[0], V1.D2
	VEOR V31.B16, V31.B16, V31.B16

loop:
	VLD1.P 64(R1), [V16.D2, V17.D2, V18.D2, V19.D2]
	VLD1 (R0), [V20.D2, V21.D2, V22.D2, V23.D2]
	FADDD(0, 16, 16)
	FADDD(16, 20, 20)
	FMULD(1, 16, 16)
	FGTD(20, 16, 16)
	OR(16, 31, 31)
	FADDD(0, 17, 17)
	FADDD(17, 21, 21)
	FMULD(1, 17, 17)
	FGTD(21, 17, 17)
	OR(17, 31, 31)
	FADDD(0, 18, 18)
	FADDD(18, 22, 22)
	FMULD(1, 18, 18)
	FGTD(22, 18, 18)
	OR(18, 31, 31)
	FADDD(0, 19, 19)
	FADDD(19, 23, 23)
	FMULD(1, 19, 19)
	FGTD(23, 19, 19)
	OR(19, 31, 31)
	VST1.P [V20.D2, V21.D2, V22.D2, V23.D2], 64(R0)
	SUBS $(64/8), R2, R2
	BGT  loop
	VMOV V31.D[0], R3
	VMOV V31.D[1], R4
	ORR  R3, R4, R3
	CMP  $0, R3
	CSET NE, R3
	MOVB R3, ret+40(FP)
	RET


// ---- float32 ----

// func scal32NEON(dst, src *float32, n int, alpha float32)
TEXT ·scal32NEON(SB), NOSPLIT, $0-28
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	FMOVS alpha+24(FP), F0
	VDUP V0.S[0], V0.S4

loop:
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	FMULS(0, 16, 20)
	FMULS(0, 17, 21)
	FMULS(0, 18, 22)
	FMULS(0, 19, 23)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R0)
	SUBS $(64/4), R2, R2
	BGT  loop
	RET

// func norms32NEON(dst, norms *float32, n int, norm, near float32) bool
TEXT ·norms32NEON(SB), NOSPLIT, $0-33
	MOVD dst+0(FP), R0
	MOVD norms+8(FP), R1
	MOVD n+16(FP), R2
	FMOVS norm+24(FP), F0
	FMOVS near+28(FP), F1
	VDUP V0.S[0], V0.S4
	VDUP V1.S[0], V1.S4
	VEOR V31.B16, V31.B16, V31.B16

loop:
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1 (R0), [V20.S4, V21.S4, V22.S4, V23.S4]
	FADDS(0, 16, 16)
	FADDS(16, 20, 20)
	FMULS(1, 16, 16)
	FGTS(20, 16, 16)
	OR(16, 31, 31)
	FADDS(0, 17, 17)
	FADDS(17, 21, 21)
	FMULS(1, 17, 17)
	FGTS(21, 17, 17)
	OR(17, 31, 31)
	FADDS(0, 18, 18)
	FADDS(18, 22, 22)
	FMULS(1, 18, 18)
	FGTS(22, 18, 18)
	OR(18, 31, 31)
	FADDS(0, 19, 19)
	FADDS(19, 23, 23)
	FMULS(1, 19, 19)
	FGTS(23, 19, 19)
	OR(19, 31, 31)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R0)
	SUBS $(64/4), R2, R2
	BGT  loop
	VMOV V31.D[0], R3
	VMOV V31.D[1], R4
	ORR  R3, R4, R3
	CMP  $0, R3
	CSET NE, R3
	MOVB R3, ret+32(FP)
	RET

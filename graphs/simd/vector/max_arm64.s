#include "textflag.h"
#include "neon_arm64.h"

// The largest element, as in max_amd64.s; maxima with NaN are NaN.

// ---- float64 ----

// func max64NEON(x *float64, n int, tail *float64) float64
TEXT ·max64NEON(SB), NOSPLIT, $0-32
	MOVD x+0(FP), R0
	MOVD n+8(FP), R2
	MOVD tail+16(FP), R3
	MOVD $0xfff0000000000000, R5
	VDUP R5, V0.D2
	COPY(0, 1)
	COPY(0, 2)
	COPY(0, 3)

loop:
	CMP  $0, R2
	BLE  rest
	VLD1.P 64(R0), [V16.D2, V17.D2, V18.D2, V19.D2]
	FMAXD(16, 0, 0)
	FMAXD(17, 1, 1)
	FMAXD(18, 2, 2)
	FMAXD(19, 3, 3)
	VLD1.P 64(R0), [V16.D2, V17.D2, V18.D2, V19.D2]
	FMAXD(16, 0, 0)
	FMAXD(17, 1, 1)
	FMAXD(18, 2, 2)
	FMAXD(19, 3, 3)
	VLD1.P 64(R0), [V16.D2, V17.D2, V18.D2, V19.D2]
	FMAXD(16, 0, 0)
	FMAXD(17, 1, 1)
	FMAXD(18, 2, 2)
	FMAXD(19, 3, 3)
	VLD1.P 64(R0), [V16.D2, V17.D2, V18.D2, V19.D2]
	FMAXD(16, 0, 0)
	FMAXD(17, 1, 1)
	FMAXD(18, 2, 2)
	FMAXD(19, 3, 3)
	SUB  $(256/8), R2, R2
	B    loop

rest:
	CBZ  R3, fold
	MOVD R3, R0
	MOVD $0, R3
	MOVD $(256/8), R2
	B    loop

fold:
	FMAXD(2, 0, 0)
	FMAXD(3, 1, 1)
	FMAXD(1, 0, 0)
	VEXT $8, V0.B16, V0.B16, V1.B16
	FMAXD(1, 0, 0)
	FMOVD F0, ret+24(FP)
	RET


// ---- float32 ----

// func max32NEON(x *float32, n int, tail *float32) float32
TEXT ·max32NEON(SB), NOSPLIT, $0-28
	MOVD x+0(FP), R0
	MOVD n+8(FP), R2
	MOVD tail+16(FP), R3
	MOVD $0xff800000, R5
	VDUP R5, V0.S4
	COPY(0, 1)
	COPY(0, 2)
	COPY(0, 3)

loop:
	CMP  $0, R2
	BLE  rest
	VLD1.P 64(R0), [V16.S4, V17.S4, V18.S4, V19.S4]
	FMAXS(16, 0, 0)
	FMAXS(17, 1, 1)
	FMAXS(18, 2, 2)
	FMAXS(19, 3, 3)
	VLD1.P 64(R0), [V16.S4, V17.S4, V18.S4, V19.S4]
	FMAXS(16, 0, 0)
	FMAXS(17, 1, 1)
	FMAXS(18, 2, 2)
	FMAXS(19, 3, 3)
	VLD1.P 64(R0), [V16.S4, V17.S4, V18.S4, V19.S4]
	FMAXS(16, 0, 0)
	FMAXS(17, 1, 1)
	FMAXS(18, 2, 2)
	FMAXS(19, 3, 3)
	VLD1.P 64(R0), [V16.S4, V17.S4, V18.S4, V19.S4]
	FMAXS(16, 0, 0)
	FMAXS(17, 1, 1)
	FMAXS(18, 2, 2)
	FMAXS(19, 3, 3)
	SUB  $(256/4), R2, R2
	B    loop

rest:
	CBZ  R3, fold
	MOVD R3, R0
	MOVD $0, R3
	MOVD $(256/4), R2
	B    loop

fold:
	FMAXS(2, 0, 0)
	FMAXS(3, 1, 1)
	FMAXS(1, 0, 0)
	VEXT $8, V0.B16, V0.B16, V1.B16
	FMAXS(1, 0, 0)
	VEXT $4, V0.B16, V0.B16, V1.B16
	FMAXS(1, 0, 0)
	FMOVS F0, ret+24(FP)
	RET

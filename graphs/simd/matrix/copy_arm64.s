#include "textflag.h"

// Transposes to and from panels.
//
// R0 rows left, R1 columns left, R2 source, R3 and R5 the distances of rows in bytes, R4
// destination; R6 to R9 walk along four rows of the source, R10 over rows of the destination.

#define ARGUMENTS(SHIFT) \
	MOVD m+0(FP), R0; \
	MOVD src+16(FP), R2; \
	MOVD lds+24(FP), R3; \
	MOVD dst+32(FP), R4; \
	MOVD ldd+40(FP), R5; \
	LSL $SHIFT, R3; \
	LSL $SHIFT, R5

#define FOURROWS \
	MOVD n+8(FP), R1; \
	MOVD R2, R6; \
	ADD R3, R6, R7; \
	ADD R3, R7, R8; \
	ADD R3, R8, R9; \
	MOVD R4, R10

// func transpose4F64(m, n int, src *float64, lds int, dst *float64, ldd int)
TEXT ·transpose4F64(SB), NOSPLIT, $0-48
	ARGUMENTS(3)
rows:
	FOURROWS
columns:
	VLD1.P 16(R6), [V0.D2]
	VLD1.P 16(R7), [V1.D2]
	VLD1.P 16(R8), [V2.D2]
	VLD1.P 16(R9), [V3.D2]
	VZIP1 V1.D2, V0.D2, V4.D2
	VZIP1 V3.D2, V2.D2, V5.D2
	VZIP2 V1.D2, V0.D2, V6.D2
	VZIP2 V3.D2, V2.D2, V7.D2
	VST1 [V4.D2, V5.D2], (R10)
	ADD R5, R10
	VST1 [V6.D2, V7.D2], (R10)
	ADD R5, R10
	SUBS $2, R1
	BNE columns
	ADD R3<<2, R2
	ADD $32, R4
	SUBS $4, R0
	BNE rows
	RET

// func transpose4F32(m, n int, src *float32, lds int, dst *float32, ldd int)
TEXT ·transpose4F32(SB), NOSPLIT, $0-48
	ARGUMENTS(2)
rows:
	FOURROWS
columns:
	VLD1.P 16(R6), [V0.S4]
	VLD1.P 16(R7), [V1.S4]
	VLD1.P 16(R8), [V2.S4]
	VLD1.P 16(R9), [V3.S4]
	VZIP1 V2.S4, V0.S4, V4.S4
	VZIP1 V3.S4, V1.S4, V5.S4
	VZIP2 V2.S4, V0.S4, V6.S4
	VZIP2 V3.S4, V1.S4, V7.S4
	VZIP1 V5.S4, V4.S4, V0.S4
	VZIP2 V5.S4, V4.S4, V1.S4
	VZIP1 V7.S4, V6.S4, V2.S4
	VZIP2 V7.S4, V6.S4, V3.S4
	VST1 [V0.S4], (R10)
	ADD R5, R10
	VST1 [V1.S4], (R10)
	ADD R5, R10
	VST1 [V2.S4], (R10)
	ADD R5, R10
	VST1 [V3.S4], (R10)
	ADD R5, R10
	SUBS $4, R1
	BNE columns
	ADD R3<<2, R2
	ADD $16, R4
	SUBS $4, R0
	BNE rows
	RET

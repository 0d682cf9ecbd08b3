#include "textflag.h"

// The kernels of products. Each element of C accumulates over k in increasing order with one
// FMA a step: the bits do not depend on the width of the vectors.
//
// The text of float64 and float32 is the same: SHIFT, the logarithm of the size of an element,
// the arrangement ARR and the mnemonics are defined anew between them.

// ---- A tile of 4 rows of 4 vectors, sums in V16 to V31 ----
// R0 steps left, R1 packed A, R2 packed B, R3 row of C, R4 distance of rows in bytes.

#define CLEAR(v) VEOR v.B16, v.B16, v.B16

#define CLEAR4(v0, v1, v2, v3) \
	CLEAR(v0); \
	CLEAR(v1); \
	CLEAR(v2); \
	CLEAR(v3)

#define ROW(v0, v1, v2, v3) \
	VLD1R.P SIZE(R1), [V4.ARR]; \
	VFMLA V0.ARR, V4.ARR, v0.ARR; \
	VFMLA V1.ARR, V4.ARR, v1.ARR; \
	VFMLA V2.ARR, V4.ARR, v2.ARR; \
	VFMLA V3.ARR, V4.ARR, v3.ARR

#define FINISH(v0, v1, v2, v3) \
	CLEAR4(V0, V1, V2, V3); \
	CMP $0, R5; \
	BEQ 2(PC); \
	VLD1 (R3), [V0.ARR, V1.ARR, V2.ARR, V3.ARR]; \
	VFMLA v0.ARR, V5.ARR, V0.ARR; \
	VFMLA v1.ARR, V5.ARR, V1.ARR; \
	VFMLA v2.ARR, V5.ARR, V2.ARR; \
	VFMLA v3.ARR, V5.ARR, V3.ARR; \
	VST1 [V0.ARR, V1.ARR, V2.ARR, V3.ARR], (R3); \
	ADD R4, R3

#define GEMM \
	MOVD k+0(FP), R0; \
	MOVD a+8(FP), R1; \
	MOVD b+16(FP), R2; \
	MOVD c+24(FP), R3; \
	MOVD ldc+32(FP), R4; \
	MOVD add+40(FP), R5; \
	LOAD alpha+48(FP), R6; \
	VDUP R6, V5.ARR; \
	LSL $SHIFT, R4; \
	CLEAR4(V16, V17, V18, V19); \
	CLEAR4(V20, V21, V22, V23); \
	CLEAR4(V24, V25, V26, V27); \
	CLEAR4(V28, V29, V30, V31); \
loop: \
	VLD1.P 64(R2), [V0.ARR, V1.ARR, V2.ARR, V3.ARR]; \
	ROW(V16, V17, V18, V19); \
	ROW(V20, V21, V22, V23); \
	ROW(V24, V25, V26, V27); \
	ROW(V28, V29, V30, V31); \
	SUBS $1, R0; \
	BNE loop; \
	FINISH(V16, V17, V18, V19); \
	FINISH(V20, V21, V22, V23); \
	FINISH(V24, V25, V26, V27); \
	FINISH(V28, V29, V30, V31); \
	RET

// ---- A row of a small product ----
// R0 columns left, R1 k, R2 a, R3 its distance, R4 column of b, R5 and R6 its distances, R7 element
// of C, R8 its distance, in bytes. R9 and R10 to R13 walk along k, R14 counts.

#define ADDTO(f) \
	FLOAD (R7), F5; \
	FFMA f, F5, F6, F5; \
	FSTORE F5, (R7); \
	ADD R8, R7

#define PRODUCTROW \
	MOVD n+0(FP), R0; \
	MOVD k+8(FP), R1; \
	MOVD a+16(FP), R2; \
	MOVD as+24(FP), R3; \
	MOVD b+32(FP), R4; \
	MOVD bk+40(FP), R5; \
	MOVD bj+48(FP), R6; \
	MOVD c+56(FP), R7; \
	MOVD cs+64(FP), R8; \
	FLOAD alpha+72(FP), F6; \
	LSL $SHIFT, R3; \
	LSL $SHIFT, R5; \
	LSL $SHIFT, R6; \
	LSL $SHIFT, R8; \
four: \
	CMP $4, R0; \
	BLT one; \
	MOVD R2, R9; \
	MOVD R4, R10; \
	ADD R6, R10, R11; \
	ADD R6, R11, R12; \
	ADD R6, R12, R13; \
	MOVD R1, R14; \
	CLEAR4(V0, V1, V2, V3); \
fourloop: \
	FLOAD (R9), F4; \
	FLOAD (R10), F16; \
	FLOAD (R11), F17; \
	FLOAD (R12), F18; \
	FLOAD (R13), F19; \
	FFMA F4, F0, F16, F0; \
	FFMA F4, F1, F17, F1; \
	FFMA F4, F2, F18, F2; \
	FFMA F4, F3, F19, F3; \
	ADD R3, R9; \
	ADD R5, R10; \
	ADD R5, R11; \
	ADD R5, R12; \
	ADD R5, R13; \
	SUBS $1, R14; \
	BNE fourloop; \
	ADDTO(F0); \
	ADDTO(F1); \
	ADDTO(F2); \
	ADDTO(F3); \
	ADD R6<<2, R4; \
	SUB $4, R0; \
	B four; \
one: \
	CBZ R0, done; \
	MOVD R2, R9; \
	MOVD R4, R10; \
	MOVD R1, R14; \
	CLEAR(V0); \
oneloop: \
	FLOAD (R9), F4; \
	FLOAD (R10), F16; \
	FFMA F4, F0, F16, F0; \
	ADD R3, R9; \
	ADD R5, R10; \
	SUBS $1, R14; \
	BNE oneloop; \
	ADDTO(F0); \
	ADD R6, R4; \
	SUB $1, R0; \
	B one; \
done: \
	RET

// ---- float64 ----

#define SHIFT 3
#define SIZE 8
#define ARR D2
#define LOAD MOVD
#define FLOAD FMOVD
#define FSTORE FMOVD
#define FFMA FMADDD

// func gemmF64(k int, a, b, c *float64, ldc, add int, alpha float64)
TEXT ·gemmF64(SB), NOSPLIT, $0-56
	GEMM

// func rowF64(n, k int, a *float64, as int, b *float64, bk, bj int, c *float64, cs int, alpha float64)
TEXT ·rowF64(SB), NOSPLIT, $0-80
	PRODUCTROW

// ---- float32 ----

#undef SHIFT
#undef SIZE
#undef ARR
#undef LOAD
#undef FLOAD
#undef FSTORE
#undef FFMA
#define SHIFT 2
#define SIZE 4
#define ARR S4
#define LOAD MOVWU
#define FLOAD FMOVS
#define FSTORE FMOVS
#define FFMA FMADDS

// func gemmF32(k int, a, b, c *float32, ldc, add int, alpha float32)
TEXT ·gemmF32(SB), NOSPLIT, $0-52
	GEMM

// func rowF32(n, k int, a *float32, as int, b *float32, bk, bj int, c *float32, cs int, alpha float32)
TEXT ·rowF32(SB), NOSPLIT, $0-76
	PRODUCTROW

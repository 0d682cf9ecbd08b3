#include "textflag.h"

// The kernels of triangles of order at most 32, four vectors wide, and the elimination of a
// Cholesky factor. The text of float64 and float32 is the same; see product_arm64.s.
//
// There is no product of vectors in this assembler: x·y is fma(x, y, -0), which has its bits.
//
// R0 n, R1 row i of T, R2 X, R3 row i of X, R4 walks along T, R5 over rows of X, R6 counts, R7
// is i.

// PRODUCT4 is z = x·V8 for four vectors, with the bits of -0 in R9.
#define PRODUCT4(z0, z1, z2, z3, x0, x1, x2, x3) \
	VDUP R9, z0.ARR; \
	VDUP R9, z1.ARR; \
	VDUP R9, z2.ARR; \
	VDUP R9, z3.ARR; \
	VFMLA x0.ARR, V8.ARR, z0.ARR; \
	VFMLA x1.ARR, V8.ARR, z1.ARR; \
	VFMLA x2.ARR, V8.ARR, z2.ARR; \
	VFMLA x3.ARR, V8.ARR, z3.ARR

#define SOLVE \
	MOVD n+0(FP), R0; \
	MOVD t+8(FP), R1; \
	MOVD x+16(FP), R2; \
	MOVD $NEGATIVE, R9; \
	MOVD R2, R3; \
	MOVD $0, R7; \
rows: \
	CMP R0, R7; \
	BGE done; \
	VLD1 (R3), [V0.ARR, V1.ARR, V2.ARR, V3.ARR]; \
	MOVD R1, R4; \
	MOVD R2, R5; \
	MOVD R7, R6; \
inner: \
	VLD1R.P SIZE(R4), [V8.ARR]; \
	CBZ R6, scale; \
	VLD1.P 64(R5), [V4.ARR, V5.ARR, V6.ARR, V7.ARR]; \
	VFMLS V4.ARR, V8.ARR, V0.ARR; \
	VFMLS V5.ARR, V8.ARR, V1.ARR; \
	VFMLS V6.ARR, V8.ARR, V2.ARR; \
	VFMLS V7.ARR, V8.ARR, V3.ARR; \
	SUB $1, R6; \
	B inner; \
scale: \
	PRODUCT4(V4, V5, V6, V7, V0, V1, V2, V3); \
	VST1.P [V4.ARR, V5.ARR, V6.ARR, V7.ARR], 64(R3); \
	ADD $(32*SIZE), R1; \
	ADD $1, R7; \
	B rows; \
done: \
	RET

#define MULTIPLY \
	MOVD n+0(FP), R0; \
	MOVD t+8(FP), R1; \
	MOVD x+16(FP), R2; \
	SUB $1, R0, R7; \
	MOVD $(32*SIZE), R8; \
	MADD R8, R1, R7, R1; \
rows: \
	CBZ R0, done; \
	VEOR V0.B16, V0.B16, V0.B16; \
	VEOR V1.B16, V1.B16, V1.B16; \
	VEOR V2.B16, V2.B16, V2.B16; \
	VEOR V3.B16, V3.B16, V3.B16; \
	MOVD R1, R4; \
	MOVD R2, R5; \
	MOVD R0, R6; \
inner: \
	VLD1R.P SIZE(R4), [V8.ARR]; \
	VLD1.P 64(R5), [V4.ARR, V5.ARR, V6.ARR, V7.ARR]; \
	VFMLA V4.ARR, V8.ARR, V0.ARR; \
	VFMLA V5.ARR, V8.ARR, V1.ARR; \
	VFMLA V6.ARR, V8.ARR, V2.ARR; \
	VFMLA V7.ARR, V8.ARR, V3.ARR; \
	SUBS $1, R6; \
	BNE inner; \
	SUB $64, R5; \
	VST1 [V0.ARR, V1.ARR, V2.ARR, V3.ARR], (R5); \
	SUB $(32*SIZE), R1; \
	SUB $1, R0; \
	B rows; \
done: \
	RET

// ELIMINATE: R0 rows left, R2 row k, R3 row i, R4 element i of row k, row k in V16 to V31 or to V23.
#define SCALEROW4(v0, v1, v2, v3) \
	VLD1 (R3), [V0.ARR, V1.ARR, V2.ARR, V3.ARR]; \
	PRODUCT4(v0, v1, v2, v3, V0, V1, V2, V3); \
	VST1.P [v0.ARR, v1.ARR, v2.ARR, v3.ARR], 64(R3)

#define TAKEOFF4(v0, v1, v2, v3) \
	VLD1 (R3), [V0.ARR, V1.ARR, V2.ARR, V3.ARR]; \
	VFMLS v0.ARR, V8.ARR, V0.ARR; \
	VFMLS v1.ARR, V8.ARR, V1.ARR; \
	VFMLS v2.ARR, V8.ARR, V2.ARR; \
	VFMLS v3.ARR, V8.ARR, V3.ARR; \
	VST1.P [V0.ARR, V1.ARR, V2.ARR, V3.ARR], 64(R3)

#define ELIMINATE(WHOLEROW) \
	MOVD n+0(FP), R0; \
	MOVD k+8(FP), R1; \
	MOVD x+16(FP), R2; \
	LOAD inv+24(FP), R6; \
	VDUP R6, V8.ARR; \
	MOVD $NEGATIVE, R9; \
	MOVD $(32*SIZE), R8; \
	MADD R8, R2, R1, R2; \
	ADD R1<<SHIFT, R2, R4; \
	SUB R1, R0; \
	MOVD R2, R3; \
	WHOLEROW(SCALEROW4); \
rows: \
	SUBS $1, R0; \
	BEQ done; \
	ADD $SIZE, R4; \
	VLD1R (R4), [V8.ARR]; \
	WHOLEROW(TAKEOFF4); \
	B rows; \
done: \
	RET

#define ROW16(F) \
	F(V16, V17, V18, V19); \
	F(V20, V21, V22, V23); \
	F(V24, V25, V26, V27); \
	F(V28, V29, V30, V31)

#define ROW8(F) \
	F(V16, V17, V18, V19); \
	F(V20, V21, V22, V23)

// ---- float64 ----

#define SHIFT 3
#define SIZE 8
#define ARR D2
#define LOAD MOVD
#define NEGATIVE (1<<63)

// func solveF64(n int, t, x *float64)
TEXT ·solveF64(SB), NOSPLIT, $0-24
	SOLVE

// func multiplyF64(n int, t, x *float64)
TEXT ·multiplyF64(SB), NOSPLIT, $0-24
	MULTIPLY

// func eliminateF64(n, k int, x *float64, inv float64)
TEXT ·eliminateF64(SB), NOSPLIT, $0-32
	ELIMINATE(ROW16)

// ---- float32 ----

#undef SHIFT
#undef SIZE
#undef ARR
#undef LOAD
#undef NEGATIVE
#define SHIFT 2
#define SIZE 4
#define ARR S4
#define LOAD MOVWU
#define NEGATIVE (1<<31)

// func solveF32(n int, t, x *float32)
TEXT ·solveF32(SB), NOSPLIT, $0-24
	SOLVE

// func multiplyF32(n int, t, x *float32)
TEXT ·multiplyF32(SB), NOSPLIT, $0-24
	MULTIPLY

// func eliminateF32(n, k int, x *float32, inv float32)
TEXT ·eliminateF32(SB), NOSPLIT, $0-28
	ELIMINATE(ROW8)

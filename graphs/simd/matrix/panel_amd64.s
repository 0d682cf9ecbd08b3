#include "textflag.h"

// The kernels of triangles of order at most 32, four vectors wide, and the elimination of a
// Cholesky factor. The text of float64 and float32 is the same; see product_amd64.s.
//
// DX n, BX row i, SI row i of T, R9 walks along it, R10 X, R8 walks over rows of X, DI row i
// of X, CX counts.

// SOLVE takes x = fma(-t, x[k], x) for the rows k before row i, and multiplies by the
// reciprocal on the diagonal.
#define SOLVE(V0, V1, V2, V3, V4, W) \
	MOVQ n+0(FP), DX;        \
	MOVQ t+8(FP), SI;        \
	MOVQ x+16(FP), R10;      \
	MOVQ R10, DI;            \
	XORQ BX, BX;             \
rows:                        \
	CMPQ BX, DX;             \
	JGE  done;               \
	VMOV (DI), V0;           \
	VMOV W(DI), V1;          \
	VMOV (2*W)(DI), V2;      \
	VMOV (3*W)(DI), V3;      \
	MOVQ SI, R9;             \
	MOVQ R10, R8;            \
	MOVQ BX, CX;             \
	TESTQ CX, CX;            \
	JEQ  scale;              \
inner:                       \
	VBC  (R9), V4;           \
	VFNMA (R8), V4, V0;      \
	VFNMA W(R8), V4, V1;     \
	VFNMA (2*W)(R8), V4, V2; \
	VFNMA (3*W)(R8), V4, V3; \
	ADDQ $ES, R9;            \
	ADDQ $(4*W), R8;         \
	DECQ CX;                 \
	JNE  inner;              \
scale:                       \
	VBC  (R9), V4;           \
	VMUL V4, V0, V0;         \
	VMUL V4, V1, V1;         \
	VMUL V4, V2, V2;         \
	VMUL V4, V3, V3;         \
	VMOV V0, (DI);           \
	VMOV V1, W(DI);          \
	VMOV V2, (2*W)(DI);      \
	VMOV V3, (3*W)(DI);      \
	ADDQ $(4*W), DI;         \
	ADDQ $(32*ES), SI;       \
	INCQ BX;                 \
	JMP  rows;               \
done:                        \
	VZEROUPPER;              \
	RET

// MULTIPLY sums from zero over the rows up to row i, the last row first: those before it are
// still those of X.
#define MULTIPLY(V0, V1, V2, V3, V4, W) \
	MOVQ n+0(FP), BX;        \
	MOVQ t+8(FP), SI;        \
	MOVQ x+16(FP), R10;      \
	MOVQ BX, DX;             \
	DECQ DX;                 \
	IMULQ $(32*ES), DX;      \
	ADDQ DX, SI;             \
rows:                        \
	TESTQ BX, BX;            \
	JEQ  done;               \
	VXORPS V0, V0, V0;       \
	VXORPS V1, V1, V1;       \
	VXORPS V2, V2, V2;       \
	VXORPS V3, V3, V3;       \
	MOVQ SI, R9;             \
	MOVQ R10, R8;            \
	MOVQ BX, CX;             \
inner:                       \
	VBC  (R9), V4;           \
	VFMA (R8), V4, V0;       \
	VFMA W(R8), V4, V1;      \
	VFMA (2*W)(R8), V4, V2;  \
	VFMA (3*W)(R8), V4, V3;  \
	ADDQ $ES, R9;            \
	ADDQ $(4*W), R8;         \
	DECQ CX;                 \
	JNE  inner;              \
	SUBQ $(4*W), R8;         \
	VMOV V0, (R8);           \
	VMOV V1, W(R8);          \
	VMOV V2, (2*W)(R8);      \
	VMOV V3, (3*W)(R8);      \
	SUBQ $(32*ES), SI;       \
	DECQ BX;                 \
	JMP  rows;               \
done:                        \
	VZEROUPPER;              \
	RET

// ELIMINATE: SI row k, R9 its element i, DI row i, CX rows left. The whole row k stays in the
// vectors V0 to VC. ROWARGS, SCALEROW and TAKEOFF are parts of it.
#define ROWARGS \
	MOVQ n+0(FP), CX;      \
	MOVQ k+8(FP), BX;      \
	MOVQ x+16(FP), SI;     \
	SUBQ BX, CX;           \
	MOVQ BX, DX;           \
	IMULQ $(32*ES), DX;    \
	ADDQ DX, SI;           \
	LEAQ (SI)(BX*ES), R9;  \
	MOVQ SI, DI

#define SCALEROW(off, VS, V0) \
	VMUL off(SI), VS, V0;  \
	VMOV V0, off(SI)

#define TAKEOFF(off, VS, V0, VT) \
	VMOV off(DI), VT;      \
	VFNMA V0, VS, VT;      \
	VMOV VT, off(DI)

#define NEXTROW(VS) \
	ADDQ $ES, R9;          \
	ADDQ $(32*ES), DI;     \
	VBC  (R9), VS

#define ELIMINATE2(W, VS, V0, V1, VT, VU) \
	ROWARGS;               \
	VBC  inv+24(FP), VS;   \
	SCALEROW(0, VS, V0);   \
	SCALEROW(W, VS, V1);   \
rows:                      \
	DECQ CX;               \
	JEQ  done;             \
	NEXTROW(VS);           \
	TAKEOFF(0, VS, V0, VT); \
	TAKEOFF(W, VS, V1, VU); \
	JMP  rows;             \
done:                      \
	VZEROUPPER;            \
	RET

#define ELIMINATE4(W, VS, V0, V1, V2, V3, VT, VU) \
	ROWARGS;               \
	VBC  inv+24(FP), VS;   \
	SCALEROW(0, VS, V0);   \
	SCALEROW(W, VS, V1);   \
	SCALEROW((2*W), VS, V2); \
	SCALEROW((3*W), VS, V3); \
rows:                      \
	DECQ CX;               \
	JEQ  done;             \
	NEXTROW(VS);           \
	TAKEOFF(0, VS, V0, VT); \
	TAKEOFF(W, VS, V1, VU); \
	TAKEOFF((2*W), VS, V2, VT); \
	TAKEOFF((3*W), VS, V3, VU); \
	JMP  rows;             \
done:                      \
	VZEROUPPER;            \
	RET

#define ELIMINATE8(W, VS, V0, V1, V2, V3, V4, V5, V6, V7, VT, VU) \
	ROWARGS;               \
	VBC  inv+24(FP), VS;   \
	SCALEROW(0, VS, V0);   \
	SCALEROW(W, VS, V1);   \
	SCALEROW((2*W), VS, V2); \
	SCALEROW((3*W), VS, V3); \
	SCALEROW((4*W), VS, V4); \
	SCALEROW((5*W), VS, V5); \
	SCALEROW((6*W), VS, V6); \
	SCALEROW((7*W), VS, V7); \
rows:                      \
	DECQ CX;               \
	JEQ  done;             \
	NEXTROW(VS);           \
	TAKEOFF(0, VS, V0, VT); \
	TAKEOFF(W, VS, V1, VU); \
	TAKEOFF((2*W), VS, V2, VT); \
	TAKEOFF((3*W), VS, V3, VU); \
	TAKEOFF((4*W), VS, V4, VT); \
	TAKEOFF((5*W), VS, V5, VU); \
	TAKEOFF((6*W), VS, V6, VT); \
	TAKEOFF((7*W), VS, V7, VU); \
	JMP  rows;             \
done:                      \
	VZEROUPPER;            \
	RET

// ---- float64 ----

#define ES 8
#define VFMA VFMADD231PD
#define VFNMA VFNMADD231PD
#define VBC VBROADCASTSD
#define VMOV VMOVUPD
#define VMUL VMULPD

// func solveAVX512F64(n int, t, x *float64)
TEXT ·solveAVX512F64(SB), NOSPLIT, $0-24
	SOLVE(Z0, Z1, Z2, Z3, Z4, 64)

// func solveAVX2F64(n int, t, x *float64)
TEXT ·solveAVX2F64(SB), NOSPLIT, $0-24
	SOLVE(Y0, Y1, Y2, Y3, Y4, 32)

// func multiplyAVX512F64(n int, t, x *float64)
TEXT ·multiplyAVX512F64(SB), NOSPLIT, $0-24
	MULTIPLY(Z0, Z1, Z2, Z3, Z4, 64)

// func multiplyAVX2F64(n int, t, x *float64)
TEXT ·multiplyAVX2F64(SB), NOSPLIT, $0-24
	MULTIPLY(Y0, Y1, Y2, Y3, Y4, 32)

// func eliminateAVX512F64(n, k int, x *float64, inv float64)
TEXT ·eliminateAVX512F64(SB), NOSPLIT, $0-32
	ELIMINATE4(64, Z8, Z0, Z1, Z2, Z3, Z9, Z10)

// func eliminateAVX2F64(n, k int, x *float64, inv float64)
TEXT ·eliminateAVX2F64(SB), NOSPLIT, $0-32
	ELIMINATE8(32, Y8, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y9, Y10)

// ---- float32 ----

#undef ES
#undef VFMA
#undef VFNMA
#undef VBC
#undef VMOV
#undef VMUL
#define ES 4
#define VFMA VFMADD231PS
#define VFNMA VFNMADD231PS
#define VBC VBROADCASTSS
#define VMOV VMOVUPS
#define VMUL VMULPS

// func solveAVX512F32(n int, t, x *float32)
TEXT ·solveAVX512F32(SB), NOSPLIT, $0-24
	SOLVE(Z0, Z1, Z2, Z3, Z4, 64)

// func solveAVX2F32(n int, t, x *float32)
TEXT ·solveAVX2F32(SB), NOSPLIT, $0-24
	SOLVE(Y0, Y1, Y2, Y3, Y4, 32)

// func multiplyAVX512F32(n int, t, x *float32)
TEXT ·multiplyAVX512F32(SB), NOSPLIT, $0-24
	MULTIPLY(Z0, Z1, Z2, Z3, Z4, 64)

// func multiplyAVX2F32(n int, t, x *float32)
TEXT ·multiplyAVX2F32(SB), NOSPLIT, $0-24
	MULTIPLY(Y0, Y1, Y2, Y3, Y4, 32)

// func eliminateAVX512F32(n, k int, x *float32, inv float32)
TEXT ·eliminateAVX512F32(SB), NOSPLIT, $0-28
	ELIMINATE2(64, Z8, Z0, Z1, Z9, Z10)

// func eliminateAVX2F32(n, k int, x *float32, inv float32)
TEXT ·eliminateAVX2F32(SB), NOSPLIT, $0-28
	ELIMINATE4(32, Y8, Y0, Y1, Y2, Y3, Y9, Y10)

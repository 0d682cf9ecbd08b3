#include "textflag.h"

// The kernels of products. Each element of C accumulates over k in increasing order with one
// FMA a step: the bits do not depend on the width of the vectors.
//
// The text of float64 and float32 is the same: ES, the size of an element, and the mnemonics
// are defined anew between them, and the assembler expands macros where they are used.
//
// AX packed A, BX packed B, CX steps left, DI row of C, DX distance of rows in bytes.

#define ARGUMENTS \
	MOVQ k+0(FP), CX;    \
	MOVQ a+8(FP), AX;    \
	MOVQ b+16(FP), BX;   \
	MOVQ c+24(FP), DI;   \
	MOVQ ldc+32(FP), DX; \
	MOVQ add+40(FP), R8; \
	IMULQ $ES, DX;       \
	MOVQ DI, SI

// ---- AVX-512: 12 rows of 2 vectors, sums in Z8 to Z31 ----

#define ROW512(off, z0, z1) \
	VBC  off(AX), Z2;  \
	VFMA Z0, Z2, z0;   \
	VFMA Z1, Z2, z1

// STEP512 is step s of an unrolled loop.
#define STEP512(s) \
	VMOV (s*128)(BX), Z0;               \
	VMOV (s*128+64)(BX), Z1;            \
	ROW512((s*12*ES+0*ES), Z8, Z9);     \
	ROW512((s*12*ES+1*ES), Z10, Z11);   \
	ROW512((s*12*ES+2*ES), Z12, Z13);   \
	ROW512((s*12*ES+3*ES), Z14, Z15);   \
	ROW512((s*12*ES+4*ES), Z16, Z17);   \
	ROW512((s*12*ES+5*ES), Z18, Z19);   \
	ROW512((s*12*ES+6*ES), Z20, Z21);   \
	ROW512((s*12*ES+7*ES), Z22, Z23);   \
	ROW512((s*12*ES+8*ES), Z24, Z25);   \
	ROW512((s*12*ES+9*ES), Z26, Z27);   \
	ROW512((s*12*ES+10*ES), Z28, Z29);  \
	ROW512((s*12*ES+11*ES), Z30, Z31)

// START512 clears the sums of a row and fetches the row of C ahead of its use.
#define START512(z0, z1) \
	VPXORQ z0, z0, z0;   \
	VPXORQ z1, z1, z1;   \
	PREFETCHT0 (SI);     \
	PREFETCHT0 127(SI);  \
	ADDQ DX, SI

#define ADD512(z0, z1) \
	VFMA213 (DI), Z2, z0;   \
	VFMA213 64(DI), Z2, z1; \
	VMOV z0, (DI);          \
	VMOV z1, 64(DI);        \
	ADDQ DX, DI

#define SET512(z0, z1) \
	VFMA213 Z3, Z2, z0; \
	VFMA213 Z3, Z2, z1; \
	VMOV z0, (DI);      \
	VMOV z1, 64(DI);    \
	ADDQ DX, DI

#define ROWS512(F) \
	F(Z8, Z9);   \
	F(Z10, Z11); \
	F(Z12, Z13); \
	F(Z14, Z15); \
	F(Z16, Z17); \
	F(Z18, Z19); \
	F(Z20, Z21); \
	F(Z22, Z23); \
	F(Z24, Z25); \
	F(Z26, Z27); \
	F(Z28, Z29); \
	F(Z30, Z31)

#define GEMM512 \
	ARGUMENTS;            \
	ROWS512(START512);    \
	SUBQ $4, CX;          \
	JLT  tail;            \
loop:                     \
	STEP512(0);           \
	STEP512(1);           \
	STEP512(2);           \
	STEP512(3);           \
	ADDQ $(48*ES), AX;    \
	ADDQ $512, BX;        \
	SUBQ $4, CX;          \
	JGE  loop;            \
tail:                     \
	ADDQ $4, CX;          \
	JEQ  done;            \
tailloop:                 \
	STEP512(0);           \
	ADDQ $(12*ES), AX;    \
	ADDQ $128, BX;        \
	DECQ CX;              \
	JNE  tailloop;        \
done:                     \
	VBC  alpha+48(FP), Z2; \
	TESTQ R8, R8;         \
	JEQ  set;             \
	ROWS512(ADD512);      \
	VZEROUPPER;           \
	RET;                  \
set:                      \
	VPXORQ Z3, Z3, Z3;    \
	ROWS512(SET512);      \
	VZEROUPPER;           \
	RET

// ---- AVX2: 4 rows of 3 vectors, sums in Y4 to Y15 ----

#define ROW256(off, y0, y1, y2) \
	VBC  off(AX), Y3;  \
	VFMA Y0, Y3, y0;   \
	VFMA Y1, Y3, y1;   \
	VFMA Y2, Y3, y2

#define STEP256(s) \
	VMOV (s*96)(BX), Y0;                  \
	VMOV (s*96+32)(BX), Y1;               \
	VMOV (s*96+64)(BX), Y2;               \
	ROW256((s*4*ES+0*ES), Y4, Y5, Y6);    \
	ROW256((s*4*ES+1*ES), Y7, Y8, Y9);    \
	ROW256((s*4*ES+2*ES), Y10, Y11, Y12); \
	ROW256((s*4*ES+3*ES), Y13, Y14, Y15)

#define START256(y0, y1, y2) \
	VXORPS y0, y0, y0;   \
	VXORPS y1, y1, y1;   \
	VXORPS y2, y2, y2;   \
	PREFETCHT0 (SI);     \
	PREFETCHT0 95(SI);   \
	ADDQ DX, SI

#define ADD256(y0, y1, y2) \
	VFMA213 (DI), Y3, y0;   \
	VFMA213 32(DI), Y3, y1; \
	VFMA213 64(DI), Y3, y2; \
	VMOV y0, (DI);          \
	VMOV y1, 32(DI);        \
	VMOV y2, 64(DI);        \
	ADDQ DX, DI

#define SET256(y0, y1, y2) \
	VFMA213 Y0, Y3, y0; \
	VFMA213 Y0, Y3, y1; \
	VFMA213 Y0, Y3, y2; \
	VMOV y0, (DI);      \
	VMOV y1, 32(DI);    \
	VMOV y2, 64(DI);    \
	ADDQ DX, DI

#define ROWS256(F) \
	F(Y4, Y5, Y6);    \
	F(Y7, Y8, Y9);    \
	F(Y10, Y11, Y12); \
	F(Y13, Y14, Y15)

#define GEMM256 \
	ARGUMENTS;            \
	ROWS256(START256);    \
	SUBQ $4, CX;          \
	JLT  tail;            \
loop:                     \
	STEP256(0);           \
	STEP256(1);           \
	STEP256(2);           \
	STEP256(3);           \
	ADDQ $(16*ES), AX;    \
	ADDQ $384, BX;        \
	SUBQ $4, CX;          \
	JGE  loop;            \
tail:                     \
	ADDQ $4, CX;          \
	JEQ  done;            \
tailloop:                 \
	STEP256(0);           \
	ADDQ $(4*ES), AX;     \
	ADDQ $96, BX;         \
	DECQ CX;              \
	JNE  tailloop;        \
done:                     \
	VBC  alpha+48(FP), Y3; \
	TESTQ R8, R8;         \
	JEQ  set;             \
	ROWS256(ADD256);      \
	VZEROUPPER;           \
	RET;                  \
set:                      \
	VXORPS Y0, Y0, Y0;    \
	ROWS256(SET256);      \
	VZEROUPPER;           \
	RET

// ---- float64 ----

#define ES 8
#define VFMA VFMADD231PD
#define VFMA213 VFMADD213PD
#define VBC VBROADCASTSD
#define VMOV VMOVUPD

// func gemmAVX512F64(k int, a, b, c *float64, ldc, add int, alpha float64)
TEXT ·gemmAVX512F64(SB), NOSPLIT, $0-56
	GEMM512

// func gemmAVX2F64(k int, a, b, c *float64, ldc, add int, alpha float64)
TEXT ·gemmAVX2F64(SB), NOSPLIT, $0-56
	GEMM256

// ---- float32 ----

#undef ES
#undef VFMA
#undef VFMA213
#undef VBC
#undef VMOV
#define ES 4
#define VFMA VFMADD231PS
#define VFMA213 VFMADD213PS
#define VBC VBROADCASTSS
#define VMOV VMOVUPS

// func gemmAVX512F32(k int, a, b, c *float32, ldc, add int, alpha float32)
TEXT ·gemmAVX512F32(SB), NOSPLIT, $0-52
	GEMM512

// func gemmAVX2F32(k int, a, b, c *float32, ldc, add int, alpha float32)
TEXT ·gemmAVX2F32(SB), NOSPLIT, $0-52
	GEMM256

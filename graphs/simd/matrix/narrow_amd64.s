#include "textflag.h"

// Narrow products; see narrowKernels. The text of float64 and float32 is the same, and so is
// that of both widths of columns: VL is the bytes of a register.

// func narrowRows…(k int, a *T, lda int, b, c *T, alpha T)
//
// DX k, SI rows of A, R8 their distance, R9 three times that, DI B, BX C.
#define ROWS_IN \
	MOVQ k+0(FP), DX;    \
	MOVQ a+8(FP), SI;    \
	MOVQ lda+16(FP), R8; \
	MOVQ b+24(FP), DI;   \
	MOVQ c+32(FP), BX;   \
	IMULQ $ES, R8;       \
	LEAQ (R8)(R8*2), R9

#define ROWS512 \
	ROWS_IN;              \
	LEAQ (SI)(R8*4), R10; \
	VXORPD X0, X0, X0;    \
	VXORPD X1, X1, X1;    \
	VXORPD X2, X2, X2;    \
	VXORPD X3, X3, X3;    \
	VXORPD X4, X4, X4;    \
	VXORPD X5, X5, X5;    \
	VXORPD X6, X6, X6;    \
	VXORPD X7, X7, X7;    \
loop:                     \
	VMOV (DI), Z8;        \
	VFMAB (SI), Z8, Z0;   \
	VFMAB (SI)(R8*1), Z8, Z1;  \
	VFMAB (SI)(R8*2), Z8, Z2;  \
	VFMAB (SI)(R9*1), Z8, Z3;  \
	VFMAB (R10), Z8, Z4;       \
	VFMAB (R10)(R8*1), Z8, Z5; \
	VFMAB (R10)(R8*2), Z8, Z6; \
	VFMAB (R10)(R9*1), Z8, Z7; \
	ADDQ $ES, SI;         \
	ADDQ $ES, R10;        \
	ADDQ $64, DI;         \
	DECQ DX;              \
	JNE  loop;            \
	VBC  alpha+40(FP), Z8; \
	ROWOUT(Z0, 0);        \
	ROWOUT(Z1, 64);       \
	ROWOUT(Z2, 128);      \
	ROWOUT(Z3, 192);      \
	ROWOUT(Z4, 256);      \
	ROWOUT(Z5, 320);      \
	ROWOUT(Z6, 384);      \
	ROWOUT(Z7, 448);      \
	VZEROUPPER;           \
	RET

#define ROWOUT(r, at) \
	VFMA213 at(BX), Z8, r; \
	VMOV r, at(BX)

// Four rows at a time: R10 counts both halves, AX and CX walk along k.
#define ROWS256 \
	ROWS_IN;            \
	MOVQ $2, R10;       \
half:                   \
	MOVQ SI, AX;        \
	MOVQ DI, CX;        \
	MOVQ DX, R11;       \
	VXORPD X0, X0, X0;  \
	VXORPD X1, X1, X1;  \
	VXORPD X2, X2, X2;  \
	VXORPD X3, X3, X3;  \
	VXORPD X4, X4, X4;  \
	VXORPD X5, X5, X5;  \
	VXORPD X6, X6, X6;  \
	VXORPD X7, X7, X7;  \
loop:                   \
	VMOV (CX), Y8;      \
	VMOV 32(CX), Y9;    \
	VBC  (AX), Y10;     \
	VFMA Y8, Y10, Y0;   \
	VFMA Y9, Y10, Y1;   \
	VBC  (AX)(R8*1), Y11; \
	VFMA Y8, Y11, Y2;   \
	VFMA Y9, Y11, Y3;   \
	VBC  (AX)(R8*2), Y12; \
	VFMA Y8, Y12, Y4;   \
	VFMA Y9, Y12, Y5;   \
	VBC  (AX)(R9*1), Y13; \
	VFMA Y8, Y13, Y6;   \
	VFMA Y9, Y13, Y7;   \
	ADDQ $ES, AX;       \
	ADDQ $64, CX;       \
	DECQ R11;           \
	JNE  loop;          \
	VBC  alpha+40(FP), Y8; \
	HALFOUT(Y0, 0);     \
	HALFOUT(Y1, 32);    \
	HALFOUT(Y2, 64);    \
	HALFOUT(Y3, 96);    \
	HALFOUT(Y4, 128);   \
	HALFOUT(Y5, 160);   \
	HALFOUT(Y6, 192);   \
	HALFOUT(Y7, 224);   \
	ADDQ $256, BX;      \
	LEAQ (SI)(R8*4), SI; \
	DECQ R10;           \
	JNE  half;          \
	VZEROUPPER;         \
	RET

#define HALFOUT(r, at) \
	VFMA213 at(BX), Y8, r; \
	VMOV r, at(BX)

// func narrowColumns…(m, k, n int, a *T, lda int, b, s *T, lds int)
//
// R9 columns of A left, SI the first of them, R10 their distance, R11 three times that, DI B,
// BX S, R12 the distance of its columns. AX and DX walk along A and S, CX counts the rows. R15
// and R13 walk along a row of B, to R8, and the columns of S.
#define TERM(at, x, y, r) \
	VBC  at(R15), r;     \
	VFMA x, r, V8;       \
	VFMA y, r, V9

#define BEGIN \
	MOVQ SI, AX;         \
	MOVQ BX, DX;         \
	MOVQ m+0(FP), CX;    \
	MOVQ n+16(FP), R8;   \
	LEAQ (DI)(R8*ES), R8

#define NEXTROWS(loop) \
	ADDQ $(2*VL), AX;    \
	ADDQ $(2*VL), DX;    \
	SUBQ $(2*VL/ES), CX; \
	JGT  loop

#define NEXTCOLUMN(loop) \
	VMOV V8, (R13);      \
	VMOV V9, VL(R13);    \
	ADDQ $ES, R15;       \
	ADDQ R12, R13;       \
	CMPQ R15, R8;        \
	JLT  loop

#define COLUMNS \
	MOVQ k+8(FP), R9;    \
	MOVQ a+24(FP), SI;   \
	MOVQ lda+32(FP), R10; \
	MOVQ b+40(FP), DI;   \
	MOVQ s+48(FP), BX;   \
	MOVQ lds+56(FP), R12; \
	IMULQ $ES, R10;      \
	IMULQ $ES, R12;      \
	LEAQ (R10)(R10*2), R11; \
four:                    \
	CMPQ R9, $4;         \
	JLT  one;            \
	BEGIN;               \
fourrows:                \
	VMOV (AX), V0;       \
	VMOV VL(AX), V1;     \
	VMOV (AX)(R10*1), V2;   \
	VMOV VL(AX)(R10*1), V3; \
	VMOV (AX)(R10*2), V4;   \
	VMOV VL(AX)(R10*2), V5; \
	VMOV (AX)(R11*1), V6;   \
	VMOV VL(AX)(R11*1), V7; \
	MOVQ DI, R15;        \
	MOVQ DX, R13;        \
fourcolumns:             \
	VMOV (R13), V8;      \
	VMOV VL(R13), V9;    \
	TERM(0, V0, V1, V10);   \
	TERM(64, V2, V3, V11);  \
	TERM(128, V4, V5, V12); \
	TERM(192, V6, V7, V13); \
	NEXTCOLUMN(fourcolumns); \
	NEXTROWS(fourrows);  \
	LEAQ (SI)(R10*4), SI; \
	ADDQ $256, DI;       \
	SUBQ $4, R9;         \
	JMP  four;           \
one:                     \
	TESTQ R9, R9;        \
	JEQ  done;           \
	BEGIN;               \
onerows:                 \
	VMOV (AX), V0;       \
	VMOV VL(AX), V1;     \
	MOVQ DI, R15;        \
	MOVQ DX, R13;        \
onecolumns:              \
	VMOV (R13), V8;      \
	VMOV VL(R13), V9;    \
	TERM(0, V0, V1, V10); \
	NEXTCOLUMN(onecolumns); \
	NEXTROWS(onerows);   \
	ADDQ R10, SI;        \
	ADDQ $64, DI;        \
	DECQ R9;             \
	JMP  one;            \
done:                    \
	VZEROUPPER;          \
	RET

// func narrowAdd…(n int, s, c *T, alpha T)
#define ADD \
	MOVQ n+0(FP), CX;    \
	MOVQ s+8(FP), SI;    \
	MOVQ c+16(FP), DI;   \
	VBC  alpha+24(FP), Y0; \
loop:                    \
	VMOV (SI), Y1;       \
	VMOV 32(SI), Y2;     \
	VFMA213 (DI), Y0, Y1; \
	VFMA213 32(DI), Y0, Y2; \
	VMOV Y1, (DI);       \
	VMOV Y2, 32(DI);     \
	ADDQ $64, SI;        \
	ADDQ $64, DI;        \
	SUBQ $(64/ES), CX;   \
	JGT  loop;           \
	VZEROUPPER;          \
	RET

// ---- 512 bits ----

#define VL 64
#define V0 Z0
#define V1 Z1
#define V2 Z2
#define V3 Z3
#define V4 Z4
#define V5 Z5
#define V6 Z6
#define V7 Z7
#define V8 Z8
#define V9 Z9
#define V10 Z10
#define V11 Z11
#define V12 Z12
#define V13 Z13

#define ES 8
#define VBC VBROADCASTSD
#define VMOV VMOVUPD
#define VFMA VFMADD231PD
#define VFMAB VFMADD231PD.BCST
#define VFMA213 VFMADD213PD

// func narrowRowsAVX512F64(k int, a *float64, lda int, b, c *float64, alpha float64)
TEXT ·narrowRowsAVX512F64(SB), NOSPLIT, $0-48
	ROWS512

// func narrowRowsAVX2F64(k int, a *float64, lda int, b, c *float64, alpha float64)
TEXT ·narrowRowsAVX2F64(SB), NOSPLIT, $0-48
	ROWS256

// func narrowAddF64(n int, s, c *float64, alpha float64)
TEXT ·narrowAddF64(SB), NOSPLIT, $0-32
	ADD

// func narrowColumnsAVX512F64(m, k, n int, a *float64, lda int, b, s *float64, lds int)
TEXT ·narrowColumnsAVX512F64(SB), NOSPLIT, $0-64
	COLUMNS

#undef ES
#undef VBC
#undef VMOV
#undef VFMA
#undef VFMAB
#undef VFMA213
#define ES 4
#define VBC VBROADCASTSS
#define VMOV VMOVUPS
#define VFMA VFMADD231PS
#define VFMAB VFMADD231PS.BCST
#define VFMA213 VFMADD213PS

// func narrowRowsAVX512F32(k int, a *float32, lda int, b, c *float32, alpha float32)
TEXT ·narrowRowsAVX512F32(SB), NOSPLIT, $0-44
	ROWS512

// func narrowRowsAVX2F32(k int, a *float32, lda int, b, c *float32, alpha float32)
TEXT ·narrowRowsAVX2F32(SB), NOSPLIT, $0-44
	ROWS256

// func narrowAddF32(n int, s, c *float32, alpha float32)
TEXT ·narrowAddF32(SB), NOSPLIT, $0-28
	ADD

// func narrowColumnsAVX512F32(m, k, n int, a *float32, lda int, b, s *float32, lds int)
TEXT ·narrowColumnsAVX512F32(SB), NOSPLIT, $0-64
	COLUMNS

// ---- 256 bits ----

#undef VL
#undef V0
#undef V1
#undef V2
#undef V3
#undef V4
#undef V5
#undef V6
#undef V7
#undef V8
#undef V9
#undef V10
#undef V11
#undef V12
#undef V13
#define VL 32
#define V0 Y0
#define V1 Y1
#define V2 Y2
#define V3 Y3
#define V4 Y4
#define V5 Y5
#define V6 Y6
#define V7 Y7
#define V8 Y8
#define V9 Y9
#define V10 Y10
#define V11 Y11
#define V12 Y12
#define V13 Y13

// func narrowColumnsAVX2F32(m, k, n int, a *float32, lda int, b, s *float32, lds int)
TEXT ·narrowColumnsAVX2F32(SB), NOSPLIT, $0-64
	COLUMNS

#undef ES
#undef VBC
#undef VMOV
#undef VFMA
#define ES 8
#define VBC VBROADCASTSD
#define VMOV VMOVUPD
#define VFMA VFMADD231PD

// func narrowColumnsAVX2F64(m, k, n int, a *float64, lda int, b, s *float64, lds int)
TEXT ·narrowColumnsAVX2F64(SB), NOSPLIT, $0-64
	COLUMNS

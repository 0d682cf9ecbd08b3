#include "textflag.h"

// Eight rows at a time, for processors with 32 registers: the partial sums of a row are one
// register, of 512 bits in double and 256 in single. Rows are at AX, CX and the distances R9, 2 R9
// and R10 from there; x is at SI, y at DI, and R8 the byte offset. Coefficients are in registers 16
// to 23, partial sums in 0 to 7.

#define ROW(at, c, sum) \
	VMOV at, V14;       \
	VMUL V12, V14, V15; \
	VMUL c, V14, V14;   \
	VADD V15, sum, sum; \
	VADD V14, V13, V13

#define ZERO(r) VXORPS r, r, r

#define EIGHT \
	MOVQ c+0(FP), R11;   \
	MOVQ a+8(FP), AX;    \
	MOVQ lda+16(FP), R9; \
	MOVQ x+24(FP), SI;   \
	MOVQ y+32(FP), DI;   \
	MOVQ m+40(FP), DX;   \
	MOVQ s+48(FP), BX;   \
	IMULQ $ES, R9;       \
	LEAQ (R9)(R9*2), R10; \
	LEAQ (AX)(R9*4), CX; \
	VBC  (0*ES)(R11), V16; \
	VBC  (1*ES)(R11), V17; \
	VBC  (2*ES)(R11), V18; \
	VBC  (3*ES)(R11), V19; \
	VBC  (4*ES)(R11), V20; \
	VBC  (5*ES)(R11), V21; \
	VBC  (6*ES)(R11), V22; \
	VBC  (7*ES)(R11), V23; \
	ZERO(X0);            \
	ZERO(X1);            \
	ZERO(X2);            \
	ZERO(X3);            \
	ZERO(X4);            \
	ZERO(X5);            \
	ZERO(X6);            \
	ZERO(X7);            \
loop:                    \
	VMOV (SI), V12;      \
	VMOV (DI), V13;      \
	ROW((AX), V16, V0);        \
	ROW((AX)(R9*1), V17, V1);  \
	ROW((AX)(R9*2), V18, V2);  \
	ROW((AX)(R10*1), V19, V3); \
	ROW((CX), V20, V4);        \
	ROW((CX)(R9*1), V21, V5);  \
	ROW((CX)(R9*2), V22, V6);  \
	ROW((CX)(R10*1), V23, V7); \
	VMOV V13, (DI);      \
	ADDQ $(8*ES), AX;    \
	ADDQ $(8*ES), CX;    \
	ADDQ $(8*ES), SI;    \
	ADDQ $(8*ES), DI;    \
	SUBQ $8, DX;         \
	JGT  loop;           \
	SUM(0, Y0, X0, V0);  \
	SUM(1, Y1, X1, V1);  \
	SUM(2, Y2, X2, V2);  \
	SUM(3, Y3, X3, V3);  \
	SUM(4, Y4, X4, V4);  \
	SUM(5, Y5, X5, V5);  \
	SUM(6, Y6, X6, V6);  \
	SUM(7, Y7, X7, V7);  \
	VZEROUPPER;          \
	RET

// ---- float64 ----

#define ES 8
#define VBC VBROADCASTSD
#define VMOV VMOVUPD
#define VMUL VMULPD
#define VADD VADDPD
#define V0 Z0
#define V1 Z1
#define V2 Z2
#define V3 Z3
#define V4 Z4
#define V5 Z5
#define V6 Z6
#define V7 Z7
#define V12 Z12
#define V13 Z13
#define V14 Z14
#define V15 Z15
#define V16 Z16
#define V17 Z17
#define V18 Z18
#define V19 Z19
#define V20 Z20
#define V21 Z21
#define V22 Z22
#define V23 Z23

// SUM is sumLanes of a row.
#define SUM(row, y, x, v) \
	VEXTRACTF64X4 $1, v, Y14; \
	VADDPD Y14, y, y;         \
	VEXTRACTF128 $1, y, X14;  \
	VADDPD X14, x, x;         \
	VUNPCKHPD x, x, X14;      \
	VADDSD X14, x, x;         \
	VMOVSD x, (row*8)(BX)

// func eightRows64(c, a *float64, lda int, x, y *float64, m int, s *[lanes]float64)
//
// m is a multiple of eight above zero.
TEXT ·eightRows64(SB), NOSPLIT, $0-56
	EIGHT

// ---- float32 ----

#undef ES
#undef VBC
#undef VMOV
#undef VMUL
#undef VADD
#undef SUM
#undef V0
#undef V1
#undef V2
#undef V3
#undef V4
#undef V5
#undef V6
#undef V7
#undef V12
#undef V13
#undef V14
#undef V15
#undef V16
#undef V17
#undef V18
#undef V19
#undef V20
#undef V21
#undef V22
#undef V23
#define ES 4
#define VBC VBROADCASTSS
#define VMOV VMOVUPS
#define VMUL VMULPS
#define VADD VADDPS
#define V0 Y0
#define V1 Y1
#define V2 Y2
#define V3 Y3
#define V4 Y4
#define V5 Y5
#define V6 Y6
#define V7 Y7
#define V12 Y12
#define V13 Y13
#define V14 Y14
#define V15 Y15
#define V16 Y16
#define V17 Y17
#define V18 Y18
#define V19 Y19
#define V20 Y20
#define V21 Y21
#define V22 Y22
#define V23 Y23

#define SUM(row, y, x, v) \
	VEXTRACTF128 $1, y, X14;   \
	VADDPS X14, x, x;          \
	VUNPCKHPD x, x, X14;       \
	VADDPS X14, x, x;          \
	VMOVSHDUP x, X14;          \
	VADDSS X14, x, x;          \
	VMOVSS x, (row*4)(BX)

// func eightRows32(c, a *float32, lda int, x, y *float32, m int, s *[lanes]float32)
//
// m is a multiple of eight above zero.
TEXT ·eightRows32(SB), NOSPLIT, $0-56
	EIGHT

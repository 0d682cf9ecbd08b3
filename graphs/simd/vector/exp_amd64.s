#include "textflag.h"

// The exponentials of exp.go; BX points at the table of constants, R8 at the parameters of
// the scaled forms. The number of elements is a multiple of 64 bytes.
//
// VMIN and VMAX return their first operand (in Go's order) where either is NaN: t goes first,
// and a NaN survives the limits.

#define C(i) (i*ES)(BX)
#define P(i) (i*ES)(R8)

// ---- AVX-512: Z0 is t, then x − n·high; Z1 n, Z2 and Z4 polynomials, Z3 r²,
// Z5 the factor, Z7 n·low, Z8 r ----

#define START512 \
	MOVQ dst+0(FP), DI;         \
	MOVQ src+8(FP), SI;         \
	MOVQ n+16(FP), CX;          \
	MOVQ table+24(FP), BX;      \
	VBC  C(0), Z10;             \
	VBC  C(1), Z11;             \
	VBC  C(2), Z12;             \
	VBC  C(3), Z13;             \
	VBC  C(4), Z14;             \
	VBC  C(5), Z15

#define PARAMETERS512 \
	MOVQ parameters+32(FP), R8; \
	VBC  C(6), Z11;             \
	VBC  C(7), Z25;             \
	VBC  C(8), Z26;             \
	VBC  P(0), Z20;             \
	VBC  P(1), Z21;             \
	VBC  P(2), Z22;             \
	VBC  P(3), Z23;             \
	VBC  P(4), Z24

// t < lowest gives zero; K1 are the others, NaN among them.
#define CONSTANT512 \
	VCMP $5, Z11, Z0, K1;       \
	VMOV Z22, Z5

#define WEIGHT512 \
	VCMP $5, Z11, Z0, K1;       \
	VMAX Z0, Z27, Z5;           \
	VMOV Z24, Z6;               \
	VFMA213 Z23, Z5, Z6;        \
	VFMA213 Z22, Z6, Z5

#define REDUCE512 \
	VMIN Z0, Z10, Z0;           \
	VMAX Z0, Z11, Z0;           \
	VMUL Z12, Z0, Z1;           \
	VRND512 $8, Z1, Z1;         \
	VFNMA Z13, Z1, Z0;          \
	VMUL Z14, Z1, Z7;           \
	VSUB Z7, Z0, Z8;            \
	VMUL Z8, Z8, Z3

#define EVEN512(i) VFMA213.BCST C(i), Z3, Z2
#define ODD512(i)  VFMA213.BCST C(i), Z3, Z4

#define SCALE512 \
	VFMA213 Z2, Z8, Z4;         \
	VFMS213 Z7, Z3, Z4;         \
	VADD Z0, Z4, Z4;            \
	VADD Z15, Z4, Z4;           \
	VSCALEF Z1, Z4, Z4

#define FLUSH512 \
	VMUL Z5, Z4, Z4;            \
	VAND Z25, Z4, Z5;           \
	VCMP $5, Z26, Z5, K1, K2;   \
	VMOV.Z Z4, K2, Z4

#define NEXT512 \
	VMOV Z4, (DI);              \
	ADDQ $64, SI;               \
	ADDQ $64, DI;               \
	SUBQ $(64/ES), CX;          \
	JGT  loop;                  \
	VZEROUPPER;                 \
	RET

// ---- AVX2: 2ⁿ is applied as 2^(n/2)·2^(n−n/2), of which only the last product can round ----

#define START256 \
	MOVQ dst+0(FP), DI;         \
	MOVQ src+8(FP), SI;         \
	MOVQ n+16(FP), CX;          \
	MOVQ table+24(FP), BX;      \
	VBC  C(0), Y10;             \
	VBC  C(1), Y11;             \
	VBC  C(2), Y12;             \
	VBC  C(3), Y13;             \
	VBC  C(4), Y14;             \
	VBC  C(5), Y15

#define PARAMETERS256 \
	MOVQ parameters+32(FP), R8; \
	VBC  C(6), Y11

// t < lowest gives zero; Y7 marks it.
#define CONSTANT256 \
	VCMP $1, Y11, Y0, Y7;       \
	VBC  P(2), Y6

#define WEIGHT256 \
	VCMP $1, Y11, Y0, Y7;       \
	VBC  P(5), Y4;              \
	VMAX Y0, Y4, Y6;            \
	VBC  P(4), Y5;              \
	VBC  P(3), Y4;              \
	VFMA213 Y4, Y6, Y5;         \
	VBC  P(2), Y4;              \
	VFMA213 Y4, Y5, Y6

#define REDUCE256 \
	VMIN Y0, Y10, Y0;           \
	VMAX Y0, Y11, Y0;           \
	VMUL Y12, Y0, Y1;           \
	VRND256 $0, Y1, Y1;         \
	VFNMA Y13, Y1, Y0;          \
	VMUL Y14, Y1, Y8;           \
	VSUB Y8, Y0, Y9;            \
	VMUL Y9, Y9, Y3

#define EVEN256(i) \
	VBC  C(i), Y4;              \
	VFMA213 Y4, Y3, Y2

#define ODD256(i) \
	VBC  C(i), Y4;              \
	VFMA213 Y4, Y3, Y5

#define SUM256 \
	VFMA213 Y2, Y9, Y5;         \
	VFMS213 Y8, Y3, Y5;         \
	VADD Y0, Y5, Y5;            \
	VADD Y15, Y5, Y5

#define FLUSH256 \
	VMUL Y6, Y5, Y5;            \
	VBC  C(7), Y4;              \
	VAND Y4, Y5, Y6;            \
	VBC  C(8), Y4;              \
	VCMP $1, Y4, Y6, Y6;        \
	VOR  Y6, Y7, Y6;            \
	VANDN Y5, Y6, Y5

#define NEXT256 \
	VMOV Y5, (DI);              \
	ADDQ $32, SI;               \
	ADDQ $32, DI;               \
	SUBQ $(32/ES), CX;          \
	JGT  loop;                  \
	VZEROUPPER;                 \
	RET

// ---- float64 ----

#define ES 8
#define VBC VBROADCASTSD
#define VMOV VMOVUPD
#define VMIN VMINPD
#define VMAX VMAXPD
#define VMUL VMULPD
#define VADD VADDPD
#define VSUB VSUBPD
#define VSQRT VSQRTPD
#define VAND VANDPD
#define VANDN VANDNPD
#define VOR VORPD
#define VCMP VCMPPD
#define VFMA213 VFMADD213PD
#define VFMS213 VFMSUB213PD
#define VFNMA VFNMADD231PD
#define VSCALEF VSCALEFPD
#define VRND512 VRNDSCALEPD
#define VRND256 VROUNDPD

#define POLY512 \
	VBC  C(9), Z2;   \
	VBC  C(15), Z4;  \
	EVEN512(10);     \
	ODD512(16);      \
	EVEN512(11);     \
	ODD512(17);      \
	EVEN512(12);     \
	ODD512(18);      \
	EVEN512(13);     \
	ODD512(19);      \
	EVEN512(14)

#define POLY256 \
	VBC  C(9), Y2;   \
	VBC  C(15), Y5;  \
	EVEN256(10);     \
	ODD256(16);      \
	EVEN256(11);     \
	ODD256(17);      \
	EVEN256(12);     \
	ODD256(18);      \
	EVEN256(13);     \
	ODD256(19);      \
	EVEN256(14)

#define SCALE256 \
	SUM256;                 \
	VCVTPD2DQY Y1, X1;      \
	VPSRAD $1, X1, X4;      \
	VPSUBD X4, X1, X1;      \
	VPMOVSXDQ X4, Y4;       \
	VPMOVSXDQ X1, Y1;       \
	VPSLLQ $52, Y4, Y4;     \
	VPSLLQ $52, Y1, Y1;     \
	VPADDQ Y15, Y4, Y4;     \
	VPADDQ Y15, Y1, Y1;     \
	VMULPD Y4, Y5, Y5;      \
	VMULPD Y1, Y5, Y5

// func exp64AVX512(dst, src *float64, n int, table *float64)
TEXT ·exp64AVX512(SB), NOSPLIT, $0-32
	START512

loop:
	VMOV (SI), Z0
	REDUCE512
	POLY512
	SCALE512
	NEXT512

// func scaledExp64AVX512(dst, src *float64, n int, table, parameters *float64)
TEXT ·scaledExp64AVX512(SB), NOSPLIT, $0-40
	START512
	PARAMETERS512

loop:
	VMOV (SI), Z0
	VSUB Z20, Z0, Z0
	VMUL Z21, Z0, Z0
	CONSTANT512
	REDUCE512
	POLY512
	SCALE512
	FLUSH512
	NEXT512

// func rootExp64AVX512(dst, src *float64, n int, table, parameters *float64)
TEXT ·rootExp64AVX512(SB), NOSPLIT, $0-40
	START512
	PARAMETERS512
	VBC P(5), Z27

loop:
	VSQRT (SI), Z0
	VMUL Z21, Z0, Z0
	WEIGHT512
	REDUCE512
	POLY512
	SCALE512
	FLUSH512
	NEXT512

// func exp64AVX2(dst, src *float64, n int, table *float64)
TEXT ·exp64AVX2(SB), NOSPLIT, $0-32
	START256

loop:
	VMOV (SI), Y0
	REDUCE256
	POLY256
	SCALE256
	NEXT256

// func scaledExp64AVX2(dst, src *float64, n int, table, parameters *float64)
TEXT ·scaledExp64AVX2(SB), NOSPLIT, $0-40
	START256
	PARAMETERS256

loop:
	VMOV (SI), Y0
	VBC P(0), Y4
	VSUB Y4, Y0, Y0
	VBC P(1), Y4
	VMUL Y4, Y0, Y0
	CONSTANT256
	REDUCE256
	POLY256
	SCALE256
	FLUSH256
	NEXT256

// func rootExp64AVX2(dst, src *float64, n int, table, parameters *float64)
TEXT ·rootExp64AVX2(SB), NOSPLIT, $0-40
	START256
	PARAMETERS256

loop:
	VSQRT (SI), Y0
	VBC P(1), Y4
	VMUL Y4, Y0, Y0
	WEIGHT256
	REDUCE256
	POLY256
	SCALE256
	FLUSH256
	NEXT256

// ---- float32 ----

#undef ES
#undef VBC
#undef VMOV
#undef VMIN
#undef VMAX
#undef VMUL
#undef VADD
#undef VSUB
#undef VSQRT
#undef VAND
#undef VANDN
#undef VOR
#undef VCMP
#undef VFMA213
#undef VFMS213
#undef VFNMA
#undef VSCALEF
#undef VRND512
#undef VRND256
#undef POLY512
#undef POLY256
#undef SCALE256
#define ES 4
#define VBC VBROADCASTSS
#define VMOV VMOVUPS
#define VMIN VMINPS
#define VMAX VMAXPS
#define VMUL VMULPS
#define VADD VADDPS
#define VSUB VSUBPS
#define VSQRT VSQRTPS
#define VAND VANDPS
#define VANDN VANDNPS
#define VOR VORPS
#define VCMP VCMPPS
#define VFMA213 VFMADD213PS
#define VFMS213 VFMSUB213PS
#define VFNMA VFNMADD231PS
#define VSCALEF VSCALEFPS
#define VRND512 VRNDSCALEPS
#define VRND256 VROUNDPS

#define POLY512 \
	VBC  C(9), Z2;   \
	VBC  C(12), Z4;  \
	EVEN512(10);     \
	ODD512(13);      \
	EVEN512(11);     \
	ODD512(14)

#define POLY256 \
	VBC  C(9), Y2;   \
	VBC  C(12), Y5;  \
	EVEN256(10);     \
	ODD256(13);      \
	EVEN256(11);     \
	ODD256(14)

#define SCALE256 \
	SUM256;                 \
	VCVTPS2DQ Y1, Y1;       \
	VPSRAD $1, Y1, Y4;      \
	VPSUBD Y4, Y1, Y1;      \
	VPSLLD $23, Y4, Y4;     \
	VPSLLD $23, Y1, Y1;     \
	VPADDD Y15, Y4, Y4;     \
	VPADDD Y15, Y1, Y1;     \
	VMULPS Y4, Y5, Y5;      \
	VMULPS Y1, Y5, Y5

// func exp32AVX512(dst, src *float32, n int, table *float32)
TEXT ·exp32AVX512(SB), NOSPLIT, $0-32
	START512

loop:
	VMOV (SI), Z0
	REDUCE512
	POLY512
	SCALE512
	NEXT512

// func scaledExp32AVX512(dst, src *float32, n int, table, parameters *float32)
TEXT ·scaledExp32AVX512(SB), NOSPLIT, $0-40
	START512
	PARAMETERS512

loop:
	VMOV (SI), Z0
	VSUB Z20, Z0, Z0
	VMUL Z21, Z0, Z0
	CONSTANT512
	REDUCE512
	POLY512
	SCALE512
	FLUSH512
	NEXT512

// func rootExp32AVX512(dst, src *float32, n int, table, parameters *float32)
TEXT ·rootExp32AVX512(SB), NOSPLIT, $0-40
	START512
	PARAMETERS512
	VBC P(5), Z27

loop:
	VSQRT (SI), Z0
	VMUL Z21, Z0, Z0
	WEIGHT512
	REDUCE512
	POLY512
	SCALE512
	FLUSH512
	NEXT512

// func exp32AVX2(dst, src *float32, n int, table *float32)
TEXT ·exp32AVX2(SB), NOSPLIT, $0-32
	START256

loop:
	VMOV (SI), Y0
	REDUCE256
	POLY256
	SCALE256
	NEXT256

// func scaledExp32AVX2(dst, src *float32, n int, table, parameters *float32)
TEXT ·scaledExp32AVX2(SB), NOSPLIT, $0-40
	START256
	PARAMETERS256

loop:
	VMOV (SI), Y0
	VBC P(0), Y4
	VSUB Y4, Y0, Y0
	VBC P(1), Y4
	VMUL Y4, Y0, Y0
	CONSTANT256
	REDUCE256
	POLY256
	SCALE256
	FLUSH256
	NEXT256

// func rootExp32AVX2(dst, src *float32, n int, table, parameters *float32)
TEXT ·rootExp32AVX2(SB), NOSPLIT, $0-40
	START256
	PARAMETERS256

loop:
	VSQRT (SI), Y0
	VBC P(1), Y4
	VMUL Y4, Y0, Y0
	WEIGHT256
	REDUCE256
	POLY256
	SCALE256
	FLUSH256
	NEXT256

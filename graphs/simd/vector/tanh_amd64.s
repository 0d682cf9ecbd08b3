#include "textflag.h"

// What surrounds the exponential in tanh.go; n is a multiple of 64 bytes. Divisions take most of
// the time, and are no faster in wider registers.

// ABSOLUTE leaves a mask of the bits but for the sign in Y15.
#define ABSOLUTE(shift) \
	VPCMPEQD Y15, Y15, Y15; \
	shift $1, Y15, Y15

#define DOUBLEABS \
	MOVQ dst+0(FP), DI;  \
	MOVQ src+8(FP), SI;  \
	MOVQ n+16(FP), CX;   \
loop:                    \
	VAND (SI), Y15, Y0;  \
	VADD Y0, Y0, Y0;     \
	VMOV Y0, (DI);       \
	ADDQ $32, SI;        \
	ADDQ $32, DI;        \
	SUBQ $(32/ES), CX;   \
	JGT  loop;           \
	VZEROUPPER;          \
	RET

// Y0 x, Y1 |x|, Y2 1 − 2/(e + 1), Y3 x², Y4 P, Y5 Q; Y6 to Y14 the table.
#define FINISH \
	MOVQ dst+0(FP), DI;    \
	MOVQ src+8(FP), SI;    \
	MOVQ e+16(FP), DX;     \
	MOVQ n+24(FP), CX;     \
	MOVQ table+32(FP), BX; \
	VBC  (0*ES)(BX), Y6;   \
	VBC  (1*ES)(BX), Y7;   \
	VBC  (2*ES)(BX), Y8;   \
	VBC  (3*ES)(BX), Y9;   \
	VBC  (4*ES)(BX), Y10;  \
	VBC  (5*ES)(BX), Y11;  \
	VBC  (6*ES)(BX), Y12;  \
	VBC  (7*ES)(BX), Y13;  \
	VBC  (8*ES)(BX), Y14;  \
loop:                      \
	VMOV (SI), Y0;         \
	VAND Y0, Y15, Y1;      \
	VADD (DX), Y7, Y2;     \
	VDIV Y2, Y8, Y2;       \
	VSUB Y2, Y7, Y2;       \
	VMUL Y0, Y0, Y3;       \
	VMUL Y3, Y9, Y4;       \
	VSUB Y10, Y4, Y4;      \
	VMUL Y3, Y4, Y4;       \
	VSUB Y11, Y4, Y4;      \
	VADD Y3, Y12, Y5;      \
	VMUL Y3, Y5, Y5;       \
	VADD Y13, Y5, Y5;      \
	VMUL Y3, Y5, Y5;       \
	VADD Y14, Y5, Y5;      \
	VDIV Y5, Y4, Y4;       \
	VMUL Y0, Y3, Y3;       \
	VMUL Y4, Y3, Y4;       \
	VADD Y4, Y0, Y4;       \
	VCMP $13, Y6, Y1, Y1;  \
	VBLEND Y1, Y2, Y4, Y4; \
	VAND Y4, Y15, Y4;      \
	VANDN Y0, Y15, Y0;     \
	VOR  Y0, Y4, Y4;       \
	VMOV Y4, (DI);         \
	ADDQ $32, SI;          \
	ADDQ $32, DX;          \
	ADDQ $32, DI;          \
	SUBQ $(32/ES), CX;     \
	JGT  loop;             \
	VZEROUPPER;            \
	RET

// ---- float64 ----

#define ES 8
#define VBC VBROADCASTSD
#define VMOV VMOVUPD
#define VADD VADDPD
#define VSUB VSUBPD
#define VMUL VMULPD
#define VDIV VDIVPD
#define VAND VANDPD
#define VANDN VANDNPD
#define VOR VORPD
#define VCMP VCMPPD
#define VBLEND VBLENDVPD

// func doubleAbs64AVX(dst, src *float64, n int)
TEXT ·doubleAbs64AVX(SB), NOSPLIT, $0-24
	ABSOLUTE(VPSRLQ)
	DOUBLEABS

// func tanh64AVX(dst, src, e *float64, n int, table *[9]float64)
TEXT ·tanh64AVX(SB), NOSPLIT, $0-40
	ABSOLUTE(VPSRLQ)
	FINISH

// ---- float32 ----

#undef ES
#undef VBC
#undef VMOV
#undef VADD
#undef VSUB
#undef VMUL
#undef VDIV
#undef VAND
#undef VANDN
#undef VOR
#undef VCMP
#undef VBLEND
#define ES 4
#define VBC VBROADCASTSS
#define VMOV VMOVUPS
#define VADD VADDPS
#define VSUB VSUBPS
#define VMUL VMULPS
#define VDIV VDIVPS
#define VAND VANDPS
#define VANDN VANDNPS
#define VOR VORPS
#define VCMP VCMPPS
#define VBLEND VBLENDVPS

// func doubleAbs32AVX(dst, src *float32, n int)
TEXT ·doubleAbs32AVX(SB), NOSPLIT, $0-24
	ABSOLUTE(VPSRLD)
	DOUBLEABS

// func tanh32AVX(dst, src, e *float32, n int, table *[9]float32)
TEXT ·tanh32AVX(SB), NOSPLIT, $0-40
	ABSOLUTE(VPSRLD)
	FINISH

#include "textflag.h"

// The exponentials of ExpBelow in float32: the steps of exp_amd64.s for numbers x − top ≤ 0 whose
// exponential is normal or zero. Hence there is no upper limit, 2ⁿ is added to the exponent, and a
// comparison with the lowest number alone decides for zero.
//
// CX rows left, SI the row, DI the row of tops, BX the table of constants.

#define ARGUMENTS \
	MOVQ rows+0(FP), CX;   \
	MOVQ x+8(FP), SI;      \
	MOVQ top+16(FP), DI;   \
	MOVQ table+24(FP), BX

// ---- AVX2: rows of 3 vectors; each constant of the table has 32 bytes ----

// VECTOR256: Y0 is t, then x − n·high; Y1 n, Y2 n·low, Y3 r, Y4 r², Y5 and Y6 polynomials, Y7 the
// mask of zeros.
#define VECTOR256(off) \
	VMOVUPS off(SI), Y0;              \
	VSUBPS off(DI), Y0, Y0;           \
	VCMPPS $1, Y15, Y0, Y7;           \
	VMAXPS Y0, Y15, Y0;               \
	VMULPS Y14, Y0, Y1;               \
	VROUNDPS $0, Y1, Y1;              \
	VFNMADD231PS Y13, Y1, Y0;         \
	VMULPS Y12, Y1, Y2;               \
	VSUBPS Y2, Y0, Y3;                \
	VMULPS Y3, Y3, Y4;                \
	VMOVAPS Y10, Y5;                  \
	VMOVAPS Y9, Y6;                   \
	VFMADD213PS Y8, Y4, Y5;           \
	VFMADD213PS (13*32)(BX), Y4, Y6;  \
	VFMADD213PS (11*32)(BX), Y4, Y5;  \
	VFMADD213PS (14*32)(BX), Y4, Y6;  \
	VFMADD213PS Y5, Y3, Y6;           \
	VFMSUB213PS Y2, Y4, Y6;           \
	VADDPS Y0, Y6, Y6;                \
	VADDPS Y11, Y6, Y6;               \
	VCVTPS2DQ Y1, Y1;                 \
	VPSLLD $23, Y1, Y1;               \
	VPADDD Y1, Y6, Y6;                \
	VANDNPS Y6, Y7, Y6;               \
	VMOVUPS Y6, off(SI)

// func expBelow32AVX2(rows int, x, top, table *float32)
TEXT ·expBelow32AVX2(SB), NOSPLIT, $0-32
	ARGUMENTS
	VMOVUPS (6*32)(BX), Y15
	VMOVUPS (2*32)(BX), Y14
	VMOVUPS (3*32)(BX), Y13
	VMOVUPS (4*32)(BX), Y12
	VMOVUPS (5*32)(BX), Y11
	VMOVUPS (9*32)(BX), Y10
	VMOVUPS (12*32)(BX), Y9
	VMOVUPS (10*32)(BX), Y8

loop:
	VECTOR256(0)
	VECTOR256(32)
	VECTOR256(64)
	ADDQ $96, SI
	DECQ CX
	JNE  loop
	VZEROUPPER
	RET

// ---- AVX-512: rows of 2 vectors; Z0 to Z6 as above, K1 marks results that are not zero ----

#define VECTOR512(off, top) \
	VMOVUPS off(SI), Z0;           \
	VSUBPS top, Z0, Z0;            \
	VCMPPS $5, Z15, Z0, K1;        \
	VMAXPS Z0, Z15, Z0;            \
	VMULPS Z14, Z0, Z1;            \
	VRNDSCALEPS $8, Z1, Z1;        \
	VFNMADD231PS Z13, Z1, Z0;      \
	VMULPS Z12, Z1, Z2;            \
	VSUBPS Z2, Z0, Z3;             \
	VMULPS Z3, Z3, Z4;             \
	VMOVAPS Z10, Z5;               \
	VMOVAPS Z9, Z6;                \
	VFMADD213PS Z8, Z4, Z5;        \
	VFMADD213PS Z16, Z4, Z6;       \
	VFMADD213PS Z17, Z4, Z5;       \
	VFMADD213PS Z18, Z4, Z6;       \
	VFMADD213PS Z5, Z3, Z6;        \
	VFMSUB213PS Z2, Z4, Z6;        \
	VADDPS Z0, Z6, Z6;             \
	VADDPS Z11, Z6, Z6;            \
	VCVTPS2DQ Z1, Z1;              \
	VPSLLD $23, Z1, Z1;            \
	VPADDD.Z Z1, Z6, K1, Z6;       \
	VMOVUPS Z6, off(SI)

// func expBelow32AVX512(rows int, x, top, table *float32)
TEXT ·expBelow32AVX512(SB), NOSPLIT, $0-32
	ARGUMENTS
	VBROADCASTSS (6*32)(BX), Z15
	VBROADCASTSS (2*32)(BX), Z14
	VBROADCASTSS (3*32)(BX), Z13
	VBROADCASTSS (4*32)(BX), Z12
	VBROADCASTSS (5*32)(BX), Z11
	VBROADCASTSS (9*32)(BX), Z10
	VBROADCASTSS (12*32)(BX), Z9
	VBROADCASTSS (10*32)(BX), Z8
	VBROADCASTSS (13*32)(BX), Z16
	VBROADCASTSS (11*32)(BX), Z17
	VBROADCASTSS (14*32)(BX), Z18
	VMOVUPS (DI), Z20
	VMOVUPS 64(DI), Z21

loop:
	VECTOR512(0, Z20)
	VECTOR512(64, Z21)
	ADDQ $128, SI
	DECQ CX
	JNE  loop
	VZEROUPPER
	RET

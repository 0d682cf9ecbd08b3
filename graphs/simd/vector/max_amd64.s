#include "textflag.h"

// The largest element; n is a multiple of 256 bytes, and tail, unless nil, is one such block
// more. Maxima pass over a NaN: unordered comparisons mark that there is one, and make the
// result a NaN of all bits.

#define START \
	MOVQ x+0(FP), SI;                    \
	MOVQ n+8(FP), CX;                    \
	MOVQ tail+16(FP), R8;                \
	MOVQ $LOWEST, AX;                    \
	VMOVQ AX, X0;                        \
	XORL BX, BX

#define ADVANCE \
	ADDQ $256, SI;                       \
	SUBQ $(256/ES), CX;                  \
	JMP  loop

#define TAIL \
	TESTQ R8, R8;                        \
	JZ   fold;                           \
	MOVQ R8, SI;                         \
	MOVQ $(256/ES), CX;                  \
	XORL R8, R8;                         \
	JMP  loop

#define STEP512(at, largest) \
	VMOV at(SI), Z4;                     \
	VCMP $3, Z4, Z4, K1;                 \
	VMAX Z4, largest, largest;           \
	KORW K1, K2, K2

#define STEP256(at, largest) \
	VMOV at(SI), Y8;                     \
	VMAX Y8, largest, largest;           \
	VCMP $3, Y8, Y8, Y8;                 \
	VOR  Y8, Y9, Y9

// ---- float64 ----

#define ES 8
#define VBC VBROADCASTSD
#define VMOV VMOVUPD
#define VMAX VMAXPD
#define VOR VORPD
#define VCMP VCMPPD
#define LOWEST 0xfff0000000000000
#define FOLD128 \
	VEXTRACTF128 $1, Y0, X1;             \
	VMAX X1, X0, X0;                     \
	VPERMILPS $0x4e, X0, X1;             \
	VMAX X1, X0, X0;                     \
	TESTL BX, BX;                        \
	JZ   2(PC);                          \
	VPCMPEQD X0, X0, X0

// func max64AVX512(x *float64, n int, tail *float64) float64
TEXT ·max64AVX512(SB), NOSPLIT, $0-32
	START
	VBC X0, Z0
	VMOV Z0, Z1
	VMOV Z0, Z2
	VMOV Z0, Z3
	KXORW K2, K2, K2

loop:
	CMPQ CX, $0
	JLE  rest
	STEP512(0, Z0)
	STEP512(64, Z1)
	STEP512(128, Z2)
	STEP512(192, Z3)
	ADVANCE

rest:
	TAIL

fold:
	VMAX Z2, Z0, Z0
	VMAX Z3, Z1, Z1
	VMAX Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VMAX Y1, Y0, Y0
	KMOVW K2, BX
	FOLD128
	VMOVSD X0, ret+24(FP)
	VZEROUPPER
	RET

// func max64AVX2(x *float64, n int, tail *float64) float64
TEXT ·max64AVX2(SB), NOSPLIT, $0-32
	START
	VBC X0, Y0
	VMOV Y0, Y1
	VMOV Y0, Y2
	VMOV Y0, Y3
	VXORPD Y9, Y9, Y9

loop:
	CMPQ CX, $0
	JLE  rest
	STEP256(0, Y0)
	STEP256(32, Y1)
	STEP256(64, Y2)
	STEP256(96, Y3)
	STEP256(128, Y0)
	STEP256(160, Y1)
	STEP256(192, Y2)
	STEP256(224, Y3)
	ADVANCE

rest:
	TAIL

fold:
	VMAX Y2, Y0, Y0
	VMAX Y3, Y1, Y1
	VMAX Y1, Y0, Y0
	VPMOVMSKB Y9, BX
	FOLD128
	VMOVSD X0, ret+24(FP)
	VZEROUPPER
	RET


// ---- float32 ----

#undef ES
#undef VBC
#undef VMOV
#undef VMAX
#undef VOR
#undef VCMP
#undef LOWEST
#undef FOLD128
#define ES 4
#define VBC VBROADCASTSS
#define VMOV VMOVUPS
#define VMAX VMAXPS
#define VOR VORPS
#define VCMP VCMPPS
#define LOWEST 0xff800000
#define FOLD128 \
	VEXTRACTF128 $1, Y0, X1;             \
	VMAX X1, X0, X0;                     \
	VPERMILPS $0x4e, X0, X1;             \
	VMAX X1, X0, X0;                     \
	VMOVSHDUP X0, X1;                    \
	VMAX X1, X0, X0;                     \
	TESTL BX, BX;                        \
	JZ   2(PC);                          \
	VPCMPEQD X0, X0, X0

// func max32AVX512(x *float32, n int, tail *float32) float32
TEXT ·max32AVX512(SB), NOSPLIT, $0-28
	START
	VBC X0, Z0
	VMOV Z0, Z1
	VMOV Z0, Z2
	VMOV Z0, Z3
	KXORW K2, K2, K2

loop:
	CMPQ CX, $0
	JLE  rest
	STEP512(0, Z0)
	STEP512(64, Z1)
	STEP512(128, Z2)
	STEP512(192, Z3)
	ADVANCE

rest:
	TAIL

fold:
	VMAX Z2, Z0, Z0
	VMAX Z3, Z1, Z1
	VMAX Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VMAX Y1, Y0, Y0
	KMOVW K2, BX
	FOLD128
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func max32AVX2(x *float32, n int, tail *float32) float32
TEXT ·max32AVX2(SB), NOSPLIT, $0-28
	START
	VBC X0, Y0
	VMOV Y0, Y1
	VMOV Y0, Y2
	VMOV Y0, Y3
	VXORPD Y9, Y9, Y9

loop:
	CMPQ CX, $0
	JLE  rest
	STEP256(0, Y0)
	STEP256(32, Y1)
	STEP256(64, Y2)
	STEP256(96, Y3)
	STEP256(128, Y0)
	STEP256(160, Y1)
	STEP256(192, Y2)
	STEP256(224, Y3)
	ADVANCE

rest:
	TAIL

fold:
	VMAX Y2, Y0, Y0
	VMAX Y3, Y1, Y1
	VMAX Y1, Y0, Y0
	VPMOVMSKB Y9, BX
	FOLD128
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

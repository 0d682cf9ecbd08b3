#include "textflag.h"

// Sums in the interleaved order of vector.go: the partial sums are 4 registers of AVX-512 or
// 8 of AVX2. n is a multiple of 256 bytes; tailX and tailY, unless nil, are one such block
// more.

#define START \
	MOVQ x+0(FP), SI;                    \
	MOVQ y+8(FP), DI;                    \
	MOVQ n+16(FP), CX;                   \
	MOVQ tailX+24(FP), R8;               \
	MOVQ tailY+32(FP), R9

#define ADVANCE \
	ADDQ $256, SI;                       \
	ADDQ $256, DI;                       \
	SUBQ $(256/ES), CX;                  \
	JMP  loop

#define TAIL \
	TESTQ R8, R8;                        \
	JZ   fold;                           \
	MOVQ R8, SI;                         \
	MOVQ R9, DI;                         \
	MOVQ $(256/ES), CX;                  \
	XORL R8, R8;                         \
	JMP  loop

#define ZERO512 \
	VPXORQ Z0, Z0, Z0;                   \
	VPXORQ Z1, Z1, Z1;                   \
	VPXORQ Z2, Z2, Z2;                   \
	VPXORQ Z3, Z3, Z3

#define FOLD512 \
	VADD Z2, Z0, Z0;                     \
	VADD Z3, Z1, Z1;                     \
	VADD Z1, Z0, Z0;                     \
	VEXTRACTF64X4 $1, Z0, Y1;            \
	VADD Y1, Y0, Y0;                     \
	VEXTRACTF128 $1, Y0, X1;             \
	VADD X1, X0, X0

#define ZERO256 \
	VXORPD Y0, Y0, Y0;                   \
	VXORPD Y1, Y1, Y1;                   \
	VXORPD Y2, Y2, Y2;                   \
	VXORPD Y3, Y3, Y3;                   \
	VXORPD Y4, Y4, Y4;                   \
	VXORPD Y5, Y5, Y5;                   \
	VXORPD Y6, Y6, Y6;                   \
	VXORPD Y7, Y7, Y7

#define FOLD256 \
	VADD Y4, Y0, Y0;                     \
	VADD Y5, Y1, Y1;                     \
	VADD Y6, Y2, Y2;                     \
	VADD Y7, Y3, Y3;                     \
	VADD Y2, Y0, Y0;                     \
	VADD Y3, Y1, Y1;                     \
	VADD Y1, Y0, Y0;                     \
	VEXTRACTF128 $1, Y0, X1;             \
	VADD X1, X0, X0

#define DOT512(at, sum) \
	VMOV at(SI), Z16;                    \
	VFMA231 at(DI), Z16, sum

#define SQUARE512(at, sum) \
	VMOV at(SI), Z16;                    \
	VSUB at(DI), Z16, Z16;               \
	VFMA231 Z16, Z16, sum

#define DOT256(at, sum) \
	VMOV at(SI), Y8;                     \
	VFMA231 at(DI), Y8, sum

#define SQUARE256(at, sum) \
	VMOV at(SI), Y8;                     \
	VSUB at(DI), Y8, Y8;                 \
	VFMA231 Y8, Y8, sum

// ---- float64 ----

#define ES 8
#define VMOV VMOVUPD
#define VADD VADDPD
#define VSUB VSUBPD
#define VFMA231 VFMADD231PD
#define FOLD128 \
	VPERMILPD $1, X0, X1;                \
	VADDSD X1, X0, X0

// func dot64AVX512(x, y *float64, n int, tailX, tailY *float64) float64
TEXT ·dot64AVX512(SB), NOSPLIT, $0-48
	START
	ZERO512

loop:
	CMPQ CX, $0
	JLE  rest
	DOT512(0, Z0)
	DOT512(64, Z1)
	DOT512(128, Z2)
	DOT512(192, Z3)
	ADVANCE

rest:
	TAIL

fold:
	FOLD512
	FOLD128
	VMOVSD X0, ret+40(FP)
	VZEROUPPER
	RET

// func squared64AVX512(x, y *float64, n int, tailX, tailY *float64) float64
TEXT ·squared64AVX512(SB), NOSPLIT, $0-48
	START
	ZERO512

loop:
	CMPQ CX, $0
	JLE  rest
	SQUARE512(0, Z0)
	SQUARE512(64, Z1)
	SQUARE512(128, Z2)
	SQUARE512(192, Z3)
	ADVANCE

rest:
	TAIL

fold:
	FOLD512
	FOLD128
	VMOVSD X0, ret+40(FP)
	VZEROUPPER
	RET

// func dot64AVX2(x, y *float64, n int, tailX, tailY *float64) float64
TEXT ·dot64AVX2(SB), NOSPLIT, $0-48
	START
	ZERO256

loop:
	CMPQ CX, $0
	JLE  rest
	DOT256(0, Y0)
	DOT256(32, Y1)
	DOT256(64, Y2)
	DOT256(96, Y3)
	DOT256(128, Y4)
	DOT256(160, Y5)
	DOT256(192, Y6)
	DOT256(224, Y7)
	ADVANCE

rest:
	TAIL

fold:
	FOLD256
	FOLD128
	VMOVSD X0, ret+40(FP)
	VZEROUPPER
	RET

// func squared64AVX2(x, y *float64, n int, tailX, tailY *float64) float64
TEXT ·squared64AVX2(SB), NOSPLIT, $0-48
	START
	ZERO256

loop:
	CMPQ CX, $0
	JLE  rest
	SQUARE256(0, Y0)
	SQUARE256(32, Y1)
	SQUARE256(64, Y2)
	SQUARE256(96, Y3)
	SQUARE256(128, Y4)
	SQUARE256(160, Y5)
	SQUARE256(192, Y6)
	SQUARE256(224, Y7)
	ADVANCE

rest:
	TAIL

fold:
	FOLD256
	FOLD128
	VMOVSD X0, ret+40(FP)
	VZEROUPPER
	RET

// ---- float32 ----

#undef ES
#undef VMOV
#undef VADD
#undef VSUB
#undef VFMA231
#undef FOLD128
#define ES 4
#define VMOV VMOVUPS
#define VADD VADDPS
#define VSUB VSUBPS
#define VFMA231 VFMADD231PS
#define FOLD128 \
	VPERMILPS $0x4e, X0, X1;             \
	VADDPS X1, X0, X0;                   \
	VMOVSHDUP X0, X1;                    \
	VADDSS X1, X0, X0

// func dot32AVX512(x, y *float32, n int, tailX, tailY *float32) float32
TEXT ·dot32AVX512(SB), NOSPLIT, $0-44
	START
	ZERO512

loop:
	CMPQ CX, $0
	JLE  rest
	DOT512(0, Z0)
	DOT512(64, Z1)
	DOT512(128, Z2)
	DOT512(192, Z3)
	ADVANCE

rest:
	TAIL

fold:
	FOLD512
	FOLD128
	VMOVSS X0, ret+40(FP)
	VZEROUPPER
	RET

// func squared32AVX512(x, y *float32, n int, tailX, tailY *float32) float32
TEXT ·squared32AVX512(SB), NOSPLIT, $0-44
	START
	ZERO512

loop:
	CMPQ CX, $0
	JLE  rest
	SQUARE512(0, Z0)
	SQUARE512(64, Z1)
	SQUARE512(128, Z2)
	SQUARE512(192, Z3)
	ADVANCE

rest:
	TAIL

fold:
	FOLD512
	FOLD128
	VMOVSS X0, ret+40(FP)
	VZEROUPPER
	RET

// func dot32AVX2(x, y *float32, n int, tailX, tailY *float32) float32
TEXT ·dot32AVX2(SB), NOSPLIT, $0-44
	START
	ZERO256

loop:
	CMPQ CX, $0
	JLE  rest
	DOT256(0, Y0)
	DOT256(32, Y1)
	DOT256(64, Y2)
	DOT256(96, Y3)
	DOT256(128, Y4)
	DOT256(160, Y5)
	DOT256(192, Y6)
	DOT256(224, Y7)
	ADVANCE

rest:
	TAIL

fold:
	FOLD256
	FOLD128
	VMOVSS X0, ret+40(FP)
	VZEROUPPER
	RET

// func squared32AVX2(x, y *float32, n int, tailX, tailY *float32) float32
TEXT ·squared32AVX2(SB), NOSPLIT, $0-44
	START
	ZERO256

loop:
	CMPQ CX, $0
	JLE  rest
	SQUARE256(0, Y0)
	SQUARE256(32, Y1)
	SQUARE256(64, Y2)
	SQUARE256(96, Y3)
	SQUARE256(128, Y4)
	SQUARE256(160, Y5)
	SQUARE256(192, Y6)
	SQUARE256(224, Y7)
	ADVANCE

rest:
	TAIL

fold:
	FOLD256
	FOLD128
	VMOVSS X0, ret+40(FP)
	VZEROUPPER
	RET

#include "textflag.h"

// Distances of four points to the points of a panel, 16 in float64 and 32 in float32, added to
// C: element k of the panel's points stands at 128·k bytes, x and C are rows at a distance of
// ldx and ldc elements.

#define START \
	MOVQ kc+0(FP), CX;                   \
	MOVQ x+8(FP), SI;                    \
	MOVQ ldx+16(FP), R8;                 \
	MOVQ panel+24(FP), DI;               \
	MOVQ c+32(FP), DX;                   \
	MOVQ ldc+40(FP), R9;                 \
	SHLQ $SHIFT, R8;                     \
	SHLQ $SHIFT, R9;                     \
	LEAQ (R8)(R8*2), R10

#define MASK \
	MOVQ $MAGNITUDE, AX;                 \
	VMOVQ AX, X15

#define L1512(x, a, b) \
	VBC  x, Z10;                         \
	VSUB Z10, Z8, Z11;                   \
	VSUB Z10, Z9, Z12;                   \
	VAND Z15, Z11, Z11;                  \
	VAND Z15, Z12, Z12;                  \
	VADD Z11, a, a;                      \
	VADD Z12, b, b

#define L2512(x, a, b) \
	VBC  x, Z10;                         \
	VSUB Z10, Z8, Z11;                   \
	VSUB Z10, Z9, Z12;                   \
	VFMA231 Z11, Z11, a;                 \
	VFMA231 Z12, Z12, b

#define L1256(x, a, b) \
	VBC  x, Y10;                         \
	VSUB Y10, Y8, Y11;                   \
	VSUB Y10, Y9, Y12;                   \
	VAND Y15, Y11, Y11;                  \
	VAND Y15, Y12, Y12;                  \
	VADD Y11, a, a;                      \
	VADD Y12, b, b

#define L2256(x, a, b) \
	VBC  x, Y10;                         \
	VSUB Y10, Y8, Y11;                   \
	VSUB Y10, Y9, Y12;                   \
	VFMA231 Y11, Y11, a;                 \
	VFMA231 Y12, Y12, b

#define ADDTO512(a, b) \
	VADD (DX), a, a;                     \
	VADD 64(DX), b, b;                   \
	VMOV a, (DX);                        \
	VMOV b, 64(DX);                      \
	ADDQ R9, DX

#define ADDTO256(a, b) \
	VADD (DX), a, a;                     \
	VADD 32(DX), b, b;                   \
	VMOV a, (DX);                        \
	VMOV b, 32(DX);                      \
	ADDQ R9, DX

// ---- float64 ----

#define ES 8
#define VBC VBROADCASTSD
#define VMOV VMOVUPD
#define VADD VADDPD
#define VSUB VSUBPD
#define VAND VANDPD
#define VFMA231 VFMADD231PD
#define SHIFT 3
#define MAGNITUDE 0x7fffffffffffffff

// func manhattan64AVX512(kc int, x *float64, ldx int, panel, c *float64, ldc int)
TEXT ·manhattan64AVX512(SB), NOSPLIT, $0-48
	START
	MASK
	VBC X15, Z15
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7

loop:
	VMOV (DI), Z8
	VMOV 64(DI), Z9
	L1512((SI), Z0, Z1)
	L1512((SI)(R8*1), Z2, Z3)
	L1512((SI)(R8*2), Z4, Z5)
	L1512((SI)(R10*1), Z6, Z7)
	ADDQ $ES, SI
	ADDQ $128, DI
	DECQ CX
	JNZ  loop

	ADDTO512(Z0, Z1)
	ADDTO512(Z2, Z3)
	ADDTO512(Z4, Z5)
	ADDTO512(Z6, Z7)
	VZEROUPPER
	RET

// func manhattan64AVX2(kc int, x *float64, ldx int, panel, c *float64, ldc int)
//
// Each half of the panel's points in a pass of its own.
TEXT ·manhattan64AVX2(SB), NOSPLIT, $0-48
	START
	MASK
	VBC X15, Y15
	MOVQ $2, BX

half:
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	MOVQ DI, R11
	MOVQ SI, R12
	MOVQ CX, R13
	MOVQ DX, AX

loop:
	VMOV (R11), Y8
	VMOV 32(R11), Y9
	L1256((R12), Y0, Y1)
	L1256((R12)(R8*1), Y2, Y3)
	L1256((R12)(R8*2), Y4, Y5)
	L1256((R12)(R10*1), Y6, Y7)
	ADDQ $ES, R12
	ADDQ $128, R11
	DECQ R13
	JNZ  loop

	ADDTO256(Y0, Y1)
	ADDTO256(Y2, Y3)
	ADDTO256(Y4, Y5)
	ADDTO256(Y6, Y7)
	LEAQ 64(AX), DX
	ADDQ $64, DI
	DECQ BX
	JNZ  half
	VZEROUPPER
	RET

// func euclidean64AVX512(kc int, x *float64, ldx int, panel, c *float64, ldc int)
TEXT ·euclidean64AVX512(SB), NOSPLIT, $0-48
	START
	MASK
	VBC X15, Z15
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7

loop:
	VMOV (DI), Z8
	VMOV 64(DI), Z9
	L2512((SI), Z0, Z1)
	L2512((SI)(R8*1), Z2, Z3)
	L2512((SI)(R8*2), Z4, Z5)
	L2512((SI)(R10*1), Z6, Z7)
	ADDQ $ES, SI
	ADDQ $128, DI
	DECQ CX
	JNZ  loop

	ADDTO512(Z0, Z1)
	ADDTO512(Z2, Z3)
	ADDTO512(Z4, Z5)
	ADDTO512(Z6, Z7)
	VZEROUPPER
	RET

// func euclidean64AVX2(kc int, x *float64, ldx int, panel, c *float64, ldc int)
//
// Each half of the panel's points in a pass of its own.
TEXT ·euclidean64AVX2(SB), NOSPLIT, $0-48
	START
	MASK
	VBC X15, Y15
	MOVQ $2, BX

half:
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	MOVQ DI, R11
	MOVQ SI, R12
	MOVQ CX, R13
	MOVQ DX, AX

loop:
	VMOV (R11), Y8
	VMOV 32(R11), Y9
	L2256((R12), Y0, Y1)
	L2256((R12)(R8*1), Y2, Y3)
	L2256((R12)(R8*2), Y4, Y5)
	L2256((R12)(R10*1), Y6, Y7)
	ADDQ $ES, R12
	ADDQ $128, R11
	DECQ R13
	JNZ  loop

	ADDTO256(Y0, Y1)
	ADDTO256(Y2, Y3)
	ADDTO256(Y4, Y5)
	ADDTO256(Y6, Y7)
	LEAQ 64(AX), DX
	ADDQ $64, DI
	DECQ BX
	JNZ  half
	VZEROUPPER
	RET


// ---- float32 ----

#undef ES
#undef VBC
#undef VMOV
#undef VADD
#undef VSUB
#undef VAND
#undef VFMA231
#undef SHIFT
#undef MAGNITUDE
#define ES 4
#define VBC VBROADCASTSS
#define VMOV VMOVUPS
#define VADD VADDPS
#define VSUB VSUBPS
#define VAND VANDPS
#define VFMA231 VFMADD231PS
#define SHIFT 2
#define MAGNITUDE 0x7fffffff

// func manhattan32AVX512(kc int, x *float32, ldx int, panel, c *float32, ldc int)
TEXT ·manhattan32AVX512(SB), NOSPLIT, $0-48
	START
	MASK
	VBC X15, Z15
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7

loop:
	VMOV (DI), Z8
	VMOV 64(DI), Z9
	L1512((SI), Z0, Z1)
	L1512((SI)(R8*1), Z2, Z3)
	L1512((SI)(R8*2), Z4, Z5)
	L1512((SI)(R10*1), Z6, Z7)
	ADDQ $ES, SI
	ADDQ $128, DI
	DECQ CX
	JNZ  loop

	ADDTO512(Z0, Z1)
	ADDTO512(Z2, Z3)
	ADDTO512(Z4, Z5)
	ADDTO512(Z6, Z7)
	VZEROUPPER
	RET

// func manhattan32AVX2(kc int, x *float32, ldx int, panel, c *float32, ldc int)
//
// Each half of the panel's points in a pass of its own.
TEXT ·manhattan32AVX2(SB), NOSPLIT, $0-48
	START
	MASK
	VBC X15, Y15
	MOVQ $2, BX

half:
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	MOVQ DI, R11
	MOVQ SI, R12
	MOVQ CX, R13
	MOVQ DX, AX

loop:
	VMOV (R11), Y8
	VMOV 32(R11), Y9
	L1256((R12), Y0, Y1)
	L1256((R12)(R8*1), Y2, Y3)
	L1256((R12)(R8*2), Y4, Y5)
	L1256((R12)(R10*1), Y6, Y7)
	ADDQ $ES, R12
	ADDQ $128, R11
	DECQ R13
	JNZ  loop

	ADDTO256(Y0, Y1)
	ADDTO256(Y2, Y3)
	ADDTO256(Y4, Y5)
	ADDTO256(Y6, Y7)
	LEAQ 64(AX), DX
	ADDQ $64, DI
	DECQ BX
	JNZ  half
	VZEROUPPER
	RET

// func euclidean32AVX512(kc int, x *float32, ldx int, panel, c *float32, ldc int)
TEXT ·euclidean32AVX512(SB), NOSPLIT, $0-48
	START
	MASK
	VBC X15, Z15
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7

loop:
	VMOV (DI), Z8
	VMOV 64(DI), Z9
	L2512((SI), Z0, Z1)
	L2512((SI)(R8*1), Z2, Z3)
	L2512((SI)(R8*2), Z4, Z5)
	L2512((SI)(R10*1), Z6, Z7)
	ADDQ $ES, SI
	ADDQ $128, DI
	DECQ CX
	JNZ  loop

	ADDTO512(Z0, Z1)
	ADDTO512(Z2, Z3)
	ADDTO512(Z4, Z5)
	ADDTO512(Z6, Z7)
	VZEROUPPER
	RET

// func euclidean32AVX2(kc int, x *float32, ldx int, panel, c *float32, ldc int)
//
// Each half of the panel's points in a pass of its own.
TEXT ·euclidean32AVX2(SB), NOSPLIT, $0-48
	START
	MASK
	VBC X15, Y15
	MOVQ $2, BX

half:
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	MOVQ DI, R11
	MOVQ SI, R12
	MOVQ CX, R13
	MOVQ DX, AX

loop:
	VMOV (R11), Y8
	VMOV 32(R11), Y9
	L2256((R12), Y0, Y1)
	L2256((R12)(R8*1), Y2, Y3)
	L2256((R12)(R8*2), Y4, Y5)
	L2256((R12)(R10*1), Y6, Y7)
	ADDQ $ES, R12
	ADDQ $128, R11
	DECQ R13
	JNZ  loop

	ADDTO256(Y0, Y1)
	ADDTO256(Y2, Y3)
	ADDTO256(Y4, Y5)
	ADDTO256(Y6, Y7)
	LEAQ 64(AX), DX
	ADDQ $64, DI
	DECQ BX
	JNZ  half
	VZEROUPPER
	RET

#include "textflag.h"

// Constants of Row, eight at a time from a broadcast.
DATA expConst<>+0(SB)/4, $0xc2ae999a  // -87.3
DATA expConst<>+4(SB)/4, $0x3fb8aa3b  // 1/log 2
DATA expConst<>+8(SB)/4, $0x3f318000  // log 2, first part
DATA expConst<>+12(SB)/4, $0xb95e8083 // log 2, second part
DATA expConst<>+16(SB)/4, $0x39506967 // 1.9875691500e-4
DATA expConst<>+20(SB)/4, $0x3ab743ce // 1.3981999507e-3
DATA expConst<>+24(SB)/4, $0x3c088908 // 8.3334519073e-3
DATA expConst<>+28(SB)/4, $0x3d2aa9c1 // 4.1665795894e-2
DATA expConst<>+32(SB)/4, $0x3e2aaaaa // 1.6666665459e-1
DATA expConst<>+36(SB)/4, $0x3f000000 // 5.0000001201e-1
DATA expConst<>+40(SB)/4, $0x3f800000 // 1
DATA expConst<>+44(SB)/4, $127
GLOBL expConst<>(SB), RODATA|NOPTR, $48

// func rowAVX2(row *float32, n int, shift float32)
//
// n must be a multiple of 8.
TEXT ·rowAVX2(SB), NOSPLIT, $0-20
	MOVQ row+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSS shift+16(FP), Y15
	VBROADCASTSS expConst<>+0(SB), Y14
	VBROADCASTSS expConst<>+4(SB), Y13
	VBROADCASTSS expConst<>+8(SB), Y12
	VBROADCASTSS expConst<>+12(SB), Y11
	VBROADCASTSS expConst<>+20(SB), Y10
	VBROADCASTSS expConst<>+24(SB), Y9
	VBROADCASTSS expConst<>+28(SB), Y8
	VBROADCASTSS expConst<>+32(SB), Y7
	VBROADCASTSS expConst<>+36(SB), Y6
	VBROADCASTSS expConst<>+40(SB), Y5
	VBROADCASTSS expConst<>+16(SB), Y4

loop:
	CMPQ CX, $8
	JLT  done
	VMOVUPS (SI), Y0
	VSUBPS  Y15, Y0, Y0

	// Where x is below the lowest argument, the result is masked to zero; a
	// NaN is not below, and VMAXPS returns its second source if one is NaN.
	VCMPPS $1, Y14, Y0, Y3  // x < lowest
	VMAXPS Y0, Y14, Y0
	VMULPS Y13, Y0, Y1
	VROUNDPS $0, Y1, Y1       // n = round(x/log 2)
	VFNMADD231PS Y12, Y1, Y0  // r = x - n·log 2
	VFNMADD231PS Y11, Y1, Y0

	VMOVAPS Y4, Y2
	VFMADD213PS Y10, Y0, Y2   // p = p·r + c
	VFMADD213PS Y9, Y0, Y2
	VFMADD213PS Y8, Y0, Y2
	VFMADD213PS Y7, Y0, Y2
	VFMADD213PS Y6, Y0, Y2
	VFMADD213PS Y5, Y0, Y2    // p·r + 1
	VFMADD213PS Y5, Y0, Y2    // (p·r + 1)·r + 1

	VCVTPS2DQ Y1, Y1
	VPBROADCASTD expConst<>+44(SB), Y0
	VPADDD Y0, Y1, Y1
	VPSLLD $23, Y1, Y1
	VMULPS Y1, Y2, Y2
	VANDNPS Y2, Y3, Y2
	VMOVUPS Y2, (SI)

	ADDQ $32, SI
	SUBQ $8, CX
	JMP  loop

done:
	VZEROUPPER
	RET

// func maxAVX2(row *float32, n int) float32
//
// n must be a multiple of 8, and not zero. A NaN may be passed over.
TEXT ·maxAVX2(SB), NOSPLIT, $0-20
	MOVQ row+0(FP), SI
	MOVQ n+8(FP), CX
	VMOVUPS (SI), Y0

next:
	VMAXPS (SI), Y0, Y0
	ADDQ $32, SI
	SUBQ $8, CX
	JNE  next

	VEXTRACTF128 $1, Y0, X1
	VMAXPS X1, X0, X0
	VPERMILPS $0x4e, X0, X1
	VMAXPS X1, X0, X0
	VPERMILPS $0xb1, X0, X1
	VMAXPS X1, X0, X0
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET

#include "textflag.h"

// Rotations and sums of rows; n is a multiple of 64 bytes.

#define NEXT \
	ADDQ $64, SI;                        \
	ADDQ $64, DI;                        \
	SUBQ $8, CX;                         \
	JGT  loop

// func rotateAVX512(a, b *float64, n int, c, s float64)
TEXT ·rotateAVX512(SB), NOSPLIT, $0-40
	MOVQ a+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD c+24(FP), Z0
	VBROADCASTSD s+32(FP), Z1

loop:
	VMOVUPD (DI), Z3
	VMOVUPD (SI), Z4
	VMULPD Z4, Z1, Z5
	VMULPD Z4, Z0, Z6
	VFMSUB231PD Z3, Z0, Z5
	VFMADD231PD Z3, Z1, Z6
	VMOVUPD Z5, (DI)
	VMOVUPD Z6, (SI)
	NEXT
	VZEROUPPER
	RET

// func rotateAVX2(a, b *float64, n int, c, s float64)
TEXT ·rotateAVX2(SB), NOSPLIT, $0-40
	MOVQ a+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD c+24(FP), Y0
	VBROADCASTSD s+32(FP), Y1

loop:
	VMOVUPD (DI), Y3
	VMOVUPD (SI), Y4
	VMOVUPD 32(DI), Y7
	VMOVUPD 32(SI), Y8
	VMULPD Y4, Y1, Y5
	VMULPD Y4, Y0, Y6
	VMULPD Y8, Y1, Y9
	VMULPD Y8, Y0, Y10
	VFMSUB231PD Y3, Y0, Y5
	VFMADD231PD Y3, Y1, Y6
	VFMSUB231PD Y7, Y0, Y9
	VFMADD231PD Y7, Y1, Y10
	VMOVUPD Y5, (DI)
	VMOVUPD Y6, (SI)
	VMOVUPD Y9, 32(DI)
	VMOVUPD Y10, 32(SI)
	NEXT
	VZEROUPPER
	RET

// func axpyAVX512(x, y *float64, n int, alpha float64)
TEXT ·axpyAVX512(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ y+8(FP), DI
	MOVQ n+16(FP), CX
	VBROADCASTSD alpha+24(FP), Z0

loop:
	VMOVUPD (DI), Z1
	VFMADD231PD (SI), Z0, Z1
	VMOVUPD Z1, (DI)
	NEXT
	VZEROUPPER
	RET

// func axpyAVX2(x, y *float64, n int, alpha float64)
TEXT ·axpyAVX2(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ y+8(FP), DI
	MOVQ n+16(FP), CX
	VBROADCASTSD alpha+24(FP), Y0

loop:
	VMOVUPD (DI), Y1
	VMOVUPD 32(DI), Y2
	VFMADD231PD (SI), Y0, Y1
	VFMADD231PD 32(SI), Y0, Y2
	VMOVUPD Y1, (DI)
	VMOVUPD Y2, 32(DI)
	NEXT
	VZEROUPPER
	RET

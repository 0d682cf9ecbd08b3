#include "textflag.h"

// Copies to and from panels, with AVX.
//
// SI and DI are the source and the destination, R8 and R10 their distances of rows in bytes,
// R9 and R11 three times those, R12 and R13 walk along rows, CX and BX count.

#define ARGUMENTS(SIZE) \
	MOVQ m+0(FP), CX;     \
	MOVQ src+16(FP), SI;  \
	MOVQ lds+24(FP), R8;  \
	MOVQ dst+32(FP), DI;  \
	MOVQ ldd+40(FP), R10; \
	IMULQ $SIZE, R8;      \
	IMULQ $SIZE, R10;     \
	LEAQ (R8)(R8*2), R9;  \
	LEAQ (R10)(R10*2), R11

// func transpose4AVXF64(m, n int, src *float64, lds int, dst *float64, ldd int)
TEXT ·transpose4AVXF64(SB), NOSPLIT, $0-48
	ARGUMENTS(8)
rows:
	MOVQ n+8(FP), BX
	MOVQ SI, R12
	MOVQ DI, R13
columns:
	VMOVUPD (R12), Y0
	VMOVUPD (R12)(R8*1), Y1
	VMOVUPD (R12)(R8*2), Y2
	VMOVUPD (R12)(R9*1), Y3
	VUNPCKLPD Y1, Y0, Y4
	VUNPCKHPD Y1, Y0, Y5
	VUNPCKLPD Y3, Y2, Y6
	VUNPCKHPD Y3, Y2, Y7
	VPERM2F128 $0x20, Y6, Y4, Y8
	VPERM2F128 $0x20, Y7, Y5, Y9
	VPERM2F128 $0x31, Y6, Y4, Y10
	VPERM2F128 $0x31, Y7, Y5, Y11
	VMOVUPD Y8, (R13)
	VMOVUPD Y9, (R13)(R10*1)
	VMOVUPD Y10, (R13)(R10*2)
	VMOVUPD Y11, (R13)(R11*1)
	ADDQ $32, R12
	LEAQ (R13)(R10*4), R13
	SUBQ $4, BX
	JNE columns
	LEAQ (SI)(R8*4), SI
	ADDQ $32, DI
	SUBQ $4, CX
	JNE rows
	VZEROUPPER
	RET

// func transpose4AVXF32(m, n int, src *float32, lds int, dst *float32, ldd int)
TEXT ·transpose4AVXF32(SB), NOSPLIT, $0-48
	ARGUMENTS(4)
rows:
	MOVQ n+8(FP), BX
	MOVQ SI, R12
	MOVQ DI, R13
columns:
	VMOVUPS (R12), X0
	VMOVUPS (R12)(R8*1), X1
	VMOVUPS (R12)(R8*2), X2
	VMOVUPS (R12)(R9*1), X3
	VUNPCKLPS X1, X0, X4
	VUNPCKLPS X3, X2, X5
	VUNPCKHPS X1, X0, X6
	VUNPCKHPS X3, X2, X7
	VUNPCKLPD X5, X4, X8
	VUNPCKHPD X5, X4, X9
	VUNPCKLPD X7, X6, X10
	VUNPCKHPD X7, X6, X11
	VMOVUPS X8, (R13)
	VMOVUPS X9, (R13)(R10*1)
	VMOVUPS X10, (R13)(R10*2)
	VMOVUPS X11, (R13)(R11*1)
	ADDQ $16, R12
	LEAQ (R13)(R10*4), R13
	SUBQ $4, BX
	JNE columns
	LEAQ (SI)(R8*4), SI
	ADDQ $16, DI
	SUBQ $4, CX
	JNE rows
	RET

// func copyRowsAVX(m, n int, src unsafe.Pointer, lds int, dst unsafe.Pointer, ldd int)
TEXT ·copyRowsAVX(SB), NOSPLIT, $0-48
	MOVQ m+0(FP), CX
	MOVQ n+8(FP), DX
	MOVQ src+16(FP), SI
	MOVQ lds+24(FP), R8
	MOVQ dst+32(FP), DI
	MOVQ ldd+40(FP), R10
rows:
	MOVQ SI, R12
	MOVQ DI, R13
	MOVQ DX, BX
	SUBQ $64, BX
	JLT  rest
wide:
	VMOVUPS (R12), Y0
	VMOVUPS 32(R12), Y1
	VMOVUPS Y0, (R13)
	VMOVUPS Y1, 32(R13)
	ADDQ $64, R12
	ADDQ $64, R13
	SUBQ $64, BX
	JGE  wide
rest:
	ADDQ $64, BX
	JEQ  next
narrow:
	VMOVUPS (R12), X0
	VMOVUPS X0, (R13)
	ADDQ $16, R12
	ADDQ $16, R13
	SUBQ $16, BX
	JNE  narrow
next:
	ADDQ R8, SI
	ADDQ R10, DI
	DECQ CX
	JNE  rows
	VZEROUPPER
	RET

#include "textflag.h"

// Four rows from AX, BX, CX and DX on, at the byte offset R8, x from SI and y from DI on.
// Coefficients are in Y8 to Y11, partial sums in Y0 to Y7, in double two registers to a row.

#define ROWS(shift) \
	MOVQ a+8(FP), AX     \
	MOVQ lda+16(FP), R9  \
	SHLQ $shift, R9      \
	LEAQ (AX)(R9*1), BX  \
	LEAQ (AX)(R9*2), CX  \
	LEAQ (BX)(R9*2), DX  \
	XORQ R8, R8

#define ZERO(r) VXORPS r, r, r

// One row in double: y += c a, and sum += x a.
#define ADD64(row, at, c) \
	VMOVUPD at(row)(R8*1), Y14 \
	VMULPD  c, Y14, Y14        \
	VADDPD  Y14, Y13, Y13

#define DOT64(row, at, sum) \
	VMULPD at(row)(R8*1), Y12, Y15 \
	VADDPD Y15, sum, sum

#define BOTH64(row, at, c, sum) \
	VMOVUPD at(row)(R8*1), Y14 \
	VMULPD  Y12, Y14, Y15      \
	VMULPD  c, Y14, Y14        \
	VADDPD  Y15, sum, sum      \
	VADDPD  Y14, Y13, Y13

// And in single.
#define ADD32(row, c) \
	VMOVUPS (row)(R8*1), Y14 \
	VMULPS  c, Y14, Y14      \
	VADDPS  Y14, Y13, Y13

#define DOT32(row, sum) \
	VMULPS (row)(R8*1), Y12, Y15 \
	VADDPS Y15, sum, sum

#define BOTH32(row, c, sum) \
	VMOVUPS (row)(R8*1), Y14 \
	VMULPS  Y12, Y14, Y15    \
	VMULPS  c, Y14, Y14      \
	VADDPS  Y15, sum, sum    \
	VADDPS  Y14, Y13, Y13


// func addRows64(c *[together]float64, a *float64, lda int, x, y *float64, m int, p *partial[float64])
//
// m is a multiple of eight; x and p are not used.
TEXT ·addRows64(SB), NOSPLIT, $0-56
	ROWS(3)
	MOVQ c+0(FP), R10
	VBROADCASTSD 0(R10), Y8
	VBROADCASTSD 8(R10), Y9
	VBROADCASTSD 16(R10), Y10
	VBROADCASTSD 24(R10), Y11
	MOVQ y+32(FP), DI
	MOVQ m+40(FP), R11

loop:
	SUBQ $8, R11
	JLT  done
	VMOVUPD (DI)(R8*1), Y13
	ADD64(AX, 0, Y8)
	ADD64(BX, 0, Y9)
	ADD64(CX, 0, Y10)
	ADD64(DX, 0, Y11)
	VMOVUPD Y13, (DI)(R8*1)
	VMOVUPD 32(DI)(R8*1), Y13
	ADD64(AX, 32, Y8)
	ADD64(BX, 32, Y9)
	ADD64(CX, 32, Y10)
	ADD64(DX, 32, Y11)
	VMOVUPD Y13, 32(DI)(R8*1)
	ADDQ $64, R8
	JMP  loop

done:
	VZEROUPPER
	RET

// func dotRows64(c *[together]float64, a *float64, lda int, x, y *float64, m int, p *partial[float64])
//
// m is a multiple of eight; c and y are not used.
TEXT ·dotRows64(SB), NOSPLIT, $0-56
	ROWS(3)
	MOVQ x+24(FP), SI
	ZERO(Y0)
	ZERO(Y1)
	ZERO(Y2)
	ZERO(Y3)
	ZERO(Y4)
	ZERO(Y5)
	ZERO(Y6)
	ZERO(Y7)
	MOVQ m+40(FP), R11

loop:
	SUBQ $8, R11
	JLT  done
	VMOVUPD (SI)(R8*1), Y12
	DOT64(AX, 0, Y0)
	DOT64(BX, 0, Y2)
	DOT64(CX, 0, Y4)
	DOT64(DX, 0, Y6)
	VMOVUPD 32(SI)(R8*1), Y12
	DOT64(AX, 32, Y1)
	DOT64(BX, 32, Y3)
	DOT64(CX, 32, Y5)
	DOT64(DX, 32, Y7)
	ADDQ $64, R8
	JMP  loop

done:
	MOVQ p+48(FP), R10
	VMOVUPD Y0, 0(R10)
	VMOVUPD Y1, 32(R10)
	VMOVUPD Y2, 64(R10)
	VMOVUPD Y3, 96(R10)
	VMOVUPD Y4, 128(R10)
	VMOVUPD Y5, 160(R10)
	VMOVUPD Y6, 192(R10)
	VMOVUPD Y7, 224(R10)
	VZEROUPPER
	RET

// func addDotRows64(c *[together]float64, a *float64, lda int, x, y *float64, m int, p *partial[float64])
//
// m is a multiple of eight.
TEXT ·addDotRows64(SB), NOSPLIT, $0-56
	ROWS(3)
	MOVQ c+0(FP), R10
	VBROADCASTSD 0(R10), Y8
	VBROADCASTSD 8(R10), Y9
	VBROADCASTSD 16(R10), Y10
	VBROADCASTSD 24(R10), Y11
	MOVQ y+32(FP), DI
	MOVQ x+24(FP), SI
	ZERO(Y0)
	ZERO(Y1)
	ZERO(Y2)
	ZERO(Y3)
	ZERO(Y4)
	ZERO(Y5)
	ZERO(Y6)
	ZERO(Y7)
	MOVQ m+40(FP), R11

loop:
	SUBQ $8, R11
	JLT  done
	VMOVUPD (SI)(R8*1), Y12
	VMOVUPD (DI)(R8*1), Y13
	BOTH64(AX, 0, Y8, Y0)
	BOTH64(BX, 0, Y9, Y2)
	BOTH64(CX, 0, Y10, Y4)
	BOTH64(DX, 0, Y11, Y6)
	VMOVUPD Y13, (DI)(R8*1)
	VMOVUPD 32(SI)(R8*1), Y12
	VMOVUPD 32(DI)(R8*1), Y13
	BOTH64(AX, 32, Y8, Y1)
	BOTH64(BX, 32, Y9, Y3)
	BOTH64(CX, 32, Y10, Y5)
	BOTH64(DX, 32, Y11, Y7)
	VMOVUPD Y13, 32(DI)(R8*1)
	ADDQ $64, R8
	JMP  loop

done:
	MOVQ p+48(FP), R10
	VMOVUPD Y0, 0(R10)
	VMOVUPD Y1, 32(R10)
	VMOVUPD Y2, 64(R10)
	VMOVUPD Y3, 96(R10)
	VMOVUPD Y4, 128(R10)
	VMOVUPD Y5, 160(R10)
	VMOVUPD Y6, 192(R10)
	VMOVUPD Y7, 224(R10)
	VZEROUPPER
	RET

// func addRows32(c *[together]float32, a *float32, lda int, x, y *float32, m int, p *partial[float32])
//
// m is a multiple of eight; x and p are not used.
TEXT ·addRows32(SB), NOSPLIT, $0-56
	ROWS(2)
	MOVQ c+0(FP), R10
	VBROADCASTSS 0(R10), Y8
	VBROADCASTSS 4(R10), Y9
	VBROADCASTSS 8(R10), Y10
	VBROADCASTSS 12(R10), Y11
	MOVQ y+32(FP), DI
	MOVQ m+40(FP), R11

loop:
	SUBQ $8, R11
	JLT  done
	VMOVUPS (DI)(R8*1), Y13
	ADD32(AX, Y8)
	ADD32(BX, Y9)
	ADD32(CX, Y10)
	ADD32(DX, Y11)
	VMOVUPS Y13, (DI)(R8*1)
	ADDQ $32, R8
	JMP  loop

done:
	VZEROUPPER
	RET

// func dotRows32(c *[together]float32, a *float32, lda int, x, y *float32, m int, p *partial[float32])
//
// m is a multiple of eight; c and y are not used.
TEXT ·dotRows32(SB), NOSPLIT, $0-56
	ROWS(2)
	MOVQ x+24(FP), SI
	ZERO(Y0)
	ZERO(Y1)
	ZERO(Y2)
	ZERO(Y3)
	MOVQ m+40(FP), R11

loop:
	SUBQ $8, R11
	JLT  done
	VMOVUPS (SI)(R8*1), Y12
	DOT32(AX, Y0)
	DOT32(BX, Y1)
	DOT32(CX, Y2)
	DOT32(DX, Y3)
	ADDQ $32, R8
	JMP  loop

done:
	MOVQ p+48(FP), R10
	VMOVUPS Y0, 0(R10)
	VMOVUPS Y1, 32(R10)
	VMOVUPS Y2, 64(R10)
	VMOVUPS Y3, 96(R10)
	VZEROUPPER
	RET

// func addDotRows32(c *[together]float32, a *float32, lda int, x, y *float32, m int, p *partial[float32])
//
// m is a multiple of eight.
TEXT ·addDotRows32(SB), NOSPLIT, $0-56
	ROWS(2)
	MOVQ c+0(FP), R10
	VBROADCASTSS 0(R10), Y8
	VBROADCASTSS 4(R10), Y9
	VBROADCASTSS 8(R10), Y10
	VBROADCASTSS 12(R10), Y11
	MOVQ y+32(FP), DI
	MOVQ x+24(FP), SI
	ZERO(Y0)
	ZERO(Y1)
	ZERO(Y2)
	ZERO(Y3)
	MOVQ m+40(FP), R11

loop:
	SUBQ $8, R11
	JLT  done
	VMOVUPS (SI)(R8*1), Y12
	VMOVUPS (DI)(R8*1), Y13
	BOTH32(AX, Y8, Y0)
	BOTH32(BX, Y9, Y1)
	BOTH32(CX, Y10, Y2)
	BOTH32(DX, Y11, Y3)
	VMOVUPS Y13, (DI)(R8*1)
	ADDQ $32, R8
	JMP  loop

done:
	MOVQ p+48(FP), R10
	VMOVUPS Y0, 0(R10)
	VMOVUPS Y1, 32(R10)
	VMOVUPS Y2, 64(R10)
	VMOVUPS Y3, 96(R10)
	VZEROUPPER
	RET

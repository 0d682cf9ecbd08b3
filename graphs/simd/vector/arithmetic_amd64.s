#include "textflag.h"

// Operations on matching elements; n is a multiple of 64 bytes. Memory is slower than registers
// of 256 bits: there are no wider ones.

#define COMBINE(vmov, op, es) \
	MOVQ dst+0(FP), DI;  \
	MOVQ x+8(FP), SI;    \
	MOVQ y+16(FP), DX;   \
	MOVQ n+24(FP), CX;   \
	IMULQ $es, CX;       \
	XORL AX, AX;         \
loop:                    \
	vmov (SI)(AX*1), Y0;     \
	vmov 32(SI)(AX*1), Y1;   \
	op   (DX)(AX*1), Y0, Y0;   \
	op   32(DX)(AX*1), Y1, Y1; \
	vmov Y0, (DI)(AX*1);     \
	vmov Y1, 32(DI)(AX*1);   \
	ADDQ $64, AX;        \
	CMPQ AX, CX;         \
	JLT  loop;           \
	VZEROUPPER;          \
	RET

// func add64AVX(dst, x, y *float64, n int)
TEXT ·add64AVX(SB), NOSPLIT, $0-32
	COMBINE(VMOVUPD, VADDPD, 8)

// func sub64AVX(dst, x, y *float64, n int)
TEXT ·sub64AVX(SB), NOSPLIT, $0-32
	COMBINE(VMOVUPD, VSUBPD, 8)

// func mul64AVX(dst, x, y *float64, n int)
TEXT ·mul64AVX(SB), NOSPLIT, $0-32
	COMBINE(VMOVUPD, VMULPD, 8)

// func add32AVX(dst, x, y *float32, n int)
TEXT ·add32AVX(SB), NOSPLIT, $0-32
	COMBINE(VMOVUPS, VADDPS, 4)

// func sub32AVX(dst, x, y *float32, n int)
TEXT ·sub32AVX(SB), NOSPLIT, $0-32
	COMBINE(VMOVUPS, VSUBPS, 4)

// func mul32AVX(dst, x, y *float32, n int)
TEXT ·mul32AVX(SB), NOSPLIT, $0-32
	COMBINE(VMOVUPS, VMULPS, 4)

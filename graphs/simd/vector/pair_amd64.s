#include "textflag.h"

// Loops of sequential minimal optimisation over blocks of eight elements; n is a multiple of
// eight. They end before the block with an element for the caller to look at, and return the
// number of elements before it, or n, and a bit for each such element of the block.

// func descendAVX2(f, up, a, b *float64, n int, move, largest float64) (passed, which int)
TEXT ·descendAVX2(SB), NOSPLIT, $0-72
	MOVQ f+0(FP), DI
	MOVQ up+8(FP), SI
	MOVQ a+16(FP), R8
	MOVQ b+24(FP), R9
	MOVQ n+32(FP), CX
	VBROADCASTSD move+40(FP), Y0
	VBROADCASTSD largest+48(FP), Y1
	// -∞ is no element to look at.
	MOVQ $0xffefffffffffffff, AX
	VMOVQ AX, X2
	VPBROADCASTQ X2, Y2
	VMAXPD Y2, Y1, Y1
	XORQ AX, AX

descend:
	VMOVUPD (R8)(AX*8), Y3
	VMOVUPD 32(R8)(AX*8), Y4
	VSUBPD (R9)(AX*8), Y3, Y3
	VSUBPD 32(R9)(AX*8), Y4, Y4
	VMULPD Y3, Y0, Y3
	VMULPD Y4, Y0, Y4
	VMOVUPD (DI)(AX*8), Y5
	VMOVUPD 32(DI)(AX*8), Y6
	VSUBPD Y3, Y5, Y5
	VSUBPD Y4, Y6, Y6
	VMOVUPD Y5, (DI)(AX*8)
	VMOVUPD Y6, 32(DI)(AX*8)
	VADDPD (SI)(AX*8), Y5, Y5
	VADDPD 32(SI)(AX*8), Y6, Y6
	VCMPPD $13, Y1, Y5, Y5 // not below
	VCMPPD $13, Y1, Y6, Y6
	VORPD Y5, Y6, Y7
	VMOVMSKPD Y7, BX
	TESTL BX, BX
	JNZ moved
	ADDQ $8, AX
	CMPQ AX, CX
	JLT descend

moved:
	VMOVMSKPD Y5, BX
	VMOVMSKPD Y6, DX
	SHLL $4, DX
	ORL DX, BX
	MOVQ AX, passed+56(FP)
	MOVQ BX, which+64(FP)
	VZEROUPPER
	RET

#define CANDIDATES(at, v, other) \
	VMOVUPD at(DI)(AX*8), v;             \
	VADDPD at(SI)(AX*8), v, v;           \
	VMINPD v, Y4, Y4;                    \
	VSUBPD v, Y0, v;                     \
	VADDPD at(R8)(AX*8), Y1, Y8;         \
	VMOVUPD at(R9)(AX*8), Y9;            \
	VADDPD Y9, Y9, Y9;                   \
	VSUBPD Y9, Y8, Y8;                   \
	VCMPPD $2, Y5, Y8, Y9;               \
	VBLENDVPD Y9, Y3, Y8, Y8;            \
	VMULPD Y8, Y2, Y8;                   \
	VMULPD v, v, Y9;                     \
	VCMPPD $13, Y8, Y9, Y9;              \
	VCMPPD $14, Y5, v, v;                \
	VANDPD Y9, v, other

// func gainAVX2(f, down, diagonal, row *float64, n int, most, own, gain float64, least *[4]float64) (passed, which int)
TEXT ·gainAVX2(SB), NOSPLIT, $0-88
	MOVQ f+0(FP), DI
	MOVQ down+8(FP), SI
	MOVQ diagonal+16(FP), R8
	MOVQ row+24(FP), R9
	MOVQ n+32(FP), CX
	MOVQ least+64(FP), DX
	VBROADCASTSD most+40(FP), Y0
	VBROADCASTSD own+48(FP), Y1
	VBROADCASTSD gain+56(FP), Y2
	MOVQ $0x3d719799812dea11, AX // 1e-12
	VMOVQ AX, X3
	VPBROADCASTQ X3, Y3
	VMOVUPD (DX), Y4
	VXORPD Y5, Y5, Y5
	XORQ AX, AX

gain:
	CANDIDATES(0, Y6, Y6)
	CANDIDATES(32, Y7, Y7)
	VORPD Y6, Y7, Y8
	VMOVMSKPD Y8, BX
	TESTL BX, BX
	JNZ found
	ADDQ $8, AX
	CMPQ AX, CX
	JLT gain

found:
	VMOVUPD Y4, (DX)
	VMOVMSKPD Y6, BX
	VMOVMSKPD Y7, R10
	SHLL $4, R10
	ORL R10, BX
	MOVQ AX, passed+72(FP)
	MOVQ BX, which+80(FP)
	VZEROUPPER
	RET

#include "textflag.h"

// Elementwise kernels; n is a multiple of 64 bytes.

#define NEXT(w) \
	ADDQ $w, SI;                         \
	ADDQ $w, DI;                         \
	SUBQ $(w/ES), CX;                    \
	JGT  loop

// ---- float64 ----

#define ES 8
#define VBC VBROADCASTSD
#define VMOV VMOVUPD
#define VADD VADDPD
#define VMUL VMULPD
#define VOR VORPD
#define VCMP VCMPPD

// func scal64AVX512(dst, src *float64, n int, alpha float64)
TEXT ·scal64AVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	VBC  alpha+24(FP), Z0

loop:
	VMUL (SI), Z0, Z1
	VMOV Z1, (DI)
	NEXT(64)
	VZEROUPPER
	RET

// func scal64AVX2(dst, src *float64, n int, alpha float64)
TEXT ·scal64AVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	VBC  alpha+24(FP), Y0

loop:
	VMUL (SI), Y0, Y1
	VMOV Y1, (DI)
	NEXT(32)
	VZEROUPPER
	RET

// func norms64AVX512(dst, norms *float64, n int, norm, near float64) bool
TEXT ·norms64AVX512(SB), NOSPLIT, $0-41
	MOVQ dst+0(FP), DI
	MOVQ norms+8(FP), SI
	MOVQ n+16(FP), CX
	VBC  norm+24(FP), Z0
	VBC  near+32(FP), Z1
	XORL BX, BX

loop:
	VADD (SI), Z0, Z2
	VADD (DI), Z2, Z3
	VMUL Z1, Z2, Z2
	VMOV Z3, (DI)
	VCMP $1, Z2, Z3, K1
	KMOVW K1, AX
	ORL  AX, BX
	NEXT(64)
	TESTL BX, BX
	SETNE ret+40(FP)
	VZEROUPPER
	RET

// func norms64AVX2(dst, norms *float64, n int, norm, near float64) bool
TEXT ·norms64AVX2(SB), NOSPLIT, $0-41
	MOVQ dst+0(FP), DI
	MOVQ norms+8(FP), SI
	MOVQ n+16(FP), CX
	VBC  norm+24(FP), Y0
	VBC  near+32(FP), Y1
	VXORPD Y4, Y4, Y4

loop:
	VADD (SI), Y0, Y2
	VADD (DI), Y2, Y3
	VMUL Y1, Y2, Y2
	VMOV Y3, (DI)
	VCMP $1, Y2, Y3, Y2
	VOR  Y2, Y4, Y4
	NEXT(32)
	VPMOVMSKB Y4, BX
	TESTL BX, BX
	SETNE ret+40(FP)
	VZEROUPPER
	RET


// ---- float32 ----

#undef ES
#undef VBC
#undef VMOV
#undef VADD
#undef VMUL
#undef VOR
#undef VCMP
#define ES 4
#define VBC VBROADCASTSS
#define VMOV VMOVUPS
#define VADD VADDPS
#define VMUL VMULPS
#define VOR VORPS
#define VCMP VCMPPS

// func scal32AVX512(dst, src *float32, n int, alpha float32)
TEXT ·scal32AVX512(SB), NOSPLIT, $0-28
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	VBC  alpha+24(FP), Z0

loop:
	VMUL (SI), Z0, Z1
	VMOV Z1, (DI)
	NEXT(64)
	VZEROUPPER
	RET

// func scal32AVX2(dst, src *float32, n int, alpha float32)
TEXT ·scal32AVX2(SB), NOSPLIT, $0-28
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	VBC  alpha+24(FP), Y0

loop:
	VMUL (SI), Y0, Y1
	VMOV Y1, (DI)
	NEXT(32)
	VZEROUPPER
	RET

// func norms32AVX512(dst, norms *float32, n int, norm, near float32) bool
TEXT ·norms32AVX512(SB), NOSPLIT, $0-33
	MOVQ dst+0(FP), DI
	MOVQ norms+8(FP), SI
	MOVQ n+16(FP), CX
	VBC  norm+24(FP), Z0
	VBC  near+28(FP), Z1
	XORL BX, BX

loop:
	VADD (SI), Z0, Z2
	VADD (DI), Z2, Z3
	VMUL Z1, Z2, Z2
	VMOV Z3, (DI)
	VCMP $1, Z2, Z3, K1
	KMOVW K1, AX
	ORL  AX, BX
	NEXT(64)
	TESTL BX, BX
	SETNE ret+32(FP)
	VZEROUPPER
	RET

// func norms32AVX2(dst, norms *float32, n int, norm, near float32) bool
TEXT ·norms32AVX2(SB), NOSPLIT, $0-33
	MOVQ dst+0(FP), DI
	MOVQ norms+8(FP), SI
	MOVQ n+16(FP), CX
	VBC  norm+24(FP), Y0
	VBC  near+28(FP), Y1
	VXORPD Y4, Y4, Y4

loop:
	VADD (SI), Y0, Y2
	VADD (DI), Y2, Y3
	VMUL Y1, Y2, Y2
	VMOV Y3, (DI)
	VCMP $1, Y2, Y3, Y2
	VOR  Y2, Y4, Y4
	NEXT(32)
	VPMOVMSKB Y4, BX
	TESTL BX, BX
	SETNE ret+32(FP)
	VZEROUPPER
	RET

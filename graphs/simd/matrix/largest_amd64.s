#include "textflag.h"

// The largest elements of the columns of a panel of CX rows, in two chains. Where one is NaN, what
// comes out may be another number.

#define ARGUMENTS \
	MOVQ n+0(FP), CX;     \
	MOVQ x+8(FP), AX;     \
	MOVQ out+16(FP), DI

#define LARGEST512 \
	ARGUMENTS;                  \
	VMOV (AX), Z0;              \
	VMOV 64(AX), Z1;            \
	VMOV Z0, Z2;                \
	VMOV Z1, Z3;                \
	SUBQ $2, CX;                \
	JLT  last;                  \
loop:                         \
	VMAX (AX), Z0, Z0;          \
	VMAX 64(AX), Z1, Z1;        \
	VMAX 128(AX), Z2, Z2;       \
	VMAX 192(AX), Z3, Z3;       \
	ADDQ $256, AX;              \
	SUBQ $2, CX;                \
	JGE  loop;                  \
last:                         \
	ADDQ $2, CX;                \
	JEQ  done;                  \
	VMAX (AX), Z0, Z0;          \
	VMAX 64(AX), Z1, Z1;        \
done:                         \
	VMAX Z2, Z0, Z0;            \
	VMAX Z3, Z1, Z1;            \
	VMOV Z0, (DI);              \
	VMOV Z1, 64(DI);            \
	VZEROUPPER;                 \
	RET

#define LARGEST256 \
	ARGUMENTS;                  \
	VMOV (AX), Y0;              \
	VMOV 32(AX), Y1;            \
	VMOV 64(AX), Y2;            \
	VMOV Y0, Y3;                \
	VMOV Y1, Y4;                \
	VMOV Y2, Y5;                \
	SUBQ $2, CX;                \
	JLT  last;                  \
loop:                         \
	VMAX (AX), Y0, Y0;          \
	VMAX 32(AX), Y1, Y1;        \
	VMAX 64(AX), Y2, Y2;        \
	VMAX 96(AX), Y3, Y3;        \
	VMAX 128(AX), Y4, Y4;       \
	VMAX 160(AX), Y5, Y5;       \
	ADDQ $192, AX;              \
	SUBQ $2, CX;                \
	JGE  loop;                  \
last:                         \
	ADDQ $2, CX;                \
	JEQ  done;                  \
	VMAX (AX), Y0, Y0;          \
	VMAX 32(AX), Y1, Y1;        \
	VMAX 64(AX), Y2, Y2;        \
done:                         \
	VMAX Y3, Y0, Y0;            \
	VMAX Y4, Y1, Y1;            \
	VMAX Y5, Y2, Y2;            \
	VMOV Y0, (DI);              \
	VMOV Y1, 32(DI);            \
	VMOV Y2, 64(DI);            \
	VZEROUPPER;                 \
	RET

#define VMOV VMOVUPD
#define VMAX VMAXPD

// func largestAVX512F64(n int, x, out *float64)
TEXT ·largestAVX512F64(SB), NOSPLIT, $0-24
	LARGEST512

// func largestAVX2F64(n int, x, out *float64)
TEXT ·largestAVX2F64(SB), NOSPLIT, $0-24
	LARGEST256

#undef VMOV
#undef VMAX
#define VMOV VMOVUPS
#define VMAX VMAXPS

// func largestAVX512F32(n int, x, out *float32)
TEXT ·largestAVX512F32(SB), NOSPLIT, $0-24
	LARGEST512

// func largestAVX2F32(n int, x, out *float32)
TEXT ·largestAVX2F32(SB), NOSPLIT, $0-24
	LARGEST256

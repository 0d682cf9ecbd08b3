#include "textflag.h"

// Rows of small products, without copies. Each element accumulates over k in increasing order
// with one FMA a step. The text of float64 and float32 is the same; see product_amd64.s.
//
// CX columns left, DX k, SI a, R8 its distance, DI column of b, R9 and R10 its distances,
// BX element of C, R12 its distance, all in bytes. R13 and AX walk along k, R11 or DX count. R15
// is where the second half of eight columns begins. Of the last one to three columns, three sums
// are taken, from the first column where there is no other.

#define CLEAR4(x0, x1, x2, x3) \
	VXORPS x0, x0, x0; \
	VXORPS x1, x1, x1; \
	VXORPS x2, x2, x2; \
	VXORPS x3, x3, x3

// ADDTO adds alpha times a sum to an element of C.
#define ADDTO(x) \
	VFMAS213 (BX), X6, x; \
	VMOVS x, (BX);       \
	ADDQ R12, BX

#define ROW \
	MOVQ n+0(FP), CX;    \
	MOVQ k+8(FP), DX;    \
	MOVQ a+16(FP), SI;   \
	MOVQ as+24(FP), R8;  \
	MOVQ b+32(FP), DI;   \
	MOVQ bk+40(FP), R9;  \
	MOVQ bj+48(FP), R10; \
	MOVQ c+56(FP), BX;   \
	MOVQ cs+64(FP), R12; \
	IMULQ $ES, R8;       \
	IMULQ $ES, R9;       \
	IMULQ $ES, R10;      \
	IMULQ $ES, R12;      \
	VBC  alpha+72(FP), Y6; \
	CMPQ R10, $ES;       \
	JNE  eight;          \
	CMPQ R12, $ES;       \
	JNE  eight;          \
two256:                  \
	CMPQ CX, $(64/ES);   \
	JLT  one256;         \
	MOVQ SI, R13;        \
	MOVQ DI, AX;         \
	MOVQ DX, R11;        \
	VXORPS Y0, Y0, Y0;   \
	VXORPS Y1, Y1, Y1;   \
two256loop:              \
	VBC  (R13), Y4;      \
	VFMA (AX), Y4, Y0;   \
	VFMA 32(AX), Y4, Y1; \
	ADDQ R8, R13;        \
	ADDQ R9, AX;         \
	DECQ R11;            \
	JNE  two256loop;     \
	VFMA213 (BX), Y6, Y0; \
	VFMA213 32(BX), Y6, Y1; \
	VMOV Y0, (BX);       \
	VMOV Y1, 32(BX);     \
	ADDQ $64, BX;        \
	ADDQ $64, DI;        \
	SUBQ $(64/ES), CX;   \
	JMP  two256;         \
one256:                  \
	CMPQ CX, $(32/ES);   \
	JLT  one128;         \
	MOVQ SI, R13;        \
	MOVQ DI, AX;         \
	MOVQ DX, R11;        \
	VXORPS Y0, Y0, Y0;   \
one256loop:              \
	VBC  (R13), Y4;      \
	VFMA (AX), Y4, Y0;   \
	ADDQ R8, R13;        \
	ADDQ R9, AX;         \
	DECQ R11;            \
	JNE  one256loop;     \
	VFMA213 (BX), Y6, Y0; \
	VMOV Y0, (BX);       \
	ADDQ $32, BX;        \
	ADDQ $32, DI;        \
	SUBQ $(32/ES), CX;   \
one128:                  \
	CMPQ CX, $(16/ES);   \
	JLT  eight;          \
	MOVQ SI, R13;        \
	MOVQ DI, AX;         \
	MOVQ DX, R11;        \
	VXORPS X0, X0, X0;   \
one128loop:              \
	VBC128 (R13), X4;    \
	VFMA (AX), X4, X0;   \
	ADDQ R8, R13;        \
	ADDQ R9, AX;         \
	DECQ R11;            \
	JNE  one128loop;     \
	VFMA213 (BX), X6, X0; \
	VMOV X0, (BX);       \
	ADDQ $16, BX;        \
	ADDQ $16, DI;        \
	SUBQ $(16/ES), CX;   \
	JMP  one128;         \
eight:                   \
	LEAQ (R10)(R10*2), R11; \
eights:                  \
	CMPQ CX, $8;         \
	JLT  four;           \
	MOVQ SI, R13;        \
	MOVQ DI, AX;         \
	LEAQ (DI)(R10*4), R15; \
	MOVQ k+8(FP), DX;    \
	CLEAR4(X0, X1, X2, X3); \
	CLEAR4(X8, X9, X10, X11); \
eightloop:               \
	VMOVS (R13), X4;     \
	VFMAS (AX), X4, X0;  \
	VFMAS (AX)(R10*1), X4, X1; \
	VFMAS (AX)(R10*2), X4, X2; \
	VFMAS (AX)(R11*1), X4, X3; \
	VFMAS (R15), X4, X8; \
	VFMAS (R15)(R10*1), X4, X9; \
	VFMAS (R15)(R10*2), X4, X10; \
	VFMAS (R15)(R11*1), X4, X11; \
	ADDQ R8, R13;        \
	ADDQ R9, AX;         \
	ADDQ R9, R15;        \
	DECQ DX;             \
	JNE  eightloop;      \
	ADDTO(X0);           \
	ADDTO(X1);           \
	ADDTO(X2);           \
	ADDTO(X3);           \
	ADDTO(X8);           \
	ADDTO(X9);           \
	ADDTO(X10);          \
	ADDTO(X11);          \
	LEAQ (DI)(R10*8), DI; \
	SUBQ $8, CX;         \
	JMP  eights;         \
four:                    \
	CMPQ CX, $4;         \
	JLT  rest;           \
	MOVQ SI, R13;        \
	MOVQ DI, AX;         \
	MOVQ k+8(FP), DX;    \
	CLEAR4(X0, X1, X2, X3); \
fourloop:                \
	VMOVS (R13), X4;     \
	VFMAS (AX), X4, X0;  \
	VFMAS (AX)(R10*1), X4, X1; \
	VFMAS (AX)(R10*2), X4, X2; \
	VFMAS (AX)(R11*1), X4, X3; \
	ADDQ R8, R13;        \
	ADDQ R9, AX;         \
	DECQ DX;             \
	JNE  fourloop;       \
	ADDTO(X0);           \
	ADDTO(X1);           \
	ADDTO(X2);           \
	ADDTO(X3);           \
	LEAQ (DI)(R10*4), DI; \
	SUBQ $4, CX;         \
rest:                    \
	TESTQ CX, CX;        \
	JEQ  done;           \
	MOVQ SI, R13;        \
	MOVQ DI, AX;         \
	MOVQ DI, R11;        \
	LEAQ (DI)(R10*1), R15; \
	CMPQ CX, $2;         \
	CMOVQGE R15, R11;    \
	LEAQ (DI)(R10*2), R15; \
	CMPQ CX, $3;         \
	CMOVQLT DI, R15;     \
	MOVQ k+8(FP), DX;    \
	CLEAR4(X0, X1, X2, X3); \
restloop:                \
	VMOVS (R13), X4;     \
	VFMAS (AX), X4, X0;  \
	VFMAS (R11), X4, X1; \
	VFMAS (R15), X4, X2; \
	ADDQ R8, R13;        \
	ADDQ R9, AX;         \
	ADDQ R9, R11;        \
	ADDQ R9, R15;        \
	DECQ DX;             \
	JNE  restloop;       \
	ADDTO(X0);           \
	DECQ CX;             \
	JEQ  done;           \
	ADDTO(X1);           \
	DECQ CX;             \
	JEQ  done;           \
	ADDTO(X2);           \
done:                    \
	VZEROUPPER;          \
	RET

#define ES 8
#define VFMA VFMADD231PD
#define VFMA213 VFMADD213PD
#define VFMAS VFMADD231SD
#define VFMAS213 VFMADD213SD
#define VBC VBROADCASTSD
#define VBC128 VMOVDDUP
#define VMOV VMOVUPD
#define VMOVS VMOVSD

// func rowF64(n, k int, a *float64, as int, b *float64, bk, bj int, c *float64, cs int, alpha float64)
TEXT ·rowF64(SB), NOSPLIT, $0-80
	ROW

#undef ES
#undef VFMA
#undef VFMA213
#undef VFMAS
#undef VFMAS213
#undef VBC
#undef VBC128
#undef VMOV
#undef VMOVS
#define ES 4
#define VFMA VFMADD231PS
#define VFMA213 VFMADD213PS
#define VFMAS VFMADD231SS
#define VFMAS213 VFMADD213SS
#define VBC VBROADCASTSS
#define VBC128 VBROADCASTSS
#define VMOV VMOVUPS
#define VMOVS VMOVSS

// func rowF32(n, k int, a *float32, as int, b *float32, bk, bj int, c *float32, cs int, alpha float32)
TEXT ·rowF32(SB), NOSPLIT, $0-76
	ROW

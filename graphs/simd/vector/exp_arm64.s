#include "textflag.h"
#include "neon_arm64.h"

// The exponentials of exp.go, 16 bytes at a time. R2 counts elements, R4 walks through the
// table of constants and R5 through the parameters.
//
// V0 is t, then x − n·high; V1 n, V2 and V4 polynomials, V3 r², V5 the factor, V6 the mask of
// results that are zero, V7 n·low, V8 r.

// ---- float64 ----

#define CONSTANTSD \
	MOVD dst+0(FP), R0;                \
	MOVD src+8(FP), R1;                \
	MOVD n+16(FP), R2;                 \
	MOVD table+24(FP), R4;             \
	VLD1R.P 8(R4), [V10.D2];           \
	VLD1R.P 8(R4), [V11.D2];           \
	VLD1R.P 8(R4), [V12.D2];           \
	VLD1R.P 8(R4), [V13.D2];           \
	VLD1R.P 8(R4), [V14.D2];           \
	VLD1R.P 8(R4), [V15.D2];           \
	ADD  $(3*8), R4, R4;               \
	VLD1R.P 8(R4), [V17.D2];           \
	VLD1R.P 8(R4), [V18.D2];           \
	VLD1R.P 8(R4), [V19.D2];           \
	VLD1R.P 8(R4), [V20.D2];           \
	VLD1R.P 8(R4), [V21.D2];           \
	VLD1R.P 8(R4), [V22.D2];           \
	VLD1R.P 8(R4), [V23.D2];           \
	VLD1R.P 8(R4), [V24.D2];           \
	VLD1R.P 8(R4), [V25.D2];           \
	VLD1R.P 8(R4), [V26.D2];           \
	VLD1R.P 8(R4), [V27.D2];           \
	SUB  $(12*8), R4, R4;              \
	VLD1R (R4), [V16.D2]

#define REDUCED \
	FMIND(10, 0, 0);                   \
	FMAXD(11, 0, 0);                   \
	FMULD(12, 0, 1);                   \
	FRINTD(1, 1);                      \
	FMLSD(13, 1, 0);                   \
	FMULD(14, 1, 7);                   \
	FSUBD(7, 0, 8);                    \
	FMULD(8, 8, 3)

#define POLYNOMIALD \
	COPY(18, 2);                       \
	FMLAD(3, 17, 2);                   \
	COPY(19, 9);                       \
	FMLAD(3, 2, 9);                    \
	COPY(20, 2);                       \
	FMLAD(3, 9, 2);                    \
	COPY(21, 9);                       \
	FMLAD(3, 2, 9);                    \
	COPY(22, 2);                       \
	FMLAD(3, 9, 2);                    \
	COPY(24, 9);                       \
	FMLAD(3, 23, 9);                   \
	COPY(25, 4);                       \
	FMLAD(3, 9, 4);                    \
	COPY(26, 9);                       \
	FMLAD(3, 4, 9);                    \
	COPY(27, 4);                       \
	FMLAD(3, 9, 4);                    \
	FMLAD(8, 4, 2);                    \
	FNEGD(7, 4);                       \
	FMLAD(3, 2, 4);                    \
	FADDD(4, 0, 4);                    \
	FADDD(15, 4, 4)

// 2ⁿ is applied as 2^(n/2)·2^(n−n/2), of which only the last product can round.
#define POWERD \
	FTOID(1, 1);                       \
	HALVED(1, 9);                      \
	SUBD(9, 1, 1);                     \
	EXPONENTD(9, 9);                   \
	EXPONENTD(1, 1);                   \
	ADDD(15, 9, 9);                    \
	ADDD(15, 1, 1);                    \
	FMULD(9, 4, 4);                    \
	FMULD(1, 4, 4)

#define FLUSHD \
	FMULD(5, 4, 4);                    \
	FABSD(4, 5);                       \
	FGTD(5, 16, 5);                    \
	OR(5, 6, 6);                       \
	BIC(6, 4, 4)

#define NEXTD \
	VST1.P [V4.D2], 16(R0);            \
	SUBS $(16/8), R2, R2;              \
	BGT  loop;                         \
	RET

#define LOWESTD \
	MOVD parameters+32(FP), R5;        \
	SUB  $(2*8), R4, R4;               \
	VLD1R (R4), [V11.D2]

// func exp64NEON(dst, src *float64, n int, table *float64)
TEXT ·exp64NEON(SB), NOSPLIT, $0-32
	CONSTANTSD

loop:
	VLD1.P 16(R1), [V0.D2]
	REDUCED
	POLYNOMIALD
	POWERD
	NEXTD

// func scaledExp64NEON(dst, src *float64, n int, table, parameters *float64)
TEXT ·scaledExp64NEON(SB), NOSPLIT, $0-40
	CONSTANTSD
	LOWESTD
	VLD1R.P 8(R5), [V28.D2]
	VLD1R.P 8(R5), [V29.D2]
	VLD1R.P 8(R5), [V30.D2]

loop:
	VLD1.P 16(R1), [V0.D2]
	FSUBD(28, 0, 0)
	FMULD(29, 0, 0)
	FGTD(0, 11, 6)
	COPY(30, 5)
	REDUCED
	POLYNOMIALD
	POWERD
	FLUSHD
	NEXTD

// func rootExp64NEON(dst, src *float64, n int, table, parameters *float64)
TEXT ·rootExp64NEON(SB), NOSPLIT, $0-40
	CONSTANTSD
	LOWESTD
	ADD  $8, R5, R5
	VLD1R.P 8(R5), [V29.D2]
	VLD1R.P 8(R5), [V30.D2]
	VLD1R.P 8(R5), [V31.D2]
	VLD1R.P 8(R5), [V28.D2]

loop:
	VLD1.P 16(R1), [V0.D2]
	VLD1R (R5), [V9.D2]
	FSQRTD(0, 0)
	FMULD(29, 0, 0)
	FGTD(0, 11, 6)
	FMAXD(9, 0, 9)
	COPY(31, 5)
	FMLAD(28, 9, 5)
	COPY(30, 1)
	FMLAD(5, 9, 1)
	COPY(1, 5)
	REDUCED
	POLYNOMIALD
	POWERD
	FLUSHD
	NEXTD

// ---- float32 ----

#define CONSTANTSS \
	MOVD dst+0(FP), R0;                \
	MOVD src+8(FP), R1;                \
	MOVD n+16(FP), R2;                 \
	MOVD table+24(FP), R4;             \
	VLD1R.P 4(R4), [V10.S4];           \
	VLD1R.P 4(R4), [V11.S4];           \
	VLD1R.P 4(R4), [V12.S4];           \
	VLD1R.P 4(R4), [V13.S4];           \
	VLD1R.P 4(R4), [V14.S4];           \
	VLD1R.P 4(R4), [V15.S4];           \
	ADD  $(3*4), R4, R4;               \
	VLD1R.P 4(R4), [V17.S4];           \
	VLD1R.P 4(R4), [V18.S4];           \
	VLD1R.P 4(R4), [V19.S4];           \
	VLD1R.P 4(R4), [V20.S4];           \
	VLD1R.P 4(R4), [V21.S4];           \
	VLD1R.P 4(R4), [V22.S4];           \
	SUB  $(7*4), R4, R4;               \
	VLD1R (R4), [V16.S4]

#define REDUCES \
	FMINS(10, 0, 0);                   \
	FMAXS(11, 0, 0);                   \
	FMULS(12, 0, 1);                   \
	FRINTS(1, 1);                      \
	FMLSS(13, 1, 0);                   \
	FMULS(14, 1, 7);                   \
	FSUBS(7, 0, 8);                    \
	FMULS(8, 8, 3)

#define POLYNOMIALS \
	COPY(18, 9);                       \
	FMLAS(3, 17, 9);                   \
	COPY(19, 2);                       \
	FMLAS(3, 9, 2);                    \
	COPY(21, 9);                       \
	FMLAS(3, 20, 9);                   \
	COPY(22, 4);                       \
	FMLAS(3, 9, 4);                    \
	FMLAS(8, 4, 2);                    \
	FNEGS(7, 4);                       \
	FMLAS(3, 2, 4);                    \
	FADDS(4, 0, 4);                    \
	FADDS(15, 4, 4)

// 2ⁿ is applied as 2^(n/2)·2^(n−n/2), of which only the last product can round.
#define POWERS \
	FTOIS(1, 1);                       \
	HALVES(1, 9);                      \
	SUBS4(9, 1, 1);                     \
	EXPONENTS(9, 9);                   \
	EXPONENTS(1, 1);                   \
	ADDS4(15, 9, 9);                    \
	ADDS4(15, 1, 1);                    \
	FMULS(9, 4, 4);                    \
	FMULS(1, 4, 4)

#define FLUSHS \
	FMULS(5, 4, 4);                    \
	FABSS(4, 5);                       \
	FGTS(5, 16, 5);                    \
	OR(5, 6, 6);                       \
	BIC(6, 4, 4)

#define NEXTS \
	VST1.P [V4.S4], 16(R0);            \
	SUBS $(16/4), R2, R2;              \
	BGT  loop;                         \
	RET

#define LOWESTS \
	MOVD parameters+32(FP), R5;        \
	SUB  $(2*4), R4, R4;               \
	VLD1R (R4), [V11.S4]

// func exp32NEON(dst, src *float32, n int, table *float32)
TEXT ·exp32NEON(SB), NOSPLIT, $0-32
	CONSTANTSS

loop:
	VLD1.P 16(R1), [V0.S4]
	REDUCES
	POLYNOMIALS
	POWERS
	NEXTS

// func scaledExp32NEON(dst, src *float32, n int, table, parameters *float32)
TEXT ·scaledExp32NEON(SB), NOSPLIT, $0-40
	CONSTANTSS
	LOWESTS
	VLD1R.P 4(R5), [V28.S4]
	VLD1R.P 4(R5), [V29.S4]
	VLD1R.P 4(R5), [V30.S4]

loop:
	VLD1.P 16(R1), [V0.S4]
	FSUBS(28, 0, 0)
	FMULS(29, 0, 0)
	FGTS(0, 11, 6)
	COPY(30, 5)
	REDUCES
	POLYNOMIALS
	POWERS
	FLUSHS
	NEXTS

// func rootExp32NEON(dst, src *float32, n int, table, parameters *float32)
TEXT ·rootExp32NEON(SB), NOSPLIT, $0-40
	CONSTANTSS
	LOWESTS
	ADD  $4, R5, R5
	VLD1R.P 4(R5), [V29.S4]
	VLD1R.P 4(R5), [V30.S4]
	VLD1R.P 4(R5), [V31.S4]
	VLD1R.P 4(R5), [V28.S4]

loop:
	VLD1.P 16(R1), [V0.S4]
	VLD1R (R5), [V9.S4]
	FSQRTS(0, 0)
	FMULS(29, 0, 0)
	FGTS(0, 11, 6)
	FMAXS(9, 0, 9)
	COPY(31, 5)
	FMLAS(28, 9, 5)
	COPY(30, 1)
	FMLAS(5, 9, 1)
	COPY(1, 5)
	REDUCES
	POLYNOMIALS
	POWERS
	FLUSHS
	NEXTS

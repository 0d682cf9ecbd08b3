// Functions of single elements and of pairs of them: gorgonia's own operations.
// What they give at NaN, the infinities and the signed zeros is what the host's give.

#if SINGLE
#define LOG2 log2f
#define LOG1P log1pf
#define EXPM1 expm1f
#define CEIL ceilf
#define FLOOR floorf
#define POW powf
#define COPYSIGN copysignf
// From where on the host takes the limits of the logistic function and of softplus.
#define LOGISTIC_ZERO -88
#define LOGISTIC_ONE 15
#define SOFTPLUS_ZERO -103
#define SOFTPLUS_LINE 14
#else
#define LOG2 log2
#define LOG1P log1p
#define EXPM1 expm1
#define CEIL ceil
#define FLOOR floor
#define POW pow
#define COPYSIGN copysign
#define LOGISTIC_ZERO -709
#define LOGISTIC_ONE 19
#define SOFTPLUS_ZERO -708
#define SOFTPLUS_LINE 16
#endif

// One byte for each truth value, as Go has them.
typedef unsigned char Byte;

extern "C" __global__ void absolute(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = ABS(a[i]);
}

// 1 or -1. Zeros and NaN stay, or with bit have the sign of their sign bit.
extern "C" __global__ void sign(const REAL *a, REAL *out, Int n, Int bit)
{
    EACH(i, n)
    {
        REAL x = a[i];
        out[i] = x < 0 ? -1 : x > 0 ? 1 : bit ? COPYSIGN((REAL)1, x) : x;
    }
}

extern "C" __global__ void round_up(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = CEIL(a[i]);
}

extern "C" __global__ void round_down(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = FLOOR(a[i]);
}

extern "C" __global__ void exponential(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = EXP(a[i]);
}

extern "C" __global__ void logarithm(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = LOG(a[i]);
}

extern "C" __global__ void binary_logarithm(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = LOG2(a[i]);
}

extern "C" __global__ void logarithm_of_one_plus(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = LOG1P(a[i]);
}

extern "C" __global__ void exponential_minus_one(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = EXPM1(a[i]);
}

extern "C" __global__ void square_root(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = SQRT(a[i]);
}

extern "C" __global__ void reciprocal(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = 1 / a[i];
}

extern "C" __global__ void reciprocal_root(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = 1 / SQRT(a[i]);
}

extern "C" __global__ void cube(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = a[i] * a[i] * a[i];
}

extern "C" __global__ void hyperbolic_tangent(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = TANH(a[i]);
}

extern "C" __global__ void sigmoid(const REAL *a, REAL *out, Int n)
{
    EACH(i, n)
    {
        REAL x = a[i];
        out[i] = x < LOGISTIC_ZERO ? 0 : x > LOGISTIC_ONE ? 1 : 1 / (1 + EXP(-x));
    }
}

extern "C" __global__ void softplus(const REAL *a, REAL *out, Int n)
{
    EACH(i, n)
    {
        REAL x = a[i];
        out[i] = x < SOFTPLUS_ZERO ? 0 : x > SOFTPLUS_LINE ? x : LOG1P(EXP(x));
    }
}

// Two operands; a stride of 0 repeats a scalar.
extern "C" __global__ void raise_to(const REAL *a, Int sa, const REAL *b, Int sb, REAL *out, Int n)
{
    EACH(i, n)
    {
        REAL x = a[i * sa], y = b[i * sb];
#if SINGLE
        // The host takes roots for these, also of -Inf.
        out[i] = x == 1 || (y != 0.5f && y != -0.5f) ? POW(x, y) : y > 0 ? SQRT(x) : 1 / SQRT(x);
#else
        out[i] = POW(x, y);
#endif
    }
}

// a/b, where +Inf is what 0 divides any number into: the host's quotient by a tensor.
extern "C" __global__ void quotient(const REAL *a, Int sa, const REAL *b, Int sb, REAL *out, Int n)
{
    EACH(i, n)
    {
        REAL y = b[i * sb];
        out[i] = y == 0 ? (REAL)infinity() : a[i * sa] / y;
    }
}

// A NaN of the first operand stays, one of the second is passed over.
extern "C" __global__ void larger(const REAL *a, Int sa, const REAL *b, Int sb, REAL *out, Int n)
{
    EACH(i, n)
    {
        REAL x = a[i * sa], y = b[i * sb];
        out[i] = y > x ? y : x;
    }
}

extern "C" __global__ void smaller(const REAL *a, Int sa, const REAL *b, Int sb, REAL *out, Int n)
{
    EACH(i, n)
    {
        REAL x = a[i * sa], y = b[i * sb];
        out[i] = y < x ? y : x;
    }
}

// The relations in the order of Relation in Go.
static __device__ bool holds(Int relation, REAL x, REAL y)
{
    switch (relation) {
    case 0: return x < y;
    case 1: return x > y;
    case 2: return x <= y;
    case 3: return x >= y;
    case 4: return x == y;
    default: return x != y;
    }
}

extern "C" __global__ void compare(const REAL *a, Int sa, const REAL *b, Int sb, Int relation, REAL *out, Int n)
{
    EACH(i, n) out[i] = holds(relation, a[i * sa], b[i * sb]) ? 1 : 0;
}

extern "C" __global__ void compare_truth(const REAL *a, Int sa, const REAL *b, Int sb, Int relation, Byte *out, Int n)
{
    EACH(i, n) out[i] = holds(relation, a[i * sa], b[i * sb]) ? 1 : 0;
}

// Whether truth values are equal, or with unlike whether they are not.
extern "C" __global__ void match_truth(const Byte *a, Int sa, const Byte *b, Int sb, Int unlike, Byte *out, Int n)
{
    EACH(i, n) out[i] = (a[i * sa] == b[i * sb]) != (unlike != 0) ? 1 : 0;
}

// g / p where the output of the dropout is not zero.
extern "C" __global__ void dropout_gradient(const REAL *y, const REAL *g, double p, REAL *out, Int n)
{
    EACH(i, n) out[i] = y[i] != 0 ? g[i] / (REAL)p : 0;
}

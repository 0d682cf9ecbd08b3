// Functions of single elements and of pairs of them: gorgonia's own operations. The
// kernels that apply them to every element, one function or a chain of them each, are
// made from these by element.go and chain.go. What they give at NaN, the infinities and
// the signed zeros is what the host's give.
//
// The compiler contracts nothing here (--fmad=false): a chain in one kernel has the bits
// of the same functions in a kernel each. To round by intrinsics what is written here
// would not do for that: exp, log and their like have sums and products of their own,
// which the compiler would contract with one another or with those of the next function.

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

namespace element {

static __device__ REAL add(REAL a, REAL b) { return a + b; }
static __device__ REAL subtract(REAL a, REAL b) { return a - b; }
static __device__ REAL multiply(REAL a, REAL b) { return a * b; }
static __device__ REAL divide(REAL a, REAL b) { return a / b; }
static __device__ REAL negate(REAL a) { return -a; }
static __device__ REAL square(REAL a) { return a * a; }
static __device__ REAL cube(REAL a) { return a * a * a; }
static __device__ REAL absolute(REAL a) { return ABS(a); }
static __device__ REAL round_up(REAL a) { return CEIL(a); }
static __device__ REAL round_down(REAL a) { return FLOOR(a); }
static __device__ REAL sine(REAL a) { return SIN(a); }
static __device__ REAL cosine(REAL a) { return COS(a); }
static __device__ REAL exponential(REAL a) { return EXP(a); }
static __device__ REAL logarithm(REAL a) { return LOG(a); }
static __device__ REAL binary_logarithm(REAL a) { return LOG2(a); }
static __device__ REAL logarithm_of_one_plus(REAL a) { return LOG1P(a); }
static __device__ REAL exponential_minus_one(REAL a) { return EXPM1(a); }
static __device__ REAL square_root(REAL a) { return SQRT(a); }
static __device__ REAL reciprocal(REAL a) { return 1 / a; }
static __device__ REAL reciprocal_root(REAL a) { return 1 / SQRT(a); }
static __device__ REAL hyperbolic_tangent(REAL a) { return TANH(a); }

// 1 or -1. Zeros and NaN stay, or with bit have the sign of their sign bit.
static __device__ REAL sign(REAL a, Int bit)
{
    return a < 0 ? -1 : a > 0 ? 1 : bit ? COPYSIGN((REAL)1, a) : a;
}

static __device__ REAL sigmoid(REAL a)
{
    return a < LOGISTIC_ZERO ? 0 : a > LOGISTIC_ONE ? 1 : 1 / (1 + EXP(-a));
}

static __device__ REAL softplus(REAL a)
{
    return a < SOFTPLUS_ZERO ? 0 : a > SOFTPLUS_LINE ? a : LOG1P(EXP(a));
}

static __device__ REAL raise_to(REAL a, REAL b)
{
#if SINGLE
    // The host takes roots for these, also of -Inf.
    return a == 1 || (b != 0.5f && b != -0.5f) ? POW(a, b) : b > 0 ? SQRT(a) : 1 / SQRT(a);
#else
    return POW(a, b);
#endif
}

// a/b, where +Inf is what 0 divides any number into: the host's quotient by a tensor.
static __device__ REAL quotient(REAL a, REAL b) { return b == 0 ? (REAL)infinity() : a / b; }

// A NaN of the first operand stays, one of the second is passed over.
static __device__ REAL larger(REAL a, REAL b) { return b > a ? b : a; }
static __device__ REAL smaller(REAL a, REAL b) { return b < a ? b : a; }

// The relations in the order of Relation in Go.
static __device__ Byte compare_truth(REAL a, REAL b, Int relation)
{
    switch (relation) {
    case 0: return a < b;
    case 1: return a > b;
    case 2: return a <= b;
    case 3: return a >= b;
    case 4: return a == b;
    default: return a != b;
    }
}

static __device__ REAL compare(REAL a, REAL b, Int relation) { return compare_truth(a, b, relation) ? 1 : 0; }

// Whether truth values are equal, or with unlike whether they are not.
static __device__ Byte match_truth(Byte a, Byte b, Int unlike) { return (a == b) != (unlike != 0); }

// g / p where the output of the dropout is not zero.
static __device__ REAL dropout_gradient(REAL y, REAL g, double p) { return y != 0 ? g / (REAL)p : 0; }

// A number that does not come from an operand, and an element that stays as it is.
static __device__ REAL fill(double v) { return (REAL)v; }
static __device__ REAL repeat(REAL a) { return a; }

} // namespace element

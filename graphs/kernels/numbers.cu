// What every source begins with. REAL is the element type (float or double) and
// SINGLE says which; both come from the compiler's options. Arguments are all 64
// bits wide: pointers, Int and double.

typedef long long Int;
// One byte for each truth value, as Go has them.
typedef unsigned char Byte;

#if SINGLE
#define EXP expf
#define SQRT sqrtf
#define TANH tanhf
#define ABS fabsf
#define SIN sinf
#define COS cosf
#define LOG logf
#else
#define EXP exp
#define SQRT sqrt
#define TANH tanh
#define ABS fabs
#define SIN sin
#define COS cos
#define LOG log
#endif

#define EACH(i, n) for (Int i = blockIdx.x * (Int)blockDim.x + threadIdx.x; i < (n); i += gridDim.x * (Int)blockDim.x)

static __device__ double infinity() { return -log(0.0); }

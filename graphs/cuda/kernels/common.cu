// What all kernels share. REAL is the element type (float or double) and
// SINGLE says which; both come from the compiler's options. Arguments are all 64
// bits wide: pointers, Int and double.
//
// Matrices are row-major. Results do not depend on how blocks are scheduled:
// there are no atomic operations, and every sum has a fixed tree. Sums are taken
// in double, like the host's.

typedef long long Int;

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

// Threads of a block in kernels over rows and over elements.
#define BLOCK 256

// blockSum adds one number of each thread of a block of BLOCK threads. All of
// them must call it; all get the sum.
static __device__ double blockSum(double v)
{
    __shared__ double part[BLOCK];
    int t = threadIdx.x;
    __syncthreads();
    part[t] = v;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    return part[0];
}

// blockMax is blockSum for the largest number. NaN is passed over.
static __device__ double blockMax(double v)
{
    __shared__ double part[BLOCK];
    int t = threadIdx.x;
    __syncthreads();
    part[t] = v;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half && part[t + half] > part[t]) part[t] = part[t + half];
        __syncthreads();
    }
    return part[0];
}

// finite is false for NaN and the infinities.
static __device__ bool finite_(double v) { return v - v == 0; }

static __device__ double infinity() { return -log(0.0); }

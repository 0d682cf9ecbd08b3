// What all kernels share but those of single elements (elements.cu).
//
// Matrices are row-major. Results do not depend on how blocks are scheduled:
// there are no atomic operations, and every sum has a fixed tree. Sums are taken
// in double, like the host's.
//
// The compiler contracts: of a * b + c it makes one fused multiply-add, which
// rounds once instead of twice, and of a * a + b * b it fuses one product and
// rounds the other, whichever it likes. Sums lose nothing by that. But exchanging a and b
// changes the result, x * y - x * y is the rounding error of a product and not zero,
// and one formula in two kernels may give two results. Where a result must be symmetric,
// exactly zero or one, or equal to that of another kernel, products are written
// times(a, b), which is never fused, or fused(a, b, c), which always is. That holds for
// twice a product, too: 2 * (a * b) becomes a * b + a * b, and then one of them is fused.

static __device__ float times(float a, float b) { return __fmul_rn(a, b); }
static __device__ double times(double a, double b) { return __dmul_rn(a, b); }
static __device__ float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
static __device__ double fused(double a, double b, double c) { return __fma_rn(a, b, c); }

// Threads of a block in kernels over rows and over elements.
#define BLOCK 256

// The sum of one number of each thread of a warp, which all get.
static __device__ double warpSum(double v)
{
    for (int half = 16; half > 0; half /= 2) v += __shfl_xor_sync(0xffffffffu, v, half);
    return v;
}

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

// finite is false for NaN and the infinities. The difference is not contracted with a
// product that v may be.
static __device__ bool finite_(double v) { return __dsub_rn(v, v) == 0; }

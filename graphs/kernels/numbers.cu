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

// A grid has a thread for each of the first two million places, so that most loops run once:
// copies of their bodies would only double the compiler's time.
#define EACH(i, n) _Pragma("unroll 1") for (Int i = blockIdx.x * (Int)blockDim.x + threadIdx.x; i < (n); i += gridDim.x * (Int)blockDim.x)

// Every step-th place of a tensor, from the first one on: its number, and its indices along the
// axes, the innermost first, whose lengths but the outermost's are given. 64-bit divisions are
// subroutines; with first and step below 2^31 those of 32 bits serve tensors of any length.
template <int N> struct Places {
    Int at, index[N + 1], length[N];
    unsigned step;

    template <class... L> __device__ Places(unsigned first, unsigned step, L... lengths) : at(first), index{}, length{lengths...}, step(step) { move(first); }

    __device__ void next()
    {
        at += step;
        move(step);
    }

    __device__ void move(unsigned by)
    {
        Int carry = 0;
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (by == 0 && carry == 0) return;
            unsigned n = length[i] < 0x80000000ll ? (unsigned)length[i] : 0x80000000u;
            index[i] += by % n + carry;
            by /= n;
            carry = index[i] >= length[i];
            if (carry) index[i] -= length[i];
        }
        index[N] += by + carry;
    }
};

// The places of a grid's threads among n, and of a block's threads.
#define EACH_PLACE(N, k, n, ...) _Pragma("unroll 1") for (Places<N> k(blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x, __VA_ARGS__); k.at < (n); k.next())
#define BLOCK_PLACE(N, k, n, ...) _Pragma("unroll 1") for (Places<N> k(threadIdx.x, BLOCK, __VA_ARGS__); k.at < (n); k.next())
// Places q among n, which are row i and column j, and also of some layer o.
#define PAIR(q, i, j, of) if ([[maybe_unused]] Int q = of.at, i = of.index[1], j = of.index[0]; true)
#define EACH_PAIR(q, i, j, n, cols) EACH_PLACE(1, places, n, cols) PAIR(q, i, j, places)
#define EACH_TRIPLE(q, o, i, j, n, rows, cols) EACH_PLACE(2, places, n, cols, rows) PAIR(q, i, j, places) if ([[maybe_unused]] Int o = places.index[2]; true)

static __device__ double infinity() { return -log(0.0); }

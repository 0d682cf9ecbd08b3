// Kernel matrices and their derivatives, over all pairs of rows of X (n×d) and
// Y (m×d).

enum Form { EXPONENTIAL, MATERN12, MATERN32, MATERN52, POWER, HYPERBOLIC };

static __device__ REAL power(REAL b, Int n)
{
    REAL r = 1;
    for (; n > 0; n >>= 1) {
        if (n & 1) r *= b;
        b *= b;
    }
    return r;
}

// profile is the kernel, or with slope its derivative, at the metric s.
static __device__ REAL profile(REAL s, Int form, Int slope, REAL scale, REAL rate, REAL offset, Int degree)
{
    REAL u;
    switch (form) {
    case EXPONENTIAL:
        u = scale * EXP(-rate * s);
        return slope ? -rate * u : u;
    case MATERN12:
        u = SQRT(s);
        if (!slope) return scale * EXP(-rate * u);
        return s == 0 ? (REAL)0 : -scale * rate / (2 * u) * EXP(-rate * u);
    case MATERN32:
        u = rate * SQRT(s);
        return slope ? -scale * rate * rate / 2 * EXP(-u) : scale * (1 + u) * EXP(-u);
    case MATERN52:
        u = rate * SQRT(s);
        return slope ? -scale * rate * rate / 6 * (1 + u) * EXP(-u) : scale * (1 + u + u * u / 3) * EXP(-u);
    case POWER:
        if (slope) return scale * rate * (REAL)degree * power(rate * s + offset, degree - 1);
        return scale * power(rate * s + offset, degree);
    case HYPERBOLIC:
        u = TANH(rate * s + offset);
        return slope ? scale * rate * (1 - u * u) : scale * u;
    }
    return s;
}

#define PROFILE Int form, Int slope, double scale, double rate, double offset, Int degree
#define APPLY(s) profile(s, form, slope, (REAL)scale, (REAL)rate, (REAL)offset, degree)

// Term by term: few dimensions, and what no matrix product gives. A block of
// 16×16 threads does 64×64 pairs, 4×4 a thread, 16 dimensions at a time.
// Symmetric matrices get their upper tiles, and the mirror image. The sum of a pair
// is the same wherever in its tile the pair stands.
//
// The sums are in registers because all loops over them are unrolled. That with the profile,
// which is long, is not: a thread reads its own sums again from out.
#define SIDES                                                                                     \
    _Pragma("unroll") for (int a = 0; a < 4; a++)                                                 \
        _Pragma("unroll") for (int b = 0; b < 4; b++)
#define DIRECT(TERM)                                                                              \
    {                                                                                             \
        __shared__ REAL xs[16][65], ys[16][65];                                                   \
        unsigned across = (unsigned)((m + 63) / 64);                                              \
        Int i0 = blockIdx.x / across * (Int)64, j0 = blockIdx.x % across * (Int)64;               \
        if (symmetric && j0 < i0) return;                                                         \
        int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;                                 \
        REAL s[4][4];                                                                             \
        SIDES s[a][b] = 0;                                                                        \
        for (Int k0 = 0; k0 < d; k0 += 16) {                                                      \
            for (int q = t; q < 64 * 16; q += 256) {                                              \
                int r = q / 16, k = q % 16;                                                       \
                xs[k][r] = i0 + r < n && k0 + k < d ? x[(i0 + r) * d + k0 + k] : (REAL)0;         \
                ys[k][r] = j0 + r < m && k0 + k < d ? y[(j0 + r) * d + k0 + k] : (REAL)0;         \
            }                                                                                     \
            __syncthreads();                                                                      \
            for (int k = 0; k < 16; k++)                                                          \
                SIDES                                                                             \
                {                                                                                 \
                    REAL diff = xs[k][ty + 16 * a] - ys[k][tx + 16 * b];                          \
                    s[a][b] = TERM;                                                               \
                }                                                                                 \
            __syncthreads();                                                                      \
        }                                                                                         \
        SIDES                                                                                     \
        {                                                                                         \
            Int i = i0 + ty + 16 * a, j = j0 + tx + 16 * b;                                       \
            if (i < n && j < m && !(symmetric && j < i)) out[i * m + j] = s[a][b];                \
        }                                                                                         \
        for (int q = 0; q < 16; q++) {                                                            \
            Int i = i0 + ty + 16 * (q / 4), j = j0 + tx + 16 * (q % 4);                           \
            if (i >= n || j >= m || (symmetric && j < i)) continue;                               \
            REAL v = APPLY(out[i * m + j]);                                                       \
            out[i * m + j] = v;                                                                   \
            if (symmetric) out[j * m + i] = v;                                                    \
        }                                                                                         \
    }

extern "C" __global__ void direct_squared(const REAL *x, const REAL *y, Int n, Int m, Int d, Int symmetric, REAL *out, PROFILE)
{
    DIRECT(fused(diff, diff, s[a][b]))
}

extern "C" __global__ void direct_manhattan(const REAL *x, const REAL *y, Int n, Int m, Int d, Int symmetric, REAL *out, PROFILE)
{
    DIRECT(s[a][b] + ABS(diff))
}

// The rows of a − means, and their squared norms; one block a row.
extern "C" __global__ void shift_rows(const REAL *a, const double *mean, Int rows, Int cols, REAL *out, REAL *norms)
{
    for (Int i = blockIdx.x; i < rows; i += gridDim.x) {
        double s = 0;
        for (Int j = threadIdx.x; j < cols; j += BLOCK) {
            REAL v = (REAL)((double)a[i * cols + j] - mean[j]);
            out[i * cols + j] = v;
            s += (double)v * v;
        }
        s = blockSum(s);
        if (threadIdx.x == 0) norms[i] = (REAL)s;
    }
}

// From out = −2 X Yᵀ to the kernel of |x|² + |y|² + out, in place. Where too
// little is left of the norms, the distance is taken term by term.
extern "C" __global__ void finish_squared(const REAL *x, const REAL *y, const REAL *xx, const REAL *yy, Int n, Int m, Int d, double near,
                                          Int symmetric, REAL *out, PROFILE)
{
    EACH_PAIR(q, i, j, n * m, m)
    {
        if (symmetric && j < i) continue;
        REAL norms = xx[i] + yy[j], s = norms + out[q];
        if (symmetric && i == j) {
            s = 0;
        } else if (s < (REAL)near * norms) {
            s = 0;
            for (Int k = 0; k < d; k++) {
                REAL diff = x[i * d + k] - y[j * d + k];
                s = fused(diff, diff, s);
            }
        }
        out[q] = APPLY(s);
    }
}

// From inner products to their kernel, in place; the upper triangle only if
// symmetric.
extern "C" __global__ void finish_product(Int n, Int m, Int symmetric, REAL *out, PROFILE)
{
    EACH_PAIR(q, i, j, n * m, m)
    if (!symmetric || j >= i) out[q] = APPLY(out[q]);
}

// Copies the upper triangle of an n×n matrix into the lower one, by tiles, so
// that reading and writing run along rows. Blocks are 32×8 threads.
extern "C" __global__ void mirror_upper(REAL *a, Int n)
{
    __shared__ REAL tile[32][33];
    unsigned tiles = (unsigned)((n + 31) / 32);
    Int r0 = blockIdx.x / tiles * (Int)32, c0 = blockIdx.x % tiles * (Int)32;
    if (c0 < r0) return;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (r0 + k < n && c0 + threadIdx.x < n) tile[k][threadIdx.x] = a[(r0 + k) * n + c0 + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8) {
        Int i = c0 + k, j = r0 + threadIdx.x; // below the diagonal
        if (i < n && j < i) a[i * n + j] = tile[threadIdx.x][k];
    }
}

// Σ_j w_ij sign(x_i − y_j), n×d: the pullback of L1 distances. A block does one
// row: its lanes are width dimensions by BLOCK/width points.
extern "C" __global__ void manhattan_gradient(const REAL *x, const REAL *y, const REAL *w, Int n, Int m, Int d, Int width, REAL *out)
{
    __shared__ double part[BLOCK];
    int lane = threadIdx.x % (int)width, group = threadIdx.x / (int)width, groups = BLOCK / (int)width; // width <= BLOCK
    for (Int i = blockIdx.x; i < n; i += gridDim.x)
        for (Int k0 = 0; k0 < d; k0 += width) {
            Int k = k0 + lane;
            double s = 0;
            if (k < d) {
                REAL xi = x[i * d + k];
                for (Int j = group; j < m; j += groups) {
                    REAL wij = w[i * m + j], v = y[j * d + k];
                    s += xi > v ? wij : xi < v ? -wij : (REAL)0;
                }
            }
            part[threadIdx.x] = s;
            __syncthreads();
            if (group == 0 && k < d) {
                for (int g = 1; g < groups; g++) s += part[g * width + lane];
                out[i * d + k] = (REAL)s;
            }
            __syncthreads();
        }
}

// From out = −2W(Y − 1cᵀ) to 2(rowsum(W)∘(X − 1cᵀ) − W(Y − 1cᵀ)), in place: the
// pullback of squared distances. sums are the row sums of W, mean is c.
extern "C" __global__ void squared_gradient(const REAL *x, const REAL *sums, const double *mean, Int n, Int d, REAL *out)
{
    EACH_PAIR(q, i, k, n * d, d)
    {
        out[q] = (REAL)(2 * (double)sums[i] * ((double)x[q] - mean[k]) + (double)out[q]);
    }
}

// a² + b² for the lengthscales of two points: symmetric, and twice the rounded a²
// where they are equal, so that the ratio of the Gibbs kernel is exactly one there.
template <class T> static __device__ T sumOfSquares(T a, T b) { return times(a, a) + times(b, b); }

// The Gibbs kernel; 16×16 threads do 16×16 pairs.
extern "C" __global__ void gibbs(const REAL *x, const REAL *y, const REAL *lx, const REAL *ly, Int n, Int m, Int d, double variance, REAL *out)
{
    unsigned across = (unsigned)((m + 15) / 16);
    Int i = blockIdx.x / across * (Int)16 + threadIdx.y, j = blockIdx.x % across * (Int)16 + threadIdx.x;
    if (i >= n || j >= m) return;
    REAL ratio = 1, exponent = 0;
    for (Int k = 0; k < d; k++) {
        REAL a = lx[i * d + k], b = ly[j * d + k], q = sumOfSquares(a, b), diff = x[i * d + k] - y[j * d + k];
        ratio *= 2 * times(a, b) / q;
        exponent += diff * diff / q;
    }
    out[i * m + j] = (REAL)variance * SQRT(ratio) * EXP(-exponent);
}

// Σ_j w_ij ∂log k/∂x_i, or by the lengthscales; as manhattan_gradient.
extern "C" __global__ void gibbs_gradient(const REAL *x, const REAL *y, const REAL *lx, const REAL *ly, const REAL *w, Int n, Int m, Int d,
                                          Int width, Int byLengthscale, REAL *out)
{
    __shared__ double part[BLOCK];
    int lane = threadIdx.x % (int)width, group = threadIdx.x / (int)width, groups = BLOCK / (int)width; // width <= BLOCK
    for (Int i = blockIdx.x; i < n; i += gridDim.x)
        for (Int k0 = 0; k0 < d; k0 += width) {
            Int k = k0 + lane;
            double s = 0;
            if (k < d) {
                double xi = x[i * d + k], a = lx[i * d + k];
                for (Int j = group; j < m; j += groups) {
                    double b = ly[j * d + k], q = sumOfSquares(a, b), diff = xi - (double)y[j * d + k];
                    double slope = -2 * diff / q;
                    if (byLengthscale) slope = 1 / (2 * a) - a / q + 2 * a * (diff / q) * (diff / q);
                    s += (double)w[i * m + j] * slope;
                }
            }
            part[threadIdx.x] = s;
            __syncthreads();
            if (group == 0 && k < d) {
                for (int g = 1; g < groups; g++) s += part[g * width + lane];
                out[i * d + k] = (REAL)s;
            }
            __syncthreads();
        }
}

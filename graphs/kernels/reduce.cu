// Sums. A large one is taken in two steps: each block leaves its part, and
// sum_parts adds the parts in their order.

extern "C" __global__ void sum_all(const REAL *a, Int n, double *parts)
{
    double s = 0;
    EACH(i, n) s += a[i];
    s = blockSum(s);
    if (threadIdx.x == 0) parts[blockIdx.x] = s;
}

// Σ_i g_ii p_ii + 2 Σ_{j<i} g_ij p_ij for n×n matrices.
extern "C" __global__ void sum_lower_products(const REAL *g, const REAL *p, Int n, double *parts)
{
    double s = 0;
    for (Int i = blockIdx.x; i < n; i += gridDim.x)
        for (Int j = threadIdx.x; j <= i; j += BLOCK) s += (j < i ? 2.0 : 1.0) * (double)g[i * n + j] * (double)p[i * n + j];
    s = blockSum(s);
    if (threadIdx.x == 0) parts[blockIdx.x] = s;
}

// ‖B' + b mᵀ‖² for B = [B' b], rows×cols, one column more than m.
extern "C" __global__ void sum_ridge(const REAL *b, const REAL *m, Int rows, Int cols, double *parts)
{
    double s = 0;
    EACH_PAIR(k, i, j, rows * (cols - 1), cols - 1)
    {
        REAL v = b[i * cols + j] + b[i * cols + cols - 1] * m[j];
        s += (double)v * v;
    }
    s = blockSum(s);
    if (threadIdx.x == 0) parts[blockIdx.x] = s;
}

// One block.
extern "C" __global__ void sum_parts(const double *parts, Int n, REAL *out)
{
    double s = 0;
    for (Int i = threadIdx.x; i < n; i += BLOCK) s += parts[i];
    s = blockSum(s);
    if (threadIdx.x == 0) *out = (REAL)s;
}

// The trace of an n×n matrix, or with logarithms 2 Σ log l_ii. One block.
extern "C" __global__ void sum_diagonal(const REAL *a, Int n, Int logarithms, REAL *out)
{
    double s = 0;
    for (Int i = threadIdx.x; i < n; i += BLOCK) {
        double v = a[i * n + i];
        s += logarithms ? 2 * log(v) : v;
    }
    s = blockSum(s);
    if (threadIdx.x == 0) *out = (REAL)s;
}

// The sum of each row, times scale; one block a row.
extern "C" __global__ void sum_rows(const REAL *a, Int rows, Int cols, double scale, REAL *out)
{
    for (Int i = blockIdx.x; i < rows; i += gridDim.x) {
        double s = 0;
        for (Int j = threadIdx.x; j < cols; j += BLOCK) s += a[i * cols + j];
        s = blockSum(s);
        if (threadIdx.x == 0) out[i] = (REAL)(s * scale);
    }
}

// Sums down the columns of rows×cols numbers, of products with those of b if there is a b, over
// divisor. Blocks are 32×8 threads; each does 32 columns of one chunk of rows. A chunk leaves a row
// of parts, whose columns add_parts sums; a single one the result, in one of the two forms.
template <class T>
static __device__ void sumColumns(const T *a, const T *b, Int rows, Int cols, Int chunk, double divisor, double *parts, REAL *out)
{
    __shared__ double part[8][33];
    unsigned across = (unsigned)((cols + 31) / 32);
    Int c = blockIdx.x / across, j = blockIdx.x % across * (Int)32 + threadIdx.x;
    Int end = (c + 1) * chunk < rows ? (c + 1) * chunk : rows;
    double s = 0;
    if (j < cols)
        for (Int i = c * chunk + threadIdx.y; i < end; i += 8) s += b ? (double)a[i * cols + j] * b[i * cols + j] : (double)a[i * cols + j];
    part[threadIdx.y][threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.y > 0 || j >= cols) return;
    for (int k = 1; k < 8; k++) s += part[k][threadIdx.x];
    if (parts)
        parts[c * cols + j] = s / divisor;
    else
        out[j] = (REAL)(s / divisor);
}

extern "C" __global__ void sum_columns(const REAL *a, const REAL *b, Int rows, Int cols, Int chunk, double divisor, double *parts, REAL *out)
{
    sumColumns(a, b, rows, cols, chunk, divisor, parts, out);
}

extern "C" __global__ void add_parts(const double *a, Int rows, Int cols, double divisor, double *parts, REAL *out)
{
    sumColumns(a, (const double *)0, rows, cols, rows, divisor, parts, out);
}

// ‖a_i − b_i‖ over the columns from the first one on; one block a row.
extern "C" __global__ void row_distance(const REAL *a, const REAL *b, Int rows, Int cols, Int first, REAL *out)
{
    for (Int i = blockIdx.x; i < rows; i += gridDim.x) {
        double s = 0;
        for (Int j = first + threadIdx.x; j < cols; j += BLOCK) {
            REAL d = a[i * cols + j] - b[i * cols + j];
            s += (double)d * d;
        }
        s = blockSum(s);
        if (threadIdx.x == 0) out[i] = (REAL)(s == s ? sqrt(s) : infinity());
    }
}

// CKC from a symmetric n×n K and its row means.
extern "C" __global__ void centre_symmetric(const REAL *k, const REAL *mean, Int n, REAL *out)
{
    double all = 0;
    for (Int i = threadIdx.x; i < n; i += BLOCK) all += mean[i];
    all = blockSum(all) / n;
    for (Int i = blockIdx.x; i < n; i += gridDim.x)
        for (Int j = threadIdx.x; j < n; j += BLOCK)
            out[i * n + j] = (REAL)((double)k[i * n + j] - ((double)mean[i] + (double)mean[j]) + all);
}

// Cholesky factors of batches and inverses of triangular blocks. Blocks up to FACTOR_ORDER are
// in shared memory, in double.
#define FACTOR_ORDER 64
// Their rows are this far apart, so that a column is in different banks.
#define FACTOR_STRIDE (FACTOR_ORDER + 1)

// Rows by the warps of a block, and columns by the lanes of a warp.
#define WARP_ROWS(i, first, rows) for (Int i = (first) + threadIdx.x / 32; i < (rows); i += BLOCK / 32)
#define LANE_COLUMNS(j, columns) for (Int j = threadIdx.x % 32; j < (columns); j += 32)

// One step of the inverse of a triangular l of order n, with rows ld apart: row k of the inverse,
// which grows above the diagonal, transposed, while l is below, is there, and goes off the rows
// below it. In a factorisation column k of the factor goes off the columns behind it as well.
static __device__ void eliminate(double *l, Int ld, Int n, Int k, bool factors)
{
    double pivot = l[k * ld + k];
    WARP_ROWS(i, k + 1, n)
    {
        double x = l[i * ld + k];
        LANE_COLUMNS(j, (factors ? i : k) + 1)
        {
            if (j < k)
                l[j * ld + i] -= x * l[j * ld + k];
            else if (j == k)
                l[k * ld + i] = -x / pivot;
            else
                l[i * ld + j] -= x * l[j * ld + k];
        }
    }
    __syncthreads();
}

// The Cholesky factor of l, of which the triangle above the diagonal is zero, in its place, and
// the inverse of the factor above the diagonal, transposed and without its own diagonal.
// Returns the first column, counted from 1, whose pivot is not positive and finite, or 0.
static __device__ int factorAndInvert(double *l, Int ld, Int n)
{
    int failed = 0;
    for (Int k = 0; k < n; k++) {
        double root = sqrt(l[k * ld + k]);
        if (failed == 0 && !(root > 0 && finite_(root))) failed = (int)k + 1;
        __syncthreads(); // all have read it
        for (Int i = threadIdx.x; i < n; i += BLOCK) l[i * ld + k] = i == k ? root : l[i * ld + k] / root;
        __syncthreads();
        eliminate(l, ld, n, k, true);
    }
    return failed;
}

// The block of order k on the diagonal of l from a row on, with zeros above its diagonal.
static __device__ void loadBlock(double *few, const REAL *l, Int n, Int from, Int k)
{
    WARP_ROWS(i, 0, k)
    LANE_COLUMNS(j, k) few[i * FACTOR_STRIDE + j] = j <= i ? l[(from + i) * n + from + j] : (REAL)0;
    __syncthreads();
}

// The inverse of the Cholesky factor L of a + shift, lower triangular, with a shift of
// relative times the trace and least. The first column without a factor goes to *failed,
// counted from 1. Beyond FACTOR_ORDER the factor is in work, n×n. One block.
extern "C" __global__ void shifted_inverse(const REAL *a, Int n, double relative, double least, double *work, REAL *out, int *failed)
{
    __shared__ double few[FACTOR_ORDER * FACTOR_STRIDE];
    Int ld = n <= FACTOR_ORDER ? FACTOR_STRIDE : n;
    double *l = n <= FACTOR_ORDER ? few : work, trace = 0;
    for (Int i = threadIdx.x; i < n; i += BLOCK) trace += a[i * n + i];
    double shift = relative * blockSum(trace) + least;
    WARP_ROWS(i, 0, n)
    LANE_COLUMNS(j, n) l[i * ld + j] = i == j ? a[i * n + j] + shift : j < i ? (double)a[i * n + j] : 0;
    __syncthreads();
    int column = factorAndInvert(l, ld, n);
    if (threadIdx.x == 0 && *failed == 0) *failed = column;
    WARP_ROWS(i, 0, n)
    LANE_COLUMNS(j, n) out[i * n + j] = (REAL)(j < i ? l[j * ld + i] : j == i ? 1 / l[i * ld + i] : 0);
}

// The diagonal block of a Cholesky factor from a row on, off which the columns before have been
// taken, with its inverse as factorAndInvert leaves it, to its rows of diagonal. One block.
extern "C" __global__ void factor_block(const REAL *l, Int n, Int from, double *diagonal, int *failed)
{
    __shared__ double few[FACTOR_ORDER * FACTOR_STRIDE];
    Int k = n - from < FACTOR_ORDER ? n - from : FACTOR_ORDER;
    loadBlock(few, l, n, from, k);
    int column = factorAndInvert(few, FACTOR_STRIDE, k);
    if (threadIdx.x == 0 && *failed == 0 && column > 0) *failed = (int)from + column;
    WARP_ROWS(i, 0, k)
    LANE_COLUMNS(j, k) diagonal[(from + i) * FACTOR_ORDER + j] = few[i * FACTOR_STRIDE + j];
}

// The rows below that block, in their place, as products with its inverse. A block does
// PANEL_ROWS of them, TILE_ROWS at a time; a thread has a column, and of a tile every fourth row.
#define PANEL_ROWS 128
#define TILE_ROWS 16
#define TILE_STEP (BLOCK / FACTOR_ORDER)
extern "C" __global__ void factor_rows(REAL *l, Int n, Int from, const double *diagonal)
{
    __shared__ double few[FACTOR_ORDER * FACTOR_ORDER], tile[TILE_ROWS * FACTOR_ORDER];
    int j = threadIdx.x % FACTOR_ORDER, i = threadIdx.x / FACTOR_ORDER;
    for (int q = threadIdx.x; q < FACTOR_ORDER * FACTOR_ORDER; q += BLOCK) few[q] = diagonal[from * FACTOR_ORDER + q];
    __syncthreads();
    double own = 1 / few[j * FACTOR_ORDER + j];
    Int first = from + FACTOR_ORDER + blockIdx.x * (Int)PANEL_ROWS, last = first + PANEL_ROWS < n ? first + PANEL_ROWS : n;
    for (Int row = first; row < last; row += TILE_ROWS) {
        REAL *to = l + (row + i) * n + from + j;
        double s[TILE_ROWS / TILE_STEP];
#pragma unroll
        for (int r = 0; r < TILE_ROWS / TILE_STEP; r++) {
            double v = row + i + r * TILE_STEP < last ? (double)to[r * TILE_STEP * n] : 0;
            tile[(i + r * TILE_STEP) * FACTOR_ORDER + j] = v;
            s[r] = v * own;
        }
        __syncthreads();
        for (int t = 0; t < j; t++) {
            double x = few[t * FACTOR_ORDER + j];
#pragma unroll
            for (int r = 0; r < TILE_ROWS / TILE_STEP; r++) s[r] += tile[(i + r * TILE_STEP) * FACTOR_ORDER + t] * x;
        }
#pragma unroll
        for (int r = 0; r < TILE_ROWS / TILE_STEP; r++)
            if (row + i + r * TILE_STEP < last) to[r * TILE_STEP * n] = (REAL)s[r];
        __syncthreads();
    }
}

// The diagonal blocks of a factor in their places, with zeros above the diagonal.
extern "C" __global__ void place_diagonal(const double *diagonal, Int n, REAL *l)
{
    EACH(q, n * FACTOR_ORDER)
    {
        Int i = q / FACTOR_ORDER, j = i / FACTOR_ORDER * FACTOR_ORDER + q % FACTOR_ORDER;
        if (j < n) l[i * n + j] = j <= i ? (REAL)diagonal[q] : (REAL)0;
    }
}

// The inverses of the diagonal blocks of a triangular l, of FACTOR_ORDER each, as diagonal
// blocks of squares of some size, with zeros beside them and beyond n.
extern "C" __global__ void invert_blocks(const REAL *l, Int n, Int size, REAL *out)
{
    __shared__ double few[FACTOR_ORDER * FACTOR_STRIDE];
    for (Int from = blockIdx.x * (Int)FACTOR_ORDER; from < n; from += gridDim.x * (Int)FACTOR_ORDER) {
        Int k = n - from < FACTOR_ORDER ? n - from : FACTOR_ORDER, at = from & (size - 1); // size is a power of 2
        __syncthreads();
        loadBlock(few, l, n, from, k);
        for (Int c = 0; c < k; c++) {
            double pivot = few[c * FACTOR_STRIDE + c];
            for (Int i = threadIdx.x; i < c; i += BLOCK) few[i * FACTOR_STRIDE + c] /= pivot;
            __syncthreads();
            eliminate(few, FACTOR_STRIDE, k, c, false);
        }
        WARP_ROWS(i, 0, FACTOR_ORDER)
        LANE_COLUMNS(c, size)
        {
            Int j = c - at;
            double v = 0;
            if (i < k && j >= 0 && j <= i) v = j < i ? few[j * FACTOR_STRIDE + i] : 1 / few[i * FACTOR_STRIDE + i];
            out[(from + i) * size + c] = (REAL)v;
        }
    }
}

// The inverses of diagonal blocks of twice the order half, from those of their halves: below
// the diagonal it is -X2 B X1 for the inverses X1 and X2 of the halves and B of l. A block
// makes JOIN_COLUMNS columns of one.
#define JOIN_COLUMNS 16
#define JOIN_ROWS 128
extern "C" __global__ void join_blocks(const REAL *l, Int n, Int size, Int half, REAL *out)
{
    __shared__ double x[JOIN_ROWS * JOIN_COLUMNS], w[JOIN_ROWS * JOIN_COLUMNS];
    unsigned strips = (unsigned)half / JOIN_COLUMNS;
    Int from = blockIdx.x / strips * 2 * half, column = blockIdx.x % strips * JOIN_COLUMNS;
    if (from + half >= n) return;
    Int rows = n - from - half < half ? n - from - half : half;
    REAL *first = out + from * size + (from & (size - 1)), *below = first + half * size, *second = below + half;
    for (Int q = threadIdx.x; q < half * JOIN_COLUMNS; q += BLOCK) x[q] = first[q / JOIN_COLUMNS * size + column + q % JOIN_COLUMNS];
    __syncthreads();
    for (Int q = threadIdx.x; q < rows * JOIN_COLUMNS; q += BLOCK) {
        const REAL *row = l + (from + half + q / JOIN_COLUMNS) * n + from;
        double s = 0;
        for (Int t = 0; t < half; t++) s += row[t] * x[t * JOIN_COLUMNS + q % JOIN_COLUMNS];
        w[q] = s;
    }
    __syncthreads();
    for (Int q = threadIdx.x; q < rows * JOIN_COLUMNS; q += BLOCK) {
        Int i = q / JOIN_COLUMNS;
        double s = 0;
        for (Int t = 0; t <= i; t++) s += second[i * size + t] * w[t * JOIN_COLUMNS + q % JOIN_COLUMNS];
        below[i * size + column + q % JOIN_COLUMNS] = (REAL)-s;
    }
}

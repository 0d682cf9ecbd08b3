// Cholesky factors of batches and inverses of triangular blocks. Blocks up to FACTOR_ORDER are
// in shared memory, in double.
#define FACTOR_ORDER 64

// One step of the inverse of a triangular l of order n: row k of the inverse, which grows above
// the diagonal, transposed, while l is below, is there, and goes off the rows below it. In a
// factorisation column k of the factor goes off the columns behind it as well.
static __device__ void eliminate(double *l, Int n, Int k, bool factors)
{
    double pivot = l[k * n + k];
    Int columns = factors ? n : k + 1;
    for (Int q = threadIdx.x; q < (n - k - 1) * columns; q += BLOCK) {
        Int i = k + 1 + q / columns, j = q % columns;
        double x = l[i * n + k];
        if (j < k)
            l[j * n + i] -= x * l[j * n + k];
        else if (j == k)
            l[k * n + i] = -x / pivot;
        else if (j <= i)
            l[i * n + j] -= x * l[j * n + k];
    }
    __syncthreads();
}

// The Cholesky factor of l, of which the triangle above the diagonal is zero, in its place, and
// the inverse of the factor above the diagonal, transposed and without its own diagonal.
// Returns the first column, counted from 1, whose pivot is not positive and finite, or 0.
static __device__ int factorAndInvert(double *l, Int n)
{
    int failed = 0;
    for (Int k = 0; k < n; k++) {
        double root = sqrt(l[k * n + k]);
        if (failed == 0 && !(root > 0 && finite_(root))) failed = (int)k + 1;
        __syncthreads(); // all have read it
        for (Int i = threadIdx.x; i < n; i += BLOCK) l[i * n + k] = i == k ? root : l[i * n + k] / root;
        __syncthreads();
        eliminate(l, n, k, true);
    }
    return failed;
}

// The inverse of the Cholesky factor L of a + shift, lower triangular, with a shift of
// relative times the trace and least. The first column without a factor goes to *failed,
// counted from 1. Beyond FACTOR_ORDER the factor is in work, n×n. One block.
extern "C" __global__ void shifted_inverse(const REAL *a, Int n, double relative, double least, double *work, REAL *out, int *failed)
{
    __shared__ double few[FACTOR_ORDER * FACTOR_ORDER];
    double *l = n <= FACTOR_ORDER ? few : work, trace = 0;
    for (Int i = threadIdx.x; i < n; i += BLOCK) trace += a[i * n + i];
    double shift = relative * blockSum(trace) + least;
    for (Int q = threadIdx.x; q < n * n; q += BLOCK) {
        Int i = q / n, j = q % n;
        l[q] = i == j ? a[q] + shift : j < i ? (double)a[q] : 0;
    }
    __syncthreads();
    int column = factorAndInvert(l, n);
    if (threadIdx.x == 0 && *failed == 0) *failed = column;
    for (Int q = threadIdx.x; q < n * n; q += BLOCK) {
        Int i = q / n, j = q % n;
        out[q] = (REAL)(j < i ? l[j * n + i] : j == i ? 1 / l[q] : 0);
    }
}

// Columns of a Cholesky factor, FACTOR_ORDER of them from one on, off which those before have
// been taken: their diagonal block, which every block factors for itself, goes to diagonal, a
// square for each, and PANEL_ROWS rows below to their place, as products with the inverse.
#define PANEL_ROWS 128
#define TILE_ROWS 16
extern "C" __global__ void factor_panel(REAL *l, Int n, Int from, REAL *diagonal, int *failed)
{
    __shared__ double few[FACTOR_ORDER * FACTOR_ORDER], tile[TILE_ROWS * FACTOR_ORDER];
    Int k = n - from < FACTOR_ORDER ? n - from : FACTOR_ORDER;
    for (Int q = threadIdx.x; q < k * k; q += BLOCK) {
        Int i = q / k, j = q % k;
        few[q] = j <= i ? l[(from + i) * n + from + j] : (REAL)0;
    }
    __syncthreads();
    int column = factorAndInvert(few, k);
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0 && *failed == 0 && column > 0) *failed = (int)from + column;
        for (Int q = threadIdx.x; q < k * k; q += BLOCK) diagonal[from * FACTOR_ORDER + q / k * FACTOR_ORDER + q % k] = (REAL)few[q];
    }
    Int first = from + k + blockIdx.x * PANEL_ROWS, last = first + PANEL_ROWS < n ? first + PANEL_ROWS : n;
    for (Int row = first; row < last; row += TILE_ROWS) {
        Int rows = last - row < TILE_ROWS ? last - row : TILE_ROWS;
        for (Int q = threadIdx.x; q < rows * k; q += BLOCK) tile[q] = l[(row + q / k) * n + from + q % k];
        __syncthreads();
        for (Int q = threadIdx.x; q < rows * k; q += BLOCK) {
            Int i = q / k, j = q % k;
            double s = tile[q] / few[j * k + j];
            for (Int t = 0; t < j; t++) s += tile[i * k + t] * few[t * k + j];
            l[(row + i) * n + from + j] = (REAL)s;
        }
        __syncthreads();
    }
}

// The diagonal blocks of a factor in their places, with zeros above the diagonal.
extern "C" __global__ void place_diagonal(const REAL *diagonal, Int n, REAL *l)
{
    EACH(q, n * FACTOR_ORDER)
    {
        Int i = q / FACTOR_ORDER, j = i / FACTOR_ORDER * FACTOR_ORDER + q % FACTOR_ORDER;
        if (j < n) l[i * n + j] = j <= i ? diagonal[q] : (REAL)0;
    }
}

// The inverses of the diagonal blocks of a triangular l, of FACTOR_ORDER each, as diagonal
// blocks of squares of some size, with zeros beside them and beyond n.
extern "C" __global__ void invert_blocks(const REAL *l, Int n, Int size, REAL *out)
{
    __shared__ double few[FACTOR_ORDER * FACTOR_ORDER];
    for (Int from = blockIdx.x * (Int)FACTOR_ORDER; from < n; from += gridDim.x * (Int)FACTOR_ORDER) {
        Int k = n - from < FACTOR_ORDER ? n - from : FACTOR_ORDER, at = from % size;
        __syncthreads();
        for (Int q = threadIdx.x; q < k * k; q += BLOCK) {
            Int i = q / k, j = q % k;
            few[q] = j <= i ? l[(from + i) * n + from + j] : (REAL)0;
        }
        __syncthreads();
        for (Int c = 0; c < k; c++) {
            double pivot = few[c * k + c];
            for (Int i = threadIdx.x; i < c; i += BLOCK) few[i * k + c] /= pivot;
            __syncthreads();
            eliminate(few, k, c, false);
        }
        for (Int q = threadIdx.x; q < FACTOR_ORDER * size; q += BLOCK) {
            Int i = q / size, j = q % size - at;
            double v = 0;
            if (i < k && j >= 0 && j <= i) v = j < i ? few[j * k + i] : 1 / few[i * k + i];
            out[from * size + q] = (REAL)v;
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
    Int strips = half / JOIN_COLUMNS;
    Int from = blockIdx.x / strips * 2 * half, column = blockIdx.x % strips * JOIN_COLUMNS;
    if (from + half >= n) return;
    Int rows = n - from - half < half ? n - from - half : half;
    REAL *first = out + from * size + from % size, *below = first + half * size, *second = below + half;
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

// Operations on single elements, and copies: gorgonia's own operations.

#define EACH(i, n) for (Int i = blockIdx.x * (Int)blockDim.x + threadIdx.x; i < (n); i += gridDim.x * (Int)blockDim.x)

// Binary operations; a stride of 0 repeats a scalar.
extern "C" __global__ void add(const REAL *a, Int sa, const REAL *b, Int sb, REAL *out, Int n)
{
    EACH(i, n) out[i] = a[i * sa] + b[i * sb];
}

extern "C" __global__ void subtract(const REAL *a, Int sa, const REAL *b, Int sb, REAL *out, Int n)
{
    EACH(i, n) out[i] = a[i * sa] - b[i * sb];
}

extern "C" __global__ void multiply(const REAL *a, Int sa, const REAL *b, Int sb, REAL *out, Int n)
{
    EACH(i, n) out[i] = a[i * sa] * b[i * sb];
}

extern "C" __global__ void divide(const REAL *a, Int sa, const REAL *b, Int sb, REAL *out, Int n)
{
    EACH(i, n) out[i] = a[i * sa] / b[i * sb];
}

extern "C" __global__ void negate(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = -a[i];
}

extern "C" __global__ void square(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = a[i] * a[i];
}

extern "C" __global__ void sine(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = SIN(a[i]);
}

extern "C" __global__ void cosine(const REAL *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = COS(a[i]);
}

extern "C" __global__ void fill(REAL *out, double v, Int n)
{
    EACH(i, n) out[i] = (REAL)v;
}

// out = in for a rows×cols matrix that is part of wider ones.
extern "C" __global__ void copy_block(const REAL *in, Int ldin, REAL *out, Int ldout, Int rows, Int cols)
{
    EACH(k, rows * cols) out[k / cols * ldout + k % cols] = in[k / cols * ldin + k % cols];
}

// Every row or column is repeated: out is rows×cols, the input has rows/byRow
// rows and cols/byCol columns.
extern "C" __global__ void repeat(const REAL *in, REAL *out, Int rows, Int cols, Int byRow, Int byCol)
{
    EACH(k, rows * cols) out[k] = in[k / cols / byRow * (cols / byCol) + k % cols / byCol];
}

// out = inᵀ for a rows×cols matrix, by 32×32 tiles and 32×8 threads. The extra
// column keeps a tile's columns in different banks.
extern "C" __global__ void transpose(const REAL *in, REAL *out, Int rows, Int cols)
{
    __shared__ REAL tile[32][33];
    Int tilesAcross = (cols + 31) / 32;
    Int r0 = blockIdx.x / tilesAcross * 32, c0 = blockIdx.x % tilesAcross * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (r0 + k < rows && c0 + threadIdx.x < cols) tile[k][threadIdx.x] = in[(r0 + k) * cols + c0 + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        if (c0 + k < cols && r0 + threadIdx.x < rows) out[(c0 + k) * rows + r0 + threadIdx.x] = tile[threadIdx.x][k];
}

// out = diag(s) in, or in diag(s) with byCol.
extern "C" __global__ void scale(const REAL *in, const REAL *s, REAL *out, Int rows, Int cols, Int byCol)
{
    EACH(k, rows * cols) out[k] = in[k] * s[byCol ? k % cols : k / cols];
}

// in diag(√s); a negative s is reported in *failed.
extern "C" __global__ void scale_root(const REAL *in, const REAL *s, REAL *out, Int rows, Int cols, int *failed)
{
    EACH(k, rows * cols)
    {
        REAL w = s[k % cols];
        if (w < 0) *failed = 1;
        out[k] = in[k] * SQRT(w);
    }
}

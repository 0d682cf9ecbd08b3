// Copies, and products with diagonal matrices.

// out = in for a rows×cols matrix that is part of wider ones.
extern "C" __global__ void copy_block(const REAL *in, Int ldin, REAL *out, Int ldout, Int rows, Int cols)
{
    EACH_PAIR(k, i, j, rows * cols, cols) out[i * ldout + j] = in[i * ldin + j];
}

// out = inᵀ for a rows×cols matrix, by 32×32 tiles and 32×8 threads. The extra
// column keeps a tile's columns in different banks.
extern "C" __global__ void transpose(const REAL *in, REAL *out, Int rows, Int cols)
{
    __shared__ REAL tile[32][33];
    unsigned tilesAcross = (unsigned)((cols + 31) / 32);
    Int r0 = blockIdx.x / tilesAcross * (Int)32, c0 = blockIdx.x % tilesAcross * (Int)32;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (r0 + k < rows && c0 + threadIdx.x < cols) tile[k][threadIdx.x] = in[(r0 + k) * cols + c0 + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        if (c0 + k < cols && r0 + threadIdx.x < rows) out[(c0 + k) * rows + r0 + threadIdx.x] = tile[threadIdx.x][k];
}

// out = diag(s) in, or in diag(s) with byCol.
extern "C" __global__ void scale(const REAL *in, const REAL *s, REAL *out, Int rows, Int cols, Int byCol)
{
    EACH_PAIR(k, i, j, rows * cols, cols) out[k] = in[k] * s[byCol ? j : i];
}

// in diag(√s); a negative s is reported in *failed.
extern "C" __global__ void scale_root(const REAL *in, const REAL *s, REAL *out, Int rows, Int cols, int *failed)
{
    EACH_PAIR(k, i, j, rows * cols, cols)
    {
        REAL w = s[j];
        if (w < 0) *failed = 1;
        out[k] = in[k] * SQRT(w);
    }
}

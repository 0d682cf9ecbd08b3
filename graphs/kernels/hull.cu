// Affine hulls: k_ij = exp(−½|u_i − x_j|²) over a tile of queries, of which only
// u·x − ½|x|² differs within a row.

// The first d of c columns of z, each times its scale.
extern "C" __global__ void hull_queries(const REAL *z, const REAL *w, Int rows, Int c, Int d, REAL *out)
{
    EACH_PAIR(q, i, j, rows * d, d) out[q] = z[i * c + j] * w[j];
}

// −½|x|² of each row; one block a row.
extern "C" __global__ void half_squares(const REAL *x, Int rows, Int cols, REAL *out)
{
    for (Int i = blockIdx.x; i < rows; i += gridDim.x) {
        double s = 0;
        for (Int j = threadIdx.x; j < cols; j += BLOCK) s += (double)x[i * cols + j] * x[i * cols + j];
        s = blockSum(s);
        if (threadIdx.x == 0) out[i] = (REAL)(-s / 2);
    }
}

// Rows of u·x become exponentials relative to the largest; one block a row. A
// term too small to be a normal number is zero.
extern "C" __global__ void hull_exponentials(REAL *k, const REAL *half, Int rows, Int n)
{
    for (Int i = blockIdx.x; i < rows; i += gridDim.x) {
        REAL *row = k + i * n;
        double largest = -infinity();
        for (Int j = threadIdx.x; j < n; j += BLOCK) {
            REAL v = row[j] + half[j];
            row[j] = v;
            if (v > largest) largest = v;
        }
        largest = blockMax(largest);
        for (Int j = threadIdx.x; j < n; j += BLOCK) {
            REAL v = row[j] - (REAL)largest;
#if SINGLE
            row[j] = v < -87.3f ? 0.0f : expf(v);
#else
            row[j] = v < -708.3 ? 0.0 : exp(v);
#endif
        }
    }
}

// share·√n·‖b‖ for the last column b of B (n×cols). One block.
extern "C" __global__ void hull_safety(const REAL *b, Int n, Int cols, double share, double *out)
{
    double s = 0;
    for (Int i = threadIdx.x; i < n; i += BLOCK) {
        double v = b[i * cols + cols - 1];
        s += v * v;
    }
    s = blockSum(s);
    if (threadIdx.x == 0) *out = share * sqrt((double)n) * sqrt(s);
}

// The first c of c+1 columns over the last one, NaN where that is not safely
// positive.
extern "C" __global__ void hull_normalise(const REAL *a, const double *safety, Int rows, Int c, REAL *out)
{
    EACH_PAIR(q, i, j, rows * c, c)
    {
        const REAL *row = a + i * (c + 1);
        double sum = row[c];
        out[q] = sum > *safety ? row[j] * (REAL)(1 / sum) : (REAL)sqrt(-1.0);
    }
}

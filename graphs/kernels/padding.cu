// What replaces padding. The number of leading rows that stay is in memory.

// NaN counts no rows.
static __device__ Int leadingRows(REAL count, Int n)
{
    if (!(count > 0)) return 0;
    return count < n ? (Int)count : n;
}

// The leading block of a, and a diagonal beyond it.
extern "C" __global__ void leading(const REAL *a, const REAL *count, Int n, double diagonal, REAL *out)
{
    Int stay = leadingRows(*count, n);
    EACH_PAIR(q, i, j, n * n, n)
    {
        out[q] = i < stay && j < stay ? a[q] : i == j && i >= stay ? (REAL)diagonal : (REAL)0;
    }
}

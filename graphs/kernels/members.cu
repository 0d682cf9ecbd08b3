// What batches need beside the kernels of their members.

// NaN where an operation failed.
extern "C" __global__ void invalidate(const int *failed, Int n, REAL *out)
{
    if (*failed == 0) return;
    EACH(q, n) out[q] = (REAL)sqrt(-1.0);
}

// What batches need beside the kernels of their members.

// The addresses of count members, step bytes apart, of each of some blocks, apart bytes
// from one another; they are as long as Int.
extern "C" __global__ void member_addresses(Int first, Int step, Int count, Int apart, Int blocks, Int *out)
{
    EACH(q, count * blocks) out[q] = first + q % count * step + q / count * apart;
}

// NaN where an operation failed.
extern "C" __global__ void invalidate(const int *failed, Int n, REAL *out)
{
    if (*failed == 0) return;
    EACH(q, n) out[q] = (REAL)sqrt(-1.0);
}

// Zeros above the diagonal, within the diagonal blocks of an order.
extern "C" __global__ void clear_upper(REAL *a, Int n, Int order)
{
    EACH(q, n * order)
    {
        Int i = q / order, j = i / order * order + q % order;
        if (j > i && j < n) a[i * n + j] = 0;
    }
}

// What random numbers, which the host draws, are used for.

// a / by where an element is kept, and zero elsewhere.
extern "C" __global__ void drop(const REAL *a, const Byte *kept, double by, REAL *out, Int n)
{
    EACH(i, n) out[i] = kept[i] ? a[i] / (REAL)by : 0;
}

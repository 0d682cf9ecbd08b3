// Elements of tensors of any rank in another order: permuted, cut out, spread.

// A view numbers elements in row-major order and says where each is: at the
// offset plus its index along every axis times the axis' stride. Axes are counted
// from the innermost, those that are not there have length 1.
#define VIEW Int offset, Int d0, Int s0, Int d1, Int s1, Int d2, Int s2, Int d3, Int s3, Int d4, Int s4, Int d5, Int s5, Int d6, Int s6, Int s7
#define IN_VIEW(k) inView(k, offset, d0, s0, d1, s1, d2, s2, d3, s3, d4, s4, d5, s5, d6, s6, s7)

static __device__ Int inView(Int k, VIEW)
{
    Int at = offset + k % d0 * s0;
    if ((k /= d0) == 0) return at;
    at += k % d1 * s1;
    if ((k /= d1) == 0) return at;
    at += k % d2 * s2;
    if ((k /= d2) == 0) return at;
    at += k % d3 * s3;
    if ((k /= d3) == 0) return at;
    at += k % d4 * s4;
    if ((k /= d4) == 0) return at;
    at += k % d5 * s5;
    if ((k /= d5) == 0) return at;
    at += k % d6 * s6;
    return at + k / d6 * s7;
}

// out_k is the k-th element of the view.
extern "C" __global__ void gather(const REAL *in, REAL *out, Int n, VIEW)
{
    EACH(k, n) out[k] = in[IN_VIEW(k)];
}

// The k-th element of the view becomes in_k; the other elements of out stay.
extern "C" __global__ void scatter(const REAL *in, REAL *out, Int n, VIEW)
{
    EACH(k, n) out[IN_VIEW(k)] = in[k];
}

// The same for integers and for truth values, whatever the element type is.
extern "C" __global__ void gather_integers(const Int *in, Int *out, Int n, VIEW)
{
    EACH(k, n) out[k] = in[IN_VIEW(k)];
}

extern "C" __global__ void scatter_integers(const Int *in, Int *out, Int n, VIEW)
{
    EACH(k, n) out[IN_VIEW(k)] = in[k];
}

extern "C" __global__ void gather_truth(const Byte *in, Byte *out, Int n, VIEW)
{
    EACH(k, n) out[k] = in[IN_VIEW(k)];
}

extern "C" __global__ void scatter_truth(const Byte *in, Byte *out, Int n, VIEW)
{
    EACH(k, n) out[IN_VIEW(k)] = in[k];
}

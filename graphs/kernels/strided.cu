// Elements of tensors of any rank in another order: permuted, cut out, spread.

// A view numbers elements in row-major order and says where each is: at the
// offset plus its index along every axis times the axis' stride. Axes are counted
// from the innermost, those that are not there have length 1.
#define VIEW Int offset, Int d0, Int s0, Int d1, Int s1, Int d2, Int s2, Int d3, Int s3, Int d4, Int s4, Int d5, Int s5, Int d6, Int s6, Int s7
#define EACH_VIEW(k, n)                                                                                                                      \
    EACH_PLACE(7, view, n, d0, d1, d2, d3, d4, d5, d6)                                                                                       \
    if (Int k = view.at, at = offset + view.index[0] * s0 + view.index[1] * s1 + view.index[2] * s2 + view.index[3] * s3 +                   \
                              view.index[4] * s4 + view.index[5] * s5 + view.index[6] * s6 + view.index[7] * s7; true)

// out_k is the k-th element of the view.
extern "C" __global__ void gather(const REAL *in, REAL *out, Int n, VIEW)
{
    EACH_VIEW(k, n) out[k] = in[at];
}

// The k-th element of the view becomes in_k; the other elements of out stay.
extern "C" __global__ void scatter(const REAL *in, REAL *out, Int n, VIEW)
{
    EACH_VIEW(k, n) out[at] = in[k];
}

// The same for integers and for truth values, whatever the element type is.
extern "C" __global__ void gather_integers(const Int *in, Int *out, Int n, VIEW)
{
    EACH_VIEW(k, n) out[k] = in[at];
}

extern "C" __global__ void scatter_integers(const Int *in, Int *out, Int n, VIEW)
{
    EACH_VIEW(k, n) out[at] = in[k];
}

extern "C" __global__ void gather_truth(const Byte *in, Byte *out, Int n, VIEW)
{
    EACH_VIEW(k, n) out[k] = in[at];
}

extern "C" __global__ void scatter_truth(const Byte *in, Byte *out, Int n, VIEW)
{
    EACH_VIEW(k, n) out[at] = in[k];
}

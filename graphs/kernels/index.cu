// Integers, which indices are.

extern "C" __global__ void to_integers(const REAL *a, Int *out, Int n)
{
    EACH(i, n) out[i] = (Int)a[i];
}

extern "C" __global__ void from_integers(const Int *a, REAL *out, Int n)
{
    EACH(i, n) out[i] = (REAL)a[i];
}

// The elements of given indices along an axis: of outer×length×inner elements
// outer×count×inner. An index outside of the axis gives NaN.
extern "C" __global__ void pick(const REAL *in, const Int *index, Int outer, Int length, Int inner, Int count, REAL *out)
{
    EACH_TRIPLE(k, o, c, i, outer * count * inner, count, inner)
    {
        Int j = index[c];
        bool inside = j >= 0 && j < length;
        out[k] = inside ? in[(o * length + j) * inner + i] : (REAL)(infinity() - infinity());
    }
}

// The derivative of pick: each element adds up where it was picked.
extern "C" __global__ void pick_gradient(const REAL *g, const Int *index, Int outer, Int length, Int inner, Int count, REAL *out)
{
    EACH_TRIPLE(k, o, j, i, outer * length * inner, length, inner)
    {
        double s = 0;
        for (Int c = 0; c < count; c++)
            if (index[c] == j) s += g[(o * count + c) * inner + i];
        out[k] = (REAL)s;
    }
}

// Pieces of a Newton step of the Laplace approximation.

static __device__ double logistic(double f)
{
    double e = exp(-fabs(f));
    return f < 0 ? e / (1 + e) : 1 / (1 + e);
}

// √(n W); a negative count is reported in *failed.
extern "C" __global__ void logistic_scale(const REAL *f, const REAL *count, Int n, REAL *out, int *failed)
{
    EACH(i, n) {
        double c = count[i], e = exp(-fabs((double)f[i]) / 2);
        if (c < 0) *failed = 1;
        out[i] = (REAL)(sqrt(c) * e / (1 + e * e));
    }
}

// n W f + (Y + n)/2 − n π.
extern "C" __global__ void newton_target(const REAL *f, const REAL *count, const REAL *y, Int n, Int m, REAL *out)
{
    EACH_PAIR(q, i, j, n * m, m)
    {
        double fi = f[i], c = count[i], pi = logistic(fi);
        out[q] = (REAL)(c * (pi * logistic(-fi) * fi - pi) + ((double)y[q] + c) / 2);
    }
}

// I + diag(s) K diag(s).
extern "C" __global__ void identity_plus_scaled(const REAL *k, const REAL *s, Int n, REAL *out)
{
    EACH_PAIR(q, i, j, n * n, n)
    {
        out[q] = s[i] * s[j] * k[q] + (i == j ? (REAL)1 : (REAL)0);
    }
}

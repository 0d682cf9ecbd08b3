// Pieces around Cholesky factors and eigen-decompositions, for n×n matrices.

// The lower triangle of a + *shift·I, zeros above; shift may be null.
extern "C" __global__ void lower_shifted(const REAL *a, const REAL *shift, Int n, REAL *out)
{
    REAL s = shift ? *shift : (REAL)0;
    EACH_PAIR(q, i, j, n * n, n)
    {
        out[q] = j < i ? a[q] : j == i ? a[q] + s : (REAL)0;
    }
}

// A factorisation of a matrix that is not finite may seem to succeed. One
// block; the first bad row goes into *failed, counted from 1.
extern "C" __global__ void check_factor(const REAL *l, Int n, int *failed)
{
    double first = n;
    for (Int i = threadIdx.x; i < n; i += BLOCK) {
        double v = l[i * n + i];
        if (!(v > 0 && finite_(v)) && i < first) first = i;
    }
    first = -blockMax(-first);
    if (threadIdx.x == 0 && *failed == 0 && first < n) *failed = (int)first + 1;
}

extern "C" __global__ void identity(Int n, REAL *out)
{
    EACH_PAIR(q, i, j, n * n, n) out[q] = i == j ? (REAL)1 : (REAL)0;
}

// A + shift·I in place; no shift stands for one.
extern "C" __global__ void add_identity(REAL *a, const REAL *shift, Int n)
{
    REAL v = shift ? *shift : (REAL)1;
    EACH(i, n) a[i * n + i] += v;
}

// Φ: the lower triangle and half the diagonal.
extern "C" __global__ void halve_diagonal(REAL *a, Int n)
{
    EACH_PAIR(q, i, j, n * n, n)
    {
        if (j > i) a[q] = 0;
        if (j == i) a[q] /= 2;
    }
}

// ½(A + Aᵀ) in place.
extern "C" __global__ void symmetrise(REAL *a, Int n)
{
    EACH_PAIR(q, i, j, n * n, n)
    {
        if (j >= i) continue;
        REAL v = (a[i * n + j] + a[j * n + i]) / 2;
        a[i * n + j] = v;
        a[j * n + i] = v;
    }
}

// The largest sum of absolute values of a row, in two steps like the sums.
extern "C" __global__ void row_norm_parts(const REAL *a, Int n, double *parts)
{
    double largest = 0;
    for (Int i = blockIdx.x; i < n; i += gridDim.x) {
        double s = 0;
        for (Int j = threadIdx.x; j < n; j += BLOCK) s += fabs((double)a[i * n + j]);
        s = blockSum(s);
        if (!(s <= largest)) largest = s; // NaN stays
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = largest;
}

// Higham's estimate of ‖A⁻¹‖₁ (LAPACK's lacn2) with the choices on the device:
// each call follows a solve x ← A⁻¹x and prepares the next. The state holds the
// estimate, whether the search has ended, the last unit vector's index, and a
// flag for the even calls. One block.
enum { ESTIMATE, DONE, INDEX, STATE };

static __device__ double columnSum(const REAL *x, Int n)
{
    double s = 0;
    for (Int i = threadIdx.x; i < n; i += BLOCK) s += fabs((double)x[i]);
    return blockSum(s);
}

// The signs of x, kept in signs; true if any changed.
static __device__ bool takeSigns(REAL *x, REAL *signs, Int n)
{
    double changed = 0;
    for (Int i = threadIdx.x; i < n; i += BLOCK) {
        REAL s = x[i] >= 0 ? (REAL)1 : (REAL)-1;
        if (s != signs[i]) changed = 1;
        signs[i] = s;
        x[i] = s;
    }
    return blockMax(changed) > 0;
}

extern "C" __global__ void condition_begin(REAL *x, REAL *signs, double *state, Int n)
{
    for (Int i = threadIdx.x; i < n; i += BLOCK) {
        x[i] = (REAL)(1.0 / n);
        signs[i] = 0;
    }
    if (threadIdx.x < STATE) state[threadIdx.x] = 0;
}

// After a solve with 1/n or a unit vector: the estimate, then the signs.
extern "C" __global__ void condition_signs(REAL *x, REAL *signs, double *state, Int n)
{
    if (state[DONE]) return;
    double sum = columnSum(x, n), old = state[ESTIMATE];
    bool changed = takeSigns(x, signs, n);
    if (threadIdx.x == 0) {
        if (!changed || sum <= old) state[DONE] = 1;
        if (sum > old || sum != sum) state[ESTIMATE] = sum;
    }
}

// After a solve with signs: the unit vector of the largest element.
extern "C" __global__ void condition_unit(REAL *x, double *state, Int n)
{
    if (state[DONE]) return;
    double largest = -1;
    for (Int i = threadIdx.x; i < n; i += BLOCK)
        if (fabs((double)x[i]) > largest) largest = fabs((double)x[i]);
    largest = blockMax(largest);
    double first = n; // of the elements that are as large
    for (Int i = threadIdx.x; i < n; i += BLOCK)
        if (fabs((double)x[i]) == largest && i < first) first = i;
    first = -blockMax(-first);
    Int last = (Int)state[INDEX];
    // Where all is NaN no element is the largest: there is nowhere to go.
    bool stays = first == n || last > 0 && fabs((double)x[last - 1]) == largest;
    __syncthreads(); // all have read x and the state
    for (Int i = threadIdx.x; i < n; i += BLOCK) x[i] = i == (Int)first ? (REAL)1 : (REAL)0;
    if (threadIdx.x == 0) {
        if (stays) state[DONE] = 1;
        state[INDEX] = first + 1;
    }
}

// The alternating vector that catches what the search misses.
extern "C" __global__ void condition_alternate(REAL *x, Int n)
{
    for (Int i = threadIdx.x; i < n; i += BLOCK) x[i] = (REAL)((i % 2 ? -1.0 : 1.0) * (1 + (n > 1 ? (double)i / (n - 1) : 0)));
}

// 1/(‖A‖₁ ‖A⁻¹‖₁) from the parts of ‖A‖₁.
extern "C" __global__ void condition_end(const REAL *x, const double *state, const double *parts, Int count, Int n, REAL *out)
{
    double alternate = 2 * columnSum(x, n) / (3.0 * n), inverse = state[ESTIMATE], norm = 0;
    if (alternate > inverse) inverse = alternate;
    for (Int i = threadIdx.x; i < count; i += BLOCK)
        if (parts[i] > norm) norm = parts[i];
    norm = blockMax(norm);
    if (threadIdx.x == 0) *out = (REAL)(norm > 0 && inverse > 0 ? 1 / norm / inverse : 0);
}

// A matrix in double, for the eigen-decomposition. What is not finite is reported in
// *failed, and zero: the library must not loop over it.
extern "C" __global__ void widen_finite(const REAL *a, double *out, Int n, int *failed)
{
    EACH(q, n) {
        double v = a[q];
        if (!finite_(v)) {
            *failed = 1;
            v = 0;
        }
        out[q] = v;
    }
}

// Eigenvalues w (ascending) and eigenvectors v, the rows of an n×n matrix, as an
// (n+1)×n matrix with the values above the vectors as columns.
extern "C" __global__ void pack_eigen(const double *w, const double *v, Int n, REAL *out)
{
    EACH_PAIR(q, i, j, n * (n + 1), n)
    {
        out[q] = (REAL)(i == 0 ? w[j] : v[j * n + i - 1]);
    }
}

// The k largest, descending: k×(n+1) with the values left of the vectors as rows.
extern "C" __global__ void pack_largest(const double *w, const double *v, Int n, Int k, REAL *out)
{
    EACH_PAIR(q, r, j, k * (n + 1), n + 1)
    {
        Int i = n - 1 - r;
        out[q] = (REAL)(j == 0 ? w[i] : v[i * n + j - 1]);
    }
}

// V max(W, 0)^½ from the (n+1)×n result of pack_eigen.
extern "C" __global__ void positive_part(const REAL *e, Int n, REAL *out)
{
    EACH_PAIR(q, i, j, n * n, n)
    {
        REAL w = e[j];
        out[q] = w > 0 ? e[n + q] * SQRT(w) : (REAL)0;
    }
}

// s ∘ Γ, the divided differences of max(·, 0).
extern "C" __global__ void divided_differences(const REAL *w, Int n, REAL *s)
{
    EACH_PAIR(q, i, j, n * n, n)
    {
        REAL a = w[i], b = w[j], g;
        if (a > 0 && b > 0)
            g = 1;
        else if (a <= 0 && b <= 0)
            g = 0;
        else
            g = ((a > 0 ? a : (REAL)0) - (b > 0 ? b : (REAL)0)) / (a - b);
        s[q] *= g;
    }
}

// Tells another failure, if there was none yet. One block.
extern "C" __global__ void keep_failure(const int *other, int *failed)
{
    if (threadIdx.x == 0 && *failed == 0) *failed = *other;
}

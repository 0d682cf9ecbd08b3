// Symmetric eigenproblems of batches, one block a member, and pieces of block Krylov spaces.

// The largest order of symmetric_eigen: its vectors are in shared memory.
#define EIGEN_ORDER 512

// A Householder reflection I - v v' that takes x to (alpha, 0, ..., 0): v replaces the m
// elements of x, and alpha is returned. What is below the rounding of the largest element
// of the matrix, which is one, counts as zero: there v is zero.
static __device__ double reflection(double *x, Int m)
{
    double s = 0;
    for (Int j = 1 + threadIdx.x; j < m; j += BLOCK) s += x[j] * x[j];
    s = blockSum(s);
    double first = x[0];
    __syncthreads(); // all have read it
    if (s < 1e-280) {
        for (Int j = threadIdx.x; j < m; j += BLOCK) x[j] = 0;
        return first;
    }
    double length = sqrt(s + first * first), alpha = first > 0 ? -length : length;
    double unit = 1 / sqrt(length * (length + fabs(first)));
    for (Int j = threadIdx.x; j < m; j += BLOCK) x[j] = (j == 0 ? first - alpha : x[j]) * unit;
    return alpha;
}

// Householder tridiagonalisation: d and e get the diagonal and what is beside it, and the
// rows of a, right of the diagonal, the vectors of the reflections. A pass over a takes one
// reflection's change off and multiplies by the next one's vector.
static __device__ void tridiagonalise(double *a, Int n, double *d, double *e, double *u, double *q, double *v, double *p)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (Int i = threadIdx.x; i < n; i += BLOCK) u[i] = q[i] = 0;
    __syncthreads();
    for (Int k = 0; k < n; k++) {
        for (Int j = k + threadIdx.x; j < n; j += BLOCK) v[j] = a[k * n + j] - u[k] * q[j] - q[k] * u[j];
        __syncthreads();
        if (threadIdx.x == 0) d[k] = v[k];
        if (k + 1 == n) break;
        double alpha = reflection(v + k + 1, n - k - 1);
        if (threadIdx.x == 0) e[k] = alpha;
        __syncthreads();
        for (Int j = k + 1 + threadIdx.x; j < n; j += BLOCK) a[k * n + j] = v[j];
        for (Int i = k + 1 + warp; i < n; i += BLOCK / 32) {
            double s = 0;
            for (Int j = k + 1 + lane; j < n; j += 32) {
                double x = a[i * n + j] - u[i] * q[j] - q[i] * u[j];
                a[i * n + j] = x;
                s += x * v[j];
            }
            s = warpSum(s);
            if (lane == 0) p[i] = s;
        }
        __syncthreads();
        double s = 0;
        for (Int i = k + 1 + threadIdx.x; i < n; i += BLOCK) s += p[i] * v[i];
        s = blockSum(s) / 2;
        for (Int i = k + 1 + threadIdx.x; i < n; i += BLOCK) {
            q[i] = p[i] - s * v[i];
            u[i] = v[i];
        }
        __syncthreads();
    }
    __syncthreads();
}

// The product of the reflections in a, transposed. A warp makes whole rows, and a lane reads
// no elements but its own.
static __device__ void accumulate(const double *a, Int n, double *out)
{
    int lane = threadIdx.x % 32;
    for (Int i = threadIdx.x / 32; i < n; i += BLOCK / 32) {
        double *row = out + i * n;
        for (Int j = lane; j < n; j += 32) row[j] = i == j;
        for (Int k = i - 1; k >= 0; k--) {
            const double *v = a + k * n;
            Int from = (k + 1) / 32 * 32 + lane;
            if (from <= k) from += 32;
            double s = 0;
            for (Int j = from; j < n; j += 32) s += row[j] * v[j];
            s = warpSum(s);
            for (Int j = from; j < n; j += 32) row[j] -= s * v[j];
        }
    }
    __syncthreads();
}

// One step of implicit QL on the tridiagonal block from l to m, with the shift of the leading
// 2x2 one, and its rotations, by one thread; the last rotation is the first that counts.
static __device__ Int rotations(double *d, double *e, Int l, Int m, double *c, double *s)
{
    double g = (d[l + 1] - d[l]) / (2 * e[l]), r = sqrt(g * g + 1);
    g = d[m] - d[l] + e[l] / (g + (g < 0 ? -r : r));
    double sine = 1, cosine = 1, p = 0;
    Int i = m - 1;
    for (; i >= l; i--) {
        double f = sine * e[i], b = cosine * e[i];
        r = sqrt(f * f + g * g);
        e[i + 1] = r;
        if (r == 0) { // the block falls apart
            d[i + 1] -= p;
            e[m] = 0;
            return i + 1;
        }
        double inverse = 1 / r;
        sine = f * inverse;
        cosine = g * inverse;
        g = d[i + 1] - p;
        r = (d[i] - g) * sine + 2 * cosine * b;
        p = sine * r;
        d[i + 1] = g + p;
        g = cosine * r - b;
        c[i] = cosine;
        s[i] = sine;
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
    return l;
}

// The first m from l on behind which the tridiagonal matrix of d and e, whose elements are
// about one or below, falls apart.
static __device__ Int blockEnd(const double *d, const double *e, Int l, Int n)
{
    Int m = n - 1;
    for (Int j = l + threadIdx.x; j < m; j += BLOCK)
        if (fabs(e[j]) <= 0x1p-53 * (fabs(d[j]) + fabs(d[j + 1])) + 0x1p-60) m = j;
    return -(Int)blockMax(-(double)m);
}

// Implicit QL for the tridiagonal matrix of d and e: the eigenvalues in d, and the rows of z
// rotated likewise. It returns false where that does not converge.
static __device__ bool diagonalise(double *d, double *e, Int n, double *z, double *c, double *s)
{
    __shared__ Int last;
    const int most = 60; // steps for an eigenvalue
    for (Int l = 0; l < n; l++) {
        for (int step = 0;; step++) {
            Int m = blockEnd(d, e, l, n);
            if (m == l) break;
            if (step == most) return false;
            __syncthreads(); // all have read d and e, c and s
            if (threadIdx.x == 0) last = rotations(d, e, l, m, c, s);
            __syncthreads();
            Int from = last;
            for (Int j = threadIdx.x; j < n; j += BLOCK) {
                double upper = z[m * n + j];
                for (Int i = m - 1; i >= from; i--) {
                    double lower = z[i * n + j];
                    z[(i + 1) * n + j] = s[i] * lower + c[i] * upper;
                    upper = c[i] * lower - s[i] * upper;
                }
                z[from * n + j] = upper;
            }
        }
    }
    return true;
}

// The eigenvalues w of the symmetric n×n v, in ascending order, and its eigenvectors as rows
// in its place: Householder reflections, then implicit QL (Golub and Van Loan, "Matrix
// Computations", Algorithms 8.3.1 and 8.3.3). *failed is 1 where that does not converge, and
// 0 elsewhere. One block.
extern "C" __global__ void symmetric_eigen(double *v, double *w, double *work, Int n, int *failed)
{
    __shared__ double d[EIGEN_ORDER], e[EIGEN_ORDER], x[4][EIGEN_ORDER];
    double largest = 0;
    for (Int q = threadIdx.x; q < n * n; q += BLOCK)
        if (fabs(v[q]) > largest) largest = fabs(v[q]);
    largest = blockMax(largest);
    if (largest < 1e-290) largest = 1e-290; // its reciprocal is finite
    for (Int q = threadIdx.x; q < n * n; q += BLOCK) work[q] = v[q] / largest;
    __syncthreads();
    tridiagonalise(work, n, d, e, x[0], x[1], x[2], x[3]);
    accumulate(work, n, v);
    bool converged = diagonalise(d, e, n, v, x[0], x[1]);
    if (threadIdx.x == 0) *failed = !converged;
    __syncthreads();
    for (Int j = threadIdx.x; j < n; j += BLOCK) {
        Int rank = 0;
        for (Int i = 0; i < n; i++) rank += d[i] < d[j] || d[i] == d[j] && i < j;
        w[rank] = d[j] * largest;
        x[2][j] = rank;
    }
    __syncthreads();
    BLOCK_PLACE(1, k, n * n, n) work[(Int)x[2][k.index[1]] * n + k.index[0]] = v[k.at];
    __syncthreads();
    for (Int q = threadIdx.x; q < n * n; q += BLOCK) v[q] = work[q];
}

// The first n of the numbers in [-1, 1) from the SplitMix64 generator, with integers alone.
extern "C" __global__ void start_block(Int n, REAL *out)
{
    EACH(q, n)
    {
        unsigned long long z = (unsigned long long)(q + 1) * 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        z ^= z >> 31;
        out[q] = (REAL)((double)((long long)z >> 11) * 0x1p-52);
    }
}

// The last k rows of the n×n v, in reverse order.
extern "C" __global__ void last_rows(const double *v, Int n, Int k, REAL *out)
{
    EACH_PAIR(q, i, j, k * n, n) out[q] = (REAL)v[(n - 1 - i) * n + j];
}

// Rows of the k largest Ritz values of w, m in ascending order: the value, the bound of its
// error, and its vector. products are those of the matrix and the vectors, k×n, and gram
// those of the vectors with one another. A block makes a row.
extern "C" __global__ void ritz_pairs(const double *w, const REAL *vectors, const REAL *products, const REAL *gram, Int m, Int n, Int k, REAL *out)
{
    for (Int i = blockIdx.x; i < k; i += gridDim.x) {
        double theta = w[m - 1 - i], residual = 0, defect = 0;
        for (Int j = threadIdx.x; j < n; j += BLOCK) {
            double v = vectors[i * n + j], r = products[i * n + j] - theta * v;
            residual += r * r;
            out[i * (n + 2) + 2 + j] = (REAL)v;
        }
        for (Int j = threadIdx.x; j < k; j += BLOCK) {
            double r = (double)gram[i * k + j] - (i == j);
            defect += r * r;
        }
        residual = sqrt(blockSum(residual)) + fabs(w[m - 1]) * sqrt(blockSum(defect));
        if (threadIdx.x == 0) {
            out[i * (n + 2)] = (REAL)theta;
            out[i * (n + 2) + 1] = (REAL)residual;
        }
    }
}

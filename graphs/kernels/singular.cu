// Singular values and left vectors of batches, one block a member.

// The largest of one number of each thread of a warp, which all get.
static __device__ double warpMax(double v)
{
    for (int half = 16; half > 0; half /= 2) {
        double other = __shfl_xor_sync(0xffffffffu, v, half);
        if (other > v) v = other;
    }
    return v;
}

// The squared length of n numbers, which the lanes of a warp add up.
static __device__ double warpSquare(const double *x, Int n)
{
    double s = 0;
    for (Int j = threadIdx.x % 32; j < n; j += 32) s += x[j] * x[j];
    return warpSum(s);
}

// The row of the largest remainder, and its square in *largest. A row that has been taken has a
// square below zero.
static __device__ Int pivotRow(const double *square, Int m, double *largest)
{
    double most = -1;
    for (Int i = threadIdx.x; i < m; i += BLOCK)
        if (square[i] > most) most = square[i];
    most = blockMax(most);
    double first = -(double)m; // the first of equal ones
    for (Int i = threadIdx.x; i < m; i += BLOCK)
        if (square[i] == most && -(double)i > first) first = -(double)i;
    *largest = most;
    return (Int)-blockMax(first);
}

// The transposed factor t (k×m) of a pivoted w = LV by the modified Gram-Schmidt method; see
// package jacobi. It returns k.
static __device__ Int pivotedFactor(double *w, Int m, Int n, double *t, double *square, double *v)
{
    Int lane = threadIdx.x % 32, warp = threadIdx.x / 32, most = m < n ? m : n;
    for (Int i = warp; i < m; i += BLOCK / 32) {
        double s = warpSquare(w + i * n, n);
        if (lane == 0) square[i] = s;
    }
    __syncthreads();
    double least = 0;
    for (Int k = 0; k < most; k++) {
        double largest;
        Int pivot = pivotRow(square, m, &largest);
        if (k == 0) least = largest * 0x1p-112;
        if (!(largest > least)) return k;
        double length = sqrt(largest);
        for (Int j = threadIdx.x; j < n; j += BLOCK) v[j] = w[pivot * n + j] / length;
        __syncthreads();
        for (Int i = warp; i < m; i += BLOCK / 32) {
            double *row = w + i * n, along = 0, s = 0;
            bool done = square[i] < 0;
            __syncwarp(); // before lane 0 writes it
            if (i == pivot) {
                along = length;
                s = -1;
            } else if (done) {
                s = -1;
            } else {
                for (Int j = lane; j < n; j += 32) along += row[j] * v[j];
                along = warpSum(along);
                for (Int j = lane; j < n; j += 32) {
                    double x = row[j] - along * v[j];
                    row[j] = x;
                    s += x * x;
                }
                s = warpSum(s);
            }
            if (lane == 0) {
                t[k * m + i] = along;
                square[i] = s;
            }
        }
        __syncthreads();
    }
    return most;
}

// Makes rows a and b orthogonal, the longer one first, by one warp, and returns whether they were
// not.
static __device__ bool rotatePair(double *a, double *b, Int m, double tolerance)
{
    Int lane = threadIdx.x % 32;
    double first = 0, second = 0, inner = 0;
    for (Int j = lane; j < m; j += 32) {
        double x = a[j], y = b[j];
        first += x * x;
        second += y * y;
        inner += x * y;
    }
    first = warpSum(first);
    second = warpSum(second);
    inner = warpSum(inner);
    bool swapped = first < second;
    if (swapped) {
        double one = first;
        first = second;
        second = one;
    }
    bool orthogonal = fabs(inner) <= tolerance * sqrt(first) * sqrt(second);
    if (orthogonal && !swapped) return false;
    double cosine = 1, sine = 0;
    if (!orthogonal) { // the smaller angle
        double zeta = (second - first) / (2 * inner);
        double tangent = 1 / (fabs(zeta) + sqrt(1 + zeta * zeta));
        if (zeta < 0) tangent = -tangent;
        cosine = 1 / sqrt(1 + tangent * tangent);
        sine = cosine * tangent;
    }
    for (Int j = lane; j < m; j += 32) {
        double x = swapped ? b[j] : a[j], y = swapped ? a[j] : b[j];
        a[j] = cosine * x - sine * y;
        b[j] = sine * x + cosine * y;
    }
    return !orthogonal;
}

// Rotates the k rows of t until all are orthogonal, as many disjoint pairs at a time as there are
// warps: in each round of a sweep every row is in one pair (the circle method of tournaments).
static __device__ bool orthogonalRows(double *t, Int k, Int m)
{
    const int most = 60; // sweeps
    Int players = k + k % 2, warp = threadIdx.x / 32;
    double tolerance = (double)m * 0x1p-53;
    for (int sweep = 0; sweep < most; sweep++) {
        double rotated = 0; // by the thread's warp
        __syncthreads();
        for (Int round = 0; round < players - 1; round++) {
            for (Int q = warp; q < players / 2; q += BLOCK / 32) {
                Int i = q == 0 ? players - 1 : round + q, j = round + players - 1 - q; // modulo players − 1
                if (q > 0 && i >= players - 1) i -= players - 1;
                if (j >= players - 1) j -= players - 1;
                if (i > j) {
                    Int one = i;
                    i = j;
                    j = one;
                }
                if (j < k && rotatePair(t + i * m, t + j * m, m, tolerance)) rotated = 1;
            }
            __syncthreads();
        }
        if (blockMax(rotated) == 0) return true;
    }
    return false;
}

// The singular values of the m×n w in descending order, and the left singular vectors, as rows of
// out, by Jacobi's rotations of a pivoted factor; see package jacobi. *failed is set where they do
// not end. One block.
extern "C" __global__ void left_singular(double *w, double *t, double *work, Int m, Int n, REAL *out, int *failed)
{
    Int lane = threadIdx.x % 32, warp = threadIdx.x / 32, rows = m < n ? m : n;
    double *square = work, *length = work + m, *v = work + 2 * m;
    for (Int q = threadIdx.x; q < rows * (m + 1); q += BLOCK) out[q] = 0;
    if (*failed != 0) return;
    double largest = 0;
    for (Int q = threadIdx.x; q < m * n; q += BLOCK)
        if (fabs(w[q]) > largest) largest = fabs(w[q]);
    largest = blockMax(largest);
    if (largest < 1e-290) largest = 1e-290; // its reciprocal is finite
    for (Int q = threadIdx.x; q < m * n; q += BLOCK) w[q] = w[q] / largest;
    __syncthreads();
    Int k = pivotedFactor(w, m, n, t, square, v);
    __syncthreads();
    if (!orthogonalRows(t, k, m)) {
        if (threadIdx.x == 0) *failed = 1;
        return;
    }
    for (Int i = warp; i < k; i += BLOCK / 32) {
        double s = warpSquare(t + i * m, m);
        if (lane == 0) length[i] = sqrt(s);
    }
    __syncthreads();
    for (Int i = warp; i < k; i += BLOCK / 32) {
        const double *row = t + i * m;
        Int rank = 0;
        for (Int j = 0; j < k; j++) rank += length[j] > length[i] || length[j] == length[i] && j < i;
        // The first of the largest elements, to six digits, is positive.
        double most = 0, first = -(double)m;
        for (Int j = lane; j < m; j += 32)
            if (fabs(row[j]) > most) most = fabs(row[j]);
        most = warpMax(most) * (1 - 1e-6);
        for (Int j = lane; j < m; j += 32)
            if (fabs(row[j]) >= most && -(double)j > first) first = -(double)j;
        Int at = (Int)-warpMax(first);
        double signedLength = row[at] < 0 ? -length[i] : length[i];
        REAL *line = out + rank * (m + 1);
        if (lane == 0) line[0] = (REAL)(length[i] * largest);
        for (Int j = lane; j < m; j += 32) line[1 + j] = (REAL)(row[j] / signedLength);
    }
}

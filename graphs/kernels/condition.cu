// The reciprocal condition number of one matrix, or of each of a batch, by one block each.

// The largest order of estimate_condition: its vectors are in shared memory.
#define CONDITION_ORDER 512

// Solves L L' x = x, by blocks of 32 rows: the first warp solves a block, of which each lane has an
// element, and all warps take the solved part off the rest. All threads call it; reciprocal has 1/L_ii.
static __device__ void solveHere(const REAL *l, const double *reciprocal, Int n, double *x)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (Int b = 0; b < n; b += 32) {
        for (Int i = b + warp; i < b + 32 && i < n; i += BLOCK / 32) {
            double s = 0;
            for (Int j = lane; j < b; j += 32) s += (double)l[i * n + j] * x[j];
            s = warpSum(s);
            if (lane == 0) x[i] -= s;
        }
        __syncthreads();
        Int i = b + lane, size = n - b < 32 ? n - b : 32;
        if (warp == 0) {
            double v = i < n ? x[i] : 0;
            for (int j = 0; j < size; j++) {
                double y = __shfl_sync(0xffffffffu, v, j) * reciprocal[b + j];
                if (lane == j) v = y;
                if (lane > j && i < n) v -= (double)l[i * n + b + j] * y;
            }
            if (i < n) x[i] = v;
        }
        __syncthreads();
    }
    for (Int b = (n - 1) / 32 * 32; b >= 0; b -= 32) {
        Int i = b + lane, size = n - b < 32 ? n - b : 32;
        if (warp == 0) {
            double v = i < n ? x[i] : 0;
            for (int j = (int)size - 1; j >= 0; j--) {
                double y = __shfl_sync(0xffffffffu, v, j) * reciprocal[b + j];
                if (lane == j) v = y;
                if (lane < j) v -= (double)l[(b + j) * n + i] * y;
            }
            if (i < n) x[i] = v;
        }
        __syncthreads();
        for (Int q = threadIdx.x; q < b; q += BLOCK) {
            double s = 0;
            for (Int j = b; j < b + size; j++) s += (double)l[j * n + q] * x[j];
            x[q] -= s;
        }
        __syncthreads();
    }
}

// The sum of the absolute values of a vector in shared memory.
static __device__ double sumHere(const double *x, Int n)
{
    double s = 0;
    for (Int i = threadIdx.x; i < n; i += BLOCK) s += fabs(x[i]);
    return blockSum(s);
}

// The largest sum of absolute values of a row, negative if one is NaN.
static __device__ double normHere(const REAL *a, Int n)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    double largest = 0, bad = 0;
    for (Int i = warp; i < n; i += BLOCK / 32) {
        double s = 0;
        for (Int j = lane; j < n; j += 32) s += fabs((double)a[i * n + j]);
        s = warpSum(s);
        if (s > largest) largest = s;
        if (s != s) bad = 1;
    }
    largest = blockMax(largest);
    return blockMax(bad) > 0 ? -1 : largest;
}

// Higham's estimate as in factor.cu and on the host, in double, for A = L L' of an order of at most
// CONDITION_ORDER. One block.
extern "C" __global__ void estimate_condition(const REAL *a, const REAL *l, Int n, Int searches, REAL *out)
{
    __shared__ double x[CONDITION_ORDER], signs[CONDITION_ORDER], reciprocal[CONDITION_ORDER];
    double norm = normHere(a, n), estimate = 0;
    for (Int i = threadIdx.x; i < n; i += BLOCK) {
        reciprocal[i] = 1 / (double)l[i * n + i];
        x[i] = 1.0 / (double)n;
        signs[i] = 0;
    }
    __syncthreads();
    Int last = -1;
    for (Int k = 0; k < searches; k++) {
        solveHere(l, reciprocal, n, x);
        double sum = sumHere(x, n), before = estimate, changed = 0;
        for (Int i = threadIdx.x; i < n; i += BLOCK) {
            x[i] = copysign(1.0, x[i]);
            if (x[i] != signs[i]) changed = 1;
            signs[i] = x[i];
        }
        changed = blockMax(changed);
        if (!(sum <= estimate)) estimate = sum;
        if (changed == 0 || sum <= before) break;
        solveHere(l, reciprocal, n, x);
        double largest = -1, first = n;
        for (Int i = threadIdx.x; i < n; i += BLOCK)
            if (fabs(x[i]) > largest) largest = fabs(x[i]);
        largest = blockMax(largest);
        for (Int i = threadIdx.x; i < n; i += BLOCK)
            if (fabs(x[i]) == largest && i < first) first = i;
        first = -blockMax(-first);
        if (first == n || last >= 0 && fabs(x[last]) == largest) break;
        last = (Int)first;
        __syncthreads(); // all have read x
        for (Int i = threadIdx.x; i < n; i += BLOCK) x[i] = i == last ? 1 : 0;
        __syncthreads();
    }
    __syncthreads(); // all have read x
    for (Int i = threadIdx.x; i < n; i += BLOCK) x[i] = (i % 2 ? -1.0 : 1.0) * (1 + (n > 1 ? (double)i / (double)(n - 1) : 0));
    __syncthreads();
    solveHere(l, reciprocal, n, x);
    double alternate = 2 * sumHere(x, n) / (3.0 * (double)n);
    if (alternate > estimate) estimate = alternate;
    if (threadIdx.x == 0) *out = (REAL)(norm > 0 && estimate > 0 ? 1 / norm / estimate : 0);
}

// Lloyd's iteration of k-means from several starts at once. A start s has k of the
// starts·k centres, one column of labels, and of the assignment (n×3·starts) the columns s
// (label), starts + s (squared distance) and 2·starts + s (1 where the label has changed).

#define LABEL(i) assignment[(i) * 3 * starts + s]
#define AWAY(i) assignment[((i) * 3 + 1) * starts + s]

// A label as an integer, −1 for that of no cluster.
static __device__ Int labelOf(REAL v, Int k) { return v >= 0 && v < k ? (Int)v : -1; }

// The label of a point, where its cluster has others; −1 elsewhere.
static __device__ Int shared(REAL v, const REAL *size, Int k)
{
    Int label = labelOf(v, k);
    return label >= 0 && size[label] > 1 ? label : -1;
}

// −½|x−c|² of each point, a row, and centre, a column. Differences are squared and added one
// after the other, without contraction, as on the host.
extern "C" __global__ void half_distances(const REAL *x, const REAL *centres, Int n, Int m, Int d, REAL *out)
{
    EACH_PAIR(q, i, c, n * m, m)
    {
        const REAL *a = x + i * d, *b = centres + c * d;
        REAL s = 0;
        for (Int j = 0; j < d; j++) s += times(a[j] - b[j], a[j] - b[j]);
        out[q] = -s / 2;
    }
}

// The nearest of the k centres of each start, of centres as near the first, from the products
// p (n×starts·k) and −½|x|² and −½|c|², or from −½|x−c|² in their place (direct). Rows that do
// not count have zeros.
extern "C" __global__ void nearest_centres(const REAL *p, const REAL *hx, const REAL *hc, const REAL *labels, const REAL *count, Int n, Int starts, Int k, Int direct, REAL *out)
{
    Int stay = leadingRows(*count, n);
    EACH_PAIR(q, i, s, n * starts, starts)
    {
        Int best = 0;
        REAL *to = out + i * 3 * starts + s;
        const REAL *row = p + i * starts * k + s * k, *half = hc + s * k;
        REAL most = direct ? row[0] : row[0] + half[0];
        for (Int c = 1; c < k; c++) {
            REAL v = direct ? row[c] : row[c] + half[c];
            if (v > most) {
                most = v;
                best = c;
            }
        }
        REAL away = -2 * (direct ? most : most + hx[i]);
        to[0] = i < stay ? (REAL)best : (REAL)0;
        to[starts] = i < stay && away > 0 ? away : (REAL)0;
        to[2 * starts] = i < stay && labels[q] != best ? (REAL)1 : (REAL)0;
    }
}

// The labels, with the farthest point of a cluster of several in each cluster without points.
// One block a start; sizes has place for the k sizes of each.
extern "C" __global__ void refill_clusters(const REAL *assignment, const REAL *count, REAL *sizes, Int n, Int starts, Int k, REAL *out)
{
    Int stay = leadingRows(*count, n);
    for (Int s = blockIdx.x; s < starts; s += gridDim.x) {
        REAL *size = sizes + s * k;
        for (Int i = threadIdx.x; i < n; i += BLOCK) out[i * starts + s] = i < stay ? LABEL(i) : (REAL)0;
        for (Int c = 0; c < k; c++) {
            double members = 0;
            for (Int i = threadIdx.x; i < stay; i += BLOCK) members += labelOf(LABEL(i), k) == c;
            members = blockSum(members);
            if (threadIdx.x == 0) size[c] = (REAL)members;
        }
        __syncthreads();
        for (Int c = 0; c < k; c++) {
            if (size[c] > 0) continue;
            double far = -1, first = -infinity();
            for (Int i = threadIdx.x; i < stay; i += BLOCK) {
                if (shared(out[i * starts + s], size, k) >= 0 && AWAY(i) > far) far = AWAY(i);
            }
            far = blockMax(far);
            for (Int i = threadIdx.x; i < stay; i += BLOCK) {
                bool farthest = shared(out[i * starts + s], size, k) >= 0 && AWAY(i) == far;
                if (farthest && -(double)i > first) first = -(double)i;
            }
            first = blockMax(first);
            if (threadIdx.x == 0 && far >= 0) {
                Int i = (Int)-first;
                size[labelOf(out[i * starts + s], k)] -= 1;
                out[i * starts + s] = (REAL)c;
                size[c] = 1;
            }
            __syncthreads();
        }
    }
}

// Ones where a point, a row, belongs to a cluster, a column; n×starts·k.
extern "C" __global__ void memberships(const REAL *labels, const REAL *count, Int n, Int starts, Int k, REAL *out)
{
    Int stay = leadingRows(*count, n), cols = starts * k;
    EACH_TRIPLE(q, i, s, c, n * cols, starts, k)
    out[q] = i < stay && labelOf(labels[i * starts + s], k) == c ? (REAL)1 : (REAL)0;
}

// Rows of sums over sizes, in place; zeros where the size is zero.
extern "C" __global__ void means_of_sums(const REAL *sizes, Int rows, Int cols, REAL *out)
{
    EACH_PAIR(q, i, j, rows * cols, cols)
    {
        REAL size = sizes[i];
        out[q] = size > 0 ? out[q] / size : (REAL)0;
    }
}

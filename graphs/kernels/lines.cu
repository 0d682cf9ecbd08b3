// Reductions and softmax along one axis. A tensor is outer×length×inner here; a
// line has length elements, which are inner apart.

// Lines are reduced in two steps, so that few long ones keep many threads busy: chunk c
// of a line has the elements from c·chunk on.

extern "C" __global__ void sum_lines(const REAL *in, Int outer, Int length, Int inner, Int chunk, Int chunks, double *parts)
{
    EACH_TRIPLE(k, o, c, i, outer * chunks * inner, chunks, inner)
    {
        Int end = (c + 1) * chunk < length ? (c + 1) * chunk : length;
        double s = 0;
        for (Int j = c * chunk; j < end; j++) s += in[(o * length + j) * inner + i];
        parts[k] = s;
    }
}

extern "C" __global__ void sum_chunks(const double *parts, Int outer, Int chunks, Int inner, REAL *out)
{
    EACH_PAIR(k, o, i, outer * inner, inner)
    {
        double s = 0;
        for (Int c = 0; c < chunks; c++) s += parts[(o * chunks + c) * inner + i];
        out[k] = (REAL)s;
    }
}

// The largest number of a chunk. The host compares in the order of the line, and NaN
// is larger than nothing: along the first axis of a tensor, a NaN at the start of the
// line stays and others are passed over; along others (latest), the elements behind
// the last NaN count. With latest, restart says whether a chunk had a NaN: what was
// before it does not matter.
extern "C" __global__ void max_lines(const REAL *in, Int outer, Int length, Int inner, Int chunk, Int chunks, Int latest, REAL *out, double *restart)
{
    EACH_TRIPLE(k, o, c, i, outer * chunks * inner, chunks, inner)
    {
        Int end = (c + 1) * chunk < length ? (c + 1) * chunk : length;
        REAL m = in[(o * length + c * chunk) * inner + i];
        bool seen = m != m;
        for (Int j = c * chunk + 1; j < end; j++) {
            REAL v = in[(o * length + j) * inner + i];
            if (latest) {
                if (!(m > v)) m = v;
                seen = seen || v != v;
            } else if (v > m || (c > 0 && m != m))
                m = v;
        }
        out[k] = m;
        restart[k] = seen ? 1 : 0;
    }
}

extern "C" __global__ void max_chunks(const REAL *in, const double *restart, Int outer, Int chunks, Int inner, Int latest, REAL *out)
{
    EACH_PAIR(k, o, i, outer * inner, inner)
    {
        REAL m = in[o * chunks * inner + i];
        for (Int c = 1; c < chunks; c++) {
            Int at = (o * chunks + c) * inner + i;
            REAL v = in[at];
            if (latest ? restart[at] != 0 || !(m > v) : v > m) m = v;
        }
        out[k] = m;
    }
}

// exp x_j / Σ exp x, or its logarithm; one block a line.
extern "C" __global__ void softmax(const REAL *in, Int outer, Int length, Int inner, Int logarithm, REAL *out)
{
    for (Places<1> line(blockIdx.x, gridDim.x, inner); line.at < outer * inner; line.next()) {
        Int first = line.index[1] * length * inner + line.index[0];
        double top = -infinity();
        for (Int j = threadIdx.x; j < length; j += BLOCK) {
            double v = in[first + j * inner];
            if (v > top) top = v;
        }
        top = blockMax(top);
        double s = 0;
        for (Int j = threadIdx.x; j < length; j += BLOCK) s += exp(in[first + j * inner] - top);
        s = blockSum(s);
        double whole = logarithm ? log(s) : s;
        for (Int j = threadIdx.x; j < length; j += BLOCK) {
            double z = in[first + j * inner] - top;
            out[first + j * inner] = (REAL)(logarithm ? z - whole : exp(z) / whole);
        }
    }
}

// From the result y and the derivative g by it: (g − Σ g∘y) ∘ y, or of the logarithm
// g − exp(y) Σ g.
extern "C" __global__ void softmax_gradient(const REAL *y, const REAL *g, Int outer, Int length, Int inner, Int logarithm, REAL *out)
{
    for (Places<1> line(blockIdx.x, gridDim.x, inner); line.at < outer * inner; line.next()) {
        Int first = line.index[1] * length * inner + line.index[0];
        double s = 0;
        for (Int j = threadIdx.x; j < length; j += BLOCK) {
            Int at = first + j * inner;
            s += logarithm ? (double)g[at] : (double)g[at] * (double)y[at];
        }
        s = blockSum(s);
        for (Int j = threadIdx.x; j < length; j += BLOCK) {
            Int at = first + j * inner;
            out[at] = (REAL)(logarithm ? g[at] - exp((double)y[at]) * s : (g[at] - s) * y[at]);
        }
    }
}

// The projection of a row onto the simplex: max(x − τ, 0), where τ makes the sum 1.
// An element belongs to the support if 1 + r x > s for its rank r and the sum s of
// the elements up to it, from the largest. One block a row.
extern "C" __global__ void sparsemax(const REAL *in, Int rows, Int cols, REAL *out)
{
    for (Int i = blockIdx.x; i < rows; i += gridDim.x) {
        const REAL *x = in + i * cols;
        double top = -infinity();
        for (Int j = threadIdx.x; j < cols; j += BLOCK)
            if (x[j] > top) top = x[j];
        top = blockMax(top);
        double sum = 0, count = 0;
        for (Int j = threadIdx.x; j < cols; j += BLOCK) {
            double z = x[j] - top, rank = 0, above = 0;
            for (Int l = 0; l < cols; l++)
                if (x[l] > x[j] || (x[l] == x[j] && l <= j)) {
                    rank++;
                    above += x[l] - top;
                }
            if (1 + rank * z > above) {
                sum += z;
                count++;
            }
        }
        sum = blockSum(sum);
        count = blockSum(count);
        double threshold = (sum - 1) / count;
        for (Int j = threadIdx.x; j < cols; j += BLOCK) {
            double v = x[j] - top - threshold;
            out[i * cols + j] = (REAL)(v > 0 ? v : 0);
        }
    }
}

// g minus its mean over the support of y, on the support. One block a row.
extern "C" __global__ void sparsemax_gradient(const REAL *y, const REAL *g, Int rows, Int cols, REAL *out)
{
    for (Int i = blockIdx.x; i < rows; i += gridDim.x) {
        double sum = 0, count = 0;
        for (Int j = threadIdx.x; j < cols; j += BLOCK)
            if (y[i * cols + j] != 0) {
                sum += g[i * cols + j];
                count++;
            }
        sum = blockSum(sum);
        count = blockSum(count);
        for (Int j = threadIdx.x; j < cols; j += BLOCK)
            out[i * cols + j] = (REAL)(y[i * cols + j] != 0 ? g[i * cols + j] - sum / count : 0);
    }
}

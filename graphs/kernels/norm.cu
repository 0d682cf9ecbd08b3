// Standardised channels. A tensor is batch×channels×inner here, and a channel has
// batch·inner elements: gorgonia's normalisation of batches, and of groups with a
// batch of one. One block a channel.

#define CHANNEL(j) ((j) / inner * channels * inner + c * inner + (j) % inner)

// (x − m)/√(v + ε) with the mean m and the variance v of each channel, which are left
// in mean and variance.
extern "C" __global__ void standardise(const REAL *in, Int batch, Int channels, Int inner, double epsilon, REAL *out, double *mean, double *variance)
{
    Int n = batch * inner;
    for (Int c = blockIdx.x; c < channels; c += gridDim.x) {
        double m = 0, v = 0;
        for (Int j = threadIdx.x; j < n; j += BLOCK) m += in[CHANNEL(j)];
        m = blockSum(m) / n;
        for (Int j = threadIdx.x; j < n; j += BLOCK) {
            double d = in[CHANNEL(j)] - m;
            v += d * d;
        }
        v = blockSum(v) / n;
        double by = 1 / sqrt(v + epsilon);
        for (Int j = threadIdx.x; j < n; j += BLOCK) out[CHANNEL(j)] = (REAL)((in[CHANNEL(j)] - m) * by);
        if (threadIdx.x == 0) {
            mean[c] = m;
            variance[c] = v;
        }
    }
}

// (x − m)/√(v + ε) with given m and v.
extern "C" __global__ void standardise_by(const REAL *in, const double *mean, const double *variance, Int batch, Int channels, Int inner, double epsilon, REAL *out)
{
    EACH(k, batch * channels * inner)
    {
        Int c = k / inner % channels;
        out[k] = (REAL)((in[k] - mean[c]) * (1 / sqrt(variance[c] + epsilon)));
    }
}

// The derivative of standardise, from its operand and the derivative g by its result:
// (g − ḡ − (x − m) Σ(x − m)g / (n(v + ε)))/√(v + ε).
extern "C" __global__ void standardise_gradient(const REAL *in, const REAL *g, Int batch, Int channels, Int inner, double epsilon, REAL *out)
{
    Int n = batch * inner;
    for (Int c = blockIdx.x; c < channels; c += gridDim.x) {
        double m = 0, v = 0, level = 0, slope = 0;
        for (Int j = threadIdx.x; j < n; j += BLOCK) m += in[CHANNEL(j)];
        m = blockSum(m) / n;
        for (Int j = threadIdx.x; j < n; j += BLOCK) {
            double d = in[CHANNEL(j)] - m;
            v += d * d;
            level += g[CHANNEL(j)];
            slope += d * g[CHANNEL(j)];
        }
        v = blockSum(v) / n;
        level = blockSum(level) / n;
        slope = blockSum(slope) / n;
        double by = 1 / sqrt(v + epsilon);
        for (Int j = threadIdx.x; j < n; j += BLOCK) {
            double d = in[CHANNEL(j)] - m;
            out[CHANNEL(j)] = (REAL)((g[CHANNEL(j)] - level - d * (slope * by * by)) * by);
        }
    }
}

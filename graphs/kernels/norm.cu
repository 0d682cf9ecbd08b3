// Standardised channels. A tensor is batch×channels×inner here, and a channel has
// batch·inner elements: gorgonia's normalisation of batches, and of groups with a
// batch of one. One block a channel.

// Elements j of channel c for the threads of a block, at some place of the tensor.
#define EACH_CHANNEL(at) BLOCK_PLACE(1, j, n, inner) if (Int at = (j.index[1] * channels + c) * inner + j.index[0]; true)

// (x − m)/√(v + ε) with the mean m and the variance v of each channel, which are left
// in mean and variance.
extern "C" __global__ void standardise(const REAL *in, Int batch, Int channels, Int inner, double epsilon, REAL *out, double *mean, double *variance)
{
    Int n = batch * inner;
    for (Int c = blockIdx.x; c < channels; c += gridDim.x) {
        double m = 0, v = 0;
        EACH_CHANNEL(at) m += in[at];
        m = blockSum(m) / n;
        EACH_CHANNEL(at)
        {
            double d = in[at] - m;
            v += d * d;
        }
        v = blockSum(v) / n;
        double by = 1 / sqrt(v + epsilon);
        EACH_CHANNEL(at) out[at] = (REAL)((in[at] - m) * by);
        if (threadIdx.x == 0) {
            mean[c] = m;
            variance[c] = v;
        }
    }
}

// (x − m)/√(v + ε) with given m and v.
extern "C" __global__ void standardise_by(const REAL *in, const double *mean, const double *variance, Int batch, Int channels, Int inner, double epsilon, REAL *out)
{
    EACH_TRIPLE(k, b, c, i, batch * channels * inner, channels, inner)
    out[k] = (REAL)((in[k] - mean[c]) * (1 / sqrt(variance[c] + epsilon)));
}

// The derivative of standardise, from its operand and the derivative g by its result:
// (g − ḡ − (x − m) Σ(x − m)g / (n(v + ε)))/√(v + ε).
extern "C" __global__ void standardise_gradient(const REAL *in, const REAL *g, Int batch, Int channels, Int inner, double epsilon, REAL *out)
{
    Int n = batch * inner;
    for (Int c = blockIdx.x; c < channels; c += gridDim.x) {
        double m = 0, v = 0, level = 0, slope = 0;
        EACH_CHANNEL(at) m += in[at];
        m = blockSum(m) / n;
        EACH_CHANNEL(at)
        {
            double d = in[at] - m;
            v += d * d;
            level += g[at];
            slope += d * g[at];
        }
        v = blockSum(v) / n;
        level = blockSum(level) / n;
        slope = blockSum(slope) / n;
        double by = 1 / sqrt(v + epsilon);
        EACH_CHANNEL(at)
        {
            double d = in[at] - m;
            out[at] = (REAL)((g[at] - level - d * (slope * by * by)) * by);
        }
    }
}

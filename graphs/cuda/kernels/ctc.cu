// Connectionist temporal classification (Graves et al., 2006), as gorgonia computes it.
//
// logp has steps×batch×classes logarithms of probabilities; class 0 is the blank. Member
// b of the batch takes lengths[b] steps, and has counts[b] labels: from b * stride on, or
// with a stride of 0 behind those of the members before it. With blanks around them they
// are 2 counts[b] + 1 states. A member's paths are a matrix of steps by its states, from
// steps * (2 * begin + b) on, in alpha and in beta, where begin is its first label.

#define PROBLEM const REAL *logp, const Int *labels, const Int *lengths, const Int *counts, Int steps, Int batch, Int classes, Int total, Int stride

struct Member {
    Int b, length, count, states, begin, paths;
    const Int *labels;
};

// False for a member that has no such labels or steps, which the host refuses.
static __device__ bool memberOf(Int b, const Int *labels, const Int *lengths, const Int *counts, Int steps, Int classes, Int total, Int stride, Member *m)
{
    Int begin = b * stride;
    if (stride == 0)
        for (Int i = 0; i < b; i++) {
            if (counts[i] < 0 || counts[i] > total) return false;
            begin += counts[i];
        }
    Int count = counts[b], length = lengths[b];
    if (count < 0 || count > (stride > 0 ? stride : total - begin) || length < 1 || length > steps) return false;
    for (Int i = 0; i < count; i++)
        if (labels[begin + i] < 0 || labels[begin + i] >= classes) return false;
    m->b = b;
    m->length = length;
    m->count = count;
    m->states = 2 * count + 1;
    m->begin = begin;
    m->paths = steps * (2 * begin + b);
    m->labels = labels + begin;
    return true;
}

// The class of a state: blanks are between the labels.
static __device__ Int classOf(const Member &m, Int state) { return state % 2 == 0 ? 0 : m.labels[state / 2]; }

// log(exp a + exp b + exp c); a state without paths has the logarithm of zero.
static __device__ double logSum(double a, double b, double c)
{
    double largest = a;
    if (b > largest) largest = b;
    if (c > largest) largest = c;
    if (largest == -infinity()) largest = 0;
    return log(exp(a - largest) + exp(b - largest) + exp(c - largest)) + largest;
}

// The logarithms of the sums over all paths that lead to a state at a step, and in losses
// what each member adds to the loss: −log p, with mean divided by its number of labels and
// by the batch. Without labels gorgonia takes log p. One block a member.
extern "C" __global__ void ctc_paths_to(PROBLEM, Int mean, double *alpha, double *likelihoods, double *losses, int *failed)
{
    for (Int b = blockIdx.x; b < batch; b += gridDim.x) {
        Member m;
        if (!memberOf(b, labels, lengths, counts, steps, classes, total, stride, &m)) {
            if (threadIdx.x == 0) *failed = 1;
            continue;
        }
        double *a = alpha + m.paths;
        for (Int s = threadIdx.x; s < m.states; s += BLOCK)
            a[s] = s < 2 ? (double)logp[b * classes + classOf(m, s)] : -infinity();
        __syncthreads();
        for (Int t = 1; t < m.length; t++) {
            const double *before = a + (t - 1) * m.states;
            for (Int s = threadIdx.x; s < m.states; s += BLOCK) {
                bool skips = s > 1 && classOf(m, s - 2) != classOf(m, s);
                a[t * m.states + s] = logSum(before[s], s > 0 ? before[s - 1] : -infinity(), skips ? before[s - 2] : -infinity()) +
                                      logp[(t * batch + b) * classes + classOf(m, s)];
            }
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            const double *last = a + (m.length - 1) * m.states;
            double p = last[0];
            if (m.count > 0) p = -logSum(last[2 * m.count], last[2 * m.count - 1], -infinity());
            likelihoods[b] = p;
            losses[b] = mean ? p / (double)(m.count > 1 ? m.count : 1) / (double)batch : p;
        }
    }
}

// The logarithms of the sums over all paths from a state at a step to the end. One block a
// member.
extern "C" __global__ void ctc_paths_from(PROBLEM, double *beta)
{
    for (Int b = blockIdx.x; b < batch; b += gridDim.x) {
        Member m;
        if (!memberOf(b, labels, lengths, counts, steps, classes, total, stride, &m)) continue;
        double *a = beta + m.paths;
        for (Int t = m.length - 1; t >= 0; t--) {
            const double *after = a + (t + 1) * m.states;
            for (Int s = threadIdx.x; s < m.states; s += BLOCK) {
                double p = logp[(t * batch + b) * classes + classOf(m, s)];
                if (t == m.length - 1) {
                    if (s < m.states - 2) p = -infinity();
                } else {
                    bool skips = s + 2 < m.states && classOf(m, s + 2) != classOf(m, s);
                    p += logSum(after[s], s + 1 < m.states ? after[s + 1] : -infinity(), skips ? after[s + 2] : -infinity());
                }
                a[t * m.states + s] = p;
            }
            __syncthreads();
        }
    }
}

// gorgonia's derivative of the sum of the losses by logp, times g: that of the loss behind
// a softmax, (exp logp − exp(sum over the states of a class + −log p − logp)) g. It is −∞
// behind a member's last step.
extern "C" __global__ void ctc_gradient(PROBLEM, const double *alpha, const double *beta, const double *likelihoods, const REAL *g, REAL *out)
{
    EACH(k, steps * batch * classes)
    {
        Int c = k % classes, b = k / classes % batch, t = k / classes / batch;
        Member m;
        if (!memberOf(b, labels, lengths, counts, steps, classes, total, stride, &m)) continue;
        if (t >= m.length) {
            out[k] = (REAL)-infinity();
            continue;
        }
        double sum = -infinity();
        for (Int s = m.states - 1; s >= 0; s--)
            // A last label that is the blank counts alone at the last step.
            if (classOf(m, s) == c && !(t == m.length - 1 && s == 2 * m.count && s > 0 && classOf(m, s - 1) == 0)) {
                Int at = m.paths + t * m.states + s;
                double both = alpha[at] + beta[at];
                sum = sum == -infinity() ? both : logSum(sum, both, -infinity());
            }
        double p = logp[k];
        out[k] = (REAL)((exp(p) - exp(sum + likelihoods[b] - p)) * *g);
    }
}

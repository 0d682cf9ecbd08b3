"""The same work in common libraries, on one thread.

Requests are lines of JSON on standard input, answers lines of JSON on standard output.
The first answer, without a request, says what is installed. A request names a work, an
element type, the sizes of the input and how often the work is to be done; the answer has
the processor time of one call and a number of its result. Inputs are formulas, so that
both sides compute the same, and are kept until a request asks for others.
"""

import json
import platform
import sys
import time

import numpy as np

try:
    import scipy
    import scipy.linalg
    from scipy.spatial.distance import cdist
except ImportError:
    scipy = None

try:
    from sklearn.metrics.pairwise import rbf_kernel
except ImportError:
    rbf_kernel = None


def wave(rows, cols, rate):
    """Full-rank numbers in (-1, 1): the sines of a quadratic phase."""
    k = np.arange(1.0, rows * cols + 1)
    k *= k
    k *= rate
    return np.sin(k, out=k).reshape(rows, cols)


def squared_distances(x, y):
    s = x @ y.T
    s *= -2
    s += (x * x).sum(1)[:, None]
    s += (y * y).sum(1)[None, :]
    return np.maximum(s, 0, out=s)


def eq(x, y, rate):
    """exp(-rate |x-y|^2) of all pairs of rows."""
    s = squared_distances(x, y)
    s *= -rate
    return np.exp(s, out=s)


def kernel(points, dims):
    x = wave(points, dims, 1e-3)
    return [x], lambda x: eq(x, x, 0.5 / dims)


def laplacian(points, dims):
    def run(x):
        s = cdist(x, x, "cityblock")
        s *= -1 / dims
        return np.exp(s, out=s)

    return [wave(points, dims, 1e-3)], run


def hull(queries, samples, dims, columns):
    scale = 1 / np.arange(2.0, dims + 2)
    inputs = [wave(queries, columns, 7e-4), wave(samples, dims, 1e-3), scale,
              1 + np.abs(wave(samples, columns + 1, 1.3e-3))]

    def run(z, x, scale, solutions):
        h = eq(z[:, :dims] * scale, x, 0.5) @ solutions
        return h[:, :-1] / h[:, -1:]

    return inputs, run


def eigenpairs(order, number):
    x = wave(order, order, 1e-3) * 0.95 ** np.arange(order)

    def run(a):
        values, vectors = scipy.linalg.eigh(
            a, subset_by_index=[order - number, order - 1], check_finite=False)
        return values

    return [x.T @ x / order], run


def gradient(n, dims):
    """By x, of the sum of K(x, y) times weights."""
    rate = 0.5 / dims

    def run(x, y, weights):
        w = eq(x, y, rate)
        w *= weights
        return -2 * rate * (w.sum(1)[:, None] * x - w @ y)

    return [wave(n, dims, 1e-3), wave(n, dims, 7e-4), wave(n, n, 1.3e-3)], run


def product(order):
    inputs = [wave(order, order, 1e-3), wave(order, order, 7e-4), np.zeros((order, order))]
    return inputs, lambda a, b, c: np.matmul(a, b, out=c)


def cholesky(order):
    i = np.arange(1.0, order + 1)
    a = np.multiply.outer(i, i)
    a *= 0.7
    np.sin(a, out=a)
    a[np.diag_indices(order)] += order

    def run(a, factor):
        if not scipy:
            return np.linalg.cholesky(a)
        np.copyto(factor, a)  # LAPACK takes the transpose of a row-major matrix in place
        return scipy.linalg.cholesky(factor.T, lower=False, overwrite_a=True, check_finite=False)

    return [a, np.empty_like(a)], run


def features(rows, tests, columns, classes):
    """Kernel discriminant components of an RBF kernel (Eq. 8 of Chanyaswad, Chang and Kung),
    of training and test rows. One factor of the centred matrix serves all components: with
    X_j = (K + ridge I)^-j U for orthonormal U that span the class indicators, the powers are
    the eigenvalues of a small matrix, a series in signal/power."""
    ridge, signal, gamma = 10, 1e-4, 0.01
    number = classes - 1
    x = 0.5 * wave(rows + tests, columns, 1e-3)
    labels = np.arange(rows + tests) % classes
    x += 0.5 * np.sin(1.0 * labels[:, None] + np.arange(1.0, columns + 1))
    indicators = (labels[:rows, None] == np.arange(classes)).astype(float)
    indicators /= np.linalg.norm(indicators, axis=0)
    u = np.linalg.svd(indicators - indicators.mean(0), full_matrices=False)[0][:, :number]
    between = rbf_kernel or eq

    def run(train, test, u):
        k = between(train, train, gamma)
        means = k.mean(0)
        k -= means
        k -= means[:, None]
        k += means.mean()
        k[np.diag_indices(rows)] += ridge
        factor = scipy.linalg.cho_factor(k.T, lower=False, overwrite_a=True, check_finite=False)
        terms = [u]
        for _ in range(3):
            terms.append(scipy.linalg.cho_solve(factor, terms[-1], check_finite=False))
        images = [a - ridge * b for a, b in zip(terms, terms[1:])]  # K X_j
        small = [u.T @ i for i in images]
        a, z = np.empty((rows, number)), np.empty((rows, number))
        for c in range(number):
            delta = 0
            for _ in range(5):
                f = sum(delta**j * s for j, s in enumerate(small))
                powers, vectors = np.linalg.eigh((f + f.T) / 2)
                delta = signal / powers[c]
            v = vectors[:, c]
            a[:, c] = sum(delta**j * t @ v for j, t in enumerate(terms[1:]))
            z[:, c] = sum(delta**j * i @ v for j, i in enumerate(images))
            norm = np.sqrt(z[:, c] @ z[:, c] + ridge * (a[:, c] @ z[:, c]))
            a[:, c] /= norm
            z[:, c] /= norm
        return np.vstack([z, between(test, train, gamma) @ a - means @ a])

    return [x[:rows], x[rows:], u], run


def exponential(numbers):
    return [10 * wave(1, numbers, 1e-3)], np.exp


WORKS = {
    "kernel": (kernel, "NumPy"),
    "laplacian": (laplacian, "SciPy"),
    "hull": (hull, "NumPy"),
    "eigenpairs": (eigenpairs, "SciPy"),
    "gradient": (gradient, "NumPy"),
    "features": (features, "SciPy" if scipy is None or rbf_kernel is None else "scikit-learn"),
    "product": (product, "NumPy"),
    "cholesky": (cholesky, "SciPy" if scipy else "NumPy"),
    "exponential": (exponential, "NumPy"),
}


def main():
    out = sys.stdout

    def answer(**values):
        print(json.dumps(values), file=out, flush=True)

    versions = [f"Python {platform.python_version()}", f"NumPy {np.__version__}"]
    if scipy:
        versions.append(f"SciPy {scipy.__version__}")
    answer(libraries=", ".join(versions))
    held, inputs, run = None, None, None
    for line in sys.stdin:
        r = json.loads(line)
        work, library = WORKS[r["work"]]
        if library == "SciPy" and not scipy:
            answer(missing="SciPy")
            continue
        wanted = (r["work"], r["dtype"], r["sizes"])
        if held != wanted:
            inputs = run = held = None
            inputs, run = work(*r["sizes"])
            inputs = [a.astype(r["dtype"]) for a in inputs]
            held = wanted
        result = None
        start = time.process_time()
        for _ in range(r["calls"]):
            result = run(*inputs)
        took = time.process_time() - start
        answer(library=library, cpu_s=took / r["calls"],
               result=float(np.linalg.norm(result.astype("float64", copy=False).ravel())))


main()

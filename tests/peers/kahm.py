"""A straightforward kernel affine hull machine in NumPy, to compare with.

    kahm.py check                    values on the formula data of kahm/reference
    kahm.py time ROWS DIM N LAYERS QUERIES
                                     processor seconds to fit one machine, and to
                                     evaluate queries, as JSON

It follows Definitions 1 to 4 of Kumar, Moser and Fischer line by line: a full
eigen-decomposition of the covariance, the fixed-point iteration (43) with one
Cholesky factor a step, and (K + λI)⁻¹k for every query.
"""

import json
import sys
import time

import numpy as np
import scipy.linalg as sl


def fit(y, n, layers):
    rows, p = y.shape
    mean = y.mean(0)
    _, vectors = np.linalg.eigh(np.cov(y.T))
    machine = []
    tau = 2 * (y**2).sum() / (p * rows)
    for d in range(n, n - layers, -1):
        v = vectors[:, ::-1][:, :d].T
        x = y @ v.T
        theta = np.linalg.inv(np.atleast_2d(np.cov(x.T)))
        k = gauss(x, x, theta, d)
        e = tau / 4
        for steps in range(1, 1001):
            b = sl.cho_solve(sl.cho_factor(k + (e + tau) * np.eye(rows), lower=True), y)
            r = ((y - k @ b) ** 2).sum() / (p * rows)
            done = abs(r - e) <= 1e-12 * r
            e = r
            if done:
                break
        factor = sl.cho_factor(k + (e + tau) * np.eye(rows), lower=True)
        machine.append((v, x, theta, d, factor, e + tau, steps))
    return y, mean, machine


def gauss(a, b, theta, d):
    at, bt = a @ theta, b @ theta
    s = (at * a).sum(1)[:, None] + (bt * b).sum(1)[None, :] - 2 * at @ b.T
    return np.exp(-np.maximum(s, 0) / (2 * d))


def distances(model, queries):
    y, _, machine = model
    image, best = queries, np.full(len(queries), np.inf)
    for v, x, theta, d, factor, _, _ in machine:
        h = sl.cho_solve(factor, gauss(x, image @ v.T, theta, d)).T
        image = (h @ y) / h.sum(1)[:, None]
        best = np.minimum(best, np.linalg.norm(queries - image, axis=1))
    return best


def formula(c, rows=40, dim=12):
    i, j = np.arange(1, rows + 1)[:, None], np.arange(1, dim + 1)[None, :]
    return np.sin(0.37 * i * j + i + c) + 0.6 * c * np.cos(0.5 * j)


def queries(dim=12):
    j = np.arange(1, dim + 1)
    return np.array([
        0.8 * np.sin(0.37 * 7.5 * j + 7.5),
        np.sin(0.9 * j + 1) + 0.6 * np.cos(0.5 * j),
        0.3 * np.sin(1.7 * j) + 1.2 * np.cos(0.5 * j),
        1.5 * np.cos(0.11 * j * j),
        np.full(dim, 0.25),
    ])


def check():
    out = {}
    for c in range(3):
        model = fit(formula(c), 5, 3)
        for l, layer in enumerate(model[2]):
            out[f"lambda_c{c}_l{l + 1}"] = layer[5]
            out[f"iterations_c{c}_l{l + 1}"] = layer[6]
        for q, d in enumerate(distances(model, queries())):
            out[f"gamma_q{q + 1}_c{c}"] = d
    return out


def wave(rows, dim, rate):
    k = np.arange(1.0, rows * dim + 1)
    return np.sin(rate * k * k).reshape(rows, dim)


def measure(rows, dim, n, layers, number):
    y = wave(rows, dim, 1e-3)
    q = wave(number, dim, 7e-4)
    start = time.process_time()
    model = fit(y, n, layers)
    built = time.process_time()
    distances(model, q)
    return {"fit_s": built - start, "evaluate_s": time.process_time() - built}


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        print(json.dumps(check()))
    elif len(sys.argv) == 7 and sys.argv[1] == "time":
        print(json.dumps(measure(*map(int, sys.argv[2:]))))
    else:
        sys.exit(__doc__)

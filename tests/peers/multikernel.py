"""Compressive kernels in NumPy, to compare with.

    multikernel.py ROWS FEATURES    values on the formula data of
                                    multikernel/reference, as JSON

It follows Eqs. (8) to (23) of Chanyaswad, Chang and Kung line by line: the dense
generalised eigenproblem on the range of the kernel matrix, compressive kernel
matrices N×N, pseudo-inverses and singular values of them.
"""

import json
import sys

import numpy as np
from scipy.spatial.distance import cdist

RHO, RHO_PRIME, Q = 10, 1e-4, 2


def data(rows, features):
    i, j = np.arange(rows)[:, None], np.arange(features)[None, :]
    x = np.sin(0.7 * i + 1.3 * j) + 0.1 * np.cos(i * j)
    x += 0.6 * np.sin(2 * (i % 3) + j) + 0.4 * np.cos(3 * (i % 4) + 2 * j)
    return x, np.arange(rows) % 3, np.arange(rows) % 4


def between(k, labels):
    """K_B (Eq. 10) of a kernel matrix that is centred."""
    return sum(
        (labels == l).sum() * np.outer(*2 * [k[:, labels == l].mean(1) - k.mean(1)])
        for l in np.unique(labels)
    )


def compress(k, labels):
    c = np.eye(len(k)) - 1 / len(k)
    k = c @ k @ c
    s, v = np.linalg.eigh(k)
    keep = s > 1e-10 * s[-1]
    b = v[:, keep] / np.sqrt(s[keep] ** 2 + RHO * s[keep])
    _, w = np.linalg.eigh(b.T @ (between(k, labels) + RHO_PRIME * k) @ b)
    z = k @ b @ w[:, -Q:]
    return z @ z.T


def score(noise, signal):
    return np.linalg.svd(np.linalg.pinv(noise, rcond=1e-12) @ signal, compute_uv=False).sum()


def main():
    x, utility, privacy = data(int(sys.argv[1]), int(sys.argv[2]))
    out, kernels, snr = {}, [], []
    for name, k in {
        "linear": x @ x.T,
        "rbf": np.exp(-0.01 * cdist(x, x) ** 2),
        "laplacian": np.exp(-0.1 * cdist(x, x, "cityblock")),
        "polynomial": (x @ x.T + 1) ** 3,
    }.items():
        k = compress(k, utility)
        out["trace_" + name] = np.trace(k)
        k /= np.trace(k)
        out["snr0_" + name] = score(k @ k, between(k, utility))
        out["snr01_" + name] = score(k @ k + 0.1 * k, between(k, utility))
        out["upr01_" + name] = score(between(k, privacy) + 0.1 * k, between(k, utility))
        snr.append(out["snr01_" + name])
        kernels.append((name, k))
    snr = np.array(snr) / np.linalg.norm(snr)
    out.update({"weight_" + name: w for w, (name, _) in zip(snr, kernels)})
    out["frobenius"] = np.linalg.norm(sum(w * k for w, (_, k) in zip(snr, kernels)))
    print(json.dumps(out))


main()

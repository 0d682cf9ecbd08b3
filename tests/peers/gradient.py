"""Derivatives of an RBF kernel and of a GP's likelihood in NumPy, to compare with.

    gradient.py check                    values on formula data, as JSON
    gradient.py time PRECISION N D RUNS  processor time of the best run, as JSON

The derivative of sum(G * K) by X is 2(rowsum(W) * X - W Y) with W = G * dK/ds.
"""

import json
import sys
import time

import numpy as np


def wave(rows, cols, rate, dtype=np.float64):
    i = np.arange(1, rows * cols + 1, dtype=np.float64)
    return np.sin(rate * i * i).reshape(rows, cols).astype(dtype)


def derivative(x, y, g, gamma):
    s = (x * x).sum(1)[:, None] + (y * y).sum(1)
    s -= 2 * (x @ y.T)
    s *= -gamma
    np.exp(s, out=s)
    s *= -gamma
    s *= g
    return 2 * (s.sum(1)[:, None] * x - s @ y)


def check():
    n, d, gamma = 90, 20, 0.05
    x, y, g = wave(n, d, 1e-3), wave(70, d, 7e-4), wave(n, 70, 3e-4)
    out = derivative(x, y, g, gamma)
    return {"first": out[0, 0], "last": out[-1, -1], "norm": np.linalg.norm(out)}


def timed(precision, n, d, runs):
    dtype = {"float64": np.float64, "float32": np.float32}[precision]
    x, y, g = wave(n, d, 1e-3, dtype), wave(n, d, 7e-4, dtype), wave(n, n, 3e-4, dtype)
    best = np.inf
    for _ in range(runs + 1):
        start = time.process_time()
        derivative(x, y, g, dtype(1 / d))
        best = min(best, time.process_time() - start)
    return {"derivative_s": best}


def main():
    if sys.argv[1:] == ["check"]:
        out = check()
    elif len(sys.argv) == 6 and sys.argv[1] == "time":
        out = timed(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        sys.exit(__doc__)
    json.dump({k: float(v) for k, v in out.items()}, sys.stdout)


main()

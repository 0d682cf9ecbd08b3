"""The semi-definite programs of privacy-aware Gaussian processes (Tuo and
Bhattacharya) as they are printed, solved by Clarabel through CVXPY.

    sdp.py diagonal POINTS THETA NOISE_VARIANCE S XI
    sdp.py weak POINTS THETA NOISE_VARIANCE S_LOW S_HIGH S_COUNT XI

prints the least trace as JSON."""

import json
import sys

import cvxpy
import numpy as np


def constraints(points, theta, noise_variance, sensitive, xi):
    """M = K_XX + V and the rank-one terms K_Xs K_sX / (K_ss - xi)."""
    x = np.arange(1, points + 1) / (points + 1)
    m = np.exp(-theta * (x[:, None] - x) ** 2) + noise_variance * np.eye(points)
    columns = [np.exp(-theta * (x - s) ** 2) for s in sensitive]
    return m, [np.outer(a, a) / (1 - xi) for a in columns]


def least(objective, conditions):
    problem = cvxpy.Problem(cvxpy.Minimize(objective), conditions)
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    if problem.status != cvxpy.OPTIMAL:
        raise SystemExit(f"Clarabel says {problem.status}")
    return problem.value


def main(kind, points, theta, noise_variance, *rest):
    points, theta, noise_variance, *rest = int(points), float(theta), float(noise_variance), *map(float, rest)
    if kind == "diagonal":
        s, xi = rest
        m, (b,) = constraints(points, theta, noise_variance, [s], xi)
        d = cvxpy.Variable(points, nonneg=True)
        return {"trace_diagonal": least(cvxpy.sum(d), [cvxpy.diag(d) + m - b >> 0])}
    low, high, count, xi = rest
    m, terms = constraints(points, theta, noise_variance, np.linspace(low, high, int(count)), xi)
    sigma = cvxpy.Variable((points, points), PSD=True)
    return {"trace_weak": least(cvxpy.trace(sigma), [sigma + m - b >> 0 for b in terms])}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))

"""Fits and predictions of scikit-learn like those of a method: WORK FILE FITS, on one thread.

The last column of the file is the output, a number or a class. Each fit learns of four fifths of
the rows and predicts the others. Printed is the processor time of the start, the imports.
"""

import sys
import time

import numpy as np
from sklearn import ensemble, gaussian_process as gp, kernel_approximation as approximation, linear_model, neighbors, svm
from sklearn.gaussian_process import kernels
from sklearn.pipeline import make_pipeline

print(time.process_time())
work, path, fits = sys.argv[1], sys.argv[2], int(sys.argv[3])
raw = np.genfromtxt(path, delimiter=",", skip_header=1, dtype=str)
d = sum(name.startswith("x") for name in open(path).readline().strip().split(","))
x, y = raw[:, :d].astype(float), raw[:, d]
if work.endswith("regression"):
    y = y.astype(float)
width = np.sqrt(d) / 4


def gaussian(optimizer):
    k = kernels.RBF(np.full(d, width)) + kernels.WhiteKernel(0.05)
    return gp.GaussianProcessRegressor(k, optimizer=optimizer)


def fourier():
    return approximation.RBFSampler(gamma=0.5 / width**2, n_components=256, random_state=0)


def nystroem():
    m = min(50, len(x) // 2)
    return approximation.Nystroem(gamma=0.5 / width**2, n_components=m, random_state=0)


models = {
    "gp regression": lambda: gaussian(None),
    "gp-likelihood regression": lambda: gaussian("fmin_l_bfgs_b"),
    "gp classification": lambda: gp.GaussianProcessClassifier(kernels.RBF(width), optimizer=None),
    "nystroem regression": lambda: make_pipeline(nystroem(), linear_model.Ridge()),
    "nystroem classification": lambda: make_pipeline(nystroem(), linear_model.LogisticRegression()),
    "fourier-ridge regression": lambda: make_pipeline(fourier(), linear_model.Ridge()),
    "fourier-logistic classification": lambda: make_pipeline(fourier(), linear_model.LogisticRegression()),
    "boosting regression": lambda: ensemble.HistGradientBoostingRegressor(max_leaf_nodes=3, early_stopping=False),
    "boosting classification": lambda: ensemble.HistGradientBoostingClassifier(max_leaf_nodes=3, early_stopping=False),
    "trees classification": lambda: ensemble.ExtraTreesClassifier(128),
    "sgd regression": lambda: linear_model.SGDRegressor(max_iter=100, tol=None),
    "sgd classification": lambda: linear_model.SGDClassifier(max_iter=100, tol=None),
    "centroid classification": neighbors.NearestCentroid,
    "svc classification": lambda: svm.SVC(C=10),
}
rng = np.random.default_rng(0)
for _ in range(fits):
    order = rng.permutation(len(x))
    test, train = order[: len(x) // 5], order[len(x) // 5 :]
    models[work]().fit(x[train], y[train]).predict(x[test])

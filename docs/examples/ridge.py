"""Kernel ridge regression by scikit-learn, judged as the methods of run are: by the
error on a fifth of the rows, on average over splits that the seed draws.

It reads settings from the command line, the seed from the environment, and prints its
result as the last line of standard output."""
import argparse
import json
import os

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--inputs", required=True)  # columns, with commas between
parser.add_argument("--output", required=True)
parser.add_argument("--alpha", type=float, required=True)
parser.add_argument("--gamma", type=float, required=True)
parser.add_argument("--repeats", type=int, required=True)
args = parser.parse_args()

columns = args.inputs.split(",") + [args.output]
table = np.genfromtxt(args.file, delimiter=",", names=True, usecols=columns)
x = np.column_stack([table[name] for name in columns[:-1]])
y = table[args.output]

errors = []
splits = ShuffleSplit(args.repeats, test_size=0.2, random_state=int(os.environ["PRIVKERN_SEED"]))
for train, test in splits.split(x):
    scaler, middle = StandardScaler().fit(x[train]), y[train].mean()
    model = KernelRidge(alpha=args.alpha, kernel="rbf", gamma=args.gamma)
    model.fit(scaler.transform(x[train]), y[train] - middle)
    errors.append(y[test] - middle - model.predict(scaler.transform(x[test])))

print(json.dumps({"metrics": {
    "rmse": float(np.mean([np.sqrt(np.mean(e ** 2)) for e in errors])),
    "mae": float(np.mean([np.mean(np.abs(e)) for e in errors])),
}}))

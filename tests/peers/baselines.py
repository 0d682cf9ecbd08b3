"""The baselines of others: DP-EBM of interpret-core, forests and logistic regression of diffprivlib.

    baselines.py tables FOLDER [HOWELL]

writes public tables as CSV files into FOLDER, columns x0, x1, ... and y, and prints them as a JSON list. HOWELL is the
file of the !Kung census, for heights of women by age. The range of an input is that of the column, rounded outwards,
for both sides; a release must not read it off the data.

    baselines.py judge LIBRARY REQUEST

trains and tests on the splits of the JSON object {"delta", "epsilons", "tables": [{..., "tests": [[row, ...], ...]}]},
each with its place as the seed, and prints a JSON list of {"table", "peer", "ours", "epsilon", "scores"}: root mean
square errors of a regression, shares of wrong classes. LIBRARY is interpret_core or diffprivlib, with its defaults."""

import json
import math
import os
import sys
import warnings

import numpy as np


def outwards(column):
    unit = 10.0 ** math.floor(math.log10(np.ptp(column)))
    return [float(np.floor(column.min() / unit) * unit), float(np.ceil(column.max() / unit) * unit)]


def tables(folder, howell=None):
    from sklearn import datasets as d
    found = [("diabetes", *d.load_diabetes(return_X_y=True, scaled=False), [0.0, 400.0]),
             ("cancer", *d.load_breast_cancer(return_X_y=True), None), ("wine", *d.load_wine(return_X_y=True), None)]
    if howell:
        rows = np.genfromtxt(howell, delimiter=";", skip_header=1)  # height, weight, age, male
        found.append(("kung", rows[rows[:, 3] == 0, 2:3], rows[rows[:, 3] == 0, 0], [40.0, 200.0]))
    out = []
    for name, x, y, output_range in found:
        path, header = os.path.join(folder, name + ".csv"), [f"x{j}" for j in range(x.shape[1])] + ["y"]
        np.savetxt(path, np.column_stack([x, y]), "%.17g", ",", header=",".join(header), comments="")
        classes = None if output_range else [int(c) for c in np.unique(y)]
        out.append({"name": name, "path": path, "rows": len(y), "ranges": [outwards(column) for column in x.T],
                    "classes": classes, "output_range": output_range})
    return out


def interpret_core(table, epsilon, delta, seed):
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
    common = dict(epsilon=epsilon, delta=delta, privacy_bounds=np.array(table["ranges"]), n_jobs=1, random_state=seed,
                  feature_types=["continuous"] * len(table["ranges"]))
    if table["output_range"]:
        common["privacy_target_min"], common["privacy_target_max"] = table["output_range"]
        yield "DP-EBM", "baseline/ebm-regression", DPExplainableBoostingRegressor(**common)
    elif len(table["classes"]) == 2:  # it has no third class
        yield "DP-EBM", "baseline/ebm-classification", DPExplainableBoostingClassifier(**common)


def diffprivlib(table, epsilon, _, seed):
    """Delta is zero: its mechanisms are pure."""
    from diffprivlib.models import LogisticRegression, RandomForestClassifier
    from sklearn import pipeline, preprocessing
    if table["output_range"]:
        return
    low, high = np.array(table["ranges"]).T
    for trees in (1, 10):
        yield f"forest, trees {trees}", "baseline/forest", RandomForestClassifier(
            n_estimators=trees, epsilon=epsilon, bounds=(low, high), classes=table["classes"], random_state=seed)
    # The largest norm of inputs in [-1, 1], and one to which it cuts them.
    for norm in (math.sqrt(len(low)), math.sqrt(len(low)) / 3):
        unit = preprocessing.FunctionTransformer(lambda x: np.clip(2 * (x - low) / (high - low) - 1, -1, 1))
        model = LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=1000, random_state=seed)
        yield f"logistic, norm {norm:.1f}", "baseline/logistic", pipeline.make_pipeline(unit, model)


def judge(library, request):
    request, out = json.loads(request), {}
    for table in request["tables"]:
        raw = np.loadtxt(table["path"], delimiter=",", skiprows=1)
        x, y = raw[:, :-1], raw[:, -1] if table["output_range"] else raw[:, -1].astype(int)
        for epsilon in request["epsilons"]:
            for seed, test in enumerate(table["tests"]):
                # In another order: trees get successive rows, and those of a table may be sorted by class.
                train = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(len(y)), test))
                for peer, ours, model in globals()[library](table, epsilon, request["delta"], seed):
                    at = model.fit(x[train], y[train]).predict(x[test])
                    score = np.sqrt(np.mean((at - y[test]) ** 2)) if table["output_range"] else np.mean(at != y[test])
                    out.setdefault((table["name"], peer, ours, epsilon), []).append(float(score))
    return [dict(zip(("table", "peer", "ours", "epsilon"), key), scores=scores) for key, scores in out.items()]


warnings.simplefilter("ignore")
print(json.dumps({"tables": tables, "judge": judge}[sys.argv[1]](*sys.argv[2:])))

"""The baselines of others: DP-EBM of interpret-core, forests and logistic regression of diffprivlib, DP-SGD of Opacus,
and AdaSSP written in NumPy after its paper.

    baselines.py tables FOLDER [HOWELL]

writes public tables as CSV files into FOLDER, columns x0, x1, ... and y, and prints them as a JSON list. HOWELL is the
file of the !Kung census, for heights of women by age. The range of an input is that of the column, rounded outwards,
for both sides; a release must not read it off the data.

    baselines.py judge LIBRARY REQUEST

trains and tests on the splits of the JSON object {"delta", "epsilons", "tables": [{..., "tests": [[row, ...], ...]}]},
each with its place as the seed, and prints a JSON list of {"table", "peer", "ours", "epsilon", "scores"}, where ours is
an experiment with settings: root mean square errors of a regression, shares of wrong classes. LIBRARY is interpret_core
or diffprivlib, with its defaults, opacus or adassp."""

import functools
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
        scaled = preprocessing.FunctionTransformer(lambda x: unit(x, low, high))
        model = LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=1000, random_state=seed)
        yield f"logistic, norm {norm:.1f}", "baseline/logistic", pipeline.make_pipeline(scaled, model)


def unit(x, low, high):
    """Inputs in [-1, 1], by their range."""
    return np.clip(2 * (x - low) / (high - low) - 1, -1, 1)


class AdaSSP:
    """Algorithm 2 of Wang, "Revisiting differentially private linear regression: optimal and adaptive prediction &
    estimation in unbounded domain" (2018), with a third of the budget each for the smallest eigenvalue, X'X and X'y,
    and failure probability .05. Rows (x, 1) have norms of at most sqrt(d + 1), and outputs are in [-1, 1]."""

    def __init__(self, table, epsilon, delta, seed):
        (self.low, self.high), self.rng = np.array(table["ranges"]).T, np.random.default_rng(seed)
        self.y, self.epsilon, self.delta = table["output_range"], epsilon, delta

    def rows(self, x):
        return np.column_stack([unit(x, self.low, self.high), np.ones(len(x))])

    def fit(self, x, y):
        x, y = self.rows(x), unit(y, *self.y)
        d, log, share = x.shape[1], math.log(6 / self.delta), self.epsilon / 3
        square, scale = d, math.sqrt(log) / share  # of the largest norm, and of noise for a sensitivity of 1
        least = np.linalg.eigvalsh(x.T @ x)[0]
        least = max(0, least + scale * square * self.rng.normal() - log / share * square)
        ridge = max(0, math.sqrt(d * log * math.log(2 * d * d / .05)) * square / share - least)
        noise = np.triu(self.rng.normal(size=(d, d)))
        noise = scale * square * (noise + np.triu(noise, 1).T)
        target = x.T @ y + scale * math.sqrt(square) * self.rng.normal(size=d)
        self.weights = np.linalg.solve(x.T @ x + noise + ridge * np.eye(d), target)
        return self

    def predict(self, x):
        middle, half = sum(self.y) / 2, (self.y[1] - self.y[0]) / 2
        return middle + half * np.clip(self.rows(x) @ self.weights, -1, 1)


def adassp(table, epsilon, delta, seed):
    if table["output_range"]:
        yield "AdaSSP", "baseline/ridge", AdaSSP(table, epsilon, delta, seed)


@functools.cache
def multiplier(epsilon, delta, batches, epochs):
    from opacus.accountants.utils import get_noise_multiplier
    return get_noise_multiplier(target_epsilon=epsilon, target_delta=delta, sample_rate=1 / batches,
                                steps=batches * epochs, accountant="prv")


class DPSGD:
    """A linear model or a perceptron by DP-SGD of Opacus, clipped at 1, with Poisson samples of a tenth of the rows."""

    RATE, STEPS = 0.1, 200

    def __init__(self, table, epsilon, delta, seed, hidden, step):
        self.table, self.epsilon, self.delta, self.seed = table, epsilon, delta, seed
        (self.low, self.high), self.hidden, self.step = np.array(table["ranges"]).T, hidden, step

    def fit(self, x, y):
        import torch
        from opacus import PrivacyEngine
        torch.manual_seed(self.seed)
        torch.set_num_threads(1)
        outputs = len(self.table["classes"] or [0])
        layers = [torch.nn.Linear(len(self.low), self.hidden or outputs)]
        if self.hidden:
            layers += [torch.nn.Tanh(), torch.nn.Linear(self.hidden, outputs)]
        model = torch.nn.Sequential(*layers)
        if self.table["classes"]:
            loss, y = torch.nn.CrossEntropyLoss(), torch.tensor(np.searchsorted(self.table["classes"], y))
        else:
            y = unit(y, *self.table["output_range"])[:, None]
            loss, y = torch.nn.MSELoss(), torch.tensor(y, dtype=torch.float32)
        rows = torch.utils.data.TensorDataset(self.tensor(x), y)
        loader = torch.utils.data.DataLoader(rows, batch_size=max(1, round(self.RATE * len(y))))
        epochs = math.ceil(self.STEPS / len(loader))
        noise = multiplier(self.epsilon, self.delta, len(loader), epochs)
        model, optimizer, loader = PrivacyEngine().make_private(
            module=model, optimizer=torch.optim.SGD(model.parameters(), lr=self.step), data_loader=loader,
            noise_multiplier=noise, max_grad_norm=1.0)
        for _ in range(epochs):
            for some, want in loader:
                optimizer.zero_grad()
                if len(some):
                    loss(model(some), want).backward()
                    optimizer.step()
        self.model = model
        return self

    def tensor(self, x):
        import torch
        return torch.tensor(unit(x, self.low, self.high), dtype=torch.float32)

    def predict(self, x):
        out = self.model(self.tensor(x)).detach().numpy()
        if self.table["classes"]:
            return np.array(self.table["classes"])[out.argmax(1)]
        low, high = self.table["output_range"]
        return np.clip((low + high) / 2 + (high - low) / 2 * out[:, 0], low, high)


def opacus(table, epsilon, delta, seed):
    ours = "baseline/sgd-" + ("regression" if table["output_range"] else "classification")
    ours += f" rate={DPSGD.RATE} steps={DPSGD.STEPS}"
    for name, hidden in (("linear", 0), ("perceptron", 16)):
        yield f"DP-SGD, {name}", ours, DPSGD(table, epsilon, delta, seed, hidden, step=0.5)


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

"""Minimises functions by the tree-structured Parzen estimators of Optuna.

    search.py RUN FILE

RUN is the program of this project, FILE a JSON list of problems {"name", "budget", "seeds", and for an experiment
"arguments", "metric", "sign", "space": [[name, scale, low, high], ...]}. Prints, as a JSON object, the least values of
each problem by its name, one for each seed.
"""

import json
import math
import subprocess
import sys

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)

RATES = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
CENTRES = [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
           [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]


def branin(x):
    a, b = 15 * x[0] - 5, 15 * x[1]
    q = b - 5.1 / (4 * math.pi**2) * a * a + 5 / math.pi * a - 6
    return q * q + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10


def hartmann(x):
    return -sum(w * math.exp(-sum(r * (v - c / 1e4) ** 2 for r, v, c in zip(rates, x, centres)))
                for w, rates, centres in zip([1, 1.2, 3, 3.2], RATES, CENTRES))


def suggested(trial, name, scale, low, high):
    if scale == "whole":
        return trial.suggest_int(name, int(low), int(high))
    return trial.suggest_float(name, low, high, log=scale == "log")


def trial_value(problem, trial):
    given = [f"{d[0]}={suggested(trial, *d)}" for d in problem["space"]]
    out = subprocess.run([sys.argv[1], "trial", *problem["arguments"], *given, "--quiet"], capture_output=True, text=True)
    record = json.loads(out.stdout)
    if record["status"] != "ok":
        raise optuna.TrialPruned()
    return problem["sign"] * record["metrics"][problem["metric"]]


def objective(problem):
    function = {"branin": branin, "hartmann": hartmann}.get(problem["name"])
    if function is None:
        return lambda trial: trial_value(problem, trial)
    return lambda trial: function([suggested(trial, *d) for d in problem["space"]])


def least(problem, seed):
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective(problem), n_trials=problem["budget"])
    return study.best_value


problems = json.load(open(sys.argv[2]))
print(json.dumps({p["name"]: [least(p, seed) for seed in range(p["seeds"])] for p in problems}))

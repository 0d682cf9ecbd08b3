"""Membership inference by SciPy and scikit-learn.

usage: lira.py FILE

FILE holds a JSON object: "models", a list of {"Member", "Statistic", "Confidence"} with a value for each unit, "targets",
the number of models at the end of the list that are attacked by the others, and "levels". Prints, as a JSON object, for
each attack the mean area under the curve over the targets, and for each level the mean shares of members and of others
above the threshold of shadow models, each judged by the others.
"""

import json
import sys

import numpy as np
from scipy.stats import norm
from sklearn.metrics import roc_auc_score


def scores(attack, member, statistic, confidence, model, rest):
    """Those of a model by an attack that knows the models of the list rest."""
    if attack == "threshold":
        return confidence[model]
    values = statistic if attack == "LiRA, online" else confidence
    out = np.zeros(values.shape[1])
    for unit in range(values.shape[1]):
        inside = np.array([values[m, unit] for m in rest if member[m, unit]])
        outside = np.array([values[m, unit] for m in rest if not member[m, unit]])
        x, centre, spread = values[model, unit], np.median(outside), np.std(outside) + 1e-30
        if attack == "LiRA, online":
            out[unit] = norm.logpdf(x, np.median(inside), np.std(inside) + 1e-30) - norm.logpdf(x, centre, spread)
        else:
            out[unit] = (x - centre) / spread
    return out


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        game = json.load(file)
    member, statistic, confidence = (
        np.array([m[name] for m in game["models"]]) for name in ("Member", "Statistic", "Confidence"))
    cut = len(member) - game["targets"]
    shadows = range(cut)
    result = {}
    for attack in ("threshold", "LiRA, offline", "LiRA, online"):
        known = [scores(attack, member, statistic, confidence, m, [k for k in shadows if k != m]) for m in shadows]
        others = np.sort(np.concatenate([s[~member[m]] for m, s in enumerate(known)]))[::-1]
        real = [scores(attack, member, statistic, confidence, m, shadows) for m in range(cut, len(member))]
        areas = [roc_auc_score(member[cut + i], s) for i, s in enumerate(real)]
        rates = []
        for level in game["levels"]:
            threshold = others[int(level * len(others))]
            rates.append([float(np.mean([np.mean(s[member[cut + i]] > threshold) for i, s in enumerate(real)])),
                          float(np.mean([np.mean(s[~member[cut + i]] > threshold) for i, s in enumerate(real)]))])
        result[attack] = {"auc": float(np.mean(areas)), "rates": rates}
    print(json.dumps(result))


main()

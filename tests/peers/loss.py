"""Epsilon of compositions by the library dp-accounting (Google).

usage: loss.py FILE

FILE holds a JSON list of {"losses": [{"law", "size", "times", "rate"}], "delta",
"spacing"}. Prints, as a JSON object, the epsilon of each by its place. The library has no exponential mechanism: it gets
the hockey-stick divergences of the worst mechanism of bounded range.
"""

import json
import math
import sys

import numpy as np
from dp_accounting import NeighboringRelation
from dp_accounting.pld import pld_pmf
from dp_accounting.pld import privacy_loss_distribution as pld


def choice(epsilon, spacing):
    low, high = math.floor(-epsilon / spacing), math.ceil(epsilon / spacing)
    at = np.arange(low, high + 1) * spacing
    deltas = np.where(at >= epsilon, 0.0, np.where(
        at <= -epsilon, -np.expm1(at), np.expm1((at - epsilon) / 2) ** 2 / -math.expm1(-epsilon)))
    return pld.PrivacyLossDistribution(
        pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(spacing, low, high, deltas))


def distribution(loss, spacing):
    law, size = loss["law"], loss["size"]
    if law == "laplace":
        return pld.from_laplace_mechanism(1 / size, value_discretization_interval=spacing)
    if law == "exponential mechanism":
        return choice(size, spacing)
    if law == "substituted subsampled gaussian":
        return pld.from_gaussian_mechanism(
            1 / size, sensitivity=0.5, value_discretization_interval=spacing, sampling_prob=loss["rate"],
            neighboring_relation=NeighboringRelation.REPLACE_ONE)
    return pld.from_gaussian_mechanism(
        1 / size, value_discretization_interval=spacing, sampling_prob=loss.get("rate", 1.0))


def main():
    out = {}
    with open(sys.argv[1], encoding="utf-8") as file:
        releases = json.load(file)
    for i, release in enumerate(releases):
        total = pld.identity(value_discretization_interval=release["spacing"])
        for loss in release["losses"]:
            total = total.compose(distribution(loss, release["spacing"]).self_compose(loss["times"]))
        out[str(i)] = total.get_epsilon_for_delta(release["delta"])
    print(json.dumps(out))


main()

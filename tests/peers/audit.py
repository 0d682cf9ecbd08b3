"""Audits outputs of two neighbouring data sets by the testers of DP-Auditorium
(google/differential-privacy, python/dp_auditorium; Kong et al., "DP-Auditorium: a
large scale library for auditing differential privacy", 2023).

usage: audit.py CHECKOUT EPSILON DELTA FAILURE NAME=FILE...

CHECKOUT is the folder python/dp_auditorium of a checkout. Each FILE holds float64
numbers: n of the first data set, then n of the second. Prints, as a JSON object,
the lower bound of delta by the hockey-stick tester, in both directions the larger,
and "NAME rejected" as 0 or 1. Nothing is downloaded. Exits with 75 where
TensorFlow or the checkout is missing.
"""

import contextlib
import json
import os
import sys
import types

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def package(name, folder):
    """A package whose __init__ is not run: that of the library imports Vizier."""
    module = types.ModuleType(name)
    module.__path__ = [folder]
    sys.modules[name] = module


def main():
    checkout, epsilon, delta, failure = sys.argv[1], *map(float, sys.argv[2:5])
    root = os.path.join(checkout, "dp_auditorium")
    for name in ("", "testers", "configs"):
        package("dp_auditorium" + ("." + name if name else ""), os.path.join(root, name))
    try:
        import numpy as np
        import tensorflow as tf
        from dp_auditorium.configs import privacy_property, property_tester_config
        from dp_auditorium.testers import hockey_stick_tester
    except ImportError as missing:
        print(missing, file=sys.stderr)
        sys.exit(75)

    # Half of the failure probability for each direction.
    def bound(first, second):
        tf.keras.utils.set_random_seed(1)
        config = property_tester_config.HockeyStickPropertyTesterConfig(
            training_config=hockey_stick_tester.make_default_hs_training_config(),
            approximate_dp=privacy_property.ApproximateDp(epsilon, delta),
            evaluation_batch_size=100_000,
        )
        tester = hockey_stick_tester.HockeyStickPropertyTester(
            config, hockey_stick_tester.make_default_hs_base_model())
        return float(tester.estimate_lower_bound(first, second, failure / 2))

    numbers = {}
    for argument in sys.argv[5:]:
        name, path = argument.split("=", 1)
        values = np.fromfile(path)
        first, second = values.reshape(2, -1)
        scale = np.concatenate([first, second]).std() or 1.0
        # Keras prints its progress to stdout.
        with contextlib.redirect_stdout(sys.stderr):
            numbers[name] = max(bound(first / scale, second / scale), bound(second / scale, first / scale))
        numbers[name + " rejected"] = float(numbers[name] > delta)
    print(json.dumps(numbers))


main()

"""Reference values for the tests, with NumPy 2.4.6 and SciPy 1.17.1:

    python3 reference.py > reference.csv

Columns are windows: of hapt/, from samples 249 and 569, and of formula_signal, from 100
and 164. Rows are the 561 features before they are scaled. The functions are SciPy's own
where it has them.
"""
import numpy as np
from scipy import fft, signal, stats

RATE, SAMPLES = 50, 128


def formula_signal(n):
    t = np.arange(n)[:, None] / RATE
    axis = np.arange(3)[None, :]
    noise = np.sin(12.9898 * np.arange(n)[:, None] ** 2 + 78.233 * axis)
    acceleration = (np.array([[.9, -.3, .2]]) + .3 * np.sin(2 * np.pi * 1.9 * t + axis)
                    + .1 * np.sin(2 * np.pi * 5.7 * t + 2 * axis) + .05 * noise)
    rotation = .8 * np.cos(2 * np.pi * 1.9 * t + axis) + .2 * np.sin(2 * np.pi * .1 * t) + .1 * noise[::-1]
    return acceleration, rotation


def low(x, corner):
    b, a = signal.butter(3, corner, fs=RATE)
    return signal.lfilter(b, a, x, axis=0, zi=signal.lfilter_zi(b, a)[:, None] * x[:1])[0]


def separate(acceleration, rotation):
    acceleration, rotation = (low(signal.medfilt(x, (3, 1)), 20) for x in (acceleration, rotation))
    gravity = low(acceleration, .3)
    body, rotation = acceleration - gravity, rotation - low(rotation, .3)
    jerk, rotation_jerk = (np.diff(x, axis=0, prepend=x[:1]) * RATE for x in (body, rotation))
    return body, gravity, jerk, rotation, rotation_jerk


def burg(x):
    f, b, a = x[1:], x[:-1], np.array([1.])
    for _ in range(4):
        k = -2 * (f @ b) / (f @ f + b @ b)
        a = np.append(a, 0) + k * np.append(a, 0)[::-1]
        f, b = (f + k * b)[1:], (b + k * f)[:-1]
    return a[1:]


def location(x):
    return [np.mean(x), np.std(x, ddof=1), stats.median_abs_deviation(x), np.max(x), np.min(x)]


def spread(x):
    return [np.mean(x ** 2), stats.iqr(x), np.mean(np.log(x ** 2 + 1e-12))]


def by_statistic(f, axes):
    return np.array([f(x) for x in axes]).T.ravel().tolist()


def area(axes):
    return [sum(np.mean(np.abs(x)) for x in axes)]


def places(p):
    return [np.argmax(p), np.average(np.arange(64) * RATE / SAMPLES, weights=p)]


def shape(p):
    return [stats.skew(p), stats.kurtosis(p, fisher=False)]


def time_axes(axes):
    out = by_statistic(location, axes) + area(axes) + by_statistic(spread, axes)
    for x in axes:
        out += burg(x).tolist()
    r = np.corrcoef(axes)
    return out + [r[0, 1], r[0, 2], r[1, 2]]


def time_norms(x):
    return location(x) + area([x]) + spread(x) + burg(x).tolist()


def spectrum(x):
    return np.abs(fft.fft(x))[1:65] / 64


def frequency_axes(axes):
    p = [spectrum(x) for x in axes]
    out = by_statistic(location, p) + area(p) + by_statistic(spread, p) + by_statistic(places, p)
    for x in p:
        out += shape(x)
    for x in p:
        for width, of in ((8, 64), (16, 64), (24, 48)):
            out += [np.sum(x[a:a + width] ** 2) for a in range(0, of, width)]
    return out


def frequency_norms(x):
    p = spectrum(x)
    return location(p) + area([p]) + spread(p) + places(p) + shape(p)


def cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


def features(acceleration, rotation, start):
    body, gravity, jerk, turn, turn_jerk = (x[start:start + SAMPLES].T for x in separate(acceleration, rotation))
    norms = [np.linalg.norm(x, axis=0) for x in (body, jerk, turn, turn_jerk)]
    out = []
    for x in (body, gravity, jerk, turn, turn_jerk):
        out += time_axes(x)
    for x in (norms[0], *norms):
        out += time_norms(x)
    for x in (body, jerk, turn):
        out += frequency_axes(x)
    for x in norms:
        out += frequency_norms(x)
    down = gravity.mean(axis=1)
    out += [cosine(x.mean(axis=1), down) for x in (body, jerk, turn, turn_jerk)]
    return out + [np.arccos(cosine(axis, down)) for axis in np.eye(3)]


if __name__ == "__main__":
    real = [np.loadtxt(f"hapt/{kind}_exp01_user01.txt.gz") for kind in ("acc", "gyro")]
    made = formula_signal(400)
    columns = [features(*real, 249), features(*real, 569), features(*made, 100), features(*made, 164)]
    for row in zip(*columns, strict=True):
        print(",".join(f"{v:.15g}" for v in row))

"""LeastSquares beside scikit-learn, scikit-learn-intelex and numpy, in one run.

    python bench/bench_least_squares.py [--quick]

Times are medians of warm calls taken in turns; ratios above one mean that adaline is faster.
`digits` are those of the worst coefficient, against rational arithmetic on a small problem of
the stated condition number.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from _bench import compare, head, missing, note, peak_megabytes, threads
from sklearn.linear_model import LinearRegression

from adaline import LeastSquares, Moments

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from reference import correct_digits, exact_least_squares, ill_conditioned

try:
    from sklearnex.linear_model import LinearRegression as IntelLinearRegression
except ImportError:
    IntelLinearRegression = None


def lstsq(X, y):
    """numpy's answer to the same problem, bias included."""
    return np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y)[0]


def data(n, p):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return X, X @ rng.standard_normal(p) + rng.standard_normal(n) + 1.0


def speed(n, p, quick, how):
    X, y = data(n, p)
    fast, full = LeastSquares(refine=False), LeastSquares()
    size, repeats = f"{n}x{p}, {how}", 3 if quick else 7
    tall = (n, p) in ((10**6, 20), (10**5, 20))

    def lr():
        return LinearRegression().fit(X, y)

    def quickly():
        return fast.fit(X, y)

    def fully():
        return full.fit(X, y)

    def intel():
        return IntelLinearRegression().fit(X, y)

    def numpy():
        return np.linalg.lstsq(X, y)

    compare(f"fast {size}", quickly, lr, 15.0 if tall else 1.0, repeats, "sklearn")
    compare(f"full digits {size}", fully, lr, 5.0 if tall else 1.0, repeats, "sklearn")
    if IntelLinearRegression is None:
        missing("scikit-learn-intelex")
    else:
        compare(f"fast {size}", quickly, intel, 1.0, repeats, "sklearn-intelex")
    compare(f"full digits {size}", fully, numpy, 1.0 if tall else 4.0, repeats, "numpy lstsq")
    agree = np.max(np.abs(full.coef_ / lr().coef_ - 1))
    memory = peak_megabytes(lambda: LeastSquares().fit(X, y))
    note(f"same coefficients to {agree:.0e}; {memory:.0f} MB beyond X; {full.certificate_}")


def many_targets(n, p, k, quick, how):
    """All targets in one fit, beside scikit-learn in the same process."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, p))
    Y = X @ rng.standard_normal((p, k)) + rng.standard_normal((n, k)) + 1.0
    full = LeastSquares()

    def fully():
        return full.fit(X, Y)

    def lr():
        return LinearRegression().fit(X, Y)

    name = f"full digits {n}x{p}, {k} targets, {how}"
    compare(name, fully, lr, 0.0, 3 if quick else 7, "sklearn")
    agree = np.max(np.abs(full.coef_ - lr().coef_)) / np.max(np.abs(full.coef_))
    note(f"same coefficients to {agree:.0e} of the largest; {full.certificate_}")


def digits():
    print("\ncorrect digits of the worst coefficient")
    print(f"{'condition':>10} {'adaline':>8} {'proven':>8} {'lstsq':>7} {'sklearn':>8}")
    rng = np.random.default_rng(1)
    for exponent in range(2, 15, 2):
        X = ill_conditioned(rng, 60, 8, 10.0**exponent)
        y = X @ np.ones(8) + 0.1 * rng.standard_normal(60)
        exact = exact_least_squares(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = LeastSquares().fit(X, y)
        theirs = LinearRegression().fit(X, y)
        rows = [
            correct_digits([*ours.coef_, ours.intercept_], exact),
            ours.certificate_.evidence["digits"],
            correct_digits(lstsq(X, y), exact),
            correct_digits([*theirs.coef_, theirs.intercept_], exact),
        ]
        ours_d, claimed, numpy_d, sklearn_d = (f"{max(d, 0):.1f}" for d in rows)
        print(f"{10.0**exponent:10.0e} {ours_d:>8} {claimed:>8} {numpy_d:>7} {sklearn_d:>8}")


def offsets():
    """What raw sums X'X lose to large means, and centred sums merged from 40 blocks do not."""
    print("\nlargest relative error of a coefficient, from sums over 40 blocks of 250 rows")
    print(f"{'offset':>10} {'raw sums':>10} {'Moments':>10}")
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((10_000, 5))
    for offset in (0.0, 1e3, 1e6, 1e8):
        X = Z + offset
        y = Z @ np.arange(1.0, 6.0) + 0.1 * rng.standard_normal(len(Z))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exact = LeastSquares().fit(X, y).coef_  # proven to the last digit
            blocks = [(X[i : i + 250], y[i : i + 250]) for i in range(0, len(X), 250)]
            ours = LeastSquares().fit_moments(Moments.over(blocks)).coef_
        rows = [np.column_stack([x, np.ones(len(x))]) for x, _ in blocks]
        raw = np.linalg.solve(
            sum(A.T @ A for A in rows), sum(A.T @ t for A, (_, t) in zip(rows, blocks, strict=True))
        )[:5]
        errors = [np.max(np.abs(found / exact - 1)) for found in (raw, ours)]
        print(f"{offset:10.0e} {errors[0]:10.0e} {errors[1]:10.0e}")


def first_call():
    code = (
        "import numpy as np, time; t = time.perf_counter(); from adaline import LeastSquares; "
        "LeastSquares().fit(np.eye(9, 2), np.arange(9.0)); print(time.perf_counter() - t)"
    )
    print("\nseconds to the first fit in a new process, import included", flush=True)
    with tempfile.TemporaryDirectory() as cache:
        for case in ("kernels compiled", "kernels from their cache"):
            environment = os.environ | {"NUMBA_CACHE_DIR": cache}
            print(f"{case:>26}: ", end="", flush=True)
            subprocess.run(
                [sys.executable, "-W", "ignore", "-c", code], check=True, env=environment
            )


def main():
    quick = "--quick" in sys.argv
    shrink = 10 if quick else 1
    for n_threads in (1, 2):
        how = f"{n_threads} thread{'s'[: n_threads - 1]}"
        print(f"\n{how}")
        head()
        with threads(n_threads):
            for n, p in ((10**6, 20), (2 * 10**5, 100)):
                speed(n // shrink, p, quick, how)
            for n, p, k in ((30, 5, 1000), (1000, 20, 1000), (10**5 // shrink, 20, 50)):
                many_targets(n, p, k, quick, how)
    digits()
    offsets()
    first_call()


if __name__ == "__main__":
    main()

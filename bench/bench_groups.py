"""Thousands of small fits, against polars-ds, scikit-learn in a loop, statsmodels and numpy.

    python bench/bench_groups.py [--quick] [--repeats 5]

Same process, same data, 1 and 2 threads (of polars: set before it starts), medians of warm calls
taken in turns. Ours include standard errors, status and proven bounds; peers give coefficients
unless the row says "report". At the end digits by condition number, beside polars-ds.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from functools import partial
from typing import Any

THREADS = os.environ.setdefault("POLARS_MAX_THREADS", "1")  # polars reads it when imported

import numpy as np  # noqa: E402
from _bench import compare, head, missing, note, row, seconds, threads  # noqa: E402
from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.linear_model import LogisticRegression as PeerLogistic  # noqa: E402

from adaline import LeastSquares, LogisticRegression, fit_groups, rolling  # noqa: E402

try:
    import polars as pl
    import polars_ds as pds
except ImportError:
    pl = pds = None

# groups, rows, columns, and the speed-up wanted over polars-ds: sorted, shuffled.
GROUPS = [(10_000, 100, 5, 3.0, 1.0), (1_000, 1_000, 20, 1.0, 0.5), (100_000, 20, 3, 10.0, 2.0)]
WINDOWS = [(200_000, 5, 250, 4.0), (200_000, 20, 500, 1.2)]


def data(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return X, X.sum(axis=1) + rng.standard_normal(n)


def frame(X: np.ndarray, y: np.ndarray, groups: np.ndarray | None = None) -> Any:
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y}
    return pl.DataFrame(columns if groups is None else columns | {"g": groups})


def batched(X: np.ndarray, y: np.ndarray, K: int) -> np.ndarray:
    """Normal equations of K groups of equal size, sorted, by numpy."""
    Z = X.reshape(K, -1, X.shape[1])
    Z = Z - Z.mean(axis=1, keepdims=True)
    S = np.swapaxes(Z, 1, 2) @ Z
    return np.linalg.solve(S, np.swapaxes(Z, 1, 2) @ y.reshape(K, -1, 1))[..., 0]


def loop(model: Any, X: np.ndarray, y: np.ndarray, K: int, m: int) -> float:
    """Seconds of K fits in a loop, groups sorted, from at most 500 of them."""
    some = min(K, 500)
    return seconds(
        lambda: [model.fit(X[m * g : m * g + m], y[m * g : m * g + m]) for g in range(some)]
    ) * (K / some)


def least_squares(K: int, m: int, p: int, wanted: tuple[float, float], repeats: int) -> None:
    X, y = data(K * m, p)
    groups = np.repeat(np.arange(K), m)
    shuffled = np.random.default_rng(1).permutation(K * m)
    for how, target, rows in zip(
        ("sorted", "shuffled"), wanted, (slice(None), shuffled), strict=True
    ):
        name = f"least squares, {K} x ({m} x {p}), {how}"
        Xs, ys, gs = np.ascontiguousarray(X[rows]), y[rows].copy(), groups[rows].copy()
        ours = partial(fit_groups, LeastSquares(), Xs, ys, gs)
        columns = [f"x{j}" for j in range(p)]
        if pds is not None:
            table = frame(Xs, ys, gs)
            for kind, function, least in (
                ("polars-ds", "lin_reg", target),
                ("pds report", "lin_reg_report", 2.0),
            ):
                fit = getattr(pds, function)(*columns, target="y", add_bias=True)
                theirs = partial(table.group_by("g").agg, fit)
                compare(name, ours, theirs, least, repeats, kind)
        if how == "sorted":
            compare(name, ours, partial(batched, Xs, ys, K), 0.0, repeats, "numpy")
            row(name, "sklearn loop", seconds(ours), loop(LinearRegression(), Xs, ys, K, m), 0.0)


def windows(n: int, p: int, window: int, wanted: float, repeats: int) -> None:
    X, y = data(n, p)
    name = f"rolling, {n} x {p}, window {window}"
    ours = partial(rolling, LeastSquares(), X, y, window=window)
    if pds is not None:
        columns = [f"x{j}" for j in range(p)]
        fit = pds.rolling_lin_reg(*columns, target="y", window_size=window, add_bias=True)
        compare(name, ours, partial(frame(X, y).select, fit), wanted, repeats, "polars-ds")
    try:
        from statsmodels.regression.rolling import RollingOLS
    except ImportError:
        missing("statsmodels")
    else:
        some = n // 10
        model = RollingOLS(y[:some], np.column_stack([X[:some], np.ones(some)]), window)
        row(name, "statsmodels", seconds(ours), 10 * seconds(model.fit), 50.0)
    fits = ours()
    note(f"summed anew {fits.renewed} times; proven digits at least {fits.digits[:, :p].min():.1f}")


def logistic(K: int, repeats: int) -> None:
    X, _ = data(K * 100, 5)
    rng, groups = np.random.default_rng(2), np.repeat(np.arange(K), 100)
    y = (0.5 * X.sum(axis=1) + rng.logistic(size=len(X)) > 0).astype(int)
    ours = partial(fit_groups, LogisticRegression(1.0), X, y, groups)
    ours()
    times = sorted(seconds(ours) for _ in range(repeats))
    for solver in ("newton-cholesky", "lbfgs"):
        theirs = loop(PeerLogistic(C=1.0, solver=solver), X, y, K, 100)
        row(f"logistic, {K} x (100 x 5), proven", solver, times[repeats // 2], theirs, 20.0)
    note(
        f"groups by status: {dict(zip(*np.unique(ours().status, return_counts=True), strict=True))}"
    )


def digits() -> None:
    """True digits of the worst coefficient by condition number, and those that we prove."""
    rng, exact = np.random.default_rng(3), np.arange(1.0, 6.0)
    for power in range(2, 13, 2):
        U, _ = np.linalg.qr(rng.standard_normal((100, 5)))
        V, _ = np.linalg.qr(rng.standard_normal((5, 5)))
        X = U @ np.diag(np.logspace(0, -power, 5)) @ V.T
        y = X @ exact  # rounded: the truth is that of least squares in twice the digits
        fits = fit_groups(LeastSquares(False), X, y, np.zeros(100, dtype=int))
        truth = LeastSquares(False).fit(X, y).coef_

        def right(w: Any, truth: np.ndarray = truth) -> float:
            return float(-np.log10(np.max(np.abs(np.asarray(w) - truth) / np.abs(truth)) + 1e-17))

        theirs = "-"
        if pds is not None:
            fit = pds.lin_reg(*[f"x{j}" for j in range(5)], target="y")
            answer = frame(X, y).select(fit).to_series(0)[0]
            theirs = "null" if answer is None else f"{right(list(answer)):.1f} digits"
        ours = f"{right(fits.coef_[0]):.1f} digits, {fits.digits[0, :5].min():.1f} proven"
        note(f"condition 1e{power}: ours {ours}; polars-ds {theirs}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the groups and rows")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if pds is None:
        missing("polars-ds")
    share = 10 if arguments.quick else 1
    with threads(int(THREADS)):
        note(f"{THREADS} thread(s); POLARS_MAX_THREADS=2 for two")
        head()
        for K, m, p, *wanted in GROUPS:
            least_squares(K // share, m, p, tuple(wanted), arguments.repeats)
        for n, p, window, wanted in WINDOWS:
            windows(n // share, p, window, wanted, arguments.repeats)
        logistic(10_000 // share, arguments.repeats)
    digits()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Checks of a trial: probabilities or residuals, drift, single rows, leakage, and too few rows.

A check doubts only if a difference is both significant and as large as its `min_effect`: with many
rows every trifle is significant. `verdict` calls `diagnose`; docs/pictures.md has the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from adaline.estimators.registry import scatter_of
from adaline.evaluation.influence import influence, influence_sentence
from adaline.evaluation.probabilities import calibration
from adaline.evaluation.trial import Rows, Trial
from adaline.evaluation.words import cell, listed, name, number, p_value, percent, plural
from adaline.parameters import is_sparse
from adaline.results import Array, Result

SIGNIFICANCE = 0.01
MIN_RESIDUALS, MIN_ROWS_FOR_LEAKAGE = 20, 30  # rows; any round numbers
MAX_COLUMNS_CHECKED, MAX_ROWS_CHECKED = 1000, 50_000  # of more rows evenly spaced ones
MIN_ROWS_PER_COLUMN = 5  # with fewer, coefficients are rough whatever the learner
RARE_SHARE, RARE_ROWS = 0.05, 10  # a class with fewer is called rare
POISSON_RATIO_TO_WARN = 2.0  # standard errors are then 1.4 times too small
UNEXPLAINED_BY_COPY = 1e-3  # share of the variance of a target that a copy of it may leave
WRONG_BY_CODE = 0.02  # share of the errors of a constant that a code of the class may make


@dataclass(frozen=True)
class Check(Result):
    """What was checked, and the result.

    `key` is a stable name and `title` one for people; `fine` says whether there is no reason to
    doubt, None if unknown; `numbers` are those of the sentence; `grave` doubts become warnings.
    """

    key: str
    title: str
    fine: bool | None
    sentence: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    grave: bool = False

    @property
    def word(self) -> str:
        """fine, look (at it), or not known."""
        return {True: "fine", False: "look", None: "not known"}[self.fine]


def diagnose(trial: Trial) -> tuple[Check, ...]:
    """All checks that the rows of a trial allow."""
    model, rows, learned, answers = trial.model, trial.rows, trial.learned, trial.answers
    target, checks = name(trial.target or "the target"), list[Check]()
    if rows is not None and answers is not None:
        if hasattr(model, "classes_"):
            checks += calibration_check(model, rows.y, answers.log_p)
        elif rows.y.ndim == 1:
            checks += residual_checks(rows.y, answers.predicted, scatter_of(model))
        if learned is not None and trial.held_out is not False and not trial.way:
            checks += drift(learned.X, rows.X, trial.names)
    if learned is not None and learned.y is not None:
        found = influence(model, learned.X, learned.y, learned.weight)
        if found is not None:
            text = influence_sentence(found, model, learned.X, learned.y, trial.names, target)
            largest = {"cook": float(found.cook[found.rows[0]]), "row": float(found.rows[0])}
            fine = not len(found.decisive)
            checks.append(Check("influence", "Single rows", fine, text, largest, not fine))
    labelled = learned if learned is not None and learned.y is not None else rows
    if labelled is not None:
        is_class = hasattr(model, "classes_")
        checks += leakage(labelled.X, labelled.y, trial.names, is_class, target)
    return tuple(checks)


def calibration_check(model: Any, y: NDArray[Any], log_p: Array | None) -> list[Check]:
    """Whether probabilities of the second of two classes, or of the likeliest, are right."""
    if log_p is None:
        return []
    classes, best, what = model.classes_, log_p.max(axis=1), "of the likeliest class"
    yes = y == classes[log_p.argmax(axis=1)]
    if len(classes) == 2:
        yes, best, what = y == classes[1], log_p[:, 1], f"of {name(classes[1])!r}"
    with np.errstate(all="ignore"):
        others = np.log(-np.expm1(np.minimum(best, 0.0)))
        found = calibration(yes, best - (log_p[:, 0] if len(classes) == 2 else others))
    fine = None if found.kind == "unknown" else found.kind == "right"
    numbers = {"told": found.predicted, "happened": found.happened, "slope": found.slope}
    return [Check("calibration", f"Probabilities {what}", fine, found.sentence, numbers)]


def residual_checks(truth: Any, predicted: Any, scatter: str = "constant") -> tuple[Check, ...]:
    """Checks of predictions against the truth, in the order of the rows.

    `scatter` says how the standard deviation depends on the mean: "constant", as the root of it
    ("counts"), or in proportion ("relative").

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 100)
    >>> bent = residual_checks(x + x**2 + 0.01 * np.cos(1e3 * x), x)[0]
    >>> bent.key, bent.fine
    ('linearity', False)
    """
    y, mean = (np.asarray(v, dtype=np.float64) for v in (truth, predicted))
    with np.errstate(all="ignore"):
        e, spread = y - mean, float(np.ptp(mean)) if len(mean) else 0.0
        scale = float(np.abs(e).max(initial=0.0))
        if len(e) < MIN_RESIDUALS or not (0 < scale < math.inf and 0 < spread < math.inf):
            return ()
        f = (mean - mean.min()) / spread  # 0 to 1: tests do not depend on units
        if scatter == "counts":
            e = e / np.sqrt(np.maximum(mean, 1e-12))  # Pearson residuals
            return reset_test(e, f), poisson_dispersion(e), durbin_watson(e)
        e = e / (mean if scatter == "relative" else scale)
        normal = () if scatter == "relative" else (jarque_bera(e),)
        return reset_test(e, f), breusch_pagan(e, f), *normal, durbin_watson(e)


def reset_test(e: Array, f: Array, min_effect: float = 0.02) -> Check:
    """Ramsey's RESET: an F test of squares and cubes of predictions f as causes of residuals e.

    `min_effect` is the share of the residuals that a curve must explain.
    """
    n, line, curve = len(e), _unexplained(e, f, 1), _unexplained(e, f, 3)
    share, F = 1 - curve / max(line, 1e-300), (line - curve) / 2 * (n - 4) / max(curve, 1e-300)
    share, p = share * (line > 0), float(special.fdtrc(2, n - 4, max(F, 0.0)))
    bent = p < SIGNIFICANCE and share > min_effect
    text = f"a curve would explain {percent(share)} of the residuals ({p_value(p)})"
    advice = f"The relation is curved: {text}. Try log(x), x² or products."
    text = advice if bent else f"A straight line suffices: {text}."
    return Check("linearity", "Straight lines", not bent, text, {"share": share, "p": p})


def breusch_pagan(e: Array, f: Array, min_effect: float = 1.5) -> Check:
    """Breusch and Pagan's test of squared residuals against predictions, in Koenker's form.

    `min_effect` is the ratio of the sizes of residuals in the outer fifths of predictions.
    """
    n, squares, order = len(e), e * e, np.argsort(f, kind="stable")
    share = 1 - _unexplained(squares, f, 1) / max(_unexplained(squares, f, 0), 1e-300)
    p = float(special.chdtrc(1, n * max(share, 0.0)))
    fifths = order[: max(n // 5, 1)], order[-max(n // 5, 1) :]
    low, high = (math.sqrt(float(np.mean(squares[rows]))) for rows in fifths)
    ratio = high / low if low > 0 else math.inf
    factor = max(ratio, 1 / ratio if ratio else math.inf)
    uneven = p < SIGNIFICANCE and factor > min_effect
    text = f"Errors are about as large for small predictions as for large ones ({p_value(p)})."
    if uneven:
        ends = "largest fifth of predictions as for the smallest"
        ends = ends if ratio >= 1 else "smallest fifth of predictions as for the largest"
        text = (
            f"Errors are {number(factor, 2)} times as large for the {ends} ({p_value(p)}): "
            "intervals are wrong. Try the logarithm of the target, or weights."
        )
    return Check("spread", "Even errors", not uneven, text, {"ratio": ratio, "p": p})


def jarque_bera(e: Array, min_effect: float = 0.5) -> Check:
    """Jarque and Bera's test of skewness and kurtosis against those of a normal distribution.

    `min_effect` is the skewness, and half of the excess kurtosis.
    """
    z = (e - e.mean()) / (float(np.std(e)) or 1.0)
    skew, excess = float(np.mean(z**3)), float(np.mean(z**4)) - 3 * bool(np.ptp(e))
    p = float(special.chdtrc(2, len(e) / 6 * (skew**2 + excess**2 / 4)))
    odd = p < SIGNIFICANCE and (abs(skew) > min_effect or abs(excess) > 2 * min_effect)
    text = f"skewness {number(skew, 2)}, excess kurtosis {number(excess, 2)}, {p_value(p)}"
    what = "skewed upwards" if skew > 0 else "skewed downwards"
    what = what if abs(skew) > min_effect else "not normally distributed"
    rough = f"Errors are {what} ({text}): intervals of single predictions are rough."
    text = rough if odd else f"Errors are about normally distributed ({text})."
    numbers = {"skew": skew, "excess": excess, "p": p}
    return Check("normality", "Normal errors", not odd, text, numbers)


def durbin_watson(e: Array, min_effect: float = 0.1) -> Check:
    """Correlation r of residuals of neighbouring rows; Durbin and Watson's statistic is 2 (1 - r).

    `min_effect` is the absolute correlation.
    """
    z = e - e.mean()
    r = float(z[1:] @ z[:-1]) / max(float(z @ z), 1e-300)
    p = float(2 * special.ndtr(-abs(r) * math.sqrt(len(e))))
    dependent = p < SIGNIFICANCE and abs(r) > min_effect
    text = f"correlation {number(r, 2)}, {p_value(p)}"
    advice = (
        f"Errors of neighbouring rows are correlated ({text}): the rows are in an order that "
        "matters, such as time or place. Make folds of times or groups."
    )
    text = advice if dependent else f"Errors of neighbouring rows are uncorrelated ({text})."
    numbers = {"correlation": r, "p": p}
    return Check("independence", "Independent rows", not dependent, text, numbers)


def poisson_dispersion(pearson: Array, min_effect: float = 1.5) -> Check:
    """The mean of squared Pearson residuals, which is 1 for Poisson counts.

    `min_effect` is its ratio to 1, or 1 to it.
    """
    squares = pearson**2
    ratio, error = float(np.mean(squares)), float(np.std(squares, ddof=1)) / math.sqrt(len(squares))
    significant = abs(ratio - 1) > -special.ndtri(SIGNIFICANCE / 2) * error
    off = bool(significant and not 1 / min_effect < ratio < min_effect)
    about = "" if off else "about as much: "
    text = f"Counts vary {about}{number(ratio, 2)} times as much as Poisson"
    if off and ratio > 1:
        text += f": standard errors are too small by a factor of {number(math.sqrt(ratio), 2)}"
    grave = off and ratio > POISSON_RATIO_TO_WARN
    return Check("dispersion", "Spread of counts", not off, f"{text}.", {"ratio": ratio}, grave)


def _unexplained(v: Array, f: Array, degree: int) -> float:
    """Sum of squares of v that a polynomial of f, 0 to 1, does not explain."""
    T = np.polynomial.chebyshev.chebvander(2 * f - 1, degree)
    residual = v - T @ np.linalg.lstsq(T, v, rcond=None)[0]
    return float(residual @ residual)


def _some(rows: Any) -> Any:
    """At most so many rows, evenly spaced."""
    n = min(len(rows), MAX_ROWS_CHECKED)
    return rows[np.linspace(0, len(rows) - 1, n).astype(np.int64)]


def drift(before: Any, after: Any, names: list[str], min_effect: float = 0.1) -> tuple[Check, ...]:
    """Kolmogorov and Smirnov's test, column by column, of training rows against others.

    `min_effect` is the distance of the two distribution functions; p is multiplied by the number of
    columns (Bonferroni).
    """
    n, m, p = before.shape[0], after.shape[0], before.shape[1]
    if is_sparse(before) or is_sparse(after) or min(n, m) < 2 or p > MAX_COLUMNS_CHECKED:
        return ()
    A, B = (np.asarray(_some(rows), dtype=np.float64) for rows in (before, after))
    tests = [stats.ks_2samp(A[:, j], B[:, j], method="asymp") for j in range(p)]
    distance = np.array([float(test.statistic) for test in tests])
    chance = np.minimum(np.array([float(test.pvalue) for test in tests]) * p, 1.0)
    order, then, now = np.lexsort((-distance, chance)).tolist(), A.mean(axis=0), B.mean(axis=0)
    moved = [j for j in order if chance[j] < SIGNIFICANCE and distance[j] > min_effect]
    first, lead = order[0], f"The {plural(m, 'row')} that measure the quality"
    most = f"{percent(distance[first])} of the rows ({p_value(chance[first])})"
    text = (
        f"{lead} are like the {plural(n, 'training row')}: {name(names[first])} differs by {most}."
    )
    if moved:
        means = []
        for j in moved[:3]:
            new, old = (cell(v[j], names[j], 3) for v in (now, then))
            means.append(f"{name(names[j])}, mean {new} instead of {old}")
        more = f"; and {plural(len(moved) - 3, 'more column')}" if len(moved) > 3 else ""
        text = (
            f"{lead} differ from the {plural(n, 'training row')}: {'; '.join(means)}{more}. The "
            "quality may be another for other rows."
        )
    effects = {"distance": float(distance[first]), "p": float(chance[first])}
    return (Check("drift", "Like the training rows", not moved, text, effects, bool(moved)),)


def leakage(X: Any, y: Any, names: list[str], is_class: bool, target: str) -> tuple[Check, ...]:
    """Columns that alone predict y (nearly) perfectly: perhaps a copy or a code of it.

    Indicators `a=1`, `a=2` of one column count as one column `a`.
    """
    groups: dict[str, list[int]] = {}
    for j, label in enumerate(names):
        groups.setdefault(label.rsplit("=", 1)[0], []).append(j)
    if y.ndim != 1 or len(y) < MIN_ROWS_FOR_LEAKAGE or is_sparse(X):
        return ()
    if not 2 <= len(groups) <= MAX_COLUMNS_CHECKED or len(np.unique(y)) < 2:
        return ()
    X, y, leaks = np.asarray(_some(X)), _some(y), []
    y = np.unique(y, return_inverse=True)[1] if is_class else y
    for column, members in groups.items():
        # Indicators as one number a level; 0 for the base level, whose indicators are all 0.
        x = X[:, members] @ np.arange(1.0, len(members) + 1)
        if np.isfinite(x).all() and (_separates_classes if is_class else _determines_number)(x, y):
            leaks.append(column)
    text = f"No column alone predicts {target} (nearly) perfectly."
    if leaks:
        verb, each = ("predicts", "it is") if len(leaks) == 1 else ("predict", "each is")
        text = (
            f"{listed(leaks, 3, quoted=True)} alone {verb} {target} (nearly) perfectly, so {each} "
            "perhaps a copy or a code of it (leakage). Leave out what is unknown when predicting."
        )
    count = {"columns": float(len(leaks))}
    return (Check("leakage", "No column leaks the target", not leaks, text, count, bool(leaks)),)


def _determines_number(x: Array, y: Array) -> bool:
    """Whether y is a linear or a monotone function of x, or x is a code of y."""
    values, code = np.unique(x, return_inverse=True)
    if len(values) < 2:
        return False
    if len(values) <= min(20, len(y) // 5):
        means = np.bincount(code, y) / np.bincount(code)
        return bool(np.var(y - means[code]) <= UNEXPLAINED_BY_COPY * np.var(y))
    with np.errstate(all="ignore"):
        ranks = code, np.unique(y, return_inverse=True)[1]
        r = (np.corrcoef(a, b)[0, 1] for a, b in ((x, y), ranks))
        return bool(max(v * v for v in r) >= 1 - UNEXPLAINED_BY_COPY)


def _separates_classes(x: Array, y: NDArray[np.int64]) -> bool:
    """Whether each value of x, or each interval between K - 1 thresholds, holds one class."""
    n, sizes = len(y), np.bincount(y)
    allowed = WRONG_BY_CODE * (n - sizes.max())
    values, code = np.unique(x, return_inverse=True)
    if len(values) <= min(20 + len(sizes), n // 5):
        table = np.zeros((len(values), len(sizes)))
        np.add.at(table, (code, y), 1.0)
        return bool(n - table.max(axis=1).sum() <= allowed)
    by_median = np.argsort([np.median(x[y == k]) for k in range(len(sizes))])
    # If x separates the classes, sorted rows are those of each class in turn, by its median.
    in_turn = np.repeat(by_median, sizes[by_median])
    return bool(np.sum(y[np.argsort(x, kind="stable")] != in_turn) <= allowed)


def row_warnings(rows: Rows, is_class: bool) -> list[str]:
    """Too few training rows, and rare classes."""
    (n, p), texts = rows.X.shape, []
    if n < MIN_ROWS_PER_COLUMN * p:
        texts.append(
            f"{plural(n, 'row')} for {plural(p, 'column')} are few, less than "
            f"{MIN_ROWS_PER_COLUMN} per column: coefficients are rough. Leave columns out, or use "
            "more rows."
        )
    if is_class and rows.y is not None:
        labels, counts = np.unique(rows.y, return_counts=True)
        least, rare = int(counts.min()), (counts < RARE_SHARE * n) | (counts < RARE_ROWS)
        if len(labels) > 1 and rare.any():
            verb, label = "is" if least == 1 else "are", name(labels[np.argmin(counts)])
            more = f" ({rare.sum()} classes are as rare)" if rare.sum() > 1 else ""
            texts.append(
                f"only {least} of {n:,} training rows {verb} {label!r}, {percent(least / n)}{more}"
                ": accuracy hides such a class. Look at its recall, and use costs."
            )
    return texts

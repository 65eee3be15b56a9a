"""Checks of a trial: probabilities or residuals, single rows, leakage, and too few rows.

A check doubts only if a difference is both significant and as large as its `min_effect`: with many
rows every trifle is significant. `verdict` calls `diagnose`; docs/pictures.md has the table.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from adaline.estimators.logistic import LogisticRegression
from adaline.estimators.registry import scatter_of
from adaline.evaluation.influence import influence, influence_sentence
from adaline.evaluation.quality import NORMAL_95
from adaline.evaluation.trial import Rows, Trial
from adaline.evaluation.words import listed, name, number, p_value, percent, plural
from adaline.parameters import is_sparse
from adaline.results import Array, Result

SIGNIFICANCE = 0.01
MIN_ROWS = 20  # with fewer, residuals and leakage are not checked; any round number


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
    target, is_class = name(trial.target or "the target"), hasattr(model, "classes_")
    checks: list[Check] = []
    if rows is not None and answers is not None:
        if is_class and answers.log_p is not None:
            # Of two classes the second, of more the likeliest.
            log_p, classes = answers.log_p, model.classes_
            many, label = len(classes) > 2, name(classes[1])
            best = log_p.argmax(axis=1) if many else np.ones(len(log_p), dtype=np.int64)
            v = log_p[np.arange(len(log_p)), best]
            with np.errstate(all="ignore"):
                odds = v - (np.log(-np.expm1(v)) if many else log_p[:, 0])
            what = "of the likeliest class" if many else f"of {label!r}"
            checks.append(calibration(rows.y == classes[best], odds, what))
        elif not is_class and rows.y.ndim == 1:
            checks += residual_checks(rows.y, answers.predicted, scatter_of(model))
    has_targets = learned is not None and learned.y is not None
    if learned is not None and has_targets:
        moved = influence(model, learned.X, learned.y, learned.weight)
        if moved is not None:
            text = influence_sentence(moved, model, learned.X, learned.y, trial.names, target)
            largest = {"cook": float(moved.cook[moved.rows[0]]), "row": float(moved.rows[0])}
            fine = not len(moved.decisive)
            checks.append(Check("influence", "Single rows", fine, text, largest, not fine))
    labelled = learned if has_targets else rows
    if labelled is not None:
        checks += leakage(labelled.X, labelled.y, trial.names, is_class, target)
    return tuple(checks)


def calibration(yes: Any, log_odds: Any, what: str = "") -> Check:
    """Check probabilities 1 / (1 + exp(-v)), of `what`, against what was observed.

    On average, z is the sum of (observed - predicted) over its deviation. From low to high, Cox's
    slope is b in observed log-odds = a + b v: below 1 if probabilities are too near 0 and 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> v = rng.normal(0, 2, 2000)
    >>> yes = rng.random(2000) < 1 / (1 + np.exp(-v))
    >>> calibration(yes, v).fine, calibration(yes, 3 * v).fine
    (True, False)
    """
    y = np.asarray(yes, dtype=bool)
    # Beyond 30 a probability is 0 or 1 to rounding.
    v = np.clip(np.nan_to_num(np.asarray(log_odds, dtype=np.float64)), -30.0, 30.0)
    p = special.expit(v)
    z, slope, error = float(np.sum(y - p) / np.sqrt(np.sum(p * (1 - p)))), math.nan, math.nan
    # One class or separable rows raise ValueError: the likelihood grows without bound.
    with warnings.catch_warnings(), suppress(ValueError):
        warnings.simplefilter("ignore")
        if np.ptp(v) > 0:
            columns = LogisticRegression(alpha=0).fit(v[:, np.newaxis], y).summary().columns
            slope, error = float(columns["coef"][1]), float(columns["std err"][1])
    low, high = slope - NORMAL_95 * error, slope + NORMAL_95 * error
    numbers = {"predicted": float(p.mean()), "observed": float(y.mean()), "z": z}
    numbers |= {"slope": slope, "slope_low": low, "slope_high": high}
    text = f"{percent(p.mean())} predicted on average, {percent(y.mean())} observed"
    text += f" in {plural(len(y), 'row')}"
    fine, meaning = True, "calibrated"
    if min(y.sum(), (~y).sum()) < 10 or not math.isfinite(high - low):  # any round number
        lead = f"Too few rows to check the probabilities: {text}."
        return Check("calibration", f"Probabilities {what}", None, lead, numbers)
    if high < 1:
        fine, meaning = False, "too near to 0 and 1: nearly certain predictions are less certain"
    elif low > 1:
        fine, meaning = False, "too near to each other: likely predictions are likelier"
    elif abs(z) > NORMAL_95:
        fine, meaning = False, f"too {'low' if z > 0 else 'high'} on average"
    ends = f"slope {number(slope, 2)}, 95% interval {number(low, 2)} to {number(high, 2)}"
    text = f"The probabilities are {meaning} ({text}; {ends}; 1 is right)."
    return Check("calibration", f"Probabilities {what}", fine, text, numbers)


def residual_checks(truth: Any, predicted: Any, scatter: str = "constant") -> tuple[Check, ...]:
    """Checks of predictions against the truth, in the order of the rows.

    `scatter` says how the standard deviation depends on the mean: "constant", as the root of it
    ("counts"), or in proportion ("relative").
    """
    y, mean = (np.asarray(v, dtype=np.float64) for v in (truth, predicted))
    with np.errstate(all="ignore"):
        e, spread = y - mean, float(np.ptp(mean)) if len(mean) else 0.0
        scale = float(np.ptp(e)) if len(e) else 0.0
        if len(e) < MIN_ROWS or not (0 < scale < math.inf and 0 < spread < math.inf):
            return ()
        f = (mean - mean.min()) / spread  # 0 to 1: tests do not depend on units
        if scatter == "counts":
            e = e / np.sqrt(np.maximum(mean, 1e-12))  # Pearson residuals
            return reset_test(e, f), poisson_dispersion(e), durbin_watson(e)
        e = e / (mean if scatter == "relative" else scale)
        normal = () if scatter == "relative" else (jarque_bera(e),)
        return reset_test(e, f), breusch_pagan(e, f), *normal, durbin_watson(e)


def reset_test(e: Array, f: Array, min_effect: float = 0.02) -> Check:
    """Ramsey's RESET: squares and cubes of f explain a share of at least `min_effect` of e."""
    n, line, curve = len(e), _unexplained(e, f, 1), max(_unexplained(e, f, 3), 1e-300)
    share = 1 - curve / max(line, 1e-300)
    p = float(stats.f.sf((line - curve) / 2 * (n - 4) / curve, 2, n - 4))
    bent = p < SIGNIFICANCE and share > min_effect
    lead = "The relation is curved" if bent else "A straight line suffices"
    text = f"{lead}: a curve would explain {percent(share)} of the residuals ({p_value(p)})."
    text += " Try log(x), x² or products." * bent
    return Check("linearity", "Straight lines", not bent, text, {"share": share, "p": p})


def breusch_pagan(e: Array, f: Array, min_effect: float = 1.5) -> Check:
    """Breusch and Pagan's test in Koenker's form: squares of residuals depend on predictions.

    `min_effect` is the ratio of the sizes of residuals in the outer fifths of predictions.
    """
    n, squares, order = len(e), e * e, np.argsort(f, kind="stable")
    share = 1 - _unexplained(squares, f, 1) / max(_unexplained(squares, f, 0), 1e-300)
    p = float(special.chdtrc(1, n * max(share, 0.0)))
    fifths = order[: n // 5], order[-(n // 5) :]
    low, high = (math.sqrt(float(np.mean(squares[rows]))) for rows in fifths)
    ratio = high / low if low > 0 else math.inf
    uneven = p < SIGNIFICANCE and not 1 / min_effect <= ratio <= min_effect
    sizes = ("largest", "smallest") if ratio > 1 else ("smallest", "largest")
    factor = number(max(ratio, 1 / ratio if ratio else math.inf), 2)
    text = f"Errors are {factor} times as large for the {sizes[0]} fifth of predictions as for the "
    text += f"{sizes[1]} ({p_value(p)})"
    text += ": intervals are wrong. Try the logarithm of the target, or weights." if uneven else "."
    return Check("spread", "Even errors", not uneven, text, {"ratio": ratio, "p": p})


def jarque_bera(e: Array, min_effect: float = 0.5) -> Check:
    """Jarque and Bera's test: a skewness of `min_effect`, or twice as much excess kurtosis."""
    p = float(stats.jarque_bera(e).pvalue)
    skew, excess = float(stats.skew(e)), float(stats.kurtosis(e))
    odd = p < SIGNIFICANCE and (abs(skew) > min_effect or abs(excess) > 2 * min_effect)
    lead = "not normally distributed" if odd else "about normally distributed"
    text = f"Errors are {lead} (skewness {number(skew, 2)}, excess kurtosis {number(excess, 2)}, "
    text += f"{p_value(p)}){': intervals of single predictions are rough' * odd}."
    numbers = {"skew": skew, "excess": excess, "p": p}
    return Check("normality", "Normal errors", not odd, text, numbers)


def durbin_watson(e: Array, min_effect: float = 0.1) -> Check:
    """Correlation r of residuals of neighbouring rows; Durbin and Watson's is 2 (1 - r)."""
    z = e - e.mean()
    r = float(z[1:] @ z[:-1]) / max(float(z @ z), 1e-300)
    p = float(2 * special.ndtr(-abs(r) * math.sqrt(len(e))))
    dependent = p < SIGNIFICANCE and abs(r) > min_effect
    text = f"Errors of neighbouring rows have the correlation {number(r, 2)} ({p_value(p)})."
    text += " If the rows are in order of time or place, make folds of times or groups." * dependent
    numbers = {"correlation": r, "p": p}
    return Check("independence", "Independent rows", not dependent, text, numbers)


def poisson_dispersion(pearson: Array, min_effect: float = 1.5) -> Check:
    """The mean of squared Pearson residuals, which is 1 for Poisson counts."""
    squares = pearson**2
    ratio, error = float(np.mean(squares)), float(stats.sem(squares))
    significant = abs(ratio - 1) > -special.ndtri(SIGNIFICANCE / 2) * error
    off = bool(significant and not 1 / min_effect < ratio < min_effect)
    about = "" if off else "about as much: "
    text = f"Counts vary {about}{number(ratio, 2)} times as much as Poisson"
    if off and ratio > 1:
        text += f": standard errors are too small by a factor of {number(math.sqrt(ratio), 2)}"
    grave = off and ratio > 2.0
    return Check("dispersion", "Spread of counts", not off, f"{text}.", {"ratio": ratio}, grave)


def _unexplained(v: Array, f: Array, degree: int) -> float:
    """Sum of squares of v that a polynomial of f, 0 to 1, does not explain."""
    T = np.polynomial.chebyshev.chebvander(2 * f - 1, degree)
    residual = v - T @ np.linalg.lstsq(T, v, rcond=None)[0]
    return float(residual @ residual)


def leakage(X: Any, y: Any, names: list[str], is_class: bool, target: str) -> tuple[Check, ...]:
    """Columns that alone predict y (nearly) perfectly: perhaps a copy or a code of it.

    Indicators `a=1`, `a=2` of one column count as one column `a`.
    """
    groups: dict[str, list[int]] = {}
    for j, label in enumerate(names):
        groups.setdefault(label.rsplit("=", 1)[0], []).append(j)
    if y.ndim != 1 or len(y) < MIN_ROWS or is_sparse(X) or len(groups) < 2:
        return ()
    codes = np.unique(y, return_inverse=True)[1]
    if not codes.any():
        return ()
    # Indicators as one number a level; 0 for the base level, whose indicators are all 0.
    levels = {c: X[:, js] @ np.arange(1.0, len(js) + 1) for c, js in groups.items()}
    leaks = [column for column, x in levels.items() if _is_copy(x, codes, is_class)]
    text = f"No column alone predicts {target} (nearly) perfectly."
    if leaks:
        verb, each = ("predicts", "it is") if len(leaks) == 1 else ("predict", "each is")
        text = (
            f"{listed(leaks, 3, quoted=True)} alone {verb} {target} (nearly) perfectly, so {each} "
            "perhaps a copy or a code of it (leakage). Leave out what is unknown when predicting."
        )
    count = {"columns": float(len(leaks))}
    return (Check("leakage", "No column leaks the target", not leaks, text, count, bool(leaks)),)


def _is_copy(x: Array, codes: NDArray[np.intp], is_class: bool) -> bool:
    """Whether x alone predicts a target, whose different values have these codes."""
    if not is_class:  # the ranks of x explain all but 0.1% of those of y
        return bool(np.ptp(x) > 0 and stats.spearmanr(x, codes).statistic ** 2 >= 0.999)
    # Rows sorted by x are those of each class in turn, in the order of their medians; of the errors
    # of a constant 2% may remain.
    sizes = np.bincount(codes)
    order = np.argsort([np.median(x[codes == k]) for k in range(len(sizes))])
    wrong = np.sum(codes[np.argsort(x, kind="stable")] != np.repeat(order, sizes[order]))
    return bool(wrong <= 0.02 * (len(codes) - sizes.max()))


def row_warnings(rows: Rows, is_class: bool) -> list[str]:
    """Too few training rows, and rare classes."""
    (n, p), texts = rows.X.shape, []
    if n < 5 * p:
        texts.append(
            f"{plural(n, 'row')} for {plural(p, 'column')} are few, less than 5 per column: "
            "coefficients are rough. Leave columns out, or use more rows."
        )
    if is_class and rows.y is not None:
        labels, counts = np.unique(rows.y, return_counts=True)
        least = int(counts.min())
        if len(labels) > 1 and (least < 0.05 * n or least < 10):
            label = name(labels[np.argmin(counts)])
            texts.append(
                f"only {least} of {n:,} training rows {'is' if least == 1 else 'are'} {label!r}, "
                f"{percent(least / n)}: accuracy hides such a class. Look at its recall, and use "
                "costs."
            )
    return texts

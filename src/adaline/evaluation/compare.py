"""Learners side by side on the same folds, with intervals and paired tests.

McNemar's test of two classifiers conditions on the rows that exactly one of them predicts rightly,
and is exact. Means of folds share most of their training rows, so that their spread is too small by
a factor that Nadeau and Bengio (Machine Learning 52, 2003) correct.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.utils.validation import check_X_y

from adaline.estimators.registry import public_estimators
from adaline.evaluation.cross_validation import Folds, cross_validated, folds
from adaline.evaluation.quality import Decisions, Errors, Quality
from adaline.evaluation.words import chance, name, number, percent, percent_range, plural
from adaline.parameters import finite, refuse, weights_of
from adaline.results import Array, Result
from adaline.summaries import aligned as aligned

NO_MODEL = "no model"


@dataclass(frozen=True)
class Compared(Result):
    """One learner of a comparison: its accuracy or R² with a 95% interval, or a note why not.

    `p` is the p-value, by `Comparison.test`, that it is as good as the best, times the number of
    learners compared with the best; None for the best. `seconds` are those of all fits, `facts` all
    numbers of the quality.
    """

    name: str
    measure: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    seconds: float | None = None
    facts: Mapping[str, Any] | None = None
    note: str = ""

    @property
    def is_as_good(self) -> bool:
        """Whether the difference from the best is not significant."""
        return self.p is not None and self.p > 0.05


@dataclass(frozen=True)
class Comparison(Result):
    """Learners compared on the same folds, the best first.

    The first of `rows` is "no model": the most common class, or the mean, of the `count` rows that
    were predicted. `measure` is "accuracy" or "R²", and `way` such as "10-fold cross-validation".
    """

    rows: tuple[Compared, ...]
    measure: str
    count: int
    way: str

    @property
    def best(self) -> Compared | None:
        """The learner of the best quality, if any beats predicting without a model."""
        no_model, *able = [row for row in self.rows if row.measure is not None]
        first = able[0] if able else no_model
        return first if (first.measure or 0) > (no_model.measure or 0) else None

    @property
    def test(self) -> str:
        """The paired test of its p-values."""
        return "corrected t test of folds" if self.measure == "R²" else "exact McNemar test"

    @property
    def sentence(self) -> str:
        """Which is best, and which are not significantly worse."""
        best, rows = self.best, f"{self.way}, {plural(self.count, 'row')}"
        if best is None:
            return f"No learner does better than no model ({rows})."
        equal = [row.name for row in self.rows if row.is_as_good]
        result = f"The others are significantly worse ({self.test})."
        if equal:
            result = f"It is not significantly better than {', '.join(equal)} ({self.test})."
        return f"Best: {best.name}, {self.measure} {percent(best.measure or 0)} ({rows}). {result}"

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows of a table for people."""
        (title, test), key = ("AUC", "p (McNemar)"), "auc"
        if self.measure == "R²":
            (title, test), key = ("RMSE", "p (t test)"), "rmse"
        rows = []
        for row in self.rows:
            if row.measure is None or row.facts is None:
                rows.append([name(row.name), "", "", "", row.note, ""])
                continue
            interval = "" if row.low is None else percent_range(row.low, row.high or 0.0)
            other = "" if row.facts[key] is None else number(row.facts[key], 3)
            p = "best" if row is self.best else "" if row.p is None else chance(row.p)
            seconds = "" if row.seconds is None else f"{row.seconds:.2g}"
            rows.append([name(row.name), percent(row.measure), interval, other, p, seconds])
        return ["learner", self.measure, "95% interval", title, test, "seconds"], rows

    def __str__(self) -> str:
        head, rows = self.cells()
        return "\n".join([*aligned([head, *rows], left=1), "", self.sentence])


def compare(
    X: Any,
    y: Any,
    learners: Any = None,
    *,
    cv: Any = 10,
    groups: Any = None,
    times: Any = None,
    sample_weight: Any = None,
    seed: int = 0,
) -> Comparison:
    """Try learners on the same folds, and test whether the best is better than the others.

    Accuracies are compared by the exact McNemar test, mean squared errors by the t test of folds
    that Nadeau and Bengio corrected for training rows in common.

    Parameters
    ----------
    X, y : array-like or CSR of shape (n, p), and (n,)
    learners : sequence or mapping of estimators, optional
        By default every learner that suits y: text and few whole numbers are classes.
    cv, groups, times, sample_weight, seed
        As for `cross_validated`.

    The comparison prints as a table. A learner that fails has a note, and stops no other.

    Examples
    --------
    >>> from adaline import GaussianClassifier, LogisticRegression, compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 2))
    >>> y = np.where(X[:, 0] + 0.5 * rng.standard_normal(100) > 0, "yes", "no")
    >>> found = compare(X, y, [LogisticRegression(), GaussianClassifier()])
    >>> sorted(row.name for row in found.rows)
    ['gaussian', 'logistic', 'no model']
    >>> print(found.sentence)
    Best: ..., accuracy ...% (10-fold cross-validation, 100 rows). It is not significantly ...
    """
    refuse("y", y)
    # First, as what no learner accepts is no failure of a learner.
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
    omega = weights_of("sample_weight", sample_weight, len(y))
    named = _learners(learners, y, seed)
    is_class = all(getattr(model, "_learns", "classes") == "classes" for model in named.values())
    y = y if is_class else finite("y", y)
    parts = cv if isinstance(cv, Folds) else folds(y, cv, groups=groups, times=times, seed=seed)
    tested = np.sort(np.concatenate([test for _, test in parts]))
    no_model, constant = _no_model(y[tested], is_class)
    tried, losses = [], {NO_MODEL: _loss(y[tested], constant, is_class)}
    for called, model in named.items():
        if getattr(model, "_traces", None) == "duals" and len(y) > 5_000:
            # Each row would be compared with each.
            tried.append(Compared(called, note="not tried: more than 5,000 rows"))
            continue
        begin = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = cross_validated(model, X, y, parts, sample_weight=omega, seed=seed)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            text = str(error).split("\n")[0].split(". ")[0].split("; ")[0]
            tried.append(Compared(called, note=f"failed: {name(text)}"))
        else:
            row = _row(called, result.quality)
            tried.append(replace(row, seconds=time.perf_counter() - begin))
            losses[called] = _loss(y[tested], result.answers.predicted, is_class)
    # The best constant first, then by quality, and what failed last.
    tried.sort(key=lambda row: math.inf if row.measure is None else -row.measure)
    rows = [no_model, *tried]
    best = max(rows, key=lambda row: -math.inf if row.measure is None else row.measure)
    for j, row in enumerate(rows):
        if row.name in losses and row is not best:
            with np.errstate(over="ignore", invalid="ignore"):
                d = losses[row.name] - losses[best.name]
                p = mcnemar(d) if is_class else corrected_t(d, tested, parts)
            # Bonferroni, as the best was chosen among them (Hsu, Multiple Comparisons, 1996: it
            # suffices to compare the best with each).
            rows[j] = replace(row, p=min(1.0, p * (len(losses) - 1)))
    return Comparison(tuple(rows), "accuracy" if is_class else "R²", len(tested), parts.way)


def kind_of_target(y: NDArray[Any]) -> str:
    """Whether a target holds "classes", "counts" or "numbers"; few whole numbers are classes."""
    if y.dtype.kind not in "fiu":
        return "classes"
    values = np.unique(y)
    is_whole = bool(np.all(values == np.floor(values)))
    if len(values) <= 2 or (is_whole and len(values) <= min(10, len(y) / 3)):
        return "classes"
    return "counts" if is_whole and values[0] >= 0 else "numbers"


def _learners(given: Any, y: NDArray[Any], seed: int) -> dict[str, Any]:
    """Estimators by name."""
    if given is None:
        kind = kind_of_target(y)
        suitable = ("counts", "numbers") if kind == "counts" else (kind,)
        kinds = [k for k in public_estimators() if k._command and k._learns in suitable]
        given = {str(kind._command): kind() for kind in kinds}
        for model in given.values():
            if hasattr(model, "random_state"):
                model.set_params(random_state=int(seed) % 2**32)
    if isinstance(given, Mapping):
        return {str(key): model for key, model in given.items()}
    models = list(given)
    names = [getattr(m, "_command", None) or type(m).__name__ for m in models]
    pairs = zip(names, models, strict=True)
    return {n if names.count(n) == 1 else repr(model): model for n, model in pairs}


def _no_model(y: NDArray[Any], is_class: bool) -> tuple[Compared, NDArray[Any]]:
    """The best constant for the rows predicted: their most common class, or their mean.

    Not that of the training rows: the majority of a training fold is the minority of its test fold,
    so that even a learner of noise would beat it.
    """
    labels, counts = np.unique(y, return_counts=True)
    constant = np.full(len(y), labels[np.argmax(counts)] if is_class else np.mean(y))
    quality: Quality = Decisions(labels.tolist()) if is_class else Errors()
    quality.add(y, constant)
    return _row(NO_MODEL, quality), constant


def _row(called: str, quality: Quality) -> Compared:
    f, key = quality.facts(), "accuracy" if isinstance(quality, Decisions) else "r2"
    return Compared(called, f[key], f[f"{key}_low"], f[f"{key}_high"], facts=f)


def _loss(y: NDArray[Any], predicted: NDArray[Any], is_class: bool) -> Array:
    """The loss of each prediction: 1 for a wrong class, the square of an error."""
    with np.errstate(over="ignore"):
        return np.asarray(y != predicted if is_class else (y - predicted) ** 2, dtype=np.float64)


def mcnemar(d: Array) -> float:
    """The exact p-value that +1 and -1 are equally likely in d; zeros do not count."""
    more, less = int(np.sum(d > 0)), int(np.sum(d < 0))
    return float(stats.binomtest(more, more + less).pvalue) if more + less else 1.0


def corrected_t(d: Array, tested: Any, parts: Folds) -> float:
    """The p-value of a mean of 0, by t = mean / sqrt((1/k + test/train) s²) of the k folds' means.

    d are differences of the rows `tested`, which are sorted.
    """
    k = len(parts)
    means = np.array([d[np.searchsorted(tested, test)].mean() for _, test in parts])
    if k < 2 or not np.all(np.isfinite(means)) or not np.any(d):
        return 1.0
    share = float(np.mean([len(test) / len(train) for train, test in parts]))
    spread = float(np.std(means, ddof=1)) * math.sqrt(1 / k + share)
    mean = abs(float(np.mean(d)))
    return 2 * float(stats.t.sf(mean / spread, k - 1)) if spread else float(mean == 0)

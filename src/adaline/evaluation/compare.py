"""Learners side by side on the same folds, with intervals and paired tests.

McNemar's test of two classifiers conditions on the rows that exactly one of them predicts rightly,
and is exact. Means of folds share most of their training rows, so that their spread is too small by
a factor that Nadeau and Bengio (Machine Learning 52, 2003) correct.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from adaline.estimators.registry import public_estimators
from adaline.evaluation.cross_validation import (
    Folds,
    accepts_weights,
    as_folds,
    fitted,
    predict_folds,
    rows_of,
)
from adaline.evaluation.quality import Decisions, Errors, Quality
from adaline.evaluation.words import chance, name, number, p_value, percent, percent_range, plural
from adaline.parameters import (
    POSITIVE,
    ParameterError,
    array,
    finite,
    is_sparse,
    numbers,
    refuse,
    shown,
    weights_of,
    words,
)
from adaline.results import Array, Result
from adaline.summaries import aligned
from adaline.sums.rows import check_finite

NO_MODEL = "no model"
MAX_ROWS_FOR_KERNELS = 5_000  # a kernel learner compares each row with each
MAX_CLASSES_OF_NUMBERS = 10  # whole numbers with so few different values are taken for classes


@dataclass(frozen=True)
class Compared(Result):
    """One learner of a comparison: its accuracy or R² with a 95% interval, or a note why not.

    `behind` is how far it is behind the best, in accuracy or in root mean squared error, and `p`
    the p-value of that by `Comparison.test`, times the number of learners compared with the best;
    both are None for the best. `seconds` are those of one fit, `facts` all numbers of the quality.
    """

    name: str
    measure: float | None = None
    low: float | None = None
    high: float | None = None
    behind: float | None = None
    p: float | None = None
    seconds: float | None = None
    facts: Mapping[str, Any] | None = None
    note: str = ""

    @property
    def is_as_good(self) -> bool:
        """Whether these rows cannot tell it from the best."""
        return self.p is not None and self.p > 0.05


@dataclass(frozen=True)
class Comparison(Result):
    """Learners compared on the same folds, the best first.

    Attributes
    ----------
    rows : tuple of Compared
        "no model" first: the most common class, or the mean, of the rows that were predicted.
    measure : "accuracy" or "R²"
    count : int
        Rows that were predicted.
    way : str
    """

    rows: tuple[Compared, ...]
    measure: str
    count: int
    way: str

    @property
    def best(self) -> Compared | None:
        """The learner of the best quality, if any beats predicting without a model."""
        able = [row for row in self.rows if row.measure is not None]
        first = able[1] if len(able) > 1 else None
        return first if first and (first.measure or 0) > (able[0].measure or 0) else None

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
        quality = f"{self.measure} {percent(best.measure or 0)} ({rows})"
        equal = [row.name for row in self.rows if row.is_as_good and row.name != NO_MODEL]
        result = f"The others are significantly worse ({self.test})."
        if self.rows[0].is_as_good:
            p = p_value(self.rows[0].p or 0.0)
            result = f"It is not significantly better than no model ({self.test}, {p})."
        elif equal:
            result = f"It is not significantly better than {', '.join(equal)} ({self.test})."
        return f"Best: {best.name}, {quality}. {result}"

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows of a table for people."""
        is_r2 = self.measure == "R²"
        head = ["learner", self.measure, "95% interval", "RMSE" if is_r2 else "AUC"]
        head += ["p (t test)" if is_r2 else "p (McNemar)", "fit, s"]
        rows = [self._cells_of(row, "rmse" if is_r2 else "auc") for row in self.rows]
        if not any(row[3] for row in rows):  # no AUC of three classes
            head, rows = [*head[:3], *head[4:]], [[*row[:3], *row[4:]] for row in rows]
        return head, rows

    def _cells_of(self, row: Compared, other: str) -> list[str]:
        if row.measure is None or row.facts is None:
            return [name(row.name), *[""] * 3, row.note, ""]
        value = row.facts.get(other)
        return [
            name(row.name),
            percent(row.measure),
            "" if row.low is None or row.high is None else percent_range(row.low, row.high),
            "" if value is None else number(value, 3) if other == "rmse" else f"{value:.3f}",
            "best" if row is self.best else "" if row.p is None else chance(row.p),
            "" if row.seconds is None else f"{row.seconds:.2g}",
        ]

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
    time_limit: float = 60.0,
) -> Comparison:
    """Try learners on the same folds, and test whether the best is better than the others.

    Accuracies are compared by the exact McNemar test, mean squared errors by the t test of folds
    that Nadeau and Bengio corrected for training rows in common.

    Parameters
    ----------
    X, y : array-like or CSR of shape (n, p), and (n,)
    learners : sequence or mapping of estimators, or "classes" or "numbers", optional
        By default every learner that suits y: text and few whole numbers are classes.
    cv, groups, times, sample_weight, seed
        As for `cross_validated`.
    time_limit : float
        Seconds for each learner. One that would need more is left out, with a note.

    Returns
    -------
    Comparison
        Prints as a table. A learner that fails has a note, and stops no other.

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
    X, truth = rows_of(X), array("y", y)
    X = X if is_sparse(X) else numbers("X", X)
    check_finite(X)  # what no learner accepts is no failure of a learner
    refuse("y", truth)
    if 0 in X.shape or truth.shape != X.shape[:1]:
        raise ParameterError(f"X has shape {X.shape} and y {truth.shape}; expected (n, p), (n,).")
    POSITIVE("time_limit", time_limit)
    omega = weights_of("sample_weight", sample_weight, len(truth))
    named = _learners(learners, truth, seed)
    is_class = all(getattr(model, "_learns", "classes") == "classes" for model in named.values())
    truth = truth if is_class else finite("y", y)
    parts = as_folds(cv, truth, groups, times, seed)
    tested = np.sort(np.concatenate([test for _, test in parts]))
    constant, loss = _no_model(truth[tested], is_class)
    rows, losses = [], {NO_MODEL: loss}
    for called, model in named.items():
        row, loss = _try(called, model, X, truth, parts, omega, time_limit, seed)
        rows.append(row)
        losses[called] = loss
    able = sorted((r for r in rows if r.measure is not None), key=lambda r: -(r.measure or 0))
    judged = _against_best([constant, *able], losses, parts, is_class)
    failed = [row for row in rows if row.measure is None]
    return Comparison((*judged, *failed), "accuracy" if is_class else "R²", len(tested), parts.way)


def kind_of_target(y: NDArray[Any]) -> str:
    """Whether a target holds "classes", "counts" or "numbers"; few whole numbers are classes."""
    if y.dtype.kind not in "fiu":
        return "classes"
    values = np.unique(y)
    is_whole = bool(np.all(values == np.floor(values)))
    few = len(values) <= min(MAX_CLASSES_OF_NUMBERS, len(y) / 3)
    if len(values) <= 2 or (is_whole and few):
        return "classes"
    return "counts" if is_whole and values[0] >= 0 else "numbers"


def _learners(given: Any, y: NDArray[Any], seed: int) -> dict[str, Any]:
    """Estimators by name."""
    if given is None or isinstance(given, str):
        wanted = words("classes", "numbers", "counts")("learners", given or kind_of_target(y))
        kinds = {wanted, "numbers"} if wanted == "counts" else {wanted}
        models: list[Any] = [k() for k in public_estimators() if k._command and k._learns in kinds]
        for model in models:
            if "random_state" in model.get_params(deep=False):
                model.set_params(random_state=int(seed) % 2**32)
        return {str(model._command): model for model in models}
    if not isinstance(given, Iterable):
        raise ParameterError(f"learners is {shown(given)}; expected estimators.")
    models = list(given.values()) if isinstance(given, Mapping) else list(given)
    for model in models:
        if not hasattr(model, "fit") or not hasattr(model, "get_params") or isinstance(model, type):
            raise ParameterError(
                f"learners holds {shown(model)}; expected estimators like Ridge()."
            )
    names = [getattr(m, "_command", None) or type(m).__name__ for m in models]
    if isinstance(given, Mapping):
        return {str(key): model for key, model in given.items()}
    pairs = zip(names, models, strict=True)
    return {n if names.count(n) == 1 else repr(model): model for n, model in pairs}


def _no_model(y: NDArray[Any], is_class: bool) -> tuple[Compared, Array]:
    """The best constant for the rows predicted: their most common class, or their mean.

    Not that of the training rows: the majority of a training fold is the minority of its test fold,
    so that even a learner of noise would beat it.
    """
    labels, counts = np.unique(y, return_counts=True)
    constant = np.full(len(y), labels[np.argmax(counts)] if is_class else np.mean(y))
    quality: Quality = Decisions(labels.tolist()) if is_class else Errors()
    quality.add(y, constant)
    return _row(NO_MODEL, quality, None), _loss(y, constant, is_class)


def _try(
    called: str, model: Any, X: Any, y: Any, parts: Folds, omega: Any, limit: float, seed: int
) -> tuple[Compared, Array]:
    """A learner's row, and the loss of each prediction; a failure is a row with a note."""
    nothing = np.empty(0)
    if getattr(model, "_traces", None) == "duals" and X.shape[0] > MAX_ROWS_FOR_KERNELS:
        note = f"not tried: more than {MAX_ROWS_FOR_KERNELS:,} rows"
        return Compared(called, note=note), nothing
    if omega is not None and not accepts_weights(model):
        return Compared(called, note="takes no weights"), nothing
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begin = time.perf_counter()
            whole = fitted(model, X, y, omega, seed)
            seconds = time.perf_counter() - begin
            if seconds * len(parts) > limit:
                return Compared(called, note=f"too slow: {seconds:.0f} s a fit"), nothing
            found = predict_folds(model, whole, X, y, parts, omega, seed=seed)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        text = str(error).split("\n")[0].split(". ")[0].split("; ")[0]
        return Compared(called, note=f"failed: {name(text)}"), nothing
    loss = _loss(y[found.rows], found.answers.predicted, hasattr(whole, "classes_"))
    return _row(called, found.quality, seconds), loss


def _row(called: str, quality: Quality, seconds: float | None) -> Compared:
    f, key = quality.facts(), "accuracy" if isinstance(quality, Decisions) else "r2"
    ends = f[f"{key}_low"], f[f"{key}_high"]
    return Compared(called, f[key], *ends, seconds=seconds, facts=f)


def _loss(y: NDArray[Any], predicted: NDArray[Any], is_class: bool) -> Array:
    """The loss of each prediction: 1 for a wrong class, the square of an error."""
    with np.errstate(over="ignore"):
        return np.asarray(y != predicted if is_class else (y - predicted) ** 2, dtype=np.float64)


def _against_best(
    rows: list[Compared], losses: Mapping[str, Array], parts: Folds, is_class: bool
) -> list[Compared]:
    """How far each is behind the best, and the p-value of that.

    p is multiplied by how many are compared with the best (Bonferroni), since the best was chosen
    among them (Hsu, Multiple Comparisons, 1996: it suffices to compare the best with each).
    """
    best = max(rows, key=lambda row: row.measure if row.measure is not None else -np.inf)
    tested = np.sort(np.concatenate([test for _, test in parts]))
    shares = [(np.searchsorted(tested, test), len(test) / len(train)) for train, test in parts]
    judged = []
    for row in rows:
        if row is not best:
            with np.errstate(over="ignore", invalid="ignore"):
                d = losses[row.name] - losses[best.name]
                p = mcnemar(d) if is_class else corrected_t(d, shares)
                behind, base = float(np.mean(d)), float(np.mean(losses[best.name]))
            if not is_class:
                behind = float(np.sqrt(max(base + behind, 0.0)) - np.sqrt(base))
            row = replace(row, behind=behind, p=min(1.0, p * (len(rows) - 1)))
        judged.append(row)
    return judged


def mcnemar(d: Array) -> float:
    """The exact p-value that +1 and -1 are equally likely in d; zeros do not count.

    >>> mcnemar(np.array([1, 1, 1, 1, 0, 0]))
    0.125
    """
    more, less = int(np.sum(d > 0)), int(np.sum(d < 0))
    return float(stats.binomtest(more, more + less).pvalue) if more + less else 1.0


def corrected_t(d: Array, folds: Sequence[tuple[NDArray[Any], float]]) -> float:
    """The p-value of a mean of 0, by t = mean / sqrt((1/k + test/train) s²) of the k folds' means.

    `folds` are rows of d, and how many there are for each training row. Of a single fold the rows
    take the place of folds.

    >>> d = np.array([1.0, 2.0, 1.0, 2.0])
    >>> halves = [(np.array([0, 1]), 1.0), (np.array([2, 3]), 1.0)]
    >>> corrected_t(d - 1.5, halves)
    1.0
    """
    means = np.array([np.mean(d[rows]) for rows, _ in folds]) if len(folds) > 1 else d
    k = len(means)
    if k < 2 or not np.all(np.isfinite(means)) or not np.any(d):
        return 1.0
    spread = float(np.std(means, ddof=1)) * math.sqrt(1 / k + float(np.mean([r for _, r in folds])))
    mean = abs(float(np.mean(d)))
    return 2 * float(stats.t.sf(mean / spread, k - 1)) if spread else float(mean == 0)

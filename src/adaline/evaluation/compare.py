"""Learners side by side: the same folds for all, quality with intervals, and what it all means."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.estimators.registry import public_estimators
from adaline.evaluation.comparison import NOTHING, Compared, Comparison
from adaline.evaluation.cross_validation import (
    checked_folds,
    fitted,
    measured,
    rows_of,
    takes_weights,
)
from adaline.evaluation.folds import Folds
from adaline.evaluation.paired_tests import corrected_t, mcnemar
from adaline.evaluation.quality import Decisions, Errors
from adaline.parameters import (
    POSITIVE,
    ParameterError,
    array,
    finite,
    numbers,
    refuse,
    shown,
    weights_of,
)
from adaline.sums.rows import check_finite

_PAIRS = 5_000  # rows up to which a learner that compares each row with each is tried
_CLASSES = 10  # whole numbers with so few different values are taken for classes
_WORDS = 60  # letters of a failure


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
        Seconds for each learner. One that is seen to need more is left out, with a word.

    Returns
    -------
    Comparison
        Prints as a table. A learner that fails is told, and stops nobody.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import GaussianClassifier, LogisticRegression, compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 2))
    >>> y = np.where(X[:, 0] + 0.5 * rng.standard_normal(100) > 0, "yes", "no")
    >>> found = compare(X, y, [LogisticRegression(), GaussianClassifier()])
    >>> [row.name for row in found.rows]
    ['no model', 'gaussian', 'logistic']
    >>> print(found.sentence)
    Best: gaussian, which is right for 89.0 % of 100 rows in 10-fold ... cannot tell it from ...
    """
    X, truth = _finite_rows(X), array("y", y)
    refuse("y", truth)
    if truth.ndim != 1 or len(truth) != X.shape[0]:
        raise ParameterError(
            f"X has {X.shape[0]} rows and y has shape {truth.shape}; give one y for each row."
        )
    POSITIVE("time_limit", time_limit)
    omega = weights_of("sample_weight", sample_weight, len(truth))
    named = _learners(learners, truth, seed)
    classes = all(getattr(model, "_learns", "classes") == "classes" for model in named.values())
    truth = truth if classes else finite("y", y)
    parts = checked_folds(cv, truth, groups, times, seed)
    tested = np.sort(np.concatenate([test for _, test in parts]))
    nothing, losses = _nothing(truth[tested], classes)
    found, lost = [], {NOTHING: losses}
    for called, model in named.items():
        row, loss = _tried(called, model, X, truth, parts, omega, time_limit, seed)
        found.append(row)
        if loss is not None:
            lost[called] = loss
    able = sorted((r for r in found if r.measure is not None), key=lambda r: -(r.measure or 0))
    failed = [row for row in found if row.measure is None]
    rows = _against_best([nothing, *able], lost, parts, classes)
    measure = "accuracy" if classes else "R²"
    return Comparison((*rows, *failed), measure, len(tested), parts.way)


def _finite_rows(X: Any) -> Any:
    """X once for all: what no learner takes is no failure of theirs."""
    found = rows_of(X)
    found = found if hasattr(found, "tocsr") else numbers("X", found)
    if 0 in found.shape:
        raise ParameterError(f"X has shape {found.shape}; expected rows and columns.")
    check_finite(found)
    return found


def suits(y: NDArray[Any]) -> str:
    """Whether a target holds "classes", "counts" or "numbers"; text and few whole numbers are
    classes.
    """
    if y.dtype.kind not in "fiu":
        return "classes"
    different = np.unique(y)
    whole = bool(np.all(different == np.floor(different)))
    if len(different) <= 2 or (whole and len(different) <= min(_CLASSES, len(y) / 3)):
        return "classes"
    return "counts" if whole and different[0] >= 0 else "numbers"


def _learners(given: Any, y: NDArray[Any], seed: int) -> dict[str, Any]:
    """Estimators by name."""
    if isinstance(given, Mapping):
        return {str(key): _checked(model) for key, model in given.items()}
    if given is not None and not isinstance(given, str):
        if not isinstance(given, Iterable):
            raise ParameterError(f"learners is {shown(given)}; expected estimators.")
        models = [_checked(model) for model in given]
        names = [getattr(m, "_command", None) or type(m).__name__ for m in models]
        return {
            called if names.count(called) == 1 else repr(model): model
            for called, model in zip(names, models, strict=True)
        }
    if given is not None and given not in ("classes", "numbers", "counts"):
        raise ParameterError(
            f"learners is {shown(given)}; expected estimators, 'classes' or 'numbers'."
        )
    wanted = suits(y) if given is None else given
    kinds = {"counts": ("numbers", "counts")}.get(wanted, (wanted,))
    found = (kind for kind in public_estimators() if kind._command and kind._learns in kinds)
    return {str(kind._command): _made(kind, seed) for kind in found}


def _checked(model: Any) -> Any:
    """An estimator; not a class of them, which has no parameters yet."""
    if not hasattr(model, "fit") or not hasattr(model, "get_params") or isinstance(model, type):
        raise ParameterError(
            f"learners holds {shown(model)}; expected estimators, such as Ridge()."
        )
    return model


def _made(kind: Any, seed: int) -> Any:
    model = kind()
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=int(seed) % 2**32)
    return model


def _nothing(y: NDArray[Any], classes: bool) -> tuple[Compared, NDArray[Any]]:
    """The constant that is best for the rows predicted: their most common class, or their mean.

    Not of the rows learned from: the majority of a training fold is the minority of its test fold,
    so that even a learner of noise would beat it.
    """
    labels, counts = np.unique(y, return_counts=True)
    constant = labels[np.argmax(counts)] if classes else np.mean(y)
    answer = np.full(len(y), constant)
    quality: Any = Decisions(labels.tolist()) if classes else Errors()
    quality.add(y, answer)
    return _row(NOTHING, quality, None), _loss(y, answer, classes)


def _tried(
    called: str, model: Any, X: Any, y: Any, parts: Folds, omega: Any, limit: float, seed: int
) -> tuple[Compared, NDArray[Any] | None]:
    """A learner's row, and what each prediction costs; a failure is a row with a word."""
    if getattr(model, "_traces", None) == "duals" and X.shape[0] > _PAIRS:
        return Compared(called, note=f"not tried: more than {_PAIRS:,} rows"), None
    if omega is not None and not takes_weights(model):
        return Compared(called, note="takes no weights"), None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begun = time.perf_counter()
            whole = fitted(model, X, y, omega, seed)
            seconds = time.perf_counter() - begun
            if seconds * len(parts) > limit:
                return Compared(called, note=f"too slow: {seconds:.0f} s a fit"), None
            found = measured(model, whole, X, y, parts, omega, seed=seed)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        return Compared(called, note=f"failed: {_short(error)}"), None
    classes = hasattr(whole, "classes_")
    loss = _loss(y[found.rows], found.answers.predicted, classes)
    return _row(called, found.quality, seconds), loss


def _row(called: str, quality: Decisions | Errors, seconds: float | None) -> Compared:
    f = quality.facts()
    key = "accuracy" if isinstance(quality, Decisions) else "r2"
    ends = f[f"{key}_low"], f[f"{key}_high"]
    return Compared(called, f[key], *ends, seconds=seconds, facts=f)


def _loss(y: NDArray[Any], answer: NDArray[Any], classes: bool) -> NDArray[np.float64]:
    """What each prediction costs: 1 for a wrong class, the square of an error."""
    if classes:
        return np.asarray(y != answer, dtype=np.float64)
    with np.errstate(over="ignore"):
        return np.asarray((y - answer) ** 2)


def _against_best(
    rows: list[Compared], lost: Mapping[str, NDArray[Any]], parts: Folds, classes: bool
) -> list[Compared]:
    """How far each is behind the best, and by what chance alone would be so far.

    p is multiplied by how many are compared with the best (Bonferroni), since the best was chosen
    among them (Hsu, Multiple Comparisons, 1996: it suffices to compare the best with each).
    """
    best = max(rows, key=lambda row: row.measure if row.measure is not None else -np.inf)
    tested = np.sort(np.concatenate([test for _, test in parts]))
    shares = [(np.searchsorted(tested, test), len(test) / len(train)) for train, test in parts]
    out = []
    for row in rows:
        if row is not best:
            with np.errstate(over="ignore", invalid="ignore"):
                d = lost[row.name] - lost[best.name]
                p = mcnemar(d) if classes else corrected_t(d, shares)
                behind = float(np.mean(d))
            if not classes:  # as root mean squares, which people know from the table
                base = float(np.mean(lost[best.name]))
                behind = float(np.sqrt(max(base + behind, 0.0)) - np.sqrt(base))
            row = replace(row, behind=behind, p=min(1.0, p * (len(rows) - 1)))
        out.append(row)
    return out


def _short(error: Exception) -> str:
    text = str(error).split("\n")[0].split(". ")[0].split("; ")[0]
    return text if len(text) <= _WORDS else f"{text[: _WORDS - 1]}…"

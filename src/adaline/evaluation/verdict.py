"""A fitted model and rows to try it on: what it is worth, and what to doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.evaluation import evidence
from adaline.evaluation.answers import answers
from adaline.evaluation.check import Check
from adaline.evaluation.checks import Rows, checks
from adaline.evaluation.coefficients import Coefficients, coefficients
from adaline.evaluation.quality import Quality, quality_for, words_for
from adaline.evaluation.sample import doubts_of_rows
from adaline.evaluation.words import DateColumn, plural
from adaline.parameters import FLAG, NONE, ParameterError, array, numbers, shown
from adaline.results import Result
from adaline.sums.rows import check_finite

FEW_ROWS = 30  # rows below which a measured quality may be far off


@dataclass(frozen=True)
class Verdict(Result):
    """What a fitted model is worth.

    Attributes
    ----------
    sentence : str
        How good the predictions are, against doing without a model.
    quality : dict
        The same as numbers by stable names; empty where there were no rows.
    evidence : str
        Convergence, separability and condition in half a line.
    converged : bool or None
        None where nobody knows.
    condition : float or None
        Condition number of the scaled columns, where the fit knows it.
    warnings : tuple of str
        What to doubt, each with advice.
    coefficients : Coefficients
        Weights by name.
    checks : tuple of Check
        What was looked at beside: probabilities or residuals, drift, single rows. Grave doubts are
        among the warnings, too.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares, verdict
    >>> x = np.arange(100.0)[:, None]
    >>> y = 3 * x[:, 0] + 1
    >>> found = verdict(LeastSquares().fit(x[::2], y[::2]), x[1::2], y[1::2], held_out=True)
    >>> print(found.sentence)
    Explains 100.0 % of the variance of 50 held-out rows and is off by 0 ...
    >>> found.quality["r2"], found.coefficients.rows[1]["coef"]
    (1.0, 3.0)
    """

    sentence: str
    quality: dict[str, Any]
    evidence: str
    converged: bool | None
    condition: float | None
    warnings: tuple[str, ...]
    coefficients: Coefficients
    checks: tuple[Check, ...] = ()

    def __str__(self) -> str:
        return f"{self.sentence} {self.evidence}"


def verdict(
    model: Any,
    X: Any,
    y: Any,
    *,
    held_out: bool | None = None,
    names: Sequence[Any] | None = None,
    separability: Any = None,
) -> Verdict:
    """How good a fitted model is on rows, what is proven of it, and what to doubt.

    Parameters
    ----------
    model : fitted estimator
    X, y : array-like or CSR of shape (n, p), and (n,) or (n, k)
        Rows to try the model on, best such as it has not seen.
    held_out : bool, optional
        True where the model has not learned from these rows, False where it has. A model keeps no
        rows, so the verdict knows what it is told: by default it claims neither, and says so.
    names : sequence of str, optional
        Columns; by default those of the fit, or x0, x1, ...
    separability : Separability, optional
        What `separability` answered on the rows of the fit.

    Returns
    -------
    Verdict
    """
    if not hasattr(model, "predict") or not hasattr(model, "n_features_in_"):
        raise ParameterError(f"model is {shown(model)}; expected a fitted estimator: fit it first.")
    held_out = None if (FLAG | NONE)("held_out", held_out) is None else bool(held_out)
    if separability is not None and not isinstance(getattr(separability, "verdict", None), str):
        raise ParameterError(
            f"separability is {shown(separability)}; expected what `separability(X, y)` answers."
        )
    said = answers(model, X)
    truth, shape = array("y", y), said.predicted.shape
    if truth.shape != shape:
        raise ParameterError(
            f"X has {shape[0]} rows and y has shape {truth.shape}; predictions have {shape}: give "
            "one y for each row."
        )
    if not hasattr(model, "classes_"):
        truth = numbers("y", y)
        check_finite(truth.reshape(len(truth), -1), what="y")
    found = quality_for(model)
    found.add(truth, said.predicted, said.log_p, said.scores)
    named, rows = column_names(model, X, names), X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    tested = Rows(rows, truth, said=said)
    return judged(
        model,
        found,
        held_out=held_out,
        names=named,
        separability=separability,
        learned=tested if held_out is False else None,
        tested=tested,
    )


def judged(
    model: Any,
    quality: Quality | None,
    *,
    held_out: bool | None,
    names: list[str],
    separability: Any = None,
    converged: bool | None = True,
    way: str = "",
    folds: dict[str, Any] | None = None,
    spreads: Any = None,
    X: Any = None,
    learned: Rows | None = None,
    tested: Rows | None = None,
    target: str | None = None,
) -> Verdict:
    """The verdict on a model whose predictions have been counted; None where there were no rows.

    `held_out` is None where nobody says whether the model has learned from the rows. `way` is how
    rows were predicted that the model has learned from, such as "10-fold cross-validation", and
    `folds` what single folds found; `spreads` are the standard deviations of the columns, and `X`
    rows to see by how the columns go together. `learned` are rows of the fit, and `tested` rows
    with what was predicted for them, for the checks. `converged` is False where a warning said so;
    otherwise the fit is asked.
    """
    doubts = evidence.doubts(model, separability, names, X)
    if learned is not None:
        doubts += doubts_of_rows(learned.X, learned.y, names, hasattr(model, "classes_"))
    looked = checks(model, names, learned, tested, target, apart=held_out is not False and not way)
    doubts += [_small(check.sentence) for check in looked if check.grave]
    certificate, known = evidence.reconciled(model, separability)
    apart = "separable" in (getattr(certificate, "kind", ""), getattr(known, "verdict", ""))
    converged = converged and evidence.has_converged(model)
    sentence = "There were no rows to measure the quality with."
    if quality is not None:
        sentence = quality.sentence(words_for(quality.n, held_out, way))
        doubts = [*doubts, *quality.doubts(apart), *_flattered(quality.n, held_out)]
    facts = {} if quality is None else {"held_out": held_out, **quality.facts()}
    if facts and way:
        facts |= {"way": way, "folds": folds}
    return Verdict(
        sentence=sentence,
        quality=facts,
        evidence=evidence.in_short(model, converged, separability),
        converged=converged,
        condition=evidence.condition(model),
        warnings=tuple(doubts),
        coefficients=coefficients(model, names, spreads),
        checks=looked,
    )


def _small(text: str) -> str:
    """A sentence to go on with after a colon."""
    return text[0].lower() + text[1:]


def _flattered(rows: int, held_out: bool | None) -> list[str]:
    """Whether the rows themselves are a reason for doubt."""
    said = []
    if held_out is None:
        said.append(
            "nobody said whether the model has learned from these rows; if it has, the quality is "
            "flattered. Measure it on other rows, and say held_out=True."
        )
    elif not held_out:
        said.append(
            "the quality was measured on rows that the model has learned from, which flatters it. "
            "Measure it on other rows."
        )
    if rows < FEW_ROWS:
        said.append(
            f"only {plural(rows, 'row')} measure the quality; the numbers may be far off. More "
            "rows would tell."
        )
    return said


def column_names(model: Any, X: Any, names: Sequence[Any] | None) -> list[str]:
    """Names given, those of the fit, those of the table, or x0, x1, ..."""
    p = int(model.n_features_in_)
    if names is not None and (isinstance(names, str | bytes) or not hasattr(names, "__len__")):
        raise ParameterError(f"names is {shown(names)}; expected a sequence of {p} names.")
    for found in (names, getattr(model, "feature_names_in_", None), getattr(X, "columns", None)):
        if found is not None:
            if len(found) != p:
                raise ParameterError(
                    f"names: there are {len(found)} names for {p} columns; give one for each."
                )
            return [name if isinstance(name, DateColumn) else str(name) for name in found]
    return [f"x{j}" for j in range(p)]

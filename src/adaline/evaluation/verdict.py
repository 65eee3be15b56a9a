"""The verdict on a trial: how good the model is, what is proven of it, and what to doubt.

`adaline fit`, `Report` and the function `verdict` call `judge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adaline.evaluation.coefficients import Coefficients, coefficients, standard_deviations
from adaline.evaluation.diagnostics import Check, diagnose, row_warnings
from adaline.evaluation.fit_evidence import (
    condition,
    fit_warnings,
    has_converged,
    reconciled,
    short_evidence,
)
from adaline.evaluation.trial import Trial
from adaline.evaluation.words import plural, words_for
from adaline.parameters import ParameterError
from adaline.results import Result

MIN_ROWS_OF_QUALITY = 30  # with fewer, measured numbers are rough


@dataclass(frozen=True)
class Verdict(Result):
    """How good a fitted model is.

    Attributes
    ----------
    sentence : str
        How good the predictions are, compared with predicting without a model.
    quality : dict
        The same as numbers by stable names; empty if there were no rows.
    evidence : str
        Convergence, separability and condition in half a line.
    converged : bool or None
        None if unknown.
    condition : float or None
        Condition number of the scaled columns, if the fit knows it.
    warnings : tuple of str
        What to doubt, each with advice.
    coefficients : Coefficients
        Weights by name.
    checks : tuple of Check
        Of probabilities or residuals, drift, single rows and leakage. Grave doubts are among the
        warnings, too.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares, verdict
    >>> x = np.arange(100.0)[:, None]
    >>> y = 3 * x[:, 0] + 1
    >>> found = verdict(LeastSquares().fit(x[::2], y[::2]), x[1::2], y[1::2], held_out=True)
    >>> print(found.sentence)
    Explains 100.0% of the variance (50 held-out rows); root mean squared error ...
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
        Rows to try the model on, preferably not training rows.
    held_out : bool, optional
        True if the model was not trained on these rows, False if it was. A model keeps no rows, so
        by default the verdict claims neither, and says so.
    names : sequence of str, optional
        Columns; by default those of the fit, or x0, x1, ...
    separability : Separability, optional
        What `separability` returned for the training rows.

    Returns
    -------
    Verdict
    """
    trial = Trial.of(model, X, y, held_out=held_out, names=names, separability=separability)
    if trial.left_out:
        raise ParameterError(
            f"X or y contains NaN or infinity in {plural(trial.left_out, 'row')}; leave them out."
        )
    return judge(trial)


def judge(trial: Trial) -> Verdict:
    """The verdict on a trial."""
    model, learned, X = trial.model, trial.learned, trial.seen_X
    checks, facts = diagnose(trial), dict[str, Any]()
    warnings = fit_warnings(model, trial.separability, trial.names, X)
    if learned is not None:
        warnings += row_warnings(learned, hasattr(model, "classes_"))
    warnings += [c.sentence[0].lower() + c.sentence[1:] for c in checks if c.grave]
    certificate, separability = reconciled(model, trial.separability)
    kinds = getattr(certificate, "kind", ""), getattr(separability, "verdict", "")
    sentence = "There were no rows to measure the quality with."
    if (quality := trial.quality) is not None:
        sentence = quality.sentence(words_for(quality.n, trial.held_out, trial.way))
        warnings += quality.warnings("separable" in kinds)
        warnings += _warnings_of_rows(quality.n, trial.held_out)
        facts = {"held_out": trial.held_out, **quality.facts()}
        if trial.folds is not None:
            facts |= {"way": trial.way, "folds": trial.folds.spread}
    converged = trial.converged and has_converged(model)
    evidence = short_evidence(model, converged, trial.separability)
    table = coefficients(model, trial.names, None if X is None else standard_deviations(X))
    kappa = condition(model)
    return Verdict(
        sentence, facts, evidence, converged, kappa, tuple(warnings), table, tuple(checks)
    )


def _warnings_of_rows(n: int, held_out: bool | None) -> list[str]:
    texts = []
    if held_out is None:
        texts.append(
            "it is unknown whether the model was trained on these rows; if it was, the quality is "
            "overestimated. Measure it on other rows, and pass held_out=True."
        )
    elif not held_out:
        lead = "the quality was measured on training rows, which overestimates it"
        texts.append(f"{lead}. Measure it on other rows.")
    if n < MIN_ROWS_OF_QUALITY:
        texts.append(f"only {plural(n, 'row')} measure the quality: it is rough. Use more rows.")
    return texts

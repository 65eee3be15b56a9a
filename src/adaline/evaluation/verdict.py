"""The verdict on a trial: how good the model is, what is proven of it, and what to doubt.

`adaline fit`, `Report` and the function `verdict` call `judge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adaline.evaluation.coefficients import Coefficients, coefficients
from adaline.evaluation.diagnostics import Check, diagnose, row_warnings
from adaline.evaluation.fit_evidence import condition, fit_warnings, has_converged, short_evidence
from adaline.evaluation.trial import BaseEstimator, Trial
from adaline.evaluation.words import plural, words_for
from adaline.results import Result

DOUBTS = {  # by whether the rows were held out
    None: "it is unknown whether the model was trained on these rows; if it was, the quality is "
    "overestimated. Measure it on other rows, and pass held_out=True.",
    False: "the quality was measured on training rows, which overestimates it. Measure it on other "
    "rows.",
}


@dataclass(frozen=True)
class Verdict(Result):
    """How good a fitted model is.

    `sentence` compares the predictions with those without a model, and `quality` has its numbers by
    stable names, if there were rows. `evidence` is convergence, separability and condition in half
    a line; `converged` and `condition`, of the scaled columns, are None if unknown. `warnings` are
    what to doubt, each with advice, and `coefficients` weights by name. `checks` are of
    probabilities or residuals, single rows and leakage; grave doubts are among the warnings, too.

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
    model: BaseEstimator,
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
    given: Any = {"held_out": held_out, "names": names, "separability": separability}
    return judge(Trial.of(model, X, y, **given))


def judge(trial: Trial) -> Verdict:
    """The verdict on a trial."""
    model, learned, X, quality = trial.model, trial.learned, trial.seen_X, trial.quality
    facts: dict[str, Any] = {}
    checks = diagnose(trial)
    warnings = fit_warnings(model, trial.separability, trial.names, X)
    if learned is not None:
        warnings += row_warnings(learned, hasattr(model, "classes_"))
    warnings += [c.sentence[0].lower() + c.sentence[1:] for c in checks if c.grave]
    sentence = "There were no rows to measure the quality with."
    if quality is not None:
        sentence = quality.sentence(words_for(quality.n, trial.held_out, trial.way))
        facts = {"held_out": trial.held_out, **quality.facts()}
        if trial.folds is not None:
            facts |= {"way": trial.way, "folds": trial.folds.spread}
        warnings += quality.warnings()
        if not trial.held_out:
            warnings.append(DOUBTS[trial.held_out])
        if quality.n < 30:  # any round number
            rows = plural(quality.n, "row")
            warnings.append(f"only {rows} measure the quality: it is rough. Use more rows.")
    converged = trial.converged and has_converged(model)
    evidence = short_evidence(model, converged, trial.separability)
    table = coefficients(model, trial.names, X)
    return Verdict(
        sentence, facts, evidence, converged, condition(model), tuple(warnings), table, checks
    )

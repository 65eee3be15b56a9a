"""The table of a logistic fit: standard errors, tests and intervals, Wald's or profiles."""

from __future__ import annotations

from typing import Any

from adaline.estimators._delivered import WRITTEN
from adaline.estimators._labels import encode, labels_of_rows, weights_by_class
from adaline.estimators.newton._procedure import objective_of
from adaline.parameters import LEVEL, words
from adaline.procedures.inference import information, wald_summary
from adaline.procedures.profile import profile_intervals
from adaline.results import Array, NewtonFit
from adaline.summaries import Summary
from adaline.sums.objective import Objective
from adaline.sums.rows import MANY
from adaline.tiles import as_rows


def summarised(
    model: Any, level: float, X: Any, y: Any, sample_weight: Any, intervals: str
) -> Summary:
    """`LogisticRegression.summary`, whose docstring explains the parameters."""
    if model.certificate_ == WRITTEN:
        raise ValueError(
            "coef_ or intercept_ was changed after the fit, and standard errors are those of "
            "the likeliest weights. Fit again."
        )
    level = float(LEVEL("level", level))
    words("wald", "profile")("intervals", intervals)
    bounds = None
    if X is not None:
        X = model._rows(X, reset=False)
        _, codes = encode(labels_of_rows(y, X), model.classes_)
        weights = model._weights(sample_weight, X)
        weights = weights_by_class(model.class_weight, model.classes_, codes, weights)
        X, _, omega = as_rows(X, None, weights)
        loss = objective_of(model, X, codes, omega)
        known = information(loss, loss.rows.theta(model.fit_.W, model.fit_.b))
        if intervals == "profile":
            bounds = _profile(model, loss, level)
    elif intervals == "profile":
        raise ValueError(
            "profile intervals are found by fitting the training rows again; give them: "
            "summary(intervals='profile', X=X, y=y)."
        )
    else:
        known = model._information
    if known is None:
        raise ValueError(
            "this fit was large and kept no standard errors; give summary(X=X, y=y) the "
            "training rows."
        )
    return wald_summary(
        "Logistic regression",
        model.fit_.W,
        model.fit_.b,
        known,
        known.facts("McFadden R²"),
        model._names(),
        [str(label) for label in model.classes_.tolist()],
        intercept=model.fit_intercept,
        level=level,
        notes=_notes(model, profile=bounds is not None),
        bounds=bounds,
    )


def _notes(model: Any, profile: bool) -> tuple[str, ...]:
    """What a reader of the table must know."""
    notes = [str(model.certificate_)]
    if len(model.classes_) > 2:
        notes.append(
            "Each class is held against the mean of all classes; the difference of two "
            "coefficients is the log-odds of one class against the other."
        )
    if model.alpha_ > 0:
        notes.append(
            f"Standard errors include the penalty (alpha = {model.alpha_:.6g}): it pulls "
            "coefficients towards zero, so that p-values are approximate."
        )
    if profile:
        penalised = model.alpha_ > 0 or model.alpha == "firth"
        kind = "penalised likelihood" if penalised else "likelihood"
        notes.append(f"Intervals are those of the profile {kind}; z and p are Wald's.")
        if model.alpha == "firth":
            notes.append(
                "Firth's criterion need not be convex: the bounds are the farthest values found "
                "that the test does not reject; it may reject some between them, and there may "
                "be farther ones."
            )
    return tuple(notes)


def _profile(model: Any, loss: Objective, level: float) -> tuple[Array, Array]:
    if not isinstance(model.fit_, NewtonFit):
        raise ValueError(
            f"these weights were not found as a maximum of the likelihood by Newton's steps "
            f"({model.fit_.stopped}), so they have no profile intervals; use fit, on dense rows "
            f"or at most {MANY} features."
        )
    return profile_intervals(
        loss, loss.rows.theta(model.fit_.W, model.fit_.b)[0], level, firth=model.alpha == "firth"
    )

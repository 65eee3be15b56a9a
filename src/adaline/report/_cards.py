"""Cards and tables: the data, the model, the coefficients, the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import adaline
from adaline.report._evidence import condition, summary_of
from adaline.report._rows import Rows
from adaline.report._words import chance, clean, name, number, plural

Card = tuple[tuple[str, str], ...]
_MOST = 100  # rows of a table


@dataclass(frozen=True)
class Table:
    """A table with a header row; the first cell of each row is its name."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def data_card(
    given: Mapping[str, Any], rows: Rows | None, held_out: bool, target: str | None
) -> Card:
    """What is known of the data: what the caller says, and what the rows show."""
    card = [(name(key), number(value)) for key, value in given.items()]
    if target is not None:
        card.append(("target", name(target)))
    if rows is not None:
        words = "held-out rows" if held_out else "rows reported on, learned from too"
        card.append((words, number(len(rows))))
        card.append(("columns", number(int(rows.X.shape[1]))))
        if rows.left_out:
            card.append(("rows left out for gaps", number(rows.left_out)))
        if len(rows.few) < len(rows):
            card.append(("rows drawn in pictures", number(len(rows.few))))
    return tuple(card)


def model_card(model: Any) -> Card:
    """What the model is, how it was learned, and what it knows of itself."""
    card = [("learner", type(model).__name__)]
    card += [(name(key), clean(repr(value), 200)) for key, value in _parameters(model).items()]
    if hasattr(model, "classes_"):
        labels = [name(label) for label in model.classes_.tolist()]
        shown = ", ".join(labels[:10]) + (f", ... ({len(labels)} in all)" if labels[10:] else "")
        card.append(("classes", shown))
    for words, value in _learned(model).items():
        card.append((words, number(value)))
    fit = getattr(model, "fit_", None)
    if fit is not None:
        card.append(("learning ended", clean(fit.stopped)))
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        card.append(("certificate", clean(str(certificate))))
    card.append(("adaline", adaline.__version__))
    return tuple(card)


def _parameters(model: Any) -> dict[str, Any]:
    return dict(model.get_params(deep=False)) if hasattr(model, "get_params") else {}


def _learned(model: Any) -> dict[str, Any]:
    """Numbers that some learners know, under names for people."""
    found: dict[str, Any] = {}
    rows = getattr(getattr(model, "moments_", None), "rows", None)
    if rows is not None:
        found["rows learned from"] = int(np.sum(rows))
    alpha = getattr(model, "alpha_", None)
    if alpha is not None and np.ndim(alpha) == 0:
        found["penalty alpha that was used"] = float(alpha)
    steps = getattr(model, "n_iter_", None)
    if steps is not None:
        found["passes or steps"] = int(np.max(steps))
    if hasattr(model, "rank_"):
        found["rank"] = int(model.rank_)
    kappa = condition(model)
    if not np.isnan(kappa):
        found["condition number"] = kappa
    return found


def coefficients(model: Any, names: list[str]) -> Table | None:
    """Coefficients by name, with intervals where the theory has them."""
    if getattr(model, "coef_", None) is None:
        return None
    W = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    b = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    found = summary_of(model)
    if found is not None and len(W) == 1:
        bias = bool(getattr(model, "fit_intercept", True))
        return _with_errors(found, names, bias, str(getattr(model, "certificate_", "")))
    if len(W) == 1 and hasattr(model, "posterior"):
        told = _of_posterior(model, names)
        if told is not None:
            return told
    if len(W) == 1:
        heads = ["coefficient"]
    elif hasattr(model, "classes_"):
        heads = [name(label) for label in model.classes_.tolist()]
    else:
        heads = [f"target {k}" for k in range(len(W))]
    heads, few = heads[:12], W[:12]
    order, notes = _largest(np.abs(few).max(axis=0))
    if len(W) > len(few):
        notes = (*notes, f"{len(few)} of {len(W)} outputs are shown.")
    first = ("intercept", *(number(float(v)) for v in b[: len(few)]))
    rows = [(name(names[j]), *(number(float(v)) for v in few[:, j])) for j in order]
    return Table("Coefficients", ("", *heads), (first, *rows), notes)


def _with_errors(found: Any, names: list[str], bias: bool, known: str) -> Table:
    """A summary's table, with our names; what is `known` already is not noted again."""
    named = (["intercept"] if bias else []) + names
    size = np.abs(np.asarray(found.columns["coef"], dtype=np.float64))
    order, notes = _largest(size[bias:])
    chosen = ([0] if bias else []) + [j + bias for j in order]
    head = ("", *(str(column) for column in found.columns))
    rows = []
    for i in chosen:
        cells = [
            chance(float(values[i])) if column == "p" else number(float(values[i]))
            for column, values in found.columns.items()
        ]
        rows.append((name(named[i]), *cells))
    notes += tuple(clean(note) for note in found.notes if note != known)
    return Table("Coefficients", head, tuple(rows), notes)


def _of_posterior(model: Any, names: list[str]) -> Table | None:
    """Ridge weights with the posterior's spread; None where it has none."""
    try:
        given = model.posterior()
    except ValueError:
        return None
    spread = np.sqrt(np.diag(given.covariance))
    order, notes = _largest(np.abs(given.mean))
    rows: list[tuple[str, ...]] = [("intercept", number(float(model.intercept_)), "–", "–", "–")]
    for j in order:
        mean, half = float(given.mean[j]), 1.959963984540054 * float(spread[j])
        cells = (mean, float(spread[j]), mean - half, mean + half)
        rows.append((name(names[j]), *(number(cell) for cell in cells)))
    words = (
        "Intervals hold 95 % of the posterior: the penalty read as a prior belief in small weights."
    )
    head = ("", "coef", "std dev", "low 95%", "high 95%")
    return Table("Coefficients", head, tuple(rows), (*notes, words))


def _largest(size: Any) -> tuple[list[int], tuple[str, ...]]:
    """All in their order, or the largest where they are many, and a note that says so."""
    if len(size) <= _MOST:
        return list(range(len(size))), ()
    order = np.argsort(-size, kind="stable")[:_MOST]
    note = f"The {_MOST} largest of {plural(len(size), 'coefficient')} are shown."
    return sorted(order.tolist()), (note,)


def facts_of(model: Any) -> dict[str, str]:
    """Facts of the summary: R², F, deviance and the like, of the rows of the fit."""
    found = summary_of(model)
    if found is None:
        return {}
    return {name(key): number(value) for key, value in found.facts.items()}


def columns(rows: Rows, names: list[str]) -> Table:
    """The columns of the rows: range, mean and spread."""
    X = rows.X_few
    shown = names[:_MOST]
    out = []
    for j, column in enumerate(shown):
        v = X[:, j]
        cells = (v.min(), v.mean(), v.max(), v.std())
        out.append((name(column), *(number(float(cell)) for cell in cells)))
    notes = (f"The first {_MOST} of {len(names)} columns.",) if len(names) > _MOST else ()
    words = f"Columns of {plural(len(X), 'row')}"
    return Table(words, ("", "least", "mean", "largest", "standard deviation"), tuple(out), notes)


def code_for(model: Any) -> str:
    """Lines that fit the same model again, on rows that only the reader has."""
    kind, home = type(model).__name__, type(model).__module__
    source = "adaline" if home.startswith("adaline.") else home
    return (
        f"from {source} import {kind}\n\n"
        f"model = {model!r}\n"
        "model.fit(X, y)  # the rows to learn from\n"
        "print(model.score(X_held_out, y_held_out))\n"
    )

"""Cards and tables: the data, the model, the coefficients, the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import adaline
from adaline.evaluation import quality
from adaline.evaluation.coefficients import Coefficients
from adaline.evaluation.cross_validation import CrossValidated
from adaline.evaluation.evidence import condition, reconciled, summary_of
from adaline.evaluation.thresholds import RATIOS, Thresholds
from adaline.evaluation.words import DateColumn, cell, name, number, percent, plain, plural
from adaline.report._rows import Rows

Card = tuple[tuple[str, str], ...]
_MOST = 100  # rows of a table
_OUTPUTS = 12  # classes or targets side by side
_LONG_COEFFICIENTS = 40  # rows from which on the table of coefficients is folded
_LONG = 15  # rows from which on a table of missing values is folded


@dataclass(frozen=True)
class Table:
    """A table with a header row; the first cell of each row is its name."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    folded: bool = False  # shown on a click


def data_card(
    given: Mapping[str, Any], rows: Rows | None, held_out: bool | None, target: str | None
) -> Card:
    """What is known of the data: what the caller says, and what the rows show."""
    card = [(name(key), number(value)) for key, value in given.items()]
    if target is not None:
        card.append(("target", name(target)))
    if rows is not None:
        words = {None: "rows reported on", True: "held-out rows"}
        called = words.get(held_out, "rows reported on, learned from too")
        card.append((called, number(len(rows))))
        card.append(("columns", number(int(rows.X.shape[1]))))
        if rows.left_out:
            card.append(("rows left out for gaps", number(rows.left_out)))
        if len(rows.few) < len(rows):
            card.append(("rows drawn in pictures", number(len(rows.few))))
    return tuple(card)


def model_card(model: Any, separability: Any = None) -> Card:
    """What the model is, how it was learned, and what it knows of itself."""
    card = [("learner", type(model).__name__)]
    card += [(name(key), plain(repr(value), 200)) for key, value in _parameters(model).items()]
    if hasattr(model, "classes_"):
        labels = [name(label) for label in model.classes_.tolist()]
        shown = ", ".join(labels[:10]) + (f", ... ({len(labels)} in all)" if labels[10:] else "")
        card.append(("classes", shown))
    for words, value in _learned(model).items():
        card.append((words, number(value)))
    fit = getattr(model, "fit_", None)
    if fit is not None:
        card.append(("learning ended", plain(fit.stopped)))
    certificate, _ = reconciled(model, separability)
    if certificate is not None:
        card.append(("certificate", plain(str(certificate))))
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
    if kappa is not None and not np.isnan(kappa):
        found["condition number"] = kappa
    return found


def coefficients(found: Coefficients) -> Table | None:
    """Coefficients by name, with intervals where the theory has them."""
    if not found.heads:
        return None
    notes_of = [*found.notes, *(n for n in found.in_full.notes if n not in found.notes)]
    found = replace(found, heads=(*found.heads, *found.more), notes=tuple(notes_of))
    shown = replace(found, heads=found.heads[:_OUTPUTS])
    cells, notes = shown.cells(_MOST, digits=5)
    if len(found.heads) > _OUTPUTS:
        notes.append(f"{_OUTPUTS} of {len(found.heads)} outputs are shown.")
    rows = tuple(tuple(line) for line in cells)
    words = (plain(note) for note in (*notes, *found.notes))
    many = len(rows) > _LONG_COEFFICIENTS
    return Table("Coefficients", ("", *shown.titles), rows, tuple(words), folded=many)


def by_class(facts: Mapping[str, Any]) -> Table | None:
    """Precision and recall of each class."""
    if "per_class" not in facts:
        return None
    head, rows = quality.by_class(facts)
    shown = tuple(tuple(row) for row in rows[:_MOST])
    notes = ["In brackets: 95 % intervals."]
    if len(rows) > _MOST:
        notes.append(f"The first {_MOST} of {len(rows)} classes.")
    return Table("Precision and recall", ("", *head[1:]), shown, tuple(notes))


def facts_of(model: Any) -> dict[str, str]:
    """Facts of the summary: R², F, deviance and the like, of the rows of the fit."""
    found = summary_of(model)
    if found is None:
        return {}
    return {_called(key, value): number(value) for key, value in found.facts.items()}


def _called(fact: str, value: Any) -> str:
    """A penalty leaves parameters less than their number of freedom."""
    whole = isinstance(value, float | np.floating) and not float(value).is_integer()
    return "degrees of freedom" if fact == "parameters" and whole else name(fact)


def columns(X: Any, names: list[str], whose: str) -> Table:
    """The columns of the rows: range, mean and spread."""
    shown, out = names[:_MOST], []
    for j, column in enumerate(shown):
        part = X[:, [j]]
        v = np.asarray(part.toarray() if hasattr(part, "toarray") else part).ravel()
        ends = (cell(end, column) for end in (v.min(), v.mean(), v.max()))
        spread = number(float(v.std())) + " days" * isinstance(column, DateColumn)
        out.append((name(column), *ends, spread))
    notes = (f"The first {_MOST} of {len(names)} columns.",) if len(names) > _MOST else ()
    words = f"Columns of the {plural(X.shape[0], whose.partition('row')[0] + 'row')}"
    words += whose.partition("rows")[2]
    head = ("", "least", "mean", "largest", "standard deviation")
    return Table(words, head, tuple(out), notes, folded=True)


def gaps_of(gaps: Mapping[str, Any] | None, rows: int | None) -> Table | None:
    """Missing values by column: how many, and what was done about them."""
    if not gaps:
        return None
    out = []
    for column, found in list(gaps.items())[:_MOST]:
        count, done = found if isinstance(found, tuple) else (found, "")
        share = "–" if not rows else percent(count / rows)
        out.append((name(column), number(count), share, plain(done)))
    notes = (f"The first {_MOST} of {len(gaps)} columns.",) if len(gaps) > _MOST else ()
    head = ("", "rows", "share", "what was done")
    return Table("Missing values", head, tuple(out), notes, folded=len(out) > _LONG)


def by_cost(found: Thresholds | None) -> Table | None:
    """From which probability on to answer a class, by what its errors cost."""
    if found is None:
        return None
    label = repr(name(found.label))
    out = []
    for one in map(found.priced, RATIOS):
        out.append(
            (
                "as much as a false alarm" if one.ratio == 1 else f"{one.ratio:g} false alarms",
                percent(one.threshold),
                f"{number(one.misses)} of {number(found.positive)}",
                f"{number(one.alarms)} of {number(found.others)}",
                number(one.cost, 3),
                number(one.constant, 3),
            )
        )
    head = (
        f"missing {label} costs",
        f"answer {label} from",
        "missed",
        "false alarms",
        "mean cost",
        "without a model",
    )
    note = "Costs are counted in false alarms, a decision on average."
    return Table("Where to set the threshold", head, tuple(out), (note,))


def by_fold(found: CrossValidated | None) -> Table | None:
    """The quality fold by fold."""
    if found is None or not found.spread or len(found.per_fold) > _OUTPUTS:
        return None
    if "rmse" in found.per_fold[0]:
        head, keys = ("", "rows", "R²", "root mean squared error"), ("r2", "rmse")
        rows = [tuple(number(one[key], 4) for key in keys) for one in found.per_fold]
    else:
        head = ("", "rows", "right", "mean over classes")
        shares = ("accuracy", "balanced_accuracy")
        rows = [tuple(percent(one[key]) for key in shares) for one in found.per_fold]
    out = tuple(
        (f"fold {j + 1}", number(one["rows"]), *cells)
        for j, (one, cells) in enumerate(zip(found.per_fold, rows, strict=True))
    )
    return Table("Quality fold by fold", head, out, folded=True)


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

"""Cards and tables of a report: the data, the model, quality by class and fold, the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import adaline
from adaline.evaluation import words
from adaline.evaluation.coefficients import Coefficients
from adaline.evaluation.cross_validation import CrossValidated
from adaline.evaluation.fit_evidence import condition, reconciled
from adaline.evaluation.quality import Thresholds
from adaline.evaluation.trial import BaseEstimator, Trial
from adaline.evaluation.words import DateColumn, cell, name, number, percent, plain

Card = tuple[tuple[str, str], ...]
MAX_TABLE_ROWS = 100
MAX_OUTPUTS = 12  # classes or targets side by side, and folds
OPEN_TABLE_ROWS = 40  # longer tables of coefficients and gaps are folded


@dataclass(frozen=True)
class Table:
    """A table with a header row; the first cell of each row is its name."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    folded: bool  # shown on a click


def data_card(given: Mapping[str, Any], trial: Trial) -> Card:
    """What is known of the data: what the caller says, and what the rows show."""
    card = [(name(key), number(value)) for key, value in given.items()]
    if trial.target is not None:
        card.append(("target", name(trial.target)))
    if trial.rows is not None:
        kinds = {None: "rows", True: "held-out rows", False: "training rows, reported on"}
        kind = f"rows in {trial.way}" if trial.way else kinds[trial.held_out]
        card += [(kind, number(len(trial.rows.y))), ("columns", number(len(trial.names)))]
    return tuple(card)


def model_card(trial: Trial) -> Card:
    """What the model is, how it was trained, and what it knows of itself."""
    model = trial.model
    card = [("learner", type(model).__name__)]
    parameters = model.get_params(deep=False).items()
    card += [(name(key), plain(repr(value), 200)) for key, value in parameters]
    if hasattr(model, "classes_"):
        card.append(("classes", words.listed(model.classes_.tolist(), 10)))
    rows = getattr(getattr(model, "moments_", None), "rows", None)
    alpha: Any = getattr(model, "alpha_", None)
    kappa = condition(model)
    facts = {
        "training rows": None if rows is None else int(np.sum(rows)),
        "penalty alpha that was used": alpha if np.ndim(alpha) == 0 else None,
        "passes or steps": None if not hasattr(model, "n_iter_") else int(np.max(model.n_iter_)),
        "rank": getattr(model, "rank_", None),
        "condition number": None if kappa is None or np.isnan(kappa) else kappa,
    }
    card += [(title, number(value)) for title, value in facts.items() if value is not None]
    if getattr(model, "fit_", None) is not None:
        card.append(("learning ended", plain(model.fit_.stopped)))
    certificate, _ = reconciled(model, trial.separability)
    if certificate is not None:
        card.append(("certificate", plain(str(certificate))))
    return (*card, ("adaline", adaline.__version__))


def coefficient_table(table: Coefficients) -> Table | None:
    """Coefficients by name, with intervals if the theory has them."""
    if not table.heads:
        return None
    meanings = [note for note in table.in_full.notes if note not in table.notes]
    heads = (*table.heads, *table.more)
    shown = replace(table, heads=heads[:MAX_OUTPUTS])
    rows, notes = shown.cells(MAX_TABLE_ROWS, digits=5)
    if len(heads) > MAX_OUTPUTS:
        notes.append(f"{MAX_OUTPUTS} of {len(heads)} outputs are shown.")
    notes = [plain(note) for note in (*notes, *table.notes, *meanings)]
    return _table("Coefficients", ["", *shown.titles], rows, notes)


def _table(caption: str, head: Any, rows: Any, notes: Any = (), folded: bool = False) -> Table:
    """A table of at most so many rows, and the intercept of coefficients."""
    folded = folded or len(rows) > OPEN_TABLE_ROWS
    if len(rows) > MAX_TABLE_ROWS + 1:
        notes, rows = (*notes, f"The first {MAX_TABLE_ROWS} of {len(rows)}."), rows[:MAX_TABLE_ROWS]
    return Table(caption, tuple(head), tuple(map(tuple, rows)), tuple(notes), folded)


def class_table(facts: Mapping[str, Any]) -> Table | None:
    """Precision and recall of each class."""
    if "per_class" not in facts:
        return None
    head, rows = words.class_table(facts)
    return _table("Precision and recall", ["", *head[1:]], rows, ["In brackets: 95% intervals."])


def column_table(trial: Trial) -> Table | None:
    """The columns of the rows: range, mean and spread."""
    rows, X = [], trial.seen_X
    if X is None:
        return None
    for j, column in enumerate(trial.names):
        part = X[:, [j]]
        v = np.asarray(part.toarray() if hasattr(part, "toarray") else part).ravel()
        ends = (cell(float(end), column) for end in (v.min(), v.mean(), v.max()))
        deviation = number(float(v.std())) + " days" * isinstance(column, DateColumn)
        rows.append((name(column), *ends, deviation))
    seen = words.words_for(X.shape[0], trial.held_out if trial.learned is None else False)
    head = ("", "least", "mean", "largest", "standard deviation")
    return _table(f"Columns of the {seen}", head, rows, folded=True)


def gap_table(gaps: Mapping[str, Any], rows: int | None) -> Table | None:
    """Missing values by column: how many, and what was done about them."""
    lines = []
    for column, entry in gaps.items():
        count, done = entry if isinstance(entry, tuple) else (entry, "")
        share = percent(count / rows) if rows else "–"
        lines.append((name(column), number(count), share, plain(done)))
    return _table("Missing values", ["", "rows", "share", "what was done"], lines) if gaps else None


def cost_table(counts: Thresholds | None) -> Table | None:
    """From which probability on to predict a class, by what its errors cost."""
    if counts is None:
        return None
    label, rows = repr(name(counts.label)), []
    for ratio in (1, 2, 5, 10, 20):  # false alarms that a miss costs
        hits, alarms = counts.at(1 / (1 + ratio))
        miss = "as much as a false alarm" if ratio == 1 else f"{ratio} false alarms"
        missed = f"{number(len(counts.positive) - hits)} of {number(len(counts.positive))}"
        false = f"{number(alarms)} of {number(len(counts.others))}"
        costs = counts.mean_cost(ratio, 1 / (1 + ratio)), counts.constant_cost(ratio)
        texts = (number(float(cost), 3) for cost in costs)
        rows.append((miss, percent(1 / (1 + ratio)), missed, false, *texts))
    head = [f"missing {label} costs", f"predict {label} from", "missed", "false alarms"]
    head += ["mean cost", "without a model"]
    note = "Mean costs of a decision, in false alarms."
    return _table("Where to set the threshold", head, rows, [note])


def fold_table(result: CrossValidated | None) -> Table | None:
    """The quality fold by fold."""
    if result is None or not result.spread or len(result.per_fold) > MAX_OUTPUTS:
        return None
    titles = {"r2": "R²", "rmse": "root mean squared error"}
    if "rmse" not in result.per_fold[0]:
        titles = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy"}
    rows = []
    for j, facts in enumerate(result.per_fold, start=1):
        cells = (percent(facts[k]) if "acc" in k else number(facts[k], 4) for k in titles)
        rows.append((f"fold {j}", number(facts["rows"]), *cells))
    return _table("Quality fold by fold", ["", "rows", *titles.values()], rows, folded=True)


def code_for(model: BaseEstimator) -> str:
    """Lines that fit the same model again, on rows that only the reader has."""
    kind, home = type(model).__name__, type(model).__module__
    source = "adaline" if home.startswith("adaline.") else home
    fit = "model.fit(X, y)  # the training rows\nprint(model.score(X_held_out, y_held_out))\n"
    return f"from {source} import {kind}\n\nmodel = {model!r}\n{fit}"

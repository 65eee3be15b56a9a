"""`adaline fit --by` and `--rolling`: a model for each group of rows, or for each window."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import adaline
from adaline.cli.errors import refuse_conflicts
from adaline.cli.learners import choose_learner, make_learner
from adaline.cli.options import Columns, Common, Evaluation, FitOptions
from adaline.cli.predict import open_writer
from adaline.cli.printing import Answer
from adaline.cli.tables import require_writable, study_table
from adaline.evaluation.compare import aligned
from adaline.evaluation.words import number

WORST = 5  # groups that are listed
STRIP = 640, 6  # width of the picture of a coefficient, and height of a group in it
DRAWN = 200  # groups in the picture of a coefficient: evenly spaced by size


def fit_many(
    data: str, options: FitOptions, evaluation: Evaluation, columns: Columns, common: Common
) -> Answer:
    """Fit, write the table of coefficients, and say how they spread."""
    answer = Answer("fit", common)
    by = [part.strip() for part in (options.by or "").split(",") if part.strip()]
    refuse_conflicts(
        (evaluation.asks_for_folds or options.test is not None, "--by has no hold-out."),
        (options.cluster or options.checkpoint, "--by and --rolling need the rows in memory."),
    )
    for path in (options.report, options.out):
        require_writable(path, data)
    named = {f"--by {column}": column for column in by} | evaluation.named
    table = study_table(data, options.target, columns, named)
    rows, names = table.all_rows, list(table.encoding.names)
    kind, _ = choose_learner(options.model, table.source, table.target)
    usual = options.model is None and kind is adaline.Ridge  # a penalty for each group takes longer
    kind = adaline.LeastSquares if usual else kind
    weights = evaluation.weights
    given: dict[str, Any] = {"sample_weight": rows.weights(weights) if weights else None}
    given["groups"] = {column: rows.column(column, in_order=True) for column in by} or None
    model = make_learner(kind, options.set_ or (), common.seed)
    X = rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X
    if options.rolling is not None:
        fits = adaline.rolling(model, X, rows.y, window=options.rolling, **given)
    else:
        fits = adaline.fit_groups(model, X, rows.y, **given)
    fits = replace(fits, names=tuple(names), _kind="pyarrow")
    first, *spread = str(fits).split("\n")
    answer.verdict(f"{first} (proven: {number(int(np.isfinite(fits.errors).all(axis=1).sum()))}).")
    answer.say("\n".join(spread))
    answer.warn(*table.doubts())
    table.describe(answer, len(rows.y))
    lines = fits.summary().to_pydict()
    if options.out is not None:
        with open_writer(options.out, list(lines)) as writer:
            writer.write(list(lines.values()))
        answer.say(f"Wrote the coefficients: {Path(options.out)}")
    if options.report is not None:
        Path(options.report).write_text(make_page(fits, table.target), encoding="utf-8")
        answer.say(f"Wrote the report: {Path(options.report)}")
    if not (options.out or options.report):
        answer.say("--out coefs.csv writes the coefficients of every group.", "note")
    answer.facts = {"target": table.target, "groups": len(fits), "coefficients": lines}
    return answer


def make_page(fits: Any, target: str) -> str:
    """A page with the spread of the coefficients, a picture of each, and the worst fits."""
    labels = [" ".join(map(str, key)) for key in zip(*fits.keys.values(), strict=True)]
    worst = np.argsort(fits.digits.min(axis=1), kind="stable")[:WORST]
    columns = [labels, fits.status, fits.rows, fits.digits.min(axis=1)]
    cells = [["group", "status", "rows", "proven digits"]]
    cells += [[number(column[g]) for column in columns] for g in worst]
    strips = [f"<h2>{escape(column)}</h2>{draw(fits, j)}" for j, column in enumerate(fits.names)]
    title, text = f"A model of {target!r} for each group", "\n".join(aligned(cells, left=1))
    return (
        "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        "<style>body{font:16px sans-serif;margin:2em;max-width:44em}svg{max-width:100%}</style>"
        f"<title>{escape(title)}</title><h1>{escape(title)}</h1><pre>{escape(str(fits))}</pre>"
        f"{''.join(strips)}<h2>Worst fits</h2><pre>{escape(text)}</pre>"
    )


def draw(fits: Any, j: int) -> str:
    """Intervals of a coefficient over the groups, in the order of their size (caterpillar plot)."""
    w, error = fits.coef_[:, j], np.nan_to_num(1.96 * fits.std_errors[:, j])
    order = np.argsort(w)[: np.isfinite(w).sum()]
    order = order[np.linspace(0, len(order) - 1, min(DRAWN, len(order))).astype(int)]
    if not len(order):
        return "<p>No group has this coefficient.</p>"
    low, high = (w - error)[order].min(), (w + error)[order].max()
    unit = STRIP[0] / ((high - low) or 1.0)
    at, half = (w[order] - low) * unit, error[order] * unit
    bars = "".join(
        f"<path d='M{x - e:.1f} {y}H{x + e:.1f}' stroke='#999'/>"
        f"<circle cx='{x:.1f}' cy='{y}' r='2'/>"
        for y, x, e in zip(range(3, STRIP[1] * len(at), STRIP[1]), at, half, strict=True)
    )
    zero = f"<path d='M{-low * unit:.1f} 0V9999' stroke='#c33'/>" if low < 0.0 < high else ""
    size = f"width='{STRIP[0]}' height='{STRIP[1] * len(order)}'"
    return f"<p>{low:.4g} to {high:.4g}</p><svg {size}>{zero}{bars}</svg>"

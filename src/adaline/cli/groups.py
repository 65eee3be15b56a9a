"""`adaline fit --by` and `--rolling`: a model for each group of rows, or for each window."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import numpy as np

import adaline
from adaline.cli.learners import choose_learner, make_learner
from adaline.cli.options import FitOptions
from adaline.cli.predict import open_writer
from adaline.cli.printing import Answer
from adaline.cli.tables import study_table
from adaline.data.outputs import write_atomically
from adaline.evaluation.compare import aligned
from adaline.evaluation.words import number
from adaline.plot.display import new_figure, svg_of


def fit_many(data: str, options: FitOptions) -> int:
    """Fit, write the table of coefficients, and say how they spread; the exit code."""
    columns, evaluation = options.columns, options.evaluation
    answer = Answer("fit", columns.common)
    by = [part.strip() for part in (options.by or "").split(",") if part.strip()]
    named = {f"--by {column}": column for column in by} | evaluation.named
    table = study_table(data, columns, named)
    rows, weights = table.all_rows, evaluation.weights
    kind, _ = choose_learner(options.model, table.source, table.target)
    usual = options.model is None and kind is adaline.Ridge  # a penalty for each group takes longer
    kind = adaline.LeastSquares if usual else kind
    model = make_learner(kind, options.set_ or (), columns.common.seed)
    given: dict[str, Any] = {"sample_weight": rows.weights(weights) if weights else None}
    given["groups"] = {column: rows.column(column, in_order=True) for column in by} or None
    X = rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X
    if options.rolling is not None:
        fits = adaline.rolling(model, X, rows.y, window=options.rolling, **given)
    else:
        fits = adaline.fit_groups(model, X, rows.y, **given)
    fits = replace(fits, names=tuple(table.encoding.names), _kind="pyarrow")
    first, *spread = str(fits).split("\n")
    answer.verdict(f"{first} (proven: {number(int(np.isfinite(fits.errors).all(axis=1).sum()))}).")
    answer.say("\n".join(spread))
    answer.warn(*table.doubts())
    table.describe(answer, len(rows.y))
    lines = fits.summary().to_pydict()
    if options.out is not None:
        with open_writer(options.out, list(lines)) as writer:
            writer.write(list(lines.values()))
        answer.say(f"Wrote the coefficients: {options.out}")
    if options.report is not None:
        write_atomically(options.report, make_page(fits, table.target).encode())
        answer.say(f"Wrote the report: {options.report}")
    if not (options.out or options.report):
        answer.say("--out coefs.csv writes the coefficients of every group.", "note")
    return answer.finish(target=table.target, groups=len(fits), coefficients=lines)


def make_page(fits: Any, target: str) -> str:
    """A page with the spread of the coefficients, a picture of each, and the worst fits."""
    labels = [" ".join(map(str, key)) for key in zip(*fits.keys.values(), strict=True)]
    digits = fits.digits.min(axis=1)
    cells = [["group", "status", "rows", "proven digits"]]
    for g in np.argsort(digits, kind="stable")[:5]:
        cells.append([labels[g], *map(number, (fits.status[g], fits.rows[g], digits[g]))])
    pictures = [f"<h2>{escape(column)}</h2>{draw(fits, j)}" for j, column in enumerate(fits.names)]
    title = escape(f"A model of {target!r} for each group")
    worst = escape("\n".join(aligned(cells, left=1)))
    return (
        "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        "<style>body{font:16px sans-serif;margin:2em;max-width:44em}svg{max-width:100%}</style>"
        f"<title>{title}</title><h1>{title}</h1><pre>{escape(str(fits))}</pre>"
        f"{''.join(pictures)}<h2>Worst fits</h2><pre>{worst}</pre>"
    )


def draw(fits: Any, j: int) -> str:
    """Intervals of a coefficient over the groups, in the order of their size (caterpillar plot)."""
    w, error = fits.coef_[:, j], np.nan_to_num(1.96 * fits.std_errors[:, j])
    order = np.argsort(w)[: np.isfinite(w).sum()]
    if not len(order):
        return "<p>No group has this coefficient.</p>"
    # At most 200, evenly spaced: as many as are seen apart.
    order = order[np.linspace(0, len(order) - 1, min(200, len(order))).astype(int)]
    figure = new_figure(6.4, 1.0 + 0.08 * len(order))
    ax = figure.subplots()
    ax.axvline(0.0, color="0.8")
    ax.errorbar(w[order], np.arange(len(order)), xerr=error[order], fmt=".")
    ax.set_yticks([])
    return svg_of(figure, f"coefficient-{j}", f"{fits.names[j]} in {len(order)} groups")

"""Weights by the names of their columns, with intervals where the theory has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.verdicts.evidence import summary_of
from adaline.verdicts.quality import NORMAL_95
from adaline.verdicts.words import chance, name, number, plural

_PLAIN = {"low 95%": "low", "high 95%": "high"}
ERRORS = "std err"  # the one name of a standard error, in every table


@dataclass(frozen=True)
class Coefficients:
    """A table of weights.

    Attributes
    ----------
    heads : tuple of str
        Columns beside the name: "coef", and "std err", "low", "high" and others where they are
        known; one a class or target where there are several.
    rows : tuple of dict
        "name" and a number for each head; the intercept first.
    notes : tuple of str
        How to read the table.
    """

    heads: tuple[str, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def titles(self) -> list[str]:
        """The heads for people."""
        return [{"low": "low 95%", "high": "high 95%"}.get(head, name(head)) for head in self.heads]

    def cells(self, most: int, digits: int = 4) -> tuple[list[list[str]], list[str]]:
        """Text for people: the intercept and the `most` largest weights, and a note if not all."""
        first = int(bool(self.rows) and self.rows[0]["name"] == "intercept")
        weights, notes = self.rows[first:], []
        if len(weights) > most:
            sized = ("coef",) if "coef" in self.heads else self.heads
            size = np.array([max(abs(row.get(h) or 0.0) for h in sized) for row in weights])
            largest = np.sort(np.argsort(-size, kind="stable")[:most])
            notes = [f"The {most} largest of {plural(len(weights), 'coefficient')}."]
            weights = tuple(weights[i] for i in largest)
        rows = (*self.rows[:first], *weights)
        return [[name(row["name"]), *self._line(row, digits)] for row in rows], notes

    def _line(self, row: dict[str, Any], digits: int) -> list[str]:
        return [
            chance(row[head]) if head == "p" else number(row.get(head), digits)
            for head in self.heads
        ]


def coefficients(model: Any, names: list[str]) -> Coefficients:
    """The weights of a model; an empty table where the model is no weighted sum of its columns."""
    if getattr(model, "coef_", None) is None:
        return Coefficients()
    W = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    b = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(W),))
    if W.shape[1] != len(names):
        return Coefficients()
    if len(W) > 1:
        return _of_many(model, W, b, names)
    return _of_posterior(model, names) or _of_summary(model, names) or _bare(W[0], b[0], names)


def _bare(w: Any, b: float, names: list[str]) -> Coefficients:
    values = zip(["intercept", *names], [float(b), *w.tolist()], strict=True)
    rows = tuple({"name": n, "coef": v} for n, v in values)
    note = "No confidence intervals: not available for this learner, or for files read in blocks."
    return Coefficients(("coef",), rows, (note,))


def _of_many(model: Any, W: Any, b: Any, names: list[str]) -> Coefficients:
    """One column a class or target."""
    labels = getattr(model, "classes_", None)
    heads = [f"target {k}" for k in range(len(W))] if labels is None else labels.tolist()
    heads = [str(head) for head in heads]
    rows = [{"name": "intercept"} | dict(zip(heads, b.tolist(), strict=True))]
    for j, n in enumerate(names):
        rows.append({"name": n} | dict(zip(heads, W[:, j].tolist(), strict=True)))
    return Coefficients(tuple(heads), tuple(rows))


def _of_posterior(model: Any, names: list[str]) -> Coefficients | None:
    """Ridge weights with the posterior's spread; None where there is none."""
    if not hasattr(model, "posterior"):
        return None
    try:
        given = model.posterior()
    except ValueError:
        return None
    rows = [{"name": "intercept", "coef": float(model.intercept_)}]
    spread = np.sqrt(np.diag(given.covariance))
    for n, mean, sd in zip(names, given.mean.tolist(), spread.tolist(), strict=True):
        half = NORMAL_95 * sd
        rows.append({"name": n, "coef": mean, ERRORS: sd, "low": mean - half, "high": mean + half})
    note = "low and high are 95 % credible intervals; the penalty acts as a prior."
    return Coefficients(("coef", ERRORS, "low", "high"), tuple(rows), (note,))


def _of_summary(model: Any, names: list[str]) -> Coefficients | None:
    """From summary(); what the certificate says already is not noted again."""
    found = summary_of(model)
    if found is None:
        return None
    named = (["intercept"] if getattr(model, "fit_intercept", True) else []) + names
    columns = {_PLAIN.get(str(k), str(k)): np.asarray(v).tolist() for k, v in found.columns.items()}
    rows = tuple(
        {"name": n} | {head: float(values[i]) for head, values in columns.items()}
        for i, n in enumerate(named)
    )
    certificate = str(getattr(model, "certificate_", ""))
    return Coefficients(tuple(columns), rows, tuple(n for n in found.notes if n != certificate))

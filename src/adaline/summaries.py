"""Tables of what a fit found, for people: plain text, data frame and HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from adaline.errors import MissingExtra
from adaline.results import Array, Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Summary(Result):
    """Coefficients by name with their uncertainty, and facts about the whole fit.

    Attributes
    ----------
    title : str
    names : tuple of str
        A name for each coefficient, the intercept first where there is one.
    columns : dict of str to ndarray
        Columns of the table, one number a coefficient: coef, std err, t, p, low, high, VIF.
    facts : dict of str to float or int
        R², F and the like.
    notes : tuple of str
        Sentences a reader should not miss.
    """

    title: str
    names: tuple[str, ...]
    columns: dict[str, Array]
    facts: dict[str, float]
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> Array | float:
        """A column of the table, or a fact, by its name."""
        if key in self.columns:
            return self.columns[key]
        if key in self.facts:
            return self.facts[key]
        raise KeyError(f"{key!r}; there are {[*self.columns, *self.facts]}")

    def __str__(self) -> str:
        facts = [f"{name}: {_number(value, name)}" for name, value in self.facts.items()]
        return "\n".join([self.title, *_side_by_side(facts), "", *self._lines(), *self.notes])

    def _cells(self) -> list[list[str]]:
        head = ["", *self.columns]
        rows = [
            [name, *(_number(values[i], column) for column, values in self.columns.items())]
            for i, name in enumerate(self.names)
        ]
        return [head, *rows]

    def _lines(self) -> list[str]:
        return aligned(self._cells(), left=1)

    def to_frame(self) -> pd.DataFrame:
        """The table as a pandas data frame, one row a coefficient."""
        return data_frame(self.columns, index=list(self.names))

    def to_html(self) -> str:
        """The table as HTML, names escaped."""
        facts = "".join(
            f"<tr><th>{escape(name)}</th><td>{_number(value, name)}</td></tr>"
            for name, value in self.facts.items()
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        title = escape(self.title)
        table = html_table(self._cells(), left=1)
        return f"<table><caption>{title}</caption>{facts}</table>{table}{notes}"

    def _repr_html_(self) -> str:
        return self.to_html()


@dataclass(frozen=True, eq=False)
class RidgePath(Result):
    """Ridge over a range of penalties. Shapes are (L,), or (L, k) for several targets.

    Attributes
    ----------
    alphas : ndarray of shape (L,)
    coef, intercept : ndarray of shape (L, p) and (L,), or (L, k, p) and (L, k)
    dof : ndarray of shape (L,)
        Effective degrees of freedom, trace of the hat matrix, the bias counted.
    gcv : ndarray
        Generalised cross-validation estimate of the mean squared error.
    loo : ndarray or None
        Exact leave-one-out mean squared error; None without the rows.
    names : tuple of str
        The columns of X.
    """

    alphas: Array
    coef: Array
    intercept: Array
    dof: Array
    gcv: Array
    loo: Array | None
    names: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """A pandas data frame: one line a penalty, and a target where there are several."""
        L, k, p = len(self.alphas), self.gcv.size // len(self.alphas), len(self.names)
        columns: dict[str, Array] = {"alpha": np.repeat(self.alphas, k)}
        if self.gcv.ndim == 2:
            columns["target"] = np.tile(np.arange(k, dtype=np.float64), L)
        columns |= {"dof": np.repeat(self.dof, k), "gcv": self.gcv.ravel()}
        if self.loo is not None:
            columns["loo"] = self.loo.ravel()
        columns["intercept"] = self.intercept.ravel()
        coef = self.coef.reshape(L * k, p)
        return data_frame(columns).join(data_frame(dict(zip(self.names, coef.T, strict=True))))


def data_frame(columns: Mapping[str, Any], index: Any = None) -> pd.DataFrame:
    """A pandas data frame; MissingExtra where there is no pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra(
            "to_frame() needs pandas; install it with `pip install pandas`."
        ) from None
    return pd.DataFrame(columns, index=index)


def html_table(cells: Sequence[Sequence[str]], left: int = 0) -> str:
    """Rows of cells, the first of them the head, as HTML; the first `left` columns are names."""
    head, *rows = ([escape(cell) for cell in row] for row in cells)
    top = "".join(f"<th>{cell}</th>" for cell in head)
    tags = ["th"] * left + ["td"] * (len(head) - left)
    lines = ("".join(f"<{t}>{c}</{t}>" for t, c in zip(tags, row, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def aligned(cells: Sequence[Sequence[str]], left: int = 0) -> list[str]:
    """Rows of cells as lines; the first `left` columns flush left, the others flush right.

    >>> aligned([["", "low"], ["x", "1"]], left=1)
    ['   low', 'x    1']
    """
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    return [
        "  ".join(
            cell.ljust(width) if j < left else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _number(value: float, name: str) -> str:
    """Six significant digits, four of a statistic, three of p; counts as they are; - for NaN."""
    if isinstance(value, int | np.integer):
        return str(value)
    if np.isnan(value):
        return "-"
    if name.split()[0] == "p":
        return "< 0.0001" if value < 1e-4 else f"{value:.3g}"
    return f"{value:.4g}" if name in ("t", "z", "VIF") else f"{value:.6g}"


def _side_by_side(facts: list[str]) -> list[str]:
    half = (len(facts) + 1) // 2
    width = max((len(fact) for fact in facts[:half]), default=0) + 4
    pairs = zip(facts[:half], [*facts[half:], ""], strict=False)
    return [f"{left:<{width}}{right}".rstrip() for left, right in pairs]

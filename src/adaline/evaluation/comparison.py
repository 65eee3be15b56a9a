"""Learners side by side, as plain data and as a table for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adaline.evaluation.words import chance, name, number, p_value, percent, plural
from adaline.results import Result
from adaline.summaries import aligned

NOTHING = "no model"


@dataclass(frozen=True)
class Compared(Result):
    """One learner of a comparison.

    Attributes
    ----------
    name : str
    measure : float or None
        Share of rows predicted rightly, or R²; None where the learner failed.
    low, high : float or None
        Its 95 % interval.
    behind : float or None
        How far it is behind the best: in shares of rows for classes, in root mean squares for
        numbers. None for the best, and for failures.
    p : float or None
        How likely chance alone puts it so far behind, by the paired test that `Comparison.test`
        names, times the number of learners compared with the best.
    seconds : float or None
        For one fit on all rows.
    facts : dict
        All numbers of the quality.
    note : str
        Why there are none.
    """

    name: str
    measure: float | None = None
    low: float | None = None
    high: float | None = None
    behind: float | None = None
    p: float | None = None
    seconds: float | None = None
    facts: Mapping[str, Any] | None = None
    note: str = ""

    @property
    def is_as_good(self) -> bool:
        """Whether these rows cannot tell it from the best."""
        return self.p is not None and self.p > 0.05


@dataclass(frozen=True)
class Comparison(Result):
    """Learners compared on the same folds, the best first.

    Attributes
    ----------
    rows : tuple of Compared
        "no model" first: the most common class, or the mean, of the rows that were predicted.
    measure : "accuracy" or "R²"
    count : int
        Rows that were predicted.
    way : str
    """

    rows: tuple[Compared, ...]
    measure: str
    count: int
    way: str

    @property
    def best(self) -> Compared | None:
        """The learner of the best quality, if any beats doing without a model."""
        able = [row for row in self.rows if row.measure is not None]
        found = able[1] if len(able) > 1 else None
        return found if found and (found.measure or 0) > (able[0].measure or 0) else None

    @property
    def test(self) -> str:
        """The paired test of its p-values."""
        is_r2 = self.measure == "R²"
        return "corrected t test of folds" if is_r2 else "exact McNemar test"

    @property
    def sentence(self) -> str:
        """Which is best, and which cannot be told from it."""
        best, words = self.best, f"{plural(self.count, 'row')} in {self.way}"
        if best is None:
            return f"No learner does better than no model on {words}."
        is_r2 = self.measure == "R²"
        what = "explains" if is_r2 else "is right for"
        of = "of the variance of" if is_r2 else "of"
        said = f"Best: {best.name}, which {what} {percent(best.measure or 0)} {of} {words}."
        equal = [row.name for row in self.rows if row.is_as_good and row.name != NOTHING]
        if self.rows[0].is_as_good:
            sure = p_value(self.rows[0].p or 0.0)
            return f"{said} These rows cannot tell it from no model ({self.test}, {sure})."
        if equal:
            listed = f"{', '.join(equal)} ({self.test})"
            return f"{said} These rows cannot tell it from {listed}: take the one you like best."
        return f"{said} The others are behind by more than chance explains ({self.test})."

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows of a table for people."""
        is_r2 = self.measure == "R²"
        head = ["learner", self.measure, "95 % interval", "RMSE" if is_r2 else "AUC"]
        head += ["p (t test)" if is_r2 else "p (McNemar)", "fit, s"]
        rows = [self._line(row, is_r2) for row in self.rows]
        if not any(row[3] for row in rows):  # no area of three classes
            head, rows = [*head[:3], *head[4:]], [[*row[:3], *row[4:]] for row in rows]
        return head, rows

    def _line(self, row: Compared, is_r2: bool) -> list[str]:
        if row.measure is None or row.facts is None:
            return [name(row.name), *[""] * 3, row.note, ""]
        ends = "" if row.low is None or row.high is None else _ends(row.low, row.high)
        facts = row.facts
        area = facts.get("auc")
        other = number(facts["rmse"], 3) if is_r2 else "" if area is None else f"{area:.3f}"
        return [
            name(row.name),
            percent(row.measure),
            ends,
            other,
            "best" if row is self.best else "" if row.p is None else chance(row.p),
            _s(row),
        ]

    def __str__(self) -> str:
        head, rows = self.cells()
        return "\n".join([*aligned([head, *rows], left=1), "", self.sentence])


def _ends(low: float, high: float) -> str:
    return f"{100 * low:z.1f} to {percent(high)}"


def _s(row: Compared) -> str:
    return "" if row.seconds is None else f"{row.seconds:.2g}"

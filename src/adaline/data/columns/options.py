"""`ColumnOptions`: what a caller knows of the columns of a table, for all who learn from one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from adaline import parameters
from adaline.data.columns.formula import parse_formula
from adaline.data.reading.notations import is_notation
from adaline.errors import DataError
from adaline.sums.mapreduce import Executor

Missing = Literal["refuse", "drop", "mean", "auto"]
Unknown = Literal["refuse", "zeros"]
MISSING, UNKNOWN = ("refuse", "drop", "mean", "auto"), ("refuse", "zeros")
RARE_ROWS = 5  # with missing="auto", levels with fewer rows are merged: too few for a weight
EXPECTED = {
    "target": parameters.NONE | parameters.text("the name of a column"),
    "columns": parameters.NONE | parameters.NAMES,
    "missing": parameters.words(*MISSING),
    "unknown": parameters.words(*UNKNOWN),
    "most_levels": parameters.count(1),
    "rare": parameters.NONE | parameters.count(0),
    "read": parameters.MAPPING,
    **dict.fromkeys(("na", "use", "ignore"), parameters.TEXTS),
    "formula": parameters.NONE | parameters.text("a text such as 'log(size) + rooms'"),
    "exact_levels": parameters.FLAG,
    "jobs": parameters.JOBS,
}


@dataclass(frozen=True)
class ColumnOptions:
    """How the columns of a table are to be read: for `look`, `table`, `fit` and `Encoding.learn`.

    Parameters
    ----------
    target : str, optional
        The column to learn, which is no input.
    columns : sequence of str, optional
        The input columns, exactly these; all but the target by default.
    missing : {"refuse", "drop", "mean", "auto"}
        What to do with missing values, as in `Encoding`.
    unknown : {"refuse", "zeros"}
        What to do with levels that were not there when learning, as in `Encoding`.
    most_levels : int, default=1000
        A column of text with more levels is left out, or refused if you asked for it.
    rare : int, optional
        In text with more than 20 levels, those with fewer rows are merged into "(other)", for which
        unknown levels count, too; 5 with missing="auto", and 1, which merges none, with others.
    read : mapping, optional
        How to read columns: {"code": "text", "price": "number", "sold": "date dmy"}; a notation
        such as "number € .," says how numbers are written.
    na : sequence of str, optional
        Texts that stand for a missing value in every column, such as ["?", "-999"].
    use : sequence of str, optional
        Columns to use, even if they look like numbers or names of rows.
    ignore : sequence of str, optional
        Columns that are no inputs, as the target.
    formula : str, optional
        Which columns to use, and what to make of them: "rent ~ log(size) + rooms:garden". It knows
        `+`, `-`, `:`, `*`, `^2` to `^9`, `log`, `sqrt`, `poly(x, 3)` and "." for all columns; names
        with other letters stand between backticks. Powers are plain, not orthogonal.
    exact_levels : bool
        Whether levels that differ only in case or surrounding blanks, or as Y and Yes do, stay
        apart. By default they are merged into the most frequent spelling, with a `DataWarning`, and
        rows to predict are read in the same way; spellings that did not occur are unknown.
    jobs : int, default=1
        Processes that read.
    """

    target: str | None = None
    columns: Sequence[str] | None = None
    missing: Missing = "refuse"
    unknown: Unknown = "refuse"
    most_levels: int = 1000
    rare: int | None = None
    read: Mapping[str, str] = field(default_factory=dict)
    na: Sequence[str] = ()
    use: Sequence[str] = ()
    ignore: Sequence[str] = ()
    formula: str | None = None
    exact_levels: bool = False
    jobs: int | Executor = 1

    @classmethod
    def of(
        cls,
        options: ColumnOptions | None,
        target: str | None,
        given: Mapping[str, Any],
        **usual: Any,
    ) -> ColumnOptions:
        """`options` with what else is given; without options, `usual` are the defaults."""
        if options is not None and not isinstance(options, ColumnOptions):
            raise parameters.wrong_type("options", options, "ColumnOptions, or None")
        if unknown := given.keys() - {one.name for one in fields(cls)}:
            raise TypeError(f"{min(unknown)} is no option of columns; see help(ColumnOptions).")
        more = dict(given) if target is None else {**given, "target": target}
        return cls(**(usual | more)) if options is None else replace(options, **more)

    def __post_init__(self) -> None:
        for name in ("read", "na", "use", "ignore"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, {} if name == "read" else ())
        parameters.check(EXPECTED, self)
        for name, how in self.read.items():
            if not isinstance(how, str) or not (how in ("text", "date") or is_notation(how)):
                raise ValueError(
                    f"read[{name!r}] is {how!r}; expected 'text', 'number', 'date', or a notation "
                    "such as 'number %', 'number € .,' or 'date dmy'."
                )
        object.__setattr__(self, "na", tuple(text.strip() for text in self.na))
        if self.formula is None:
            return
        formula = parse_formula(self.formula)
        if formula.target not in (None, self.target):
            raise DataError(
                f"formula: it has {formula.target!r} before ~, and the target is {self.target!r}."
            )
        if self.target in formula.columns:
            raise DataError(f"formula: the target {self.target!r} is among its terms.")
        if self.columns is not None:
            raise DataError("columns and formula are both given; the formula names its columns.")

    @property
    def inputs(self) -> Sequence[str] | None:
        """The columns that are named as inputs; None for all."""
        formula = None if self.formula is None else parse_formula(self.formula)
        return self.columns if formula is None or formula.takes_all else formula.columns

    @property
    def least_rows(self) -> int:
        """Levels with fewer rows are merged; 1 merges none."""
        return (RARE_ROWS if self.missing == "auto" else 1) if self.rare is None else self.rare

    def keeps(self, name: str) -> bool:
        """Whether the user named the column: then it is used, whatever it looks like."""
        used = [] if self.formula is None else parse_formula(self.formula).columns
        return self.columns is not None or name in self.use or name in used

"""What a caller says of the columns of a table: the parameters of `Encoding.learn` and `look`."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from adaline.data.columns.terms import parsed
from adaline.data.reading.checks import (
    check_choice,
    check_jobs,
    check_mapping,
    check_names,
    check_text,
    check_texts,
    check_truth,
    check_whole,
)
from adaline.data.reading.notations import is_notation
from adaline.errors import DataError
from adaline.sums.mapreduce import Executor

Missing = Literal["refuse", "drop", "mean", "auto"]
Unknown = Literal["refuse", "zeros"]
MISSING, UNKNOWN = ("refuse", "drop", "mean", "auto"), ("refuse", "zeros")
MOST_LEVELS = 1000
_RARE = 5  # rows, below which a level is merged with others


@dataclass(frozen=True)
class ColumnOptions:
    """The parameters of `Encoding.learn`, checked; `marks` are found on the way, and not given."""

    target: str | None = None
    columns: Sequence[str] | None = None
    missing: Missing = "refuse"
    unknown: Unknown = "refuse"
    most_levels: int = MOST_LEVELS
    rare: int | None = None
    read: Mapping[str, str] = field(default_factory=dict)
    na: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    formula: str | None = None
    exact_levels: bool = False
    jobs: int | Executor = 1
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def given(cls, **parameters: Any) -> ColumnOptions:
        """Of parameters as users give them, which may be None where there is nothing to say."""
        nothing = [n for n in ("read", "na", "use", "ignore") if parameters.get(n, 0) is None]
        return cls(**{name: value for name, value in parameters.items() if name not in nothing})

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, MISSING)
        check_choice("unknown", self.unknown, UNKNOWN)
        check_names("columns", self.columns)
        check_whole("most_levels", self.most_levels, 1)
        if self.rare is not None:
            check_whole("rare", self.rare, 0)
        check_mapping("read", self.read)
        marks = "a sequence of texts that stand for missing values, such as ['?']"
        check_texts("na", self.na, marks)
        for name in ("use", "ignore"):
            check_texts(name, getattr(self, name), "a sequence of column names, such as ['age']")
        check_truth("exact_levels", self.exact_levels)
        check_jobs(self.jobs)
        if self.target is not None:
            check_text("target", self.target, "the name of a column")
        self._set("read", dict(self.read))
        for name, how in self.read.items():
            known = how in ("text", "number", "date") if isinstance(how, str) else False
            if not known and not (isinstance(how, str) and is_notation(how)):
                raise ValueError(
                    f"read[{name!r}] is {how!r}; expected 'text', 'number', 'date', or a notation "
                    "such as 'number %', 'number € .,' or 'date dmy'."
                )
        self._set("na", tuple(text.strip() for text in self.na))
        self._set("use", tuple(self.use))
        self._set("ignore", tuple(self.ignore))
        if self.formula is not None:
            self._take_formula()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)  # an option in its one form

    def _take_formula(self) -> None:
        """The columns that a formula names, and its target."""
        check_text("formula", self.formula, "such as 'rent ~ log(size) + rooms:garden'")
        found = parsed(str(self.formula))
        if found.target is not None and found.target != self.target:
            raise DataError(
                f"formula: it has {found.target!r} before ~, and the target is {self.target!r}."
            )
        if self.target in found.columns:
            raise DataError(f"formula: the target {self.target!r} is among its terms.")
        if found.takes_all:
            self._set("use", (*self.use, *found.columns))
        elif self.columns is None:
            self._set("columns", found.columns)
        else:
            raise DataError("columns and formula are both given; the formula names its columns.")

    def with_marks(self, marks: Mapping[str, tuple[str, ...]]) -> ColumnOptions:
        """The same with texts that stand for gaps in some columns."""
        other = copy.copy(self)
        other._set("marks", marks)
        return other

    @property
    def merged_below(self) -> int:
        """Rows, below which a level is merged; 1 merges none."""
        return (_RARE if self.missing == "auto" else 1) if self.rare is None else self.rare

    def na_of(self, name: str) -> tuple[str, ...]:
        """Texts that stand for a missing value in a column."""
        return (*self.na, *self.marks.get(name, ()))

    def keeps(self, name: str) -> bool:
        """Whether the user named the column: then it is used, whatever it looks like."""
        return self.columns is not None or name in self.use

"""The options of `Encoding.learn` and `look`, checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from adaline.data.columns._recognition import RARE, check_read
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
from adaline.errors import DataError
from adaline.mapreduce import Executor

Missing = Literal["refuse", "drop", "mean", "auto"]
Unknown = Literal["refuse", "zeros"]
MISSING, UNKNOWN = ("refuse", "drop", "mean", "auto"), ("refuse", "zeros")
MOST_LEVELS = 1000


@dataclass(frozen=True)
class EncodingOptions:
    """What is to be looked at, and how; the parameters of `Encoding.learn`."""

    target: str | None = None
    columns: Sequence[str] | None = None
    missing: str = "refuse"
    most_levels: int = 1000
    rare: int | None = None
    read: Mapping[str, str] = field(default_factory=dict)
    na: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exact_levels: bool = False
    jobs: int | Executor = 1
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # found, not given

    @property
    def merged_below(self) -> int:
        """Rows, below which a level is merged; 1 merges none."""
        return (RARE if self.missing == "auto" else 1) if self.rare is None else self.rare

    def na_of(self, name: str) -> tuple[str, ...]:
        """Texts that stand for a missing value in a column."""
        return (*self.na, *self.marks.get(name, ()))

    def keeps(self, name: str) -> bool:
        """Whether the user named the column: then it is used, whatever it looks like."""
        return self.columns is not None or name in self.use


def checked_options(
    target: Any,
    columns: Any,
    missing: Any,
    unknown: Any,
    most_levels: Any,
    rare: Any,
    read: Any,
    na: Any,
    use: Any,
    ignore: Any,
    formula: Any,
    exact_levels: Any,
    jobs: Any,
) -> EncodingOptions:
    """The options of `learn`, checked."""
    check_choice("missing", missing, MISSING)
    check_choice("unknown", unknown, UNKNOWN)
    check_names("columns", columns)
    check_whole("most_levels", most_levels, 1)
    if rare is not None:
        check_whole("rare", rare, 0)
    check_mapping("read", read)
    check_texts("na", na, "a sequence of texts that stand for missing values, such as ['?']")
    for name, value in (("use", use), ("ignore", ignore)):
        check_texts(name, value, "a sequence of column names, such as ['age', 'size']")
    check_truth("exact_levels", exact_levels)
    check_jobs(jobs)
    if target is not None:
        check_text("target", target, "the name of a column")
    read = dict(read or {})
    check_read(read)
    marks = tuple(text.strip() for text in na or ())
    used, beside = tuple(use or ()), tuple(ignore or ())
    options = EncodingOptions(
        target, columns, missing, most_levels, rare, read, marks, used, beside, exact_levels, jobs
    )
    return options if formula is None else _by_formula(options, formula)


def _by_formula(options: EncodingOptions, formula: Any) -> EncodingOptions:
    """The columns that a formula names, and its target."""
    check_text("formula", formula, "such as 'rent ~ log(size) + rooms:garden'")
    found = parsed(formula)
    if found.target is not None and found.target != options.target:
        raise DataError(
            f"formula: it has {found.target!r} before ~, and the target is {options.target!r}."
        )
    if options.target in found.columns:
        raise DataError(f"formula: the target {options.target!r} is among its terms.")
    if found.takes_all:
        return replace(options, use=(*options.use, *found.columns))
    if options.columns is not None:
        raise DataError("columns and formula are both given; the formula names its columns.")
    return replace(options, columns=found.columns)

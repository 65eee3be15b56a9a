"""Columns of a table to numbers: as they are, read by a notation, or one indicator a level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.applying import (
    ReadSource,
    check_notation,
    encoded_columns,
    encoded_matrix,
    read_block,
    read_column,
    side_by_side,
    texts_among_numbers,
    unknown_values,
)
from adaline.data.columns.by_name import (
    check_block,
    chosen_rows,
    missing_in,
    places_in,
)
from adaline.data.columns.inputs import (
    Input,
    as_plain_data,
    check_fields,
    encoded_names,
    from_plain_data,
)
from adaline.data.columns.options import (
    MOST_LEVELS,
    ColumnOptions,
    Missing,
    Unknown,
)
from adaline.data.columns.strays import with_gaps
from adaline.data.columns.study import Study, study, warn_of
from adaline.data.columns.term_columns import Part, expanded, made_columns
from adaline.data.columns.terms import parsed, term_of
from adaline.data.reading.blocks import blocks
from adaline.data.reading.checks import (
    check_choice,
    check_text,
)
from adaline.data.reading.notations import is_bare
from adaline.data.reading.source import Block, Column, Source
from adaline.errors import DataError, DateColumn
from adaline.results import Array, Result
from adaline.sums.mapreduce import Executor

__all__ = ["Encoding", "Input"]


@dataclass(frozen=True)
class Encoding(Result):
    """How rows of a table become rows of numbers; plain data, learned once and kept with a model.

    Numbers stay as they are. Numbers written for people (`12.5%`, `$3.10`, `1.234,5`) are read as
    numbers, and dates as days since 1970-01-01, with indicators of months and weekdays where rows
    are many. Other text (words, booleans, categories) becomes an indicator for each level but the
    first in sorted order, against which the others are measured.

    Parameters
    ----------
    inputs : tuple of Input
    missing : {"refuse", "drop", "mean", "auto"}
        What to do with a missing value (a null, an empty field or NaN): say where it is, leave its
        row out, or put the column's mean in its place. "auto" puts the mean of the rows learned
        from in its place, with an indicator "NAME is missing" where gaps are many; gaps of text
        are the level "(missing)", and rows without a target are left out.
    unknown : {"refuse", "zeros"}
        What to do with a level that was not there when learning: say which, or give it no
        indicator, which is what the first level has.
    left_out : tuple of (column, why)
        Columns that `learn` did not take in: numbers and names of rows, constants.
    na : tuple of str
        Texts that stand for a missing value in every column.
    target : Input, optional
        How the target is read, where it is not taken as it is.
    terms : tuple of str
        What a formula makes of the inputs, such as ("log(size)", "rooms:garden"); without, every
        input is taken as it is.

    Examples
    --------
    >>> import polars as pl
    >>> from adaline.data import Encoding, blocks
    >>> table = pl.DataFrame({"size": [1.5, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    >>> encoding = Encoding.learn(table)
    >>> encoding.names
    ('size', 'colour=red')
    >>> [encoding.encode(block) for block in blocks(table)]
    [array([[1.5, 1. ], [2. , 0. ], [3. , 1. ]])]

    >>> sold = ["1/12/2024", "31/12/2024", "2/12/2024"]
    >>> table = pl.DataFrame({"share": ["41.5%", "7 %", "?"], "sold": sold})
    >>> encoding = Encoding.learn(table, missing="auto")
    >>> [entry.reading for entry in encoding.inputs]
    ['number %', 'date dmy']
    >>> [encoding.encode(block).tolist() for block in blocks(table)]
    [[[41.5, 20058.0], [7.0, 20088.0], [24.25, 20059.0]]]
    """

    inputs: tuple[Input, ...]
    missing: Missing = "refuse"
    unknown: Unknown = "refuse"
    left_out: tuple[tuple[str, str], ...] = ()
    na: tuple[str, ...] = ()
    target: Input | None = None
    terms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        if self.terms:
            made_columns(self.inputs, self.terms)  # refuses terms of other columns

    @classmethod
    def learn(
        cls,
        source: Any,
        target: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        missing: Missing = "refuse",
        unknown: Unknown = "refuse",
        most_levels: int = MOST_LEVELS,
        rare: int | None = None,
        read: Mapping[str, str] | None = None,
        na: Sequence[str] | None = None,
        use: Sequence[str] | None = None,
        ignore: Sequence[str] | None = None,
        formula: str | None = None,
        exact_levels: bool = False,
        jobs: int | Executor = 1,
    ) -> Encoding:
        """The encoding of all columns but the target; no pass where all are plain numbers.

        Columns that count or name the rows are left out with a `DataWarning`: numbers 1, 2, 3, ...
        or 0, 1, 2, ...; whole numbers that are all different in a column called "", id, index and
        so on; text that is nearly all different or has more than `most_levels` levels. With
        missing="auto" columns of one value or none are left out, too. The last column is never
        left out. Arrays are taken as they are.

        Parameters
        ----------
        source : path, table, array, iterable, or what `blocks` gave
        target : str, optional
            A column that is not an input.
        columns : sequence of str, optional
            The input columns, exactly these; all but the target by default.
        missing, unknown
            As in the class.
        most_levels : int, default=1000
            A column of text with more levels is left out, or refused where you asked for it.
        rare : int, optional
            In text with more than 20 levels those with fewer rows are merged into "(other)", for
            which unknown levels count, too; 5 with missing="auto", and 1, which merges none, with
            others.
        read : mapping, optional
            How to read columns: {"code": "text", "price": "number", "sold": "date dmy"}; a
            notation such as "number € .," says how numbers are written.
        na : sequence of str, optional
            Texts that stand for a missing value in every column, such as ["?", "-999"].
        use : sequence of str, optional
            Columns to use, even if they look like numbers or names of rows.
        ignore : sequence of str, optional
            Columns that are no inputs, as the target.
        formula : str, optional
            Which columns to use, and what to make of them: "rent ~ log(size) + rooms:garden". It
            knows `+`, `-`, `:`, `*`, `^2` to `^9`, `log`, `sqrt`, `poly(x, 3)` and "." for all
            columns; names with other letters stand between backticks. Powers are plain, not
            orthogonal.
        exact_levels : bool
            Whether levels that differ only in case or surrounding blanks, or as Y and Yes do, stay
            apart. By default they are merged into the most frequent spelling, with a `DataWarning`,
            and rows to predict are read in the same way; spellings that did not occur are unknown.
        jobs : int, default=1
            Processes that read.
        """
        options = ColumnOptions.given(
            target=target,
            columns=columns,
            missing=missing,
            unknown=unknown,
            most_levels=most_levels,
            rare=rare,
            read=read,
            na=na,
            use=use,
            ignore=ignore,
            formula=formula,
            exact_levels=exact_levels,
            jobs=jobs,
        )
        found = study(blocks(source), options)
        warn_of(found)
        return cls.of(found)

    @classmethod
    def of(cls, found: Study) -> Encoding:
        """The encoding that a study of all columns leads to."""
        said = found.options
        given = found.left_out, said.na, found.target
        encoding = cls(found.inputs, said.missing, said.unknown, *given)
        return encoding if said.formula is None else encoding.with_formula(said.formula)

    def with_formula(self, formula: str) -> Encoding:
        """The terms of a formula; inputs that no term has are left out."""
        check_text("formula", formula, "such as 'rent ~ log(size) + rooms:garden'")
        terms = parsed(formula).terms([entry.name for entry in self.inputs])
        used = {factor.column for text in terms for factor in term_of(text)}
        strange = used - {entry.name for entry in self.inputs}
        if strange:
            raise DataError(f"formula: there is no column {sorted(strange)[0]!r} to use.")
        inputs = tuple(entry for entry in self.inputs if entry.name in used)
        return replace(self, inputs=inputs, terms=terms)

    def with_target(self, name: str) -> Encoding:
        """The same with a target of plain numbers, which is read as such in every file."""
        return replace(self, target=Input(name))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns: "size", "colour=red"."""
        if self.terms:
            return tuple(name for name, _, _ in made_columns(self.inputs, self.terms))
        return encoded_names(self.inputs)

    @property
    def labels(self) -> list[str]:
        """`names` for people: given as `names=` to a report or a picture, days become dates."""
        dates = {entry.name for entry in self.inputs if entry.is_date} if not self.terms else ()
        return [DateColumn(name) if name in dates else name for name in self.names]

    def groups(self) -> list[tuple[str, tuple[str, ...]]]:
        """Each input column, or term, with the encoded columns that are made of it, in order."""
        if not self.terms:
            return [(entry.name, tuple(entry.names)) for entry in self.inputs]
        groups: dict[str, list[str]] = {}
        for name, term, _ in made_columns(self.inputs, self.terms):
            groups.setdefault(term, []).append(name)
        return [(term, tuple(names)) for term, names in groups.items()]

    def products(self) -> list[tuple[Part, ...]]:
        """Of a formula: for each encoded column its factors, each a column of an input."""
        return [parts for _, _, parts in made_columns(self.inputs, self.terms)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; `from_dict` takes it back."""
        return as_plain_data(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Encoding:
        """The encoding that `to_dict` described; anything else is refused."""
        return cls(**from_plain_data(plain))

    def prepare(self, source: Any) -> Source:
        """The source with its columns read as this encoding reads them, the target too.

        The same source where they are so already. Columns that are text here are text in a CSV
        file that holds digits only, so that "007" keeps its zeros. Numbers and dates are read in
        the notation of this encoding; a value that it does not fit is refused.
        """
        source = self.reread(source)
        entries, there = self._entries(), set(source.names)
        kinds = dict(zip(source.names, source.kinds, strict=True))
        other = [e for e in entries if e.name in there]
        if not self.na:
            other = [e for e in other if e.spellings or kinds[e.name] != _kind(e)]
        return ReadSource(source, other, self.na) if other else source

    def reread(self, source: Any) -> Source:
        """The source with columns as text that are text here; other columns as they are written.

        `encode` takes its blocks; `prepare` is for who wants numbers in them.
        """
        found = blocks(source)
        if self.target is not None and self.target.levels is not None:
            found = found.with_labels(self.target.name)
        there = set(found.names)
        text = [
            e.name
            for e in self._entries()
            if e.name in there and (e.levels is not None or not found.fits(e.reading))
        ]
        return with_gaps(found, self.na, [e.marks for e in self._entries()], text)

    def forgiving(self, source: Any) -> tuple[Encoding, dict[str, tuple[str, ...]]]:
        """This encoding with words among numbers, in the first rows, as gaps; and which they are.

        It is for rows to predict, where one strange value should not stop all others; gaps must
        be filled in (missing="auto" or "mean"), and unknown="zeros". A column in which nothing can
        be read stays as it is, and is refused when it is read.
        """
        found = blocks(source)
        if self.missing not in ("auto", "mean") or self.unknown != "zeros" or not found.again:
            return self, {}
        try:
            self.prepare(found).head()
            return self, {}
        except DataError:
            there = set(found.names)
            wanted = [e for e in self.inputs if e.levels is None and e.name in there]
            head = self.reread(found).reread([e.name for e in wanted], self.na).head()
        odd = texts_among_numbers(head, wanted, self.na)
        marks = {name: tuple(text.strip() for text in texts) for name, texts in odd.items()}
        inputs = (replace(e, marks=(*e.marks, *marks.get(e.name, ()))) for e in self.inputs)
        return replace(self, inputs=tuple(inputs)), odd

    def read(self, block: Block) -> Block:
        """A block with its columns read as this encoding reads them; `prepare` does it for all."""
        check_block(block)
        return read_block(self._entries(), block, self.na)

    def _entries(self) -> list[Input]:
        return [*self.inputs, *([self.target] if self.target is not None else [])]

    def kept(self, block: Block, target: str | None = None) -> NDArray[np.bool_] | None:
        """Which rows to keep; None where all are kept.

        missing="drop" leaves out rows with any gap, "auto" those without a target.
        """
        check_block(block)
        if target is not None:
            check_text("target", target, "the name of a column")
        if self.missing not in ("drop", "auto"):
            return None
        wanted = list(self.inputs) if self.missing == "drop" else []
        if target is not None:
            known = self.target is not None and self.target.name == target
            wanted.append(self.target if known and self.target is not None else Input(target))
        keep = np.ones(block.rows, dtype=bool)
        for entry, j in zip(wanted, places_in(block, [e.name for e in wanted]), strict=True):
            column = block.column(j)
            if entry.name != target or entry is self.target:
                column = self._column(entry, column, block)
            gone = missing_in(column)
            if gone is not None:
                keep &= ~gone
        return None if keep.all() else keep

    def unknown_in(self, block: Block) -> dict[str, int]:
        """How many values of each column of text are no level that was learned."""
        check_block(block)
        text = [entry for entry in self.inputs if entry.levels is not None]
        found = {}
        for entry, j in zip(text, places_in(block, [e.name for e in text]), strict=True):
            count = unknown_values(entry, self._column(entry, block.column(j), block))
            if count:
                found[entry.name] = count
        return found

    def encode(
        self,
        block: Block,
        keep: NDArray[np.bool_] | None = None,
        order: Literal["C", "F"] = "C",
        *,
        check: bool = True,
    ) -> Any:
        """Rows of numbers (n, p): float64, or CSR where the block is.

        Parameters
        ----------
        block : Block
        keep : ndarray of bool, optional
            Rows to encode, from `kept`, which is options where none are given.
        order : {"C", "F"}
            Whether rows or columns are to lie together in memory.
        check : bool
            Whether to look for infinities and NaN; who sums all numbers sees them in the sums.
        """
        check_choice("order", order, ("C", "F"))
        keep = self.kept(block) if keep is None else chosen_rows(keep, block.rows)
        places = places_in(block, self._columns)
        if block.matrix is not None and self._whole:
            return encoded_matrix(self.inputs, block, places, keep, order)
        n = block.rows if keep is None else int(keep.sum())
        columns: list[Array] = []
        as_they_are = not check and not self.terms and not self.na
        for entry, j in zip(self.inputs, places, strict=True):
            column = block.column(j)
            plain = as_they_are and entry.mean is None and _is_plain(entry)
            if plain and column.kind == "number" and column.missing is None:
                check_notation(entry, column, block)
                columns.append(column.values if keep is None else column.values[keep])
            else:
                column = self._column(entry, column, block)
                columns += encoded_columns(entry, column, block, keep, self.unknown)
        if self.terms:
            columns = expanded(self.inputs, self.terms, columns, block, keep)
        return side_by_side(columns, n, order)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is worked out again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.inputs)

    @cached_property
    def _whole(self) -> bool:
        """Whether every input is a column of numbers as it is."""
        return not self.na and not self.terms and all(map(_is_plain, self.inputs))

    def _column(self, entry: Input, column: Column, block: Block) -> Column:
        """The column as its input has it."""
        as_is = not self.na and not entry.spellings and "" not in column.levels[:1]
        if column.kind == _kind(entry) and as_is:
            check_notation(entry, column, block)
            return column
        return read_column(entry, column, block, self.na)


def _kind(entry: Input) -> str:
    return "number" if entry.levels is None else "text"


def _is_plain(entry: Input) -> bool:
    bare = is_bare(entry.reading)
    return entry.levels is None and not entry.gaps and not entry.parts and bare

"""`Encoding`: how the columns of a table become numbers; learned by a study, kept with a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.facts import collect
from adaline.data.columns.formula import Part, expand_terms, made_columns
from adaline.data.columns.inputs import (
    ByName,
    Input,
    encode_column,
    find_levels,
    missing_in,
    read_column,
)
from adaline.data.columns.options import MISSING, UNKNOWN, ColumnOptions, Missing, Unknown
from adaline.data.reading.blocks import blocks
from adaline.data.reading.notations import candidates, is_gap, read
from adaline.data.reading.source import Block, Derived, Source
from adaline.errors import DataError, DateColumn
from adaline.parameters import is_sparse, text, words, wrong_type
from adaline.results import Array, Result

# What plain data of an encoding always have; other fields only where they are not empty.
ALWAYS = {"inputs", "missing", "unknown", "name", "levels", "mean"}


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
        words(*MISSING)("missing", self.missing)
        words(*UNKNOWN)("unknown", self.unknown)
        if self.terms:
            made_columns(self.inputs, self.terms)  # refuses terms of other columns

    @classmethod
    def learn(
        cls,
        source: Any,
        target: str | None = None,
        options: ColumnOptions | None = None,
        **given: Any,
    ) -> Encoding:
        """The encoding of all columns but the target; no pass if all are plain numbers.

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
        options : ColumnOptions, optional
            What is known of the columns.
        **given
            Fields of `ColumnOptions`: columns, missing, unknown, most_levels, rare, read, na, use,
            ignore, formula, exact_levels, jobs.
        """
        from adaline.data.columns.look import study

        learned = study(blocks(source), ColumnOptions.of(options, target, given))
        learned.warn()
        return learned.encoding

    def with_target(self, name: str) -> Encoding:
        """The same with a target of plain numbers, which is read as such in every file."""
        return replace(self, target=Input(name))

    def with_means(self, rows: Source, jobs: Any = 1) -> Encoding:
        """The same with the means of these rows, such as those to learn from, for missing values.

        Levels of text stay those of all rows.
        """
        facts = collect(rows, [e for e in self.inputs if e.mean is not None], self.na, jobs)
        if misfit := next((fact.misfit for fact in facts.values() if fact.misfit), None):
            raise misfit
        means = {name: fact.mean for name, fact in facts.items() if fact.n}
        return replace(
            self, inputs=tuple(replace(e, mean=means.get(e.name, e.mean)) for e in self.inputs)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns: "size", "colour=red"."""
        return tuple(name for _, names in self.groups() for name in names)

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
        return asdict(self, dict_factory=lambda pairs: {k: v for k, v in pairs if v or k in ALWAYS})

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Encoding:
        """The encoding that `to_dict` described; anything else is refused."""
        from adaline.data.storing.schema import Shapes

        if not isinstance(plain, Mapping):
            raise wrong_type("plain", plain, "a mapping, as Encoding.to_dict gives")
        try:
            fields = as_tuples(dict(plain))
            fields["inputs"] = tuple(Input(**entry) for entry in fields["inputs"])
            if "target" in fields:
                fields["target"] = Input(**fields["target"])
            encoding = cls(**fields)
            Shapes().check(encoding, "Encoding", "encoding")
        except (LookupError, TypeError, ValueError) as error:
            raise DataError(f"this describes no encoding: {error}") from None
        return encoding

    def prepare(self, source: Any, *, as_written: bool = False) -> Source:
        """The source with its columns read as this encoding reads them, the target too.

        The same source if they are so already. Columns that are text here are text in a CSV
        file that holds digits only, so that "007" keeps its zeros. Numbers and dates are read in
        the notation of this encoding; a value that it does not fit is refused. `as_written` leaves
        other columns as they are written in the file: `encode` takes those blocks, too.
        """
        rows: Source = blocks(source)
        if self.target is not None and self.target.levels is not None:
            rows = rows.with_labels(self.target.name)
        every = [entry for entry in self._entries if entry.name in rows.names]
        text = [e.name for e in every if e.levels is not None or not rows.fits(e.reading)]
        marks = (mark for entry in self._entries for mark in entry.marks)
        rows = rows.reread(text, tuple(dict.fromkeys((*self.na, *marks))))
        kinds = dict(zip(rows.names, rows.kinds, strict=True))
        other = [e for e in every if self.na or e.spellings or kinds[e.name] != e.kind]
        return ReadColumns(rows, other, self.na) if other and not as_written else rows

    def forgiving(self, source: Any) -> tuple[Encoding, dict[str, tuple[str, ...]]]:
        """This encoding with words among numbers, in the first rows, as gaps; and which they are.

        It is for rows to predict, where one strange value should not stop all others; gaps must
        be filled in (missing="auto" or "mean"), and unknown="zeros". A column in which nothing can
        be read stays as it is, and is refused when it is read.
        """
        source = blocks(source)
        if self.missing not in ("auto", "mean") or self.unknown != "zeros":
            return self, {}
        numbers = [e for e in self.inputs if e.levels is None and e.name in source.names]
        written = self.prepare(source, as_written=True)
        with suppress(DataError):
            ReadColumns(written, numbers, self.na).head()
            return self, {}
        columns = ByName(written.reread([e.name for e in numbers], self.na).head())
        odd = dict[str, tuple[str, ...]]()
        for entry in numbers:
            na, levels = (*self.na, *entry.marks), columns[entry.name].levels
            strange = read(levels, entry.reading or "number", na, len(levels)).strange
            count = sum(not is_gap(level, na) for level in levels)
            some_fit = len(strange) < count or count < 3  # one or two texts may be strange alone
            # What another notation reads is no gap.
            if strange and some_fit and not any(candidates([t], forced=True) for t in strange):
                odd[entry.name] = strange
        marks = {name: tuple(text.strip() for text in texts) for name, texts in odd.items()}
        inputs = (replace(e, marks=(*e.marks, *marks.get(e.name, ()))) for e in self.inputs)
        return replace(self, inputs=tuple(inputs)), odd

    def kept(self, block: Block, target: str | None = None) -> NDArray[np.bool_] | None:
        """Which rows to keep; None if all are kept.

        missing="drop" leaves out rows with any gap, "auto" those without a target.
        """
        if target is not None:
            text("the name of a column")("target", target)
        columns = ByName(block)
        if self.missing not in ("drop", "auto"):
            return None
        entries = {entry.name: entry for entry in self._entries}
        names = [entry.name for entry in self.inputs if self.missing == "drop"]
        gaps = []
        for name in names if target is None else [*names, target]:
            column = columns[name]
            if name in entries:
                column = read_column(entries[name], column, block, self.na)
            gaps += [missing] if (missing := missing_in(column)) is not None else []
        return ~np.any(gaps, axis=0) if gaps else None

    def unknown_in(self, block: Block) -> dict[str, int]:
        """How many values of each column of text are no level that was learned."""
        columns = ByName(block)
        counts = dict[str, int]()
        for entry in self.inputs:
            if entry.levels is not None:
                column = read_column(entry, columns[entry.name], block, self.na)
                counts[entry.name] = int((find_levels(entry, column) < 0).sum())
        return {name: count for name, count in counts.items() if count}

    def encode(self, block: Block, keep: NDArray[np.bool_] | None = None) -> Any:
        """Rows of numbers (n, p): float64, or CSR if the block is.

        Parameters
        ----------
        block : Block
        keep : ndarray of bool, optional
            Rows to encode, from `kept`, which is asked where none are given.
        """
        if keep is None:
            keep = self.kept(block)
        elif not (isinstance(keep, np.ndarray) and keep.dtype == bool and len(keep) == block.rows):
            raise wrong_type("keep", keep, f"an array of {block.rows} booleans")
        block = block if keep is None else block.kept(keep)
        columns, encoded = ByName(block), list[Array]()
        if not self.na and not self.terms and all(entry.is_plain for entry in self.inputs):
            X = columns.take_matrix([entry.name for entry in self.inputs])
            if X is not None:
                return X
        for entry in self.inputs:
            if is_sparse(block.matrix):  # stays sparse: NaN is refused
                entry = replace(entry, mean=None)
            column = read_column(entry, columns[entry.name], block, self.na)
            encoded += encode_column(entry, column, block, self.unknown)
        if self.terms:
            encoded = expand_terms(self.inputs, self.terms, encoded, block)
        return np.column_stack([np.empty((block.rows, 0)), *encoded])

    @property
    def _entries(self) -> list[Input]:
        return [*self.inputs, *([] if self.target is None else [self.target])]


def as_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: as_tuples(part) for key, part in value.items()}
    return tuple(map(as_tuples, value)) if isinstance(value, list | tuple) else value


class ReadColumns(Derived):
    """The rows of a source, some columns read as inputs say; `Encoding.prepare` makes it."""

    def __init__(self, source: Source, entries: Sequence[Input], na: Sequence[str]) -> None:
        super().__init__(source)
        self.entries, self.na = tuple(entries), tuple(na)
        kinds = dict(zip(source.names, source.kinds, strict=True))
        self.kinds = tuple((kinds | {e.name: e.kind for e in entries}).values())

    def of(self, block: Block) -> Block:
        columns = ByName(block)
        read = {e.name: read_column(e, columns[e.name], block, self.na) for e in self.entries}
        every = (read[name] if name in read else columns[name] for name in block.names)
        return Block(block.names, tuple(every), None, block.place)

    @property
    def fingerprint(self) -> str:
        return f"{self.source.fingerprint} {self.entries} {self.na}"

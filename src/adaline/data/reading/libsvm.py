"""LIBSVM (svmlight) text: `label index:value index:value ...` a line, as CSR rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from adaline.data.reading.arrays import MAX_COLUMNS_PER_ENTRY, MAX_EMPTY_COLUMNS
from adaline.data.reading.files import existing
from adaline.data.reading.notations import PLAIN
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.source import Block, Kind
from adaline.data.reading.tables import arrow
from adaline.data.reading.text_files import BLOCK_BYTES, Text, TextSource
from adaline.errors import DataError
from adaline.results import Array

_COMMENT = re.compile(rb"#[^\n]*")
_LABEL, _PAIR = re.compile(PLAIN.encode()), re.compile(rb"-?\d{1,9}:" + PLAIN.encode())


@dataclass(frozen=True)
class FeatureNames(Sequence[str]):
    """The names before, and then x{first}, x{first + 1}, ...; their number alone is stored.

    >>> names = FeatureNames(3, 1, ("y",))
    >>> list(names), names[-1], len(names), names[:2]
    (['y', 'x1', 'x2', 'x3'], 'x3', 4, ('y', 'x1'))
    """

    size: int
    first: int = 0
    before: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.before) + self.size

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return tuple(self[i] for i in range(*k.indices(len(self))))
        i = range(len(self))[k]
        return self.before[i] if i < len(self.before) else f"x{self.first + i - len(self.before)}"

    def __iter__(self) -> Iterator[str]:
        yield from self.before
        yield from map("x%d".__mod__, range(self.first, self.first + self.size))

    def features(self) -> FeatureNames:
        """Without the names before."""
        return FeatureNames(self.size, self.first)


class LibsvmBlock(Block):
    """Rows of features and their labels apart; `matrix` has the labels as its first column."""

    features: Any
    labels: Array

    def __init__(self, names: Sequence[str], features: Any, labels: Array, place: Any):
        # A block is frozen.
        vars(self).update(names=names, columns=(), features=features, labels=labels, place=place)

    @property
    def rows(self) -> int:
        return len(self.labels)

    @property
    def matrix(self) -> Any:
        """CSR, the labels first."""
        return sparse.hstack([sparse.csr_matrix(self.labels[:, np.newaxis]), self.features], "csr")


class LibsvmSource(TextSource):
    """Sparse rows; the label is the column "y", and feature j the column "xj".

    One pass when it is opened finds the largest index, unless `n_features` says what there is. They
    count from 1, unless the file has an index 0.
    """

    is_matrix = True
    features: FeatureNames | None = None
    least, most, entries = 1, 0, 0  # indices, and how many there are

    def __init__(self, path: str, options: ReadingOptions):
        arrow("LIBSVM files")
        if options.columns is not None:
            raise DataError(f"{path}: columns cannot be chosen in a LIBSVM file; take all.")
        self.name, self.text = existing(path), Text(path, quotes=False)
        self.set_size(options.rows, self.text.head(), BLOCK_BYTES // 4)
        self.scratch = options.scratch
        if options.n_features is not None:
            self.features = FeatureNames(options.n_features, 1, ("y",))
            return
        self.rows = 0
        for batch in self.batches():
            labels, indices, _, _ = _arrays(batch)
            self.least = min(self.least, indices.min(initial=1).item())
            self.most = max(self.most, indices.max(initial=0).item())
            self.entries, self.rows = self.entries + len(indices), self.rows + len(labels)

    @property
    def names(self) -> FeatureNames:  # type: ignore[override]
        return self.features or feature_names([self], self.name)

    @property
    def kinds(self) -> tuple[Kind, ...]:  # type: ignore[override]
        number: Kind = "number"
        return (number,) * len(self.names)

    def block(self, batch: Any, place: Callable[[int], str]) -> LibsvmBlock:
        labels, indices, values, ends = _arrays(batch)
        base, p = self.names.first, self.names.size
        outside = (indices < base) | (indices >= base + p)
        if outside.any():
            k = int(np.argmax(outside))
            row = int(np.searchsorted(ends, k, side="right")) - 1
            raise DataError(
                f"{self.name}: {place(row)} has the index {indices[k]}, and there are {p} "
                f"features, {base} to {base + p - 1}; give a larger n_features, or leave it out."
            )
        X: Any = sparse.csr_matrix((values, indices - base, ends), shape=(len(labels), p))
        if not X.has_canonical_format:
            X = X.copy()  # what was parsed is mapped from a file
            X.sum_duplicates()
        return LibsvmBlock(self.names, X, labels, place)

    def lines(self, data: bytes, line: int) -> Iterator[int]:
        return super().lines(_COMMENT.sub(b"", data), line)

    def parse(self, data: bytes, line: int) -> Any:
        """A row for each line: its label, and lists of indices and values."""
        import pyarrow as pa

        self.text.check(data, line)
        try:
            return _parse(_COMMENT.sub(b"", data) if b"#" in data else data)
        except pa.ArrowInvalid as error:
            for at, words in enumerate(_COMMENT.sub(b"", data).split(b"\n"), line):
                for k, word in enumerate(words.split()):
                    if not (_PAIR if k else _LABEL).fullmatch(word):
                        raise DataError(
                            f"{self.name}: line {at} has {word[:40].decode()!r}; expected a label "
                            "and then index:value pairs of numbers (no qid)."
                        ) from None
            raise DataError(f"{self.name}: it is no LIBSVM text ({error}).") from None


def _arrays(batch: Any) -> tuple[Any, ...]:
    """Labels, indices, values, and where the entries of each row begin and end."""
    labels, indices, values = batch.columns
    arrays = labels, indices.values, values.values, indices.offsets
    return tuple(array.to_numpy() for array in arrays)


def _parse(data: bytes) -> Any:
    """The rows of whole lines as an Arrow table; ArrowInvalid where they are none."""
    import pyarrow as pa
    from pyarrow import compute as pc

    text = pa.array([data.decode()], pa.large_string())
    lines = pc.ascii_trim_whitespace(pc.split_pattern(text, "\n").flatten())
    words = pc.ascii_split_whitespace(lines.filter(pc.not_equal(lines, "")))
    ends, flat = words.offsets.to_numpy(), words.flatten()
    flat = pc.replace_substring_regex(flat, r"(^|:)\+", r"\1")  # Arrow reads no plus
    is_label = np.zeros(len(flat), dtype=bool)
    is_label[ends[:-1]] = True
    pairs = pc.split_pattern(flat.filter(pa.array(~is_label)), ":")
    if not np.all(pc.list_value_length(pairs).to_numpy() == 2):
        raise pa.ArrowInvalid("there are words that are no pairs")
    parts, k = pairs.flatten(), np.arange(0, 2 * len(pairs), 2)
    labels = flat.filter(pa.array(is_label)).cast(pa.float64())
    columns = parts.take(k).cast(pa.int32()), parts.take(k + 1).cast(pa.float64())
    offsets = pa.array((ends - np.arange(len(ends))).astype(np.int32))
    lists = [pa.ListArray.from_arrays(offsets, column) for column in columns]
    return pa.table([labels, *lists], names=["labels", "indices", "values"])


def share_features(parts: Sequence[Any], name: str) -> list[LibsvmSource]:
    """Files that all have the columns which they have together."""
    names = parts[0].features or feature_names(parts, name)
    return [part.changed(features=names) for part in parts]


def feature_names(parts: Sequence[Any], name: str) -> FeatureNames:
    """The columns of files, from their least index to the largest; from 1 if none has a 0."""
    least, most = min(part.least for part in parts), max(part.most for part in parts)
    entries = sum(part.entries for part in parts)
    if not any(part.rows for part in parts):
        raise DataError(f"{name}: there are no rows; a fit needs rows.")
    if least < 0:
        raise DataError(f"{name}: it has the index {least}; indices are 0 or more.")
    if most > max(MAX_EMPTY_COLUMNS, MAX_COLUMNS_PER_ENTRY * entries):
        raise DataError(
            f"{name}: it has the index {most}, and {entries} entries in all; number the features "
            "again, without gaps."
        )
    first = min(least, 1)
    return FeatureNames(most + 1 - first, first, ("y",))

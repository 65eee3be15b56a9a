"""numpy's npy and npz files: never unpickled, and checked before anything is allocated."""

from __future__ import annotations

import hashlib
import math
import os
import zipfile
from collections.abc import Iterable, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.reading.source import (
    Block,
    Kind,
    Piece,
    Source,
    block_rows,
    by_row,
    checked_names,
    chosen,
    existing,
    fingerprint_of_file,
    ranges,
    reading,
)
from adaline.errors import DataError

_RATIO, _LARGE = 100, 2**28  # a member that grows more than this, beyond this size, is a bomb
_MANY_COLUMNS, _COLUMNS_AN_ENTRY = 2**20, 16  # as in LIBSVM files
_CSR = {"data", "indices", "indptr", "shape"}


class MatrixSource(Source):
    """Rows of a matrix, dense (perhaps mapped from a file) or CSR."""

    is_matrix = True
    held_here = True

    def __init__(
        self,
        matrix: Any,
        names: Sequence[str],
        columns: Sequence[str] | None,
        rows: int | None,
        name: str = "the array",
    ):
        self.name, self.matrix = name, matrix
        names = checked_names(names, name)
        self.places = None if columns is None else chosen(columns, names, name)
        self.names = names if columns is None else tuple(names[j] for j in self.places or ())
        number: Kind = "number"
        self.kinds = (number,) * len(self.names)
        self.rows = int(matrix.shape[0])
        if not self.rows:
            raise DataError(f"{name}: there are no rows; a fit needs rows.")
        self.size = block_rows(len(self.names), rows)

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of rows."""
        assert self.rows is not None
        return ranges(self.rows, self.size)

    def read(self, piece: Piece) -> Block:
        """The rows of a range."""
        part = self.matrix[piece.start : piece.stop]
        return Block(
            self.names,
            (),
            part if self.places is None else part[:, self.places],
            by_row(piece.start),
        )

    @property
    def fingerprint(self) -> str:
        """Of numbers spread over the matrix."""
        digest = hashlib.sha256(f"{self.matrix.shape} {self.size} {self.names}".encode())
        step = max(1, (self.rows or 1) // 4096)
        taste: Any = self.matrix[::step]
        taste = taste.toarray() if hasattr(taste, "toarray") else taste
        digest.update(np.ascontiguousarray(taste).tobytes())
        return digest.hexdigest()


class NpySource(MatrixSource):
    """A mapped npy file: its rows are read when they are needed."""

    held_here = False

    def __init__(self, path: str, columns: Sequence[str] | None, rows: int | None):
        existing(path)
        with open(path, "rb") as file:
            dtype, shape, _ = _header(file, path, os.path.getsize(path))
        with reading(f"{path}: this is no whole npy file"):
            array = _named(np.load(path, mmap_mode="r", allow_pickle=False))
        names = array[1] or _numbered(shape[1] if len(shape) == 2 else 1)
        super().__init__(array[0], names, columns, rows, path)
        self._dtype = dtype

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "matrix": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.matrix = _named(np.load(self.name, mmap_mode="r", allow_pickle=False))[0]

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        return fingerprint_of_file(self.name, self.size, self.names)


def npz(path: str, columns: Sequence[str] | None, rows: int | None) -> MatrixSource:
    """The arrays of an npz file side by side, or the CSR matrix that scipy.sparse saved in it."""
    existing(path)
    try:
        with reading(f"{path}: this is no whole npz file"):
            with zipfile.ZipFile(path) as packed:
                check_growth(packed.infolist(), path, "Save it as npy if it is not.")
                for member in packed.infolist():
                    _check_member(packed, member, path)
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
    except OSError as error:  # zip says so of places that are not in the file, too
        raise DataError(f"{path}: this is no whole npz file ({error}).") from None
    if not arrays:
        raise DataError(f"{path}: the file is empty; it needs an array.")
    if set(arrays) >= _CSR:
        matrix = _csr(arrays, path)
        _check_width(matrix, path)
        return MatrixSource(matrix, _numbered(matrix.shape[1]), columns, rows, path)
    parts: list[NDArray[Any]] = []
    names: list[str] = []
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub" or array.ndim not in (1, 2):
            raise DataError(
                f"{path}: the array {name!r} has dtype {array.dtype} and shape {array.shape}; "
                "expected numbers in one or two dimensions."
            )
        parts.append(array.reshape(len(array), -1))
        names += [name] if array.ndim == 1 else _numbered(array.shape[1])
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"{path}: its arrays have different numbers of rows: {lengths}.")
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1, dtype=np.float64)
    return MatrixSource(whole, names, columns, rows, path)


def _numbered(p: int) -> list[str]:
    return [f"x{j}" for j in range(p)]


def _named(array: NDArray[Any]) -> tuple[NDArray[Any], list[str]]:
    """A matrix, and the names of a structured array's fields."""
    if array.dtype.names:
        fields = list(array.dtype.names)
        return np.column_stack([array[name] for name in fields]), fields
    return (array.reshape(-1, 1) if array.ndim == 1 else array), []


def _header(file: IO[bytes], path: str, size: int) -> tuple[Any, tuple[int, ...], bool]:
    """What an npy header says, where that is possible in a file of this size."""
    try:
        version = np.lib.format.read_magic(file)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran, dtype = read(file, max_header_size=100_000)
    except Exception as error:  # numpy reads the header as Python, which fails in many ways
        raise DataError(
            f"{path}: this is no npy file of version 1 or 2 ({str(error)[:150]})."
        ) from None
    numbers = [dtype[name] for name in dtype.names] if dtype.names else [dtype]
    if any(d.kind not in "fiub" for d in numbers) or len(shape) not in (1, 2):
        raise DataError(
            f"{path}: the array has dtype {dtype} and shape {shape}; expected numbers in one or "
            "two dimensions. Objects are never unpickled."
        )
    claimed = dtype.itemsize * math.prod(shape)
    if claimed > size - file.tell():
        raise DataError(
            f"{path}: the header claims {claimed:.3g} bytes of numbers, and the file has "
            f"{size - file.tell()}; it is cut short or damaged."
        )
    if not math.prod(shape):
        raise DataError(f"{path}: the array has shape {shape}; a fit needs rows and columns.")
    return dtype, shape, fortran


def check_growth(members: list[zipfile.ZipInfo], path: str, advice: str) -> None:
    """Refuse members that would unpack, together, to much more than they are."""
    packed, whole = (sum(getattr(m, s) for m in members) for s in ("compress_size", "file_size"))
    # Members may share their bytes, which are then counted once.
    if whole > max(_LARGE, _RATIO * min(packed, os.path.getsize(path))):
        names = ", ".join(repr(m.filename) for m in members[:3]) + ", ..." * (len(members) > 3)
        raise DataError(
            f"{path}: {names} would grow from {packed} to {whole} bytes; this looks like a bomb. "
            f"{advice}"
        )


def _check_width(matrix: Any, path: str) -> None:
    """Refuse columns by the million for a few entries: each needs a name."""
    p = matrix.shape[1]
    if p > max(_MANY_COLUMNS, _COLUMNS_AN_ENTRY * matrix.nnz):
        raise DataError(
            f"{path}: the matrix claims {p} columns for {matrix.nnz} entries; at most "
            f"{_MANY_COLUMNS} are read, or {_COLUMNS_AN_ENTRY} for each entry. Leave out the "
            "columns that are empty."
        )


def _check_member(packed: zipfile.ZipFile, member: zipfile.ZipInfo, path: str) -> None:
    """Refuse members that are no npy arrays, or claim more than is there."""
    if not member.filename.endswith(".npy"):
        raise DataError(f"{path}: {member.filename!r} in it is no npy array.")
    with packed.open(member) as file:
        try:
            version = np.lib.format.read_magic(file)
        except ValueError as error:
            raise DataError(f"{path}: {member.filename!r} is no npy array ({error}).") from None
        if version not in ((1, 0), (2, 0)):
            raise DataError(f"{path}: {member.filename!r} is npy of version {version}.")
        first = version == (1, 0)
        read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file, max_header_size=100_000)
        if dtype.hasobject or dtype.itemsize * math.prod(shape) > member.file_size:
            raise DataError(
                f"{path}: {member.filename!r} claims dtype {dtype} and shape {shape}, which its "
                f"{member.file_size} bytes cannot hold as plain numbers."
            )


def _csr(arrays: dict[str, NDArray[Any]], path: str) -> Any:
    form = bytes(arrays["format"].tobytes()).replace(b"\0", b"") if "format" in arrays else b"csr"
    if form != b"csr":
        raise DataError(f"{path}: the matrix is saved as {form!r}; save it as CSR (m.tocsr()).")
    try:
        matrix = sparse.csr_matrix(
            (arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"])
        )
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: its arrays are no CSR matrix ({error}).") from None
    return matrix

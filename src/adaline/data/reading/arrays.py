"""Matrices of numbers: arrays in memory, numpy's files, and sounds, whose channels are columns.

Nothing is unpickled, and what a file claims is checked before memory is allocated.
"""

from __future__ import annotations

import io
import os
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.reading.files import existing, reading
from adaline.data.reading.options import ReadingOptions
from adaline.data.reading.source import Block, Piece, RowSource, by_row
from adaline.errors import DataError
from adaline.sums.rows import as_csr

MAX_GROWTH, SMALL_SIZE = 100, 2**28  # a larger file that unpacks to more than 100 times is a bomb
# Every column costs some hundred bytes for its name, so that few entries may not claim many.
MAX_EMPTY_COLUMNS, MAX_COLUMNS_PER_ENTRY = 2**20, 16
_CSR = {"data", "indices", "indptr", "shape"}


class MatrixSource(RowSource):
    """Rows of a matrix, dense or CSR; without names its columns are x0, x1, ..."""

    is_matrix = True
    rate: int = 0  # samples per second, of sounds

    def __init__(
        self,
        matrix: Any,
        options: ReadingOptions,
        name: str = "the array",
        names: Sequence[str] | None = None,
        load: Callable[[str], Any] | None = None,
    ):
        matrix = as_csr(matrix) if hasattr(matrix, "tocsr") else matrix
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
            raise DataError(
                f"{name} has shape {matrix.shape} and dtype {matrix.dtype}; expected numbers in "
                "(rows, columns)."
            )
        n, p = matrix.shape
        names = names or _numbered(p)
        super().__init__(name, names, ["number"] * p, n, options, matrix, load)

    def read(self, piece: Piece) -> Block:
        part = self.content[piece.start : piece.stop]
        part = part if isinstance(self.places, range) else part[:, self.places]
        if self.rate and part.dtype.kind != "f":
            zero = 128.0 if part.dtype.kind == "u" else 0.0  # 8 bits are stored about 128
            part = (part - zero) / 2.0 ** (8 * part.dtype.itemsize - 1)
        return Block(self.names, (), part, by_row(piece.start))


def stack(parts: Iterator[Any]) -> Any:
    """The rows of arrays that come once, in a temporary file; of sparse ones, in memory."""
    first = next(parts)
    if hasattr(first, "tocsr"):
        return sparse.vstack([first, *parts]).tocsr()
    with tempfile.TemporaryFile() as file:
        for part in chain([first], parts):
            if part.shape[1] != first.shape[1]:
                raise ValueError(f"{first.shape[1]} and {part.shape[1]} columns")
            part.astype(np.float64).tofile(file)
        return np.memmap(file, np.float64, "r").reshape(-1, first.shape[1])


def npy(path: str, options: ReadingOptions) -> MatrixSource:
    """A memory-mapped npy file: its rows are read when they are needed."""
    with reading(f"{existing(path)}: this is no whole npy file"):
        array = _load_npy(path)
        _require_numbers(array, path)
        return MatrixSource(array, options, path, load=_load_npy)


def _load_npy(path: str) -> Any:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    return array.reshape(-1, 1) if array.ndim == 1 else array


def npz(path: str, options: ReadingOptions) -> MatrixSource:
    """The arrays of an npz file side by side, or the CSR matrix that scipy.sparse saved in it."""
    arrays: dict[str, NDArray[Any]] = {}
    with reading(f"{existing(path)}: this is no whole npz file"), zipfile.ZipFile(path) as packed:
        check_growth(packed.infolist(), path, "Save it as npy if it is not.")
        for member in packed.namelist():
            with reading(f"{path}: {member!r} is no npy array of numbers"):
                arrays[member.removesuffix(".npy")] = _parse_npy(packed.read(member))
    if set(arrays) >= _CSR:
        return MatrixSource(_csr(arrays, path), options, path)
    names: list[str] = []
    for name, array in arrays.items():
        _require_numbers(array, f"{path}: {name!r}")
        names += [name] if array.ndim == 1 else _numbered(array.shape[1])
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) != 1:
        raise DataError(f"{path}: its arrays must have the same number of rows; it has {lengths}.")
    parts = [array.reshape(len(array), -1) for array in arrays.values()]
    matrix = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1, dtype=np.float64)
    return MatrixSource(matrix, options, path, names)


def _parse_npy(data: bytes) -> NDArray[Any]:
    """The array of a whole npy file; `numpy.load` would allocate what its header claims."""
    file, formats = io.BytesIO(data), np.lib.format
    is_first = formats.read_magic(file) == (1, 0)
    header = formats.read_array_header_1_0 if is_first else formats.read_array_header_2_0
    shape, is_transposed, dtype = header(file)
    flat = np.frombuffer(data, dtype, offset=file.tell())
    return flat.reshape(shape, order="F" if is_transposed else "C")


def _require_numbers(array: NDArray[Any], where: str) -> None:
    if array.ndim not in (1, 2) or not array.size or array.dtype.kind not in "fiub":
        raise DataError(
            f"{where}: the array has dtype {array.dtype} and shape {array.shape}; expected rows of "
            "numbers in one or two dimensions."
        )


def check_growth(members: list[zipfile.ZipInfo], path: str, advice: str) -> None:
    """Refuse members that would unpack, together, to much more than they are."""
    packed = sum(member.compress_size for member in members)
    unpacked = sum(member.file_size for member in members)
    # Members may share their bytes, which are then counted once.
    if unpacked > max(SMALL_SIZE, MAX_GROWTH * min(packed, os.path.getsize(path))):
        raise DataError(
            f"{path}: it would grow from {packed} to {unpacked} bytes; this looks like a zip bomb. "
            f"{advice}"
        )


def _numbered(p: int) -> list[str]:
    return [f"x{j}" for j in range(p)]


def _csr(arrays: dict[str, NDArray[Any]], path: str) -> Any:
    with reading(f"{path}: its arrays are no CSR matrix", "save it as CSR (m.tocsr())"):
        if arrays.get("format", np.array(b"csr")).item() not in (b"csr", "csr"):
            raise ValueError(f"the format is {arrays['format']}")
        parts = arrays["data"], arrays["indices"], arrays["indptr"]
        matrix: Any = sparse.csr_matrix(parts, shape=tuple(arrays["shape"]))
        matrix.check_format(full_check=True)
    if matrix.shape[1] > max(MAX_EMPTY_COLUMNS, MAX_COLUMNS_PER_ENTRY * matrix.nnz):
        raise DataError(
            f"{path}: the matrix claims {matrix.shape[1]} columns for {matrix.nnz} entries; leave "
            "out the columns that are empty."
        )
    return matrix


def wav(path: str, options: ReadingOptions) -> MatrixSource:
    """PCM of 8 to 64 bits, scaled to -1..1, or floats as they are; a whole recording in memory."""
    from scipy.io import wavfile

    with open(existing(path), "rb") as file:
        data = io.BytesIO(file.read())  # of a file, scipy would allocate what the header claims
    advice = "it is cut short, or of another format; save the sound again as wav"
    with reading(f"{path}: this is not a wav file", advice), warnings.catch_warnings():
        warnings.simplefilter("ignore", wavfile.WavFileWarning)
        if data.getvalue()[4:8] != b"\xff" * 4:  # as ffmpeg writes into a pipe
            warnings.filterwarnings("error", "Reached EOF", wavfile.WavFileWarning)
        rate, samples = wavfile.read(data)
    samples = samples[:, np.newaxis] if samples.ndim == 1 else samples
    if not samples.size:
        raise DataError(f"{path}: there are no samples in it.")
    names = [f"channel{j}" for j in range(samples.shape[1])]
    source = MatrixSource(samples, options, path, names)
    source.rate = rate
    return source

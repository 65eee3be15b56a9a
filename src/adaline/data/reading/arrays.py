"""Matrices of numbers: arrays in memory, numpy's files, and sounds, whose channels are columns.

Nothing is unpickled, and what a file claims is checked before memory is allocated.
"""

from __future__ import annotations

import math
import os
import struct
import zipfile
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data.reading.locations import existing, fingerprint_of_file, reading
from adaline.data.reading.source import Block, Kind, Piece, RowSource, by_row
from adaline.errors import DataError
from adaline.sums.rows import as_csr

MAX_GROWTH, SMALL_SIZE = 100, 2**28  # a larger file that unpacks to more than 100 times is a bomb
# Every column costs some hundred bytes for its name, so that few entries may not claim many.
MAX_EMPTY_COLUMNS, MAX_COLUMNS_PER_ENTRY = 2**20, 16
_CSR = {"data", "indices", "indptr", "shape"}
_UNKNOWN_SIZE = 2**32 - 1  # of a sound that was still being written when its header was
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE  # codes of wav formats


class MatrixSource(RowSource):
    """Rows of a matrix, dense or CSR; `load` maps that of a file again in another process."""

    is_matrix = True
    rate: int = 0  # samples per second, of sounds

    def __init__(
        self,
        matrix: Any,
        columns: Sequence[str] | None,
        rows: int | None,
        name: str = "the array",
        names: Sequence[str] | None = None,
        load: Callable[[str], Any] | None = None,
    ):
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
            raise DataError(
                f"{name} has shape {matrix.shape} and dtype {matrix.dtype}; expected numbers in "
                "(rows, columns)."
            )
        names = _numbered(matrix.shape[1]) if names is None else names
        number: Kind = "number"
        super().__init__(name, names, (number,) * len(names), matrix.shape[0], columns, rows)
        self.matrix, self.load, self.held_here = matrix, load, load is None

    def read(self, piece: Piece) -> Block:
        """The rows of a range; integer samples of sounds are scaled to -1..1."""
        part = self.matrix[piece.start : piece.stop]
        part = part if isinstance(self.places, range) else part[:, self.places]
        if self.rate and part.dtype.kind in "iu":
            half = 2.0 ** (8 * part.dtype.itemsize - 1)  # 8 bits are stored about 128
            part = (part - (half if part.dtype.kind == "u" else 0.0)) / half
        elif self.rate:
            part = part.astype(np.float64)
        return Block(self.names, (), part, by_row(piece.start))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ if self.load is None else {**self.__dict__, "matrix": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.load is not None:
            self.matrix = self.load(self.name)

    @property
    def fingerprint(self) -> str:
        """Of the file and how it is cut, or of numbers spread over the matrix."""
        if self.load is None:
            return super().fingerprint
        return fingerprint_of_file(self.name, self.size, self.names)


def matrix_source(
    given: Any, columns: Sequence[str] | None, rows: int | None, name: str
) -> MatrixSource:
    """An array or sparse matrix of numbers in memory; its columns are x0, x1, ..."""
    return MatrixSource(as_csr(given) if hasattr(given, "tocsr") else given, columns, rows, name)


def npy(path: str, columns: Sequence[str] | None, rows: int | None) -> MatrixSource:
    """A memory-mapped npy file: its rows are read when they are needed."""
    with open(existing(path), "rb") as file:
        dtype = _check_header(file, os.path.getsize(path), path, fields=True)
    with reading(f"{path}: this is no whole npy file"):
        return MatrixSource(_load_npy(path), columns, rows, path, dtype.names, _load_npy)


def _load_npy(path: str) -> Any:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.dtype.names:
        return np.column_stack([array[name] for name in array.dtype.names])
    return array.reshape(-1, 1) if array.ndim == 1 else array


def npz(path: str, columns: Sequence[str] | None, rows: int | None) -> MatrixSource:
    """The arrays of an npz file side by side, or the CSR matrix that scipy.sparse saved in it."""
    try:
        with reading(f"{path}: this is no whole npz file"):
            with zipfile.ZipFile(existing(path)) as packed:
                check_growth(packed.infolist(), path, "Save it as npy if it is not.")
                is_csr = {f"{name}.npy" for name in _CSR} <= set(packed.namelist())
                for member in packed.infolist():
                    where = f"{path}: {member.filename!r}"
                    if not member.filename.endswith(".npy"):
                        raise DataError(f"{where} in it is no npy array.")
                    with packed.open(member) as file:
                        _check_header(file, member.file_size, where, any_kind=is_csr)
            with np.load(path, allow_pickle=False) as content:
                arrays = {name: content[name] for name in content.files}
    except OSError as error:  # zip says so of places that are not in the file, too
        raise DataError(f"{path}: this is no whole npz file ({error}).") from None
    if not arrays:
        raise DataError(f"{path}: the file is empty; it needs an array.")
    if is_csr:
        return MatrixSource(_csr(arrays, path), columns, rows, path)
    names: list[str] = []
    for name, array in arrays.items():
        names += [name] if array.ndim == 1 else _numbered(array.shape[1])
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"{path}: its arrays have different numbers of rows: {lengths}.")
    parts = [array.reshape(len(array), -1) for array in arrays.values()]
    matrix = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1, dtype=np.float64)
    return MatrixSource(matrix, columns, rows, path, names)


def check_growth(members: list[zipfile.ZipInfo], path: str, advice: str) -> None:
    """Refuse members that would unpack, together, to much more than they are."""
    packed = sum(member.compress_size for member in members)
    unpacked = sum(member.file_size for member in members)
    # Members may share their bytes, which are then counted once.
    if unpacked > max(SMALL_SIZE, MAX_GROWTH * min(packed, os.path.getsize(path))):
        names = ", ".join(repr(m.filename) for m in members[:3]) + ", ..." * (len(members) > 3)
        raise DataError(
            f"{path}: {names} would grow from {packed} to {unpacked} bytes; this looks like a zip "
            f"bomb. {advice}"
        )


def _numbered(p: int) -> list[str]:
    return [f"x{j}" for j in range(p)]


def _check_header(
    file: IO[bytes], size: int, where: str, *, fields: bool = False, any_kind: bool = False
) -> Any:
    """The dtype of an npy file; refuse claims beyond its size, and what is no matrix of numbers.

    fields : whether columns may be fields; any_kind : whether it is a part of a CSR matrix.
    """
    try:
        version = np.lib.format.read_magic(file)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = read(file, max_header_size=100_000)
    except Exception as error:  # numpy reads the header as Python, which fails in many ways
        why = str(error)[:150]
        raise DataError(f"{where}: this is no npy file of version 1 or 2 ({why}).") from None
    numbers = [dtype[name] for name in dtype.names] if fields and dtype.names else [dtype]
    is_plain = all(d.kind in "fiub" for d in numbers) and len(shape) in (1, 2)
    if dtype.hasobject or not (is_plain or any_kind):
        raise DataError(
            f"{where}: the array has dtype {dtype} and shape {shape}; expected numbers in one or "
            "two dimensions. Objects are never unpickled."
        )
    claimed, left = dtype.itemsize * math.prod(shape), size - file.tell()
    if claimed > left:
        raise DataError(
            f"{where}: the header claims {claimed:.3g} bytes of numbers, and there are {left}; it "
            "is cut short or damaged."
        )
    if not claimed and not any_kind:
        raise DataError(f"{where}: the array has shape {shape}; a fit needs rows and columns.")
    return dtype


def _csr(arrays: dict[str, NDArray[Any]], path: str) -> Any:
    form = bytes(arrays["format"].tobytes()).replace(b"\0", b"") if "format" in arrays else b"csr"
    if form != b"csr":
        raise DataError(f"{path}: the matrix is saved as {form!r}; save it as CSR (m.tocsr()).")
    try:
        parts = arrays["data"], arrays["indices"], arrays["indptr"]
        matrix: Any = sparse.csr_matrix(parts, shape=tuple(arrays["shape"]))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: its arrays are no CSR matrix ({error}).") from None
    if matrix.shape[1] > max(MAX_EMPTY_COLUMNS, MAX_COLUMNS_PER_ENTRY * matrix.nnz):
        raise DataError(
            f"{path}: the matrix claims {matrix.shape[1]} columns for {matrix.nnz} entries; leave "
            "out the columns that are empty."
        )
    return matrix


def wav(path: str, columns: Sequence[str] | None, rows: int | None) -> MatrixSource:
    """PCM of 8 to 64 bits, scaled to -1..1, or floats as they are."""
    samples = _load_wav(existing(path))
    names = [f"channel{j}" for j in range(samples.shape[1])]
    source = MatrixSource(samples, columns, rows, path, names, _load_wav)
    source.rate = _wav_format(path)[0]
    return source


def _load_wav(path: str) -> Any:
    """Samples (n, channels), memory-mapped unless they have 24 bits, which become 32."""
    _, channels, dtype, start, size = _wav_format(path)
    n = size // (channels * dtype.itemsize)
    if not n:
        raise DataError(f"{path}: there are no samples in it.")
    if dtype.itemsize != 3:
        return np.memmap(path, dtype, "r", start, (n, channels))
    wide = np.zeros((n, channels, 4), np.uint8)
    wide[..., 1:] = np.memmap(path, np.uint8, "r", start, (n, channels, 3))
    return wide.view("<i4")[..., 0]


def _wav_format(path: str) -> tuple[int, int, Any, int, int]:
    """Rate, channels, type of a sample, where the samples begin and how many bytes they are."""
    chunks: dict[bytes, bytes] = {}
    with open(path, "rb") as file:
        head = file.read(12)
        if head[:4] not in (b"RIFF", b"RIFX", b"RF64") or head[8:] != b"WAVE":
            raise DataError(
                f"{path}: this is not a wav file: it begins with {head!r}, and a wav file with "
                "RIFF, a size and WAVE. Convert the sound to wav."
            )
        order = ">" if head.startswith(b"RIFX") else "<"
        while len(chunk := file.read(8)) == 8:
            size, start = struct.unpack(f"{order}I", chunk[4:])[0], file.tell()
            left = os.path.getsize(path) - start
            if chunk[:4] == b"data" and size == _UNKNOWN_SIZE:
                large = chunks.get(b"ds64", b"")[8:16]
                size = int.from_bytes(large, "little") if large else left
            if size > left:
                raise DataError(
                    f"{path}: a part of this wav file claims {size} bytes, and {left} are left; "
                    "it is cut short. Save it again whole."
                )
            if chunk[:4] == b"data":
                break
            chunks[chunk[:4]] = file.read(min(size, 40))
            file.seek(start + size + size % 2)
    content = chunks.get(b"fmt ", b"")
    if len(chunk) == 8 and len(content) >= 16:
        code, channels, rate, _, frame = struct.unpack_from(f"{order}HHIIH", content)
        code = struct.unpack_from(f"{order}H", content.ljust(26), 24 * (code == _EXTENSIBLE))[0]
        width = frame // max(channels, 1)
        pcm = {1: "u1", 2: f"{order}i2", 3: "V3", 4: f"{order}i4", 8: f"{order}i8"}
        kinds = {_PCM: pcm, _FLOAT: {4: f"{order}f4", 8: f"{order}f8"}}.get(code, {})
        if width in kinds and frame == width * channels and (width != 3 or order == "<"):
            return rate, channels, np.dtype(kinds[width]), start, size
    raise DataError(f"{path}: this is no whole wav file of PCM or float samples.")

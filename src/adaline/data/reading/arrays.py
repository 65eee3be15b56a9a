"""Matrices of numbers: arrays, numpy's files and sounds; a channel of a sound is a column.

Nothing is unpickled, and what a file claims is checked before memory is asked for.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import struct
import warnings
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
from adaline.sums.rows import as_csr

_RATIO, _LARGE = 100, 2**28  # a member that grows more than this, beyond this size, is a bomb
_MANY_COLUMNS, _COLUMNS_AN_ENTRY = 2**20, 16  # as in LIBSVM files
_CSR = {"data", "indices", "indptr", "shape"}
_UNKNOWN = 2**32 - 1  # the size of a sound that was still being written when its header was


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
        return ranges(self.rows or 0, self.size)

    def read(self, piece: Piece) -> Block:
        """The rows of a range."""
        part = self.matrix[piece.start : piece.stop]
        part = part if self.places is None else part[:, self.places]
        return Block(self.names, (), part, by_row(piece.start))

    @property
    def fingerprint(self) -> str:
        """Of numbers spread over the matrix."""
        digest = hashlib.sha256(f"{self.matrix.shape} {self.size} {self.names}".encode())
        some: Any = self.matrix[:: max(1, (self.rows or 1) // 4096)]
        some = some.toarray() if hasattr(some, "toarray") else some
        digest.update(np.ascontiguousarray(some).tobytes())
        return digest.hexdigest()


def matrix_source(
    given: Any, columns: Sequence[str] | None, rows: int | None, what: str
) -> MatrixSource:
    """An array or sparse matrix of numbers in memory; its columns are x0, x1, ..."""
    matrix = as_csr(given) if hasattr(given, "tocsr") else given
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise DataError(
            f"{what} has shape {matrix.shape} and dtype {matrix.dtype}; expected numbers in "
            "(rows, columns)."
        )
    return MatrixSource(matrix, _numbered(matrix.shape[1]), columns, rows)


class _FileSource(MatrixSource):
    """A matrix that is mapped from a file, and mapped again in another process."""

    held_here = False

    def _load(self) -> Any:
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "matrix": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.matrix = self._load()

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        return fingerprint_of_file(self.name, self.size, self.names)


class NpySource(_FileSource):
    """A mapped npy file: its rows are read when they are needed."""

    def __init__(self, path: str, columns: Sequence[str] | None, rows: int | None):
        self.name = existing(path)
        with open(path, "rb") as file:
            _check_header(file, path, os.path.getsize(path))
        with reading(f"{path}: this is no whole npy file"):
            matrix = self._load()
        super().__init__(matrix, self._fields or _numbered(matrix.shape[1]), columns, rows, path)

    def _load(self) -> Any:
        array = np.load(self.name, mmap_mode="r", allow_pickle=False)
        self._fields = list(array.dtype.names or ())
        if self._fields:
            return np.column_stack([array[name] for name in self._fields])
        return array.reshape(-1, 1) if array.ndim == 1 else array


class WavSource(_FileSource):
    """PCM of 8 to 64 bits, scaled to -1..1, or floats as they are; `rate` in samples a second."""

    held_here = True

    def __init__(self, path: str, columns: Sequence[str] | None, rows: int | None):
        self.name = existing(path)
        samples = self._load()
        names = [f"channel{j}" for j in range(samples.shape[1])]
        super().__init__(samples, names, columns, rows, path)

    def _load(self) -> Any:
        self.rate, samples = _samples(self.name)
        return samples

    def read(self, piece: Piece) -> Block:
        """Samples of a range, full scale being 1."""
        block = super().read(piece)
        raw = np.asarray(block.matrix)
        scaled = raw.astype(np.float64)
        if raw.dtype.kind == "u":  # 8 bits are stored about 128
            scaled = (scaled - 128.0) / 128.0
        elif raw.dtype.kind == "i":
            scaled = raw / float(2 ** (8 * raw.dtype.itemsize - 1))
        return Block(block.names, (), scaled, block.place)


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
        return MatrixSource(matrix, _numbered(matrix.shape[1]), columns, rows, path)
    names: list[str] = []
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub" or array.ndim not in (1, 2):
            raise DataError(
                f"{path}: the array {name!r} has dtype {array.dtype} and shape {array.shape}; "
                "expected numbers in one or two dimensions."
            )
        names += [name] if array.ndim == 1 else _numbered(array.shape[1])
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"{path}: its arrays have different numbers of rows: {lengths}.")
    parts = [array.reshape(len(array), -1) for array in arrays.values()]
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1, dtype=np.float64)
    return MatrixSource(whole, names, columns, rows, path)


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


def _numbered(p: int) -> list[str]:
    return [f"x{j}" for j in range(p)]


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], Any]:
    """Shape and dtype in the header of an npy file of version 1 or 2."""
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, _, dtype = read(file, max_header_size=100_000)
    return shape, dtype


def _check_header(file: IO[bytes], path: str, size: int) -> None:
    """Refuse a header that claims what a file of this size cannot hold, or what is no matrix."""
    try:
        shape, dtype = _header(file)
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


def _check_member(packed: zipfile.ZipFile, member: zipfile.ZipInfo, path: str) -> None:
    """Refuse members that are no npy arrays, or claim more than is there."""
    where = f"{path}: {member.filename!r}"
    if not member.filename.endswith(".npy"):
        raise DataError(f"{where} in it is no npy array.")
    with packed.open(member) as file:
        try:
            shape, dtype = _header(file)
        except Exception as error:
            raise DataError(f"{where} is no npy array of version 1 or 2 ({error}).") from None
    if dtype.hasobject or dtype.itemsize * math.prod(shape) > member.file_size:
        raise DataError(
            f"{where} claims dtype {dtype} and shape {shape}, which its "
            f"{member.file_size} bytes cannot hold as plain numbers."
        )


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
    if matrix.shape[1] > max(_MANY_COLUMNS, _COLUMNS_AN_ENTRY * matrix.nnz):
        raise DataError(
            f"{path}: the matrix claims {matrix.shape[1]} columns for {matrix.nnz} entries; at "
            f"most {_MANY_COLUMNS} are read, or {_COLUMNS_AN_ENTRY} for each entry. Leave out the "
            "columns that are empty."
        )
    return matrix


def _sound_of_unknown_size(path: str) -> tuple[int, int] | None:
    """Where the size of the sound is written and what it is, if the writer could not know it.

    A file without sound is refused, and one whose chunks claim more bytes than there are: memory is
    made for the claim.
    """
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        head = file.read(12)
        if head[:4] not in (b"RIFF", b"RIFX", b"RF64") or head[8:] != b"WAVE":
            raise DataError(
                f"{path}: this is not a wav file: it begins with {head!r}, and a wav file with "
                "RIFF, a size and WAVE. Convert the sound to wav."
            )
        order = ">" if head.startswith(b"RIFX") else "<"
        while len(chunk := file.read(8)) == 8:
            name, claimed = chunk[:4], struct.unpack(f"{order}I", chunk[4:])[0]
            left = size - file.tell()
            if name == b"data" and not (left and claimed):
                raise DataError(f"{path}: there are no samples in it.")
            if claimed == _UNKNOWN and head.startswith(b"RF64"):
                return None  # its 64-bit size is another chunk's; the samples are mapped, not read
            if claimed == _UNKNOWN and name == b"data":
                return file.tell() - 4, left
            if claimed > left:
                raise DataError(
                    f"{path}: a part of this wav file claims {claimed} bytes, and {left} are left; "
                    "it is cut short. Save it again whole."
                )
            if name == b"data":
                return None
            file.seek(claimed + claimed % 2, os.SEEK_CUR)
    return None


def _with_size(path: str, place: int, left: int) -> io.BytesIO:
    """A sound with the sizes that its writer could not know."""
    with open(path, "rb") as file:
        content = bytearray(file.read())
    order = ">" if content.startswith(b"RIFX") else "<"
    content[4:8] = struct.pack(f"{order}I", len(content) - 8)
    frame = struct.unpack_from(f"{order}H", content, content.index(b"fmt ") + 20)[0]
    content[place : place + 4] = struct.pack(f"{order}I", left - left % max(frame, 1))
    return io.BytesIO(bytes(content))


def _samples(path: str) -> tuple[int, Any]:
    """Rate and samples (n, channels), mapped where the format allows."""
    from scipy.io import wavfile

    unknown = _sound_of_unknown_size(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wavfile.WavFileWarning)  # chunks that are no sound
        for mapped in (False,) if unknown else (True, False):  # 24 bits cannot be mapped
            try:
                source = _with_size(path, *unknown) if unknown else path
                rate, samples = wavfile.read(source, mmap=mapped)
                break
            except Exception as error:
                if not mapped or "mmap" not in str(error):
                    raise DataError(
                        f"{path}: this is no whole wav file of PCM or float samples ({error})."
                    ) from None
    if not len(samples):
        raise DataError(f"{path}: there are no samples in it.")
    return int(rate), samples.reshape(len(samples), -1)

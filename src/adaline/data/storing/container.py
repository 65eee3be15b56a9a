"""One container for model files and checkpoints: arrays and plain facts, sealed with a digest.

    b"ADALINE2" | u64 header bytes | u64 array bytes | JSON header | arrays | SHA-256 of all before

Numbers are little-endian. The header lists every array as [name, dtype, shape, order], in the order
of their names and of their bytes. Reading goes from the outside in: size, digest, header, types and
shapes; nothing is allocated before it is known to fit, and nothing in a file is ever run. A header
has one form: it is written again from what was read, and compared. The digest tells a damaged file
from a whole one; it does not tell who wrote it.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.outputs import LIMIT, read_file, refuse_large, write_atomically
from adaline.errors import ModelFileError

__all__ = ["DTYPES", "LIMIT", "pack", "read_file", "unpack", "write_atomically"]

MAGIC, VERSION = b"ADALINE", b"2"
PREFIX = struct.Struct("<8sQQ")
DIGEST_BYTES = hashlib.sha256().digest_size
MOST_AXES = 8  # any round number

# What a number in a file may be; everything else is refused, objects above all.
DTYPES = frozenset(
    ["bool", "complex64", "complex128", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)


def pack(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, limit: int = LIMIT
) -> bytes:
    """The bytes of a file that holds a JSON header and named arrays.

    Examples
    --------
    >>> header, arrays = unpack(pack({"kind": "weights"}, {"w": np.array([1.0, -2.0])}))
    >>> header, arrays["w"]
    ({'kind': 'weights'}, array([ 1., -2.]))
    """
    text = write_header(header, arrays)
    parts = [
        array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes(order=order_of(array))
        for array in (np.asarray(arrays[name]) for name in sorted(arrays))
    ]
    size = sum(map(len, parts))
    total = PREFIX.size + len(text) + size + DIGEST_BYTES
    if total > limit:
        raise ModelFileError(f"The file would have {total} bytes; the limits are {limit}.")
    body = b"".join([PREFIX.pack(MAGIC + VERSION, len(text), size), text, *parts])
    return body + hashlib.sha256(body).digest()


def unpack(
    data: bytes | bytearray | memoryview, *, limit: int = LIMIT
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of a file's bytes, checked from the outside in.

    Every array is a fresh copy, so it may be written to. Raises ModelFileError for anything else
    than a whole file of this format.

    Examples
    --------
    >>> whole = pack({}, {"w": np.zeros(3)})
    >>> unpack(whole[:-1])
    Traceback (most recent call last):
    adaline.errors.ModelFileError: The file is cut short: 115 of 116 bytes are there.
    """
    view = memoryview(data).cast("B")
    refuse_large(len(view), limit)
    header_bytes, array_bytes = read_lengths(view)
    if hashlib.sha256(view[:-DIGEST_BYTES]).digest() != bytes(view[-DIGEST_BYTES:]):
        raise ModelFileError("The file is damaged: its SHA-256 digest does not match its content.")
    start = PREFIX.size + header_bytes
    text, body = bytes(view[PREFIX.size : start]), view[start : start + array_bytes]
    arrays: dict[str, NDArray[Any]] = {}
    try:
        header = json.loads(text.decode())
        for name, dtype, shape, order in header.pop("arrays"):
            size = math.prod(shape) * np.dtype(dtype).itemsize if dtype in DTYPES else -1
            if len(shape) > MOST_AXES or not 0 <= size <= len(body):
                raise ValueError(f"an array {name[:40]!r} of {dtype} {str(shape)[:40]}")
            raw, body = body[:size], body[size:]
            if dtype == "bool" and size and np.frombuffer(raw, np.uint8).max() > 1:
                raise ValueError("booleans other than 0 and 1")
            flat = np.frombuffer(raw, np.dtype(dtype).newbyteorder("<")).astype(dtype)
            arrays[name] = flat.reshape(shape, order=order)
        is_ours = not len(body) and write_header(header, arrays) == text
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(f"The header is damaged or hostile: {str(error)[:200]}.") from None
    except (RecursionError, MemoryError):
        raise ModelFileError("The header is damaged or hostile: it is too large.") from None
    if not is_ours:
        raise ModelFileError("The header is not the one that adaline writes for these arrays.")
    return header, arrays


def read_lengths(view: memoryview) -> tuple[int, int]:
    """Bytes of the header and of the arrays, where the file's length agrees with them."""
    magic = bytes(view[: len(MAGIC + VERSION)])
    if not magic or magic != (MAGIC + VERSION)[: len(magic)]:
        if magic.startswith(MAGIC) and magic[-1:].isalnum():
            raise ModelFileError(
                f"The file has format {magic[-1:].decode()}, this adaline reads format "
                f"{VERSION.decode()}; install the adaline that wrote it, or a newer adaline."
            )
        raise ModelFileError(f"This is not an adaline file: it does not start with {MAGIC!r}.")
    if len(view) < PREFIX.size + DIGEST_BYTES:
        raise ModelFileError(f"The file is cut short: it ends after {len(view)} bytes.")
    _, header_bytes, array_bytes = PREFIX.unpack(view[: PREFIX.size])
    total = PREFIX.size + header_bytes + array_bytes + DIGEST_BYTES
    if len(view) < total:
        raise ModelFileError(f"The file is cut short: {len(view)} of {total} bytes are there.")
    if len(view) > total:
        raise ModelFileError(f"The file has {len(view) - total} bytes after its end.")
    return header_bytes, array_bytes


def write_header(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The JSON of a header and of what it says of the arrays."""
    if "arrays" in header:
        raise ModelFileError("The header has a key 'arrays', which the file keeps for itself.")
    if not all(isinstance(name, str) for name in arrays):
        raise ModelFileError("The names of arrays must be strings.")
    table = []
    for name in sorted(arrays):  # so that the same content has the same bytes
        array = np.asarray(arrays[name])
        if array.dtype.name not in DTYPES or array.ndim > MOST_AXES:
            raise ModelFileError(
                f"The array {name!r} has dtype {array.dtype} and {array.ndim} axes; files hold "
                f"{', '.join(sorted(DTYPES))} and at most {MOST_AXES} axes."
            )
        table.append([name, array.dtype.name, list(array.shape), order_of(array)])
    require_text_keys(header)
    options: dict[str, Any] = {"sort_keys": True, "allow_nan": False, "ensure_ascii": False}
    try:
        text = json.dumps({**header, "arrays": table}, separators=(",", ":"), **options)
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"The header cannot be written as strict JSON: {error}.") from None


def order_of(array: NDArray[Any]) -> Any:
    """The order is kept: BLAS may round differently for the transposed layout."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def require_text_keys(value: Any) -> None:
    """JSON would write other keys as text, too."""
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ModelFileError("The header has keys that are not strings.")
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            require_text_keys(part)

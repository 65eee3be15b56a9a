"""One container for model files and checkpoints: arrays and a JSON header, sealed with a digest.

    b"ADALINE2" | u64 header bytes | u64 array bytes | JSON header | arrays | SHA-256 of all before

Numbers are little-endian. The header lists every array as [name, dtype, shape, order], sorted by
name, and the arrays follow in this order. Reading goes from the outside in: size, digest, header,
types and shapes; nothing is allocated before it is known to fit, and nothing in a file is ever run.
A header has one form: it is written again from what was read, and compared. The digest detects
damage; it does not say who wrote the file. Called by `model_files` and `checkpoint`.
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

from adaline.data.outputs import LIMIT, refuse_large
from adaline.errors import ModelFileError

MAGIC, VERSION = b"ADALINE", b"2"
PREFIX = struct.Struct("<8sQQ")
DIGEST_BYTES = hashlib.sha256().digest_size
MOST_AXES = 8  # any round number
# What reading a damaged or hostile file may raise.
DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)

# What a number in a file may be; everything else is refused, objects above all.
DTYPES = frozenset(
    ["bool", "complex64", "complex128", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)


def pack(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, limit: int = LIMIT
) -> bytes:
    """The bytes of a file that holds a JSON header, without a key "arrays", and named arrays.

    Examples
    --------
    >>> header, arrays = unpack(pack({"kind": "weights"}, {"w": np.array([1.0, -2.0])}))
    >>> header, arrays["w"]
    ({'kind': 'weights'}, array([ 1., -2.]))
    """
    text = write_header(header, arrays)
    sources = (np.asarray(arrays[name]) for name in sorted(arrays))
    parts = [a.astype(a.dtype.newbyteorder("<")).tobytes(order=order_of(a)) for a in sources]
    size = sum(map(len, parts))
    total = PREFIX.size + len(text) + size + DIGEST_BYTES
    if total > limit:
        raise ModelFileError(f"The file would have {total} bytes; the limits are {limit}.")
    body = b"".join([PREFIX.pack(MAGIC + VERSION, len(text), size), text, *parts])
    return body + hashlib.sha256(body).digest()


def unpack(data: Any, *, limit: int = LIMIT) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of a file's bytes, checked from the outside in.

    Every array is a fresh copy, so it may be written to. Raises ModelFileError for anything else
    than a complete file of this format.

    Examples
    --------
    >>> data = pack({}, {"w": np.zeros(3)})
    >>> unpack(data[:-1])
    Traceback (most recent call last):
    adaline.errors.ModelFileError: The file is cut short: it has 115 of 116 bytes.
    """
    view = memoryview(data).cast("B")
    refuse_large(len(view), limit)
    magic = bytes(view[: len(MAGIC + VERSION)])
    if not magic or magic != (MAGIC + VERSION)[: len(magic)]:
        if magic.startswith(MAGIC) and magic[-1:].isalnum():
            form, own = magic[-1:].decode(), VERSION.decode()
            raise ModelFileError(f"The file has format {form}, not {own}; install a newer adaline.")
        raise ModelFileError(f"This is not an adaline file: it does not start with {MAGIC!r}.")
    total = start = PREFIX.size
    if len(view) >= PREFIX.size:
        _, header_bytes, array_bytes = PREFIX.unpack(view[: PREFIX.size])
        start += header_bytes
        total = start + array_bytes + DIGEST_BYTES
    if len(view) != total:
        what = "cut short" if len(view) < total else "too long"
        raise ModelFileError(f"The file is {what}: it has {len(view)} of {total} bytes.")
    if hashlib.sha256(view[:-DIGEST_BYTES]).digest() != bytes(view[-DIGEST_BYTES:]):
        raise ModelFileError("The file is damaged: its SHA-256 digest does not match its content.")
    text, body = bytes(view[PREFIX.size : start]), view[start:-DIGEST_BYTES]
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
        if len(body) or write_header(header, arrays) != text:
            raise ValueError("it is not the one that adaline writes for these arrays")
    except (*DAMAGE, MemoryError, ModelFileError) as error:
        raise ModelFileError(f"The header is damaged or hostile: {str(error)[:200]}.") from None
    return header, arrays


def write_header(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The JSON of a header and of the list of arrays; the same content has the same bytes."""
    table = []
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        if array.dtype.name not in DTYPES or array.ndim > MOST_AXES:
            held = f"dtype {array.dtype} and {array.ndim} axes"
            raise ModelFileError(f"The array {name!r} has {held}, which a file cannot hold.")
        table.append([name, array.dtype.name, list(array.shape), order_of(array)])
    options: dict[str, Any] = {"sort_keys": True, "allow_nan": False, "ensure_ascii": False}
    try:
        text = json.dumps({**header, "arrays": table}, separators=(",", ":"), **options)
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"The header cannot be written as strict JSON: {error}.") from None


def order_of(array: NDArray[Any]) -> Any:
    """The order is kept: BLAS may round differently for the transposed layout."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"

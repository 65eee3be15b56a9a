"""One container for model files and checkpoints: arrays and plain facts, sealed with a digest.

    b"ADALINE1" | u64 header bytes | u64 array bytes | JSON header | arrays | SHA-256 of all before

Numbers are little-endian. The header lists every array (name, dtype, shape, order, offset), one
after the other by name, without gaps. Reading goes from the outside in: size, digest, header,
types and shapes; nothing is allocated before it is known to fit, and nothing in a file is ever
run. The digest tells a damaged file from a whole one; it does not tell who wrote it.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adaline.data.outputs import LIMIT, read_file, refuse_large, write_atomically
from adaline.errors import ModelFileError

__all__ = ["DTYPES", "LIMIT", "pack", "read_file", "unpack", "write_atomically"]

MAGIC = b"ADALINE"
VERSION = 1
_HEADER_LIMIT = 2**28
_MOST_ARRAYS = 100_000
_MOST_AXES = 8
_PREFIX = struct.Struct("<8sQQ")
_SEAL = hashlib.sha256().digest_size

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
    if "arrays" in header:
        raise ModelFileError("The header has a key 'arrays', which the file keeps for itself.")
    table: list[dict[str, Any]] = []
    parts: list[bytes] = []
    offset = 0
    if not all(isinstance(name, str) for name in arrays):
        raise ModelFileError("The names of arrays must be strings.")
    for name in sorted(arrays):  # so that the same content has the same bytes
        entry, raw = _entry(name, arrays[name])
        table.append({**entry, "offset": offset})
        parts.append(raw)
        offset += len(raw)
    text = _dump({**header, "arrays": table})
    total = _PREFIX.size + len(text) + offset + _SEAL
    if total > limit or len(text) > _HEADER_LIMIT:
        raise ModelFileError(
            f"The file would have {total} bytes, {len(text)} of them header; the limits are "
            f"{limit} and {_HEADER_LIMIT}."
        )
    body = b"".join([_PREFIX.pack(MAGIC + b"%d" % VERSION, len(text), offset), text, *parts])
    return body + hashlib.sha256(body).digest()


def unpack(
    data: bytes | bytearray | memoryview, *, limit: int = LIMIT
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of a file's bytes, checked from the outside in.

    Every array is a fresh copy, so it may be written to. Raises ModelFileError with a sentence
    for anything else than a whole file of this format.

    Examples
    --------
    >>> whole = pack({}, {"w": np.zeros(3)})
    >>> unpack(whole[:-1])
    Traceback (most recent call last):
    adaline.errors.ModelFileError: The file is cut short: 157 of 158 bytes are there.
    """
    view = memoryview(data).cast("B")
    header_bytes, array_bytes = _lengths(view, limit)
    if hashlib.sha256(view[:-_SEAL]).digest() != bytes(view[-_SEAL:]):
        raise ModelFileError("The file is damaged: its SHA-256 digest does not match its content.")
    start = _PREFIX.size + header_bytes
    header = _parse(bytes(view[_PREFIX.size : start]))
    table = header.pop("arrays", None)
    if not isinstance(table, list) or len(table) > _MOST_ARRAYS:
        raise ModelFileError("The header has no list of arrays that this format allows.")
    arrays: dict[str, NDArray[Any]] = {}
    offset = 0
    body = view[start : start + array_bytes]
    for entry in table:
        name, array = _array(entry, body, offset)
        if arrays and name <= next(reversed(arrays)):
            raise ModelFileError(f"The header lists the array {name[:60]!r} twice or too late.")
        arrays[name] = array
        offset += array.nbytes
    if offset != array_bytes:
        raise ModelFileError(f"The file has {array_bytes - offset} bytes that no array claims.")
    return header, arrays


def _lengths(view: memoryview, limit: int) -> tuple[int, int]:
    """Bytes of the header and of the arrays, where the file's length agrees with them."""
    refuse_large(len(view), limit)
    magic = bytes(view[: len(MAGIC) + 1])
    if not magic or magic != (MAGIC + b"%d" % VERSION)[: len(magic)]:
        if magic.startswith(MAGIC) and magic[-1:].isalnum():
            raise ModelFileError(
                f"The file has format {magic[-1:].decode()}, this adaline reads format {VERSION}; "
                "install a newer adaline."
            )
        raise ModelFileError(f"This is not an adaline file: it does not start with {MAGIC!r}.")
    if len(view) < _PREFIX.size + _SEAL:
        raise ModelFileError(f"The file is cut short: it ends after {len(view)} bytes.")
    _, header_bytes, array_bytes = _PREFIX.unpack(view[: _PREFIX.size])
    total = _PREFIX.size + header_bytes + array_bytes + _SEAL
    if len(view) < total:
        raise ModelFileError(f"The file is cut short: {len(view)} of {total} bytes are there.")
    if len(view) > total:
        raise ModelFileError(f"The file has {len(view) - total} bytes after its end.")
    if header_bytes > _HEADER_LIMIT:
        raise ModelFileError(f"The header has {header_bytes} bytes; {_HEADER_LIMIT} are allowed.")
    return header_bytes, array_bytes


def _dump(header: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(
            header, sort_keys=True, allow_nan=False, ensure_ascii=False, separators=(",", ":")
        )
        raw = text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"The header cannot be written as strict JSON: {error}.") from None
    if not _keys_are_strings(header):
        raise ModelFileError("The header has keys that are not strings; JSON would change them.")
    return raw


def _keys_are_strings(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) for key in value) and _keys_are_strings([*value.values()])
    return not isinstance(value, list | tuple) or all(map(_keys_are_strings, value))


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        header = json.loads(
            raw.decode(), object_pairs_hook=_once, parse_constant=_strange, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The header is not strict JSON: {error}.") from None
    if not isinstance(header, dict):
        raise ModelFileError(f"The header is a {type(header).__name__}, not a JSON object.")
    return header


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


def _strange(word: str) -> float:
    raise ValueError(f"{word} is not a JSON number")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text[:40]} is too large for a float64")
    return value


def _entry(name: str, array: NDArray[Any]) -> tuple[dict[str, Any], bytes]:
    """What the header says of an array, and its bytes."""
    array = np.asarray(array)
    if array.dtype.name not in DTYPES or array.ndim > _MOST_AXES:
        raise ModelFileError(
            f"The array {name!r} has dtype {array.dtype} and {array.ndim} axes; files hold "
            f"{', '.join(sorted(DTYPES))} and at most {_MOST_AXES} axes."
        )
    # The order is kept: BLAS may round differently for the transposed layout.
    order: Literal["C", "F"] = (
        "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    )
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    entry = {"name": name, "dtype": array.dtype.name, "shape": list(array.shape), "order": order}
    return entry, little.tobytes(order=order)


def _array(entry: Any, body: memoryview, offset: int) -> tuple[str, NDArray[Any]]:
    keys = {"name", "dtype", "shape", "order", "offset"}
    if not isinstance(entry, dict) or set(entry) != keys or not isinstance(entry["name"], str):
        raise ModelFileError(f"The header describes an array without {sorted(keys)}.")
    name, dtype, shape, order = (entry[key] for key in ("name", "dtype", "shape", "order"))
    short = repr(name[:60])
    if not isinstance(dtype, str) or dtype not in DTYPES or order not in ("C", "F"):
        raise ModelFileError(
            f"The array {short} has dtype {str(dtype)[:40]!r} and order {str(order)[:40]!r}; "
            f"files hold {', '.join(sorted(DTYPES))} in order C or F."
        )
    whole = isinstance(shape, list) and all(type(side) is int and side >= 0 for side in shape)
    if not whole or len(shape) > _MOST_AXES or type(entry["offset"]) is not int:
        raise ModelFileError(f"The array {short} has no shape that this format allows.")
    size = np.dtype(dtype).itemsize
    # Empty axes do not excuse the others: numpy refuses shapes whose other sides overflow.
    claimed = size * math.prod(max(side, 1) for side in shape)
    count = math.prod(shape)
    room = len(body) - offset
    if entry["offset"] != offset or count * size > room or (count == 0 and claimed > 2**62):
        raise ModelFileError(
            f"The array {short} of shape {str(shape)[:80]} and dtype {dtype} at byte "
            f"{str(entry['offset'])[:30]} does not fit: byte {offset} comes next, and {room} "
            "bytes are left."
        )
    raw = body[offset : offset + count * size]
    if dtype == "bool" and count and np.frombuffer(raw, np.uint8).max() > 1:
        raise ModelFileError(f"The array {short} of booleans holds other bytes than 0 and 1.")
    flat = np.frombuffer(raw, dtype=np.dtype(dtype).newbyteorder("<")).astype(np.dtype(dtype))
    array = flat.reshape(shape, order=order)
    if order == "F" and array.flags.c_contiguous:
        raise ModelFileError(f"The array {short} has order F, which its shape does not need.")
    return name, array

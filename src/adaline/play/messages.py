"""What travels between page and session: JSON, and frames of JSON with bytes behind it.

A binary frame is 4 bytes, little-endian, that tell the length of a JSON header, the header, and
then the payload. From the page the payload is a part of a file. To the page it is all `bytes` of
a drawing, one after the other: the header's `sizes` tells their lengths, and each stands in the
drawing as {"$bytes": its number}.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

DEEPEST = 20  # brackets inside brackets that a message of the page may have
LONGEST_HEADER = 256 * 1024  # bytes of JSON in front of a payload


class Refused(ValueError):
    """A message that no page of ours would send; the connection ends."""


def separated(message: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """A message as JSON can write it, and the bytes that were in it.

    >>> separated({"sound": b"..", "level": float("nan")})
    ({'sound': {'$bytes': 0}, 'level': None}, [b'..'])
    """
    buffers: list[bytes] = []
    return {str(key): _plain(value, buffers) for key, value in message.items()}, buffers


def _plain(value: Any, buffers: list[bytes]) -> Any:
    """Lists and numbers instead of arrays; null for NaN and infinity, which JSON cannot write."""
    match value:
        case bytes() | bytearray() | memoryview():
            buffers.append(bytes(value))
            return {"$bytes": len(buffers) - 1}
        case None | bool() | str() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {str(key): _plain(item, buffers) for key, item in value.items()}
        case np.ndarray() if value.dtype.kind in "biu" or (
            value.dtype.kind == "f" and np.isfinite(value).all()
        ):
            return value.tolist()
        case np.ndarray() | np.generic():
            return _plain(value.tolist(), buffers)
        case list() | tuple():
            return [_plain(item, buffers) for item in value]
    raise TypeError(f"a drawing holds {type(value).__name__}; expected numbers, text and lists.")


def packed(message: Mapping[str, Any]) -> str | bytes:
    """A message to the page: text, or a binary frame where it holds bytes."""
    plain, buffers = separated(message)
    if not buffers:
        return json.dumps(plain, separators=(",", ":"), allow_nan=False)
    plain["sizes"] = [len(buffer) for buffer in buffers]
    header = json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()
    return b"".join([len(header).to_bytes(4, "little"), header, *buffers])


def unpacked(frame: str | bytes) -> tuple[dict[str, Any], bytes]:
    """The message of a frame that came from a page, and its payload.

    >>> unpacked('{"tab": "board", "event": "start"}')
    ({'tab': 'board', 'event': 'start'}, b'')
    """
    payload = b""
    if isinstance(frame, bytes):
        length = int.from_bytes(frame[:4], "little")
        if len(frame) < 4 + length or length > LONGEST_HEADER:
            raise Refused("a binary frame is shorter than its header says.")
        frame, payload = frame[4 : 4 + length], frame[4 + length :]
    try:
        message = json.loads(frame, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Refused("a message is not JSON.") from None
    if not isinstance(message, dict):
        raise Refused("a message is not a JSON object.")
    if not _shallow(message, DEEPEST):
        raise Refused("a message is nested too deeply.")
    return message, payload


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _shallow(value: Any, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_shallow(item, depth - 1) for item in inner)

"""Proof files of the command: a proof, and how a table becomes the numbers it is about."""

from __future__ import annotations

import json
from typing import Any

from adaline import ModelFileError, Separability
from adaline.data import Encoding
from adaline.data.outputs import read_file

FORMAT, VERSION = "adaline proof about a table", 1
_LONGEST = 2**28  # bytes of a proof file


def read(path: str) -> tuple[Separability, str | None, Encoding | None]:
    """The proof, its target and its encoding; a bare proof has neither."""
    try:
        text = read_file(path, limit=_LONGEST).decode()
        plain = json.loads(text)
    except ModelFileError as error:
        raise ValueError(f"{path}: this is no proof: {error}") from None
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: this is no JSON ({error}).") from None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        return _checked(path, text), None, None
    if plain.get("version") != VERSION or not isinstance(plain.get("target"), str):
        raise ValueError(f"{path}: this proof has another version than {VERSION}, or no target.")
    encoding = plain.get("encoding")
    if not isinstance(encoding, dict):
        raise ValueError(f"{path}: the proof does not say how columns become numbers.")
    proof = _checked(path, json.dumps(plain.get("proof")))
    return proof, plain["target"], _encoding(path, encoding)


def _encoding(path: str, plain: dict[str, Any]) -> Encoding:
    try:
        return Encoding.from_dict(plain)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: {error}") from None


def _checked(path: str, text: str) -> Separability:
    try:
        return Separability.from_json(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None

"""The fields of an encoding: checked, as plain data for JSON, and back from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adaline.data.columns.inputs import Input
from adaline.data.columns.options import MISSING, UNKNOWN
from adaline.data.columns.term_columns import made_columns
from adaline.data.reading.checks import check_choice, wrong_type
from adaline.errors import DataError


def check_fields(encoding: Any) -> None:
    """Refuse an encoding with a field of the wrong type or value."""
    inputs, left_out = encoding.inputs, encoding.left_out
    if not isinstance(inputs, tuple) or not all(isinstance(i, Input) for i in inputs):
        raise wrong_type("inputs", inputs, "a tuple of Input, as Encoding.learn gives")
    check_choice("missing", encoding.missing, MISSING)
    check_choice("unknown", encoding.unknown, UNKNOWN)
    pairs = isinstance(left_out, tuple) and all(
        isinstance(pair, tuple) and list(map(type, pair)) == [str, str] for pair in left_out
    )
    if not pairs:
        raise wrong_type("left_out", left_out, "a tuple of pairs (column, why)")
    for name, expected in (("na", ""), ("terms", ", as Encoding.learn gives")):
        texts = getattr(encoding, name)
        if not isinstance(texts, tuple) or not all(isinstance(text, str) for text in texts):
            raise wrong_type(name, texts, f"a tuple of texts{expected}")
    if encoding.target is not None and not isinstance(encoding.target, Input):
        raise wrong_type("target", encoding.target, "an Input, or None")
    if encoding.terms:
        made_columns(inputs, encoding.terms)  # refuses terms of other columns


def as_plain_data(encoding: Any) -> dict[str, Any]:
    """Lists, texts and numbers; fields that are empty are left out."""
    plain: dict[str, Any] = {
        "inputs": [entry.to_dict() for entry in encoding.inputs],
        "missing": encoding.missing,
        "unknown": encoding.unknown,
    }
    extra: dict[str, Any] = {
        "left_out": [list(pair) for pair in encoding.left_out],
        "na": list(encoding.na),
        "target": None if encoding.target is None else encoding.target.to_dict(),
        "terms": list(encoding.terms),
    }
    return plain | {key: value for key, value in extra.items() if value}


def from_plain_data(plain: Any) -> dict[str, Any]:
    """The fields of an encoding by name; anything else is refused."""
    if not isinstance(plain, Mapping):
        raise wrong_type("plain", plain, "a mapping, as Encoding.to_dict gives")
    try:
        fields = {
            "inputs": tuple(map(Input.from_dict, plain["inputs"])),
            "missing": plain["missing"],
            "unknown": plain["unknown"],
            "left_out": tuple((str(name), str(why)) for name, why in plain.get("left_out", ())),
            "na": tuple(map(str, plain.get("na", ()))),
            "target": None if "target" not in plain else Input.from_dict(plain["target"]),
            "terms": tuple(map(str, plain.get("terms", ()))),
        }
        known = fields["missing"] in MISSING and fields["unknown"] in UNKNOWN
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise DataError(f"this describes no encoding: {error!r}.") from None
    if not known:
        raise DataError(f"this describes no encoding: missing={fields['missing']!r}.")
    return fields

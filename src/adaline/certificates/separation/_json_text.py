"""Proofs of separability as JSON, read back with suspicion: validated, and nothing is run."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adaline.certificates.separation.separation import Separability

FORMAT = "adaline separability proof"
VERSION = 1
_LONGEST = 2**28  # characters of a proof
_DIGITS = 200_000  # hexadecimal digits of one number
_MOST = 2**31
_VERDICTS = ("separable", "quasi-separable", "overlapping", "undecided")


def written(found: Separability) -> str:
    """The JSON text."""
    return json.dumps({"format": FORMAT, "version": VERSION, **_fields(found)}, indent=1)


def _fields(found: Separability) -> dict[str, Any]:
    return {
        "verdict": found.verdict,
        "labels": list(found.labels),
        "n_rows": found.n_rows,
        "n_features": found.n_features,
        "fit_intercept": found.fit_intercept,
        "fingerprint": found.fingerprint,
        "weights": [[hex(a) for a in w] for w in found.weights],
        "rows": [list(pair) for pair in found.rows],
        "multipliers": [hex(a) for a in found.multipliers],
        "margin": None if found.margin is None else found.margin.hex(),
        "margin_is_maximum": found.margin_is_maximum,
        "duplicates": [list(pair) for pair in found.duplicates],
        "sentence": found.sentence,
        "is_part": found.is_part,
        "pairwise": [[*pair, _fields(part)] for pair, part in found.pairwise.items()],
    }


def read(text: str, make: Any) -> dict[str, Any]:
    """Validated fields of the proof; `make` builds the parts."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise ValueError(f"a proof is a text of at most {_LONGEST} characters.")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is no JSON: {error}") from None
    if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
        raise ValueError(f"this is not a JSON object of the format {FORMAT!r}.")
    if found.pop("version", None) != VERSION:
        raise ValueError(f"this proof has another version than {VERSION}.")
    return _validated(found, make, whole=True)


def _validated(found: Any, make: Any, whole: bool) -> dict[str, Any]:
    _demand(isinstance(found, dict) and set(found) == set(_READ), "the fields are not those")
    result = {name: reader(found[name]) for name, reader in _READ.items()}
    _demand(whole or not found["pairwise"], "parts have parts")
    parts = {}
    for entry in _list(found["pairwise"]):
        _demand(isinstance(entry, list) and len(entry) == 3, "a pair of classes is not whole")
        parts[_label(entry[0]), _label(entry[1])] = make(**_validated(entry[2], make, whole=False))
    result["pairwise"] = parts
    _demand_evidence(result)
    return result


def _demand_evidence(found: dict[str, Any]) -> None:
    """What every sentence about a verdict speaks of has to be there; whether it holds is open."""
    weights, multipliers = found["weights"], found["multipliers"]
    _demand(len(found["rows"]) == len(multipliers), "rows and multipliers do not match")
    _demand(all(m > 0 for m in multipliers), "a multiplier is not positive")
    shape = [found["n_features"] + found["fit_intercept"]] * (len(found["labels"]) - 1)
    _demand(not weights or [len(w) for w in weights] == shape, "weights are not one a column")
    if found["verdict"] == "separable":
        _demand(bool(weights) and found["margin"] is not None, "weights or the margin are missing")
    elif found["verdict"] != "undecided":
        _demand(bool(multipliers), "multipliers are missing")


def _demand(condition: bool, complaint: str) -> None:
    if not condition:
        raise ValueError(f"this is not a proof of separability: {complaint}.")


def _list(value: Any) -> list[Any]:
    _demand(isinstance(value, list), "a list is missing")
    return list(value)


def _label(value: Any) -> Any:
    _demand(isinstance(value, str | int | float | bool), "a label is no string or number")
    _demand(not isinstance(value, float) or math.isfinite(value), "a label is not finite")
    return value


def _count(value: Any) -> int:
    _demand(type(value) is int and 0 <= value < _MOST, "a count is not a whole number")
    return int(value)


def _truth(value: Any) -> bool:
    _demand(isinstance(value, bool), "a yes or no is missing")
    return bool(value)


def _whole(value: Any) -> int:
    good = isinstance(value, str) and len(value) <= _DIGITS
    _demand(good and re.fullmatch(r"-?0x[0-9a-f]+", value) is not None, "a number is not whole")
    return int(value, 16)


def _margin(value: Any) -> float | None:
    if value is None:
        return None
    _demand(isinstance(value, str) and len(value) <= 40, "the margin is not a number")
    try:
        return float.fromhex(value)
    except (ValueError, OverflowError):
        raise ValueError("this is not a proof of separability: the margin is not one.") from None


def _sentence(value: Any) -> str:
    _demand(isinstance(value, str) and len(value) <= 10_000, "the sentence is not one")
    return str(value)


def _verdict(value: Any) -> str:
    _demand(isinstance(value, str) and value in _VERDICTS, "the verdict is none of the four")
    return str(value)


def _fingerprint(value: Any) -> str:
    good = isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None
    _demand(good, "the fingerprint is none")
    return str(value)


def _pairs(value: Any, second: Any) -> tuple[tuple[int, Any], ...]:
    entries = _list(value)
    _demand(all(isinstance(e, list) and len(e) == 2 for e in entries), "a pair is not whole")
    return tuple((_count(a), second(b)) for a, b in entries)


_READ: dict[str, Any] = {
    "verdict": _verdict,
    "labels": lambda value: tuple(_label(a) for a in _list(value)),
    "n_rows": _count,
    "n_features": _count,
    "fit_intercept": _truth,
    "fingerprint": _fingerprint,
    "weights": lambda value: tuple(tuple(_whole(a) for a in _list(w)) for w in _list(value)),
    "rows": lambda value: _pairs(value, _label),
    "multipliers": lambda value: tuple(_whole(a) for a in _list(value)),
    "margin": _margin,
    "margin_is_maximum": _truth,
    "duplicates": lambda value: _pairs(value, _count),
    "sentence": _sentence,
    "is_part": _truth,
    "pairwise": _list,
}

"""Proofs of separability as JSON, read back with suspicion: validated, and nothing is run.

Called by `Separability.to_json` and `from_json`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adaline.certificates.separation.separation import Separability

FORMAT = "adaline separability proof"
VERSION = 1
LONGEST = 2**28  # characters of a proof: 256 MB
LONGEST_NUMBER = 200_000  # hexadecimal digits
LARGEST_COUNT = 2**31  # of rows and columns
VERDICTS = ("separable", "quasi-separable", "overlapping", "undecided")


def write(proof: Separability) -> str:
    """The JSON text."""
    return json.dumps({"format": FORMAT, "version": VERSION, **to_fields(proof)}, indent=1)


def to_fields(proof: Separability) -> dict[str, Any]:
    """Fields in the form they have in JSON."""
    fields = {name: getattr(proof, name) for name in READERS}
    return fields | {
        "weights": [[hex(a) for a in w] for w in proof.weights],
        "multipliers": [hex(a) for a in proof.multipliers],
        "margin": None if proof.margin is None else proof.margin.hex(),
        "pairwise": [[*pair, to_fields(part)] for pair, part in proof.pairwise.items()],
    }


def read(text: str, make: Any) -> dict[str, Any]:
    """Validated fields of the proof; `make` builds the parts."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ValueError(f"a proof is a text of at most {LONGEST} characters.")
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is no JSON: {error}") from None
    if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
        raise ValueError(f"this is not a JSON object of the format {FORMAT!r}.")
    if fields.pop("version", None) != VERSION:
        raise ValueError(f"this proof has another version than {VERSION}.")
    return validate(fields, make)


def validate(fields: Any, make: Any, is_part: bool = False) -> dict[str, Any]:
    """Every field as `Separability` takes it; what the sentences speak of has to be there."""
    require(isinstance(fields, dict) and set(fields) == set(READERS), "the fields are not those")
    result = {name: reader(fields[name]) for name, reader in READERS.items()}
    require(not is_part or not result["pairwise"], "parts have parts")
    parts = {}
    for entry in result["pairwise"]:
        require(isinstance(entry, list) and len(entry) == 3, "a pair of classes is not whole")
        a, b, part = entry
        parts[read_label(a), read_label(b)] = make(**validate(part, make, is_part=True))
    weights, multipliers = result["weights"], result["multipliers"]
    require(len(result["rows"]) == len(multipliers), "rows and multipliers do not match")
    require(all(m > 0 for m in multipliers), "a multiplier is not positive")
    shape = [result["n_features"] + result["fit_intercept"]] * (len(result["labels"]) - 1)
    require(not weights or [len(w) for w in weights] == shape, "weights are not one a column")
    if result["verdict"] == "separable":
        require(weights and result["margin"] is not None, "weights or the margin are missing")
    elif result["verdict"] != "undecided":
        require(multipliers, "multipliers are missing")
    return result | {"pairwise": parts}


def require(condition: Any, complaint: str) -> None:
    """Refuse the proof, with a reason, where the condition is not true."""
    if not condition:
        raise ValueError(f"this is not a proof of separability: {complaint}.")


def read_list(value: Any, reader: Callable[[Any], Any]) -> tuple[Any, ...]:
    require(isinstance(value, list), "a list is missing")
    return tuple(reader(a) for a in value)


def read_pairs(value: Any, second: Callable[[Any], Any]) -> tuple[tuple[int, Any], ...]:
    pairs = read_list(value, lambda pair: pair)
    require(all(isinstance(p, list) and len(p) == 2 for p in pairs), "a pair is not whole")
    return tuple((read_count(a), second(b)) for a, b in pairs)


def read_label(value: Any) -> Any:
    require(isinstance(value, str | int | float | bool), "a label is no string or number")
    require(not isinstance(value, float) or math.isfinite(value), "a label is not finite")
    return value


def read_count(value: Any) -> int:
    require(type(value) is int and 0 <= value < LARGEST_COUNT, "a count is not a whole number")
    return int(value)


def read_flag(value: Any) -> bool:
    require(isinstance(value, bool), "a yes or no is missing")
    return bool(value)


def read_text(value: Any, pattern: str, longest: int, complaint: str) -> str:
    right = isinstance(value, str) and len(value) <= longest
    require(right and re.fullmatch(pattern, value, re.DOTALL), complaint)
    return str(value)


def read_integer(value: Any) -> int:
    return int(read_text(value, r"-?0x[0-9a-f]+", LONGEST_NUMBER, "a number is not whole"), 16)


def read_margin(value: Any) -> float | None:
    if value is None:
        return None
    text = read_text(value, ".*", 40, "the margin is not a number")
    try:
        return float.fromhex(text)
    except (ValueError, OverflowError):
        raise ValueError("this is not a proof of separability: the margin is not one.") from None


READERS: dict[str, Callable[[Any], Any]] = {
    "verdict": lambda a: read_text(a, "|".join(VERDICTS), 20, "the verdict is none of the four"),
    "labels": lambda a: read_list(a, read_label),
    "n_rows": read_count,
    "n_features": read_count,
    "fit_intercept": read_flag,
    "fingerprint": lambda a: read_text(a, "[0-9a-f]{64}", 64, "the fingerprint is none"),
    "weights": lambda a: read_list(a, lambda w: read_list(w, read_integer)),
    "rows": lambda a: read_pairs(a, read_label),
    "multipliers": lambda a: read_list(a, read_integer),
    "margin": read_margin,
    "margin_is_maximum": read_flag,
    "duplicates": lambda a: read_pairs(a, read_count),
    "sentence": lambda a: read_text(a, ".*", 10_000, "the sentence is not one"),
    "is_part": read_flag,
    "pairwise": lambda a: read_list(a, lambda part: part),
}

"""A program as Python source without dependencies.

The functions are always the same text; everything from a model or a file is data, written by
`repr`, so that no name or level can become code.
"""

from __future__ import annotations

import pprint
from typing import Any

from adaline.data.reading.magnitudes import POWERS
from adaline.data.reading.notations import GAPS
from adaline.data.storing._program import Number, Program


def as_python(program: Program, name: str) -> str:
    """A module with `predict(row)`, and `probabilities(row)` where classes have them."""
    data: list[tuple[str, Any]] = [
        ("_COLUMNS", [_column(column) for column in program.columns]),
        ("_TERMS", list(program.terms)),
        ("_WEIGHTS", program.W.tolist()),
        ("_BIASES", program.b.tolist()),
        ("_LABELS", program.labels),
        ("_COSTS", None if program.costs is None else program.costs.tolist()),
        ("_EXPOSURE", program.exposure),
        ("_GAPS", sorted(GAPS)),
        ("_POWERS", POWERS),
    ]
    written = "\n".join(f"{key} = {_literal(value)}" for key, value in data)
    if program.labels is None:
        end = _VALUES if program.form == "values" else _RATES
    else:
        end = _PROBABLE if program.is_probable else _SIDES
    end = end.replace("def predict(", f"def {name}(")
    return "\n".join([_HEAD.format(title=program.title), written, _COMMON, end])


def _column(column: Any) -> dict[str, Any]:
    """A column as plain data."""
    plain: dict[str, Any] = {"name": column.name}
    if isinstance(column, Number):
        given = {"mean": column.mean, "marks": list(column.marks), "reading": column.reading}
        return plain | {"kind": "number"} | given
    return (
        plain
        | {"kind": "text", "places": column.places, "gap": column.gap}
        | {"other": column.other}
    )


def _literal(value: Any) -> str:
    return pprint.pformat(value, width=96, compact=True, sort_dicts=False)


_HEAD = '''\
"""{title}, written by adaline. It needs nothing but Python's own library.

A row is a dict from the names of columns to values. None, "" and NaN are missing values. A row
that the model does not answer raises ValueError.
"""

import datetime
import math
'''

_COMMON = '''

def _number(value, column):
    """A number, or None where it is missing; texts are read as the model has learned to."""
    word, _, notation = column["reading"].partition(" ")
    if isinstance(value, (datetime.date, datetime.datetime)):
        return _days(value)
    if isinstance(value, str):
        if value.strip().lower() in _GAPS:
            return None
        value = _date(value, notation) if word == "date" else _read(value, notation)
    if value is None or math.isnan(value) or value in column["marks"]:
        return None
    if math.isinf(value):
        raise ValueError("infinite: " + repr(column["name"]))
    return float(value)


def _read(text, notation):
    """Digits with a unit, and marks between thousands and before decimals: "$ ,."."""
    sign = -1.0 if "(" in text or "-" in text.lower().split("e")[0] or "\\u2212" in text else 1.0
    power = 0
    for part in notation.split(" "):
        if part == "kMB":
            for letter, found in _POWERS.items():
                if text.strip(" )").endswith(letter):
                    text, power = text.replace(letter, ""), found
        elif part in (",.", ".,", "_.", "'.", "_,", "',"):
            for mark in {"_": " \\u00a0\\u202f", "'": "'\\u2019"}.get(part[0], part[0]):
                text = text.replace(mark, "")
            text = text.replace(",", ".")
        elif part:
            text = text.replace(part, "")
    digits = text.replace("\\u2212", "").strip(" ()-") + (f"e{power}" if power else "")
    return sign * abs(float(digits))


def _date(text, order):
    """Days of a date in figures, such as 31/12/2024; other dates are given as datetime.date."""
    plain = text.strip()
    for mark in "/." + "MQq " * (len(order) == 2):  # 2024M05, 2024 Q1
        plain = plain.replace(mark, "-")
    parts = [part for part in plain.split("-") if part]
    if order == "yq":  # or Q1 2024
        parts.sort(key=len, reverse=True)
    if len(parts) != len(order) or not all(part.isdigit() for part in parts):
        return _days(datetime.datetime.fromisoformat(text.strip()))
    found = {"d": 1, **dict(zip(order, map(int, parts)))}
    year = found["y"] + (0 if found["y"] > 99 else 1900 if found["y"] >= 69 else 2000)
    month = found["m"] if "m" in found else 3 * found["q"] - 2
    return _days(datetime.date(year, month, found["d"]))


def _days(date):
    """Days since 1970-01-01; the time of day is a fraction, in UTC where there is a zone."""
    whole = float(date.toordinal() - 719163)
    if isinstance(date, datetime.datetime):
        time = 3600.0 * date.hour + 60.0 * date.minute + date.second + 1e-6 * date.microsecond
        zone = date.utcoffset()
        whole += (time - (zone.total_seconds() if zone is not None else 0.0)) / 86400.0
    return whole


def _place(value, column):
    """The place of a text among the levels, -1 for none; ValueError where there is no answer."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, float) and math.isnan(value):
        value = None
    elif isinstance(value, (int, float)):
        value = str(int(value)) if value == int(value) else str(value)
    if value is None or (value == "" and "" not in column["places"]):
        place = column["gap"]
    else:
        place = column["places"].get(value, column["other"])
    if place is None:
        raise ValueError("missing or unknown: " + repr(column["name"]))
    return place


def _encoded(row):
    """The numbers that the weights are for."""
    given = []
    for column in _COLUMNS:
        read = _number if column["kind"] == "number" else _place
        given.append(read(row.get(column["name"]), column))
    return [_term(term, given) for term in _TERMS]


def _term(term, given):
    what, j = term[0], term[1]
    if what == "times":
        return _term(j, given) * _term(term[2], given)
    if what in ("log", "sqrt"):
        return math.log(_term(j, given)) if what == "log" else math.sqrt(_term(j, given))
    if what == "power":
        return math.prod([_term(j, given)] * term[2])
    value, column = given[j], _COLUMNS[j]
    if what == "level":
        return float(value == term[2])
    if what == "gap":
        return float(value is None)
    if value is None and column["mean"] is None:
        raise ValueError("missing: " + repr(column["name"]))
    if what == "number":
        return column["mean"] if value is None else value
    if value is None:
        return 0.0
    date = datetime.date.fromordinal(math.floor(value) + 719163)
    return float((date.month if what == "month" else date.weekday()) == term[2])


def _scores(row):
    """w'x + b of each neuron."""
    x = _encoded(row)
    return [sum(w * z for w, z in zip(weights, x)) + b for weights, b in zip(_WEIGHTS, _BIASES)]
'''

_VALUES = '''
def predict(row):
    """The predicted number; a list where there are several targets."""
    scores = _scores(row)
    return scores[0] if len(scores) == 1 else scores
'''

_RATES = '''
def predict(row):
    """The predicted mean count."""
    score = _scores(row)[0]
    rate = math.exp(score) if score < 709.0 else math.inf
    return rate if _EXPOSURE is None else rate * float(row[_EXPOSURE])
'''

_DECIDE = '''
def _largest(scores):
    """The first of the largest, or the side of one score."""
    if len(scores) == 1:
        return int(scores[0] > 0.0)
    return max(range(len(scores)), key=lambda k: scores[k])
'''

_SIDES = (
    _DECIDE
    + '''

def predict(row):
    """The predicted class."""
    return _LABELS[_largest(_scores(row))]
'''
)

_PROBABLE = (
    _DECIDE
    + '''

def _exp(v):
    """exp(v) for v <= 0."""
    return math.exp(v) if v > -746.0 else 0.0


def _posterior(scores):
    if len(scores) == 1:
        (v,) = scores
        small = _exp(-abs(v)) / (1.0 + _exp(-abs(v)))
        large = 1.0 / (1.0 + _exp(-abs(v)))
        return [small, large] if v >= 0 else [large, small]
    top = max(scores)
    powers = [_exp(v - top) for v in scores]
    return [e / sum(powers) for e in powers]


def probabilities(row):
    """A dict from each class to its probability."""
    return dict(zip(_LABELS, _posterior(_scores(row))))


def predict(row):
    """The predicted class: the likeliest, or that of least expected cost."""
    scores = _scores(row)
    if _COSTS is None:
        return _LABELS[_largest(scores)]
    p = _posterior(scores)
    costs = [sum(c * q for c, q in zip(row_of_costs, p)) for row_of_costs in _COSTS]
    return _LABELS[min(range(len(costs)), key=lambda k: costs[k])]
'''
)

"""A program as Python source without dependencies.

The functions are always the same text; everything from a model or a file is data, written by
`repr`, so that no name or level can become code.
"""

from __future__ import annotations

import inspect
import pprint
from typing import Any

from adaline.data.reading import dates
from adaline.data.reading.magnitudes import POWERS
from adaline.data.reading.notations import GAPS, written_as
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
        ("EPOCH", dates.EPOCH),
        ("MONTH_OF", dates.MONTH_OF),
    ]
    written = "\n".join(f"{key} = {_literal(value)}" for key, value in data)
    if program.labels is None:
        end = _VALUES if program.form == "values" else _RATES
    else:
        end = _PROBABLE if program.is_probable else _SIDES
    end = end.replace("def predict(", f"def {name}(")
    return "\n".join([_HEAD.format(title=program.title), written, _COMMON, _DATES, end])


def _column(column: Any) -> dict[str, Any]:
    """A column as plain data."""
    plain: dict[str, Any] = {"name": column.name}
    if isinstance(column, Number):
        given: dict[str, Any] = {
            "mean": column.mean,
            "marks": list(column.marks),
            "gaps": list(column.gaps),
        }
        patterns, thousands, decimal = written_as(column.reading)
        given |= {"date": column.is_date, "patterns": patterns}
        given |= {"thousands": thousands, "decimal": decimal}
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

from __future__ import annotations

import datetime
import math
import re
'''

_COMMON = '''

def _number(value, column):
    """A number, or None where it is missing; texts are read as the model has learned to."""
    if isinstance(value, datetime.date):
        return _days_until(value)
    if isinstance(value, str):
        plain = value.strip()
        if plain.lower() in _GAPS or plain in column["gaps"]:
            return None
        value = _read(value, column)
    if value is None or math.isnan(value) or value in column["marks"]:
        return None
    if math.isinf(value):
        raise ValueError("infinite: " + repr(column["name"]))
    return float(value)


def _read(text, column):
    """The number or the days that a text is; ValueError where the model has learned another way."""
    for pattern in column["patterns"]:
        found = re.fullmatch(pattern, text, re.IGNORECASE if column["date"] else 0)
        if found is not None:
            number = days_in(found.groupdict()) if column["date"] else _digits(found, column)
            if number is not None:
                return number
    raise ValueError("not written as the model has learned: " + repr((column["name"], text)))


def _digits(found, column):
    """A number; None where it has two signs."""
    given = [(key.rstrip("0123456789"), part) for key, part in found.groupdict().items() if part]
    part, text = dict(given), found.group()
    digits = re.sub(column["thousands"] or "$", "", part["digits"])
    digits = digits.replace(column["decimal"] or ".", ".")
    signs = (part.get("sign", "") + part.get("after", "")).replace("\\u2212", "-")
    power = "e" + str(_POWERS[part["letter"]]) if "letter" in part else ""
    if signs.count("-") > 1:
        return None
    return float(digits + power) * (-1.0 if "-" in signs or "(" in text else 1.0)


def _days_until(date):
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

_DATES = "\n\n".join(
    inspect.getsource(part) for part in (dates.days_in, dates.month_in, dates.time_in)
)

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

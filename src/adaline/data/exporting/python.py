"""A program as Python source without dependencies.

Everything that comes from a model or a file is written by `repr`, so no name or text can become
code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from adaline.data.exporting.expressions import Column, Label, Lookup, Printer, Program
from adaline.data.reading.notations import GAPS

HEAD = '''\
"""{title}, written by adaline. It needs nothing but Python's own library.

A row is a dict from the names of columns to values. None, "" and NaN are missing values, numbers
are numbers or plainly written texts ("12.5"), and dates are datetime.date or "2024-12-31". A row
that the model does not answer raises ValueError.
"""

import datetime
import math

GAPS = {gaps!r}


def _number(row, name, marks=(), gaps=(), is_date=False, takes_texts=True, part=""):
    value = row.get(name)
    if isinstance(value, str):
        if value.strip().lower() in GAPS or value.strip() in gaps:
            return math.nan
        if not takes_texts or "_" in value:
            raise ValueError(f"not plainly written: {{(name, value)!r}}")
        value = datetime.date.fromisoformat(value.strip()) if is_date else float(value)
    if isinstance(value, datetime.date):
        days = float(value.toordinal() - 719163)  # since 1970-01-01; a time is a fraction, in UTC
        if isinstance(value, datetime.datetime):
            zone = value.utcoffset() or datetime.timedelta()
            midnight = datetime.datetime.combine(value.date(), datetime.time())
            days += (value.replace(tzinfo=None) - zone - midnight) / datetime.timedelta(days=1)
        value = days
    if value is None or math.isnan(value) or value in marks:
        return math.nan
    if math.isinf(value):
        raise ValueError(f"infinite: {{name!r}}")
    if part:
        date = datetime.date.fromordinal(math.floor(value) + 719163)
        value = date.month if part == "month" else date.weekday()
    return float(value)


def _worth(row, name, values, missing, other):
    """The number that a text stands for."""
    value = row.get(name)
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, (int, float)) and not math.isnan(value):
        value = str(int(value)) if value == int(value) else str(value)
    if not isinstance(value, str) or (value == "" and "" not in values):
        return missing
    return values.get(value, other)


def _answers(row):
{steps}
    if any(map(math.isnan, [{scores}])):
        raise ValueError(f"a value is missing or unknown: {{row!r}}")
    return {answer}, {{{shares}}}


def {name}(row):
    """The prediction for a row."""
    return _answers(row)[0]
'''
PROBABILITIES = '''

def probabilities(row):
    """A dict from each class to its probability."""
    return _answers(row)[1]
'''


def write_python(program: Program, name: str) -> str:
    """A module with `predict(row)`, and `probabilities(row)` where classes have them."""
    printer = PrinterOfPython(program.labels)
    steps = "\n".join(f"    {step} = {printer.write(e)}" for step, e in program.steps.items())
    answer = ", ".join(program.prediction)
    pairs = zip(program.labels, program.probabilities, strict=False)
    shares = ", ".join(f"{label!r}: {share}" for label, share in pairs)
    text = HEAD.format(
        title=program.title,
        gaps=sorted(GAPS),
        steps=steps,
        scores=", ".join(program.scores),
        answer=f"[{answer}]" if len(program.prediction) > 1 else answer,
        shares=shares,
        name=name,
    )
    return text + PROBABILITIES * bool(shares)


class PrinterOfPython(Printer):
    """Expressions of `row` and of local variables."""

    missing, both = "math.nan", " and "
    calls: ClassVar[dict[str, str]] = {k: "math." + v for k, v in Printer.calls.items()}
    calls |= {"missing": "math.isnan({})"}
    case = "(", "{1} if {0} else ", "{})"

    def __init__(self, labels: Sequence[Any]) -> None:
        self.labels = labels

    def write_leaf(self, leaf: Any) -> str:
        """A label, column or lookup."""
        if isinstance(leaf, Label):
            return "None" if leaf.place is None else repr(self.labels[leaf.place])
        if isinstance(leaf, Lookup):
            items = ", ".join(f"{text!r}: {self.write(v)}" for text, v in leaf.values.items())
            missing, other = self.write(leaf.missing), self.write(leaf.other)
            return f"_worth(row, {leaf.name!r}, {{{items}}}, {missing}, {other})"
        plain = vars(Column(leaf.name))
        given = {k: v for k, v in vars(leaf).items() if v != plain[k]}
        options = "".join(f", {key}={value!r}" for key, value in given.items())
        return f"_number(row, {leaf.name!r}{options})"

"""Programs as SQL, C99 and Python source. Called by `export`; tests/data/test_export_sources.py.

Names and texts from files cannot become code. In SQL they stand in quotes, with every quote
doubled: in standard SQL nothing else ends them. In C everything but letters, digits and a few signs
is an octal escape. In Python they are written by `repr`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from adaline.data.exporting.program import Column, Expression, Lookup, Program
from adaline.errors import ModelFileError


class Printer:
    """Writes expressions of a program in one language, which a subclass describes."""

    missing, variable, number, equal, both = "NAN", "{}", "{}", "==", "&&"
    calls: ClassVar[dict[str, str]] = {f: f + "({})" for f in ("exp", "log", "sqrt")}
    case = "(", "{0} ? {1} : ", "{})"

    def __init__(self, program: Program) -> None:
        self.program = program

    def write(self, expression: Expression) -> str:
        """The text of an expression, in brackets where it needs them."""
        match expression:
            case None:
                return self.missing
            case float() | int():
                digits = repr(float(expression))
                digits = digits if "e" in digits else self.number.format(digits)
                return f"({digits})" if digits.startswith("-") else digits
            case str():
                return self.variable.format(expression)
            case Column():
                return self.write_column(expression)
            case Lookup():
                return self.write_lookup(expression)
            case ("label", place):
                return self.write_label(place)
            case ("case", *parts):
                texts, (head, branch, otherwise) = [*map(self.write, parts)], self.case
                branches = map(branch.format, texts[:-1:2], texts[1::2])
                return f"{head}{''.join(branches)}{otherwise.format(texts[-1])}"
            case (operation, part) if operation in self.calls:
                return self.calls[operation].format(self.write(part))
            case ("month" | "weekday" as part, _):
                raise ModelFileError(f"The {part} of a date is exported to python only.")
        operation, *parts = expression
        sign = {"==": self.equal, "and": self.both}.get(operation, operation)
        return in_pairs([*map(self.write, parts)], f" {sign} ")

    def write_steps(self, form: str) -> str:
        """All steps, one after the other."""
        steps = (step for layer in self.program.layers for step in layer.items())
        return "\n".join(form.format(name, self.write(expression)) for name, expression in steps)

    def write_label(self, place: int | None) -> str:
        """A class, or no answer."""
        return self.missing if place is None else repr(self.program.labels[place])

    def write_column(self, column: Column) -> str:
        """A column of numbers."""
        raise NotImplementedError

    def write_lookup(self, lookup: Lookup) -> str:
        """The number of a text."""
        raise ModelFileError(
            f"A column of texts such as {lookup.name!r} is not exported to c; give the model "
            "numbers."
        )


def in_pairs(parts: Sequence[str], sign: str) -> str:
    """An operation in brackets, in pairs of pairs: languages limit how deep an expression is."""
    if len(parts) == 1:
        return parts[0]
    if len(parts) <= 8:  # a line that people can read
        return f"({sign.join(parts)})"
    half = len(parts) // 2
    return f"({in_pairs(parts[:half], sign)}\n  {sign}{in_pairs(parts[half:], sign)})"


def write_sql(program: Program, table: str) -> str:
    """A SELECT of all columns of the table, and the answers."""
    answers = {f"prediction {k}": step for k, step in enumerate(program.prediction)}
    if len(answers) == 1:
        answers = {"prediction": program.prediction[0]}
    shares = zip(program.labels, program.probabilities, strict=False)
    answers |= {f"p({label})": step for label, step in shares}
    columns = [f"{select_step(program, step)} AS {quote(head)}" for head, step in answers.items()]
    return (
        f"-- {program.title}, written by adaline. Standard SQL, as PostgreSQL, DuckDB and SQLite "
        "read it.\n-- NULL is a missing value. The prediction is NULL for a row that the model "
        "does not answer.\n"
        f"SELECT t.*,\n  {f',{chr(10)}  '.join(columns)}\nFROM {quote(table)} AS t;\n"
    )


def quote(name: str, sign: str = '"') -> str:
    """A name in double quotes, or a text in single ones."""
    return sign + name.replace(sign, 2 * sign) + sign


def select_step(program: Program, wanted: str) -> str:
    """The value of a step, as a query of its own where it uses other steps.

    They are columns of `a`, which has no others, so no column of the table is taken for a step.
    """
    printer, source = PrinterOfSQL(program), ""
    for layer in program.layers:
        if wanted in layer:
            value = printer.write(layer[wanted])
            return f"(SELECT {value}{source})" if source else value
        columns = ",\n  ".join(f"{printer.write(value)} AS {name}" for name, value in layer.items())
        source = f"\nFROM (SELECT {'a.*, ' * bool(source)}{columns}{source}) AS a"
    raise KeyError(wanted)


class PrinterOfSQL(Printer):
    """Expressions of columns of `t` and of earlier steps in `a`."""

    # Without an exponent some databases calculate in decimals.
    missing, variable, number, equal, both = "NULL", "a.{}", "{}e0", "=", "AND"
    calls: ClassVar[dict[str, str]] = {"exp": "EXP({})", "log": "LN({})", "sqrt": "SQRT({})"}
    calls |= {"missing": "{} IS NULL"}
    case = "CASE", " WHEN {0} THEN {1}", " ELSE {} END"

    def write_label(self, place: int | None) -> str:
        label = None if place is None else self.program.labels[place]
        return quote(label, "'") if isinstance(label, str) else super().write_label(place).upper()

    def write_column(self, column: Column) -> str:
        name = f"t.{quote(column.name)}"
        for mark in column.marks:
            name = f"NULLIF({name}, {self.write(mark)})"
        return name

    def write_lookup(self, lookup: Lookup) -> str:
        name = f"t.{quote(lookup.name)}"
        missing, other = (self.write(lookup.number(k)) for k in (lookup.missing, lookup.other))
        values = ((x, self.write(lookup.number(k))) for x, k in lookup.places.items())
        cases = (f" WHEN {name} = {quote(x, chr(39))} THEN {v}" for x, v in values if v != other)
        return f"CASE WHEN {name} IS NULL THEN {missing}{''.join(cases)} ELSE {other} END"


def write_c(program: Program, name: str) -> str:
    """A file with a function of an array of numbers."""
    steps = PrinterOfC(program).write_steps("    double {} =\n    {};")
    columns, head = ", ".join(escape(column.name) for column in program.columns), ""
    if program.labels:
        shown = (str(one).lower() if isinstance(one, bool) else str(one) for one in program.labels)
        head = f"const char *const {name}_labels[] = {{{', '.join(map(escape, shown))}}};\n"
        outputs, answer = program.probabilities or program.scores, "(int)prediction"
        kind = "probabilities" if program.probabilities else "scores"
        what = f"the place of the class in {name}_labels"
    else:
        what, outputs, kind = "0", program.prediction, "predictions"
        answer = f"isnan({' + '.join(outputs)}) ? -1 : 0"
    copies = "".join(f" out[{k}] = {step};" for k, step in enumerate(outputs))
    return f"""\
/* {program.title}, written by adaline. C99; link with -lm. A missing number is NAN. */
#include <math.h>
#include <stddef.h>

/* The columns of a row, in their order. */
const char *const {name}_columns[] = {{{columns}}};
{head}
/* Returns {what}, or -1 for a row without an answer. out, unless it is NULL, receives
 * {len(outputs)} {kind}. */
int {name}(const double *row, double *out)
{{
{steps}
    if (out != NULL) {{{copies} }}
    return {answer};
}}
"""


def escape(text: str) -> str:
    """A string literal of ASCII: other bytes of UTF-8, quotes, backslashes and ? are escaped."""
    plain = re.compile(r"[A-Za-z0-9 _.,:;=+/*()<>-]")
    letters = (chr(byte) for byte in text.encode())
    return '"' + "".join(x if plain.fullmatch(x) else f"\\{ord(x):03o}" for x in letters) + '"'


class PrinterOfC(Printer):
    """Expressions of the array `row`, and of local variables."""

    calls: ClassVar[dict[str, str]] = {**Printer.calls, "missing": "isnan({})"}

    def write_label(self, place: int | None) -> str:
        return "-1" if place is None else str(place)

    def write_column(self, column: Column) -> str:
        place = [one.name for one in self.program.columns].index(column.name)
        tests = " || ".join(f"row[{place}] == {self.write(mark)}" for mark in column.marks)
        return f"({tests} ? NAN : row[{place}])" if tests else f"row[{place}]"


PYTHON = '''\
"""{title}, written by adaline. It needs nothing but Python's own library.

A row is a dict from the names of columns to values: texts, numbers, and datetime.date. None and NaN
are missing values. A row that the model does not answer raises ValueError.
"""

import datetime
import math


def _number(row, name, marks):
    value = row.get(name)
    if isinstance(value, datetime.datetime):  # days since 1970-01-01
        value = (value - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    elif isinstance(value, datetime.date):
        value = value.toordinal() - 719163
    if isinstance(value, str) or value in (math.inf, -math.inf):
        raise ValueError(f"not a finite number, or a date: {{(name, value)!r}}")
    if value is None or math.isnan(value) or value in marks:
        return math.nan
    return float(value)


def _date(days):
    return datetime.date.fromordinal(math.floor(days) + 719163)


def _worth(row, name, values, missing, other):
    """The number that a text stands for."""
    value = row.get(name)
    if value is None or value != value:
        return missing
    if isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    return values.get(str(value), missing if value == "" else other)


def _answers(row):
{steps}
    if any(map(math.isnan, [{scores}])):
        raise ValueError(f"a value is missing or unknown: {{row!r}}")
    return {answer}, {{{shares}}}


def {name}(row):
    """The prediction for a row."""
    return _answers(row)[0]


def probabilities(row):
    """A dict from each class to its probability, if the model has them."""
    return _answers(row)[1]
'''


def write_python(program: Program, name: str) -> str:
    """A module with `predict(row)`, and `probabilities(row)` where classes have them."""
    pairs = zip(program.labels, program.probabilities, strict=False)
    shares, answer = ", ".join(f"{label!r}: {p}" for label, p in pairs), program.prediction
    return PYTHON.format(
        title=program.title,
        steps=PrinterOfPython(program).write_steps("    {} = {}"),
        scores=", ".join(program.scores),
        answer=f"[{', '.join(answer)}]" if len(answer) > 1 else answer[0],
        shares=shares,
        name=name,
    )


class PrinterOfPython(Printer):
    """Expressions of `row` and of local variables."""

    missing, both = "math.nan", "and"
    calls: ClassVar[dict[str, str]] = {k: "math." + v for k, v in Printer.calls.items()}
    calls |= {"missing": "math.isnan({})"}
    calls |= {"month": "_date({}).month", "weekday": "_date({}).weekday()"}
    case = "(", "{1} if {0} else ", "{})"

    def write_column(self, column: Column) -> str:
        return f"_number(row, {column.name!r}, {column.marks!r})"

    def write_lookup(self, lookup: Lookup) -> str:
        values = {text: self.write(lookup.number(k)) for text, k in lookup.places.items()}
        items = ", ".join(f"{text!r}: {value}" for text, value in values.items())
        ends = ", ".join(self.write(lookup.number(k)) for k in (lookup.missing, lookup.other))
        return f"_worth(row, {lookup.name!r}, {{{items}}}, {ends})"

"""A program as one SELECT of standard SQL, with EXP, LN and SQRT.

Names and texts from files stand in quotes only, with every quote doubled: in standard SQL nothing
else ends them. Numbers have an exponent, which makes them floating point in every dialect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from adaline.data.exporting.expressions import (
    Column,
    Expression,
    Label,
    Lookup,
    Node,
    Printer,
    Program,
)
from adaline.errors import ModelFileError

HEAD = """\
-- {title}, written by adaline. Standard SQL, as PostgreSQL, DuckDB and SQLite read it.
-- NULL is a missing value. The prediction is NULL for a row that the model does not answer.
"""
DATES = """\
-- Columns of dates must hold days since 1970-01-01: in PostgreSQL and DuckDB
-- sold - DATE '1970-01-01', in SQLite julianday(sold) - 2440587.5.
"""


def write_sql(program: Program, table: str) -> str:
    """A SELECT of all columns of the table, and the answers."""
    answers = {"prediction": program.prediction[0]}
    if len(program.prediction) > 1:
        answers = {f"prediction {k}": step for k, step in enumerate(program.prediction)}
    shares = zip(program.labels, program.probabilities, strict=False)
    answers |= {f"p({label})": step for label, step in shares}
    layers = layer_steps(program)
    columns = [f"{select_step(layers, step)} AS {quote(name)}" for name, step in answers.items()]
    has_dates = any(isinstance(column, Column) and column.is_date for column in program.columns)
    head = HEAD.format(title=program.title) + DATES * has_dates
    return (
        f"{head}SELECT t.*,\n  {(',' + chr(10) + '  ').join(columns)}\nFROM {quote(table)} AS t;\n"
    )


def quote(name: str, sign: str = '"') -> str:
    """A name in double quotes, or a text in single ones."""
    if "\0" in name:
        raise ModelFileError(f"SQL cannot write {name[:40]!r}: it contains a NUL character.")
    return sign + name.replace(sign, 2 * sign) + sign


def layer_steps(program: Program) -> list[dict[str, str]]:
    """Steps that can stand in one query: each uses only steps of the layers before it."""
    printer, depth, layers = PrinterOfSQL(program.labels), dict[str, int](), list[dict[str, str]]()
    for name, expression in program.steps.items():
        depth[name] = max((depth[used] + 1 for used in used_steps(expression)), default=0)
        layers += [{} for _ in range(depth[name] + 1 - len(layers))]
        layers[depth[name]][name] = printer.write(expression)
    return layers


def used_steps(expression: Expression) -> set[str]:
    """The names of the steps in an expression."""
    if isinstance(expression, Node):
        return set().union(*map(used_steps, expression.parts))
    return {expression} if isinstance(expression, str) else set()


def select_step(layers: list[dict[str, str]], wanted: str) -> str:
    """The value of a step, as a query of its own where it uses other steps.

    They are columns of `a`, which has no others, so no column of the table is taken for a step.
    """
    source = ""
    for layer in layers:
        if wanted in layer:
            return f"(SELECT {layer[wanted]}{source})" if source else layer[wanted]
        columns = ",\n  ".join(f"{value} AS {name}" for name, value in layer.items())
        source = f"\nFROM (SELECT {'a.*, ' * bool(source)}{columns}{source}) AS a"
    raise KeyError(wanted)


class PrinterOfSQL(Printer):
    """Expressions of columns of `t` and of earlier steps in `a`."""

    missing, variable, equal, both = "NULL", "a.{}", "=", " AND "
    calls: ClassVar[dict[str, str]] = {
        "exp": "EXP({})",
        "log": "LN({})",
        "sqrt": "SQRT({})",
        "missing": "{} IS NULL",
    }
    case = "CASE", " WHEN {0} THEN {1}", " ELSE {} END"

    def __init__(self, labels: Sequence[Any]) -> None:
        self.labels = labels

    def write_number(self, value: float) -> str:
        """Without an exponent some databases calculate in decimals."""
        return repr(value) if "e" in repr(value) else f"{value!r}e0"

    def write_leaf(self, leaf: Any) -> str:
        """A label, column or lookup."""
        if isinstance(leaf, Label):
            label = None if leaf.place is None else self.labels[leaf.place]
            plain = {None: "NULL", True: "TRUE", False: "FALSE"}
            if isinstance(label, str):
                return quote(label, "'")
            return plain[label] if label is None or isinstance(label, bool) else repr(label)
        given = f"t.{quote(leaf.name)}"
        if isinstance(leaf, Lookup):
            whens = "".join(
                f" WHEN {given} = {quote(text, chr(39))} THEN {self.write(value)}"
                for text, value in leaf.values.items()
                if value != leaf.other
            )
            missing, other = self.write(leaf.missing), self.write(leaf.other)
            return f"CASE WHEN {given} IS NULL THEN {missing}{whens} ELSE {other} END"
        if leaf.part:
            raise ModelFileError(
                f"SQL has no portable way to take the {leaf.part} of {leaf.name!r}. Export to "
                "python, or give the model a column with it."
            )
        for mark in leaf.marks:
            given = f"NULLIF({given}, {self.write(mark)})"
        return given

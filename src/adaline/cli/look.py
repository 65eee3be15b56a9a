"""`adaline look`: what each column of a table is, and what fit would do with it and why."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from adaline.cli.files.column_options import Columns, doubts, expanded, facts, looked_at
from adaline.cli.files.file_options import Reading, tell_notes
from adaline.cli.files.sources import known_column, opened, title
from adaline.cli.printing.printer import Data, Out, Working
from adaline.data import Look
from adaline.evaluation.words import file, name, number, plural


def look(
    data: Data,
    /,
    *,
    target: Annotated[str | None, Parameter(name=["--target", "-t"])] = None,
    columns: Columns | None = None,
    reading: Reading | None = None,
    common: Working | None = None,
) -> int:
    """What each column of a table is, and what fit would do with it and why.

    Parameters
    ----------
    data
        A file as for fit, or - for stdin.
    target
        The column to learn.
    """
    out, said = Out(common), columns or Columns()
    source = opened(data, reading=reading)
    if target is not None:
        known_column(source, target)
    beside = expanded("--ignore", said.ignore, source.names)
    seen = looked_at(source, target, said, beside=beside)
    out.verdict(_verdict(seen, title(source)))
    tell_notes(source, out)
    out.say()
    head = ["column", "holds", "gaps", "different", "such as", "use"]
    out.table(head, [[name(cell) for cell in row] for row in seen.rows_of_cells()], left=True)
    warnings = doubts(seen)
    if warnings:
        out.say()
    for text in warnings:
        out.warn(text)
    out.json(
        {
            "command": "look",
            "source": title(source),
            "rows": seen.rows,
            "target": target,
            "columns": [
                {
                    "name": column.name,
                    "holds": column.kind,
                    "gaps": column.gaps,
                    "different": column.different,
                    "examples": column.examples,
                    "use": column.use,
                    "why": column.why,
                }
                for column in seen.columns
            ],
            "encoded": seen.encoding.names,
            **facts(seen),
            "warnings": warnings,
        }
    )
    return 0


def _verdict(seen: Look, called: str) -> str:
    rows = "" if seen.rows is None else f"{number(seen.rows)} rows, "
    used = len(seen.encoding.inputs)
    made = len(seen.encoding.names)
    more = "" if made == used else f", which make {plural(made, 'column')} of numbers"
    of = plural(len(seen.columns), "column")
    return f"{file(called)}: {rows}{of}; fit would learn from {used} of them{more}."

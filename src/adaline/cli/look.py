"""`adaline look`: what each column of a table is, and what fit would do with it and why."""

from __future__ import annotations

from dataclasses import asdict

from adaline.cli.options import Columns, Common, Data, Target
from adaline.cli.printing import Answer
from adaline.cli.tables import describe_notes, study_table, title
from adaline.evaluation.words import file, name, number, plural


def look(
    data: Data,
    /,
    *,
    target: Target = None,
    columns: Columns | None = None,
    common: Common | None = None,
) -> int:
    """Show what each column of a table is, and what fit would do with it and why."""
    answer, table = Answer("look", common), study_table(data, target or "", columns)
    found, used, names = table.look, table.encoding.inputs, table.encoding.names
    rows = "" if found.rows is None else f"{number(found.rows)} rows, "
    more = f", as {plural(len(names), 'column')} of numbers" * (len(names) != len(used))
    answer.verdict(
        f"{file(title(table.source))}: {rows}{plural(len(found.columns), 'column')}; fit would "
        f"use {len(used)} of them{more}."
    )
    answer.warn(*table.doubts())
    describe_notes(table.source, answer)
    answer.say()
    cells = [[name(cell) for cell in row] for row in found.rows_of_cells()]
    answer.table(["column", "type", "missing", "different", "such as", "use"], cells, left=True)
    facts = {"source": title(table.source), "rows": found.rows, "target": target}
    columns_seen = [asdict(column) | {"holds": column.kind} for column in found.columns]
    return answer.finish(**facts, columns=columns_seen, encoded=names, **table.facts())

"""`adaline look`: what each column of a table is, and what fit would do with it and why."""

from __future__ import annotations

from dataclasses import asdict

from adaline.cli.options import Columns, Data
from adaline.cli.printing import Answer
from adaline.cli.tables import describe_notes, study_table, title
from adaline.evaluation.words import file, number, plural


def look(data: Data, /, *, columns: Columns = Columns()) -> int:
    """Show what each column of a table is, and what fit would do with it and why."""
    answer = Answer("look", columns.common)
    table = study_table(data, columns, needs_target=False)
    seen, used, names = table.look, table.encoding.inputs, table.encoding.names
    source, rows = title(table.source), "" if seen.rows is None else f"{number(seen.rows)} rows, "
    more = f", as {plural(len(names), 'column')} of numbers" * (len(names) != len(used))
    answer.verdict(
        f"{file(source)}: {rows}{plural(len(seen.columns), 'column')}; fit would use {len(used)} "
        f"of them{more}."
    )
    answer.warn(*table.doubts())
    describe_notes(table.source, answer)
    answer.say()
    head = ["column", "type", "missing", "different", "such as", "use"]
    answer.table(head, seen.rows_of_cells(), left=True)
    facts = table.facts() | {"rows": seen.rows, "target": columns.target, "encoded": names}
    facts["columns"] = [asdict(column) | {"holds": column.kind} for column in seen.columns]
    return answer.finish(**facts)

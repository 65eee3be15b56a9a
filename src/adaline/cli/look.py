"""`adaline look`: what each column of a table is, and what fit would do with it and why."""

from __future__ import annotations

from dataclasses import asdict

from adaline.cli.options import Columns, Common, Data, OptionalTarget, Reading, expand_names
from adaline.cli.printing import Answer
from adaline.cli.tables import describe_notes, open_table, require_column, study_source, title
from adaline.evaluation.words import file, name, number, plural


def look(
    data: Data,
    /,
    *,
    target: OptionalTarget = None,
    columns: Columns | None = None,
    reading: Reading | None = None,
    common: Common | None = None,
) -> int:
    """What each column of a table is, and what fit would do with it and why."""
    answer, columns = Answer("look", common), columns or Columns()
    source = open_table(data, reading)
    if target is not None:
        require_column(source, target)
    ignored = expand_names("--ignore", columns.ignore, source.names)
    table = study_source(source, target, columns, ignored)
    rows = "" if table.look.rows is None else f"{number(table.look.rows)} rows, "
    used, made = len(table.encoding.inputs), len(table.encoding.names)
    more = "" if made == used else f", which make {plural(made, 'column')} of numbers"
    answer.verdict(
        f"{file(title(source))}: {rows}{plural(len(table.look.columns), 'column')}; fit would "
        f"learn from {used} of them{more}."
    )
    describe_notes(source, answer)
    answer.say()
    cells = [[name(cell) for cell in row] for row in table.look.rows_of_cells()]
    answer.table(["column", "holds", "gaps", "different", "such as", "use"], cells, left=True)
    answer.say()
    answer.warn(*table.doubts())
    return answer.finish(
        source=title(source),
        rows=table.look.rows,
        target=target,
        columns=[
            {("holds" if key == "kind" else key): value for key, value in asdict(column).items()}
            for column in table.look.columns
        ],
        encoded=table.encoding.names,
        **table.facts(),
    )

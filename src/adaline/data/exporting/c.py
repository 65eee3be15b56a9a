"""A program as C99: a struct for a row and one function. Columns are numbers.

Texts from files stand in string literals only, where everything but letters, digits and a few
signs is an octal escape; members of the struct are made of letters and digits.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from adaline.data.exporting.expressions import Label, Lookup, Printer, Program
from adaline.errors import ModelFileError

PLAIN_LETTER = re.compile(r"[A-Za-z0-9 _.,:;=+/*()<>-]")
LONGEST_MEMBER = 60  # letters of a column's name in the struct; compilers promise 63
SOURCE = """\
/* {title}, written by adaline. C99; link with -lm. A missing number is NAN. */
#include <math.h>
#include <stddef.h>

typedef struct {{
{fields}
}} {name}_row;

/* What the members are called in the table. */
const char *const {name}_columns[] = {{{columns}}};

{labels}/* {comment} */
{kind} {name}(const {name}_row *row{out})
{{
{steps}
{ending}
}}
"""


def write_c(program: Program, name: str) -> str:
    """The source of a file."""
    for column in program.columns:
        if isinstance(column, Lookup) or column.is_date:
            raise ModelFileError(
                f"C takes columns of numbers, and {column.name!r} holds "
                f"{'texts' if isinstance(column, Lookup) else 'dates'}. Export to sql or python, "
                "or give the model columns of numbers."
            )
    members, labels = name_members([column.name for column in program.columns]), ""
    printer = PrinterOfC(members)
    answers, out, kind = program.prediction, ", double *out", "int"
    if program.labels:
        outputs = program.probabilities or program.scores
        comment = (
            f"The place of the class in {name}_labels, -1 for a row without an answer. out, unless "
            f"it is NULL,\n * receives the {'probabilities' if program.probabilities else 'scores'}"
            " of the classes."
        )
        shown = [str(one).lower() if isinstance(one, bool) else str(one) for one in program.labels]
        labels = f"const char *const {name}_labels[] = {{{', '.join(map(quote, shown))}}};\n\n"
        copies = " ".join(f"out[{k}] = {output};" for k, output in enumerate(outputs))
        ending = f"    if (out != NULL) {{ {copies} }}\n    return {answers[0]};"
    elif len(answers) == 1:
        comment, out, kind = "The prediction; NAN for a row without an answer.", "", "double"
        ending = f"    return {answers[0]};"
    else:
        comment = f"0, and {len(answers)} predictions in out; -1 for a row without an answer."
        ending = "".join(f"    out[{k}] = {step};\n" for k, step in enumerate(answers))
        ending += f"    return isnan({' + '.join(answers)}) ? -1 : 0;"
    integers = answers if program.labels else ()
    steps = "\n".join(
        f"    {'int' if step in integers else 'double'} {step} =\n    {printer.write(expression)};"
        for step, expression in program.steps.items()
    )
    fields = "\n".join(f"    double {member};" for member in members.values())
    columns = ", ".join(map(quote, members))
    return SOURCE.format(
        title=program.title,
        name=name,
        fields=fields,
        columns=columns,
        labels=labels,
        comment=comment,
        kind=kind,
        out=out,
        steps=steps,
        ending=ending,
    )


def quote(text: str) -> str:
    """A string literal of ASCII: other bytes of UTF-8, quotes, backslashes and ? are escaped."""
    if "\0" in text:
        raise ModelFileError(f"C cannot write the text {text[:40]!r}: it contains a NUL character.")
    letters = ((chr(byte), byte) for byte in text.encode())
    escaped = (x if PLAIN_LETTER.fullmatch(x) else f"\\{byte:03o}" for x, byte in letters)
    return '"' + "".join(escaped) + '"'


def name_members(names: list[str]) -> dict[str, str]:
    """A member of the struct for each column: x_ and the letters and digits of its name."""
    members: dict[str, str] = {}
    for name in names:
        letters = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
        plain = "x_" + letters[:LONGEST_MEMBER].lower()
        own, k = plain, 2
        while own in members.values():
            own, k = f"{plain}_{k}", k + 1
        members[name] = own
    return members


class PrinterOfC(Printer):
    """Expressions of members of the struct, and of local variables."""

    calls: ClassVar[dict[str, str]] = {**Printer.calls, "missing": "isnan({})"}

    def __init__(self, members: dict[str, str]) -> None:
        self.members = members

    def write_leaf(self, leaf: Any) -> str:
        """A label or column."""
        if isinstance(leaf, Label):
            return "-1" if leaf.place is None else str(leaf.place)
        given = f"row->{self.members[leaf.name]}"
        tests = " || ".join(f"{given} == {self.write(mark)}" for mark in leaf.marks)
        return f"({tests} ? NAN : {given})" if tests else given

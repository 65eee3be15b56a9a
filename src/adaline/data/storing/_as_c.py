"""A program as C99: one struct for a row, one function.

Texts from files stand in string literals only, where everything but letters, digits and a few
signs is an octal escape; names of members are made of letters and digits, and comments hold
nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from adaline.data.storing._program import Number, Program, Text, inside
from adaline.errors import ModelFileError

_PLAIN = re.compile(r"[A-Za-z0-9 _.,:;=+/*()<>-]")
_NO_ANSWER = -2  # a place: the row is not answered


def as_c(program: Program, name: str) -> str:
    """The source of a file."""
    members = _members(program)
    answer, promise = _promise(program, name)
    text = [
        _HEAD.format(title=program.title),
        _row(program, members, name),
        *_labels(program, name),
        *_lookups(program, name),
        *(_FIND.format(name=name) for _ in range(_has_text(program))),
        *(text.format(name=name) for what, text in _CALENDAR.items() if _asks_for(program, what)),
        f"/* {answer} */\n{promise}\n{{",
        *_body(program, members, name),
        "}",
    ]
    return "\n".join(text) + "\n"


_HEAD = """\
/* {title}, written by adaline. C99; link with -lm.
 * A missing number is NAN, a missing text is NULL or "". Dates are days since 1970-01-01. */
#include <math.h>
#include <stddef.h>
#include <string.h>
"""

_FIND = """\
static int {name}_find(const char *const *levels, const int *places, int n, const char *text)
{{
    for (int i = 0; i < n; i++)
        if (strcmp(levels[i], text) == 0) return places[i];
    return places[n];
}}
"""

_WEEKDAY = """\
static int {name}_weekday(double days)
{{
    double day = floor(days) + 3;
    return (int)(day - 7 * floor(day / 7));
}}
"""

_MONTH = """\
static int {name}_month(double days)
{{
    double z = floor(days) + 719468, doe = z - 146097 * floor(z / 146097);
    double leap = doe - floor(doe / 1460) + floor(doe / 36524) - floor(doe / 146096);
    double yoe = floor(leap / 365);
    double doy = doe - (365 * yoe + floor(yoe / 4) - floor(yoe / 100));
    int mp = (int)floor((5 * doy + 2) / 153);
    return mp < 10 ? mp + 3 : mp - 9;
}}
"""

_CALENDAR = {"weekday": _WEEKDAY, "month": _MONTH}


def string(text: str) -> str:
    """A string literal of ASCII: other bytes of UTF-8, quotes, backslashes and ? are escaped."""
    if "\0" in text:
        raise ModelFileError(f"C has no way to write the text {text[:40]!r}: it has NUL.")
    parts = []
    for byte in text.encode():
        letter = chr(byte)
        parts.append(letter if byte < 128 and _PLAIN.fullmatch(letter) else f"\\{byte:03o}")
    return '"' + "".join(parts) + '"'


def number(value: float) -> str:
    """All digits; negative numbers in brackets."""
    return f"({value!r})" if value < 0 else repr(float(value))


def _members(program: Program) -> list[str]:
    """A member of the struct for each column: x_ and what letters and digits its name has."""
    found: list[str] = []
    wanted = [column.name for column in program.columns]
    for name in [*wanted, *([program.exposure] if program.exposure is not None else [])]:
        plain = "x_" + re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:60].lower()
        own, k = plain, 2
        while own in found:
            own, k = f"{plain}_{k}", k + 1
        found.append(own)
    return found


def _row(program: Program, members: list[str], name: str) -> str:
    lines = ["typedef struct {"]
    for column, member in zip(program.columns, members, strict=False):
        text = isinstance(column, Text)
        lines.append(f"    {'const char *' if text else 'double '}{member};")
    if program.exposure is not None:
        lines.append(f"    double {members[-1]};  /* exposure */")
    return "\n".join([*lines, f"}} {name}_row;", "", _names(program, name)])


def _names(program: Program, name: str) -> str:
    """What the members are called in the table, for whoever fills them."""
    names = [column.name for column in program.columns]
    names += [program.exposure] if program.exposure is not None else []
    return f"const char *const {name}_columns[] = {{{', '.join(map(string, names))}}};\n"


def _labels(program: Program, name: str) -> list[str]:
    if program.labels is None:
        return []
    texts = ", ".join(string(_written(label)) for label in program.labels)
    return [f"const char *const {name}_labels[] = {{{texts}}};\n"]


def _written(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _has_text(program: Program) -> bool:
    return any(isinstance(column, Text) for column in program.columns)


def _asks_for(program: Program, what: str) -> bool:
    return any(own[0] == what for term in program.terms for own in inside(term))


def _lookups(program: Program, name: str) -> list[str]:
    """Levels and their places; the last place is that of any other text."""
    text = []
    for j, column in enumerate(program.columns):
        if isinstance(column, Text):
            levels = ", ".join(string(level) for level in column.places) or '""'
            places = ", ".join(
                str(_NO_ANSWER if place is None else place)
                for place in [*column.places.values(), column.other]
            )
            text.append(f"static const char *const {name}_levels_{j}[] = {{{levels}}};")
            text.append(f"static const int {name}_places_{j}[] = {{{places}}};\n")
    return text


def _promise(program: Program, name: str) -> tuple[str, str]:
    """What the function answers, and its first line."""
    K, row = len(program.b), f"const {name}_row *row"
    if program.labels is not None:
        what = "probability" if program.is_probable else "score"
        count = len(program.labels) if program.is_probable else K
        return (
            f"The place of the class among {name}_labels, -1 for a row without an answer; out, if "
            f"not NULL,\n * gets the {count} {what if count == 1 else _plural(what)}.",
            f"int {name}({row}, double *out)",
        )
    if K > 1:
        return (
            f"0, and {K} predictions in out; -1 for a row without an answer.",
            f"int {name}({row}, double *out)",
        )
    return "The prediction; NAN for a row without an answer.", f"double {name}({row})"


def _plural(word: str) -> str:
    return "probabilities" if word == "probability" else f"{word}s"


def _body(program: Program, members: list[str], name: str) -> list[str]:
    K, p = program.W.shape
    none = "NAN" if program.labels is None and K == 1 else "-1"
    rows = ",\n        ".join("{" + _lines(list(map(number, w))) + "}" for w in program.W.tolist())
    lines = [
        f"    static const double w[{K}][{max(p, 1)}] = {{\n        {rows or '{0}'}}};",
        f"    static const double b[{K}] = {{{_lines(list(map(number, program.b.tolist())))}}};",
        f"    double z[{max(p, 1)}], s[{K}];",
        *_read(program, members, name, none),
        *_encoded(program, name),
        f"    for (int k = 0; k < {K}; k++) {{",
        "        s[k] = 0;",
        f"        for (int j = 0; j < {p}; j++) s[k] += w[k][j] * z[j];",
        "        s[k] += b[k];",
        "    }",
    ]
    return [*lines, *_answer(program, members)]


def _lines(parts: Sequence[str], most: int = 6) -> str:
    """Numbers, a few a line."""
    rows = [", ".join(parts[i : i + most]) for i in range(0, len(parts), most)]
    return ",\n        ".join(rows)


def _read(program: Program, members: list[str], name: str, none: str) -> list[str]:
    """A double or an int for each column."""
    lines = []
    for j, (column, member) in enumerate(zip(program.columns, members, strict=False)):
        if isinstance(column, Number):
            lines.append(f"    double v{j} = row->{member};")
            lines += [f"    if (v{j} == {number(mark)}) v{j} = NAN;" for mark in column.marks]
            if column.mean is None and not _asks_for_gap(program, j):
                lines.append(f"    if (isnan(v{j})) return {none};")
            continue
        gap = _NO_ANSWER if column.gap is None else column.gap
        empty = "" if "" in column.places else f" || row->{member}[0] == 0"
        find = f"{name}_find({name}_levels_{j}, {name}_places_{j}, {len(column.places)}"
        lines.append(
            f"    int v{j} = row->{member} == NULL{empty} ? {gap}\n"
            f"        : {find}, row->{member});"
        )
        if _NO_ANSWER in (gap, *(_NO_ANSWER if q is None else q for q in _places(column))):
            lines.append(f"    if (v{j} == {_NO_ANSWER}) return {none};")
    return lines


def _places(column: Text) -> list[int | None]:
    return [*column.places.values(), column.other]


def _asks_for_gap(program: Program, j: int) -> bool:
    own = [part for term in program.terms for part in inside(term) if part[1] == j]
    return all(part[0] == "gap" for part in own)


def _encoded(program: Program, name: str) -> list[str]:
    return [f"    z[{i}] = {_value(program, term, name)};" for i, term in enumerate(program.terms)]


def _value(program: Program, term: tuple[Any, ...], name: str) -> str:
    if term[0] == "times":
        return f"({_value(program, term[1], name)}) * ({_value(program, term[2], name)})"
    if term[0] in ("log", "sqrt", "power"):
        x = f"({_value(program, term[1], name)})"
        return " * ".join([x] * term[2]) if term[0] == "power" else f"{term[0]}{x}"
    what, j = term[0], term[1]
    column = program.columns[j]
    if what == "level":
        return f"v{j} == {term[2]}"
    assert isinstance(column, Number)
    if what == "gap":
        return f"isnan(v{j}) ? 1 : 0"
    if what == "number":
        return f"v{j}" if column.mean is None else f"isnan(v{j}) ? {number(column.mean)} : v{j}"
    return f"!isnan(v{j}) && {name}_{what}(v{j}) == {term[2]}"


def _answer(program: Program, members: list[str]) -> list[str]:
    K = len(program.b)
    if program.labels is None:
        if K > 1:
            return [f"    for (int k = 0; k < {K}; k++) out[k] = s[k];", "    return 0;"]
        value = "s[0]" if program.form == "values" else "exp(s[0])"
        times = "" if program.exposure is None else f" * row->{members[-1]}"
        return [f"    return {value}{times};"]
    if not program.is_probable:
        copy = f"    if (out != NULL) for (int k = 0; k < {K}; k++) out[k] = s[k];"
        return [copy, *_largest(K)]
    return _probable(program, K)


def _largest(K: int) -> list[str]:
    if K == 1:
        return ["    return s[0] > 0;"]
    return [
        "    int best = 0;",
        f"    for (int k = 1; k < {K}; k++) if (s[k] > s[best]) best = k;",
        "    return best;",
    ]


def _probable(program: Program, K: int) -> list[str]:
    C = len(program.labels or [])
    lines = [f"    double p[{C}];"]
    if K == 1:  # exp of what is not positive never overflows
        lines += [
            "    double e = exp(-fabs(s[0])), small = e / (1 + e), large = 1 / (1 + e);",
            "    p[0] = s[0] >= 0 ? small : large;",
            "    p[1] = s[0] >= 0 ? large : small;",
        ]
    else:
        lines += [
            "    double top = s[0], total = 0;",
            f"    for (int k = 1; k < {K}; k++) if (s[k] > top) top = s[k];",
            f"    for (int k = 0; k < {K}; k++) total += p[k] = exp(s[k] - top);",
            f"    for (int k = 0; k < {K}; k++) p[k] /= total;",
        ]
    lines.append(f"    if (out != NULL) for (int k = 0; k < {C}; k++) out[k] = p[k];")
    if program.costs is None:
        return [*lines, *_largest(K)]
    rows = ",\n        ".join(
        "{" + _lines(list(map(number, c))) + "}" for c in program.costs.tolist()
    )
    return [
        *lines,
        f"    static const double cost[{C}][{C}] = {{\n        {rows}}};",
        "    int best = 0;",
        "    double least = INFINITY;",
        f"    for (int i = 0; i < {C}; i++) {{",
        "        double sum = 0;",
        f"        for (int k = 0; k < {C}; k++) sum += cost[i][k] * p[k];",
        "        if (sum < least) { least = sum; best = i; }",
        "    }",
        "    return best;",
    ]

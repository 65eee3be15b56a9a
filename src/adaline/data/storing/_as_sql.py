"""A program as one SQL statement: standard SQL, with EXP, LN, SQRT and FLOOR.

Names and texts from files stand in quotes only, with every quote doubled: in standard SQL nothing
else ends them. Numbers have an exponent, which makes them floating point in every dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adaline.data.storing._program import Number, Program, Term, Text, inside
from adaline.errors import ModelFileError

_FAR = "700e0"  # EXP(-700) is 1e-304: beyond it some databases complain of underflow

Layer = list[tuple[str, str]]  # names of our own, and what they are


def as_sql(program: Program, table: str) -> str:
    """SELECT all columns of the table, and the answers."""
    writer = _Writer(program)
    layers = [*writer.days, *writer.answers()]
    answers = [f"{_answer(layers, own)} AS {name(head)}" for head, own in writer.heads]
    text = "\n".join(_HEAD.format(title=program.title).splitlines() + _notes(program)) + "\n"
    columns = ",\n  ".join(answers)
    return f"{text}SELECT t.*,\n  {columns}\nFROM {name(table)} AS t;\n"


def _answer(layers: Sequence[Layer], own: str) -> str:
    """What has this name: a query of its own, where other names of ours are needed for it.

    They are columns of `a`, which has no others: whatever the table has, none is taken for ours.
    """
    source = ""
    for layer in layers:
        if own in dict(layer):
            return f"(SELECT {dict(layer)[own]}{source})" if source else dict(layer)[own]
        columns = ",\n  ".join(f"{value} AS {key}" for key, value in layer)
        source = f"\nFROM (SELECT {'a.*, ' * bool(source)}{columns}{source}) AS a"
    raise AssertionError(own)  # pragma: no cover


_HEAD = """\
-- {title}, written by adaline. Standard SQL, as PostgreSQL, DuckDB and SQLite read it.
-- NULL is a missing value. The prediction is NULL for a row that the model does not answer."""


def _notes(program: Program) -> list[str]:
    if not any(isinstance(column, Number) and column.is_date for column in program.columns):
        return []
    return [
        "-- Columns of dates must hold days since 1970-01-01: in PostgreSQL and DuckDB",
        "-- sold - DATE '1970-01-01', in SQLite julianday(sold) - 2440587.5.",
    ]


def name(text: str) -> str:
    """A name in quotes."""
    return '"' + _whole(text).replace('"', '""') + '"'


def string(text: str) -> str:
    """A text in quotes."""
    return "'" + _whole(text).replace("'", "''") + "'"


def _whole(text: str) -> str:
    if "\0" in text:
        raise ModelFileError(f"SQL has no way to write the name or text {text[:40]!r}: it has NUL.")
    return text


def number(value: float) -> str:
    """All digits, and an exponent: without one some databases calculate in decimals."""
    digits = repr(float(value))
    digits = digits if "e" in digits else f"{digits}e0"
    return f"({digits})" if digits.startswith("-") else digits


def summed(parts: Sequence[str]) -> str:
    """A sum in pairs of pairs: databases limit how deep an expression is."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return f"({summed(parts[:half])} + {summed(parts[half:])})"


class _Writer:
    """Expressions of one program; columns of the table are those of t, and our own those of a.

    `heads` are the columns that are answers, each with its name among our own.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.days = _calendar(program)
        K, labels = len(program.b), program.labels or ()
        self.heads = [("prediction", "prediction")]
        if program.form == "values":
            several = [(f"prediction {k}", f"score_{k}") for k in range(K)]
            self.heads = [("prediction", "score_0")] if K == 1 else several
        elif program.is_probable:
            self.heads += [(f"p({label})", f"p_{k}") for k, label in enumerate(labels)]

    def _score(self, k: int) -> str:
        """Sum of the weighted terms; all levels of a text are one CASE."""
        weights = self.program.W[k].tolist()
        parts: list[str] = []
        levels: dict[int, dict[int, float]] = {}
        for term, w in zip(self.program.terms, weights, strict=True):
            if term[0] == "level":
                levels.setdefault(term[1], {})[term[2]] = w
            else:
                parts.append(f"{number(w)} * {self.value(term)}")
        for j, found in levels.items():
            column = self.program.columns[j]
            assert isinstance(column, Text)
            parts.append(_case(column, _worth(found)))
        bias = number(self.program.b[k])
        lines = "\n   + ".join(_grouped(parts)) if parts else "0e0"
        return f"{lines}\n   + {bias}"

    def value(self, term: Term) -> str:
        """The expression of a term; NULL where a logarithm or root has no value."""
        if term[0] == "times":
            return f"({self.value(term[1])} * {self.value(term[2])})"
        if term[0] in ("log", "sqrt", "power"):
            x = self.value(term[1])
            if term[0] == "power":
                return "(" + " * ".join([x] * term[2]) + ")"
            name_, sign = ("LN", ">") if term[0] == "log" else ("SQRT", ">=")
            return f"CASE WHEN {x} {sign} 0e0 THEN {name_}({x}) END"
        what, j = term[0], term[1]
        column = self.program.columns[j]
        if isinstance(column, Text):
            return _case(column, lambda place: "1e0" if place == term[2] else "0e0")
        given = _given(column)
        if what == "number":
            return given if column.mean is None else f"COALESCE({given}, {number(column.mean)})"
        if what == "gap":
            return f"CASE WHEN {given} IS NULL THEN 1e0 ELSE 0e0 END"
        made, wanted = f"{what}_{j}", term[2]
        gone = "NULL" if column.mean is None else "0e0"
        return (
            f"CASE WHEN {given} IS NULL THEN {gone} WHEN a.{made} = {wanted} THEN 1e0 ELSE 0e0 END"
        )

    def answers(self) -> list[Layer]:
        """Layers that end in predictions; numbers are one expression."""
        program = self.program
        made = [(f"score_{k}", self._score(k)) for k in range(len(program.b))]
        if program.form == "values":
            return [made]
        scores = [f"a.{own}" for own, _ in made]
        if program.labels is None:
            return [made, [("prediction", self._rate(scores[0]))]]
        labels = [_label(label) for label in program.labels]
        if not program.is_probable:
            return [made, [("prediction", _largest(scores, labels))]]
        return [made, *_probable(program, scores, labels)]

    def _rate(self, score: str) -> str:
        rate = f"CASE WHEN {score} < -{_FAR} THEN 0e0 WHEN {score} > 709e0 THEN EXP(709e0) "
        rate += f"ELSE EXP({score}) END"
        exposure = self.program.exposure
        return rate if exposure is None else f"{rate} * t.{name(exposure)}"


def _grouped(parts: list[str], most: int = 32) -> list[str]:
    """At most so many lines, each a sum."""
    size = -(-len(parts) // most)
    return [summed(parts[i : i + size]) for i in range(0, len(parts), size)]


def _given(column: Number) -> str:
    """The number, NULL for marks of missing values."""
    given = f"t.{name(column.name)}"
    for mark in column.marks:
        given = f"NULLIF({given}, {number(mark)})"
    return given


def _case(column: Text, of: Callable[[int], str]) -> str:
    """What each text is worth; `of` tells it for a place among the levels."""

    def worth(place: int | None) -> str:
        return "NULL" if place is None else of(place)

    given, zero = f"t.{name(column.name)}", worth(column.other)
    empty = "" if "" in column.places or _is_truth(column) else f" OR {given} = ''"
    text = [f"CASE WHEN {given} IS NULL{empty} THEN {worth(column.gap)}"]
    text += [
        f"WHEN {given} = {string(level)} THEN {worth(place)}"
        for level, place in column.places.items()
        if worth(place) != zero
    ]
    return " ".join([*text, f"ELSE {zero} END"])


def _worth(weights: dict[int, float]) -> Callable[[int], str]:
    return lambda place: number(weights.get(place, 0.0))


def _is_truth(column: Text) -> bool:
    """Whether the column is one of true and false, which is compared with no empty text."""
    return set(column.places) <= {"true", "false"}


def _label(label: Any) -> str:
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, str):
        return string(label)
    return str(label) if isinstance(label, int) else number(label)


def _largest(scores: Sequence[str], labels: Sequence[str]) -> str:
    """The label on whose side one score is, or of the largest of many; NULL where scores are."""
    if len(scores) == 1:
        (s,) = scores
        return f"CASE WHEN {s} > 0e0 THEN {labels[1]} WHEN {s} <= 0e0 THEN {labels[0]} END"
    whens = (
        f"WHEN {' AND '.join(f'{s} >= {other}' for other in scores if other != s)} THEN {label}"
        for s, label in zip(scores, labels, strict=True)
    )
    return f"CASE {' '.join(whens)} END"


def _probable(program: Program, scores: list[str], labels: list[str]) -> list[Layer]:
    """Layers with probabilities, and the label."""
    assert program.labels is not None
    shares = [f"p_{k}" for k in range(len(labels))]
    label = _largest(scores, labels)
    if len(scores) == 1:
        p = [_logistic(scores[0], -1), _logistic(scores[0], +1)]
        layers = [[("prediction", label), *zip(shares, p, strict=True)]]
    else:
        e = [f"e_{k}" for k in range(len(scores))]
        powers = [
            f"CASE WHEN {s} - a.top < -{_FAR} THEN 0e0 ELSE EXP({s} - a.top) END" for s in scores
        ]
        total = summed([f"a.{part}" for part in e])
        layers = [
            [("prediction", label), ("top", _largest(scores, scores))],
            list(zip(e, powers, strict=True)),
            [(share, f"a.{part} / {total}") for share, part in zip(shares, e, strict=True)],
        ]
    if program.costs is None:
        return layers
    layers[0] = [pair for pair in layers[0] if pair[0] != "prediction"]
    costs = [
        summed([f"{number(c)} * a.{share}" for c, share in zip(row, shares, strict=True)])
        for row in program.costs.tolist()
    ]
    made = [f"cost_{k}" for k in range(len(costs))]
    least = _least([f"a.{cost}" for cost in made], labels)
    return [*layers, list(zip(made, costs, strict=True)), [("prediction", least)]]


def _least(costs: list[str], labels: list[str]) -> str:
    whens = (
        f"WHEN {' AND '.join(f'{c} <= {other}' for other in costs if other != c)} THEN {label}"
        for c, label in zip(costs, labels, strict=True)
    )
    return f"CASE {' '.join(whens)} END"


def _logistic(score: str, sign: int) -> str:
    """1 / (1 + exp(-sign score)), without overflow or underflow."""
    s = score if sign > 0 else f"-{score}"
    minus = f"-{score}" if sign > 0 else score
    return (
        f"CASE WHEN {s} > {_FAR} THEN 1e0 WHEN {s} >= 0e0 THEN 1e0 / (1e0 + EXP({minus})) "
        f"WHEN {s} >= -{_FAR} THEN EXP({s}) / (1e0 + EXP({s})) WHEN {s} < -{_FAR} THEN 0e0 END"
    )


def _calendar(program: Program) -> list[Layer]:
    """Layers with weekdays and months of days since 1970-01-01 (Hinnant's civil calendar)."""
    layers: list[Layer] = [[], [], [], [], []]
    for what, j in sorted({(t[0], t[1]) for term in program.terms for t in inside(term)}):
        column = program.columns[j]
        if what not in ("month", "weekday"):
            continue
        assert isinstance(column, Number)
        day = f"FLOOR({_given(column)})"
        if what == "weekday":
            layers[0].append((f"weekday_{j}", f"{day} + 3 - 7 * FLOOR(({day} + 3) / 7e0)"))
            continue
        own = {part: f"{part}_{j}" for part in ("doe", "yoe", "doy", "mp", "month")}
        doe, yoe, doy, mp = (f"a.{own[part]}" for part in ("doe", "yoe", "doy", "mp"))
        z = f"({day} + 719468)"
        layers[0].append((own["doe"], f"{z} - 146097 * FLOOR({z} / 146097e0)"))
        leap = f"{doe} - FLOOR({doe} / 1460e0) + FLOOR({doe} / 36524e0) - FLOOR({doe} / 146096e0)"
        layers[1].append((own["yoe"], f"FLOOR(({leap}) / 365e0)"))
        gone = f"365 * {yoe} + FLOOR({yoe} / 4e0) - FLOOR({yoe} / 100e0)"
        layers[2].append((own["doy"], f"{doe} - ({gone})"))
        layers[3].append((own["mp"], f"FLOOR((5 * {doy} + 2) / 153e0)"))
        month = f"CASE WHEN {mp} < 10 THEN {mp} + 3 ELSE {mp} - 9 END"
        layers[4].append((own["month"], month))
    return [layer for layer in layers if layer]

"""`adaline separable`: does a hyperplane part the classes? A verdict with a proof."""

from __future__ import annotations

import json
from typing import Annotated, Any

from cyclopts import Parameter

import adaline
from adaline.cli.files.column_options import Columns, doubts, facts, looked_at, tell
from adaline.cli.files.file_options import Reading, tell_notes
from adaline.cli.files.proof_files import FORMAT, VERSION
from adaline.cli.files.sources import known_column, not_the_data, opened, title
from adaline.cli.learning.learning import fits_in_memory, gathered
from adaline.cli.printing.errors import NEGATIVE, OK, Usage
from adaline.cli.printing.printer import Data, Out, Working, strict
from adaline.cli.printing.words import with_names
from adaline.data import Encoding
from adaline.data.outputs import write_atomically
from adaline.evaluation.evidence import of_chance
from adaline.evaluation.words import file, name, number, plural

_MANY = 100  # classes: each row is told from every other class
_PAIRED = 20  # classes up to which each two of them are decided, too


def separable(
    data: Data,
    /,
    *,
    target: Annotated[str, Parameter(name=["--target", "-t"])],
    proof: str | None = None,
    bias: Annotated[bool, Parameter(negative="--no-bias")] = True,
    time_limit: float = 60.0,
    columns: Columns | None = None,
    reading: Reading | None = None,
    common: Working | None = None,
) -> int:
    """Whether linear boundaries separate the classes; the exit code is 0 if so, else 1.

    Two classes need a hyperplane between them, more a linear machine: a weighted sum for each
    class, of which the largest wins.

    The verdict is about the numbers as they are, without tolerance, and the proof can be checked
    by anyone, in whole numbers: see adaline check-proof.

    Parameters
    ----------
    data
        A file as for fit, or - for stdin.
    target
        The column with the classes.
    proof
        Where to write the proof, such as proof.json.
    bias
        Whether boundaries may miss the origin.
    time_limit
        Seconds of CPU time, compiling not counted, after which to answer "undecided".
    """
    out = Out(common)
    if not time_limit >= 0:
        raise Usage(f"--time-limit {time_limit}: expected seconds, 0 or more.")
    not_the_data(proof, data)
    said = columns or Columns()
    source = opened(data, said.ignore or (), keep=[target], reading=reading)
    known_column(source, target)
    seen = looked_at(source, target, said)
    encoding, source = seen.encoding, seen.encoding.prepare(source)
    fits_in_memory(source, encoding)
    X, y, left_out = gathered(source, encoding, target, classes=True)
    K = len(set(y.tolist()))
    if K > _MANY:
        raise ValueError(
            f"the target {target!r} has {number(K)} different values; separability is about "
            f"classes, at most {_MANY} here."
        )
    n, p = X.shape
    out.say(
        f"Read {file(title(source))}: {plural(n, 'row')}, {plural(p, 'column')} of numbers, "
        f"{plural(K, 'class')}."
    )
    tell_notes(source, out)
    tell(seen, out)
    out.say(f"Deciding, for at most {time_limit:g} s of CPU time (--time-limit).", "dim")
    out.say()
    found = adaline.separability(
        X, y, fit_intercept=bias, time_limit=time_limit, pairwise=K <= _PAIRED
    )
    explained = with_names(found.explain(), encoding.names)
    _tell(out, found, explained)
    for text in doubts(seen):
        out.warn(text)
    _doubt(out, found, left_out)
    if proof is not None:
        text = json.dumps(_file(found, target, encoding), allow_nan=False)
        write_atomically(proof, f"{text}\n".encode())
        out.say(f"Wrote the proof: {proof}")
        out.say(f"To check it: adaline check-proof {proof} {data}", "dim")
    out.json(
        {
            "command": "separable",
            "verdict": found.verdict,
            "sentence": explained,
            "rows": n,
            "columns": list(encoding.names),
            "notes": list(source.notes),
            "labels": list(found.labels),
            "margin": found.margin,
            "coef": found.coef,
            "intercept": found.intercept,
            "pairwise": [[a, b, part.verdict] for (a, b), part in found.pairwise.items()],
            "left_out": left_out,
            "data": facts(seen),
            "proof": proof,
        }
    )
    return OK if found.verdict == "separable" else NEGATIVE


def _tell(out: Out, found: Any, explained: str) -> None:
    """The verdict, and that on each two classes where there are more."""
    out.verdict(f"{found.verdict[0].upper()}{found.verdict[1:]}: {explained}")
    out.say("Rows are counted from 0; a column of text is an indicator for each level.", "dim")
    pairs = [(f"{name(a)} – {name(b)}", part.verdict) for (a, b), part in found.pairwise.items()]
    if pairs:
        out.say()
        out.table(["classes", "verdict"], pairs)


def _doubt(out: Out, found: Any, left_out: int) -> None:
    if left_out:
        out.warn(f"{plural(left_out, 'row', 'have')} missing values: left out.")
    if found.verdict == "separable":
        for text in of_chance(found):
            out.warn(text)


def _file(found: Any, target: str, encoding: Encoding) -> dict[str, Any]:
    """The proof, and what it takes to make the same numbers of the file again."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "target": target,
        "encoding": strict(encoding.to_dict()),
        "proof": json.loads(found.to_json()),
    }

"""`adaline separable`: does a hyperplane separate the classes? A verdict with a proof.

`adaline check-proof` verifies such a proof without trusting whoever made it.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from cyclopts import Parameter

import adaline
from adaline.cli.options import Columns, Common, Data, Reading, Seconds, Target
from adaline.cli.printing import Answer, pick, strict
from adaline.cli.tables import open_table, require_column, require_writable, study_table
from adaline.data import Encoding, Table
from adaline.data.outputs import read_file, write_atomically
from adaline.evaluation.fit_evidence import chance_warnings
from adaline.evaluation.words import name, number, plural

FORMAT = "adaline proof about a table"
MOST_CLASSES = 100  # each is separated from all others
MOST_PAIRED = 20  # classes up to which each two of them are decided, too


def separable(
    data: Data,
    /,
    *,
    target: Target = None,
    proof: str | None = None,
    bias: Annotated[bool, Parameter(negative="--no-bias")] = True,
    time_limit: Seconds = 60.0,
    columns: Columns | None = None,
    common: Common | None = None,
) -> int:
    """Decide whether the classes are linearly separable; the exit code is 0 if so, else 1.

    Two classes are separated by a hyperplane, more by a linear machine: a weighted sum for each
    class, of which the largest wins.

    The verdict is about the numbers as they are, without tolerance, and adaline check-proof checks
    its proof in whole numbers.

    Parameters
    ----------
    proof
        Write the proof to this file, such as proof.json.
    bias
        Whether boundaries may miss the origin.
    time_limit
        Seconds of CPU time, without compilation, after which the answer is "undecided".
    """
    answer = Answer("separable", common)
    require_writable(proof, data)
    table = study_table(data, target, columns)
    rows, names = table.all_rows, table.encoding.names
    X, y = rows.X, rows.y
    K = len(set(y.tolist()))
    if K > MOST_CLASSES:
        raise ValueError(
            f"the target {target!r} has {number(K)} different values; separability is about "
            f"classes, at most {MOST_CLASSES} here."
        )
    table.describe(answer, len(y), f", {plural(K, 'class')}")
    answer.say(f"Deciding, for at most {time_limit:g} s of CPU time (--time-limit).", "note")
    answer.show()
    pairwise = K <= MOST_PAIRED
    found = adaline.separability(X, y, fit_intercept=bias, time_limit=time_limit, pairwise=pairwise)
    explained = found.explain([repr(name(column)) for column in names])
    answer.verdict(f"{found.verdict.capitalize()}: {explained}")
    if rows.left_out:
        answer.warn(f"{plural(rows.left_out, 'row')} with missing values skipped.")
    answer.warn(*(chance_warnings(found) if found.verdict == "separable" else ()))
    answer.warn(*table.doubts())
    answer.say("Rows are counted from 0; a column of text is an indicator for each level.", "note")
    pairs = [[a, b, part.verdict] for (a, b), part in found.pairwise.items()]
    if pairs:
        cells = [(f"{name(a)} – {name(b)}", verdict) for a, b, verdict in pairs]
        answer.table(["classes", "verdict"], cells)
    if proof is not None:
        content = {
            "format": FORMAT,
            "target": target,
            "encoding": strict(table.encoding.to_dict()),
            "proof": json.loads(found.to_json()),
        }
        write_atomically(proof, f"{json.dumps(content, allow_nan=False)}\n".encode())
        answer.say(f"Wrote the proof: {proof}")
        answer.say(f"To check it: adaline check-proof {proof} {data}", "note")
    facts = pick(found, "verdict labels margin coef intercept") | {"sentence": explained}
    facts |= {"rows": len(y), "left_out": rows.left_out, "columns": list(names), "proof": proof}
    facts |= {"notes": list(table.source.notes), "data": table.facts()}
    return answer.finish(int(found.verdict != "separable"), **facts, pairwise=pairs)


def check_proof(
    proof: str,
    data: Data,
    /,
    *,
    target: Target = None,
    reading: Reading | None = None,
    common: Common | None = None,
) -> int:
    """Check a proof that `adaline separable --proof` wrote; the exit code is 0 if it holds, else 1.

    All sums are done in whole numbers. A proof holds for the same rows only: any other number,
    row or label refutes it.

    Parameters
    ----------
    proof
        The proof, a JSON file.
    data
        The file it is about, or - for stdin.
    target
        The column with the classes; the one in the proof by default.
    """
    answer = Answer("check-proof", common)
    found, named, encoding = _read_proof(proof)
    wanted, source = target or named, open_table(data, reading)
    require_column(source, wanted)
    rows = Table(wanted, encoding, encoding.prepare(source))
    checked = found.check(rows.X, rows.y)
    proven = bool(checked) and found.verdict != "undecided"
    lead = "Proven" if proven else "Not proven" if checked else "Refuted"
    answer.verdict(f"{lead}, {found.verdict}: {checked.sentence}")
    facts = {"holds": bool(checked), "proven": proven, "verdict": found.verdict}
    return answer.finish(int(not proven), **facts, sentence=checked.sentence)


def _read_proof(path: str) -> tuple[Any, str, Encoding]:
    """A proof, its target and its encoding."""
    try:
        content = json.loads(read_file(path, limit=2**28))
        target, encoding = content["target"], Encoding.from_dict(content["encoding"])
        if content["format"] != FORMAT or not isinstance(target, str):
            raise ValueError(f"it is not a {FORMAT}.")
        return adaline.Separability.from_json(json.dumps(content["proof"])), target, encoding
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path}: this is no valid proof: {error}") from None

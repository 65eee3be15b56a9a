"""`adaline separable`: does a hyperplane separate the classes? A verdict with a proof.

`adaline check-proof` verifies such a proof without trusting whoever made it.
"""

from __future__ import annotations

import json

import adaline
from adaline.cli.options import Columns, Data, Reading, Seconds, require_writable
from adaline.cli.printing import Answer, pick, strict
from adaline.cli.tables import open_table, require_column, study_table
from adaline.data import Encoding, Table
from adaline.data.outputs import read_file, write_atomically
from adaline.evaluation.fit_evidence import chance_warnings
from adaline.evaluation.words import name, number, plural

FORMAT = "adaline proof about a table"
MOST_CLASSES = 100  # each is separated from all others


def separable(
    data: Data,
    /,
    *,
    proof: str | None = None,
    time_limit: Seconds = 60.0,
    columns: Columns = Columns(),
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
    time_limit
        Seconds of CPU time, without compilation, after which the answer is "undecided".
    """
    answer = Answer("separable", columns.common)
    require_writable(proof, data)
    table = study_table(data, columns)
    rows, names, target = table.all_rows, table.encoding.names, table.target
    X, y = rows.X, rows.y
    K = len(set(y.tolist()))
    if K > MOST_CLASSES:
        raise ValueError(
            f"the target {target!r} has {number(K)} different values; separability is about "
            f"classes, at most {MOST_CLASSES}."
        )
    table.describe(answer, len(y), f", {plural(K, 'class')}")
    answer.say(f"Deciding, for at most {time_limit:g} s of CPU time (--time-limit).", "note")
    # Of 20 classes, 190 pairs are decided as well.
    result = adaline.separability(X, y, time_limit=time_limit, pairwise=K <= 20)
    explained = result.explain([repr(name(column)) for column in names])
    answer.verdict(f"{result.verdict.capitalize()}: {explained}")
    if rows.left_out:
        answer.warn(f"{plural(rows.left_out, 'row')} with missing values skipped.")
    answer.warn(*(chance_warnings(result) if result.verdict == "separable" else ()))
    answer.warn(*table.doubts())
    answer.say("Rows are counted from 0; a column of text is an indicator for each level.", "note")
    pairs = [[a, b, part.verdict] for (a, b), part in result.pairwise.items()]
    if pairs:
        cells = [(f"{name(a)} – {name(b)}", verdict) for a, b, verdict in pairs]
        answer.table(["classes", "verdict"], cells)
    if proof is not None:
        content = {"format": FORMAT, "target": target, "proof": json.loads(result.to_json())}
        content["encoding"] = strict(table.encoding.to_dict())
        write_atomically(proof, f"{json.dumps(content, allow_nan=False)}\n".encode())
        answer.say(f"Wrote the proof: {proof}")
        answer.say(f"To check it: adaline check-proof {proof} {data}", "note")
    facts = pick(result, "verdict labels margin coef intercept") | {"sentence": explained}
    facts |= {"rows": len(y), "left_out": rows.left_out, "columns": list(names), "proof": proof}
    facts |= {"notes": list(table.source.notes), "data": table.facts(), "pairwise": pairs}
    return answer.finish(int(result.verdict != "separable"), **facts)


def check_proof(proof: str, data: Data, /, *, reading: Reading = Reading()) -> int:
    """Check a proof that `adaline separable --proof` wrote; the exit code is 0 if it holds, else 1.

    All sums are done in whole numbers. A proof holds for the same rows only: any other number,
    row or label refutes it.

    Parameters
    ----------
    proof
        The proof, a JSON file.
    data
        The file it is about, or - for stdin.
    """
    answer = Answer("check-proof", reading.common)
    try:
        content = json.loads(read_file(proof, limit=2**28))
        target, encoding = content["target"], Encoding.from_dict(content["encoding"])
        if content["format"] != FORMAT or not isinstance(target, str):
            raise ValueError(f"it is not a {FORMAT}.")
        result = adaline.Separability.from_json(json.dumps(content["proof"]))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise ValueError(f"{proof}: this is no valid proof: {error}") from None
    source = open_table(data, reading)
    require_column(source, target)
    rows = Table(target, encoding, encoding.prepare(source))
    checked = result.check(rows.X, rows.y)
    proven = bool(checked) and result.verdict != "undecided"
    lead = "Proven" if proven else "Not proven" if checked else "Refuted"
    answer.verdict(f"{lead}, {result.verdict}: {checked.sentence}")
    facts = {"holds": bool(checked), "proven": proven, "verdict": result.verdict}
    return answer.finish(int(not proven), **facts, sentence=checked.sentence)

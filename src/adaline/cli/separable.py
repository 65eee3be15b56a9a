"""`adaline separable`: does a hyperplane separate the classes? A verdict with a proof.

`adaline check-proof` verifies such a proof without trusting whoever made it.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from cyclopts import Parameter

import adaline
from adaline.cli.errors import NEGATIVE, OK, UsageError
from adaline.cli.options import Columns, Common, Data, OptionalTarget, Reading, Seconds, Target
from adaline.cli.printing import Answer, pick, strict, with_names
from adaline.cli.tables import open_table, require_column, require_writable, study_table
from adaline.data import Encoding
from adaline.data.outputs import read_file, write_atomically
from adaline.data.sharing import labels
from adaline.data.tables import gathered
from adaline.evaluation.fit_evidence import chance_warnings
from adaline.evaluation.words import name, number, plural

FORMAT, VERSION = "adaline proof about a table", 1
MOST_CLASSES = 100  # each is separated from all others
MOST_PAIRED = 20  # classes up to which each two of them are decided, too
MOST_BYTES = 2**28  # of a proof file


def separable(
    data: Data,
    /,
    *,
    target: Target,
    proof: str | None = None,
    bias: Annotated[bool, Parameter(negative="--no-bias")] = True,
    time_limit: Seconds = 60.0,
    columns: Columns | None = None,
    reading: Reading | None = None,
    common: Common | None = None,
) -> int:
    """Whether linear boundaries separate the classes; the exit code is 0 if so, else 1.

    Two classes need a hyperplane between them, more a linear machine: a weighted sum for each
    class, of which the largest wins.

    The verdict is about the numbers as they are, without tolerance, and the proof can be checked
    by anyone, in whole numbers: see adaline check-proof.

    Parameters
    ----------
    target
        The column with the classes.
    proof
        Where to write the proof, such as proof.json.
    bias
        Whether boundaries may miss the origin.
    time_limit
        Seconds of CPU time, compiling not counted, after which to answer "undecided".
    """
    answer = Answer("separable", common)
    require_writable(proof, data)
    table = study_table(data, target, columns, reading)
    X, y, left_out = table.gather(classes=True)
    K, names = len(set(y.tolist())), table.encoding.names
    if K > MOST_CLASSES:
        raise ValueError(
            f"the target {target!r} has {number(K)} different values; separability is about "
            f"classes, at most {MOST_CLASSES} here."
        )
    table.describe(answer, len(y), f", {plural(K, 'class')}")
    answer.say(f"Deciding, for at most {time_limit:g} s of CPU time (--time-limit).", "note")
    answer.say()
    answer.show()
    found = adaline.separability(
        X, y, fit_intercept=bias, time_limit=time_limit, pairwise=K <= MOST_PAIRED
    )
    explained = with_names(found.explain(), names)
    answer.verdict(f"{found.verdict[0].upper()}{found.verdict[1:]}: {explained}")
    answer.say("Rows are counted from 0; a column of text is an indicator for each level.", "note")
    pairs = [(f"{name(a)} – {name(b)}", part.verdict) for (a, b), part in found.pairwise.items()]
    if pairs:
        answer.say()
        answer.table(["classes", "verdict"], pairs)
    answer.warn(*table.doubts())
    if left_out:
        answer.warn(f"{plural(left_out, 'row', 'have')} missing values: left out.")
    answer.warn(*(chance_warnings(found) if found.verdict == "separable" else ()))
    if proof is not None:
        content = {
            "format": FORMAT,
            "version": VERSION,
            "target": target,
            "encoding": strict(table.encoding.to_dict()),
            "proof": json.loads(found.to_json()),
        }
        write_atomically(proof, f"{json.dumps(content, allow_nan=False)}\n".encode())
        answer.say(f"Wrote the proof: {proof}")
        answer.say(f"To check it: adaline check-proof {proof} {data}", "note")
    return answer.finish(
        OK if found.verdict == "separable" else NEGATIVE,
        **pick(found, "verdict labels margin coef intercept"),
        sentence=explained,
        rows=len(y),
        columns=list(names),
        notes=list(table.source.notes),
        pairwise=[[a, b, part.verdict] for (a, b), part in found.pairwise.items()],
        left_out=left_out,
        data=table.facts(),
        proof=proof,
    )


def check_proof(
    proof: str,
    data: Data,
    /,
    *,
    target: OptionalTarget = None,
    reading: Reading | None = None,
    common: Common | None = None,
) -> int:
    """Check a proof that `adaline separable --proof` wrote; exit code 0 if it holds, 1 if not.

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
    wanted = target or named
    if wanted is None:
        raise UsageError(f"{proof} does not say which column holds the classes; give --target.")
    source = open_table(data, reading)
    require_column(source, wanted)
    if encoding is None:
        others = [column for column in source.names if column != wanted]
        encoding = Encoding.learn(source, wanted, columns=others, exact_levels=True)
    X, y, _ = gathered(encoding.prepare(source), encoding, wanted)
    checked = found.check(X, labels(y))
    proven = bool(checked) and found.verdict != "undecided"
    lead = "Proven" if proven else "Not proven" if checked else "Refuted"
    answer.verdict(f"{lead}, {found.verdict}: {checked.sentence}")
    return answer.finish(
        OK if proven else NEGATIVE,
        holds=bool(checked),
        proven=proven,
        verdict=found.verdict,
        sentence=checked.sentence,
    )


def _read_proof(path: str) -> tuple[Any, str | None, Encoding | None]:
    """A proof, its target and its encoding; a proof about arrays has neither."""
    try:
        text = read_file(path, limit=MOST_BYTES).decode()
        content = json.loads(text)
    except adaline.ModelFileError as error:
        raise ValueError(f"{path}: this is no proof: {error}") from None
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: this is no JSON ({error}).") from None
    try:
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            return adaline.Separability.from_json(text), None, None
        target, encoding = content.get("target"), content.get("encoding")
        if content.get("version") != VERSION or not isinstance(target, str):
            raise ValueError(f"this proof is not of version {VERSION}, or has no target.")
        if not isinstance(encoding, dict):
            raise ValueError("the proof does not say how columns become numbers.")
        proof = adaline.Separability.from_json(json.dumps(content.get("proof")))
        return proof, target, Encoding.from_dict(encoding)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: {error}") from None

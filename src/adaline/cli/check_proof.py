"""`adaline check-proof`: verify a proof of separability, without trusting whoever made it."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from adaline.cli.files import proof_files
from adaline.cli.files.file_options import Reading
from adaline.cli.files.sources import known_column, opened
from adaline.cli.learning.learning import fits_in_memory, gathered
from adaline.cli.printing.errors import NEGATIVE, OK, Usage
from adaline.cli.printing.printer import Data, Out, Working
from adaline.data import Encoding


def check_proof(
    proof: str,
    data: Data,
    /,
    *,
    target: Annotated[str | None, Parameter(name=["--target", "-t"])] = None,
    reading: Reading | None = None,
    common: Working | None = None,
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
    out = Out(common)
    found, named, encoding = proof_files.read(proof)
    wanted = target or named
    if wanted is None:
        raise Usage(f"{proof} does not say which column holds the classes; give --target.")
    source = opened(data, reading=reading)
    known_column(source, wanted)
    if encoding is None:
        others = [column for column in source.names if column != wanted]
        encoding = Encoding.learn(source, wanted, columns=others, exact_levels=True)
    source = encoding.prepare(source)
    fits_in_memory(source, encoding)
    X, y, _ = gathered(source, encoding, wanted, classes=True)
    checked = found.check(X, y)
    proven = bool(checked) and found.verdict != "undecided"
    lead = "Proven" if proven else "Not proven" if checked else "Refuted"
    out.verdict(f"{lead}, {found.verdict}: {checked.sentence}")
    out.json(
        {
            "command": "check-proof",
            "holds": bool(checked),
            "proven": proven,
            "verdict": found.verdict,
            "sentence": checked.sentence,
        }
    )
    return OK if proven else NEGATIVE

"""`adaline evaluate`: a model's answers against the truth."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

import adaline
from adaline.cli.files.column_options import unknown_line
from adaline.cli.files.file_options import Reading, tell_notes
from adaline.cli.files.sources import about_rows, known_column, mark_of, opened, path_of
from adaline.cli.predicting.predictions import loaded, measured
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.printer import Data, Out, Working
from adaline.cli.printing.progress import Progress
from adaline.evaluation.quality import by_class, shown
from adaline.evaluation.words import name, number, plural

_MOST = 12  # classes whose confusion is shown


def evaluate(
    model: str,
    data: Data,
    /,
    *,
    target: Annotated[str | None, Parameter(name=["--target", "-t"])] = None,
    unknown: Literal["zeros", "refuse"] = "zeros",
    reading: Reading | None = None,
    common: Working | None = None,
) -> int:
    """How good a model is on the rows of a file, which should not be those it has learned from.

    Parameters
    ----------
    model
        A model file.
    data
        A file as for fit, or - for stdin.
    target
        The column with the truth; the one that was learned by default.
    unknown
        What to do with text that the model has never seen: give it no indicator, counted and said,
        or refuse it.
    """
    printer = Out(common)
    found = loaded(model)
    wanted = target or found.target
    if wanted is None:
        raise Usage(f"{model} does not say which column it predicts; give --target.")
    source = opened(data, reading=reading, only=found.columns(wanted))
    known_column(source, wanted)
    if found.tells_text:
        source = source.reread([wanted])  # labels may happen to be digits here
    encoding, told = found.prepared_for(source, unknown)
    known = encoding.target is not None and encoding.target.name == wanted
    if not known and not hasattr(found.model, "classes_"):  # plain numbers, as they were learned
        encoding = encoding.with_target(wanted)
    source = encoding.prepare(source)
    with Progress(printer, about_rows(source), doing="measuring the quality") as progress:
        tested = measured(
            found.model, encoding, source, wanted, progress=progress, exposure=found.exposure
        )
    quality = tested.quality
    if quality.n == 0:
        raise ValueError(f"{source.name}: no row has all that is needed to compare.")
    facts = quality.facts()
    printer.verdict(quality.sentence(plural(quality.n, "row")))
    tell_notes(source, printer)
    printer.say()
    _tell(printer, facts)
    warnings = quality.doubts()
    warnings += told
    if tested.unknown:
        warnings.append(unknown_line(tested.unknown))
    if tested.left_out:
        warnings.append(f"{plural(tested.left_out, 'row', 'have')} missing values: left out.")
    mark = found.metadata.get("fingerprint")
    if mark is not None and mark == mark_of(path_of(source)):
        warnings.append(_same_file(found.metadata))
    for text in warnings:
        printer.warn(text)
    printer.json(
        {
            "command": "evaluate",
            "adaline": adaline.__version__,
            "model": type(found.model).__name__,
            "target": wanted,
            "quality": facts,
            "left_out": tested.left_out,
            "unknown": tested.unknown,
            "notes": list(source.notes),
            "warnings": warnings,
        }
    )
    return 0


def _same_file(metadata: dict[str, Any]) -> str:
    """The model has learned from this very file: what that means for the numbers."""
    share = metadata.get("held_out_share")
    some = isinstance(share, float) and share > 0
    how = "most of these rows" if some else "these rows"
    return (
        f"the model has learned from {how}: this is the file that it was fitted on, which flatters "
        "it. What `fit` said of its quality, and `adaline info` repeats, is to be trusted; or "
        "evaluate on other rows."
    )


def _tell(out: Out, facts: dict[str, Any]) -> None:
    out.facts(shown(facts))
    if "labels" not in facts:
        return
    if len(facts["labels"]) <= _MOST and len(facts["answers"]) <= _MOST:
        out.say()
        head = ["truth \\ answer", *(name(a) for a in facts["answers"])]
        lines = [
            [name(t), *(number(c) for c in counts)]
            for t, counts in zip(facts["labels"], facts["confusion"], strict=True)
        ]
        out.table(head, lines)
        out.say()
        out.table(*by_class(facts))
        out.say("In brackets: 95 % intervals.", "dim")

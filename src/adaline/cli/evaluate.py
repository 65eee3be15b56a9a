"""`adaline evaluate`: a model's predictions against the truth."""

from __future__ import annotations

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.models import Unknown, describe_unknown, load_model, measure
from adaline.cli.options import Common, Data, ModelFile, OptionalTarget, Reading
from adaline.cli.printing import Answer, Progress
from adaline.cli.tables import describe_notes, hash_file, require_column
from adaline.evaluation.words import class_table, name, number, plural, quality_rows

MOST_CLASSES = 12  # whose confusion is shown: what fits on a screen


def evaluate(
    model: ModelFile,
    data: Data,
    /,
    *,
    target: OptionalTarget = None,
    unknown: Unknown = "zeros",
    reading: Reading | None = None,
    common: Common | None = None,
) -> int:
    """How good a model is on the rows of a file, which should not be those it has learned from.

    Parameters
    ----------
    target
        The column with the truth; the one that was learned by default.
    unknown
        What to do with text that the model has never seen: count it in a warning, or refuse it.
    """
    answer = Answer("evaluate", common)
    loaded = load_model(model)
    wanted = target or loaded.metadata("target")
    if wanted is None:
        raise UsageError(f"{model} does not say which column it predicts; give --target.")
    source = loaded.open_table(data, reading, [wanted])
    require_column(source, wanted)
    classes = getattr(loaded.estimator, "classes_", None)
    if classes is not None and classes.dtype.kind in "OU":
        source = source.reread([wanted])  # labels may happen to be digits here
    encoding, doubts = loaded.encoding_for(source, unknown)
    is_known = encoding.target is not None and encoding.target.name == wanted
    if not is_known and classes is None:  # plain numbers, as they were learned
        encoding = encoding.with_target(wanted)
    source = encoding.prepare(source)
    rows, exposure = source.rows or source.about, loaded.metadata("exposure")
    with Progress(answer.common, rows, doing="measuring the quality") as progress:
        rows_of = (loaded.estimator, encoding, source, wanted)
        tested = measure(*rows_of, progress=progress, exposure=exposure)
    quality = tested.quality
    if quality.n == 0:
        raise ValueError(f"{source.name}: no row has all that is needed to compare.")
    facts = quality.facts()
    answer.verdict(quality.sentence(plural(quality.n, "row")))
    describe_notes(source, answer)
    answer.say()
    answer.pairs(quality_rows(facts))
    if "labels" in facts and max(len(facts["labels"]), len(facts["answers"])) <= MOST_CLASSES:
        answer.say()
        pairs = zip(facts["labels"], facts["confusion"], strict=True)
        cells = [[name(label), *map(number, counts)] for label, counts in pairs]
        answer.table(["truth \\ answer", *map(name, facts["answers"])], cells)
        answer.say()
        answer.table(*class_table(facts))
        answer.say("In brackets: 95% intervals.", "note")
    doubts = [*quality.warnings(), *doubts, *describe_unknown(tested.unknown)]
    if tested.left_out:
        doubts.append(f"{plural(tested.left_out, 'row', 'have')} missing values: left out.")
    fingerprint = loaded.metadata("fingerprint")
    if fingerprint is not None and fingerprint == hash_file(source):
        share = loaded.about["metadata"].get("held_out_share")
        some = "most of " * (isinstance(share, float) and share > 0)
        doubts.append(
            f"the model has learned from {some}these rows, so the quality is too optimistic; rely "
            "on the one that `adaline fit` printed, or evaluate on other rows."
        )
    answer.warn(*doubts)
    return answer.finish(
        adaline=adaline.__version__,
        model=type(loaded.estimator).__name__,
        target=wanted,
        quality=facts,
        left_out=tested.left_out,
        unknown=tested.unknown,
        notes=list(source.notes),
    )

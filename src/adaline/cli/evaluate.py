"""`adaline evaluate`: a model's predictions against the truth."""

from __future__ import annotations

from typing import Any

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.models import Unknown, describe_unknown, load_model, measure
from adaline.cli.options import Data, ModelFile, Reading, Target
from adaline.cli.printing import Answer, Progress, pick
from adaline.cli.tables import describe_notes, hash_file
from adaline.evaluation.words import class_table, number, plural, quality_rows


def evaluate(
    model: ModelFile,
    data: Data,
    /,
    *,
    target: Target = None,
    unknown: Unknown = "zeros",
    reading: Reading = Reading(),
) -> int:
    """Evaluate a model on the rows of a file, which should not be its training set.

    Parameters
    ----------
    target
        The column with the truth; by default the one of the fit.
    unknown
        What to do with unknown categories: count them in a warning, or refuse them.
    """
    answer, loaded = Answer("evaluate", reading.common), load_model(model)
    wanted = target or loaded.metadata("target")
    if wanted is None:
        raise UsageError(f"{model} does not say which column it predicts; give --target.")
    source = loaded.open_table(data, reading, [wanted])
    classes = getattr(loaded.estimator, "classes_", None)
    if classes is not None and classes.dtype.kind in "OU":
        source = source.reread([wanted])  # labels may happen to be digits here
    encoding, doubts = loaded.encoding_for(source, unknown)
    is_known = encoding.target is not None and encoding.target.name == wanted
    if not is_known and classes is None:  # plain numbers, as they were learned
        encoding = encoding.with_target(wanted)
    source = encoding.prepare(source)
    with Progress(answer.common, source.rows, doing="measuring") as progress:
        what = (loaded.estimator, encoding, source, wanted)
        tested = measure(*what, progress, loaded.metadata("exposure"))
    quality = tested.quality
    if quality.n == 0:
        raise ValueError(f"{source.name}: no row has all that is needed to compare.")
    facts = quality.facts()
    answer.verdict(quality.sentence(plural(quality.n, "row")))
    if tested.left_out:
        doubts.append(f"{plural(tested.left_out, 'row')} with missing values skipped.")
    fingerprint = loaded.metadata("fingerprint")
    if fingerprint is not None and fingerprint == hash_file(source):
        share = loaded.about["metadata"].get("held_out_share")
        some = "most of " * (isinstance(share, float) and share > 0)
        text = f"the model was fitted to {some}these rows, so the quality is too optimistic; rely"
        how = "on the one that `adaline fit` printed, or evaluate on other rows."
        doubts.insert(0, f"{text} {how}")
    answer.warn(*doubts, *quality.warnings(), *describe_unknown(tested.unknown))
    describe_notes(source, answer)
    answer.say()
    answer.pairs(quality_rows(facts))
    # A table of 12 columns fits on a screen.
    if "labels" in facts and max(len(facts["labels"]), len(facts["answers"])) <= 12:
        answer.say()
        pairs = zip(facts["labels"], facts["confusion"], strict=True)
        cells = [[label, *map(number, counts)] for label, counts in pairs]
        answer.table(["truth \\ prediction", *facts["answers"]], cells)
        if answer.common.verbose:
            answer.say()
            answer.table(*class_table(facts))
            answer.say("In brackets: 95% intervals.", "note")
    more: dict[str, Any] = {"adaline": adaline.__version__, "target": wanted, "quality": facts}
    more |= {"model": type(loaded.estimator).__name__, "notes": list(source.notes)}
    return answer.finish(**more, **pick(tested, "left_out unknown"))

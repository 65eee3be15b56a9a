"""How good the predictions are, in numbers and in a sentence that names what is easy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adaline.report._rows import Rows, ask
from adaline.report._words import name, number, percent, plural

_Z = 1.959963984540054  # 95 % of the normal lie within


@dataclass(frozen=True)
class Quality:
    """A sentence, a list of named numbers, and warnings with advice."""

    sentence: str
    facts: dict[str, str]
    warnings: list[str] = field(default_factory=list)


def quality(model: Any, rows: Rows, held_out: bool) -> Quality:
    """What the predictions of these rows are worth."""
    kind = "held-out row" if held_out else "row that was learned from"
    words = plural(len(rows), kind).replace(
        "row that was learned froms", "rows that were learned from"
    )
    found = _decided(model, rows, words) if hasattr(model, "classes_") else _regressed(rows, words)
    if not held_out:
        found.warnings.insert(
            0,
            "The quality was measured on rows that the model has learned from, which flatters it. "
            "Keep rows apart, and report on those.",
        )
    if len(rows) < 30:
        found.warnings.append(
            f"Only {plural(len(rows), 'row')} measure the quality; the numbers may be far off. "
            "Hold out more rows."
        )
    return found


def wilson(right: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share.

    >>> [round(end, 3) for end in wilson(5, 10)]
    [0.237, 0.763]
    """
    p, z = right / n, _Z
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, float((middle - half) / scale)), min(1.0, float((middle + half) / scale))


def _decided(model: Any, rows: Rows, words: str) -> Quality:
    y, said, classes = rows.y.tolist(), rows.predicted.tolist(), model.classes_.tolist()
    right = [truth == answer for truth, answer in zip(y, said, strict=True)]
    n, hits = len(rows), sum(right)
    low, high = wilson(hits, n)
    counts = Counter(y)
    common, most = counts.most_common(1)[0]
    share = most / n
    sentence = (
        f"Right for {percent(hits / n)} of {words} (95 % interval {100 * low:.1f} to "
        f"{percent(high)}); always answering “{name(common)}” would be right for {percent(share)}."
    )
    hit = Counter(truth for truth, good in zip(y, right, strict=True) if good)
    each = [hit[label] / count for label, count in counts.items()]
    facts = {
        "right": f"{number(hits)} of {number(n)}, {percent(hits / n)}",
        "95 % interval": f"{percent(low)} to {percent(high)}",
        f"always “{name(common)}”": percent(share),
        "mean over classes": percent(float(np.mean(each))),
    }
    rejected = sum(count for answer, count in Counter(said).items() if answer not in classes)
    if rejected:
        facts["rejected"] = f"{number(rejected)} of {number(n)}"
        if n > rejected:
            facts["right where not rejected"] = percent(hits / (n - rejected))
    facts |= _probabilities(model, rows)
    warnings = []
    if low <= share:
        warnings.append(
            f"The classifier is not clearly better than always answering “{name(common)}”. The "
            "columns may say little about the classes, or in a way that no hyperplane can use."
        )
    missing = [name(label) for label in classes if label not in counts]
    if missing:
        warnings.append(
            f"No row of the class {', '.join(missing[:5])}{', ...' * (len(missing) > 5)} is among "
            "these rows: nothing is known about the quality there."
        )
    strange = [label for label in counts if label not in classes]
    if strange:
        warnings.append(
            f"{sum(counts[label] for label in strange)} rows have labels that the model never saw, "
            f"such as “{name(strange[0])}”; they count as wrong. Learn from rows of every class."
        )
    return Quality(sentence, facts, warnings)


def _probabilities(model: Any, rows: Rows) -> dict[str, str]:
    """Logarithmic loss, where the model tells probabilities."""
    if not hasattr(model, "predict_log_proba"):
        return {}
    log_p = np.asarray(ask(model, "predict_log_proba", rows.X), dtype=np.float64)
    places = {label: k for k, label in enumerate(model.classes_.tolist())}
    known = np.array([places.get(label, -1) for label in rows.y.tolist()])
    some = known >= 0
    if not some.any():
        return {}
    loss = -log_p[some, known[some]]
    share = np.bincount(known[some], minlength=len(places)) / some.sum()
    entropy = float(-np.sum(share[share > 0] * np.log(share[share > 0])))
    return {
        "mean log loss": number(float(loss.mean())),
        "log loss of the shares alone": number(entropy),
    }


def _regressed(rows: Rows, words: str) -> Quality:
    Y = rows.y.reshape(len(rows), -1).astype(np.float64)
    error = Y - rows.predicted.reshape(Y.shape)
    squares, total = np.sum(error**2, axis=0), np.sum((Y - Y.mean(axis=0)) ** 2, axis=0)
    rmse, spread = (
        float(np.sqrt(np.mean(error**2))),
        float(np.sqrt(np.mean((Y - Y.mean(axis=0)) ** 2))),
    )
    r2 = float(np.mean(1.0 - squares / total)) if np.all(total > 0) else float("nan")
    facts = {
        "R²": number(r2),
        "root mean squared error": number(rmse),
        "mean absolute error": number(float(np.mean(np.abs(error)))),
        "largest error": number(float(np.max(np.abs(error)))),
        "root mean squared error of the mean": number(spread),
    }
    warnings = []
    if np.isnan(r2):
        sentence = f"Off by {number(rmse, 3)} (root mean square) on {words}, which are all equal."
    elif r2 > 0:
        sentence = (
            f"Explains {percent(r2)} of the variance of {words} and is off by {number(rmse, 3)} "
            f"(root mean square); their mean alone would be off by {number(spread, 3)}."
        )
    else:
        sentence = (
            f"Explains nothing of {words}: it is off by {number(rmse, 3)} (root mean square), and "
            f"their mean alone by {number(spread, 3)}."
        )
        warnings.append(
            "The predictions are worse than the mean of these rows. They may come from elsewhere "
            "than the rows of the fit, or the columns may say nothing about the target."
        )
    if Y.shape[1] > 1:
        facts["targets"] = f"{Y.shape[1]}; numbers are means over them"
    return Quality(sentence, facts, warnings)

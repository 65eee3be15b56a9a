"""What `adaline demo` shows beside a fit: texts of at most 79 columns, in ASCII.

`cli/demo.py` prints them around the fit of a table; each of them needs numpy and adaline only.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

import adaline
from adaline.filters import cancel
from adaline.play import scene

if TYPE_CHECKING:
    from adaline.data import Prepared

WIDTH = 79

# A pump that is not in the table, in the order of its columns.
NEW_PUMP = "north,slurry,12.5,41000,71.5,2.9,6.1,310"


def wrapped(text: str, indent: str = "") -> str:
    """A paragraph within 79 columns; words such as paths are never broken."""
    return fill(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def beginning(table: Path, rows: int = 3) -> str:
    """The columns of a CSV file and its first rows."""
    head, *lines = table.read_text(encoding="utf-8").splitlines()
    columns = wrapped(f"{head.replace(',', ', ')}:", "  ")
    return "\n".join([columns, "", *(f"  {line}" for line in lines[:rows])])


def prediction(model: Prepared, row: Path) -> str:
    """What a model of the pumps predicts for one more row, and which columns matter most."""
    [label], [probabilities] = model.predict(row), model.predict_proba(row)
    why = adaline.explain(model, row)
    parts = dict(zip(why.names, why.parts[0].tolist(), strict=True))
    strongest = sorted(parts, key=lambda name: -abs(parts[name]))[:3]
    reasons = ", ".join(f"{name} {parts[name]:+.2f}" for name in strongest)
    return (
        f"failed = {label}, with probability {max(probabilities):.2f}. Largest contributions to "
        f"the log-odds: {reasons}."
    )


def proof() -> str:
    """Which of OR and XOR can a line separate? Each answer with its proof."""
    corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    texts = []
    for name, classes in [("OR", [0, 1, 1, 1]), ("XOR", [0, 1, 1, 0])]:
        answer = adaline.separability(corners, classes)
        texts.append(wrapped(f"{name} is {answer.verdict}: {answer.explain()}", "  "))
    return "\n".join(texts)


def voice() -> str:
    """The signal-to-noise ratio of a voice before and after its hum is cancelled, in dB."""
    recording = scene("tone", level=12.0)
    cleaned = cancel(recording.d, reference=recording.x)

    def ratio(heard: Any) -> float:
        noise = np.mean((heard - recording.wanted) ** 2)
        return float(10 * np.log10(np.mean(recording.wanted**2) / noise))

    return (
        f"  voice over hum, recorded: {ratio(recording.d):6.1f} dB\n"
        f"  voice over hum, cleaned:  {ratio(cleaned.signal):6.1f} dB"
    )


def perceptron() -> str:
    """Every step of the lecture's perceptron on OR, with inputs of -1 and 1."""
    X = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]
    steps = str(adaline.trace(adaline.Perceptron(), X, [-1, 1, 1, 1]))
    return "\n".join(f"  {line}" for line in steps.splitlines())

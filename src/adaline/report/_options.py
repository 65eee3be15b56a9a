"""Options of a report, refused by their names before anything is computed or written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from adaline.data.outputs import refuse_unwritable
from adaline.evaluation.checks import Rows
from adaline.evaluation.cross_validation import CrossValidated
from adaline.evaluation.quality import Quality


def check_page(path: Any) -> None:
    """A path at which a page can be written."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise _wrong("path", path, "a path, such as 'report.html'")
    if not os.fspath(path) or "\0" in os.fspath(path):
        raise ValueError(f"path is {os.fspath(path)!r}; expected the name of a file.")
    refuse_unwritable(path)


def check_options(
    texts: Mapping[str, Any],
    held_out: Any,
    names: Any,
    data: Any,
    separability: Any,
    quality: Any,
    cross_validated: Any = None,
    gaps: Any = None,
) -> None:
    """Texts, a truth, a name a column, facts, a verdict on separability, and counts."""
    for option, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise _wrong(option, value, "text, or None")
    if held_out is not None and type(held_out).__name__ not in ("bool", "bool_"):
        raise _wrong("held_out", held_out, "True, False or None")
    if data is not None and not isinstance(data, Mapping):
        raise _wrong("data", data, "a mapping, such as {'file': 'rents.csv'}, or None")
    if gaps is not None and not isinstance(gaps, Mapping):
        raise _wrong("gaps", gaps, "a mapping, such as {'age': 12}, or None")
    if separability is not None and not isinstance(getattr(separability, "verdict", None), str):
        raise _wrong("separability", separability, "what `separability(X, y)` answers, or None")
    if quality is not None and not isinstance(quality, Quality):
        raise _wrong("quality", quality, "Decisions, Errors (adaline.evaluation.quality) or None")
    if cross_validated is not None and not isinstance(cross_validated, CrossValidated):
        raise _wrong("cross_validated", cross_validated, "what `cross_validated` answers, or None")
    listed = isinstance(names, Iterable) and hasattr(names, "__len__")
    if names is not None and (not listed or isinstance(names, str | bytes | Mapping)):
        raise _wrong("names", names, "a sequence of column names")


def checked_warnings(warnings: Any) -> list[Any]:
    """Warnings one by one; a single text is not a list of letters."""
    if isinstance(warnings, str | bytes | Mapping) or not isinstance(warnings, Iterable):
        raise _wrong("warnings", warnings, "a sequence of texts or Warnings")
    return list(warnings)


def learned_rows(model: Any, learned: Any, y: Any, weight: Any) -> Rows:
    """The rows that the model has learned from, with their targets where they are given."""
    p = int(model.n_features_in_)
    if learned is None:
        raise TypeError("learned_y and learned_weight belong to rows; give these as learned, too.")
    try:
        found = learned.tocsr() if hasattr(learned, "tocsr") else np.asarray(learned, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"learned is no rows of {p} numbers ({error}).") from None
    if found.ndim != 2 or found.shape[1] != p:
        raise ValueError(f"learned has shape {found.shape}; expected rows of {p} columns.")
    for option, values in (("learned_y", y), ("learned_weight", weight)):
        if values is not None and np.shape(values)[:1] != (found.shape[0],):
            raise ValueError(
                f"{option} has shape {np.shape(values)}, and learned has {found.shape[0]} rows; "
                "give one for each."
            )
    truth = None if y is None else np.asarray(y)
    omega = None if weight is None else np.asarray(weight, np.float64)
    if not hasattr(found, "tocsr") and not (good := np.isfinite(found).all(axis=1)).all():
        found, truth, omega = (None if v is None else v[good] for v in (found, truth, omega))
    return Rows(found, truth, omega)


def _wrong(name: str, value: Any, expected: str) -> TypeError:
    text = " ".join(repr(value).split())
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return TypeError(f"{name} is {text}, a {type(value).__name__}; expected {expected}.")

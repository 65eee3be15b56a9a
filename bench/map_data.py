"""The shapes of the map, as users have them, and the rows and targets of each.

A shape is written "1000x20", with "csr " or "float32 " before it, and ", 5 classes" or
", 200 targets" after it.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

import numpy as np
from bench_text import text

Targets = Literal["numbers", "labels", "counts"]

SMALL = ("100x5", "1000x20")
TALL = ("10000x50", "20000x300", "1000000x20")
MANY = ("5000x1000", "3000x500", "2000x1500")  # columns, and a few times as many rows at most
WIDE = ("200x2000", "1000x5000")
FLOAT32 = ("float32 1000x20", "float32 20000x50", "float32 1000000x20")
DENSE = (*SMALL, *TALL, *MANY, *FLOAT32, *WIDE)
CSR = ("csr 2000x5000", "csr 5000x20000", "csr 50000x100000")
TARGETS = ("2000x30, 200 targets", "2000x30, 1000 targets")
CLASSES = ("100x5, 3 classes", "1000x20, 5 classes", "10000x50, 10 classes", "5000x30, 50 classes")
LARGEST = {"csr 50000x100000", "1000x5000", "20000x300", *MANY, "1000000x20", *FLOAT32[2:]}
LARGEST |= {"10000x50, 20 classes", "5000x30, 50 classes", "csr 5000x20000, 20 classes"}


class Shape(NamedTuple):
    """What the name of a shape says; k is the number of classes or targets, 1 if it names none."""

    kind: str
    n: int
    p: int
    k: int
    of: str


def parsed(shape: str) -> Shape:
    """The numbers in the name of a shape."""
    found = re.fullmatch(r"(csr|float32)? ?(\d+)x(\d+)(?:, (\d+) (classes|targets))?", shape)
    if found is None:
        raise ValueError(f"{shape!r} is no shape; write it like 'csr 5000x20000, 20 classes'.")
    kind, n, p, k, of = found.groups()
    return Shape(kind or "", int(n), int(p), int(k or 1), of or "")


def data(shape: str, targets: Targets) -> tuple[Any, Any]:
    """Columns that are a little correlated, and targets with noise; text where it is sparse."""
    kind, n, p, k, of = parsed(shape)
    if kind == "csr":
        X, y = text(n, p)
        rng, size = np.random.default_rng(1), 0.25  # of a row, beside which weights are drawn
    else:
        rng, size = np.random.default_rng(0), np.sqrt(p)
        X = rng.standard_normal((n, p))
        X[:, 1:] += 0.5 * X[:, :-1]
    if targets == "counts":
        y = rng.poisson(np.exp(0.7 * X @ rng.standard_normal(p) / max(size, 1.0))).astype(
            np.float64
        )
    elif of == "classes":
        V = X @ rng.standard_normal((p, k)) / size + rng.gumbel(size=(n, k))
        y = V.argmax(axis=1)
    elif kind != "csr":
        Y = X @ rng.standard_normal((p, k)) / size + rng.standard_normal((n, k)) + 1.0
        y = Y if k > 1 else Y[:, 0]
        y = np.where(y > 1.0, 1.0, -1.0) if targets == "labels" else y
    elif targets == "numbers":
        y = X @ rng.standard_normal(p) + 0.3 * rng.standard_normal(n)
    return X.astype(np.float32) if kind == "float32" else X, y

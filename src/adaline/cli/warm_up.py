"""`adaline warm-up`: compile everything now, so that nobody waits for it later."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Annotated, Any

from cyclopts import Parameter

import adaline
from adaline.cli.printing.errors import NEGATIVE, OK, Usage
from adaline.cli.printing.printer import Common, Out, Whole
from adaline.filters import FILTERS

# What is called, with which settings (None: it has none), on what: see `_data`.
_Calls = list[tuple[Any, tuple[Any, ...] | None, str]]
_FITS: _Calls = [
    (adaline.LogisticRegression, (), "X t"),
    (adaline.LogisticRegression, (), "X k"),
    (adaline.LeastSquares, (), "X y"),
    (adaline.Ridge, (), "X y"),
    (adaline.LeastSquaresClassifier, (), "X t"),
    (adaline.GaussianClassifier, (), "X t"),
    (adaline.GaussianClassifier, ("full",), "X t"),
    (adaline.Perceptron, (), "X t"),
    (adaline.Perceptron, (), "X k"),
    (adaline.Adaline, (), "X t"),
    (adaline.WidrowHoff, (), "X y"),
    (adaline.PoissonRegression, (), "X counts"),
    (adaline.GammaRegression, (), "X positive"),
    (adaline.HoKashyap, (), "X t"),
    (adaline.KernelPerceptron, (), "X t"),
    (adaline.separability, None, "X t"),
    (adaline.separability, None, "X far"),
]
_DENSE_ONLY: _Calls = [
    (adaline.BayesClassifier, (), "X t"),
    (adaline.PolynomialLeastSquares, (2,), "X y"),
    (adaline.SigmoidPerceptron, (), "X t"),
    (adaline.LogisticRegression, ("auto",), "X t"),
    (adaline.LogisticRegression, ("firth",), "X t"),
    (adaline.max_margin, None, "X far"),
    (adaline.mistake_bound, None, "X far"),
]
_FILTERS: _Calls = [
    (kind, tuple(kind._example.values()), "x d")
    for kind in (getattr(adaline, name) for name in FILTERS)
]
# Tables with many columns or classes have loops of their own.
_LARGE: _Calls = [(adaline.LogisticRegression, (), "X t"), (adaline.max_margin, None, "X far")]


def _wide_text(X: Any, t: Any) -> None:
    """Classes learned from LIBSVM text of more columns than sums of products can have."""
    from adaline.data import fit

    rows = [" ".join(f"{j + 1}:{x[j]:.3f}" for j in (abs(x) > 2.0).nonzero()[0]) for x in X]
    text = "".join(f"{int(label)} {row}\n" for label, row in zip(t, rows, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.svm")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        fit(adaline.LogisticRegression(tol=0.1), path, n_features=X.shape[1])


# Rows and columns of X; else there are 2000 x 5.
_SHAPES = {
    "small": (200, 5),
    "32 columns": (2000, 32),
    "many columns": (2700, 400),
    "wide": (300, 2100),
    "many classes": (4000, 40),
}
# What newcomers meet first is compiled first.
_WORK = [
    *(("dense", *call) for call in (*_FITS, *_DENSE_ONLY, *_FILTERS)),
    *(("sparse", *call) for call in _FITS),
    *(("complex", *call) for call in _FILTERS),
    *(("single", *call) for call in _FITS[:6]),
    ("small", adaline.separability, None, "X far"),  # little work has kernels of its own
    ("small", adaline.LogisticRegression, (), "X k"),
    ("32 columns", adaline.max_margin, None, "X far"),
    ("many columns", adaline.LogisticRegression, (), "X t"),
    *(("wide", *call) for call in _LARGE),
    ("wide", adaline.Ridge, (1.0,), "X y"),
    ("wide", _wide_text, None, "X t"),
    ("many classes", adaline.LogisticRegression, (), "X k"),
    ("dense", adaline.LeastSquares, (), "X many"),
]


def warm_up(
    *,
    processes: Annotated[Whole, Parameter(alias="-j")] = 2,
    common: Common | None = None,
) -> int:
    """Compile everything for this processor now, so that no first call has to wait.

    For containers and class rooms: compiled code is kept in the user's cache directory, or where
    the variable ADALINE_CACHE_DIR says. Code that is there already is not compiled again.

    Parameters
    ----------
    processes
        How many processes compile side by side.
    """
    if processes < 1:
        raise Usage(f"--processes {processes}: expected 1 or more.")
    out, began, complaints = Out(common), time.monotonic(), []
    bar = _Bar(out, len(_WORK))
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        futures = {pool.submit(_compile, *one): one[1].__name__ for one in _WORK}
        for future in as_completed(futures):
            complaints += future.result()
            bar.advance(futures[future])
    bar.clear()
    seconds = time.monotonic() - began
    out.json({"calls": len(_WORK), "seconds": seconds, "kept": not complaints})
    if complaints:
        out.warn(complaints[0])
        return NEGATIVE
    out.verdict(f"Ready: everything is compiled and kept ({seconds:.0f} s).")
    return OK


def _compile(kind: str, call: Any, settings: tuple[Any, ...] | None, inputs: str) -> list[str]:
    """Make one call; returns why its machine code could not be kept."""
    os.environ["ADALINE_COMPILE"] = "always"  # also what Python would do as quickly on small data
    heard: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: heard.append(record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("adaline")
    log.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = _data(kind)
            if settings is not None:  # a learner or a filter, not a function
                made = call(*settings)
                call = made.fit if hasattr(made, "fit") else made.process
            call(*(data[one] for one in inputs.split()))
    finally:
        log.removeHandler(handler)
    return heard


def _data(kind: str) -> dict[str, Any]:
    """Rows X with targets, classes and counts; a signal x and what is desired of it."""
    import numpy as np

    rng = np.random.default_rng(0)
    shape = _SHAPES.get(kind, (2000, 5))  # on fewer rows numpy does some of the work
    X = rng.standard_normal(shape)
    y = X[:, :5] @ [1.0, -2.0, 0.5, 0.0, 3.0] + rng.standard_normal(len(X))
    x = rng.standard_normal(3000)
    cuts = np.arange(-5.0, 6.0, 2.0) if kind == "many classes" else [-2.0, 2.0]
    classes = {"t": y > 0, "k": np.digitize(y, cuts), "far": X[:, 0] > 0}
    rows: Any = X
    if kind == "sparse":
        from scipy import sparse

        rows = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    elif kind == "single":
        rows = X.astype(np.float32)
    elif kind == "complex":
        x = x + 1j * x[::-1]
    counts = np.abs(y).round()
    many = y[:, None] + rng.standard_normal((len(y), 80))  # more targets than are taken one by one
    return {
        "X": rows,
        "y": y,
        "many": many,
        "counts": counts,
        "positive": counts + 1.0,
        "x": x,
        "d": np.roll(x, 1),
        **classes,
    }


class _Bar:
    """A line on stderr that is rewritten, for people at a terminal."""

    def __init__(self, out: Out, whole: int, stream: Any = None) -> None:
        self.stream, self.whole, self.done = stream or sys.stderr, whole, 0
        self.on = out.at_length and self.stream.isatty()

    def advance(self, name: str) -> None:
        """One more is done."""
        self.done += 1
        if self.on:
            filled = 30 * self.done // self.whole
            bar = "#" * filled + "." * (30 - filled)
            text = f"compiling [{bar}] {self.done} of {self.whole}  {name}"
            self.stream.write("\r" + text.ljust(79))
            self.stream.flush()

    def clear(self) -> None:
        """Leave nothing behind."""
        if self.on:
            self.stream.write("\r" + " " * 79 + "\r")
            self.stream.flush()

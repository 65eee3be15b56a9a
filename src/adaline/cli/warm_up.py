"""`adaline warm-up`: compile everything now, so that nobody waits for it later."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Annotated, Any

from cyclopts import Parameter

import adaline
from adaline.cli.printing.errors import NEGATIVE, OK, Usage
from adaline.cli.printing.printer import Common, Out, Whole

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
    (adaline.RLS, (8,), "x d"),
    (adaline.NLMS, (8,), "x d"),
    (adaline.LMS, (8,), "x d"),
    (adaline.AffineProjection, (8,), "x d"),
    (adaline.BlockLMS, (64,), "x d"),
    (adaline.FilteredXLMS, (8, [0.5, 0.2]), "x d"),
]
# What newcomers meet first is compiled first.
_WORK = [
    *(("dense", *call) for call in (*_FITS, *_DENSE_ONLY, *_FILTERS)),
    *(("sparse", *call) for call in _FITS),
    *(("complex", *call) for call in _FILTERS[:4]),
    *(("single", *call) for call in _FITS[:6]),
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
    X = rng.standard_normal((2000, 5))  # on fewer rows numpy does some of the work
    y = X @ [1.0, -2.0, 0.5, 0.0, 3.0] + rng.standard_normal(2000)
    x = rng.standard_normal(3000)
    classes = {"t": y > 0, "k": np.digitize(y, [-2.0, 2.0]), "far": X[:, 0] > 0}
    rows: Any = X
    if kind == "sparse":
        from scipy import sparse

        rows = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    elif kind == "single":
        rows = X.astype(np.float32)
    elif kind == "complex":
        x = x + 1j * x[::-1]
    counts = np.abs(y).round()
    return {"X": rows, "y": y, "counts": counts, "x": x, "d": np.roll(x, 1), **classes}


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

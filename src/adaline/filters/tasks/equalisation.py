"""Equalise a channel: undo what it did to the symbols that were sent."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.filters._base import Filter
from adaline.filters._settings import whole
from adaline.filters._signals import Signal, line, lines
from adaline.filters.tasks.filters import given_or_usual, usual_taps
from adaline.filters.tasks.results import TaskResult, ratio


def equalise(
    received: Any,
    training: Any,
    taps: int | None = None,
    delay: int | None = None,
    alphabet: Any = None,
    filter: Filter | None = None,
) -> TaskResult:
    """Equalise a channel: learn from known symbols, then from the filter's own decisions.

    Parameters
    ----------
    received : array-like of shape (N,) or (N, antennas)
        What came out of the channel: x.
    training : array-like of shape (K,), K at most N - delay
        The first symbols that were sent; d(n) = training[n - delay].
    taps : int, optional
        16 where no filter is given.
    delay : int, optional
        Samples by which the answer may lag, so that echoes before the strongest one can be undone
        too; half of the taps if not given.
    alphabet : array-like, optional
        The symbols there are. With it, learning goes on after the training: d(n) is then the symbol
        nearest to y(n). Without it the filter stays as the training left it.
    filter : Filter, optional
        RLS up to 64 weights, else NLMS.

    Returns
    -------
    TaskResult
        `signal` has N - delay values, estimates of the symbols in the order they were sent; e is
        NaN where nothing was desired. `error_db`: power of the error over that of the training;
        `symbol_errors`, with an alphabet: share of wrong decisions, both in the second half of
        the training.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import equalise
    >>> sent = np.random.default_rng(0).choice([-1.0, 1.0], 2000)
    >>> received = np.convolve(sent, [0.3, 1.0, 0.3])[:2000]
    >>> found = equalise(received, sent[:300], taps=11, alphabet=[-1, 1])
    >>> bool((np.sign(found.signal) == sent[: len(found.signal)])[300:].all())
    True
    """
    came, known = lines(received, "received"), line(training, "training")
    chosen = given_or_usual(
        filter, usual_taps(taps, filter, 16), came.shape[1], eta=0.5, forgetting=0.995
    )
    delay = chosen.taps // 2 if delay is None else whole(delay, "delay", 0)
    if len(known) + delay > len(came):
        raise ValueError(
            f"training has {len(known)} symbols and received has {len(came)} samples; with a delay "
            f"of {delay} they hold at most {max(0, len(came) - delay)}. Cut the training."
        )
    symbols = None if alphabet is None else line(alphabet, "alphabet")
    kind = np.result_type(came, known, *([] if symbols is None else [symbols]))
    came, stop = came.astype(kind), delay + len(known)
    y, e = np.empty(len(came), kind), np.full(len(came), np.nan, kind)
    adapting = chosen.adapting
    try:
        chosen.adapting = False
        y[:delay], _ = chosen.process(came[:delay], np.zeros(delay, kind))
        chosen.adapting = adapting
        y[delay:stop], e[delay:stop] = chosen.process(came[delay:stop], known.astype(kind))
        if symbols is not None:
            y[stop:], e[stop:] = _by_decisions(chosen, came, stop, symbols)
        else:
            chosen.adapting = False
            y[stop:], _ = chosen.process(came[stop:], np.zeros(len(came) - stop, kind))
    finally:
        chosen.adapting = adapting
    half = slice(delay + len(known) // 2, stop)
    measures = {"error_db": -ratio(known[len(known) // 2 :], e[half])}
    if symbols is not None:
        wrong = _nearest(symbols, y[half]) != _nearest(symbols, known[len(known) // 2 :])
        measures["symbol_errors"] = float(np.mean(wrong))
    return TaskResult(y[delay:], chosen, y, e, measures)


def _nearest(alphabet: Signal, values: Signal) -> Signal:
    """For each value the symbol that is nearest."""
    return np.asarray(alphabet[np.argmin(np.abs(values[:, None] - alphabet), axis=1)])


def _by_decisions(filter: Filter, x: Signal, start: int, alphabet: Signal) -> tuple[Signal, Signal]:
    """y and e from `start` on, where the symbol nearest to y is what is desired."""
    padded = np.concatenate([np.zeros((filter.taps, x.shape[1]), x.dtype), x])
    y, e = np.empty(len(x) - start, x.dtype), np.empty(len(x) - start, x.dtype)
    for n in range(start, len(x)):
        window = padded[n + 1 : n + 1 + filter.taps][::-1].T
        guess = np.vdot(filter.weights, window)
        y[n - start], e[n - start] = filter.step(x[n], _nearest(alphabet, guess[None])[0])
    return y, e

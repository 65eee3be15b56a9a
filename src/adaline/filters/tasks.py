"""Uses of filters by name: each task says which signal is x, which is d, and which the result.

x is what is filtered, d what is wanted, y = w^H x the output and e = d - y the error:

    task            x                    d                     result
    identify        system's input       system's output       weights, the system's response
    cancel          noise reference      signal + noise        e, the signal
    predict         x, delayed           x                     y, what x will be
    enhance_line    x, delayed           x                     y, the periodic part of x
    equalise        received             sent, delayed         y, what was sent
    cancel_echo     far end              microphone            e, the near end

`cancelling` has the tasks `cancel` and `cancel_echo`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adaline.filters.filter import Filter
from adaline.filters.nlms import NLMS
from adaline.filters.rls import RLS
from adaline.filters.signals import (
    Signal,
    line,
    lines,
    ratio_db,
    require_memory,
    require_same_length,
    squares,
)
from adaline.parameters import count, shown
from adaline.results import Result

LONGEST_REPR = 120  # letters of a filter: the weights of a fixed one are left out
WEIGHTS_FOR_RLS = 64  # up to so many RLS is affordable, and learns fastest


@dataclass(frozen=True, eq=False)
class TaskResult(Result):
    """The result of a task, and the filter to continue with.

    Attributes
    ----------
    signal : ndarray
        The result; the docstring of the task says which signal it is.
    filter : Filter
        As the last sample left it: `filter.process(x, d)` continues in real time.
    y, e : ndarray
        Output and error, e = d - y.
    measures : mapping of str to float
        Numbers over the second half of the samples, when the filter has converged.
    delay : int
        Samples by which `cancel_echo` and `cancel` delayed x before the filter, negative where they
        advanced it: `filter.process(x[n - delay], d[n])` continues. 0 elsewhere.
    """

    signal: Signal
    filter: Filter
    y: Signal
    e: Signal
    measures: Mapping[str, float] = field(default_factory=dict)
    delay: int = 0

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in self.measures.items())
        delay = f", delay {self.delay}" * bool(self.delay)
        return f"{len(self.signal)} values by {self._filter()}{delay}: {numbers}"

    def _filter(self) -> str:
        text = " ".join(repr(self.filter).split())
        return (
            text
            if len(text) <= LONGEST_REPR
            else f"{type(self.filter).__name__}({self.filter.taps})"
        )


def power(signal: Signal) -> float:
    """Mean of |value|^2 over the second half."""
    return float(np.mean(squares(signal[len(signal) // 2 :])))


def gain(before: Signal, after: Signal) -> float:
    """The power of one signal over that of the other, in dB, over the second half."""
    half = len(before) // 2
    return ratio(before[half:], after[half:])


def ratio(before: Signal, after: Signal) -> float:
    """The same over all samples."""
    return float(ratio_db(squares(before).sum(), squares(after).sum()))


def checked_pair(x: Any, x_name: str, d: Any, d_name: str) -> tuple[Signal, Signal]:
    """x (N, channels) and d (N,), finite and of equal length."""
    reference, desired = lines(x, x_name), line(d, d_name)
    require_same_length(reference, x_name, desired, d_name)
    return reference, desired


def usual_taps(taps: int | None, filter: Filter | None, usual: int) -> int | None:
    """The length that a task takes where neither taps nor a filter are given."""
    return usual if taps is None and filter is None else taps


def given_or_usual(
    filter: Filter | None, taps: int | None, channels: int, eta: float, forgetting: float = 0.999
) -> Filter:
    """The filter that was given, or a good one."""
    if filter is None:
        if taps is None:
            raise ValueError("taps is missing; say how long the filter is, or give a filter.")
        taps = count()("taps", taps)
        return RLS(taps, forgetting) if channels * taps <= WEIGHTS_FOR_RLS else NLMS(taps, eta)
    if not isinstance(filter, Filter):
        raise TypeError(
            f"filter is {shown(filter)}; expected a filter object, such as NLMS(taps=64)."
        )
    if taps is not None and taps != filter.taps:
        raise ValueError(f"taps is {shown(taps)} and the filter has {filter.taps}; leave taps out.")
    return filter


def identify(x: Any, d: Any, taps: int | None = None, filter: Filter | None = None) -> TaskResult:
    """Learn the impulse response of a system from its input x and output d.

    Parameters
    ----------
    x : array-like of shape (N,) or (N, inputs)
    d : array-like of shape (N,)
    taps : int, optional
        Length of the response; needed where no filter is given.
    filter : Filter, optional
        Any filter; it continues from its weights. If not given, RLS without forgetting up to 64
        weights, else NLMS.

    Returns
    -------
    TaskResult
        `signal` is the response (taps,) or (inputs, taps): conj(weights), as y = w^H x.
        `explained_db`: the power of d over that of the error.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import identify
    >>> x = np.random.default_rng(0).standard_normal(500)
    >>> found = identify(x, np.convolve(x, [1.0, 0.5, -0.3])[:500], taps=3)
    >>> found.signal.round(3)
    array([ 1. ,  0.5, -0.3])
    """
    reference, desired = checked_pair(x, "x", d, "d")
    chosen = given_or_usual(filter, taps, reference.shape[1], eta=0.5, forgetting=1.0)
    y, e = chosen.process(reference, desired)
    measures = {"explained_db": gain(desired, e), "error_power": power(e)}
    return TaskResult(chosen.weights.conj(), chosen, y, e, measures)


def predict(
    x: Any, ahead: int = 1, taps: int | None = None, filter: Filter | None = None
) -> TaskResult:
    """Predict a signal from its own past, `ahead` samples before they come.

    Parameters
    ----------
    x : array-like of shape (N,)
    ahead : int, default=1
    taps : int, optional
        16 where no filter is given.
    filter : Filter, optional
        RLS up to 64 taps, else NLMS.

    Returns
    -------
    TaskResult
        `signal` has N + ahead values: signal[n] predicts x[n] from samples up to n - ahead. The
        weights it is made with have learned from samples up to n - 1, or all N for the last
        `ahead` values, which tell of samples that have not come. `gain_db`: the power of x over
        that of the prediction's error. The filter continues with `process(x[n - ahead], x[n])`.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import predict
    >>> x = np.sin(0.2 * np.arange(1000))
    >>> future = predict(x, ahead=5, taps=4).signal[-5:]
    >>> bool(np.abs(future - np.sin(0.2 * np.arange(1000, 1005))).max() < 1e-3)
    True
    """
    signal, ahead = line(x, "x"), count()("ahead", ahead)
    require_memory({"ahead": ahead}, 4 * ahead)
    chosen = given_or_usual(filter, usual_taps(taps, filter, 16), 1, eta=0.5)
    past = np.concatenate([np.zeros(ahead, signal.dtype), signal])
    y, e = chosen.process(past[: len(signal)], signal)
    twin = type(chosen).from_state(chosen.state())
    twin.adapting = False
    to_come, _ = twin.process(past[len(signal) :])
    told = np.concatenate([y, to_come])
    return TaskResult(told, chosen, y, e, {"gain_db": gain(signal, e)})


def enhance_line(
    x: Any, delay: int = 1, taps: int | None = None, filter: Filter | None = None
) -> TaskResult:
    """Adaptive line enhancer: keep the part of x that samples `delay` or more ago predict.

    Periodic parts stay correlated with their past. Noise does not, if the delay is longer than its
    correlation; for white noise a delay of 1 is enough.

    Parameters
    ----------
    x : array-like of shape (N,)
    delay : int, default=1
    taps : int, optional
        64 where no filter is given; more separate closer lines.
    filter : Filter, optional
        RLS up to 64 taps, else NLMS with a small step.

    Returns
    -------
    TaskResult
        `signal` is y, the periodic part; e is the rest. `line_share`: power of y over that of x.
        The filter continues with `process(x[n - delay], x[n])`.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import enhance_line
    >>> tone = np.sin(0.4 * np.arange(5000))
    >>> noisy = tone + np.random.default_rng(0).standard_normal(5000)
    >>> y = enhance_line(noisy, delay=1, taps=64).signal
    >>> bool(np.mean((y - tone)[2500:] ** 2) < 0.1)
    True
    """
    signal, delay = line(x, "x"), count()("delay", delay)
    require_memory({"delay": delay}, 4 * delay)
    chosen = given_or_usual(filter, usual_taps(taps, filter, 64), 1, eta=0.02)
    past = np.concatenate([np.zeros(delay, signal.dtype), signal])[: len(signal)]
    y, e = chosen.process(past, signal)
    all_of_it = power(signal)
    share = power(y) / all_of_it if all_of_it else np.nan
    return TaskResult(y, chosen, y, e, {"line_share": share})


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
    delay = chosen.taps // 2 if delay is None else count(0)("delay", delay)
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

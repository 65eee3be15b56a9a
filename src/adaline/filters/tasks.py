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
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adaline.filters import signals
from adaline.filters.filter import Filter
from adaline.filters.lms import NLMS
from adaline.filters.rls import RLS
from adaline.filters.signals import Signal
from adaline.parameters import count, shown
from adaline.results import Result

MAX_RLS_WEIGHTS = 64  # up to so many RLS is affordable for any signal, and learns fastest


@dataclass(frozen=True, eq=False)
class TaskResult(Result):
    """The result of a task, and the filter to continue with.

    Attributes
    ----------
    delay : int
        Samples by which `cancel_echo` and `cancel` delayed x before the filter, negative where they
        advanced it: `filter.process(x[n - delay], d[n])` continues. 0 elsewhere.
    """

    signal: Signal  #: The result; the docstring of the task says which signal it is.
    filter: Filter  #: As the last sample left it: `filter.process(x, d)` continues in real time.
    y: Signal  #: The output.
    e: Signal  #: The error, d - y.
    #: Numbers over the second half of the samples, when the filter has converged.
    measures: Mapping[str, float] = field(default_factory=dict)
    delay: int = 0

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in self.measures.items())
        delay = f", delay {self.delay}" * bool(self.delay)
        filter = f"{type(self.filter).__name__}({self.filter.taps})"
        return f"{len(self.signal)} values by {filter}{delay}: {numbers}"


def mean_power(signal: Signal) -> float:
    """Mean of |value|^2 over the second half, when the filter has converged."""
    return float(np.mean(signals.squares(signal[len(signal) // 2 :])))


def gain_db(before: Signal, after: Signal) -> float:
    """The power of one signal over that of the other, in dB, over the second half."""
    return float(signals.ratio_db(mean_power(before), mean_power(after)))


def choose_filter(
    filter: Filter | None,
    taps: int | None,
    usual_taps: int | None,
    channels: int = 1,
    eta: float = 0.5,
    forgetting: float = 0.999,
) -> Filter:
    """The filter that was given; or else RLS for few weights, NLMS with step eta for many."""
    if filter is None:
        taps = usual_taps if taps is None else count()("taps", taps)
        if taps is None:
            raise ValueError("taps is missing; say how long the filter is, or give a filter.")
        return RLS(taps, forgetting) if channels * taps <= MAX_RLS_WEIGHTS else NLMS(taps, eta)
    if not isinstance(filter, Filter):
        raise TypeError(f"filter is {shown(filter)}; expected a filter, such as NLMS(taps=64).")
    if taps is not None and taps != filter.taps:
        raise ValueError(f"taps is {shown(taps)} and the filter has {filter.taps}; leave taps out.")
    return filter


def identify(x: Any, d: Any, taps: int | None = None, filter: Filter | None = None) -> TaskResult:
    """Learn the impulse response of a system from its input x and output d.

    Parameters
    ----------
    x, d : array-like of shape (N,) or (N, inputs), and (N,)
    taps, filter : int, and Filter, optional
        Length of the response, or a filter; by default RLS without forgetting up to 64 weights,
        else NLMS.

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
    >>> identify(x, np.convolve(x, [1.0, 0.5, -0.3])[:500], taps=3).signal.round(3)
    array([ 1. ,  0.5, -0.3])
    """
    reference, desired = signals.as_pair(x, "x", d, "d")
    chosen = choose_filter(filter, taps, None, reference.shape[1], forgetting=1.0)
    y, e = chosen.process(reference, desired)
    measures = {"explained_db": gain_db(desired, e), "error_power": mean_power(e)}
    return TaskResult(chosen.weights.conj(), chosen, y, e, measures)


def predict(
    x: Any, ahead: int = 1, taps: int | None = None, filter: Filter | None = None
) -> TaskResult:
    """Predict a signal from its own past, `ahead` samples before they come.

    Parameters
    ----------
    x : array-like of shape (N,)
    ahead : int, default=1
    taps, filter : int, and Filter, optional
        By default 16 taps; RLS up to 64 taps, else NLMS.

    Returns
    -------
    TaskResult
        `signal` has N + ahead values: signal[n] predicts x[n] from samples up to n - ahead, by
        weights that have learned from samples up to n - 1. `gain_db`: the power of x over that of
        the prediction's error. The filter continues with `process(x[n - ahead], x[n])`.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import predict
    >>> x = np.sin(0.2 * np.arange(1000))
    >>> future = predict(x, ahead=5, taps=4).signal[-5:]
    >>> bool(np.abs(future - np.sin(0.2 * np.arange(1000, 1005))).max() < 1e-3)
    True
    """
    signal, ahead = signals.as_line(x, "x"), count()("ahead", ahead)
    signals.require_memory({"ahead": ahead}, 4 * ahead)
    chosen = choose_filter(filter, taps, 16)
    y, e = chosen.process(signals.shifted(signal, ahead), signal)
    fixed = deepcopy(chosen)
    fixed.adapting = False
    # The last samples, or where the signal is shorter than `ahead`, zeros and the signal.
    past = np.concatenate([np.zeros(ahead, signal.dtype), signal])
    beyond, _ = fixed.process(past[len(signal) :])
    return TaskResult(np.append(y, beyond), chosen, y, e, {"gain_db": gain_db(signal, e)})


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
    taps, filter : int, and Filter, optional
        By default 64 taps (more separate closer lines); RLS up to 64 taps, else NLMS with a small
        step.

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
    signal, delay = signals.as_line(x, "x"), count()("delay", delay)
    chosen = choose_filter(filter, taps, 64, eta=0.02)
    y, e = chosen.process(signals.shifted(signal, delay), signal)
    power = mean_power(signal)
    return TaskResult(y, chosen, y, e, {"line_share": mean_power(y) / power if power else np.nan})


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
    taps, filter : int, and Filter, optional
        By default 16 taps; RLS up to 64 weights, else NLMS.
    delay : int, optional
        Samples by which the answer may lag, so that echoes before the strongest one can be undone
        too; half of the taps if not given.
    alphabet : array-like, optional
        The symbols. With them, learning goes on after the training, from the symbol nearest to
        y(n); without, the filter stays as the training left it.

    Returns
    -------
    TaskResult
        `signal` has N - delay values, estimates of the symbols as sent; e is NaN where nothing was
        desired. In the second half of the training: `error_db`, power of the error over that of the
        symbols, and with an alphabet `symbol_errors`, the share of wrong decisions.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import equalise
    >>> sent = np.random.default_rng(0).choice([-1.0, 1.0], 2000)
    >>> received = np.convolve(sent, [0.3, 1.0, 0.3])[:2000]
    >>> result = equalise(received, sent[:300], taps=11, alphabet=[-1, 1])
    >>> bool((np.sign(result.signal) == sent[: len(result.signal)])[300:].all())
    True
    """
    x, known = signals.as_lines(received, "received"), signals.as_line(training, "training")
    symbols = known[:0] if alphabet is None else signals.as_line(alphabet, "alphabet")
    chosen = choose_filter(filter, taps, 16, x.shape[1], forgetting=0.995)
    delay = chosen.taps // 2 if delay is None else count(0)("delay", delay)
    stop = delay + len(known)
    if stop > len(x):
        raise ValueError(
            f"training has {len(known)} symbols, but with a delay of {delay} the {len(x)} samples "
            f"of received hold at most {max(0, len(x) - delay)}. Cut the training."
        )
    x = x.astype(np.result_type(x, known, symbols))
    known = known.astype(x.dtype)
    e, adapting = np.full(len(x), np.nan, x.dtype), chosen.adapting
    try:
        chosen.adapting = False
        before, _ = chosen.process(x[:delay])
        chosen.adapting = adapting
        y, e[delay:stop] = chosen.process(x[delay:stop], known)
        outputs = [before, y]
        if len(symbols):
            padded = np.concatenate([np.zeros((chosen.taps - 1, x.shape[1]), x.dtype), x])
            for n in range(stop, len(x)):
                output = np.vdot(chosen.weights, padded[n : n + chosen.taps][::-1].T)
                y, e[n : n + 1] = chosen.process(x[n : n + 1], _nearest(symbols, output[None]))
                outputs.append(y)
        else:
            chosen.adapting = False
            outputs.append(chosen.process(x[stop:])[0])
    finally:
        chosen.adapting = adapting
    y = np.concatenate(outputs)
    measures = {"error_db": -gain_db(known, e[delay:stop])}
    if len(symbols):
        wrong = _nearest(symbols, y[delay:stop]) != _nearest(symbols, known)
        measures["symbol_errors"] = float(np.mean(wrong[len(wrong) // 2 :]))
    return TaskResult(y[delay:], chosen, y, e, measures)


def _nearest(symbols: Signal, values: Signal) -> Signal:
    """For each value the symbol that is nearest."""
    return np.asarray(symbols[np.argmin(np.abs(values[:, None] - symbols), axis=1)])

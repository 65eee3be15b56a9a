"""Uses of filters by name: each task says which signal is x, which is d, and which the result.

x is what is filtered, d what is wanted, y = w^H x the output and e = d - y the error:

    task            x                    d                     result
    identify        system's input       system's output       weights, the system's response
    cancel          noise reference      signal + noise        e, the signal
    predict         x, delayed           x                     y, what x will be
    enhance_line    x, delayed           x                     y, the periodic part of x
    equalise        received             sent, delayed         y, what was sent
    cancel_echo     far end              microphone            e, the near end
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adaline.filters._base import Filter
from adaline.filters._echo import bulk_delay, two_paths
from adaline.filters._settings import fits, one_of, shown, whole
from adaline.filters._signals import Signal, line, lines, same_length, squares
from adaline.filters._task_results import (
    TaskResult,
    by_decisions,
    gain,
    nearest,
    power,
    ratio,
)
from adaline.filters.nlms import NLMS
from adaline.filters.noise import ALGORITHMS, noise_filter, noise_reduction
from adaline.filters.rls import RLS

MOST_PASSES = 100
SMALL = 64  # up to so many weights RLS is affordable, and learns fastest
WORSE = (
    "More noise was added than removed by {}: it followed the signal that is to stay, or the path "
    "of the noise changed faster than it learns. Leave the filter out, and cancel() chooses one; "
    "or take fewer taps, or another eta or forgetting."
)


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
    reference, desired = _pair(x, "x", d, "d")
    chosen = _filter(filter, taps, reference.shape[1], eta=0.5, forgetting=1.0)
    y, e = chosen.process(reference, desired)
    measures = {"explained_db": gain(desired, e), "error_power": power(e)}
    return TaskResult(chosen.weights.conj(), chosen, y, e, measures)


def cancel(
    primary: Any,
    reference: Any,
    taps: int | None = None,
    filter: Filter | None = None,
    *,
    algorithm: str = "auto",
    passes: int | None = None,
) -> TaskResult:
    """Remove from the primary signal all that a reference of the noise explains.

    The reference must not hold the signal itself, or that is removed too. A `UserWarning` tells
    where more noise was added than removed.

    Parameters
    ----------
    primary : array-like of shape (N,)
        Signal and noise: d.
    reference : array-like of shape (N,) or (N, sensors)
        What the noise comes from: x.
    taps : int, optional
        32 where no filter is given.
    filter : Filter, optional
        If not given, `noise_filter` chooses: RLS up to 512 weights, with a long memory, or a short
        one where the path of the noise changes; else BlockLMS.
    algorithm : {"auto", "rls", "block", "nlms", "affine", "lms"}, default="auto"
        As in `noise_filter`, where no filter is given.
    passes : int, optional
        How often (at most 100) the filter goes over the samples; the last pass is answered. 2
        where no filter is given, so that the beginning is clean too, and 1 for a filter of yours.
        With 1 the result is that of a filter in real time.

    Returns
    -------
    TaskResult
        `signal` is e, the signal. `removed_db`: the power of the primary over that of e.
        `noise_reduction_db`: an estimate of the gain in signal-to-noise ratio, NaN where it cannot
        be told (see `noise_reduction`).

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import cancel
    >>> n = np.arange(4000)
    >>> tone, hum = np.sin(0.05 * n), np.sin(0.3 * n)
    >>> clean = cancel(tone + 3 * np.sin(0.3 * n - 1), hum, taps=2).signal
    >>> bool(np.abs(clean - tone)[-500:].max() < 0.1)
    True
    """
    noise, desired = _pair(reference, "reference", primary, "primary")
    rounds = (
        (2 if filter is None else 1) if passes is None else whole(passes, "passes", 1, MOST_PASSES)
    )
    one_of("algorithm", algorithm, ALGORITHMS)
    if filter is not None and algorithm != "auto":
        raise ValueError(f"algorithm is {shown(algorithm)} and a filter is given; leave one out.")
    taps = _taps(taps, filter, 32)
    settings: dict[str, Any] = {"channels": noise.shape[1], "level": _level(noise)}
    if filter is None:
        assert taps is not None
        chosen = noise_filter(taps, algorithm, **settings, heard=(noise, desired))
    else:
        chosen = _filter(filter, taps, noise.shape[1], eta=0.05)
    for k in range(rounds):
        if k and filter is None:
            chosen = noise_filter(chosen.taps, algorithm, **settings, after=chosen)
        y, e = chosen.process(noise, desired)
    half = len(e) // 2
    found = noise_reduction(desired[half:], noise[half:], e[half:], chosen.taps)
    if found.worse:
        warnings.warn(WORSE.format(type(chosen).__name__), UserWarning, stacklevel=2)
    measures = {"removed_db": gain(desired, e), "noise_reduction_db": found.db}
    return TaskResult(e, chosen, y, e, measures)


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
    signal, ahead = line(x, "x"), whole(ahead, "ahead", 1)
    fits("ahead", ahead, 4 * ahead)
    chosen = _filter(filter, _taps(taps, filter, 16), 1, eta=0.5)
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
    signal, delay = line(x, "x"), whole(delay, "delay", 1)
    fits("delay", delay, 4 * delay)
    chosen = _filter(filter, _taps(taps, filter, 64), 1, eta=0.02)
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
    chosen = _filter(filter, _taps(taps, filter, 16), came.shape[1], eta=0.5, forgetting=0.995)
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
            y[stop:], e[stop:] = by_decisions(chosen, came, stop, symbols)
        else:
            chosen.adapting = False
            y[stop:], _ = chosen.process(came[stop:], np.zeros(len(came) - stop, kind))
    finally:
        chosen.adapting = adapting
    half = slice(delay + len(known) // 2, stop)
    measures = {"error_db": -ratio(known[len(known) // 2 :], e[half])}
    if symbols is not None:
        wrong = nearest(symbols, y[half]) != nearest(symbols, known[len(known) // 2 :])
        measures["symbol_errors"] = float(np.mean(wrong))
    return TaskResult(y[delay:], chosen, y, e, measures)


def cancel_echo(
    microphone: Any,
    far_end: Any,
    taps: int | None = None,
    filter: Filter | None = None,
    *,
    delay: int | None = None,
) -> TaskResult:
    """Remove from the microphone the echo of what the loudspeaker played.

    Two filters work side by side, so that a near end that talks does little harm: one learns all
    the time, the other answers. Only where the learning one leaves clearly less of the microphone's
    signal are its weights handed over.

    Parameters
    ----------
    microphone : array-like of shape (N,)
        Near end and echo: d.
    far_end : array-like of shape (N,) or (N, loudspeakers)
        What was played: x.
    taps : int, optional
        Length of the echo in samples; 1024 where no filter is given.
    filter : Filter, optional
        If not given, BlockLMS and a second filter, as said above. A filter of yours works alone,
        learns from double talk too, and sees x without a delay if you give none.
    delay : int, optional
        Samples between the sound in x and the first of it in d, by which x is delayed, so that the
        taps need not cover them. If not given, it is estimated (at most 16,384).

    Returns
    -------
    TaskResult
        `signal` is e, the near end. `erle_db`: echo return loss enhancement, which means something
        while only the far end talks. `delay` is the delay that was taken. `filter` has the weights
        that were trusted last; alone it does not detect double talk.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import cancel_echo
    >>> far = np.random.default_rng(0).standard_normal(8000)
    >>> echo = np.convolve(far, 0.9 ** np.arange(50))[:8000]
    >>> cancel_echo(echo, far, taps=100).measures["erle_db"] > 60
    True
    """
    played, desired = _pair(far_end, "far_end", microphone, "microphone")
    taps = _taps(taps, filter, 1024)
    if delay is not None:
        delay = whole(delay, "delay", 0)
        fits("delay", delay, 4 * delay)
    if filter is None:
        assert taps is not None
        taps = whole(taps, "taps", 1)
        fits("taps", taps, 16 * played.shape[1] * taps)
        lag = bulk_delay(played, desired, taps) if delay is None else delay
        chosen: Filter
        chosen, y = two_paths(_delayed(played, lag), desired, taps)
        e = desired - y
    else:
        lag = delay or 0
        chosen = _filter(filter, taps, played.shape[1], eta=0.5)
        y, e = chosen.process(_delayed(played, lag), desired)
    return TaskResult(e, chosen, y, e, {"erle_db": gain(desired, e)}, lag)


def _delayed(x: Signal, samples: int) -> Signal:
    """x, that many samples later, and as long as before."""
    silence = np.zeros((min(samples, len(x)), x.shape[1]), x.dtype)
    return np.concatenate([silence, x])[: len(x)]


def _level(x: Signal) -> float:
    """Mean power, all channels together; 0 where it is no finite number."""
    with np.errstate(over="ignore", invalid="ignore"):
        level = float(squares(x).sum()) / len(x)
    return level if np.isfinite(level) else 0.0


def _pair(x: Any, x_name: str, d: Any, d_name: str) -> tuple[Signal, Signal]:
    reference, desired = lines(x, x_name), line(d, d_name)
    same_length(reference, x_name, desired, d_name)
    return reference, desired


def _taps(taps: int | None, filter: Filter | None, usual: int) -> int | None:
    return usual if taps is None and filter is None else taps


def _filter(
    filter: Filter | None,
    taps: int | None,
    channels: int,
    eta: float,
    forgetting: float = 0.999,
) -> Filter:
    """The filter that was given, or a good one."""
    if filter is None:
        if taps is None:
            raise ValueError("taps is missing; say how long the filter is, or give a filter.")
        taps = whole(taps, "taps", 1)
        return RLS(taps, forgetting) if channels * taps <= SMALL else NLMS(taps, eta)
    if not isinstance(filter, Filter):
        raise TypeError(
            f"filter is {shown(filter)}; expected a filter object, such as NLMS(taps=64)."
        )
    if taps is not None and taps != filter.taps:
        raise ValueError(f"taps is {shown(taps)} and the filter has {filter.taps}; leave taps out.")
    return filter

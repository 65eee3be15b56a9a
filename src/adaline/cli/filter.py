"""`adaline filter`: take out of a recording what a reference of the noise explains.

It calls `adaline.filters.cancel` for every channel.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter
from cyclopts.validators import Number
from scipy.io import wavfile

from adaline.cli.errors import UsageError
from adaline.cli.options import Common, Count
from adaline.cli.printing import Answer, Progress
from adaline.cli.tables import require_writable
from adaline.data import blocks
from adaline.data.outputs import open_output
from adaline.evaluation.words import name, number, plural
from adaline.filters import NoiseReduction, cancel, noise_filter
from adaline.filters.cancelling import reference_delay

COVERED = 0.99  # of the recording, at least, by the reference: the rest may be cut off


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class FilterOptions:
    """Options of `adaline filter`.

    Parameters
    ----------
    algorithm
        auto is rls, and block above 512 weights. rls is cleanest, and its work grows with taps
        squared; block suits thousands of taps; nlms, affine and lms are for comparison. wiener is
        the best fixed filter: the cleanest if the noise path does not change.
    taps
        Past samples of the reference to use: as many as the echo of the noise is long.
    eta
        The step size; for rls the forgetting factor. By default rls remembers 30,000 samples (or
        1,000 for each weight), or 1/20 of that if the noise path varies.
    delay
        Samples by which to delay the reference, negative to advance it; estimated by default.
    passes
        Passes over the recording; the last one is written. With 1 the beginning is as noisy as it
        would be live.
    """

    algorithm: Literal["auto", "rls", "block", "nlms", "affine", "lms", "wiener"] = "auto"
    taps: Count = 32
    eta: float | None = None
    delay: int | None = None
    passes: Annotated[Count, Parameter(validator=Number(gte=1, lte=100))] = 2


def filter(
    recording: str,
    /,
    *,
    reference: Annotated[str, Parameter(name=["--reference", "-r"])],
    out: Annotated[str, Parameter(name=["--out", "-o"])],
    options: FilterOptions | None = None,
    common: Common | None = None,
) -> int:
    """Remove noise from a recording (wav), given a reference of the noise alone.

    Subtracts everything that the reference explains. The reference must not contain the signal,
    or that is removed, too.

    Parameters
    ----------
    recording
        Signal and noise, a wav file; each channel is filtered by itself.
    reference
        The source of the noise, a wav file of the same rate; several channels are used together.
    out
        The file to write: 16 bits if the recording has 16 or 8, else floats.
    """
    answer, options = Answer("filter", common), options or FilterOptions()
    taps, algorithm, delay = options.taps, options.algorithm, options.delay
    require_writable(out, recording, reference)
    if not out.startswith("/dev/") and os.path.splitext(out)[1].lower() not in (".wav", ".wave"):
        raise UsageError(f"--out {out}: sound is written as wav only; give a name ending in .wav.")
    if algorithm == "wiener" and options.eta is not None:
        raise UsageError("--eta is for adaptive filters; --algorithm wiener has none.")
    (primary, d), (noise, x) = _read_wav(recording), _read_wav(reference)
    if primary.rate != noise.rate:
        raise ValueError(f"{recording} has {primary.rate} samples a second, not {noise.rate}.")
    n = min(len(d), len(x))
    lengths = f"{reference} has {number(len(x))} samples and {recording} {number(len(d))}"
    if n < COVERED * len(d):
        raise ValueError(f"{lengths}; the reference must last as long as the recording.")
    if len(x) != len(d):
        answer.warn(f"{name(lengths)}; the first {number(n)} were used.")
    d, x = d[:n], x[:n]
    if delay is None:
        delay = reference_delay(x, d[:, int(np.argmax(np.sum(d**2, axis=0)))], taps)
    e, results = np.empty_like(d), []
    with Progress(answer.common, d.size, "filtering") as progress, warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: answer.warn(str(message))
        for c, channel in enumerate(np.ascontiguousarray(d.T)):
            how: dict[str, Any] = {"taps": taps, "algorithm": algorithm}
            if options.eta is not None:
                how = {"filter": noise_filter(x, channel, **how, eta=options.eta)}
            results.append(cancel(channel, x, **how, delay=delay, passes=options.passes))
            e[:, c] = results[c].e
            progress((c + 1) * n)
    clipped, gain = _write_wav(out, primary, e), _decibels(d[n // 2 :], e[n // 2 :])
    change = f"{'rose' if gain < -0.05 else 'fell'} by {abs(gain):.1f} dB"
    answer.verdict(f"Wrote {out}: the power {change} (second half).")
    if clipped:
        answer.warn(f"{plural(clipped, 'sample', 'were')} beyond full scale and clipped.")
    if gain < 0.3 and not answer.warnings:
        answer.warn("little was removed: is it the reference of this noise? Or use more --taps.")
    if gain > 30.0:
        answer.warn("nearly all was removed: does the reference contain the signal itself?")
    for c, result in enumerate(results):
        keys = ("noise_reduction_db", "coherence_before", "coherence_after")
        db, before, after = (result.measures[key] for key in keys)
        of = f" of channel {c + 1}" if len(results) > 1 else ""
        answer.say(f"In the second half{of}, {NoiseReduction(db, False, before, after)}.")
    moved = f", reference {'delayed' if delay > 0 else 'advanced'} by {number(abs(delay))} samples"
    answer.say(f"Filter: {results[0].filter!r}{moved if delay else ''}.")
    facts = asdict(options) | {"delay": delay, "filter": repr(results[0].filter), "samples": n}
    facts |= {"channels": d.shape[1], "rate": primary.rate, "clipped": clipped, "out": out}
    facts |= results[0].measures
    return answer.finish(**facts | {"removed_db": _decibels(d, e), "removed_db_second_half": gain})


def _read_wav(path: str) -> tuple[Any, Any]:
    """A wav file, and its samples (n, channels) with a full scale of 1."""
    if path == "-":
        raise UsageError("sound is read from files; give the name of a wav file.")
    source: Any = blocks(path, format=".wav")
    if not source.rows:
        raise ValueError(f"{path}: there are no samples in it.")
    return source, np.concatenate([np.asarray(block.matrix) for block in source])


def _write_wav(path: str, like: Any, samples: Any) -> int:
    """Write samples as 16 bits if the recording has no more; how many were clipped."""
    clipped, data = 0, samples.astype("<f4")
    if like.content.dtype.kind != "f" and like.content.dtype.itemsize <= 2:
        scaled = np.rint(samples * 32768.0)
        data = np.clip(scaled, -32768, 32767).astype("<i2")
        clipped = int(np.count_nonzero(data != scaled))
    if data.nbytes > 2**32 - 2**10:  # the header has 32 bits for the size
        raise ValueError(f"{path}: a wav file holds at most 4 GB; cut the recording.")
    with open_output(path) as file:
        wavfile.write(file, like.rate, data if data.shape[1] > 1 else data[:, 0])
    return clipped


def _decibels(before: Any, after: Any) -> float:
    powers = float(np.sum(before**2)), float(np.sum(after**2))
    if powers[0] <= 0:
        return 0.0
    return float(10 * np.log10(powers[0] / powers[1])) if powers[1] > 0 else float("inf")

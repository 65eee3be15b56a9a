"""`adaline filter`: take out of a recording what a reference of the noise explains.

It calls `adaline.filters.cancel` for every channel.
"""

from __future__ import annotations

import os
import warnings
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter
from cyclopts.validators import Number
from scipy.io import wavfile

from adaline.cli.errors import UsageError
from adaline.cli.options import Common, Count, Whole, require_writable
from adaline.cli.printing import Answer, Progress
from adaline.data import blocks
from adaline.data.outputs import open_output
from adaline.evaluation.words import name, number, plural
from adaline.filters import NoiseReduction, cancel, noise_filter
from adaline.filters.cancelling import reference_delay
from adaline.filters.tasks import gain_db


def filter(
    recording: str,
    /,
    *,
    reference: Annotated[str, Parameter(name=["--reference", "-r"])],
    out: Annotated[str, Parameter(name=["--out", "-o"])],
    algorithm: Literal["auto", "rls", "block", "nlms", "affine", "lms", "wiener"] = "auto",
    taps: Count = 32,
    eta: float | None = None,
    delay: int | None = None,
    passes: Annotated[Whole, Parameter(validator=Number(gte=1, lte=100))] = 2,
    common: Common = Common(),
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
    answer = Answer("filter", common)
    require_writable(out, recording, reference)
    if not out.startswith("/dev/") and os.path.splitext(out)[1].lower() not in (".wav", ".wave"):
        raise UsageError(f"--out {out}: sound is written as wav only; give a name ending in .wav.")
    if algorithm == "wiener" and eta is not None:
        raise UsageError("--eta is for adaptive filters; --algorithm wiener has none.")
    (primary, d), (noise, x) = _read_wav(recording), _read_wav(reference)
    if primary.rate != noise.rate:
        raise ValueError(f"{recording} has {primary.rate} samples a second, not {noise.rate}.")
    n = min(len(d), len(x))
    lengths = f"{reference} has {number(len(x))} samples and {recording} {number(len(d))}"
    if n < 0.99 * len(d):  # the end of a recording may be cut off
        raise ValueError(f"{lengths}; the reference must last as long as the recording.")
    doubts = [f"{name(lengths)}; the first {number(n)} were used."] if len(x) != len(d) else []
    d, x = d[:n], x[:n]
    if delay is None:
        delay = reference_delay(x, d[:, int(np.argmax(np.sum(d**2, axis=0)))], taps)
    e, results = np.empty_like(d), []
    with Progress(common, d.size, "filtering") as progress, warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: doubts.append(str(message))
        for c, channel in enumerate(np.ascontiguousarray(d.T)):
            how: dict[str, Any] = {"taps": taps, "algorithm": algorithm}
            if eta is not None:
                how = {"filter": noise_filter(x, channel, **how, eta=eta)}
            results.append(cancel(channel, x, **how, delay=delay, passes=passes))
            e[:, c] = results[c].e
            progress((c + 1) * n)
    clipped, gain = _write_wav(out, primary, e), float(np.nan_to_num(gain_db(d, e), posinf=np.inf))
    change = f"{'rose' if gain < -0.05 else 'fell'} by {abs(gain):.1f} dB"
    answer.verdict(f"Wrote {out}: the power {change} (second half).")
    if clipped:
        doubts.append(f"{plural(clipped, 'sample', 'were')} beyond full scale and clipped.")
    if gain < 0.3 and not doubts:
        doubts.append("little was removed: is it the reference of this noise? Or use more --taps.")
    if gain > 30.0:
        doubts.append("nearly all was removed: does the reference contain the signal itself?")
    answer.warn(*doubts)
    for c, result in enumerate(results):
        keys = ("noise_reduction_db", "coherence_before", "coherence_after")
        db, before, after = (result.measures[key] for key in keys)
        of = f" of channel {c + 1}" if len(results) > 1 else ""
        answer.say(f"In the second half{of}, {NoiseReduction(db, False, before, after)}.")
    moved = f", reference {'delayed' if delay > 0 else 'advanced'} by {number(abs(delay))} samples"
    answer.say(f"Filter: {results[0].filter!r}{moved if delay else ''}.")
    facts: dict[str, Any] = {
        "algorithm": algorithm,
        "taps": taps,
        "eta": eta,
        "delay": delay,
        "passes": passes,
    }
    facts |= {"passes": passes, "filter": repr(results[0].filter), "samples": n}
    facts |= {"channels": d.shape[1], "rate": primary.rate, "clipped": clipped, "out": out}
    facts |= {"removed_db_second_half": gain}
    return answer.finish(**facts, **results[0].measures)


def _read_wav(path: str) -> tuple[Any, Any]:
    """A wav file, and its samples (n, channels) with a full scale of 1."""
    source: Any = blocks(path, format=".wav")
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

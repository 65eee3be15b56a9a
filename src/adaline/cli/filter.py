"""`adaline filter`: take out of a recording what a reference of the noise explains.

It filters as `adaline.filters.cancel` does, every channel by itself.
"""

from __future__ import annotations

import os
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
from adaline.filters import WienerFilter, noise_filter, noise_reduction
from adaline.filters.cancelling import reference_delay
from adaline.filters.signals import shifted

COVERED = 0.99  # of the recording, at least, by the reference: the rest may be cut off
MOST_BYTES = 2**32 - 2**10  # of samples in a wav file, whose header has 32 bits for the size


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
    passes: Annotated[Count, Parameter(validator=Number(gte=1, lte=100))] = 2,
    common: Common | None = None,
) -> int:
    """Take noise out of a recording (wav), given a reference of the noise alone.

    What the reference explains is subtracted, and what is left is written. The reference must
    not hold the signal that is to stay, or that is removed, too.

    Parameters
    ----------
    recording
        Signal and noise, a wav file; each channel is cleaned by itself.
    reference
        What the noise comes from, a wav file of the same rate; several channels are used together.
    out
        Where to write what is left: 16 bits where the recording has 16 or 8, else floats.
    algorithm
        auto takes rls, and block above 512 weights. rls cleans best, and its work grows with taps
        squared; block suits thousands of taps; nlms, affine and lms are for comparison. wiener is
        the best fixed filter: the cleanest where the path of the noise does not change.
    taps
        How many samples of the reference's past are used: as long as the echo of the noise.
    eta
        The step size; for rls the share of the past to keep. If not given, rls remembers 30,000
        samples (or 1,000 for each weight), or a twentieth of that if that does better.
    delay
        Samples by which to delay the reference, negative to advance it; estimated by default.
    passes
        How often the filter goes over the recording; the last pass is written. With 1 the beginning
        is as noisy as it would be live.
    """
    answer, (base, ending) = Answer("filter", common), os.path.splitext(out)
    require_writable(out, recording, reference)
    if ending.lower() not in (".wav", ".wave") and not out.startswith("/dev/"):
        raise UsageError(f"--out {out}: sound is written as wav only; name it {base}.wav.")
    if algorithm == "wiener" and eta is not None:
        raise UsageError("--eta is the step size of adaptive filters; --algorithm wiener has none.")
    passes = 1 if algorithm == "wiener" else passes
    (primary, d), (noise, x) = _read_wav(recording), _read_wav(reference)
    if primary.rate != noise.rate:
        raise ValueError(
            f"{recording} has {primary.rate} samples a second and {reference} {noise.rate}; bring "
            "both to one rate first."
        )
    n = min(len(d), len(x))
    lengths = f"{reference} has {number(len(x))} samples and {recording} {number(len(d))}"
    if n < COVERED * len(d):
        raise ValueError(f"{lengths}; the reference must last as long as the recording.")
    if len(x) != len(d):
        answer.warn(f"{name(lengths)}; the first {number(n)} were used.")
    d, x = d[:n], x[:n]
    if delay is None:
        delay = reference_delay(x, d[:, int(np.argmax(np.sum(d**2, axis=0)))], taps)
    x = shifted(x, delay)
    settings: dict[str, Any] = {"channels": x.shape[1], "level": float(np.sum(x**2)) / n}
    given = (taps, algorithm, eta)
    e, filters, reductions = np.empty_like(d), [], []
    with Progress(answer.common, d.size * passes, doing="filtering") as progress:
        for c, channel in enumerate(np.ascontiguousarray(d.T)):
            chosen = noise_filter(*given, **settings, heard=(x, channel), passes=passes)
            for k in range(passes):
                if k:
                    chosen = noise_filter(*given, **settings, after=chosen)
                e[:, c] = chosen.process(x, channel)[1]
                progress((c * passes + k + 1) * n)
            filters.append(chosen)
            reductions.append(noise_reduction(channel, x, e[:, c], taps, start=n // 2))
    clipped = _write_wav(out, primary, e)
    gains = [_decibels(d, e), _decibels(d[n // 2 :], e[n // 2 :])]
    words = [f"{'rose' if g < -0.05 else 'fell'} by {abs(g):.1f} dB" for g in gains]
    answer.verdict(f"Wrote {out}: the power {words[0]}, and in the second half {words[1]}.")
    made = " and ".join(dict.fromkeys(map(_describe_filter, filters)))
    moved = f", reference {'delayed' if delay > 0 else 'advanced'} by {number(abs(delay))} samples"
    answer.say(f"{made}, {plural(passes, 'pass')}{moved if delay else ''}.")
    for c, reduction in enumerate(reductions):
        of = f" of channel {c + 1}" if len(reductions) > 1 else ""
        answer.say(f"In the second half{of}, {reduction}.")
    if clipped:
        answer.warn(f"{plural(clipped, 'sample', 'were')} beyond full scale and cut off.")
    answer.warn(*_doubt(gains[1], reductions, taps))
    return answer.finish(
        algorithm=algorithm,
        filter=repr(filters[0]),
        taps=taps,
        passes=passes,
        samples=n,
        channels=d.shape[1],
        rate=primary.rate,
        removed_db=gains[0],
        removed_db_second_half=gains[1],
        noise_reduction_db=min((r.db for r in reductions if np.isfinite(r.db)), default=None),
        coherence_before=reductions[0].coherence_before,
        coherence_after=reductions[0].coherence_after,
        delay=delay,
        worse=any(r.worse for r in reductions),
        clipped=clipped,
        out=out,
    )


def _read_wav(path: str) -> tuple[Any, Any]:
    """A wav file, and its samples (n, channels) with a full scale of 1."""
    if path == "-":
        raise UsageError("sound is read from files; give the name of a wav file.")
    source: Any = blocks(path, format=".wav")
    if not source.rows:
        raise ValueError(f"{path}: there are no samples in it.")
    return source, np.concatenate([np.asarray(block.matrix) for block in source])


def _write_wav(path: str, like: Any, samples: Any) -> int:
    """Write samples as 16 bits where the recording has no more; how many were cut off."""
    clipped, data = 0, samples.astype("<f4")
    if like.matrix.dtype.kind != "f" and like.matrix.dtype.itemsize <= 2:
        scaled = np.rint(samples * 32768.0)
        clipped = int(np.count_nonzero((scaled > 32767) | (scaled < -32768)))
        data = np.clip(scaled, -32768, 32767).astype("<i2")
    if data.nbytes > MOST_BYTES:
        raise ValueError(f"{path}: a wav file holds at most 4 GB; cut the recording.")
    with open_output(path) as file:
        wavfile.write(file, like.rate, data if data.shape[1] > 1 else data[:, 0])
        file.flush()
    return clipped


def _decibels(before: Any, after: Any) -> float:
    powers = float(np.sum(before**2)), float(np.sum(after**2))
    if powers[0] <= 0:
        return 0.0
    return float(10 * np.log10(powers[0] / powers[1])) if powers[1] > 0 else float("inf")


def _describe_filter(filter: Any) -> str:
    words = f"{type(filter).__name__} with {number(filter.taps)} taps"
    if isinstance(filter, WienerFilter):
        return words
    if not hasattr(filter, "forgetting"):
        return f"{words} and a step size of {filter.eta:.3g}"
    memory = "all" if filter.forgetting == 1.0 else number(round(1 / (1 - filter.forgetting)))
    return f"{words} and a memory of {memory} samples"


def _doubt(gain: float, reductions: list[Any], taps: int) -> list[str]:
    """Warnings about the result, with advice."""
    doubts = [r.advice(taps) for r in reductions if r.more_taps and not r.worse]
    if any(r.worse for r in reductions):
        doubts.append(
            "more noise was added than removed: the filter followed the sound that is to stay, or "
            "the path of the noise changed faster than it learns; take --algorithm auto without "
            "--eta, or fewer --taps."
        )
    elif gain < 0.3:
        doubts.append(
            "little was removed: the reference may not be of this noise, may hold the sound that "
            "is to stay alone, or may need more --taps."
        )
    if gain > 30.0:
        doubts.append("nearly all was removed: does the reference hold the signal itself?")
    return doubts

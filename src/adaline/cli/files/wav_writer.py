"""Sound files written block by block: PCM of 16 bits, or floats of 32."""

from __future__ import annotations

import struct
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from adaline.data.outputs import Output

_HEADER = 44
_LARGEST = 2**32 - _HEADER - 1


class WavWriter:
    """A wav file that appears whole or not at all.

    Parameters
    ----------
    path : str
    rate : int
        Samples a second.
    channels : int
    floats : bool
        32-bit floats, which keep what is beyond full scale; else 16 bits, where it is cut off.
    """

    def __init__(self, path: str, rate: int, channels: int, floats: bool) -> None:
        self.path, self._output = path, Output(path)
        self.rate, self.channels, self.floats = rate, channels, floats
        self.bytes, self.clipped = 0, 0

    def __enter__(self) -> Self:
        self.file = self._output.__enter__()
        self.file.write(self._header())
        return self

    def write(self, samples: NDArray[np.float64]) -> None:
        """Samples (n, channels), full scale being 1."""
        if self.floats:
            data = samples.astype("<f4").tobytes()
        else:
            scaled = np.rint(samples * 32768.0)
            self.clipped += int(np.count_nonzero((scaled > 32767) | (scaled < -32768)))
            data = np.clip(scaled, -32768, 32767).astype("<i2").tobytes()
        if self.bytes + len(data) > _LARGEST:
            raise ValueError(f"{self.path}: a wav file holds at most 4 GB; cut the recording.")
        self.file.write(data)
        self.bytes += len(data)

    def _header(self) -> bytes:
        width = 4 if self.floats else 2
        frame = width * self.channels
        kind = 3 if self.floats else 1
        rate = self.rate
        form = (16, kind, self.channels, rate, rate * frame, frame, 8 * width)
        head = b"RIFF" + struct.pack("<I", _HEADER - 8 + self.bytes) + b"WAVEfmt "
        return head + struct.pack("<IHHIIHH", *form) + b"data" + struct.pack("<I", self.bytes)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.file.seek(0)
            self.file.write(self._header())
        self._output.__exit__(kind, error, trace)

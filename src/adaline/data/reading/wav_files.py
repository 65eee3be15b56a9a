"""Sound files: a channel a column, samples as rows."""

from __future__ import annotations

import io
import os
import struct
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.data.reading.numpy_files import MatrixSource
from adaline.data.reading.source import Block, Piece, existing, fingerprint_of_file
from adaline.errors import DataError

UNKNOWN = 2**32 - 1  # the size of what was still being written when the header was


class WavSource(MatrixSource):
    """PCM of 8 to 64 bits, scaled to -1..1, or floats as they are; `rate` in samples a second."""

    def __init__(self, path: str, columns: Sequence[str] | None, rows: int | None):
        existing(path)
        self.rate, samples = _samples(path)
        names = [f"channel{j}" for j in range(samples.shape[1])]
        super().__init__(samples, names, columns, rows, path)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "matrix": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.matrix = _samples(self.name)[1]

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        return fingerprint_of_file(self.name, self.size, self.names)

    def read(self, piece: Piece) -> Block:
        """Samples of a range, full scale being 1."""
        block = super().read(piece)
        raw = np.asarray(block.matrix)
        if raw.dtype.kind == "u":  # 8 bits are stored about 128
            scaled = (raw.astype(np.float64) - 128.0) / 128.0
        elif raw.dtype.kind == "i":
            scaled = raw / float(2 ** (8 * raw.dtype.itemsize - 1))
        else:
            scaled = raw.astype(np.float64)
        return Block(block.names, (), scaled, block.place)


def _streamed(path: str) -> tuple[int, int] | None:
    """Where the size of the sound is written and what it is, if the writer could not know it.

    A file without sound is refused, and one whose chunks claim more bytes than there are: memory is
    made for the claim.
    """
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        head = file.read(12)
        if head[:4] not in (b"RIFF", b"RIFX", b"RF64") or head[8:] != b"WAVE":
            raise DataError(
                f"{path}: this is not a wav file: it begins with {head!r}, and a wav file with "
                "RIFF, a size and WAVE. Convert the sound to wav."
            )
        order = ">" if head.startswith(b"RIFX") else "<"
        while len(chunk := file.read(8)) == 8:
            name, claimed = chunk[:4], struct.unpack(f"{order}I", chunk[4:])[0]
            left = size - file.tell()
            if name == b"data" and not left:
                raise DataError(f"{path}: there are no samples in it.")
            if claimed == UNKNOWN and head.startswith(b"RF64"):
                return None  # its 64-bit size is another chunk's; the samples are mapped, not read
            if claimed == UNKNOWN and name == b"data":
                return file.tell() - 4, left
            if claimed > left:
                raise DataError(
                    f"{path}: a part of this wav file claims {claimed} bytes, and {left} are left; "
                    "it is cut short. Save it again whole."
                )
            if name == b"data":
                if not claimed:
                    raise DataError(f"{path}: there are no samples in it.")
                return None
            file.seek(claimed + claimed % 2, os.SEEK_CUR)
    return None


def _whole(path: str, place: int, left: int) -> io.BytesIO:
    """A streamed file with the sizes that its writer could not know."""
    with open(path, "rb") as file:
        content = bytearray(file.read())
    order = ">" if content.startswith(b"RIFX") else "<"
    content[4:8] = struct.pack(f"{order}I", len(content) - 8)
    frame = struct.unpack_from(f"{order}H", content, content.index(b"fmt ") + 20)[0]
    content[place : place + 4] = struct.pack(f"{order}I", left - left % max(frame, 1))
    return io.BytesIO(bytes(content))


def _samples(path: str) -> tuple[int, Any]:
    """Rate and samples (n, channels), mapped where the format allows."""
    from scipy.io import wavfile

    streamed = _streamed(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wavfile.WavFileWarning)  # chunks that are no sound
        for mapped in (False,) if streamed else (True, False):  # 24 bits cannot be mapped
            try:
                source = _whole(path, *streamed) if streamed else path
                rate, samples = wavfile.read(source, mmap=mapped)
                break
            except Exception as error:
                if not mapped or "mmap" not in str(error):
                    raise DataError(
                        f"{path}: this is no whole wav file of PCM or float samples ({error})."
                    ) from None
    if not len(samples):
        raise DataError(f"{path}: there are no samples in it.")
    return int(rate), samples.reshape(len(samples), -1)

"""A damaged file ends in an exit code for errors and one sentence: never a traceback or a verdict.

One small file of every format is changed at random (cut, bits, bytes, pieces put in or taken out)
and given to commands in this process: `python campaigns/damaged_files.py 2000`.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import importlib.util
import io
import lzma
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from scipy import sparse
from scipy.io import wavfile

from adaline.cli import run_command

FINE = {0, 1, 2, 3}  # done, a verdict, usage (a column is gone), data that cannot be used


def whole_files(folder: Path, rng: np.random.Generator) -> dict[str, tuple[Path, str]]:
    """A file of every format, and its target."""
    X = rng.standard_normal((60, 3)).round(3)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": np.where(y, "yes", "no")})
    text, numbers = table.write_csv().encode(), np.column_stack([X, y])
    lines = [f"{t} 1:{a} 2:{b} 3:{c}" for a, b, c, t in numbers.tolist()]
    contents: dict[str, Any] = {
        "csv": text,
        "csv.gz": gzip.compress(text),
        "csv.bz2": bz2.compress(text),
        "csv.xz": lzma.compress(text),
        "csv.zst": pa.compress(text, "zstd", asbytes=True),
        "tsv": text.replace(b",", b"\t"),
        "utf16.csv": text.decode().encode("utf-16"),
        "excel.csv": text.replace(b",", b";").replace(b".", b","),
        "txt": text.replace(b",", b"  "),
        "dat": text.partition(b"\n")[2].replace(b",", b"\t"),
        "json": table.write_json().encode(),
        "ndjson": table.write_ndjson().encode(),
        "svm": "\n".join(lines).encode() + b"\n",
        "parquet": table.write_parquet,
        "arrow": table.write_ipc,
        "npy": lambda path: np.save(path, numbers),
        "npz": lambda path: np.savez_compressed(path, X=X, y=y),
        "sparse.npz": lambda path: sparse.save_npz(path, sparse.csr_matrix(numbers)),
    }
    if importlib.util.find_spec("openpyxl") and importlib.util.find_spec("python_calamine"):
        contents["xlsx"] = lambda path: table.to_pandas().to_excel(path, index=False)
    targets = {"npy": "x3", "sparse.npz": "x3", "dat": "x3"}
    files = {end: (folder / f"t.{end}", targets.get(end, "y")) for end in contents}
    for end, content in contents.items():
        path = files[end][0]
        content(path) if callable(content) else path.write_bytes(content)
    return files


def changed(whole: bytes, rng: np.random.Generator) -> bytes:
    """The bytes with one to four changes."""
    data = bytearray(whole)
    for _ in range(int(rng.integers(1, 5))):
        at, kind = int(rng.integers(len(data) + 1)), int(rng.integers(6))
        if kind == 0:
            del data[at:]
        elif kind == 1 and at < len(data):
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            data[at:at] = rng.bytes(int(rng.integers(1, 9)))
        elif kind == 3:
            del data[at : at + int(rng.integers(1, 40))]
        elif kind == 4:
            word = [b"\xff" * 8, b"\0" * 8, b"9" * 9, b"\n", b'"', b",", b"\x1b[2J", b"nan"]
            piece = word[int(rng.integers(len(word)))]
            data[at : at + len(piece)] = piece
        else:
            data[at:at] = data[at : at + int(rng.integers(1, 200))]
    return bytes(data)


def outcome(tokens: list[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_command(tokens)
    return code, out.getvalue(), err.getvalue()


def complaint(tokens: list[str]) -> str | None:
    """What is wrong with how a command ended; None where nothing is."""
    try:
        code, out, err = outcome(tokens)
    except BaseException as error:
        return f"{type(error).__name__} escaped: {error}"
    if code not in FINE:
        return f"exit code {code}: {err}"
    if (code in (2, 3) and not err.startswith("adaline: ")) or "Traceback" in err:
        return f"no sentence: {err}"
    shown = (out + err).replace("\n", "")
    return None if shown.isprintable() else f"not printable: {shown!r}"


def campaign(folder: Path, rng: np.random.Generator, each: int) -> list[str]:
    """Complaints about so many damaged files of every format."""
    said, model = [], folder / "m.adaline"
    tables = whole_files(folder, rng)
    assert outcome(["fit", str(tables["csv"][0]), "-t", "y", "-o", str(model)])[0] == 0
    sounds = [folder / "a.wav", folder / "b.wav"]
    for sound in sounds:
        wavfile.write(sound, 8000, (rng.standard_normal(200) * 1000).astype(np.int16))
    jobs = {end: (path, _tokens(end, target, model)) for end, (path, target) in tables.items()}
    jobs["adaline"] = (model, [["info"], ["predict", "DATA", str(tables["csv"][0])]])
    jobs["wav"] = (sounds[0], [["filter", "-r", str(sounds[1]), "-o", str(folder / "o.wav")]])
    for end, (path, commands) in jobs.items():
        whole, damaged = path.read_bytes(), folder / f"damaged.{end}"
        for _ in range(each):
            damaged.write_bytes(changed(whole, rng))
            command = commands[int(rng.integers(len(commands)))]
            tokens = [command[0], str(damaged), *command[1:]]
            if "DATA" in command:
                tokens = [command[0], str(damaged), command[2]]
            if command[0] in ("predict", "evaluate") and "DATA" not in command:
                tokens = [command[0], command[1], str(damaged), *command[2:]]
            if wrong := complaint(tokens):
                kept = folder / f"kept-{len(said)}.{end}"
                kept.write_bytes(damaged.read_bytes())
                said.append(f"{' '.join(tokens)} ({kept}): {wrong}")
    return said


def _tokens(end: str, target: str, model: Path) -> list[list[str]]:
    fits = [["fit", "-t", target], ["separable", "-t", target], ["fit", "-t", target, "-j", "1"]]
    if end not in ("npy", "npz", "sparse.npz", "svm", "dat"):
        fits += [["predict", str(model)], ["evaluate", str(model)]]
    return fits


if __name__ == "__main__":
    each = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        found = campaign(Path(folder), np.random.default_rng(seed), each)
    print(*found, sep="\n")
    print(f"{each} damaged files of every format: {len(found)} complaints")
    sys.exit(bool(found))

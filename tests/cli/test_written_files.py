"""What a command writes: whole or not at all, and never in place of a pipe, a device or a link."""

from __future__ import annotations

import errno
import os
import stat
import threading

import numpy as np
import pytest
from scipy.io import wavfile

from adaline.data.outputs import open_output, write_atomically

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and modes of POSIX")


@pytest.fixture
def ready(command, pumps, tmp_path, rng):
    """A model and two recordings to work with."""
    assert command("fit", pumps, "-t", "failed", "-o", "m.adaline").code == 0
    for name in ("a.wav", "b.wav"):
        wavfile.write(tmp_path / name, 8000, (rng.standard_normal(500) * 1000).astype(np.int16))
    return command


WRITERS = {
    "model": ("out.adaline", ["fit", "PUMPS", "-t", "failed", "-o"], b"ADALINE"),
    "report": ("out.html", ["fit", "PUMPS", "-t", "failed", "--report"], b"<!DOCTYPE"),
    "csv": ("out.csv", ["predict", "m.adaline", "PUMPS", "-o"], b"prediction,"),
    "tsv": ("out.tsv", ["predict", "m.adaline", "PUMPS", "-o"], b"prediction\t"),
    "ndjson": ("out.ndjson", ["predict", "m.adaline", "PUMPS", "-o"], b"{"),
    "parquet": ("out.parquet", ["predict", "m.adaline", "PUMPS", "-o"], b"PAR1"),
    "proof": ("out.json", ["separable", "PUMPS", "-t", "failed", "--proof"], b"{"),
    "onnx": ("out.onnx", ["export", "m.adaline", "--to", "onnx", "-o"], b""),
    "json": ("out.json", ["export", "m.adaline", "--to", "json", "-o"], b"{"),
    "wav": ("out.wav", ["filter", "a.wav", "-r", "b.wav", "-o"], b"RIFF"),
}
every_writer = pytest.mark.parametrize(("name", "tokens", "begins"), WRITERS.values(), ids=WRITERS)


def run(command, pumps, tokens, path):
    return command(*(pumps if token == "PUMPS" else token for token in tokens), path)


@every_writer
def test_a_link_stays_a_link_and_a_private_file_private(
    ready, pumps, tmp_path, name, tokens, begins
):
    real, link = tmp_path / "elsewhere", tmp_path / name
    real.write_bytes(b"old")
    real.chmod(0o600)
    link.symlink_to(real)
    own = tmp_path / f"{name}.part"
    own.write_bytes(b"mine")
    dotted = tmp_path / f".{name}.part"
    dotted.symlink_to(tmp_path / "victim")
    before = set(os.listdir(tmp_path))
    found = run(ready, pumps, tokens, link)
    assert found.code in (0, 1), found.err
    assert link.is_symlink()
    assert real.read_bytes().startswith(begins)
    assert real.read_bytes() != b"old"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert own.read_bytes() == b"mine"
    assert dotted.is_symlink()
    assert set(os.listdir(tmp_path)) == before  # no victim was made, and nothing is left behind


@every_writer
def test_a_named_pipe_gets_the_bytes_and_stays_a_pipe(ready, pumps, tmp_path, name, tokens, begins):
    pipe, got = tmp_path / name, []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    found = run(ready, pumps, tokens, pipe)
    reader.join(20)
    assert found.code in (0, 1), found.err
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)
    assert got[0].startswith(begins)
    assert len(got[0]) > 40


@every_writer
def test_a_directory_is_told_and_kept(ready, pumps, tmp_path, name, tokens, begins):
    (tmp_path / name).mkdir()
    before = set(os.listdir(tmp_path))
    found = run(ready, pumps, tokens, tmp_path / name)
    assert found.code in (2, 3)
    assert "is a directory" in found.err
    assert set(os.listdir(tmp_path)) == before


@every_writer
def test_a_failure_leaves_the_old_file_and_nothing_else(
    ready, pumps, tmp_path, monkeypatch, name, tokens, begins
):
    (tmp_path / name).write_bytes(b"old")
    before = set(os.listdir(tmp_path))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    found = run(ready, pumps, tokens, tmp_path / name)
    assert found.code == 3
    assert "no space left" in found.err
    assert (tmp_path / name).read_bytes() == b"old"
    assert set(os.listdir(tmp_path)) == before


def test_a_broken_run_leaves_no_predictions(ready, pumps, tmp_path):
    lines = pumps.read_text().splitlines()
    (tmp_path / "bad.csv").write_text("\n".join([*lines, lines[1] + ",more"]) + "\n")
    before = set(os.listdir(tmp_path))
    for name in ("p.csv", "p.parquet", "p.ndjson"):
        assert ready("predict", "m.adaline", "bad.csv", "-o", name).code == 3
    assert set(os.listdir(tmp_path)) == before


def test_what_dev_stdout_stands_for_is_written_into_and_not_replaced(tmp_path):
    for kind in ("pipe", "file"):
        if kind == "pipe":
            ours, theirs = os.pipe()
        else:
            theirs = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
            ours = os.dup(theirs)
        (tmp_path / f"{kind}.link").symlink_to(f"/dev/fd/{theirs}")
        write_atomically(tmp_path / f"{kind}.link", b"all of it")
        os.close(theirs)
        if kind == "file":
            os.lseek(ours, 0, os.SEEK_SET)
        assert os.read(ours, 100) == b"all of it"
        os.close(ours)


class Stat:
    """What `os.stat` says of a device, about a file that is none."""

    def __init__(self, kind):
        self.st_mode = kind | 0o666


@pytest.mark.parametrize(
    ("kind", "refused"), [(stat.S_IFCHR, False), (stat.S_IFBLK, True), (stat.S_IFSOCK, True)]
)
def test_devices_are_written_into_or_refused_and_never_replaced(
    tmp_path, monkeypatch, kind, refused
):
    path = tmp_path / "device"
    path.write_bytes(b"old")
    inode, true = path.stat().st_ino, os.stat
    monkeypatch.setattr(
        os, "stat", lambda p, **k: Stat(kind) if str(p) == str(path) else true(p, **k)
    )
    if refused:
        with pytest.raises(OSError, match="name a file"):
            write_atomically(path, b"new")
    else:
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert path.stat().st_ino == inode
    assert path.read_bytes() == (b"old" if refused else b"new")
    assert os.listdir(tmp_path) == ["device"]


def test_a_new_file_has_what_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_link_to_nothing_yet_leads_to_the_new_file(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "new")
    write_atomically(tmp_path / "link", b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "new").read_bytes() == b"x"


def test_a_file_that_may_not_be_written_is_kept(tmp_path, monkeypatch):
    (tmp_path / "kept").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # also where the tests run as root
    with pytest.raises(PermissionError, match="may not be written"):
        write_atomically(tmp_path / "kept", b"new")
    assert (tmp_path / "kept").read_bytes() == b"old"


def test_a_private_file_is_private_while_it_is_written_too(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with open_output(path) as file:
        (draft,) = set(os.listdir(tmp_path)) - {"secret"}
        assert stat.S_IMODE((tmp_path / draft).stat().st_mode) == 0o600
        file.write(b"new")
    assert path.read_bytes() == b"new"

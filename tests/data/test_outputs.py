"""Files are written whole or not at all, and nothing but a plain file is replaced."""

from __future__ import annotations

import os
import stat

import pytest

from adaline.data.outputs import open_output, write_atomically

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and descriptors of POSIX")


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_what_dev_stdout_stands_for_is_written_into_and_not_replaced(tmp_path, kind):
    if kind == "pipe":
        ours, theirs = os.pipe()
    else:
        theirs = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
        ours = os.dup(theirs)
    (tmp_path / "link").symlink_to(f"/dev/fd/{theirs}")
    write_atomically(tmp_path / "link", b"all of it")
    os.close(theirs)
    if kind == "file":
        os.lseek(ours, 0, os.SEEK_SET)
    assert os.read(ours, 100) == b"all of it"
    os.close(ours)


def test_devices_are_written_into():
    write_atomically("/dev/null", b"new")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


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


def test_a_private_file_is_private_while_it_is_written_too(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with open_output(path) as file:
        (draft,) = set(os.listdir(tmp_path)) - {"secret"}
        assert stat.S_IMODE((tmp_path / draft).stat().st_mode) == 0o600
        file.write(b"new")
    assert path.read_bytes() == b"new"


def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk is full"):
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]

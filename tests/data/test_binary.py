"""The container of model files and checkpoints: exact, sealed, and suspicious."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from adaline.data.storing.container import DTYPES, pack, read_file, unpack, write_atomically
from adaline.errors import ModelFileError


def sealed(header: object, body: bytes = b"", magic: bytes = b"ADALINE2") -> bytes:
    """A file with any header, its digest right."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    whole = struct.pack("<8sQQ", magic, len(text), len(body)) + text + body
    return whole + hashlib.sha256(whole).digest()


def entry(**changes: object) -> list[object]:
    plain = {"name": "w", "dtype": "float64", "shape": [2], "order": "C"}
    return [*{**plain, **changes}.values()]


numbers = hnp.arrays(
    st.sampled_from(sorted(DTYPES)).map(np.dtype),
    hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
)


@given(st.dictionaries(st.text(max_size=9), numbers, max_size=4), st.booleans())
def test_arrays_come_back_with_their_bits_types_shapes_and_order(arrays, transposed):
    if transposed:
        arrays = {name: array.T for name, array in arrays.items()}
    header, back = unpack(pack({"kind": "x"}, arrays))
    assert header == {"kind": "x"}
    assert sorted(back) == sorted(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        assert back[name].shape == array.shape
        assert back[name].tobytes() == array.tobytes()
        # A transposed matrix stays one in memory, for BLAS rounds differently there.
        assert back[name].flags.c_contiguous == array.flags.c_contiguous or array.ndim > 2
        assert back[name].flags.f_contiguous == array.flags.f_contiguous or array.ndim > 2
        assert back[name].flags.writeable


def test_the_same_content_has_the_same_bytes():
    a, b = np.arange(3.0), np.arange(4)
    assert pack({"x": 1, "y": 2}, {"a": a, "b": b}) == pack({"y": 2, "x": 1}, {"b": b, "a": a})


def test_big_endian_and_strided_arrays_are_written_as_the_numbers_they_are():
    odd = np.arange(10, dtype=">f8")[::3]
    assert unpack(pack({}, {"a": odd}))[1]["a"].tolist() == [0.0, 3.0, 6.0, 9.0]


@pytest.mark.parametrize(
    ("header", "arrays", "words"),
    [
        ({"arrays": 1}, {}, "keeps for itself"),
        ({"x": float("nan")}, {}, "strict JSON"),
        ({"x": object()}, {}, "strict JSON"),
        ({"x": {1: 2}}, {}, "keys that are not strings"),
        ({"x": "\ud800"}, {}, "strict JSON"),
        ({}, {1: np.zeros(2)}, "names of arrays"),
        ({}, {"w": np.array([None])}, "dtype object"),
        ({}, {"w": np.array(["a"])}, "dtype <U1"),
        ({}, {"w": np.zeros((1,) * 9)}, "9 axes"),
        ({}, {"w": np.zeros(200)}, "limits are 1000"),
    ],
)
def test_what_a_file_cannot_hold_is_told_before_it_is_written(header, arrays, words):
    with pytest.raises(ModelFileError, match=words):
        pack(header, arrays, limit=1000)


WHOLE = pack({"kind": "x"}, {"w": np.array([1.0, -2.0]), "t": np.array([True, False])})


def test_every_truncation_and_every_flipped_bit_is_refused():
    for length in range(len(WHOLE)):
        with pytest.raises(ModelFileError):
            unpack(WHOLE[:length])
    for bit in range(8 * len(WHOLE)):
        damaged = bytearray(WHOLE)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ModelFileError):
            unpack(damaged)


TWO = np.zeros(2).tobytes()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not an adaline file"),
        (b"PK\x03\x04 and more", "not an adaline file"),
        (b"ADALINE", "cut short"),
        (WHOLE[:30], "cut short"),
        (WHOLE[:-1], "cut short: .* of"),
        (WHOLE + b"\0", "1 bytes after its end"),
        (b"ADALINE3" + WHOLE[8:], "newer adaline"),
        (WHOLE[:60] + b"?" + WHOLE[61:], "damaged"),
        (sealed(b"{"), "header"),
        (sealed(b"\xff"), "header"),
        (sealed(b'{"a": NaN, "arrays": []}'), "header"),
        (sealed(b'{"a": 1e999, "arrays": []}'), "header"),
        (sealed(b'{"a": 1, "a": 2, "arrays": []}'), "header"),
        (sealed(b'{"a": ' + b"9" * 5000 + b', "arrays": []}'), "header"),
        (sealed(b"[" * 100_000), "header"),
        (sealed([1]), "header"),
        (sealed({}), "header"),
        (sealed({"arrays": {}}), "header"),
        (sealed({"arrays": [7]}), "header"),
        (sealed({"arrays": [[*entry(), 1]]}, TWO), "header"),
        (sealed({"arrays": [entry(dtype="object")]}, TWO), "header"),
        (sealed({"arrays": [entry(dtype=["float64"])]}, TWO), "header"),
        (sealed({"arrays": [entry(order="K")]}, TWO), "header"),
        (sealed({"arrays": [entry(order="F")]}, TWO), "header"),
        (sealed({"arrays": [entry(shape=[3])]}, TWO), "header"),
        (sealed({"arrays": [entry(shape=[1])]}, TWO), "header"),
        (sealed({"arrays": [entry(shape=[-2])]}, TWO), "header"),
        (sealed({"arrays": [entry(shape=[True, 2])]}, TWO), "header"),
        (sealed({"arrays": [entry(shape=[2.0])]}, TWO), "header"),
        (sealed({"arrays": [entry(shape=[1] * 9)]}, TWO), "header"),
        (sealed({"arrays": [entry(shape=[2**40, 2**40])]}, TWO), "header"),
        (sealed({"arrays": [entry(shape=[0, 2**62, 2**62])]}), "header"),
        (sealed({"arrays": [entry(), entry(name="v")]}, TWO * 2), "header"),
        (sealed({"arrays": [entry(), entry()]}, TWO * 2), "header"),
        (sealed({"arrays": [entry(dtype="bool")]}, b"\x01\x02"), "header"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_is_refused_with_a_sentence(data, words):
    with pytest.raises(ModelFileError, match=words) as refusal:
        unpack(data)
    assert len(str(refusal.value)) < 400
    assert str(refusal.value).endswith(".")


def test_a_file_above_the_limit_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large"
    with open(path, "wb") as file:
        file.truncate(2**40)  # sparse: no disk is used
    with pytest.raises(ModelFileError, match="limit is 4294967296"):
        read_file(path)
    with pytest.raises(ModelFileError, match="limit is 10"):
        unpack(WHOLE, limit=10)


def test_lengths_beyond_the_file_ask_for_no_memory():
    data = struct.pack("<8sQQ", b"ADALINE2", 2**62, 2**63) + bytes(100)
    with pytest.raises(ModelFileError, match="cut short"):
        unpack(data)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_in_the_place_of_a_file_does_not_hang_the_reader(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="regular file"):
        read_file(tmp_path / "pipe")


@pytest.mark.skipif(os.name != "posix", reason="modes mean something else here")
def test_writing_replaces_the_file_whole_and_keeps_its_mode(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    path.chmod(0o600)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(os.name != "posix", reason="links need rights of an administrator here")
def test_writing_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_the_file_before_is_kept_under_the_name_given(tmp_path):
    path, previous = tmp_path / "file", tmp_path / "file.prev"
    write_atomically(path, b"1", previous=previous)
    assert not previous.exists()
    for new in (b"2", b"3"):
        write_atomically(path, new, previous=previous)
    assert (path.read_bytes(), previous.read_bytes()) == (b"3", b"2")
    assert sorted(os.listdir(tmp_path)) == ["file", "file.prev"]


def test_a_file_that_another_program_holds_is_named_and_stays(tmp_path, monkeypatch):
    """Windows replaces no file that is open elsewhere, say in a spreadsheet."""
    path = tmp_path / "answers.csv"
    path.write_bytes(b"before")

    def held(source, target):
        raise PermissionError(13, "Access is denied", str(source), None, str(target))

    monkeypatch.setattr(os, "replace", held)
    with pytest.raises(PermissionError, match="Access is denied") as caught:
        write_atomically(path, b"after")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["answers.csv"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(
    tmp_path, monkeypatch, failing
):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="disk is full"):
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(os.name == "nt", reason="Windows replaces no file that is open")
def test_readers_always_see_a_whole_file_while_it_is_written(tmp_path):
    path, seen = tmp_path / "file", set()
    files = [pack({"n": n}, {"a": np.full(5000, float(n))}) for n in range(2)]
    write_atomically(path, files[0])
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            header, arrays = unpack(read_file(path))
            assert (arrays["a"] == header["n"]).all()
            seen.add(header["n"])

    reader = threading.Thread(target=read)
    reader.start()
    for n in range(60):
        write_atomically(path, files[n % 2])
    done.set()
    reader.join()
    assert seen <= {0, 1}

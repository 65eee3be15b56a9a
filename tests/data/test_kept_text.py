"""LIBSVM text is parsed once: later passes read numbers from temporary files, the same bits."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.datasets import dump_svmlight_file

from adaline import Adaline, LeastSquares, LogisticRegression, Perceptron, Ridge
from adaline.data import blocks, fit
from adaline.data.reading import libsvm
from adaline.data.reading.scratch import Scratch, kept_in
from adaline.errors import DataError
from reference_wide_logistic import wide_data


@pytest.fixture
def folder(rng, tmp_path):
    X, y = wide_data(rng, n=120)
    place = tmp_path / "rows"
    place.mkdir()
    for k in range(3):
        part = slice(40 * k, 40 * k + 40)
        dump_svmlight_file(X[part], y[part], str(place / f"part.{k}.svm"), zero_based=False)
    return place


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where temporary files are made."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def parsed(monkeypatch):
    """The texts that were parsed."""
    texts, plain = [], libsvm.parse_plain

    def counted(data):
        texts.append(data)
        return plain(data)

    monkeypatch.setattr(libsvm, "parse_plain", counted)
    return texts


def bits(model):
    return model.coef_.tobytes() + model.intercept_.tobytes()


def size_of(place):
    return sum(
        os.path.getsize(os.path.join(at, f)) for at, _, found in os.walk(place) for f in found
    )


def test_a_folder_is_parsed_once_and_gives_the_same_bits(folder, temporary, parsed):
    kept = fit(LogisticRegression(tol=1e-2), folder)
    once = len(parsed)
    again = fit(LogisticRegression(tol=1e-2), folder, scratch=0)
    assert once == 3
    assert bits(kept) == bits(again)
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("given", [{"n_features": 2300}, {}])
def test_a_packed_file_is_unpacked_and_parsed_once(folder, tmp_path, parsed, given):
    text = b"".join((folder / f"part.{k}.svm").read_bytes() for k in range(3))
    (tmp_path / "rows.svm.gz").write_bytes(gzip.compress(text))
    kept = fit(LogisticRegression(tol=1e-2), tmp_path / "rows.svm.gz", **given)
    assert len(parsed) == 1
    assert bits(kept) == bits(
        fit(LogisticRegression(tol=1e-2), tmp_path / "rows.svm.gz", scratch=0)
    )


def test_a_source_that_was_opened_before_is_kept_too(folder, temporary, parsed):
    source = blocks(folder, rows=10)
    pieces = len(list(source.descriptors()))
    models = []
    for _ in range(2):
        before = len(parsed)
        models.append(fit(LogisticRegression(tol=1e-2), source))
        assert len(parsed) - before == pieces
    assert bits(models[0]) == bits(models[1])


@pytest.mark.parametrize("room", [1, 5_000, 20_000])
def test_files_stay_within_what_the_user_allows(folder, temporary, room, parsed):
    source, sizes = blocks(folder, rows=10), []
    whole = fit(LogisticRegression(tol=1e-2), source)
    before = len(parsed)
    watch = {"progress": lambda done, rows: sizes.append(size_of(temporary))}
    model = fit(LogisticRegression(tol=1e-2), source, scratch=room, **watch)
    assert max(sizes) <= room
    assert (max(sizes) > 0) == (room > 1)
    assert len(parsed) - before > len(list(source.descriptors()))  # the rest is parsed again
    assert bits(model) == bits(whole)


def test_no_limit_is_half_of_what_is_free(folder):
    with kept_in(np.inf, 2) as scratch:
        assert scratch.begin()
        assert 0 < scratch.size <= shutil.disk_usage(scratch.folder).free
    assert bits(fit(LogisticRegression(), folder, scratch=np.inf)) == bits(
        fit(LogisticRegression(), folder)
    )


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no file system in memory")
def test_a_folder_in_memory_leaves_half_of_what_memory_has_free(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with kept_in(np.inf, 1) as scratch:
        assert scratch.begin()
        assert 0 < scratch.size < 0.75 * free


def test_a_full_disk_stops_further_writing(tmp_path, monkeypatch):
    lines = [f"{k / 7},{k % 5}" for k in range(300)]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *lines]) + "\n")
    source = blocks(tmp_path / "t.csv", rows=20)
    whole = fit(LogisticRegression(), source, "y", scratch=0)

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pa.ipc, "new_file", full)
    assert bits(fit(LogisticRegression(), source, "y")) == bits(whole)


def test_files_are_gone_whatever_happens(folder, temporary):
    def stop(done, rows):
        assert size_of(temporary) > 0
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(LogisticRegression(), folder, progress=stop)
    (folder / "part.9.svm").write_text("1 3:x\n")
    with pytest.raises(DataError, match="3:x"):
        fit(LogisticRegression(), folder)
    assert not list(temporary.iterdir())


def test_a_disk_that_takes_nothing_is_no_error(folder, monkeypatch):
    whole = fit(LogisticRegression(tol=1e-1), folder)

    def refused(*args, **options):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "mkdtemp", refused)
    assert bits(fit(LogisticRegression(tol=1e-1), folder)) == bits(whole)
    gone = Scratch(10**6, 1, str(folder / "gone"))
    gone.put("key", pa.table({"a": [1.0]}))
    assert gone.get("key") is None


def test_sources_that_are_no_libsvm_text_need_no_folder(tmp_path, monkeypatch):
    def refused(*args, **options):
        raise AssertionError("a temporary folder was made")

    monkeypatch.setattr(tempfile, "mkdtemp", refused)
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n1,2\n2,4\n3,6.5\n")
    for source in (path, blocks(path)):
        assert fit(LeastSquares(), source, "y").coef_ == pytest.approx([2.25])


def test_a_wrong_size_is_refused(folder):
    with pytest.raises(ValueError, match="scratch"):
        fit(LogisticRegression(), folder, scratch=-1)
    with pytest.raises(TypeError, match="scratch"):
        fit(LogisticRegression(), folder, scratch="1 GB")


VALUES = st.one_of(
    arrays.arrays(np.float64, 12, elements=st.integers(0, 255).map(float)),
    arrays.arrays(np.float64, 12, elements=st.floats(width=32)),
    arrays.arrays(np.float64, 12, elements=st.floats()),
    st.just(np.array([0.0, -0.0] * 6)),
)


@given(VALUES, st.permutations(range(1, 13)))
def test_what_comes_back_has_the_same_bits(tmp_path_factory, values, indices):
    path = tmp_path_factory.mktemp("rows") / "rows.svm"
    pairs = [f"{j}:{v!r}" for j, v in zip(indices, values.tolist(), strict=True)]
    path.write_text("".join(f"{k} {' '.join(pairs[3 * k : 3 * k + 3])}\n" for k in range(4)))
    source = blocks(path, rows=2)
    with kept_in(10**6, 1) as scratch:
        kept = source.keeping(scratch)
        for _ in range(2):
            for one, other in zip(source, kept, strict=True):
                assert one.labels.tobytes() == other.labels.tobytes()
                for part in ("data", "indices", "indptr"):
                    mine, theirs = getattr(one.features, part), getattr(other.features, part)
                    assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("model", [LogisticRegression(), Perceptron(), Adaline()])
def test_rows_in_their_order_are_learned_as_from_memory(folder, model):
    """Wide LIBSVM rows need no names on the way."""
    source = blocks(folder, rows=10)
    rows = [(block.features, block.labels) for block in source]
    online = {"online": True} if isinstance(model, LogisticRegression) else {}
    found = bits(fit(model, folder, **online))
    assert model.feature_names_in_[-1] == f"x{rows[0][0].shape[1]}"
    alone = type(model)()
    for A, t in rows:
        alone.partial_fit(A, t, classes=[0, 1])
    assert found == bits(alone)
    assert found == bits(fit(model, folder, missing="drop", **online))


def test_a_bad_row_is_named_by_a_learner_of_rows_in_order(folder):
    lines = (folder / "part.1.svm").read_text().splitlines()
    lines[8] = "1 3:nan"
    (folder / "part.1.svm").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"line 9 of .*part.1.svm has nan in the column 'x3'"):
        fit(LogisticRegression(), folder, online=True)


def test_narrow_rows_are_kept_for_every_learner(rng, tmp_path, parsed):
    X, y = wide_data(rng, n=90, p=12, each=4)
    dump_svmlight_file(X, y, str(tmp_path / "rows.svm"), zero_based=False)
    model = fit(Ridge(1.0), tmp_path / "rows.svm")
    assert model.coef_ == pytest.approx(Ridge(1.0).fit(X.toarray(), y).coef_, abs=1e-9)
    assert len(parsed) == 1


def test_a_file_read_in_two_encodings_has_the_text_of_each(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("w,y\nä,1\nb,2\nä,3\n".encode())
    assert next(iter(blocks(path))).columns[0].levels == ("b", "ä")
    (block,) = blocks(path, encoding="latin-1")
    assert block.columns[0].levels == ("b", "Ã¤")

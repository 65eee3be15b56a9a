"""Checkpoints: damage is found, the one before is used, and another run is refused."""

from __future__ import annotations

import contextlib

import numpy as np
import polars as pl
import pytest

from adaline import LeastSquares, LogisticRegression, PoissonRegression, Ridge, WidrowHoff
from adaline.data import blocks, fit
from adaline.data.storing.checkpoint import Checkpoint
from adaline.data.storing.container import pack, unpack
from adaline.errors import DataError, ModelFileError


class Stopped(Exception):
    """Raised by whoever looks on, in the place of a crash."""


def stop_after(blocks_: int):
    seen = []

    def look(done: int, total: int | None) -> None:
        seen.append(done)
        if len(seen) == blocks_:
            raise Stopped

    return look


@pytest.fixture
def path(rng, tmp_path):
    X = rng.standard_normal((1000, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_normal(1000)
    file = tmp_path / "t.csv"
    inputs = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    t = rng.uniform(0.5, 2.0, 1000)
    n = rng.poisson(t * np.exp(X @ [0.3, -0.2, 0.1]))
    pl.DataFrame({**inputs, "y": y, "k": y > 0, "n": n, "t": t}).write_csv(file)
    return file


COLUMNS = ["a", "b", "c"]


def run(learner, path, tmp_path, stop=None, target="y", **options):
    look = None if stop is None else stop_after(stop)
    where = {"checkpoint": tmp_path / "run", "every": 0.0, "progress": look}
    return fit(learner, blocks(path, rows=40), target, columns=COLUMNS, **where, **options)


def stopped(learner, path, tmp_path, stop, **options):
    with pytest.raises(Stopped):
        run(learner, path, tmp_path, stop, **options)


CASES = {
    "ridge": (Ridge, "y", {}),
    "logistic": (LogisticRegression, "k", {}),
    "poisson": (PoissonRegression, "n", {"exposure": "t"}),
    "widrow-hoff": (WidrowHoff, "y", {"passes": 3}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("stop", [2, 17, 30, 51, 60])
def test_a_stopped_run_goes_on_and_reads_only_the_rest(path, tmp_path, case, stop):
    learner, target, options = CASES[case]
    whole = fit(learner(), blocks(path, rows=40), target, columns=COLUMNS, **options)
    try:
        run(learner(), path, tmp_path, stop, target=target, **options)
    except Stopped:
        heard: list[int] = []
        again = fit(
            learner(),
            blocks(path, rows=40),
            target,
            columns=COLUMNS,
            checkpoint=tmp_path / "run",
            progress=lambda done, total: heard.append(done),
            **options,
        )
        assert again.coef_.tobytes() == whole.coef_.tobytes()
        assert not heard or stop <= 2 or heard[0] > 80 or len(heard) < 60
    once_more = run(learner(), path, tmp_path, target=target, **options)
    assert once_more.coef_.tobytes() == whole.coef_.tobytes()


def test_a_finished_run_is_not_read_again(path, tmp_path):
    run(Ridge(), path, tmp_path)
    heard: list[int] = []
    options = {"checkpoint": tmp_path / "run", "progress": lambda d, t: heard.append(d)}
    fit(Ridge(), blocks(path, rows=40), "y", columns=COLUMNS, **options)
    assert heard == []


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "gone"])
def test_a_damaged_checkpoint_falls_back_to_the_one_before(path, tmp_path, damage):
    whole = fit(Ridge(), blocks(path, rows=40), "y", columns=COLUMNS)
    stopped(Ridge(), path, tmp_path, 9)
    file = tmp_path / "run" / "fit.checkpoint"
    data = bytearray(file.read_bytes())
    if damage == "gone":
        file.unlink()
    else:
        data[len(data) // 2] ^= 1
        file.write_bytes({"cut": data[:-7], "flip": data, "empty": b""}[damage])
    assert run(Ridge(), path, tmp_path).coef_.tobytes() == whole.coef_.tobytes()


def test_two_damaged_checkpoints_are_told(path, tmp_path):
    stopped(Ridge(), path, tmp_path, 9)
    for file in (tmp_path / "run").iterdir():
        file.write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"damaged .* empty that directory"):
        run(Ridge(), path, tmp_path)


def test_another_file_learner_target_or_cutting_is_refused(path, tmp_path):
    stopped(Ridge(alpha=1.0), path, tmp_path, 9)
    for change in (Ridge(alpha=2.0), LeastSquares()):
        with pytest.raises(DataError, match="the learner changed"):
            run(change, path, tmp_path)
    where = {"checkpoint": tmp_path / "run"}
    with pytest.raises(DataError, match="the data changed"):
        fit(Ridge(alpha=1.0), blocks(path, rows=50), "y", columns=COLUMNS, **where)
    with pytest.raises(DataError, match="the columns changed"):
        fit(Ridge(alpha=1.0), blocks(path, rows=40), "a", columns=["b", "c"], **where)
    text = path.read_text()
    path.write_text(text[:-40] + text[-40:].replace("1", "2", 1))
    with pytest.raises(DataError, match="the data changed"):
        run(Ridge(alpha=1.0), path, tmp_path)
    path.write_text(text)
    run(Ridge(alpha=1.0), path, tmp_path)


def test_a_file_in_the_place_of_the_directory_is_refused(path, tmp_path):
    (tmp_path / "run").write_text("hello")
    with pytest.raises(DataError, match="is a file"):
        run(Ridge(), path, tmp_path)


def test_every_bit_of_a_state_comes_back(tmp_path, rng):
    state = {
        "a": rng.standard_normal((3, 2)),
        "b": np.asfortranarray(rng.standard_normal((3, 2))),
        "c": (1, -0.0, float("inf"), 0.1, None, True, "grün", [1, (2,)]),
        3: np.arange(3),
    }
    Checkpoint(tmp_path, {"x": 1.5}).save(state)
    back = Checkpoint(tmp_path, {"x": 1.5}).load()
    assert back["c"] == state["c"]
    assert str(back["c"]) == str(state["c"])
    assert back["a"].tobytes() == state["a"].tobytes()
    assert back["b"].flags.f_contiguous
    assert back[3].dtype == np.int64
    with pytest.raises(DataError, match="x changed"):
        Checkpoint(tmp_path, {"x": np.nextafter(1.5, 2)}).load()
    with pytest.raises(ModelFileError, match="set"):
        Checkpoint(tmp_path, {}).save({1, 2})


def test_nothing_is_saved_twice_within_the_time_asked_for(tmp_path):
    checkpoint = Checkpoint(tmp_path, {}, every=1000.0)
    for k in range(3):
        checkpoint.save(k)
    assert Checkpoint(tmp_path, {}).load() == 0
    checkpoint.save(3, now=True)
    assert Checkpoint(tmp_path, {}).load() == 3


def places(plain, at=()):
    """Every place in nested JSON: what leads there, and what it holds."""
    yield at, plain
    if isinstance(plain, dict | list):
        for key, value in plain.items() if isinstance(plain, dict) else enumerate(plain):
            yield from places(value, (*at, key))


STRANGE = [None, True, 2**63, 2**62, -1, "x", [], {}, {"float": "nan"}, {"tuple": []}, {"dict": []}]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_a_checkpoint_that_was_changed_and_sealed_again_is_read_or_refused(case, path, tmp_path):
    make, target, options = CASES[case]
    stopped(make(), path, tmp_path, 9, target=target, **options)
    file = tmp_path / "run" / "fit.checkpoint"
    (tmp_path / "run" / "fit.checkpoint.prev").unlink()
    data = file.read_bytes()
    found = list(places(unpack(data)[0]["state"]))
    rng = np.random.default_rng(0)
    some = [found[k][0] for k in rng.permutation(len(found))[:30].tolist()]
    changes = [(place, STRANGE[int(rng.integers(len(STRANGE)))]) for place in some]
    counts = [(*at, 1) for at, there in found if isinstance(there, list) and there[:1] == ["count"]]
    changes += [(at, count) for at in counts for count in (2**63, 2**62, -1, "1")]
    for place, value in changes:
        header, arrays = unpack(data)
        header = {"facts": header["facts"], "state": header["state"]}
        inside = header
        for key in ("state", *place)[:-1]:
            inside = inside[key]
        inside[("state", *place)[-1]] = value
        file.write_bytes(pack(header, arrays))
        with contextlib.suppress(DataError):
            run(make(), path, tmp_path, target=target, **options)
        (tmp_path / "run" / "fit.checkpoint.prev").unlink(missing_ok=True)

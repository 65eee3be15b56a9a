"""Laws of model files: what is saved comes back to the last bit, and what is mutated is refused.

A mutated file whose digest was not made anew must be refused. With a new digest it is another
file, and may be a whole one: then nothing in it may have been overlooked, which shows in writing
it again. `python tests/laws/test_model_files.py 20000` is the long campaign.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import json
import struct
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from adaline.data.storing.container import pack, unpack
from adaline.data.storing.model_files import load, packed, save, unpacked
from adaline.errors import ModelFileError
from bits import same
from model_zoo import MODELS, answers, goes_on, made

STRANGE: list[Any] = [
    None, True, 0, -1, 3, 2**31, 2**63, 10**40, 0.5, -0.0, 1e308, "", "no", "linear", "../x", [],
    {}, [[]], {"float": "nan"}, {"float": "inf"}, {"int": "0x10000000000000000"}, {"tuple": []},
    {"dict": []}, {"dtype": "float32"}, {"dtype": "object"}, {"scalar": "int64", "value": 7},
    {"scalar": "float64", "value": 0.5}, {"array": "x"}, {"record": "Auto", "fields": {}},
    {"record": "os.system", "fields": {"command": "true"}},
    {"record": "Constant", "fields": {"eta": -1.0}},
    {"objects": ["a"], "shape": [1], "dtype": "|O"},
    {"objects": ["a"], "shape": [1], "dtype": "<U9"},
]  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_to_the_last_bit(name, tmp_path):
    model = made(name)
    save(model, tmp_path / "m.adaline")
    back = load(tmp_path / "m.adaline")
    assert type(back) is type(model)
    assert differences(answers(name, model), answers(name, back)) == []
    assert packed(back) == packed(model)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_was_loaded_learns_on_with_the_same_bits(name):
    model = made(name)
    back = unpacked(packed(model))
    assert same(_outcome(goes_on, name, model), _outcome(goes_on, name, back)) or (
        differences(answers(name, model), answers(name, back)) == []
    )


@pytest.mark.parametrize("name", ["LeastSquares", "KernelPerceptron, poly", "RLS", "Separability"])
def test_every_shorter_file_is_refused(name):
    whole = packed(made(name))
    for length in range(len(whole)):
        with pytest.raises(ModelFileError):
            unpacked(whole[:length])


def test_no_mutation_gives_a_crash_or_an_overlooked_part(rng):
    counts = campaign(rng, 400)
    assert counts["refused"] > 300


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Names under which two models do not say the same."""
    assert one.keys() == other.keys()
    return [key for key in one if not same(one[key], other[key])]


def _outcome(do: Any, name: str, model: Any) -> Any:
    try:
        return do(name, model)
    except (TypeError, ValueError) as error:  # what cannot go on says why
        return str(error)


@functools.cache
def whole_file(name: str) -> bytes:
    return packed(made(name))


def campaign(rng: np.random.Generator, count: int, tell: bool = False) -> dict[str, int]:
    """Mutate, load, and use what loads; how many were refused, whole, or used without trouble."""
    names = list(MODELS)
    counts = dict.fromkeys(["refused", "another model", "the same model"], 0)
    for i in range(count):
        name = names[i % len(names)]
        mutate = MUTATIONS[int(rng.integers(len(MUTATIONS)))]
        whole = whole_file(name)
        mutant = mutate(whole, rng)
        began, model = time.perf_counter(), None
        try:
            model = unpacked(mutant)
        except ModelFileError:
            counts["refused"] += 1
        took = time.perf_counter() - began
        assert took < 10.0 or not tell, f"{name}: {mutate.__name__} took {took:.1f} s"
        if model is not None:
            kept = mutant != whole
            assert mutate not in UNSEALED or not kept, f"{name}: damage was not seen"
            counts["another model" if kept else "the same model"] += 1
            check_whole(name, model, mutant)
            if tell:  # another dtype may make a kernel compile for long
                use(name, model)
        if tell and i % 1000 == 999:
            print(i + 1, counts, flush=True)
    return counts


def check_whole(name: str, model: Any, mutant: bytes) -> None:
    """Everything in the file is in the model."""
    header, arrays = unpack(mutant)
    again, others = unpack(packed(model, metadata=header["metadata"]))
    again["versions"] = header["versions"]
    told, expected = (json.dumps(part, sort_keys=True) for part in (again, header))
    assert told == expected, f"{name}: the file says more than the model"
    assert same(dict(sorted(arrays.items())), others), f"{name}: arrays changed"


def use(name: str, model: Any) -> None:
    """Ask and teach the model: settings may be nonsense, but memory must be safe."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for do in (answers, goes_on):
            with contextlib.suppress(Exception):
                do(name, model)


def sealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def flipped_bit(whole: bytes, rng: np.random.Generator) -> bytes:
    mutant = bytearray(whole)
    at = int(rng.integers(len(whole)))
    mutant[at] ^= 1 << int(rng.integers(8))
    return bytes(mutant)


def cut(whole: bytes, rng: np.random.Generator) -> bytes:
    return whole[: int(rng.integers(len(whole)))]


def spliced(whole: bytes, rng: np.random.Generator) -> bytes:
    other = whole_file(list(MODELS)[int(rng.integers(len(MODELS)))])
    return whole[: int(rng.integers(len(whole)))] + other[int(rng.integers(len(other))) :]


def flipped_and_sealed(whole: bytes, rng: np.random.Generator) -> bytes:
    return sealed(flipped_bit(whole[:-32], rng))


def cut_and_sealed(whole: bytes, rng: np.random.Generator) -> bytes:
    return sealed(cut(whole[:-32], rng))


def spliced_and_sealed(whole: bytes, rng: np.random.Generator) -> bytes:
    return sealed(spliced(whole, rng)[:-32])


def other_lengths(whole: bytes, rng: np.random.Generator) -> bytes:
    """Length fields changed, also so that their sum still fits the file."""
    magic, header, arrays = struct.unpack("<8sQQ", whole[:24])
    d = int(rng.choice([1, -1, 8, -8, 1000, 2**32, 2**63, -header]))
    pair = [(header + d, arrays), (header, arrays + d), (header + d, arrays - d)]
    a, b = (number % 2**64 for number in pair[int(rng.integers(3))])
    return sealed(struct.pack("<8sQQ", magic, a, b) + whole[24:-32])


def other_header(whole: bytes, rng: np.random.Generator) -> bytes:
    """The header changed in one to three places, as JSON, and the file sealed again."""
    _, header, _ = struct.unpack("<8sQQ", whole[:24])
    tree = json.loads(whole[24 : 24 + header])
    for _ in range(int(rng.integers(1, 4))):
        places = list(_places(tree))
        parent, key = places[int(rng.integers(len(places)))]
        _change(parent, key, places, rng)
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    body = whole[24 + header : -32]
    return sealed(struct.pack("<8sQQ", whole[:8], len(text), len(body)) + text + body)


def other_arrays(whole: bytes, rng: np.random.Generator) -> bytes:
    """Arrays of other shapes, types and values, in a container that is sound."""
    header, arrays = unpack(whole)
    if not arrays:
        return flipped_and_sealed(whole, rng)
    name = sorted(arrays)[int(rng.integers(len(arrays)))]
    array = arrays[name]
    changes = [
        lambda: array[:-1] if array.ndim else array.reshape(1),
        lambda: np.concatenate([array, array]) if array.ndim else array,
        lambda: array.T.copy() if array.ndim > 1 else array[None],
        lambda: array.astype(["float32", "int64", "complex128", "uint8", "bool"][i]),
        lambda: np.full(array.shape, [np.nan, np.inf, 1e300, -1.0, 2**30][i]).astype(array.dtype),
        lambda: np.zeros((0, 5)),
        lambda: arrays[sorted(arrays)[int(rng.integers(len(arrays)))]],
    ]
    i = int(rng.integers(5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            arrays[name] = changes[int(rng.integers(len(changes)))]()
        except (OverflowError, ValueError):
            arrays.pop(name)
    return pack(header, arrays)


def _places(tree: Any) -> Any:
    for key in tree if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _places(tree[key])


def _change(parent: Any, key: Any, places: Any, rng: np.random.Generator) -> None:
    kind = int(rng.integers(6))
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[str(key) + "x"] = parent.pop(key)
    elif kind == 2:
        other, place = places[int(rng.integers(len(places)))]
        with contextlib.suppress(KeyError, IndexError):  # gone already
            parent[key] = json.loads(json.dumps(other[place]))
    elif kind == 3 and isinstance(parent[key], int):
        parent[key] = parent[key] + int(rng.choice([-1, 1, 7, 2**40]))
    elif kind == 4 and isinstance(parent, list):
        parent.append(json.loads(json.dumps(parent[key])))
    else:
        parent[key] = copy.deepcopy(STRANGE[int(rng.integers(len(STRANGE)))])


UNSEALED = (flipped_bit, cut, spliced)
MUTATIONS = (
    *UNSEALED, flipped_and_sealed, cut_and_sealed, spliced_and_sealed, other_lengths,
    other_header, other_header, other_header, other_arrays, other_arrays, other_arrays,
)  # fmt: skip


if __name__ == "__main__":
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))
    warnings.simplefilter("ignore")
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    started = time.perf_counter()
    found = campaign(np.random.default_rng(seed), int(sys.argv[1]), tell=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(found, f"{time.perf_counter() - started:.0f} s, peak {peak} MB")

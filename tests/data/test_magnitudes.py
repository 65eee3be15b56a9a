"""930k, 1.2M and 3.4bn are numbers where no doubt is left, and a note says so."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from adaline.data import Encoding, blocks, look
from adaline.data.reading.notations import candidates, is_notation, read, unit_of, words
from adaline.errors import DataWarning

NOTE = "k, M and bn were read as thousands, millions and billions"


@pytest.mark.parametrize(
    ("texts", "notation", "values"),
    [
        (["950", "1.2k", "3M"], "number kMB", [950, 1200, 3e6]),
        (["0.93k", "-1.25M", "(2k)"], "number kMB", [930, -1.25e6, -2000]),
        (["45k", "50k"], "number kMB", [45e3, 50e3]),
        (["3.4bn", "120 mn"], "number kMB", [3.4e9, 120e6]),
        (["1,2 Mio", "3 Mrd", "3,45 Mio."], "number ., kMB", [1.2e6, 3e9, 3.45e6]),
        (["$1.2M", "-$950k", "$12"], "number $ kMB", [1.2e6, -950e3, 12]),
        (["1.2M USD", "3k USD"], "number USD kMB", [1.2e6, 3e3]),
        (["€1,5 Mio", "2,5 Mio €"], "number € ., kMB", [1.5e6, 2.5e6]),
        (["1.2 million", "1.5 billion"], "number kMB", [1.2e6, 1.5e9]),
    ],
)
def test_letters_are_powers_of_ten_to_the_last_bit(texts, notation, values):
    assert candidates(texts)[0] == notation
    assert read(texts, notation).values.tolist() == values
    assert is_notation(notation)
    assert "k, M or bn" in words(notation)
    assert unit_of(notation) == unit_of(notation.replace(" kMB", ""))


@pytest.mark.parametrize(
    "texts",
    [
        ["12", "12k", "14"],  # numbers of houses
        ["4K", "8K"],  # screens
        ["12B", "7B", "9M"],  # rooms
        ["300 K", "310 K"],  # temperatures
        ["136A", "12B"],
        ["1.2M", "3X"],
        ["1.5k kg", "2k kg"],
    ],
)
def test_letters_that_may_be_units_or_codes_are_none(texts):
    assert candidates(texts) == ()


def test_metres_stay_metres():
    assert candidates(["1.2m", "3m"])[0] == "number m"
    assert read(["1.2m", "3m"], "number m").values.tolist() == [1.2, 3.0]


def amounts(n=80):
    values = np.round(np.geomspace(12, 4e6, n)).tolist()
    texts = [
        f"{v:.0f}" if v < 1e3 else f"{v / 1e3:.2f}k" if v < 1e6 else f"{v / 1e6:.2f}M"
        for v in values
    ]
    exact = [
        float(t) if t[-1].isdigit() else float(t[:-1] + {"k": "e3", "M": "e6"}[t[-1]])
        for t in texts
    ]
    return texts, exact


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("kind", ["csv", "table"])
def test_a_column_with_letters_is_a_column_of_numbers_with_a_note(tmp_path, kind, few):
    texts, exact = amounts()
    if few:  # nearly all are plain: the largest must not become gaps
        texts, exact = [*map(str, range(300)), *texts[-3:]], [*range(300), *exact[-3:]]
    table = pl.DataFrame({"a": texts, "y": [i % 7 + 0.5 for i in range(len(texts))]})
    source = table
    if kind == "csv":
        source = tmp_path / "t.csv"
        table.write_csv(source)
    with pytest.warns(DataWarning, match=NOTE):
        encoding = Encoding.learn(source, "y", missing="auto")
    (entry,) = encoding.inputs
    assert (entry.reading, entry.marks) == ("number kMB", ())
    X = np.concatenate([encoding.encode(block) for block in encoding.prepare(source)])
    assert X[:, 0].tolist() == exact
    assert look(source, "y", missing="auto").columns[0].use == "numbers with k, M or bn"


def test_a_block_without_letters_does_not_make_text_of_a_column(tmp_path):
    path = tmp_path / "t.csv"
    plain, lettered = [f"{i},{i % 5}" for i in range(2000)], [f"{i}.5k,1" for i in range(50)]
    path.write_text("a,y\n" + "\n".join([*lettered, *plain]) + "\n")
    source = blocks(path, rows=100)
    assert sum(1 for _ in source) > 3
    with pytest.warns(DataWarning, match=NOTE):
        encoding = Encoding.learn(source, "y", missing="auto")
    assert encoding.inputs[0].reading == "number kMB"

"""Text tables as people have them: how they are written is told by their first lines."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaline.data import blocks
from adaline.errors import DataError, MissingExtra
from python_tables import rows_of as rows


def written(path, content) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


# Content, names, first row, a word of each note; the file is t.csv unless its name is there.
READ = {
    "semicolons and decimal commas": ("a;b;c\n1,5;2;x\n2,5;3;y\n", ("a", "b", "c"), (1.5, 2.0, "x"),
        ["semicolons", "comma in decimal"]),
    "tabs in a .csv": ("a\tb\n1\t2\n", ("a", "b"), (1, 2), ["tabs"]),
    "commas in a .tsv": ("a,b\n1,2\n", ("a", "b"), (1, 2), ["commas"], "t.tsv"),
    "bars": ("a|b\n1|2\n", ("a", "b"), (1, 2), ["|"]),
    "aligned with blanks": (" a    b\n 1.5  x\n12    y\n", ("a", "b"), (1.5, "x"), ["blanks"],
        "t.txt"),
    "aligned numbers in a .csv": ("a  b\n1  2\n10 3\n", ("a", "b"), (1, 2), ["blanks"]),
    "text in a .csv is no table of words": ("review text\ngood stuff\nbad thing\n",
        ("review text",), ("good stuff",), []),
    "R's write.table": ('"mpg" "cyl"\n"Mazda RX4" 21.5 6\n"Fiat" 30 4\n',
        ("rownames", "mpg", "cyl"), ("Mazda RX4", 21.5, 6), ["blanks", "rownames"], "t.txt"),
    "R's names, one less": ("x,y\nr,2,3\ns,4,5\n", ("rownames", "x", "y"), ("r", 2, 3),
        ["rownames"]),
    "R's and pandas' unnamed column": ('"","x"\n"1",2\n"2",4\n', ("", "x"), (1, 2), []),
    "no names, numbers": ("1.5,2\n3,4\n5,6\n", ("x0", "x1"), (1.5, 2), ["no line of column names"]),
    "no names, numbers and words": ("5.1,3.5,setosa\n4.9,3.0,setosa\n6.0,2.2,virginica\n",
        ("x0", "x1", "x2"), (5.1, 3.5, "setosa"), ["no line of column names"], "t.data"),
    "names that count": ("0,1,2\n3,4,5\n6,7,9\n", ("0", "1", "2"), (3, 4, 5), ["as column names"]),
    "names that are years": ("1990,1995,2000\n3,4,5\n6,7,9\n", ("1990", "1995", "2000"), (3, 4, 5),
        ["as column names"]),
    "a year among names": ("land,1990\nx,4\ny,7\n", ("land", "1990"), ("x", 4), []),
    "two files put together": ("a,b\nx,y\na,b\nz,y\n", ("a", "b"), ("x", "y"), ["again in line 3"]),
    "names twice": ("a,a,a_2,,\n1,2,3,4,5\n2,3,4,5,6\n", ("a", "a_3", "a_2", "", "column_5"),
        (1, 2, 3, 4, 5), ["'a_3'", "'column_5'"]),
    "a separator after all": ("a,b,\n1,2,\n3,4,\n", ("a", "b"), (1, 2), []),
    "a separator after rows": ("a,b\n1,2,\n3,4,\n", ("a", "b"), (1, 2), []),
    "a comment above": ("# by us, today\na,b\n1,2\n", ("a", "b"), (1, 2), ["after 1 line"]),
    "a name with #": ("#id,b\n1,2\n2,3\n", ("#id", "b"), (1, 2), []),
    "numpy.savetxt": ("# a b\n1.0 2.0\n3.0 4.0\n", ("a", "b"), (1, 2),
        ["after", "blanks", "comment"], "t.dat"),
    "sep= of spreadsheets": ("sep=;\na;b\n1;2\n", ("a", "b"), (1, 2), ["after", "semicolons"]),
    "old Macintosh": ("a,b\r1,2\r3,4\r", ("a", "b"), (1, 2), ["carriage returns"]),
    "Windows-1252": ("Straße,b\nMüller – Söhne,2\nx,3\n".encode("cp1252"), ("Straße", "b"),
        ("Müller – Söhne", 2), ["Windows-1252"]),
    "UTF-16": ("größe\tb\n1\t2\n".encode("utf-16"), ("größe", "b"), (1, 2), ["tabs", "UTF-16"]),
    "UTF-8 with its mark": ("ä;b\n1;2\n".encode("utf-8-sig"), ("ä", "b"), (1, 2), ["semicolons"]),
    "single quotes around text": ("a,b\n'x',1\n'z',2\n", ("a", "b"), ("'x'", 1), []),
    "names in single quotes": ("'a' 'b'\n1 2\n3 4\n", ("a", "b"), (1, 2), ["blanks"]),
    "lists in a field": ("a,b\n1,x;y;z\n2,x;y\n", ("a", "b"), (1, "x;y;z"), []),
    "thousands": ("a\tb\n1,234\t2\n2,345\t3\n", ("a", "b"), ("1,234", 2), [], "t.tsv"),
    "a point and a comma": ("a;b\n1.234,5;3.5\n2.000,5;4\n", ("a", "b"), ("1.234,5", 3.5),
        ["semicolons"]),
    "points of thousands beside decimal commas": ("a;b\n1.234;3,5\n987;4,25\n", ("a", "b"),
        (1234.0, 3.5), ["semicolons", "comma in decimal"]),
    "titles above the names": ("Report of 2023,,\nmade by hand,,\n\nx,z,y\n1,2,3\n4,5,6\n",
        ("x", "z", "y"), (1.0, 2.0, 3.0), ["begins after 3 lines"]),
    "a title without separators": ("Report of 2023\nx;z\n1,5;2\n4;5\n", ("x", "z"), (1.5, 2.0),
        ["begins after 1 line", "semicolons", "comma in decimal"]),
    "names of few columns are no title": ("a,,\n1,2,3\n4,5,6\n", ("a", "", "column_3"),
        (1.0, 2.0, 3.0), ["a second column ''"]),
    "a first name that R leaves out is no title": ('"","Content"\n"V1","one"\n"V2","two"\n',
        ("", "Content"), ("V1", "one"), []),
    "names that come again": ("a,b\n1,x\na,b\n2,y\na,b\n", ("a", "b"), (1.0, "x"),
        ["again in line 3 and 1 more"]),
    "names that come twice, again": ("a,a\n1,2\na,a\n3,4\n", ("a", "a_2"), (1.0, 2.0),
        ["a second column 'a'", "again in line 3"]),
    "a row that is like names of numbers": ("0,1,2\n5,6,7\n0,1,2\n", ("0", "1", "2"),
        (5.0, 6.0, 7.0), ["column names"]),
}  # fmt: skip


def test_names_that_come_again_are_no_row_in_any_block(tmp_path):
    part = "size,name\r\n" + "".join(f"{k},word\r\n" for k in range(50))
    path = written(tmp_path / "t.csv", part * 40)
    for size in (None, 3, 1):
        assert rows(blocks(path, rows=size)) == [(float(k), "word") for k in range(50)] * 40
    broken = written(tmp_path / "u.csv", part * 2 + "x,y\r\n")
    with pytest.raises(DataError, match="line 103 has 'x'"):
        rows(blocks(broken))


@pytest.mark.parametrize("case", READ.values(), ids=READ)
def test_tables_as_people_have_them(tmp_path, case):
    content, names, first, notes, *file = case
    source = blocks(written(tmp_path / "".join(file or ["t.csv"]), content))
    assert source.names == names
    assert rows(source)[0] == first
    assert len(source.notes) == len(notes)
    assert all(word in note for word, note in zip(notes, source.notes, strict=True))
    assert rows(pickle.loads(pickle.dumps(source))) == rows(source)


PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


@pytest.mark.parametrize("end", PACKED)
def test_packed_text_is_the_text(tmp_path, rng, end):
    text = "a;b\n" + "".join(f"{a:.3f};{b:.3f}\n" for a, b in rng.normal(size=(3000, 2)))
    text = text.replace(".", ",")
    plain = blocks(written(tmp_path / "t.csv", text), rows=500)
    packed = PACKED[end](text.encode())
    source = blocks(written(tmp_path / f"t.csv.{end}", packed), rows=500)
    assert len(list(source.descriptors())) > 3
    assert rows(source) == rows(plain) == rows(source)
    for stop in (len(packed) // 2, len(packed) - 3):
        with pytest.raises(DataError, match=r"cut short or damaged|no rows|no whole"):
            rows(blocks(written(tmp_path / f"cut.csv.{end}", packed[:stop])))


def test_text_without_its_reader_says_what_to_install(tmp_path, monkeypatch):
    import sys

    path = written(tmp_path / "t.csv.zst", PACKED["zst"](b"a,b\n1,2\n"))
    for name, extra in ((path, "cli"), (written(tmp_path / "t.csv", "a,b\n1,2\n"), "cli")):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(MissingExtra, match="pyarrow") as told:
            blocks(name)
        assert MissingExtra.how_to_install(extra) in str(told.value)


def test_what_is_said_wins_over_what_is_seen(tmp_path):
    path = written(tmp_path / "t.csv", "1;2,5\n3;4,5\n")
    assert blocks(path).names == ("x0", "x1")
    assert blocks(path, header=True).names == ("1", "2,5")
    assert rows(blocks(path, separator=",", header=False)) == [("1;2", 5.0), ("3;4", 5.0)]
    assert rows(blocks(path, decimal="."))[0] == (1.0, "2,5")
    assert rows(blocks(path, decimal=","))[0] == (1.0, 2.5)
    words = written(tmp_path / "w.csv", "п,y\nдом,1\n".encode("cp1251"))
    assert rows(blocks(words, encoding="cp1251")) == [("дом", 1.0)]
    assert rows(blocks(words, encoding="cp1251", separator="comma", header=False))[0][0] == "п"
    assert not blocks(words, encoding="cp1251").notes
    blank = written(tmp_path / "b.csv", "a  b\nx  1\n")
    assert rows(blocks(blank, separator="blanks")) == [("x", 1.0)]


def test_options_of_text_are_refused_where_there_is_none(tmp_path):
    pl.DataFrame({"a": [1.0]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="separator=';' is of text tables"):
        blocks(tmp_path / "t.parquet", separator=";")
    with pytest.raises(ValueError, match="sheet='a' is of Excel files"):
        blocks(written(tmp_path / "t.csv", "a\n1\n"), sheet="a")
    with pytest.raises(ValueError, match="header=True"):
        blocks(np.ones((2, 2)), header=True)
    with pytest.raises(ValueError, match="both ','"):
        blocks(tmp_path / "t.csv", separator=",", decimal=",")


ERRORS = {
    "ragged semicolons": ("a;b\n1;2\n3;4;5\n", "line 3 has 3 fields"),
    "ragged after a comment": ("# c\na;b\n1;2\n3;4\n3;4;5\n", "line 5 has 3 fields"),
    "ragged without names": (
        "1.5,2\n3,4\n5,6\n7\n",
        "line 4 has 1 fields, and the first line has 2",
    ),
    "something after the end": ("a,b\n" + "1,2,\n" * 200 + "3,4,5\n", "Row #201.*'5'"),
    "a point among commas": (
        "a;b\n" + "1,5;2\n" * 200 + "2.5;2\n",
        "line 202 has '2.5' in column 'a'",
    ),
    "a quote that is open": ('a,b\n1,"2\n3,4\n', "cannot be read|fields"),
}


@pytest.mark.parametrize(("content", "words"), ERRORS.values(), ids=ERRORS)
def test_errors_name_the_line_of_the_file(tmp_path, content, words):
    with pytest.raises(DataError, match=words):
        rows(blocks(written(tmp_path / "t.csv", content)))


names = st.lists(
    st.text("abcxyz _#;|'é-", min_size=1, max_size=6).filter(
        lambda s: s.strip() == s and not s.startswith(("#", "'"))
    ),
    min_size=2,
    max_size=4,
    unique=True,
)
texts = st.text("abc ;|\t'é.:-", max_size=8)


@settings(max_examples=150, deadline=None)
@given(names, st.data())
def test_a_table_with_commas_is_read_as_it_always_was(tmp_path_factory, head, data):
    """Commas and names that are no numbers: other separators in the text change nothing.

    Rows without any value are left aside: words in one field below them may be a note.
    """
    cell = st.one_of(texts, st.floats(-1e9, 1e9).map(repr), st.integers(-99, 99).map(str))
    row = st.tuples(*[cell] * len(head)).filter(lambda row: any(map(str.strip, row)))
    body = data.draw(st.lists(row, min_size=1, max_size=8))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(head)
    writer.writerows(body)
    path = tmp_path_factory.getbasetemp() / "law.csv"
    path.write_bytes(text.getvalue().encode())
    source = blocks(path)
    others = [row for row in body if row != tuple(head)]
    if all(name in {row[j].strip() for row in others} for j, name in enumerate(head)):
        return  # the first line may be a row, too
    assert list(source.names) == head
    assert not source.notes
    assert sum(block.rows for block in source) == len(body)


@pytest.mark.parametrize("titles", ["", "Series Id:    LNS14\n\nType of data:  Percent\n\n"])
def test_names_may_end_with_a_separator_that_the_rows_do_not_have(tmp_path, titles):
    path = tmp_path / "t.csv"
    body = "".join(f"LNS14,{1959 + i // 4},Q{i % 4 + 1},{i / 7:.1f}\n" for i in range(20))
    path.write_text(titles + "Series id,Year,Period,Value,\n" + body)
    source = blocks(path)
    assert source.names == ("Series id", "Year", "Period", "Value")
    assert rows(source)[1] == ("LNS14", 1959.0, "Q2", 0.1)
    path.write_text(titles + "Series id,Year,Period,Value,,\n" + body)
    assert blocks(path).names == source.names
    path.write_text(titles + "Series id,Year,Period,Value,More\n" + body)
    with pytest.raises(DataError, match="fields, and the first line names"):
        rows(blocks(path))

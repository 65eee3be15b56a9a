"""SQL, C and Python that answer as the model does."""

from __future__ import annotations

import datetime
import warnings
from functools import partial

import numpy as np
import polars as pl
import pytest

import adaline
from adaline import GaussianClassifier, LeastSquares
from adaline.data import Encoding, Prepared, blocks, export, fit
from adaline.errors import ModelFileError
from adaline.filters import FILTERS
from exported import InC, in_duckdb, in_python, in_sqlite, text_of
from model_zoo import MODELS, X, made, rows_for, three, two, y

# Sums are taken in another order: a few roundings of 1.1e-16 for each of at most 2100 columns.
CLOSE = {"rtol": 1e-12, "atol": 1e-12}
GAUSSIAN = {"rtol": 1e-9, "atol": 1e-9}  # `predict` measures from the centre, weights from zero

NOT = ("Polynomial", "Bayes", "Kernel", "Moments", "Class", "Triangle", "MaxM", "Separability")
NOT += (*FILTERS, "TfDf", "Prepared")
NOT += ("GaussianClassifier, full", "GaussianClassifier, diagonal")
RUN = [name for name in MODELS if not name.startswith(NOT)]
REFUSED = [name for name in MODELS if name.startswith(NOT) and name != "Prepared"]


def dense(rows):
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def named(model, rows):
    names = model._names() if hasattr(model, "_names") else []
    return [dict(zip(names, row, strict=True)) for row in dense(rows).tolist()]


def close(model):
    return GAUSSIAN if type(model).__name__ == "GaussianClassifier" else CLOSE


def compare(model, answers, rows, **options):
    """answers: (prediction, probabilities or None) of each row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = np.asarray(model.predict(rows, **options))
        chances = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    predicted = [answer for answer, _ in answers]
    if told.dtype.kind == "f" and not hasattr(model, "classes_"):
        assert np.allclose(np.array(predicted, dtype=float), told, **close(model))
        return
    assert predicted == told.tolist()
    if chances is not None:
        assert np.allclose([p for _, p in answers], chances, **close(model))


def of_python(model, rows, folder, **options):
    module = in_python(text_of(model, "python", **options))
    likely = module["probabilities"]
    return [(module["predict"](row), list(likely(row).values()) or None) for row in rows]


def of_c(model, rows, folder, **options):
    classes = model.classes_.tolist() if hasattr(model, "classes_") else []
    call = InC(text_of(model, "c", **options), folder, len(rows[0]))
    answers = []
    for row in rows:
        code, out = call(list(row.values()), len(classes) or len(model.fit_.b))
        likely = out if hasattr(model, "predict_proba") else None
        single = not classes and model._one_target
        answers.append((classes[code], likely) if classes else (out[0] if single else out, None))
    shown = [str(label).lower() if isinstance(label, bool) else str(label) for label in classes]
    assert not classes or call.labels(len(classes)) == shown
    return answers


def of_sql(run, model, rows, folder, **options):
    told = run(text_of(model, "sql", **options), rows)
    if not hasattr(model, "classes_"):
        several = [key for key in told[0] if key.startswith("prediction ")]
        return [([row[k] for k in several] if several else row["prediction"], None) for row in told]
    heads = [f"p({label})" for label in model.classes_.tolist()]
    probable = heads[0] in told[0]
    fix = bool if model.classes_.dtype == bool else lambda label: label  # SQLite has 1 for TRUE
    return [
        (fix(row["prediction"]), [row[head] for head in heads] if probable else None)
        for row in told
    ]


LANGUAGES = {
    "python": of_python,
    "c": of_c,
    "sqlite": partial(of_sql, in_sqlite),
    "duckdb": partial(of_sql, in_duckdb),
}
in_every_language = pytest.mark.parametrize("answers", LANGUAGES.values(), ids=LANGUAGES)


@pytest.mark.parametrize("to", ["sql", "c", "python"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_linear_is_refused_with_a_sentence(name, to):
    with pytest.raises(ModelFileError, match=r"not exported|cannot be stored"):
        export(made(name), to)


COLUMNS = ("size", 'a "b" c', "it's; DROP TABLE data; --", "*/ int x; /*", "new\nline", "\\", "??/")
HOSTILE = ["o'hara", '"', "*/", "\\", "\n", "??/", "??'", "ß", "-- x", "{title}", "def predict("]


def table(rng, n=60):
    """A table whose names and texts try to break out of their quotes."""
    numbers = {name: rng.standard_normal(n) for name in COLUMNS}
    texts = {f"{name} text": rng.choice(HOSTILE, n) for name in COLUMNS[1:]}
    return pl.DataFrame(numbers | texts)


def prepared(frame, target, learner=None, **options):
    encoding = Encoding.learn(frame, **options)
    rows = np.concatenate([encoding.encode(block) for block in blocks(frame)])
    return Prepared(encoding, (learner or adaline.Ridge()).fit(rows, target))


def compare_all(model, frame, folder):
    """SQL, Python and C against the model, on the rows of a frame."""
    dicts = frame.to_dicts()
    told = model.predict(frame)
    for run in (in_sqlite, in_duckdb):
        try:
            found = run(text_of(model, "sql"), dicts)
        except pytest.skip.Exception:
            continue
        same([row["prediction"] for row in found], told)
    module = in_python(text_of(model, "python"))
    same([module["predict"](row) for row in dicts], told)
    if any(entry.levels is not None for entry in model.encoding.inputs):
        with pytest.raises(ModelFileError, match="texts"):
            export(model, "c")
        return
    names = [entry.name for entry in model.encoding.inputs]
    call = InC(text_of(model, "c"), folder, len(names))
    same([call([_for_c(row[name]) for name in names])[1][0] for row in dicts], told)


def _for_c(value):
    return float("nan") if value is None else float(value)


def same(found, told):
    if told.dtype.kind == "f":
        assert np.allclose(np.array(found, dtype=float), told, rtol=1e-12, atol=1e-12)
    else:
        assert found == told.tolist()


def test_names_and_texts_cannot_break_out(rng, tmp_path):
    frame = table(rng)
    compare_all(prepared(frame, rng.standard_normal(60)), frame, tmp_path)


@pytest.mark.parametrize("columns", [("size", "\\", "??/"), ("size", "??/ text")])
def test_gaps_are_filled_as_the_encoding_says(rng, tmp_path, columns):
    frame = (
        table(rng)
        .select(*columns)
        .with_columns(
            pl.when(pl.int_range(pl.len()) % 5 == 0)
            .then(None)
            .otherwise(pl.col("size"))
            .alias("size")
        )
    )
    compare_all(prepared(frame, rng.standard_normal(60), missing="mean"), frame, tmp_path)


def test_new_levels_are_no_indicator_or_no_answer(rng, tmp_path):
    frame = table(rng).select("size", "\\ text")
    new = frame.with_columns(pl.lit("never seen").alias("\\ text"))[:3]
    zeros = prepared(frame, rng.standard_normal(60), unknown="zeros")
    compare_all(zeros, new, tmp_path)
    refuse = prepared(frame, rng.standard_normal(60))
    assert in_sqlite(text_of(refuse, "sql"), new.to_dicts())[0]["prediction"] is None
    with pytest.raises(ValueError, match="missing or unknown"):
        in_python(text_of(refuse, "python"))["predict"](new.to_dicts()[0])


@in_every_language
@pytest.mark.parametrize("name", RUN)
def test_every_language_answers_as_the_model_does(name, answers, tmp_path):
    if "wide" in name and isinstance(answers, partial):
        pytest.skip("tables have fewer columns")
    model = made(name)
    rows = rows_for(name, model)[:20]
    compare(model, answers(model, named(model, rows), tmp_path), rows)


@in_every_language
@pytest.mark.parametrize("costs", [None, [[0.0, 9.0, 1.0], [1.0, 0.0, 5.0], [2.0, 1.0, 0.0]]])
def test_costs_decide_elsewhere_too(costs, answers, tmp_path):
    model = adaline.LogisticRegression(costs=costs).fit(X, three)
    compare(model, answers(model, named(model, X), tmp_path), X)


@in_every_language
@pytest.mark.parametrize("labels", [two, three])
def test_scores_beyond_the_range_of_exp_are_safe(labels, answers, tmp_path):
    model = adaline.LogisticRegression().fit(X, labels)
    far = np.vstack([X[:4] * 1e6, -X[:4] * 1e6])
    compare(model, answers(model, named(model, far), tmp_path), far)


@in_every_language
@pytest.mark.parametrize("learner", [adaline.PoissonRegression, adaline.GammaRegression])
def test_counts_and_amounts_have_exposures(tmp_path, learner, answers):
    model = learner().fit(X, np.abs(y).round() + 1.0)
    years = np.linspace(1.0, 3.0, len(X))
    rows = [row | {"years": t} for row, t in zip(named(model, X), years.tolist(), strict=True)]
    compare(model, answers(model, rows, tmp_path, exposure="years"), X, exposure=years)


def test_exposures_of_other_models_are_refused():
    with pytest.raises(ModelFileError, match="exposure"):
        export(made("Ridge"), "sql", exposure="years")


def test_names_of_tables_and_functions(tmp_path):
    model = made("Ridge")
    rows = [dict(zip(["x0", "x1", "x2"], row, strict=True)) for row in X[:3].tolist()]
    odd = 'my "table"; DROP'
    found = in_sqlite(text_of(model, "sql", name=odd), rows, odd)
    assert np.allclose([row["prediction"] for row in found], model.predict(X[:3]), **CLOSE)
    assert "rent" in in_python(text_of(model, "python", name="rent"))
    assert "int rent(const double *row, double *out)" in text_of(model, "c", name="rent")
    for wrong in ("", "a b", "1x", "_x", "x\n", "x(){"):
        with pytest.raises(ModelFileError, match="name"):
            export(model, "c", name=wrong)
    with pytest.raises(ModelFileError, match="neither"):
        export(model, "json", name="x")
    with pytest.raises(TypeError, match="name"):
        export(model, "sql", name=3)


def messy(rng, n=400):
    """A table as people have them: percent, money, dates, gaps, rare levels."""

    first = datetime.date(2019, 12, 30)
    dates = [first + datetime.timedelta(days=int(d)) for d in rng.integers(0, 900, n)]
    share, price = rng.uniform(0, 100, n).round(1), rng.uniform(-2000, 9000, n).round(2)
    colour = rng.choice(["red", "blue", "green", None], n, p=[0.5, 0.3, 0.1, 0.1])
    colour[:25] = [f"rare {k}" for k in range(25)]
    gaps = rng.random((n, 2)) < 0.2
    raw = {
        "share": ["?" if g else f"{s} %" for s, g in zip(share, gaps[:, 0], strict=True)],
        "price": [f"-${-v:,.2f}" if v < 0 else f"${v:,.2f}" for v in price.tolist()],
        "sold": [None if g else f"{d:%d/%m/%Y}" for d, g in zip(dates, gaps[:, 1], strict=True)],
        "colour": colour.tolist(),
    }
    read = {
        "share": [None if g else s for s, g in zip(share.tolist(), gaps[:, 0], strict=True)],
        "price": price.tolist(),
        "sold": [None if g else d for d, g in zip(dates, gaps[:, 1], strict=True)],
        "colour": colour.tolist(),
    }
    return pl.DataFrame(raw), pl.DataFrame(read, strict=False)


def test_tables_as_people_have_them(rng, tmp_path):
    raw, read = messy(rng)
    y = rng.standard_normal(raw.height)
    encoding = Encoding.learn(raw, missing="auto", unknown="zeros", rare=5)
    rows = np.concatenate([encoding.encode(b) for b in encoding.prepare(blocks(raw))])
    model = Prepared(encoding, adaline.Ridge(1.0).fit(rows, y))
    kinds = {name.partition("=")[0] for name in encoding.names}
    assert {"share is missing", "sold", "sold month", "colour"} <= kinds
    assert any(entry.merged for entry in encoding.inputs)
    told = model.predict(raw)
    module = in_python(text_of(model, "python"))
    same([module["predict"](row) for row in read.to_dicts()], told)
    with pytest.raises(ValueError, match="not a finite number"):
        module["predict"](raw.to_dicts()[0])
    with pytest.raises(ModelFileError, match="month"):
        export(model, "sql")
    new = [dict(row, colour="mauve") for row in read.to_dicts()[:5]]
    told = model.predict(raw[:5].with_columns(colour=pl.lit("mauve")))
    same([module["predict"](row) for row in new], told)


@pytest.mark.parametrize("run", [in_sqlite, in_duckdb])
@pytest.mark.parametrize("costs", [None, "unlike"])
@pytest.mark.parametrize("classes", [2, 3])
def test_no_column_of_a_table_is_taken_for_one_that_the_statement_makes(run, costs, classes):
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = np.array(["low", "mid", "top"])[np.clip(X[:, 0] * 2 + 1, 0, classes - 1).astype(int)]
    table = 1.0 - np.eye(classes) + 2.0 * (np.arange(classes) == 0)
    model = GaussianClassifier(costs=None if costs is None else table).fit(X, y)
    made = ["score", "top", "cost_0", "e_0", "e_1", "p_0", "score_0"]
    own = [*made, *(f"adaline_{name}" for name in made), "adaline_score 0", "a", "t"]
    rows = [{"x0": x[0], "x1": x[1], **dict.fromkeys(own, 77.0), "p(low)": 0.9} for x in X.tolist()]
    text = text_of(model, "sql")
    found = run(text, rows)
    assert [row["prediction"] for row in found] == model.predict(X).tolist()
    p = model.predict_proba(X)
    assert np.allclose([row["p(mid)"] for row in found], p[:, 1], **CLOSE)
    clean = [{"x0": x[0], "x1": x[1]} for x in X.tolist()]
    assert set(run(text, clean)[0]) <= {"x0", "x1", "prediction", "p(low)", "p(mid)", "p(top)"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("unknown", ["refuse", "zeros"])
@pytest.mark.parametrize("learned", [["a", "b", "c"], ["a", "b", ""], ["a", "b", None]])
def test_an_empty_text_is_one_thing_for_predict_and_for_every_export(learned, unknown):
    table = pl.DataFrame({"x": learned * 20, "y": [1.0, 5.0, 9.0] * 20})
    encoding = Encoding.learn(table, "y", missing="auto", unknown=unknown)
    prepared = Prepared(encoding, fit(LeastSquares(), table, "y", encoding=encoding))
    del prepared.model.encoding_
    row = {"x": ""}
    frame = pl.DataFrame([row])
    answers = [
        in_sqlite(text_of(prepared, "sql"), [row])[0]["prediction"],
        in_duckdb(text_of(prepared, "sql"), [row])[0]["prediction"],
    ]
    try:
        (told,) = prepared.predict(frame)
    except ValueError:
        assert answers == [None, None]
        with pytest.raises(ValueError, match="x"):
            in_python(text_of(prepared, "python"))["predict"](row)
    else:
        answers.append(in_python(text_of(prepared, "python"))["predict"](row))
        assert np.allclose(answers, told, atol=1e-9)
        if "" not in learned:
            (gap,) = prepared.predict(frame.with_columns(x=pl.lit(None, pl.String)))
            assert told == gap

"""Logistic regression on LIBSVM folders and other wide rows, out of core, against scipy at once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from adaline import LogisticRegression, Ridge
from adaline.data import blocks, fit
from adaline.data.reading.libsvm import parse_plain, parse_words
from adaline.errors import DataError
from reference_wide_logistic import minimum, penalised_loss, wide_data

FILES = 5


def folder_of(path, X, y, files=FILES, **options):
    """Consecutive rows in files of different lengths."""
    path.mkdir(exist_ok=True)
    cuts = np.linspace(0, len(y), files + 1).astype(int)
    for k, (i, j) in enumerate(itertools.pairwise(cuts)):
        dump_svmlight_file(X[i:j], y[i:j], str(path / f"part.{k}.svm"), zero_based=False, **options)
    return path


def bits(model):
    return model.coef_.tobytes() + model.intercept_.tobytes()


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_folder_gives_the_minimum_and_a_true_distance(rng, tmp_path, K, intercept):
    X, y = wide_data(rng, K=K)
    folder = folder_of(tmp_path / "rows", X, y)
    best, least = minimum(X, y, 1.0, intercept)
    model = fit(LogisticRegression(fit_intercept=intercept), blocks(folder, rows=40))
    theta = np.column_stack([model.coef_, model.intercept_])
    f = penalised_loss(theta, X, y, 1.0, intercept)[0]
    said = model.certificate_.evidence
    assert model.certificate_.kind == "optimal"
    assert f - least <= 1e-8 * f
    assert said["value"] == pytest.approx(f, rel=1e-12)
    assert np.linalg.norm(model.coef_ - best[:, :-1]) <= said["distance_bound"] + 1e-7
    assert model.intercept_.sum() == pytest.approx(0.0, abs=1e-12) if K > 2 else True
    assert model.n_features_in_ == X.shape[1]
    assert model.feature_names_in_[-1] == f"x{X.shape[1]}"


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_memory_and_files_agree_and_predict_files(rng, tmp_path):
    X, y = wide_data(rng)
    folder = folder_of(tmp_path / "rows", X, y)
    model = fit(LogisticRegression(tol=1e-12), str(folder / "*.svm"), "y")
    inside = LogisticRegression(tol=1e-12).fit(X, y)
    # Both gaps are 1e-12 of the loss of about 100, and alpha is 1.
    assert np.linalg.norm(model.coef_ - inside.coef_) <= 4e-5
    found = [model.predict(model.encoding_.encode(block)) for block in blocks(folder)]
    assert np.mean(np.concatenate(found) == y) > 0.8


def test_two_processes_give_the_same_bits(rng, tmp_path):
    X, y = wide_data(rng, n=120)
    folder = folder_of(tmp_path / "rows", X, y)
    models = [fit(LogisticRegression(tol=1e-2), str(folder), jobs=jobs) for jobs in (1, 2)]
    assert bits(models[0]) == bits(models[1])


def test_files_agree_on_the_number_of_features(rng, tmp_path):
    """Only one file has the largest index, and the first has the smallest."""
    X, y = wide_data(rng)
    X = X.tolil()
    X[60:, 2000:] = 0.0
    folder = folder_of(tmp_path / "rows", X.tocsr(), y)
    whole = blocks(folder)
    assert (len(whole.names), whole.rows) == (2301, 240)
    assert all(block.matrix.shape[1] == 2301 for block in whole)
    given = blocks(folder, n_features=4000)
    assert (len(given.names), given.names[-1]) == (4001, "x4000")
    model = fit(LogisticRegression(tol=1e-3), folder, n_features=4000)
    assert model.coef_.shape == (1, 4000)
    assert not model.coef_[0, 2300:].any()


def test_an_index_of_zero_in_any_file_counts_for_all(rng, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:5 3:1\n-1 2:1\n")
    (tmp_path / "b.svm").write_text("1 0:7\n")
    source = blocks([tmp_path / "a.svm", tmp_path / "b.svm"])
    assert source.names == ("y", "x0", "x1", "x2", "x3")
    found = np.concatenate([block.matrix.toarray() for block in source])
    assert found.tolist() == [[1, 0, 5, 0, 1], [-1, 0, 0, 1, 0], [1, 7, 0, 0, 0]]


def test_narrow_folders_are_for_every_learner(rng, tmp_path):
    X, y = wide_data(rng, n=90, p=12, each=4)
    folder = folder_of(tmp_path / "rows", X, y)
    model = fit(Ridge(1.0), folder, "y")
    assert model.coef_ == pytest.approx(Ridge(1.0).fit(X.toarray(), y).coef_, abs=1e-9)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1 3:x", "line 9 has '3:x'"),
        ("1 3:nan", "line 9 of .*part.31.svm has nan in the column 'x3'"),
        ("nan 3:1", "the label at line 9 of .*part.31.svm is nan"),
        ("1 -3:1", "the index -3"),
        ("1 qid:3 4:1", "line 9 has 'qid:3'"),
    ],
)
def test_a_bad_row_of_one_file_is_named(rng, tmp_path, line, words):
    X, y = wide_data(rng, n=40 * 10, each=3)
    folder = folder_of(tmp_path / "rows", X, y, files=40)
    bad = folder / "part.31.svm"
    lines = bad.read_text().splitlines()
    lines[8] = line
    bad.write_text("\n".join(lines) + "\n")
    model = LogisticRegression()
    with pytest.raises(DataError, match=words) as caught:
        fit(model, folder)
    assert "part.31.svm" in str(caught.value) or "-3" in words
    assert not hasattr(model, "coef_")


def test_an_index_beyond_n_features_is_named(rng, tmp_path):
    X, y = wide_data(rng)
    folder = folder_of(tmp_path / "rows", X, y)
    with pytest.raises(DataError, match=r"part.0.svm: line 1 has the index 2300, and there are 21"):
        fit(LogisticRegression(), folder, n_features=2100)


@pytest.mark.parametrize("after", [1, 7, 23, 40])
def test_a_stopped_run_goes_on_from_its_checkpoint_with_the_same_bits(rng, tmp_path, after):
    X, y = wide_data(rng, n=120)
    source = blocks(folder_of(tmp_path / "rows", X, y), rows=20)
    whole = fit(LogisticRegression(tol=1e-4), source)
    told = []

    def stop(done, rows):
        told.append(done)
        if len(told) == after:
            raise KeyboardInterrupt

    saved = {"checkpoint": tmp_path / "saved", "every": 0.0}
    model = LogisticRegression(tol=1e-4)
    with pytest.raises(KeyboardInterrupt):
        fit(model, source, **saved, progress=stop)
    assert not hasattr(model, "coef_")
    more = []
    fit(model, source, **saved, progress=lambda done, rows: more.append(done))
    assert bits(model) == bits(whole)
    assert model.fit_.stopped == whole.fit_.stopped
    pieces = len(list(source.descriptors()))
    passes = model.certificate_.evidence["passes"]
    assert len(more) + after == pytest.approx(pieces * passes, abs=1)  # nothing was done twice
    with pytest.raises(DataError, match="another run"):
        fit(LogisticRegression(alpha=2.0), source, **saved)


def test_dense_rows_of_many_columns_are_fitted_too(rng):
    X, y = wide_data(rng, p=2100)
    least = minimum(X, y)[1]
    model = fit(LogisticRegression(), blocks(np.column_stack([y, X.toarray()]), rows=50), "x0")
    f = penalised_loss(np.column_stack([model.coef_, model.intercept_]), X, y, 1.0, True)[0]
    assert model.certificate_.kind == "optimal"
    assert f - least <= 1e-8 * f


@pytest.mark.parametrize("K", [2, 3])
def test_columns_far_from_zero_cost_no_more_passes(rng, K):
    """The bias takes up their means, so that both fits have the same weights to find."""
    X, y = wide_data(rng, n=120, p=2100, K=K)
    models = [
        fit(LogisticRegression(tol=1e-4), np.column_stack([y, X.toarray() + far]), "x0")
        for far in (0.0, 2.0)
    ]
    near, far = (model.certificate_.evidence["passes"] for model in models)
    assert far <= 2 * near  # four to eight times as many, were they not centred
    # Both gaps are 1e-4 of a loss below 120, and alpha is 1: |w - w*|^2 <= 2 gap.
    assert np.linalg.norm(models[0].coef_ - models[1].coef_) <= 2 * np.sqrt(2 * 120 * 1e-4)


def test_many_classes_of_fewer_columns_are_wide_too(rng):
    X, y = wide_data(rng, n=120, p=700, K=6)
    least = minimum(X, y)[1]
    model = fit(LogisticRegression(), blocks(np.column_stack([y, X.toarray()]), rows=50), "x0")
    f = penalised_loss(np.column_stack([model.coef_, model.intercept_]), X, y, 1.0, True)[0]
    assert model.certificate_.kind == "optimal"
    assert f - least <= 1e-8 * f


def test_what_gradients_cannot_do_is_refused(rng, tmp_path):
    X, y = wide_data(rng)
    folder = folder_of(tmp_path / "rows", X, y)
    with pytest.raises(DataError, match="give alpha > 0"):
        fit(LogisticRegression(alpha=0.0), folder)
    with pytest.raises(ValueError, match="give a number"):
        fit(LogisticRegression(alpha="auto"), folder)
    with pytest.raises(DataError, match="has one class"):
        fit(LogisticRegression(), folder_of(tmp_path / "one", X, np.ones(len(y))))
    with pytest.raises(DataError, match="no row that counts has the class 9"):
        fit(LogisticRegression(), folder, classes=[0, 1, 9])
    with pytest.raises(TypeError, match="target is None"):
        fit(LogisticRegression(), np.ones((3, 3)))
    with pytest.raises(ValueError, match="n_features=3 is of LIBSVM files"):
        blocks(np.ones((3, 3)), n_features=3)


def test_few_passes_end_in_an_honest_answer(rng, tmp_path):
    X, y = wide_data(rng)
    folder = folder_of(tmp_path / "rows", X, y)
    with pytest.warns(match="max_iter steps were made"):
        model = fit(LogisticRegression(max_iter=1), folder)  # ten passes
    assert model.certificate_.kind == "unproven"
    best, _ = minimum(X, y)
    away = np.linalg.norm(model.coef_ - best[:, :-1])
    assert away <= model.certificate_.evidence["distance_bound"]  # infinite where nothing is proven


def test_a_tolerance_below_rounding_ends_where_rounding_allows_no_more(rng):
    X, y = wide_data(rng, n=80)
    rows = blocks(np.column_stack([y, X.toarray()]), rows=40)
    model = fit(LogisticRegression(tol=1e-25), rows, "x0")
    assert "rounding allows no further step" in model.fit_.stopped
    best, _ = minimum(X, y)
    assert np.linalg.norm(model.coef_ - best[:, :-1]) < 1e-7


NUMBERS = ["0", "-0", "1", "+2.5", "0.1", ".5", "5.", "1e3", "1.5E-7", "9007199254740992", "3e22"]
ODD = ["inf", "1e400", "0.12345678901234567890123", "1e-30", "0x1", "1_0", "1e", "--1", "."]


def test_text_is_read_alike_byte_by_byte_and_word_by_word(rng):
    for odd in ("", *ODD):
        lines = []
        for _ in range(12):
            names = rng.choice(50, size=4, replace=False) + 1
            values = [*rng.choice(NUMBERS, size=3), odd or "7"]
            pairs = [f"{j}:{v}" for j, v in zip(names, values, strict=True)]
            lines.append(" ".join([str(rng.choice(NUMBERS)), *pairs]))
        text = rng.choice(["\n", "\r\n", " \n\n\t"]).join(lines).encode()
        plain = parse_plain(text)
        if plain is None:
            assert odd, text
            continue
        for a, b in zip(plain, parse_words(text), strict=True):
            assert a.astype(float).tobytes() == b.astype(float).tobytes()

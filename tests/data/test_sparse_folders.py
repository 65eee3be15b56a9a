"""Logistic regression on LIBSVM folders and other wide rows, out of core, against scipy at once."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from adaline import LogisticRegression
from adaline.data import blocks, fit
from adaline.errors import DataError
from reference_losses import penalised_loss, wide_data
from reference_losses import wide_minimum as minimum

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


def test_an_index_of_zero_in_any_file_counts_for_all(rng, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:5 3:1\n-1 2:1\n")
    (tmp_path / "b.svm").write_text("1 0:7\n")
    source = blocks([tmp_path / "a.svm", tmp_path / "b.svm"])
    assert tuple(source.names) == ("y", "x0", "x1", "x2", "x3")
    found = np.concatenate([block.matrix.toarray() for block in source])
    assert found.tolist() == [[1, 0, 5, 0, 1], [-1, 0, 0, 1, 0], [1, 7, 0, 0, 0]]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1 3:x", "line 9 has '3:x'"),
        ("1 3:nan", "line 9 of .*part.31.svm has nan in the column 'x3'"),
        ("nan 3:1", "the label is nan at line 9 of .*part.31.svm"),
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
        fit(LogisticRegression(), blocks(folder, n_features=2100))


@given(st.lists(st.tuples(st.floats(allow_nan=False), st.sampled_from(["%r", "%.6g", "%.25e"]))))
def test_every_number_is_read_as_python_reads_it(numbers):
    texts = [form % x for x, form in numbers]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "t.svm").write_text("\n".join(f"{t} 1:{t} # {t}" for t in [*texts, "+1"]))
        (block,) = blocks(Path(folder) / "t.svm")
    expected = np.array([float(text) for text in [*texts, "1"]])
    assert block.labels.tobytes() == expected.tobytes()
    assert block.features.data.tobytes() == expected.tobytes()
    np.testing.assert_array_equal(block.matrix.toarray(), np.column_stack([expected] * 2))

"""Tables that skip scikit-learn's validation give the same numbers, names, errors and warnings."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adaline import LeastSquares, LogisticRegression
from adaline.estimators import _tables
from adaline.estimators._base import checked_rows

NUMBERS = np.array([[1.0, 4.0, 2.0], [2.0, 3.0, 5.0], [3.0, 7.0, 1.0], [5.0, 6.0, 4.0]])
NAMES = ["a", "b", "c"]
PLAIN = {
    "floats": pd.DataFrame(NUMBERS, columns=NAMES),
    "float32": pd.DataFrame(NUMBERS.astype(np.float32), columns=NAMES),
    "integers": pd.DataFrame(NUMBERS.astype(np.int64), columns=NAMES),
    "small integers": pd.DataFrame(NUMBERS.astype(np.uint8), columns=NAMES),
    "mixed": pd.DataFrame(NUMBERS, columns=NAMES).astype({"a": np.int64, "b": np.float32}),
    "NaN": pd.DataFrame(NUMBERS, columns=NAMES).replace(4.0, np.nan),
    "one row": pd.DataFrame(NUMBERS, columns=NAMES)[:1],
    "some rows": pd.DataFrame(NUMBERS, columns=NAMES)[::2],
}
OTHERS = {
    "booleans": PLAIN["floats"].assign(b=[True, False, True, True]),
    "half": PLAIN["floats"].astype(np.float16),
    "objects": PLAIN["floats"].astype(object),
    "texts": PLAIN["floats"].assign(b=["x", "y", "x", "y"]),
    "dates": PLAIN["floats"].assign(b=pd.Timestamp(2020, 1, 1)),
    "nullable": PLAIN["floats"].convert_dtypes(),
    "missing": PLAIN["floats"].assign(b=pd.array([1, None, 2, 3], dtype="Int64")),
    "categories": PLAIN["floats"].assign(b=pd.Categorical([1, 2, 1, 2])),
    "sparse": PLAIN["floats"].astype(pd.SparseDtype(np.float64, 0.0)),
    "numbered": pd.DataFrame(NUMBERS),
    "mixed names": pd.DataFrame(NUMBERS, columns=["a", 1, "c"]),
    "names twice": pd.DataFrame(NUMBERS, columns=["a", "a", "c"]),
    "names of two levels": pd.DataFrame(NUMBERS, columns=pd.MultiIndex.from_product([[1], NAMES])),
    "no rows": PLAIN["floats"][:0],
    "no columns": PLAIN["floats"][[]],
    "series": PLAIN["floats"]["a"],
}
TABLES = PLAIN | OTHERS


def outcome(X, learner, reset):
    """What validation gives, or says; and what the learner knows then."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            rows = checked_rows(learner, X, reset=reset)
            rows = rows.toarray() if sparse.issparse(rows) else rows
            found = (rows.tobytes("C"), rows.dtype, rows.shape)
        except (ValueError, TypeError) as error:
            return type(error), str(error)
    names = getattr(learner, "feature_names_in_", np.empty(0, dtype=object))
    told = [(w.category, str(w.message)) for w in said]
    return found, names.tolist(), names.dtype, learner.n_features_in_, told


def both(monkeypatch, X, reset, **known):
    """The outcome as it is, and that of scikit-learn's validation alone."""
    found = []
    for skips in (True, False):
        learner = LeastSquares()
        learner.__dict__.update(known)
        with monkeypatch.context() as patch:
            if not skips:
                patch.setattr(_tables, "plain_values", lambda *args: None)
            found.append(outcome(X, learner, reset))
    return found


@pytest.mark.parametrize("kind", TABLES)
def test_a_fit_sees_what_scikit_learn_sees(monkeypatch, kind):
    mine, others = both(monkeypatch, TABLES[kind], reset=True)
    assert mine == others


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("names", [NAMES, ["b", "a", "c"], ["a", "b"], ["a", "b", "d"], None])
def test_a_prediction_sees_what_scikit_learn_sees(monkeypatch, kind, names):
    known = {"n_features_in_": 3}
    if names is not None:
        known = {
            "n_features_in_": len(names),
            "feature_names_in_": np.array(names, dtype=object),
        }
    mine, others = both(monkeypatch, TABLES[kind], reset=False, **known)
    assert mine == others


def test_plain_tables_skip_the_validation_and_others_do_not():
    for kind, X in TABLES.items():
        skipped = _tables.plain_values(LeastSquares(), X, reset=True) is not None
        assert skipped == (kind in PLAIN), kind


def test_a_table_of_other_names_is_refused_after_one_of_the_right_names():
    X, y = PLAIN["floats"], [1.0, 2.0, 4.0, 3.0]
    model = LeastSquares().fit(X, y)
    assert np.array_equal(model.predict(X), model.predict(X.copy()))
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[["b", "a", "c"]])
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(NUMBERS)


def test_csr_rows_of_the_wrong_width_or_none_are_refused():
    rng = np.random.default_rng(0)
    X = sparse.random_array((40, 6), density=0.5, rng=rng, format="csr")
    model = LogisticRegression().fit(X, np.arange(40) % 2)
    assert np.array_equal(model.predict(X), model.predict(X.toarray()))
    with pytest.raises(ValueError, match="5 features"):
        model.predict(X[:, :5].tocsr())
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_csr_entries_that_are_no_numbers_are_refused_where_weights_are_zero(bad):
    X = sparse.csr_array(np.array([[1.0, 2.0], [2.0, bad], [3.0, 1.0]]))
    model = LeastSquares().fit(X[[0, 2]], [1.0, 2.0])
    model.coef_ = np.array([1.0, 0.0])
    with pytest.raises(ValueError, match="row 1, column 1"):
        model.predict(X)

"""Tables and CSR rows: names, widths and missing numbers are checked, or refused in a sentence."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adaline import LeastSquares, LogisticRegression

NUMBERS = np.array([[1.0, 4.0, 2.0], [2.0, 3.0, 5.0], [3.0, 7.0, 1.0], [5.0, 6.0, 4.0]])
PLAIN = {"floats": pd.DataFrame(NUMBERS, columns=["a", "b", "c"])}


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

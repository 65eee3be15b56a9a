"""Labels that are missing are called missing, whatever pandas or Python writes for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import adaline

GONE = [np.nan, None, pd.NA, pd.NaT, float("nan")]


@pytest.mark.parametrize("gone", GONE, ids=["nan", "None", "NA", "NaT", "float"])
@pytest.mark.parametrize("make", [list, pd.Series, lambda y: np.array(y, dtype=object)])
def test_a_missing_label_is_named_by_its_row(gone, make):
    y = ["a", "b", "a", gone, "b", "a"]
    with pytest.raises(ValueError, match="no label in row 3: contains NaN"):
        adaline.LogisticRegression().fit(np.arange(6.0)[:, None], make(y))

"""A newcomer meets nothing bad on real tables; `make tables FOLDER=...` is the long campaign."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

pytest.importorskip("pandas")
statsmodels = pytest.importorskip("statsmodels")

from real_tables import campaign  # noqa: E402

TABLES = sorted(Path(statsmodels.__file__).parent.glob("datasets/*/*.csv"))
BAD = {"defect", "refused", "row number", "contradiction", "not converged", "warned"}


@pytest.mark.parametrize("part", range(4))
def test_real_tables_are_learned_measured_and_predicted(part):
    assert len(TABLES) > 20
    log = io.StringIO()
    counts = campaign(TABLES[part::4], 0, log)
    assert counts["fits"] > 3
    assert not BAD & set(counts), log.getvalue()

"""Real tables that packages ship are read as they were recorded (`make corpus` reads 1,000)."""

from __future__ import annotations

import json
from pathlib import Path

import sklearn
import statsmodels

from corpus import differences, key_of, tables

RECORD = json.loads(Path(__file__).with_name("corpus.json").read_text())
FOLDERS = [Path(package.__file__).parent for package in (sklearn, statsmodels)]


def test_tables_of_packages_are_read_as_recorded():
    paths = [path for path in tables(FOLDERS) if key_of(path) in RECORD]
    assert len(paths) > 20
    assert list(differences(RECORD, paths)) == []

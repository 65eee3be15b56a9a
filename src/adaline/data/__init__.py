"""Blocks from files and tables, preprocessing, checkpoints and model files.

Every name loads on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline._names import lazily

_HOME = {
    "Block": "adaline.data.reading.source",
    "ColumnOptions": "adaline.data.columns.options",
    "Encoding": "adaline.data.columns.encoding",
    "FitOptions": "adaline.data.fitting.fit",
    "Prepared": "adaline.data.storing.model_files",
    "Source": "adaline.data.reading.source",
    "blocks": "adaline.data.reading.blocks",
    "cluster": "adaline.distributed.clusters",
    "export": "adaline.data.exporting.export",
    "describe": "adaline.data.storing.model_files",
    "fit": "adaline.data.fitting.fit",
    "load": "adaline.data.storing.model_files",
    "Table": "adaline.data.tables",
    "table": "adaline.data.tables",
    "workers": "adaline.distributed.clusters",
    "Look": "adaline.data.columns.look",
    "look": "adaline.data.columns.look",
    "save": "adaline.data.storing.model_files",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazily(globals(), _HOME)

if TYPE_CHECKING:
    from adaline.data.columns.encoding import Encoding as Encoding
    from adaline.data.columns.look import Look as Look
    from adaline.data.columns.look import look as look
    from adaline.data.columns.options import ColumnOptions as ColumnOptions
    from adaline.data.exporting.export import export as export
    from adaline.data.fitting.fit import FitOptions as FitOptions
    from adaline.data.fitting.fit import fit as fit
    from adaline.data.reading.blocks import blocks as blocks
    from adaline.data.reading.source import Block as Block
    from adaline.data.reading.source import Source as Source
    from adaline.data.storing.model_files import Prepared as Prepared
    from adaline.data.storing.model_files import describe as describe
    from adaline.data.storing.model_files import load as load
    from adaline.data.storing.model_files import save as save
    from adaline.data.tables import Table as Table
    from adaline.data.tables import table as table
    from adaline.distributed.clusters import cluster as cluster
    from adaline.distributed.clusters import workers as workers

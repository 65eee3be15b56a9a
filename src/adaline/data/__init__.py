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
    "workers": "adaline.distributed.executor",
    "Look": "adaline.data.columns.look",
    "look": "adaline.data.columns.look",
    "save": "adaline.data.storing.model_files",
}

__all__ = [
    "Block",
    "ColumnOptions",
    "Encoding",
    "Look",
    "Prepared",
    "Source",
    "Table",
    "blocks",
    "cluster",
    "describe",
    "export",
    "fit",
    "load",
    "look",
    "save",
    "table",
    "workers",
]

__getattr__, __dir__ = lazily(globals(), _HOME)

if TYPE_CHECKING:
    from adaline.data.columns.encoding import Encoding
    from adaline.data.columns.look import Look, look
    from adaline.data.columns.options import ColumnOptions
    from adaline.data.exporting.export import export
    from adaline.data.fitting.fit import fit
    from adaline.data.reading.blocks import blocks
    from adaline.data.reading.source import Block, Source
    from adaline.data.storing.model_files import Prepared, describe, load, save
    from adaline.data.tables import Table, table
    from adaline.distributed.clusters import cluster
    from adaline.distributed.executor import workers

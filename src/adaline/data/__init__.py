"""Blocks from files and tables, preprocessing, checkpoints and model files.

Every name loads on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline._lazy import lazily

_HOME = {
    "Block": "adaline.data._source",
    "Encoding": "adaline.data._encoding",
    "Prepared": "adaline.data.model_files",
    "Source": "adaline.data._source",
    "blocks": "adaline.data._blocks",
    "describe": "adaline.data.model_files",
    "fit": "adaline.data.fitting",
    "load": "adaline.data.model_files",
    "save": "adaline.data.model_files",
}

__all__ = [
    "Block",
    "Encoding",
    "Prepared",
    "Source",
    "blocks",
    "describe",
    "fit",
    "load",
    "save",
]

__getattr__, __dir__ = lazily(globals(), _HOME)

if TYPE_CHECKING:
    from adaline.data._blocks import blocks
    from adaline.data._encoding import Encoding
    from adaline.data._source import Block, Source
    from adaline.data.fitting import fit
    from adaline.data.model_files import Prepared, describe, load, save

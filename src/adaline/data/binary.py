"""The container of model files and checkpoints; its work is done in `_binary`."""

from adaline.data._binary import DTYPES, LIMIT, pack, read_file, unpack, write_atomically

__all__ = ["DTYPES", "LIMIT", "pack", "read_file", "unpack", "write_atomically"]

"""Files that appear whole or not at all; the work is done in `_outputs`."""

from adaline.data._outputs import Output, as_text, refuse_unwritable, write_atomically

__all__ = ["Output", "as_text", "refuse_unwritable", "write_atomically"]

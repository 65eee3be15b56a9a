"""Filters from states that came in a file."""

from __future__ import annotations

from typing import Any

from adaline.data.storing._nodes import resolved, same
from adaline.errors import ModelFileError
from adaline.filters import FILTERS


def resumed(name: str, state: Any) -> Any:
    """The filter of a state that goes on where it was; ModelFileError for any other state.

    `from_state` compares the arrays with the settings before it allocates memory for them.
    """
    if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
        raise ModelFileError(f"The file has no state of a {name}.")
    try:
        filter = resolved(FILTERS[name], name).from_state(dict(state))
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, MemoryError) as e:
        raise ModelFileError(f"The file holds no state of a {name}: {e}") from None
    if not same(dict(filter.state()), state):
        raise ModelFileError(f"The state of this {name} has parts that no {name} would have.")
    return filter

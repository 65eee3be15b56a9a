"""Adaptive filters: a delay line of the reference, weights that follow the error, and their state.

Filters, tasks by name and measures; every name loads on first use.
"""

# Type checkers read the imports at the end, which nothing else does.
# mypy: implicit-reexport
# ruff: noqa: F401, I001

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline._names import classes_in, lazily

# Every class of this package that derives from Filter; no other table names them.
FILTERS = classes_in(__file__, "Filter")

_FUNCTIONS = {
    "measures": "StepBounds Theory erle learning_curve max_step misalignment theory",
    "noise": "NoiseReduction noise_reduction",
    "cancelling": "cancel cancel_echo noise_filter",
    "tasks": "TaskResult enhance_line equalise identify predict",
}
_HOME = FILTERS | {
    name: f"adaline.filters.{module}"
    for module, names in _FUNCTIONS.items()
    for name in names.split()
}
__all__ = sorted(_HOME)

__getattr__, __dir__ = lazily(globals(), _HOME)

if TYPE_CHECKING:
    from adaline.filters.affine_projection import AffineProjection
    from adaline.filters.block_lms import BlockLMS
    from adaline.filters.cancelling import cancel, cancel_echo, noise_filter
    from adaline.filters.filtered_x import FilteredXLMS
    from adaline.filters.lms import LMS, NLMS
    from adaline.filters.measures import StepBounds, Theory, erle, learning_curve, max_step
    from adaline.filters.measures import misalignment, theory
    from adaline.filters.noise import NoiseReduction, noise_reduction
    from adaline.filters.rls import RLS
    from adaline.filters.tasks import TaskResult, enhance_line, equalise, identify, predict
    from adaline.filters.wiener import WienerFilter

"""Adaptive filters: a delay line of the reference, weights that follow the error, and their state.

Filters, tasks by name and measures; every name loads on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline._names import classes_in, lazily

# Every class of this package that derives from Filter; no other table names them.
FILTERS = classes_in(__file__, "Filter")

_FUNCTIONS = {
    "measures": "StepBounds Theory erle learning_curve max_step misalignment theory",
    "noise": "NoiseReduction noise_filter noise_reduction",
    "cancelling": "cancel cancel_echo",
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
    from adaline.filters.affine_projection import AffineProjection as AffineProjection
    from adaline.filters.block_lms import BlockLMS as BlockLMS
    from adaline.filters.cancelling import cancel as cancel
    from adaline.filters.cancelling import cancel_echo as cancel_echo
    from adaline.filters.filtered_x import FilteredXLMS as FilteredXLMS
    from adaline.filters.lms import LMS as LMS
    from adaline.filters.measures import (
        StepBounds as StepBounds,
    )
    from adaline.filters.measures import (
        Theory as Theory,
    )
    from adaline.filters.measures import (
        erle as erle,
    )
    from adaline.filters.measures import (
        learning_curve as learning_curve,
    )
    from adaline.filters.measures import (
        max_step as max_step,
    )
    from adaline.filters.measures import (
        misalignment as misalignment,
    )
    from adaline.filters.measures import (
        theory as theory,
    )
    from adaline.filters.nlms import NLMS as NLMS
    from adaline.filters.noise import (
        NoiseReduction as NoiseReduction,
    )
    from adaline.filters.noise import (
        noise_filter as noise_filter,
    )
    from adaline.filters.noise import (
        noise_reduction as noise_reduction,
    )
    from adaline.filters.rls import RLS as RLS
    from adaline.filters.tasks import (
        TaskResult as TaskResult,
    )
    from adaline.filters.tasks import (
        enhance_line as enhance_line,
    )
    from adaline.filters.tasks import (
        equalise as equalise,
    )
    from adaline.filters.tasks import (
        identify as identify,
    )
    from adaline.filters.tasks import (
        predict as predict,
    )
    from adaline.filters.wiener import WienerFilter as WienerFilter

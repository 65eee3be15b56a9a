"""Adaptive filters: a delay line of the reference, weights that follow the error, and their state.

Filters, tasks by name and measures; every name loads on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline._names import lazily

_HOME = {
    "AffineProjection": "adaline.filters.affine_projection",
    "BlockLMS": "adaline.filters.block_lms",
    "FilteredXLMS": "adaline.filters.filtered_x",
    "LMS": "adaline.filters.lms",
    "NLMS": "adaline.filters.nlms",
    "NoiseReduction": "adaline.filters.noise",
    "RLS": "adaline.filters.rls",
    "StepBounds": "adaline.filters.measures",
    "TaskResult": "adaline.filters.tasks.results",
    "Theory": "adaline.filters.measures",
    "WienerFilter": "adaline.filters.wiener",
    "cancel": "adaline.filters.tasks.noise_cancelling",
    "cancel_echo": "adaline.filters.tasks.echo_cancelling",
    "enhance_line": "adaline.filters.tasks.prediction",
    "equalise": "adaline.filters.tasks.equalisation",
    "erle": "adaline.filters.measures",
    "identify": "adaline.filters.tasks.identification",
    "learning_curve": "adaline.filters.measures",
    "max_step": "adaline.filters.measures",
    "misalignment": "adaline.filters.measures",
    "noise_filter": "adaline.filters.noise",
    "noise_reduction": "adaline.filters.noise",
    "predict": "adaline.filters.tasks.prediction",
    "theory": "adaline.filters.measures",
}

# Spelled out, for type checkers; a test compares it with the table above.
__all__ = [
    "LMS",
    "NLMS",
    "RLS",
    "AffineProjection",
    "BlockLMS",
    "FilteredXLMS",
    "NoiseReduction",
    "StepBounds",
    "TaskResult",
    "Theory",
    "WienerFilter",
    "cancel",
    "cancel_echo",
    "enhance_line",
    "equalise",
    "erle",
    "identify",
    "learning_curve",
    "max_step",
    "misalignment",
    "noise_filter",
    "noise_reduction",
    "predict",
    "theory",
]

__getattr__, __dir__ = lazily(globals(), _HOME)

if TYPE_CHECKING:
    from adaline.filters.affine_projection import AffineProjection
    from adaline.filters.block_lms import BlockLMS
    from adaline.filters.filtered_x import FilteredXLMS
    from adaline.filters.lms import LMS
    from adaline.filters.measures import (
        StepBounds,
        Theory,
        erle,
        learning_curve,
        max_step,
        misalignment,
        theory,
    )
    from adaline.filters.nlms import NLMS
    from adaline.filters.noise import NoiseReduction, noise_filter, noise_reduction
    from adaline.filters.rls import RLS
    from adaline.filters.tasks.echo_cancelling import cancel_echo
    from adaline.filters.tasks.equalisation import equalise
    from adaline.filters.tasks.identification import identify
    from adaline.filters.tasks.noise_cancelling import cancel
    from adaline.filters.tasks.prediction import enhance_line, predict
    from adaline.filters.tasks.results import TaskResult
    from adaline.filters.wiener import WienerFilter

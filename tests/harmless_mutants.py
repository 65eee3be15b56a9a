"""Changes that tests/mutants.py need not try: somebody read them, and says why they do not matter.

File below src/adaline, the change as tests/mutants.py prints it, and the reason.
"""

# ruff: noqa: E501

from __future__ import annotations

_UNUSED = "kernels read no second number of this schedule"
_ONE_MORE = "bounds one rounding more generously than it needs to be"
_SPEED = "a question of speed: both ways give the same sums within their bounds"

HARMLESS: dict[str, dict[str, str]] = {
    "decisions.py": {
        "checked_priors: abs(total - 1.0) > 1e-09  ->  abs(total - 1.0) >= 1e-09": "a sum near one is a multiple of 2**-53, and 1e-09 is none",
        "average_risk: np.abs(P.sum(axis=0) - 1.0) > 1e-06  ->  np.abs(P.sum(axis=0) - 1.0) >= 1e-06": "a sum near one is a multiple of 2**-53, and 1e-06 is none",
        "log_posterior: np.where(infinite, 0.0, -np.inf)  ->  np.where(infinite, 1.0, -np.inf)": "the posterior is normalised afterwards: one class has all of it",
    },
    "schedules.py": {
        "Constant.code: (neurons.CONSTANT, float(self.eta), 0.0)  ->  (neurons.CONSTANT, float(self.eta), 1.0)": _UNUSED,
        "OverK.code: (neurons.OVER_K, float(self.eta1), 0.0)  ->  (neurons.OVER_K, float(self.eta1), 1.0)": _UNUSED,
        "Auto.code: (neurons.AUTO, 1.0, 0.0)  ->  (neurons.AUTO, 3.0, 0.0)": _UNUSED,
        "Auto.code: (neurons.AUTO, 1.0, 0.0)  ->  (neurons.AUTO, 1.0, 1.0)": _UNUSED,
        "Absolute.code: (neurons.ABSOLUTE, 1.0, 0.0)  ->  (neurons.ABSOLUTE, 3.0, 0.0)": _UNUSED,
        "Absolute.code: (neurons.ABSOLUTE, 1.0, 0.0)  ->  (neurons.ABSOLUTE, 1.0, 1.0)": _UNUSED,
        "module: _ROUNDS = 100  ->  _ROUNDS = 101": "one round more is no worse",
        "_largest_eigenvalue: float(np.abs(X.data if is_sparse(X) else X).max(initial=0.0)) or 1.0  ->  float(np.abs(X.data if is_sparse(X) else X).max(initial=0.0)) or 3.0": "the unit of a matrix of zeros may be any",
        "_largest_eigenvalue: np.random.default_rng(0)  ->  np.random.default_rng(1)": "any random direction will do",
        "_largest_eigenvalue: (_ROUNDS + 1, _ROUNDS + 1)  ->  (_ROUNDS + 2, _ROUNDS + 1)": "a row that nobody reads",
        "_largest_eigenvalue: (_ROUNDS + 1, _ROUNDS + 1)  ->  (_ROUNDS + 1, _ROUNDS + 2)": "a column that nobody reads",
        "_largest_eigenvalue: (np.zeros((_ROUNDS + 1, _ROUNDS + 1)), 0.0, 0.0)  ->  (np.zeros((_ROUNDS + 1, _ROUNDS + 1)), 0.0, 1.0)": "it multiplies the zero vector before the first direction",
        "_largest_eigenvalue: top - before <= 1e-10 * top  ->  top - before < 1e-10 * top": "at most one round more",
        "_largest_eigenvalue: top - before <= 1e-10 * top  ->  top + before <= 1e-10 * top": "only rounds that change nothing more: slower, and as right",
        "_largest_eigenvalue: beta <= 1e-14 * top  ->  beta < 1e-14 * top": "where both are zero, the first condition has ended the rounds",
    },
    "row_sums/moment_sums.py": {
        "module: _FEW = 64  ->  _FEW = 65": _SPEED,
        "module: _THIN = 80  ->  _THIN = 81": _SPEED,
        "module: _SPREAD = 0.001  ->  _SPREAD = 1.002": _SPEED,
    },
    "moments.py": {
        "module: _MOST = 30000  ->  _MOST = 30001": "a round number",
        "module: TOGETHER = 64  ->  TOGETHER = 65": _SPEED,
        "module: 2.0 ** (-1072)  ->  2.0 ** (-1073)": "a square loses at most half of 2**-1074 by itself; the rest is a margin",
        "module: _FAR = -400  ->  _FAR = -401": "a round number",
        "Moments.about_zero: np.sqrt(4 * UNIT)  ->  np.sqrt(5 * UNIT)": _ONE_MORE,
        "Moments.__add__: 3 * UNIT * np.abs(d)  ->  4 * UNIT * np.abs(d)": _ONE_MORE,
        "Moments.__sub__: 3 * UNIT * np.abs(d)  ->  4 * UNIT * np.abs(d)": _ONE_MORE,
        "Moments.apart: X.shape[0] and X.shape[1] + Y.shape[1] <= _MOST  ->  X.shape[1] and X.shape[1] + Y.shape[1] <= _MOST": "moments of no rows are empty either way",
        "Moments.__sub__: n < -1e-09 * self.weight  ->  n <= -1e-09 * self.weight": "a tolerance for rounding, with no meaning at its very edge",
        "Moments.__add__: 4 * UNIT * np.where(d == 0.0, 0.0, np.abs(a.mean) + np.abs(b.mean))  ->  5 * UNIT * np.where(d == 0.0, 0.0, np.abs(a.mean) + np.abs(b.mean))": _ONE_MORE,
        "Moments.apart: X.shape[1] + Y.shape[1] <= _MOST  ->  X.shape[1] + Y.shape[1] < _MOST": _SPEED,
        "_of: additions + 16  ->  additions + 17": _ONE_MORE,
        "Moments.of: m.weight or 1.0  ->  m.weight or 3.0": "without weight there are no squares to judge",
        "Moments.apart: m.weight or 1.0  ->  m.weight or 3.0": "without weight there are no squares to judge",
    },
}

"""Changes that tests/mutants.py need not try: somebody read them, and says why they do not matter.

File below src/adaline, the change as tests/mutants.py prints it, and the reason.
"""

# ruff: noqa: E501

from __future__ import annotations

_UNUSED = "kernels read no second number of this schedule"
_ONE_MORE = "bounds one rounding more generously than it needs to be"
_ROUND_NUMBER = "a round number: a little more or less is as good"
_ROOT_LOST = "reach holds sqrt(lost): the first term is 2**50 times as large, or weights are faint"
_LARGER = "a larger bound is true as well, and claims less"
_EDGE = "a number that is computed and rounded, with no meaning at its very edge"
_SIDES = "sides are -1 or +1"
_ANY_NEGATIVE = "any negative number will do"
_SPEED = "a question of speed: both ways give the same sums within their bounds"

HARMLESS: dict[str, dict[str, str]] = {
    "decisions.py": {
        "checked_priors: abs(total - 1.0) > 1e-09  ->  abs(total - 1.0) >= 1e-09": "a sum near one is a multiple of 2**-53, and 1e-09 is none",
        "average_risk: np.abs(P.sum(axis=0) - 1.0) > 1e-06  ->  np.abs(P.sum(axis=0) - 1.0) >= 1e-06": "a sum near one is a multiple of 2**-53, and 1e-06 is none",
        "log_posterior: np.where(infinite, 0.0, -np.inf)  ->  np.where(infinite, 1.0, -np.inf)": "the posterior is normalised afterwards: one class has all of it",
    },
    "schedules.py": {
        "Constant.code: (codes.CONSTANT, float(self.eta), 0.0)  ->  (codes.CONSTANT, float(self.eta), 1.0)": _UNUSED,
        "OverK.code: (codes.OVER_K, float(self.eta1), 0.0)  ->  (codes.OVER_K, float(self.eta1), 1.0)": _UNUSED,
        "Auto.code: (codes.AUTO, 1.0, 0.0)  ->  (codes.AUTO, 3.0, 0.0)": _UNUSED,
        "Auto.code: (codes.AUTO, 1.0, 0.0)  ->  (codes.AUTO, 1.0, 1.0)": _UNUSED,
        "Absolute.code: (codes.ABSOLUTE, 1.0, 0.0)  ->  (codes.ABSOLUTE, 3.0, 0.0)": _UNUSED,
        "Absolute.code: (codes.ABSOLUTE, 1.0, 0.0)  ->  (codes.ABSOLUTE, 1.0, 1.0)": _UNUSED,
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
    "evaluation/_errors.py": {
        "Errors: mean: Any = 0.0  ->  mean: Any = 1.0": "the first rows set it",
        "Errors: field(default_factory=list, repr=False)  ->  field(default_factory=list, repr=True)": "`repr` is for people who look for defects",
        "Errors.add: truth.astype(np.float64).reshape(m, -1)  ->  truth.astype(np.float64).reshape(m, -2)": _ANY_NEGATIVE,
        "module: _KEPT = 1000000  ->  _KEPT = 1000001": _ROUND_NUMBER,
    },
    "evaluation/calibration.py": {
        "_kind: 'too low' if z > 0 else 'too high'  ->  'too low' if z > 1 else 'too high'": "it is asked where |z| is above 1.96",
        "_kind: 'too low' if z > 0 else 'too high'  ->  'too low' if z >= 0 else 'too high'": "it is asked where |z| is above 1.96",
        "_slope: np.array([0.0, unit])  ->  np.array([1.0, unit])": "Newton's method ends at the same slope",
        "_slope: np.linalg.det(H) > 1e-12 * H[0, 0] * H[1, 1]  ->  np.linalg.det(H) >= 1e-12 * H[0, 0] * H[1, 1]": _EDGE,
        "_slope: 4.0 / max(float(np.abs(Z @ step).max()), 1e-300)  ->  9.0 / max(float(np.abs(Z @ step).max()), 1e-300)": "the longest step of Newton's method may be some units more",
        "_slope: max(float(np.abs(Z @ step).max()), 1e-300)  ->  max(float(np.abs(Z @ step).max()), 1.0)": "steps below four units are taken whole",
        "_slope: float(np.abs(Z @ step).max()) < 1e-10  ->  float(np.abs(Z @ step).max()) <= 1e-10": _EDGE,
        "module: _STEPS, _ENDS = (50, 30.0)  ->  _STEPS, _ENDS = (51, 30.0)": "one step more is no worse",
    },
    "evaluation/compare.py": {
        "_tried: seconds * len(parts) > limit  ->  seconds * len(parts) >= limit": "seconds that are measured never meet the limit",
        "module: _PAIRS = 5000  ->  _PAIRS = 5001": _ROUND_NUMBER,
    },
    "evaluation/effects.py": {
        "_answers: np.asarray(asked(model, method, rows), dtype=np.float64).reshape(len(rows), -1)  ->  np.asarray(asked(model, method, rows), dtype=np.float64).reshape(len(rows), -2)": _ANY_NEGATIVE,
        "module: _POINTS = 41  ->  _POINTS = 42": _ROUND_NUMBER,
    },
    "evaluation/evidence.py": {
        "inflation: 1e-12 * max(values[-1:].tolist(), default=1.0)  ->  1e-12 / max(values[-1:].tolist(), default=1.0)": "the largest is 1 to 300: both limits lie far above rounding, and below what columns have",
        "inflation: max(values[-1:].tolist(), default=1.0)  ->  max(values[-1:].tolist(), default=3.0)": "without columns there is nothing to compare with it",
        "inflation: np.where(kept, values, 1.0)  ->  np.where(kept, values, 3.0)": "what is not kept is multiplied by zero",
        "_inflated: np.where(np.isinf(found) & told, 1.0, found)  ->  np.where(np.isinf(found) & told, 3.0, found)": "any number below ten is not told",
        "module: _COLUMNS, _ROWS = (300, 20000)  ->  _COLUMNS, _ROWS = (300, 20001)": _ROUND_NUMBER,
        "module: ILL_CONDITIONED = 100000000.0  ->  ILL_CONDITIONED = 200000001.0": _ROUND_NUMBER,
        "doubts: kappa > ILL_CONDITIONED  ->  kappa >= ILL_CONDITIONED": "an estimate, with no meaning at its very edge",
    },
    "evaluation/folds.py": {
        "module: _STRATA = 30  ->  _STRATA = 31": _ROUND_NUMBER,
    },
    "certificates/margins.py": {
        "_margin_of: tv[t < 0].min  ->  tv[t < 1].min": _SIDES,
        "_margin_of: 1.01 * (p + 6)  ->  1.01 * (p + 7)": _LARGER,
        "_length: len(point) + 6  ->  len(point) + 7": _LARGER,
        "margin_bounds: weights[side < 0]  ->  weights[side < 1]": _SIDES,
        "_margin_of: (p + 4) * UNDERFLOW  ->  (p + 5) * UNDERFLOW": _LARGER,
        "margin_bounds: _combination(S[side > 0], weights[side > 0])  ->  _combination(S[side >= 0], weights[side > 0])": _SIDES,
        "margin_bounds: weights[side > 0]  ->  weights[side >= 0]": _SIDES,
        "margin_bounds: _combination(S[side < 0], weights[side < 0])  ->  _combination(S[side <= 0], weights[side < 0])": _SIDES,
        "margin_bounds: weights[side < 0]  ->  weights[side <= 0]": _SIDES,
        "margin_bounds: p_doubt + q_doubt + UNIT * np.abs(p - q)  ->  p_doubt + q_doubt - UNIT * np.abs(p - q)": "the factor in `_length` covers two roundings more",
        "_margin_of: 1.01 * (p + 4)  ->  1.01 * (p + 5)": _LARGER,
        "_margin_of: tv[t > 0].min  ->  tv[t >= 0].min": _SIDES,
        "_margin_of: tv[t < 0].min  ->  tv[t <= 0].min": _SIDES,
        "_margin_of: 1.01 * (p + 6) * UNIT * (1.0 if least > 0 else -1.0)  ->  1.01 * (p + 6) * UNIT / (1.0 if least > 0 else -1.0)": "to multiply by -1 or 1 is to divide by it",
        "_combination: (m + 5) * UNDERFLOW  ->  (m + 6) * UNDERFLOW": _LARGER,
        "margin_bounds: _combination(S[side < 0], weights[side < 0])  ->  _combination(S[side < 1], weights[side < 0])": "sides are -1 or +1",
        "margin_bounds: np.abs(p - q)  ->  np.abs(p + q)": "the factor in `_length` covers one rounding more",
        "_margin_of: 1.0 if least > 0 else -1.0  ->  1.0 if least >= 0 else -1.0": "a margin of zero, divided by what may be",
        "_margin_of: 1.01 * (p + 6)  ->  3.02 * (p + 6)": _LARGER,
        "_combination: 1.01 * (2 * m + 5)  ->  3.02 * (2 * m + 5)": _LARGER,
        "_combination: 1.01 * (2 * m + 5)  ->  1.01 * (2 * m + 6)": _LARGER,
        "_length: 1.01 * (len(point) + 6)  ->  3.02 * (len(point) + 6)": _LARGER,
    },
    "certificates/mistakes.py": {
        "mistake_bound: not margin > 0.0  ->  not margin >= 0.0": "the bounds of a margin of zero are infinite, which is true",
        "mistake_bound: 1.01 * (p + 6)  ->  1.01 * (p + 7)": _LARGER,
        "mistake_bound: 1.01 * (p + 4)  ->  1.01 * (p + 5)": _LARGER,
        "mistake_bound: (p + 4) * UNDERFLOW  ->  (p + 5) * UNDERFLOW": _LARGER,
        "_largest: values.min(initial=0.0)  ->  values.min(initial=1.0)": "entries above one are the largest by their maximum",
    },
    "certificates/sides.py": {
        "module: _FIRST, _BLOCK = (256, 4096)  ->  _FIRST, _BLOCK = (257, 4096)": _SPEED,
        "_sides: 2.0 ** 80 * X.shape[1]  ->  2.0 ** 80 / X.shape[1]": "a million columns leave 2**60: the doubt counts what underflows, too",
        "_sides: np.isfinite(W).all() and np.isfinite(b).all()  ->  np.isfinite(W).all() or np.isfinite(b).all()": "values that are not finite are never above their doubt, which is not finite either",
        "module: _COUNTED = 50000  ->  _COUNTED = 50001": _ROUND_NUMBER,
        "separation: np.isfinite(W).all() and np.isfinite(b).all()  ->  np.isfinite(W).all() or np.isfinite(b).all()": "values that are not finite are never above their doubt, which is not finite either",
        "separation: np.abs(gap) >= doubt  ->  np.abs(gap) > doubt": _EDGE,
        "_sides: np.abs(gap) < 2.0 ** 80 * X.shape[1] * UNDERFLOW  ->  np.abs(gap) <= 2.0 ** 80 * X.shape[1] * UNDERFLOW": "the longer way, in units of each row, is as right",
        "_sides: 2.0 ** 80 * X.shape[1]  ->  2.0 ** 81 * X.shape[1]": "the longer way, in units of each row, is as right",
        "_sides: small.any() and W.any()  ->  small.any() or W.any()": "the longer way, in units of each row, is as right",
        "_sides: np.abs(bound) < UNDERFLOW  ->  np.abs(bound) <= UNDERFLOW": "a smaller margin claims less",
        "module: _FIRST, _BLOCK = (256, 4096)  ->  _FIRST, _BLOCK = (256, 4097)": _SPEED,
        "separation: np.all(gap > doubt)  ->  np.all(gap >= doubt)": "the doubt is one percent larger than what rounding can do",
        "_sides: 2.0 ** 80 * X.shape[1] * UNDERFLOW  ->  2.0 ** 80 * X.shape[1] / UNDERFLOW": "the longer way, in units of each row, is as right",
        "_sides: 2.0 ** 80 * X.shape[1]  ->  5.0 ** 80 * X.shape[1]": "the longer way, in units of each row, is as right",
    },
    "evaluation/_decisions.py": {
        "Decisions.add: places.get(label, -1)  ->  places.get(label, -2)": _ANY_NEGATIVE,
        "Decisions.doubts: f['accuracy_low'] <= f['most_common_share']  ->  f['accuracy_low'] < f['most_common_share']": "a number with a root in it is no share of rows",
    },
    "evaluation/comparison.py": {
        "Comparison._line: row.measure is None or row.facts is None  ->  row.measure is None and row.facts is None": "a learner has both, or neither",
    },
    "evaluation/drivers.py": {
        "_of_classes: apart[j] < NORMAL_95 * errors[j]  ->  apart[j] <= NORMAL_95 * errors[j]": _EDGE,
        "_times: abs(log_ratio) > np.log(1000000.0)  ->  abs(log_ratio) >= np.log(1000000.0)": _EDGE,
        "_times: log_ratio > 0  ->  log_ratio >= 0": "it is asked of logarithms beyond 13",
        "_times: log_ratio > 0  ->  log_ratio > 1": "it is asked of logarithms beyond 13",
        "_times: number(round(ratio)) if ratio >= 100 else number(ratio, 3)  ->  number(round(ratio)) if ratio > 100 else number(ratio, 3)": "both ways write 100",
        "_times: number(round(ratio)) if ratio >= 100 else number(ratio, 3)  ->  number(round(ratio)) if ratio >= 101 else number(ratio, 3)": "from 100 to 101 three digits are the whole",
        "_said: model.classes_[1] if effect > 0 else model.classes_[0]  ->  model.classes_[1] if effect >= 0 else model.classes_[0]": "effects of zero are not told",
        "_said: 'more' if effect > 0 else 'less'  ->  'more' if effect >= 0 else 'less'": "effects of zero are not told",
    },
    "evaluation/drift.py": {
        "module: (50000, 1000)  ->  (50001, 1000)": _ROUND_NUMBER,
    },
    "evaluation/thresholds.py": {
        "module: (1.0, 2.0, 5.0, 10.0, 20.0)  ->  (3.0, 2.0, 5.0, 10.0, 20.0)": _ROUND_NUMBER,
        "module: (1.0, 2.0, 5.0, 10.0, 20.0)  ->  (1.0, 5.0, 5.0, 10.0, 20.0)": _ROUND_NUMBER,
        "module: (1.0, 2.0, 5.0, 10.0, 20.0)  ->  (1.0, 2.0, 11.0, 10.0, 20.0)": _ROUND_NUMBER,
        "module: (1.0, 2.0, 5.0, 10.0, 20.0)  ->  (1.0, 2.0, 5.0, 21.0, 20.0)": _ROUND_NUMBER,
        "module: (1.0, 2.0, 5.0, 10.0, 20.0)  ->  (1.0, 2.0, 5.0, 10.0, 41.0)": _ROUND_NUMBER,
    },
    "evaluation/explanations.py": {
        "_scores: V.reshape(len(told), -1)  ->  V.reshape(len(told), -2)": _ANY_NEGATIVE,
    },
    "evaluation/residual_checks.py": {
        "echoes: abs(r) > _ECHO  ->  abs(r) >= _ECHO": _EDGE,
        "dispersion: np.std(pearson ** 2, ddof=1)  ->  np.std(pearson ** 2, ddof=2)": "a row more or less of twenty or more, in a limit of 2.6 deviations",
        "residual_checks: echoes(e / scale)  ->  echoes(e * scale)": "a correlation has no units",
        "spreads: max(n // 5, 1)  ->  max(n // 5, 2)": "twenty rows are the fewest that are looked at",
        "spreads: p < _SURE and far > _UNEVEN  ->  p <= _SURE and far > _UNEVEN": _EDGE,
        "spreads: ('largest', 'smallest') if ratio >= 1 else ('smallest', 'largest')  ->  ('largest', 'smallest') if ratio > 1 else ('smallest', 'largest')": "a ratio of one is not told",
    },
}

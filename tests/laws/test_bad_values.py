"""Every parameter of every public name takes what it expects, and says clearly what it does not.

For any value the answer is that to the plain value that means the same, or an error that names the
parameter. `make fuzz LAW=values SECONDS=600` tries all of them.
"""

from __future__ import annotations

import random
import sys
import time

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bad_values import ODD, SUBJECTS, Subject, variants

pytestmark = [
    pytest.mark.filterwarnings("ignore:the matrix subclass"),
    pytest.mark.filterwarnings("ignore:.*did not converge"),
]
CHECKS = list(HealthCheck)
DRAWN = st.one_of(st.floats(), st.integers(-9, 999), st.text(max_size=3), st.lists(st.floats()))


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
@settings(max_examples=12, deadline=None, phases=[Phase.generate], suppress_health_check=CHECKS)
@given(data=st.data())
def test_any_value_gets_the_answer_of_a_plain_one_or_a_clear_error(subject, data):
    if not subject.legal:
        return
    parameter = data.draw(st.sampled_from(sorted(subject.legal)))
    known = [value for _, value in variants(subject.legal[parameter])] + list(ODD.values())
    value = data.draw(st.one_of(st.sampled_from(known), DRAWN))
    assert subject.judge(parameter, value) == ""


def search(seconds: float) -> int:
    """All cases in a random order, until time is up; how many were wrong."""
    cases: list[tuple[Subject, str, str, object]] = [
        (subject, parameter, name, value)
        for subject in SUBJECTS
        for parameter, legal in subject.legal.items()
        for name, value in [*variants(legal), *ODD.items()]
    ]
    random.shuffle(cases)
    wrong, end = 0, time.monotonic() + seconds
    for subject, parameter, name, value in cases:
        if time.monotonic() > end:
            break
        if why := subject.judge(parameter, value):
            wrong += 1
            print(f"{subject.name}({parameter} = {name}): {why}")
    return wrong


if __name__ == "__main__":
    sys.exit(search(float(sys.argv[1])) > 0)

"""Every parameter of every public name takes what it expects, and says clearly what it does not.

For each parameter and each kind of wrong value the outcome is "right" (it works as the plain value
that means the same), "clear" (an error that names the parameter), or one of those that must
not be: "unnamed", "obscure", "silent" (nonsense accepted) and "hang". A sample of them is tried
here; `make fuzz SECONDS=600` tries all of them.
"""

from __future__ import annotations

import inspect
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator

import pytest

import adaline
from bad_values import OUTCOMES, judged, scalars, variants
from bad_values_table import ELSEWHERE, NOT_TRIED, SUBJECTS, Subject

pytestmark = [
    pytest.mark.filterwarnings("ignore:the matrix subclass"),  # np.matrix is one of the values
    pytest.mark.filterwarnings("ignore:.*did not converge"),
]

GOOD = ("right", "clear")
SHARE = 12  # one in so many cases runs with the other tests


def cases(subject: Subject) -> Iterator[tuple[str, str, object]]:
    """(parameter, name of the value, value) of each parameter of a call."""
    for parameter in subject.kinds:
        for name, value in [*scalars(), *variants(subject.example(parameter))]:
            yield parameter, name, value


def sampled(subject: Subject, parameter: str, name: str) -> bool:
    """Every SHAREth case, chosen by its name, so that a sample stays what it is."""
    return zlib.crc32(f"{subject.name} {parameter} {name}".encode()) % SHARE == 0


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_wrong_values_get_a_right_answer_or_a_clear_error(subject):
    wrong = []
    for parameter, name, value in cases(subject):
        if sampled(subject, parameter, name):
            verdict = judged(subject.calling(parameter), parameter, value, subject.kinds[parameter])
            if verdict.outcome not in GOOD:
                wrong.append(f"{parameter} = {name}: {verdict.outcome}, {verdict.why}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_the_call_itself_works(subject):
    subject.call(**subject.legal)


def test_every_parameter_of_every_public_name_is_in_the_table():
    tried = {(s.name, parameter) for s in SUBJECTS for parameter in s.kinds}
    missing = [
        (f"{name}.{method}" if method else name, parameter)
        for name in sorted(set(adaline.__all__) - ELSEWHERE)
        for method, parameter in parameters_of(name)
    ]
    missing = [pair for pair in missing if pair not in tried and pair not in NOT_TRIED]
    assert not missing


def parameters_of(name: str) -> Iterator[tuple[str, str]]:
    """(method or "", parameter) of a public name: of the call itself, and of its methods."""
    thing = getattr(adaline, name)
    yield from (("", p) for p in signature(thing))
    if not inspect.isclass(thing):
        return
    for method, function in inspect.getmembers(thing, callable):
        ours = (getattr(function, "__module__", None) or "").startswith("adaline")
        if ours and not method.startswith("_"):
            yield from ((method, p) for p in signature(function))


def signature(function: object) -> list[str]:
    try:
        return [p for p in inspect.signature(function).parameters if p != "self"]  # type: ignore[arg-type]
    except ValueError:
        return []


def search(seconds: float, quiet: bool) -> Counter[str]:
    """All cases, in the order of their names' hashes, until time is up."""
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    for subject in SUBJECTS:
        for parameter, name, value in cases(subject):
            if time.monotonic() > end:
                return counts
            verdict = judged(subject.calling(parameter), parameter, value, subject.kinds[parameter])
            counts[verdict.outcome] += 1
            if verdict.outcome not in GOOD and not quiet:
                print(f"{verdict.outcome}: {subject.name}({parameter} = {name}): {verdict.why}")
    return counts


if __name__ == "__main__":
    found = search(float(sys.argv[1]), quiet="--quiet" in sys.argv)
    print(", ".join(f"{found[outcome]} {outcome}" for outcome in OUTCOMES))
    sys.exit(any(found[outcome] for outcome in OUTCOMES if outcome not in GOOD))

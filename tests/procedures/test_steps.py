"""One loop for all procedures: run to the end, look on, ask to stop, interrupt."""

from __future__ import annotations

import pytest

from adaline.procedures.steps import Stepwise, finished


@Stepwise
def counted(n):
    """Counts to n; interrupted, it returns what it has."""
    done, end = 0, []
    try:
        while done < n:
            done += 1
            if (yield done, end):
                return "asked", done
    except KeyboardInterrupt:
        return "interrupted", done
    finally:
        end.append(done)
    return "counted", done


def test_a_procedure_runs_to_its_end_or_gives_its_steps():
    assert counted(3) == ("counted", 3)
    assert [done for done, _ in counted.steps(3)] == [1, 2, 3]
    assert counted.__name__ == "counted"
    assert counted.__doc__.startswith("Counts")


def test_who_looks_on_is_told_of_every_step_and_may_ask_to_stop():
    heard = []
    assert finished(counted.steps(3), lambda done, here: heard.append(done)) == ("counted", 3)
    assert heard == [1, 2, 3]
    assert finished(counted.steps(9), lambda done, here: done == 4) == ("asked", 4)


def test_ctrl_c_of_who_looks_on_is_heard_by_the_procedure():
    def impatient(done, here):
        if done == 2:
            raise KeyboardInterrupt

    assert finished(counted.steps(9), impatient) == ("interrupted", 2)


def test_ctrl_c_that_a_procedure_does_not_mind_is_not_swallowed():
    def steps():
        yield 1, None
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        finished(steps())


@pytest.mark.parametrize("error", [ValueError, StopIteration, SystemExit])
def test_another_error_of_who_looks_on_ends_the_procedure_and_is_not_swallowed(error):
    ends = []

    def broken(done, here):
        ends.append(here)
        raise error

    with pytest.raises(error):
        finished(counted.steps(9), broken)
    assert ends == [[1]]  # its `finally` has run

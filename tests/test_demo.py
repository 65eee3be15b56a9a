"""The tour that a newcomer sees first."""

from __future__ import annotations

from adaline.demo import demo


def test_the_tour_shows_what_it_promises(capsys):
    demo()
    shown = capsys.readouterr().out
    [ours] = [line for line in shown.splitlines() if line.startswith("  adaline.LeastSquares")]
    assert ours.split()[1:] == ["1.00000000"] * 6
    assert "certificate: exact" in shown
    assert "does not separate" in shown
    assert "p(red | orange) = 0.6667" in shown
    stations = [line for line in shown.splitlines() if line[:1].isdigit() and line[1] == "."]
    assert len(stations) == 7
    assert "separable: all 4 samples" in shown

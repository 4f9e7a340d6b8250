"""The comparison of the speed of two versions: the verdict, and cells on small inputs."""

import sys
from pathlib import Path

import pytest
from bench.compare_cells import CELLS
from bench.compare_cells import measure as measure_cell

from bench import compare

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", CELLS)
def test_every_cell_runs(name):
    assert measure_cell(name, 0.1) >= 0


def test_a_cell_is_slower_beyond_the_band_only():
    assert str(compare.judge([1.0, 1.0, 1.0], [1.09, 1.09, 1.09])) == "same"
    assert str(compare.judge([1.0, 1.0, 1.0], [1.12, 1.12, 1.12])) == "slower"
    assert str(compare.judge([1.0, 1.0, 1.0], [0.9, 0.9, 0.9])) == "faster"
    noisy = compare.judge([1.0, 1.0, 1.0, 1.0, 1.0], [0.9, 1.0, 1.2, 1.4, 1.5])
    assert noisy.ratio == pytest.approx(1.2)
    assert noisy.band == pytest.approx(3 * 0.2 / 1.2)
    assert str(noisy) == "same"


def test_rounds_are_paired():
    """A machine that gets slower meanwhile is not the fault of a version."""
    assert compare.judge([1.0, 2.0, 4.0], [1.0, 2.0, 4.0]).ratio == 1.0


def test_both_versions_run_in_turn(monkeypatch):
    base, now, order = Path("base"), Path("now"), []
    monkeypatch.setattr(
        compare, "measure", lambda python, cell: order.append(python) or (1.0 if python == base else 1.5)
    )
    (line,) = compare.compare(base, now, ["a cell"], 3)
    assert order == [base, now, now, base, base, now]
    assert (line["base_s"], line["now_s"], line["ratio"]) == ("1.000", "1.500", "1.50")
    assert line["verdict"] == "slower"


@pytest.mark.parametrize(("broken", "verdict"), [("base", "fails at the base"), ("now", "fails now")])
def test_a_cell_that_a_version_cannot_run_is_named(broken, verdict, monkeypatch):
    monkeypatch.setattr(compare, "measure", lambda python, cell: None if python.name == broken else 1.0)
    (line,) = compare.compare(Path("base"), Path("now"), ["a cell"], 3)
    assert (line["ratio"], line["verdict"]) == ("-", verdict)


@pytest.mark.slow(nightly=True)
def test_cells_are_measured_in_a_process_of_their_own():
    assert compare.measure(Path(sys.executable), "no such cell") is None
    took = compare.measure(Path(sys.executable), "Evidence, 10 000 rows")
    assert took is not None
    assert took > 0


def test_an_unknown_commit_or_cell_is_named():
    with pytest.raises(SystemExit, match="no commit 'nowhere'"):
        compare.main(["--base", "nowhere"])
    with pytest.raises(SystemExit, match="No cell"):
        compare.main(["--cells", "nothing"])

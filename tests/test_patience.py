"""Limits of tests: they scale with the load, and every test takes them from one place."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from patience import MOST, patience, wait_until

HERE = Path(__file__).parent
WAITS = ("wait", "set_default_timeout", "set_default_navigation_timeout", "settimeout")


@pytest.mark.parametrize(
    ("load", "cores", "times"), [(0.0, 2, 1.0), (1.0, 2, 1.0), (3.0, 2, 3.0), (12.0, 4, 6.0), (1e6, 2, MOST)]
)
def test_limits_grow_with_the_load(monkeypatch, load, cores, times):
    monkeypatch.delenv("LINKWISE_PATIENCE", raising=False)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert patience(7.0) == 7.0 * times


def test_limits_can_be_given(monkeypatch):
    monkeypatch.setenv("LINKWISE_PATIENCE", "2.5")
    assert patience(4.0) == 10.0


def test_a_condition_is_waited_for(monkeypatch):
    left = [3]

    def come():
        left[0] -= 1
        return left[0] == 0

    wait_until(come)
    monkeypatch.setenv("LINKWISE_PATIENCE", "0.0001")
    with pytest.raises(AssertionError, match="waited in vain: the bus"):
        wait_until(lambda: False, "the bus")


def fixed_limits(path):
    """Lines of a test file that say by themselves how long to wait."""
    text = path.read_text(encoding="utf-8")
    if not any(word in text for word in ("timeout", *WAITS)):
        return  # most files wait for nothing
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        by_name = [each.value for each in node.keywords if "timeout" in (each.arg or "")]
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        for value in [*by_name, *(node.args if called in WAITS else [])]:
            if isinstance(value, ast.Constant) and isinstance(value.value, (int, float)):
                yield f"{path.relative_to(HERE)}:{node.lineno}"


def test_no_test_has_a_limit_of_its_own():
    found = [place for path in sorted(HERE.rglob("*.py")) for place in fixed_limits(path)]
    assert found == [], "take the limit from tests/patience.py: timeout=patience()"


def test_a_limit_of_its_own_is_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "HERE", tmp_path)
    wrong = tmp_path / "test_wrong.py"
    wrong.write_text("run(timeout=60)\nevent.wait(5.0)\npage.wait(timeout=patience())\n")
    assert list(fixed_limits(wrong)) == ["test_wrong.py:1", "test_wrong.py:2"]

"""Where data come from; tables."""

import argparse

import pytest
from bench.suites.tasks import Source

from bench import harness

pytestmark = pytest.mark.slow


def test_the_option_goes_before_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWISE_DATA", str(tmp_path))
    given = argparse.Namespace(data=None, openml=False)
    assert harness.find_source(given) == Source(tmp_path, False)
    given.data = tmp_path / "other"
    with pytest.raises(SystemExit, match=r"is no folder\. Pass the folder of data sets with --data"):
        harness.find_source(given)
    monkeypatch.delenv("LINKWISE_DATA")
    assert harness.find_source(argparse.Namespace(data=None, openml=True)) == Source(None, True)


def test_table_puts_numbers_right_and_words_left():
    told = harness.format_table(("task", "x", "why"), [("iris", "0.5", "b"), ("a", "-10.25", "")])
    assert told == "task       x  why\niris     0.5  b\na     -10.25"

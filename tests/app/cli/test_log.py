"""`--log` on the command line: its proposal, the session's settings, and a replay."""

import json
import re

import numpy as np
import pytest

from linkwise.session.session import Session


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    income, age = np.exp(rng.normal(10, 1, 60)).round(2), rng.integers(18, 90, 60)
    lines = [f"r{n},{a},{b}" for n, (a, b) in enumerate(zip(income, age, strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(["id,income,age", *lines]) + "\n")
    return tmp_path / "people.csv"


def words(text):
    return " ".join(text.split())


def test_it_is_kept_by_the_session(path, tmp_path, linkwise):
    session = tmp_path / "people.csv.linkwise"
    begun = words(linkwise("ask", path, "--as-is", said="n\nq\n").stdout)
    assert "logarithm" not in begun
    refused = linkwise("ask", path, "--log", "income", said="q\n")
    assert (refused.exit_code, "without --log" in words(refused.stderr)) == (2, True)
    changed = linkwise("ask", path, "--log", "income", "--replay", said="q\n")
    assert changed.exit_code == 0, changed.stderr
    assert "Compared by logarithms: income." in words(changed.stdout)
    for options in ((), ("--log", "income")):
        resumed = words(linkwise("ask", path, *options, said="q\n").stdout)
        assert "resumed: 1 answer" in resumed
        assert "far larger" not in resumed
    with Session.open(session) as kept:
        assert kept.source["choices"]["log"] == ["income"]
        assert json.loads(json.dumps(kept.source)) == kept.source


def test_it_is_taken_from_the_values(path, linkwise):
    begun = words(linkwise("ask", path, said="n\nq\n").stdout)
    assert "a few values are far larger" in begun
    assert "Compared by logarithms: income." in begun
    assert "people.csv --log income --as-is" in begun


def test_what_does_not_go_with_it(path, linkwise):
    for options, code, message in (
        (("--log", "age,incom"), 3, "Did you mean 'income'"),
        (("--log", "income", "--series"), 2, "Remove --log"),
    ):
        done = linkwise("ask", path, *options)
        assert done.exit_code == code
        assert message in words(done.stderr)


def test_rules_are_in_the_units_of_the_table(path, tmp_path, linkwise):
    linkwise("ask", path, "--log", "income", "--budget", "6", said="n\nn\ny\nn\nn\nn\n")
    done = linkwise("explain", path)
    assert done.exit_code == 0, done.stderr
    assert "income >" in done.stdout or "income ≤" in done.stdout
    bounds = [float(one) for one in re.findall(r"income [≤>] (\d+)", done.stdout)]
    assert min(bounds) > 1000  # logarithms are about 10

"""The suites of the documentation run from bench, with the programs of docs/peers.py."""

import csv

import pytest
from bench.papers import documented_suites
from bench.suites.protocols import read_suite

pytestmark = pytest.mark.slow


@pytest.mark.slow(nightly=True)
def test_the_suites_of_the_docs_have_a_program_beside_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(documented_suites, "PEERS", {"questions": ("peers.py:random_pairs",)})
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    assert documented_suites.main(["--quick", "--only", "questions", "--out", str(tmp_path)]) == 0
    with (tmp_path / "suites/questions_quick/summary.csv").open(newline="") as file:
        methods = {line["method"] for line in csv.DictReader(file)}
    assert methods == {*read_suite("questions").methods, "peers.py:random_pairs", "critical distance"}
    assert documented_suites.main(["--quick", "--only", "questions", "--out", str(tmp_path)]) == 0
    assert "\n0 cells to run" in "\n" + capsys.readouterr().out.partition("index.html")[2]


def test_a_suite_that_fails_is_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(documented_suites, "PEERS", {"questions": ("peers.py:nobody",)})
    assert documented_suites.main(["--quick", "--only", "questions", "--out", str(tmp_path)]) == 2
    assert "peers.py has no function 'nobody'" in capsys.readouterr().err

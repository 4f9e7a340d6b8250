"""A3S as a learner of the experiment: what it is told, what is recorded, and where it is not there.

The program is a stand-in of a few lines. It compares the first row with all others, one after the other.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
import pytest
from bench.papers import active
from bench.peers import a3s, a3s_theirs
from bench.suites.tasks import scale_rows
from sklearn.metrics import adjusted_rand_score

from bench import data

pytestmark = pytest.mark.slow

STAND_IN = """
import numpy as np

class A3S:
    def __init__(self, max_queries=100, random_state=None):
        self.most, self.history = max_queries, {"queries": [], "labels": []}

    def fit(self, X, y):
        if len(X) < 10:
            raise ValueError("too few rows")
        labels = np.arange(len(X)) % len(np.unique(y))
        for asked in range(min(self.most, len(X) - 1) + 1):
            if asked:
                labels[asked] = 0 if y[0] == y[asked] else 1
            if asked % 2 == 0:
                self.history["queries"].append(asked)
                self.history["labels"].append(labels.copy())
"""


def made_up(name, source):
    n = 6 if name == "tiny" else 20
    y = np.resize([0, 1, 1], n)
    return data.LabelledTask(name, scale_rows(np.arange(2.0 * n).reshape(n, 2)), y, "made up")


@pytest.fixture
def program(monkeypatch, tmp_path):
    monkeypatch.setattr(data, "load", made_up)
    monkeypatch.delenv("LINKWISE_A3S", raising=False)
    (tmp_path / "codac" / "clustering").mkdir(parents=True)
    (tmp_path / "codac" / "clustering" / "a3s.py").write_text(STAND_IN)
    return a3s.Program(tmp_path / "codac" / "clustering" / "a3s.py", sys.executable)


@pytest.mark.slow(nightly=True)
def test_the_number_of_clusters_is_told_or_estimated(program):
    task = made_up("iris", None)
    for n_told in (2, 5):
        asked, labels = a3s.run_program(task, n_told, 4, 0, program)
        assert asked.tolist() == [0, 2, 4]
        assert labels[0].tolist() == [i % n_told for i in range(20)]
        assert labels[2, :5].tolist() == [0, 1, 1, 0, 1]  # the answers are the same


@pytest.mark.slow(nightly=True)
def test_ari_after_each_number_of_questions(program):
    y = made_up("iris", None).y
    at = (0, 3, 4, 50)
    for learner, n_told in ((a3s.TOLD, 2), (a3s.ESTIMATED, 3)):
        row = a3s.measure(("iris", learner, "0"), None, program, at)
        labels = np.arange(20) % n_told
        wanted = [adjusted_rand_score(y, labels)]
        for upto in (2, 4):  # the last clustering that was recorded by then
            labels[1 : upto + 1] = y[1 : upto + 1]
            wanted.append(adjusted_rand_score(y, labels))
        assert row == dict(zip(map(str, at), [f"{score:.4f}" for score in [*wanted, 1.0]], strict=True))


def test_classes_that_hide_their_number():
    y = np.array([3, 3, 1, 2])
    told = a3s_theirs.hide_number(y, 7)
    assert len(np.unique(told)) == 7
    assert len(np.unique(told[:2])) == 7
    assert told[0] == told[1] != told[2]
    assert np.unique(told, return_inverse=True)[1].tolist() == [2, 2, 0, 1]
    assert adjusted_rand_score(told, y) == 1
    assert np.unique(y).tolist() == [1, 2, 3]


def test_an_error_of_the_program_is_shown(program):
    with pytest.raises(RuntimeError, match=r"A3S stopped with an error on tiny:(.|\n)*too few rows"):
        a3s.measure(("tiny", a3s.TOLD, "0"), None, program, (0, 3))


@pytest.mark.parametrize("way", ["option", "environment"])
def test_the_program_is_found_where_it_was_put(program, tmp_path, monkeypatch, way):
    folder = str(tmp_path / "codac")
    if way == "environment":
        monkeypatch.setenv("LINKWISE_A3S", folder)
    parser = argparse.ArgumentParser()
    a3s.add_options(parser)
    options = parser.parse_args(["--a3s", folder] if way == "option" else [])
    assert a3s.find_program(options) == program
    assert a3s.find_program(parser.parse_args(["--a3s", str(tmp_path)])) is None


@pytest.mark.slow(nightly=True)
def test_it_takes_part_in_the_experiment_if_it_is_there(program, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(data, "names", lambda source: ["yale"])
    monkeypatch.setattr(active, "GROUPS", {"many": ("yale",)})
    monkeypatch.setattr(active, "PARTS", (active.Part("many_", ("many",), (2, 5)),))
    asked = ["--runs", "2", "--learners", "COBRAS", *a3s.LEARNERS, "--out", str(tmp_path)]
    active.main(asked)
    printed = capsys.readouterr().out
    assert (
        printed.count("A3S is left out, since its program was not found. Pass its folder with --a3s.\n") == 1
    )
    assert read_learners(tmp_path) == {"COBRAS"}
    active.main([*asked, "--a3s", str(tmp_path / "codac")])
    assert "left out" not in capsys.readouterr().out
    assert read_learners(tmp_path) == {"COBRAS", *a3s.LEARNERS}
    active.main([*asked, "--a3s", str(tmp_path / "codac")])
    assert "many_a3s.csv: 0 cells to run" in capsys.readouterr().out


def read_learners(folder: Path) -> set[str]:
    with (folder / "active" / "many_table.csv").open(newline="") as file:
        return {line["learner"] for line in csv.DictReader(file)}

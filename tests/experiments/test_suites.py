"""A suite is run from its declaration to its page, and what is wrong in it is named."""

import csv
import os
from ast import literal_eval

import numpy as np
import pytest

from linkwise import Constraints, TruthOracle
from linkwise.errors import DataError
from linkwise.experiments.__main__ import main
from linkwise.experiments.participants import find_participant
from linkwise.experiments.suites import list_suites, read_suite
from linkwise.experiments.tasks import load_task, read_tasks

SUITE = """
name = "mine"
about = "Two sets of my own."
methods = ["PCKMeans"]

[protocol]
kind = "constraints"
numbers = [5, 20]
runs = 2
share = 0.7
scored = "elsewhere"

[[task]]
name = "lines"
file = "lines.csv"

[[task]]
name = "dots"
file = "dots.csv"
"""

PEERS = """
import numpy as np

def halves(X, constraints, n_clusters, seed):
    return (X[:, 0] > np.median(X[:, 0])).astype(int)

def asks_twice(X, oracle, budget, n_clusters, seed, askable):
    first, second = askable[:2]
    oracle(int(first), int(second))
    return [np.zeros(len(X)), np.ones(len(X))]
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a suite, its data and peers, as the current folder."""
    for name, step in (("lines", 3), ("dots", 5)):
        rows = [f"{i},{(i * step) % 7},{'ab'[i > 20]}" for i in range(40)]
        (tmp_path / f"{name}.csv").write_text("x,y,class\n" + "\n".join(rows) + "\n")
    (tmp_path / "mine.toml").write_text(SUITE)
    (tmp_path / "peers.py").write_text(PEERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    yield tmp_path
    load_task.cache_clear()
    find_participant.cache_clear()


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def run(*arguments):
    return main(["run", "mine.toml", "--data", ".", "--out", "out", *arguments])


def test_a_suite_is_run_once_and_goes_on(place, capsys):
    assert run() == 0
    assert "4 cells to run" in capsys.readouterr().out
    assert run("--methods", "PCKMeans", "peers.py:halves") == 0
    shown = capsys.readouterr().out
    assert "4 cells to run" in shown  # those of the peer
    assert "critical distance" in shown
    cells = read(place / "out/mine/cells.csv")
    assert len(cells) == 8
    scores = {(row["task"], row["method"]): row for row in read(place / "out/mine/scores.csv")}
    assert set(scores) == {(t, m) for t in ("lines", "dots") for m in ("PCKMeans", "peers.py:halves")}
    assert (
        float(scores["lines", "peers.py:halves"]["20"].split()[0]) > 0.7
    )  # it cuts one row from the classes
    page = (place / "out/mine/index.html").read_text()
    assert "Two sets of my own." in page
    assert "peers.py:halves" in page


def test_a_peer_that_changed_is_run_again(place, capsys):
    run("--methods", "peers.py:halves")
    find_participant.cache_clear()
    (place / "peers.py").write_text(PEERS.replace("np.median", "np.mean"))
    capsys.readouterr()
    run("--methods", "peers.py:halves")
    assert "4 cells to run" in capsys.readouterr().out


def test_all_methods_of_a_run_get_the_same_constraints(place):
    seen = {}
    (place / "watch.py").write_text(
        "def one(X, constraints, n_clusters, seed):\n"
        "    pairs = constraints.must_link.tolist(), constraints.cannot_link.tolist()\n"
        "    with open('seen.txt', 'a') as file:\n"
        "        file.write(f'{seed} {pairs}\\n')\n"
        "    return [0] * len(X)\n"
        "two = one\n"
    )
    assert run("--methods", "watch.py:one", "watch.py:two", "--tasks", "lines") == 0
    lines = (place / "seen.txt").read_text().splitlines()
    for line in lines:
        seen[line] = seen.get(line, 0) + 1
    assert len(lines) == 8
    assert set(seen.values()) == {2}


def test_constraints_may_be_added_to_those_before(place):
    (place / "watch.py").write_text(
        "def one(X, constraints, n_clusters, seed):\n"
        "    pairs = constraints.must_link.tolist() + constraints.cannot_link.tolist()\n"
        "    with open('seen.txt', 'a') as file:\n"
        "        file.write(f'{pairs}\\n')\n"
        "    return [0] * len(X)\n"
    )
    added = []
    for nested in ("", "nested = true\n"):
        (place / "mine.toml").write_text(SUITE.replace("runs = 2\n", f"runs = 2\n{nested}"))
        assert run("--methods", "watch.py:one", "--tasks", "lines") == 0
        few, more = map(literal_eval, (place / "seen.txt").read_text().splitlines()[:2])
        (place / "seen.txt").unlink()
        assert (len(few), len(more)) == (5, 20)
        added.append(all(pair in more for pair in few))
    assert added == [False, True]
    protocols = {row["protocol"] for row in read(place / "out/mine/cells.csv")}
    assert len(protocols) == 2  # the cells of one do not count for the other
    assert sum("nested" in protocol for protocol in protocols) == 1


def test_questions_are_about_the_training_rows_and_test_rows_are_scored(place, capsys):
    (place / "mine.toml").write_text(
        SUITE.replace('kind = "constraints"', 'kind = "questions"\nfolds = 2')
        .replace("share = 0.7\n", "")
        .replace('scored = "elsewhere"\n', "")
    )
    assert run("--methods", "COBRAS", "peers.py:asks_twice", "--tasks", "lines") == 0
    cells = read(place / "out/mine/cells.csv")
    assert len(cells) == 2 * 2 * 2
    assert {row["5"] for row in cells if row["method"] == "peers.py:asks_twice"} == {"0.0000"}


def test_the_folder_of_data_may_be_in_the_environment(place, monkeypatch, capsys):
    monkeypatch.setenv("LINKWISE_DATA", os.fspath(place))
    assert main(["run", "mine.toml", "--out", "out", "--tasks", "dots"]) == 0


def test_without_data_it_says_so(place, capsys):
    assert main(["run", "mine.toml"]) == 2
    assert "None of the tasks of mine is here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "constraints"', 'kind = "odd"', "kind = 'odd'. Give questions, constraints"),
        ("numbers = [5, 20]", "numbers = [20, 5]", "The numbers of mine.toml do not ascend"),
        ("numbers = [5, 20]", "", "has no numbers"),
        ("runs = 2", "run = 2", "unknown field 'run'"),
        ('methods = ["PCKMeans"]', 'tasks = ["moon"]', "names the unknown task 'moon'"),
        ('methods = ["PCKMeans"]', 'methods = ["KMoons"]', "There is no method 'KMoons'"),
        ('methods = ["PCKMeans"]', 'methods = ["PCKMeans.mine()"]', "PCKMeans has no preset 'mine'"),
        ('methods = ["PCKMeans"]', 'methods = ["COBRA(n)"]', "The parameters of 'COBRA(n)' cannot be read"),
        ('methods = ["PCKMeans"]', 'methods = ["peers.py:quarters"]', "peers.py has no function 'quarters'"),
        ('methods = ["PCKMeans"]', 'methods = ["friends.py:one"]', "There is no file friends.py"),
        ('methods = ["PCKMeans"]', 'methods = ["no_module:one"]', "The module no_module cannot be imported"),
        ('methods = ["PCKMeans"]', "", "mine names no methods"),
        (
            'kind = "constraints"',
            'kind = "questions"\nnested = true',
            "nested constraints and asks questions",
        ),
        ("[protocol]", "[protocol", "mine.toml is no TOML file"),
    ],
)
def test_what_is_wrong_is_named(place, capsys, old, new, message):
    (place / "mine.toml").write_text(SUITE.replace(old, new))
    assert run() == 2
    assert message in capsys.readouterr().err


def test_a_clusterer_is_not_asked(place, capsys):
    (place / "mine.toml").write_text(SUITE.replace('kind = "constraints"', 'kind = "questions"'))
    assert run() == 2
    assert "PCKMeans asks no questions" in capsys.readouterr().err


def test_an_unknown_suite_is_refused(place, capsys):
    assert main(["run", "moons"]) == 2
    assert "There is no suite 'moons'. Give cobras2018, constraints" in capsys.readouterr().err
    assert main(["run", "mine.toml", "--data", ".", "--tasks", "moon"]) == 2
    assert "mine has no task 'moon'" in capsys.readouterr().err


@pytest.mark.parametrize("name", list_suites())
def test_the_suites_of_linkwise_are_whole(name, capsys):
    suite = read_suite(name)
    assert suite.name == name
    assert suite.about.endswith(".")
    assert set(suite.tasks) <= set(read_tasks())
    for method in suite.methods:
        assert find_participant(method).uses
    assert main(["list"]) == 0
    assert suite.about in capsys.readouterr().out


def test_parameters_and_presets_reach_the_method():
    task = load_task(read_tasks()["iris"])
    oracle, rows = TruthOracle(task.y), np.arange(len(task.y))
    found = find_participant("COBRA(3)").ask(task, oracle, 2, 0, rows)
    assert len(set(found[-1].tolist())) <= 3
    with pytest.raises(DataError, match="asks no questions"):
        find_participant("pckmeans").ask(task, oracle, 2, 0, rows)
    labels = find_participant("PCKMeans(2)").cluster(task, Constraints(len(task.y)), 0)
    assert len(set(labels.tolist())) == 2  # not the three of the classes

"""A suite is run from its declaration to its page, and what is wrong in it is named."""

import csv
import os
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import numpy as np
import pytest
from bench.suites.__main__ import main
from bench.suites.cell_store import THREADS
from bench.suites.constraint_sets import close_constraints, draw_constraints
from bench.suites.participants import find_participant, split_label
from bench.suites.protocols import list_suites, read_suite
from bench.suites.tasks import load_task, read_tasks
from bench.suites.trials import draw_trial_constraints

import bench
import linkwise
from linkwise import Constraints, TruthOracle
from linkwise.errors import DataError

CHECKOUT = {"PYTHONPATH": os.fspath(Path(bench.__file__).parents[1])}  # suites run from its root

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

QUESTIONS = SUITE.replace('kind = "constraints"', 'kind = "questions"').replace('scored = "elsewhere"\n', "")

PEERS = """
import numpy as np

def halves(X, constraints, n_clusters, seed):
    return (X[:, 0] > np.median(X[:, 0])).astype(int)

def three(X, constraints, n_clusters, seed):
    return [0, 1, 2]

def odd(X, constraints, n_clusters, seed):
    raise ZeroDivisionError("no rows")

def final(X, oracle, budget, n_clusters, seed, askable):
    for row in askable[1 : budget + 1]:
        oracle(int(askable[0]), int(row))
    return (X[:, 0] > np.median(X[:, 0])).astype(int) if budget > 5 else np.zeros(len(X))

def asks_twice(X, oracle, budget, n_clusters, seed, askable):
    for row in askable[1:3]:
        oracle(int(askable[0]), int(row))
    return [np.zeros(len(X)), np.ones(len(X))]

def too_many(X, oracle, budget, n_clusters, seed, askable):
    for _ in range(budget + 1):
        oracle(int(askable[0]), int(askable[1]))
    return np.zeros(len(X))

def elsewhere(X, oracle, budget, n_clusters, seed, askable):
    oracle(int(askable[0]), int(np.setdiff1d(np.arange(len(X)), askable)[0]))
    return np.zeros(len(X))

def with_start(X, oracle, budget, n_clusters, seed, askable):
    oracle(int(askable[0]), int(askable[1]))
    return [np.zeros(len(X)), np.ones(len(X))]

def zeros(X, constraints, n_clusters, seed):
    X[:] = 0
    return np.zeros(len(X))

def twice(X, constraints, n_clusters, seed):
    return np.zeros((2, len(X)))
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
    monkeypatch.setattr(sys, "path", [*sys.path])  # programs add their folders
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    yield tmp_path
    own = ("own_core", "parts", "of_mine", "linkwise program ")
    for module in [name for name in sys.modules if name.startswith(own)]:
        del sys.modules[module]
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


@pytest.mark.slow(nightly=True)
def test_the_command_runs_with_several_processes(place):  # and where the encoding of files is ASCII
    words = ["run", "mine.toml", "--data", ".", "--methods", "PCKMeans", "peers.py:halves", "--out"]
    assert run("--methods", "PCKMeans") == 0
    assert "nan" not in (place / "out/mine/ranks.csv").read_text()  # a single method has no critical distance
    run("--methods", "PCKMeans", "peers.py:halves")
    command = [sys.executable, "-m", "bench.suites", *words, "at_once", "--jobs", "2"]
    ascii_files = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    environment = os.environ | CHECKOUT | ascii_files
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "±" in (place / "at_once/mine/index.html").read_text(encoding="utf-8")
    for name in ("summary", "ranks", "wins"):
        one, other = (place / folder / f"mine/{name}.csv" for folder in ("out", "at_once"))
        assert one.read_text() == other.read_text()


def test_a_peer_that_changed_is_run_again(place, capsys):
    run("--methods", "peers.py:halves")
    find_participant.cache_clear()
    (place / "peers.py").write_text(PEERS.replace("np.median", "np.mean"))
    capsys.readouterr()
    run("--methods", "peers.py:halves")
    assert "4 cells to run" in capsys.readouterr().out


def test_the_files_that_a_peer_imports_are_in_its_key(place):
    folder = place / "methods"
    (folder / "parts").mkdir(parents=True)
    (folder / "adapter.py").write_text(
        "from own_core import middle\n\n"
        "def cut(X, constraints, n_clusters, seed):\n    return X[:, 0] > middle(X)\n"
    )
    (folder / "own_core.py").write_text(
        "def middle(X):\n    import parts.deep\n    return parts.deep.half(X)\n"
    )
    for name in ("parts/__init__.py", "parts/deep.py", "other.py"):
        (folder / name).write_text("def half(X):\n    return 0.5\n")
    assert run("--methods", "methods/adapter.py:cut") == 0  # it finds what is beside it
    versions = {find_participant("methods/adapter.py:cut").version}
    for at, name in enumerate(("other.py", "own_core.py", "parts/__init__.py", "parts/deep.py")):
        with (folder / name).open("a") as opened:
            opened.write("CHANGED = 1\n")
        find_participant.cache_clear()
        versions.add(find_participant("methods/adapter.py:cut").version)
        assert len(versions) == at + 1


def test_the_parts_of_linkwise_that_a_peer_names_are_in_its_key(place):
    used = {
        "import linkwise as lw\ndef one(*given):\n    return lw.MPCKMeans(3)\n": "MPCKMeans",
        "from linkwise import COBRAS as old\ndef one(*given):\n    return old(3)\n": "COBRAS",
        "from linkwise.select.pool import *\ndef one(*given):\n    pass\n": "linkwise.select.pool",
        "def one(*given):\n    return given[0].MPCKMeans\n": None,
    }
    for program, entry in used.items():
        (place / "peers.py").write_text(program)
        find_participant.cache_clear()
        more = set(find_participant("peers.py:one").uses) - {"Constraints", "TruthOracle"}
        assert more == ({entry} if entry else set())


def test_a_program_may_have_dataclasses(place):
    (place / "peers.py").write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n\n"
        "@dataclass\nclass Rows:\n    n: int\n\n"
        "def one(X, *others):\n    return [0] * Rows(len(X)).n\n"
    )
    assert run("--methods", "peers.py:one") == 0


def test_a_module_takes_part(place, monkeypatch):
    package = place / "of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "core.py").write_text("from .parts import number\n\ndef one(*given):\n    return number\n")
    (package / "parts.py").write_text("number = 1\n")
    monkeypatch.syspath_prepend(place)
    before = find_participant("of_mine.core:one").version
    find_participant.cache_clear()
    (package / "parts.py").write_text("number = 2\n")
    assert find_participant("of_mine.core:one").version != before


@pytest.mark.parametrize("changed", ["file", "preparation"])
def test_a_task_that_changed_is_run_again(place, capsys, changed):
    run()
    load_task.cache_clear()
    if changed == "file":
        (place / "lines.csv").write_text((place / "lines.csv").read_text().replace("39,", "38.5,"))
    else:
        (place / "mine.toml").write_text(SUITE.replace('"lines.csv"', '"lines.csv"\nscale = "standard"'))
    capsys.readouterr()
    run("--reuse")
    assert "2 cells to run" in capsys.readouterr().out
    assert len(read(place / "out/mine/cells.csv")) == 6
    run("--tasks", "lines")
    assert capsys.readouterr().out.startswith("0 cells to run")


def test_runs_without_a_key_of_their_data_are_reused_when_asked(place, capsys):
    run()
    path = place / "out/mine/cells.csv"
    rows = read(path)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [name for name in rows[0] if name != "data"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    capsys.readouterr()
    run("--reuse")
    assert capsys.readouterr().out.startswith("0 cells to run")
    run("--tasks", "lines")
    assert capsys.readouterr().out.startswith("2 cells to run")
    assert [row["data"] != "" for row in read(path)] == [False] * 4 + [True] * 2


def test_other_numbers_share_the_file_of_runs(place, capsys):
    run()
    before = (place / "out/mine/scores.csv").read_text()
    other = SUITE.replace("numbers = [5, 20]", "numbers = [5, 10, 20, 30]")
    (place / "mine.toml").write_text(other)
    run()
    both = (place / "out/mine/scores.csv").read_text()
    for suite, scores in ((SUITE, before), (other, both)):
        (place / "mine.toml").write_text(suite)
        capsys.readouterr()
        run()
        assert capsys.readouterr().out.startswith("0 cells to run")
        assert (place / "out/mine/scores.csv").read_text() == scores


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


def test_more_runs_are_added_to_those_before(place, capsys):
    run("--tasks", "lines")
    (place / "mine.toml").write_text(SUITE.replace("runs = 2", "runs = 3"))
    capsys.readouterr()
    run("--tasks", "lines")
    assert "1 cells to run" in capsys.readouterr().out


def test_starts_share_their_constraints_and_are_averaged(place):
    (place / "watch.py").write_text(
        "def one(X, constraints, n_clusters, seed):\n"
        "    pairs = constraints.must_link.tolist(), constraints.cannot_link.tolist()\n"
        "    with open('seen.txt', 'a') as file:\n"
        "        file.write(f'{(seed, pairs)}\\n')\n"
        "    return [i > 20 for i in range(40)] if seed % 3 else [0] * 40\n"
    )
    (place / "mine.toml").write_text(SUITE.replace("runs = 2", "runs = 2\nstarts = 3"))
    assert run("--methods", "watch.py:one", "--tasks", "lines") == 0
    seen = [literal_eval(line) for line in (place / "seen.txt").read_text().splitlines()]
    assert [seed for seed, _ in seen] == [0, 1, 2] * 2 + [3, 4, 5] * 2
    assert len({str(pairs) for _, pairs in seen}) == 4  # two runs, two numbers
    assert {row["20"] for row in read(place / "out/mine/cells.csv")} == {f"{2 / 3:.4f}"}


def test_a_quick_run_is_short_and_has_its_own_folder(place, capsys):
    assert run("--quick") == 0
    assert "2 cells to run" in capsys.readouterr().out
    assert [row["run"] for row in read(place / "out/mine_quick/cells.csv")] == ["0", "0"]
    assert not (place / "out/mine").exists()


def test_a_program_that_returns_too_few_labels_is_named(place, capsys):
    assert run("--methods", "peers.py:three") == 2
    shown = capsys.readouterr().err
    assert (
        "peers.py:three returned an array of shape (3,). Return one label for each of the 40 rows." in shown
    )
    assert "This happened to peers.py:three on lines in run 0. Finished runs are kept." in shown


def test_a_clustering_for_each_question_is_none_for_constraints(place, capsys):
    assert run("--methods", "peers.py:twice") == 2
    assert "peers.py:twice returned an array of shape (2, 40)" in capsys.readouterr().err


def test_constraints_that_leave_no_row_to_score_are_refused(place, capsys):
    (place / "mine.toml").write_text(
        SUITE.replace("[5, 20]", "[5, 700]").replace("share = 0.7", "share = 1.0")
    )
    assert run() == 2
    shown = capsys.readouterr().err
    assert "Every row of lines is in one of the 700 constraints, so no row is left to score." in shown


def test_a_method_that_cannot_satisfy_wrong_constraints_says_so(place, capsys):
    (place / "mine.toml").write_text(SUITE.replace("runs = 2", "runs = 2\nwrong = 0.5"))
    assert run("--methods", "COPKMeans") == 2
    shown = capsys.readouterr().err
    assert "COPKMeans satisfies every constraint, but these contradict each other" in shown
    assert "This happened to COPKMeans on lines in run 0." in shown


def test_a_program_that_changes_its_rows_leaves_those_of_others(place):
    assert run("--methods", "peers.py:halves", "--out", "alone") == 0
    assert run("--methods", "peers.py:zeros", "peers.py:halves") == 0
    one, both = (read(place / folder / "mine/cells.csv") for folder in ("alone", "out"))
    assert [row["20"] for row in one] == [row["20"] for row in both if row["method"] == "peers.py:halves"]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("too_many", "peers.py:too_many asks more than 20 questions. Let it stop at the budget."),
        ("elsewhere", "peers.py:elsewhere asks about row 0, which is not among the askable rows."),
        ("with_start", "peers.py:with_start returned 2 clusterings after 1 questions."),
    ],
)
def test_a_program_that_breaks_the_rules_of_questions_is_stopped(place, capsys, program, message):
    (place / "mine.toml").write_text(QUESTIONS.replace("share = 0.7", "folds = 2"))
    assert run("--methods", f"peers.py:{program}", "--tasks", "lines") == 2
    assert message in capsys.readouterr().err


def test_a_suite_that_is_stopped_says_how_to_go_on(place, capsys):
    (place / "peers.py").write_text(
        "def stop(X, constraints, n_clusters, seed):\n"
        "    if seed:\n        raise KeyboardInterrupt\n    return [0] * len(X)\n"
    )
    assert run("--methods", "peers.py:stop") == 130
    assert "Finished runs are kept, and the same command resumes." in capsys.readouterr().err
    assert len(read(place / "out/mine/cells.csv")) == 2


def test_a_program_that_fails_is_named(place, capsys):
    assert run("--methods", "peers.py:odd") == 2
    shown = capsys.readouterr().err
    assert "in odd\n" in shown  # where it failed
    assert "ZeroDivisionError: no rows\nThis happened to peers.py:odd on lines in run 0." in shown
    assert "No task is finished by all methods." in shown


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow(nightly=True))])
def test_where_a_method_fails_on_a_task_the_rest_goes_on(place, capsys, jobs, monkeypatch):
    for name in THREADS:
        monkeypatch.setenv(name, "1")
    (place / "peers.py").write_text(
        "def picky(X, constraints, n_clusters, seed):\n"
        "    return [0] * len(X) if X[2, 1] < X[1, 1] else 1 / 0\n"  # so it is in `dots` alone
    )
    assert run("--methods", "peers.py:picky", "PCKMeans", "--jobs", jobs) == 2
    found = capsys.readouterr()
    assert "8 cells to run." in found.out
    assert "Not finished: lines (2 of 4 cells)." in found.out
    failed = found.err.count("This happened to peers.py:picky on lines")
    # after a failure no other run of this task can make a table; of two processes each may have begun one
    assert 1 <= failed <= int(jobs)
    assert found.err.count("ZeroDivisionError") == failed
    assert {row["task"] for row in read(place / "out/mine/scores.csv")} == {"dots"}
    assert run("--methods", "PCKMeans") == 0
    assert "0 cells to run." in capsys.readouterr().out


def test_a_reader_may_close_the_output(capfd, monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    stdout = os.fdopen(writer, "w")
    monkeypatch.setattr(sys, "stdout", stdout)
    assert main(["list"]) == 1
    stdout.close()  # what it holds back goes nowhere, without an error
    assert capfd.readouterr() == ("", "")


def test_a_program_that_returns_its_final_labels_is_asked_once_for_each_number(place):
    (place / "mine.toml").write_text(QUESTIONS)
    assert run("--methods", "peers.py:final", "--tasks", "lines") == 0
    for row in read(place / "out/mine/cells.csv"):
        assert float(row["5"]) == 0 < float(row["20"])


def test_questions_are_about_the_training_rows_and_test_rows_are_scored(place, capsys):
    (place / "mine.toml").write_text(QUESTIONS.replace("share = 0.7", "folds = 2"))
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
        ('kind = "constraints"', 'kind = "odd"', "kind = 'odd'. Set questions, constraints"),
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
            "asks questions, and nested is about constraints",
        ),
        ('kind = "constraints"', 'kind = "questions"\nstarts = 2', "starts is about constraints"),
        ("runs = 2", "cannot_links = [5]", "has 2 numbers and 1 cannot_links. Set as many."),
        ("runs = 2", "cannot_links = [5, 6]\nwrong = 0.1", "Remove pairs, nested and wrong."),
        ("runs = 2", 'unit = "rows"', "unit = 'rows'. Set count, percent of pairs, percent of rows"),
        ("[protocol]", "[protocol", "mine.toml is no TOML file"),
        (
            "[protocol]",
            "[protocols]",
            "mine.toml has the unknown field 'protocols'. Fields are about, methods,",
        ),
        (
            'methods = ["PCKMeans"]',
            'methods = "PCKMeans"',
            "methods = 'PCKMeans'. Set a list of texts in quotes",
        ),
        ("[[task]]", "[task]", "is no TOML file"),
        (
            'kind = "constraints"',
            'kind = "questions"',
            "scored = 'elsewhere' is about constraints. Set folds",
        ),
        ('kind = "constraints"', 'kind = "questions"\npairs = "must-link"', "pairs is about constraints"),
        ("share = 0.7", "folds = 2", "has folds, which replace scored"),
        ('scored = "elsewhere"', "folds = 2", "has folds, which replace share"),
        ("share = 0.7", "share = 7", "has 7 in share. Set 0 to 1."),
        ("runs = 2", "runs = 0", "has 0 in runs. Set 1 or more."),
        ("runs = 2", 'runs = "2"', "has runs = '2'. Set a whole number."),
        ("runs = 2", "folds = 1", "has folds = 1. Set 2 or more, or 0 for none."),
        ("runs = 2", "wrong = 0.1\nclosed = true", "closes wrong constraints. Remove closed or wrong."),
        ("runs = 2", "nested = 1", "has nested = 1. Set true or false."),
        ("runs = 2", 'score = "arri"', "has score = 'arri'. Set ari, rand, nmi, nmi_geometric"),
        ("numbers = [5, 20]", "numbers = 5", "has numbers = 5. Set a list of numbers."),
        ("numbers = [5, 20]", "numbers = [2.5]", "has 2.5 in numbers. Set whole numbers, or a unit"),
        ("numbers = [5, 20]", "numbers = [-5]", "has -5 in numbers. Set 0 or more."),
        ("numbers = [5, 20]", 'unit = "percent of rows"\nnumbers = [101]', "101 in numbers. Set 0 to 100."),
        ("numbers = [5, 20]", "numbers = [5, 2000]", "lines does not suit this protocol. 2000 pairs cannot"),
        ('"PCKMeans"', '"PCKMeans(k=3)"', "PCKMeans(k=3) does not have these parameters."),
        (
            '"PCKMeans"',
            '"peers.py:final"',
            "For constraints write a function of (X, constraints, n_clusters, seed)",
        ),
        ('"dots.csv"', '"dots.csv"\nkernel = "poly"', "kernel = 'poly'. Set linear, rbf."),
        ('"dots.csv"', '"dots.csv"\nrows = -1', "rows = -1. Set 1 or more."),
        (
            '"dots.csv"',
            '"dots.csv"\ncounts = [40, 2]',
            "has 2 counts. Set those of rows, features and classes.",
        ),
        ('"dots.csv"', '"dots.csv"\ndrop_before = "x"', "drop_before = 'x'. Set a list of texts in quotes."),
    ],
)
def test_what_is_wrong_is_named(place, capsys, old, new, message):
    (place / "mine.toml").write_text(SUITE.replace(old, new))
    assert run() == 2
    assert message in capsys.readouterr().err


def test_no_question_is_no_number_of_questions(place, capsys):
    (place / "mine.toml").write_text(QUESTIONS.replace("[5, 20]", "[0, 20]"))
    assert run("--methods", "KIN") == 2
    assert "has 0 in numbers. Set 1 or more." in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--runs", "--jobs"])
def test_runs_and_jobs_are_positive(place, capsys, option):
    with pytest.raises(SystemExit):
        run(option, "0")
    assert f"argument {option}: '0' is not a whole number from 1" in capsys.readouterr().err


def test_a_method_named_twice_takes_part_once(place, capsys):
    assert run("--methods", "PCKMeans", "PCKMeans") == 0
    assert "4 cells to run" in capsys.readouterr().out
    assert len(read(place / "out/mine/summary.csv")) == 1


def test_tables_show_the_labels_of_methods(place, capsys):
    assert run("--methods", "PCK means=PCKMeans()", "halves = peers.py:halves") == 0
    assert {row["method"] for row in read(place / "out/mine/scores.csv")} == {"PCK means", "halves"}
    assert ">PCK means<" in (place / "out/mine/index.html").read_text()
    assert {row["method"] for row in read(place / "out/mine/cells.csv")} == {"PCKMeans()", "peers.py:halves"}
    capsys.readouterr()
    assert run("--methods", "other=peers.py:halves", "PCKMeans()") == 0
    assert "0 cells to run" in capsys.readouterr().out  # a label is no part of what was measured


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("KIN", ("KIN", "KIN")),
        ("COBRA(n=25)", ("COBRA(n=25)", "COBRA(n=25)")),
        ("twenty=COBRA(n=25)", ("twenty", "COBRA(n=25)")),
        ("a=b.py:c", ("a", "b.py:c")),
        ("folder=x/b.py:c", ("folder", "x/b.py:c")),
        ("C:/x=y/b.py:c", ("C:/x=y/b.py:c", "C:/x=y/b.py:c")),
        ("=KIN", ("=KIN", "=KIN")),
    ],
)
def test_a_label_stands_before_the_name(name, found):
    assert split_label(name) == found


def test_labels_and_methods_are_there_once(place, capsys):
    assert run("--methods", "a=PCKMeans", "a=MPCKMeans") == 2
    assert "The label 'a' is there twice." in capsys.readouterr().err
    assert run("--methods", "a=PCKMeans", "b=PCKMeans") == 2
    assert "The method 'PCKMeans' is there twice. Set a label" in capsys.readouterr().err


def test_finished_tasks_have_tables_before_the_others(place, capsys):
    assert run("--finished") == 2
    assert "No task is finished by all methods. Let their runs end, or remove" in capsys.readouterr().err
    assert run("--tasks", "lines") == 0
    (place / "out/mine/scores.csv").unlink()
    capsys.readouterr()
    assert run("--finished") == 0
    shown = capsys.readouterr().out
    assert "Not finished: dots (0 of 2 cells)." in shown
    assert "to run" not in shown
    assert {row["task"] for row in read(place / "out/mine/scores.csv")} == {"lines"}
    assert len(read(place / "out/mine/cells.csv")) == 2
    assert run("--finished", "--methods", "PCKMeans", "KIN") == 2


def test_the_files_of_a_suite_are_listed(place, capsys):
    (place / "dots.csv").unlink()
    assert run() == 0
    assert (
        "Left out for want of data: dots. `python -m bench.suites list mine.toml`" in capsys.readouterr().out
    )
    assert main(["list", "mine.toml"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[1:] == [["lines", "lines.csv"], ["dots", "dots.csv"]]
    assert main(["list", "bckm2018"]) == 0
    assert (
        "iris       iris.csv       iris                   150         4        3" in capsys.readouterr().out
    )


def test_a_clusterer_is_not_asked(place, capsys):
    (place / "mine.toml").write_text(QUESTIONS)
    assert run() == 2
    assert "PCKMeans asks no questions" in capsys.readouterr().err


def test_an_unknown_suite_is_refused(place, capsys):
    assert main(["run", "moons"]) == 2
    assert "There is no suite 'moons'. Pass bckm2018, clusilc2007" in capsys.readouterr().err
    assert main(["run", "mine.toml", "--data", ".", "--tasks", "moon"]) == 2
    assert "mine has no task 'moon'" in capsys.readouterr().err


@pytest.mark.parametrize("name", list_suites())
def test_the_declared_suites_are_whole(name):
    suite = read_suite(name)
    assert suite.name == name
    assert suite.about.endswith(".")
    assert all(spec.file or spec.bundled for spec in suite.tasks.values())
    for method in suite.methods:
        assert find_participant(method).uses


def test_the_declared_suites_are_listed(capsys):
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    assert all(read_suite(name).about in listed for name in list_suites())


@pytest.mark.parametrize("name", [name for name in list_suites() if name != "clusilc2007_large"])
def test_the_declared_suites_run_and_resume(name, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    method = {"questions": "COBRA(5)", "constraints": "PCKMeans"}[read_suite(name).protocol.kind]
    arguments = ["run", name, "--quick", "--tasks", "iris", "--methods", method, "--out", str(tmp_path)]
    for begun in ("1 cells to run", "2 cells to run"), ("0 cells to run",):
        assert main(arguments) == 0
        assert capsys.readouterr().out.startswith(begun)
    scores = read(tmp_path / f"{name}_quick/scores.csv")
    assert [(row["task"], row["method"]) for row in scores] == [("iris", method)]


def test_the_protocols_of_the_papers_draw_as_the_papers():
    y = load_task(read_suite("bckm2018").tasks["iris"]).y
    rows = np.arange(len(y))
    drawn = draw_trial_constraints(y, read_suite("bckm2018").protocol, 3, 0, rows)
    assert [c.n_constraints for c in drawn] == [111, 558, 1117]  # 1, 5 and 10 % of 11175
    assert drawn[1] == draw_constraints(y, percent=5, random_state=3)
    drawn = draw_trial_constraints(y, read_suite("halkidi2008").protocol, 0, 0, rows)
    assert (len(drawn[0].must_link), len(drawn[0].cannot_link)) == (8, 9)
    assert [c.n_constraints + c.n_duplicates for c in drawn] == [17, 30, 60, 90, 120, 150]
    folds = read_suite("clusilc2007").protocol
    known = rows[15:]
    first, other = (draw_trial_constraints(y, folds, 0, fold, known) for fold in (0, 1))
    assert first[0] != other[0]
    assert min(first[-1].must_link.min(), first[-1].cannot_link.min()) >= 15
    assert first[0] == close_constraints(first[0])
    nested = draw_trial_constraints(y, read_suite("cobs2017").protocol, 0, 0, rows)
    assert {tuple(pair) for pair in nested[0].must_link} <= {tuple(pair) for pair in nested[-1].must_link}


@pytest.mark.parametrize("name", ["BCKM.paper()", "COBRAS.paper()", "MPCKMeans.paper()"])
def test_a_preset_gets_the_seed_of_the_run(name, monkeypatch):
    made = []
    task = load_task(read_tasks()["iris"])
    for built in (linkwise.BCKM, linkwise.COBRAS, linkwise.MPCKMeans):
        monkeypatch.setattr(built, "fit", lambda model, *_, **__: made.append(model))
    find_participant.cache_clear()
    with pytest.raises(AttributeError):  # it has no labels
        find_participant(name).cluster(task, Constraints(len(task.y)), 7)
    assert made[0].random_state == 7
    assert getattr(made[0], "n_clusters", 3) == 3


def test_a_method_without_the_linear_kernel_takes_part():
    task = load_task(read_tasks()["iris"])
    labels = find_participant("PCP").cluster(task, Constraints(len(task.y), [(0, 1)]), 0)
    assert len(set(labels.tolist())) == 3


def test_parameters_and_presets_reach_the_method():
    task = load_task(read_tasks()["iris"])
    oracle, rows = TruthOracle(task.y), np.arange(len(task.y))
    found = find_participant("COBRA(3)").ask(task, oracle, 2, 0, rows)
    assert len(set(found[-1].tolist())) <= 3
    with pytest.raises(DataError, match="asks no questions"):
        find_participant("pckmeans").ask(task, oracle, 2, 0, rows)
    labels = find_participant("PCKMeans(2)").cluster(task, Constraints(len(task.y)), 0)
    assert len(set(labels.tolist())) == 2  # not the three of the classes

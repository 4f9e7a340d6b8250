"""``python -m bench list`` and ``run``: what is printed, and what is run with which options."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from bench.experiments import read_experiments
from bench.results import RESULTS

from bench import __main__ as command

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ran(monkeypatch):
    """Commands that would have run; they end with the statuses that are given, then with 0."""
    commands, statuses = [], []

    def run(command, **settings):
        if command[0] == "git":
            return SimpleNamespace(returncode=1, stdout="")
        commands.append(command[2:])
        return SimpleNamespace(returncode=statuses.pop(0) if statuses else 0)

    monkeypatch.setattr(subprocess, "run", run)
    return SimpleNamespace(commands=commands, statuses=statuses)


def run(*arguments):
    return command.main(["run", *map(str, arguments)])


def test_the_list_has_every_experiment(capsys):
    assert command.main(["list"]) == 0
    printed = capsys.readouterr().out
    assert all(f"  {name} " in printed for name in read_experiments())
    assert max(map(len, printed.splitlines())) <= command.WIDTH


def test_options_of_an_experiment_are_handed_on(ran, tmp_path):
    run("speed_fosc", "--sizes", 100, 200, "--out", tmp_path)
    run("active", "--quick", "--data", "there", "--jobs", 2, "--runs", 1, "--out", tmp_path)
    folder = ["--out", str(tmp_path)]
    assert ran.commands[0] == ["bench.speed.fosc", *folder, "--sizes", "100", "200"]
    quick = ["--runs", "2", "--tasks", "iris", "wine", "iris_merged"]
    assert ran.commands[1] == [
        "bench.papers.active", *quick, *folder, "--data", "there", "--jobs", "2", "--runs", "1"
    ]  # fmt: skip


def test_several_experiments_run_one_after_the_other(ran, tmp_path):
    ran.statuses += [1, 0]
    assert run("cobras_quality", "speed_kin", "--data", "there", "--jobs", 2, "--out", tmp_path) == 1
    assert ran.commands[0] == ["bench.papers.cobras", "quality", "--out", str(tmp_path), "--jobs", "2"]
    assert ran.commands[1] == ["bench.speed.kin", "--out", str(tmp_path)]
    entries = json.loads((tmp_path / "report" / "state.json").read_text())
    assert {name: entry["status"] for name, entry in entries.items()} == {"cobras_quality": 1, "speed_kin": 0}


def test_quick_results_have_a_folder_of_their_own(ran):
    assert command.results_folder(None, quick=True) == RESULTS / "quick"
    assert command.results_folder(None, quick=False) == RESULTS


def test_what_cannot_be_run_is_an_error(ran, tmp_path, capsys):
    with pytest.raises(SystemExit, match="no experiment nothing"):
        run("nothing")
    with pytest.raises(SystemExit, match="halkidi has no quick form"):
        run("speed_kin", "halkidi", "--quick", "--out", tmp_path)
    with pytest.raises(SystemExit):
        run("--quick")
    assert "name an experiment" in capsys.readouterr().err
    assert ran.commands == []


def test_help_is_that_of_the_experiment(ran, capsys):
    assert run("cobs_table4", "--help") == 0
    assert ran.commands == [["bench.papers.cobs", "table4", "--help"]]
    with pytest.raises(SystemExit):
        run("--help")
    assert "run NAME..." in capsys.readouterr().out


@pytest.mark.slow(nightly=True)
def test_an_experiment_is_run(tmp_path):
    """In a process that loads nothing large before."""
    code = "import sys; from bench.__main__ import main; sys.exit(main() or 'numpy' in sys.modules)"
    arguments = ["run", "speed_fosc", "--sizes", "60", "--repeats", "1", "--out", tmp_path]
    subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, check=True)
    assert (tmp_path / "speed_fosc" / "times.csv").read_text().startswith("rows,")
    assert len(json.loads((tmp_path / "report" / "state.json").read_text())["speed_fosc"]["code"]) == 8

"""The README's Python and commands run as they are printed, and so do those of two pages."""

import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from commands import linkwise, no_screen

__all__ = ["linkwise", "no_screen"]

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ANSWERS = "y\nn\ns\nn\nq\n"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """The files of a copy of the repository that the commands name."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("*.linkwise*"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands_of(text):
    """Commands in blocks of shell, without comments, and those within sentences."""
    joined = text.replace("\\\n", " ")
    return [
        shlex.split(line, comments=True)
        for line in re.findall(r"^ {3,4}((?:linkwise|python) .*)$|`(linkwise [^`]+)`", joined, re.MULTILINE)
        for line in line
        if line
    ]


def run(command, linkwise, monkeypatch):
    """Run a command with a few answers."""
    if command[0] == "linkwise":
        done = linkwise(*command[1:], said=ANSWERS)
        assert done.exit_code == 0, (command, done.output)
    else:
        monkeypatch.setattr(sys, "argv", command[1:])
        runpy.run_path(command[1], run_name="__main__")


@pytest.mark.slow
def test_the_commands_of_the_readme_run_as_printed(repository, linkwise, monkeypatch):
    commands = commands_of(README)
    assert [command[1] for command in commands] == ["ask", "explain", "export", "cluster"]
    for command in commands:
        run(command, linkwise, monkeypatch)
    assert "cluster" in (repository / "customers-with-clusters.csv").read_text("utf-8").partition("\n")[0]
    assert (repository / "pairs.csv").is_file()


def test_the_two_commands_of_the_readme_are_those_of_ci():
    commands = re.findall(r"^ {4}(make .*)$", README, re.MULTILINE)
    assert commands == ["make demo ARGS=--auto", "make test"]
    run_by_ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert [command for command in commands if not re.search(rf"\b{command}\b", run_by_ci)] == []


@pytest.mark.slow
def test_the_demo_prints_what_the_readme_shows(linkwise):
    first, last = re.findall(r"^ {4} *(\d+ +\d+ +[\d.]+)$", README, re.MULTILINE)
    printed = [line.split() for line in linkwise("demo", "--auto").output.splitlines()]
    assert first.split() in printed
    assert last.split() in printed


def commands_of_page(page):
    """Commands in blocks of bash."""
    text = (ROOT / "docs" / f"{page}.rst").read_text(encoding="utf-8")
    blocks = re.findall(r"^\.\. code-block:: bash\n\n((?:(?:   .*)?\n)+)", text, re.MULTILINE)
    return [command for block in blocks for command in commands_of(block)]


def test_the_first_page_has_the_commands_of_the_readme_in_their_order():
    assert commands_of_page("index") == commands_of(README)


@pytest.mark.slow
@pytest.mark.parametrize("share", ["0.1", pytest.param("1", marks=pytest.mark.slow(nightly=True))])
def test_the_commands_of_a_page_run_in_the_repository(repository, linkwise, monkeypatch, share):
    commands = commands_of_page("real-data")
    assert len(commands) == 7
    commands[0] += ["--rows", share]
    for command in commands:
        run(command, linkwise, monkeypatch)


def test_the_first_command_of_ten_minutes_asks_in_the_terminal():
    page = (ROOT / "docs" / "ten-minutes.rst").read_text(encoding="utf-8")
    first = next(line for line in page.splitlines() if "$ linkwise ask" in line)
    assert first.endswith("--terminal")  # its output is printed below


@pytest.mark.slow
def test_the_python_of_the_readme_runs(repository, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert re.search(r"customer +cluster +confidence", printed)
    assert "[300 rows x 3 columns]" in printed


def test_the_readme_is_short():
    assert len(README.split()) <= 500


def test_what_the_readme_links_to_exists():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) >= 4
    assert all((ROOT / link).exists() for link in links)

"""The help of commands: the main options on the first screen, the others by heading, a line for each."""

import re

import pytest

from linkwise.app.cli.typer_options import FIRST_COLUMN, MAIN_OPTIONS
from linkwise.app.project.options import HEADINGS

COMMANDS = ("ask", "serve", "cluster")


@pytest.fixture
def helps(linkwise, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    return lambda command: linkwise(command, "--help").stdout.splitlines()


def by_heading(lines):
    """Flags below each heading."""
    found = {}
    for line in lines:
        if (heading := re.fullmatch(r"(\w.*):", line)) is not None:
            found[heading[1]] = []
        elif found and (flag := re.match(r"  (--[\w-]+)", line)) is not None:
            list(found.values())[-1].append(flag[1])
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_the_eight_main_options_are_on_the_first_screen(helps, command):
    lines = helps(command)
    assert by_heading(lines[:24])["Main options"] == list(MAIN_OPTIONS[command])
    assert len(MAIN_OPTIONS[command]) == 8
    assert max(map(len, lines)) <= 80


def test_headings_and_options_have_one_order_in_all_commands(helps):
    sections = {command: by_heading(helps(command)) for command in COMMANDS}
    order = ["Arguments", "Main options", *HEADINGS, "Other options"]
    for found in sections.values():
        assert list(found) == [heading for heading in order if heading in found]
        for heading in HEADINGS:
            shared = set(found.get(heading, ())) & set(sections["ask"].get(heading, ()))
            assert [flag for flag in sections["ask"].get(heading, ()) if flag in shared] == [
                flag for flag in found.get(heading, ()) if flag in shared
            ]


def test_an_option_takes_one_line_unless_it_names_methods(helps):
    folded = [line for line in helps("ask") if line.startswith(" " * (FIRST_COLUMN + 4))]
    methods = {"--method", "--preset", "--noise", "--clusters", "--estimator"}
    assert len(folded) <= len(methods)
    n_options = sum(map(len, by_heading(helps("ask")).values()))
    assert len(helps("ask")) < n_options + 40  # headings, and blank lines between them


def test_no_bounds_and_no_braces(helps):
    text = "\n".join(helps("ask"))
    assert "x>=" not in text
    assert " ask [OPTIONS] FILE\n" in text
    assert text.endswith("show this help")

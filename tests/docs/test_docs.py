"""The documentation is true: names and flags are all there, and what pages show is what is printed."""

import doctest
import importlib.util
import re
import socket
import sys
import tomllib
from pathlib import Path

import pytest
import typer
from sklearn import config_context

import linkwise
import linkwise.data
from linkwise.app.cli import streams
from linkwise.app.cli.main import app
from linkwise.app.project import exit_codes
from linkwise.app.terminal.keys import parse_command
from linkwise.constraints.facts import check_answer
from linkwise.data import read_table
from linkwise.data.read.endings import ENDINGS
from linkwise.methods import CLUSTERERS, LEARNERS, METHODS, options_of, owners_of
from linkwise.session.journal import schema

DOCS = Path(__file__).parents[2] / "docs"
REPRODUCTION = sorted(f"reproduction/{page.name}" for page in (DOCS / "reproduction").glob("*.rst"))
PAGES = [*sorted(page.name for page in DOCS.glob("*.rst")), *REPRODUCTION]
SOURCE = Path(linkwise.__file__).parents[1]
LONG = {"cobs.rst", "experiments.rst"}  # what they print takes seconds, and is tested at night
EACH_PAGE = [pytest.param(page, marks=pytest.mark.slow(nightly=page in LONG)) for page in PAGES]
WITH_EXAMPLES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((SOURCE / "linkwise").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


def _load(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[f"docs_{name}"] = module
    spec.loader.exec_module(module)
    return module


replay = _load("replay")
options_table = _load("options_table")


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Nothing may reach beyond this machine, and scikit-learn's settings are as before afterwards."""

    connect = socket.socket.connect

    def refused(self, address):
        if self.family == socket.AF_INET and address[0] == "127.0.0.1":
            return connect(self, address)
        raise AssertionError("a page reaches for the network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    with config_context():
        yield


def text_of(page):
    return (DOCS / page).read_text(encoding="utf-8")


def section(page, heading):
    """The part of a page under one heading of the second level."""
    text = text_of(page)
    start = re.search(rf"^{heading}.*\n-{{3,}}\n", text, re.MULTILINE).end()
    end = re.search(r"^.+\n-{3,}\n", text[start:], re.MULTILINE)
    return text[start : start + end.start()] if end else text[start:]


@pytest.mark.parametrize("page", PAGES)
def test_no_page_has_formulas_for_which_a_browser_fetches_a_program(page):
    assert not re.search(r"^ *\.\. math::|:math:`", text_of(page), re.MULTILINE)


# ---------------------------------------------------------------- names
@pytest.mark.parametrize("module", [linkwise, linkwise.data])
def test_every_public_name_is_in_the_reference(module):
    listed = re.findall(r"^   (\w+)$", text_of("reference.rst"), re.MULTILINE)
    assert set(module.__all__) - set(listed) == set()


def test_all_that_the_reference_lists_is_there():
    here = "linkwise"
    for line in text_of("reference.rst").splitlines():
        if found := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            here = found[1]
        elif found := re.fullmatch(r"   ([\w.]+)", line):
            thing = importlib.import_module(here)
            *modules, name = found[1].split(".")
            if modules:
                thing = importlib.import_module(".".join([here, *modules]))
            assert getattr(thing, name).__doc__, line


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.kind} {method.class_name}")
def test_every_method_has_its_source_and_page_in_choosing(method):
    assert f":class:`~linkwise.{method.class_name}`" in section("choosing.rst", "Sources and pages")


@pytest.mark.parametrize(
    "text", [section("data.rst", "Formats"), read_table.__doc__], ids=["page", "docstring"]
)
def test_every_format_is_listed(text):
    assert set(ENDINGS) <= set(re.findall(r"\.[a-z]\w*", text))


# ---------------------------------------------------------------- the command line
COMMANDS = typer.main.get_command(app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_of_a_command_is_listed_with_its_help_and_no_other(name):
    described = section("command-line.rst", f"linkwise {name}")
    assert re.search(rf"^\.\. command-options:: {name}$", described, re.MULTILINE)
    listed = [record for records in options_table.list_options(name).values() for record in records]
    flags = {flag for p in COMMANDS[name].params for flag in (*p.opts, *p.secondary_opts) if flag[0] == "-"}
    assert {flag for names, _ in listed for flag in re.findall(r"--[\w-]+", names)} == flags - {
        "-h",
        "--help",
    }
    assert all(words for _, words in listed)
    assert set(re.findall(r"^``(--[\w-]+)", described, re.MULTILINE)) <= flags


EACH_OPTION = [
    pytest.param(command, option, owners_of(option, among), id=f"{command} {option.flag}")
    for command, among in (("ask", LEARNERS), ("cluster", CLUSTERERS))
    for option in options_of(among).values()
    if 2 * len(owners_of(option, among)) <= len(among)
]


@pytest.mark.parametrize(("command", "option", "owners"), EACH_OPTION)
def test_an_option_of_few_methods_names_them(command, option, owners):
    (parameter,) = [p for p in COMMANDS[command].params if option.flag in p.opts]
    assert set(owners) <= set(re.findall(r"\w+", parameter.help))


def test_the_flags_of_all_commands_are_described():
    top = text_of("command-line.rst").partition("linkwise ask FILE\n")[0]
    for flag in ("--version", "--help", "-h"):
        assert f"{flag}``" in top


def test_every_exit_code_is_described():
    codes = {
        exit_codes.FAULT,
        exit_codes.USAGE,
        exit_codes.BAD_DATA,
        exit_codes.CONTRADICTION,
        exit_codes.SESSION,
        exit_codes.INTERRUPTED,
        streams.CLOSED,
    }
    described = re.findall(r"^   \* - (\d+)$", section("command-line.rst", "Exit codes"), re.MULTILINE)
    assert {int(code) for code in described} == {0, *codes}


# ---------------------------------------------------------------- the words for answers
def test_the_words_for_answers_are_those_of_the_library():
    rows = re.findall(
        r"^   \* - (.+)\n((?:     - .+\n)+)",
        section("constraints.rst", "The words for answers"),
        re.MULTILINE,
    )
    words = {
        place: [re.findall(r"``\"?([^`\"]+)\"?``", cell) for cell in cells.splitlines()]
        for place, cells in rows
    }
    answers = ("yes", "no", "unsure")
    for answer, given in zip(answers, words["``session.answer``, oracles"], strict=True):
        assert {check_answer(word, 0, 1) for word in given} == {answer}
    for answer, given in zip(answers, words["lines in a pipe"], strict=True):
        assert {parse_command(word) for word in given} == {answer}
    assert words["replies of programs, answers in files"] == [[answer] for answer in answers]


# ---------------------------------------------------------------- the session file
def test_every_table_and_column_of_a_session_file_is_described():
    described = section("sessions.rst", "File format")
    for table, columns in re.findall(
        r"CREATE TABLE (\w+) \((.+?)\)(?: WITHOUT ROWID)?;", schema.SCHEMA, re.DOTALL
    ):
        row = described.partition(f"* - ``{table}``")[2].partition("* - ")[0]
        wanted = re.findall(r"(?:^|,)\s*(\w+) (?:TEXT|INTEGER|BLOB)", columns)
        assert wanted
        assert [name for name in wanted if name != "one" and f"``{name}``" not in row] == []
    assert f"0x{schema.APPLICATION_ID:X}" in described
    assert f"``user_version`` {schema.find_version()} " in described


# ---------------------------------------------------------------- what is shown is what is printed
@pytest.mark.parametrize("page", EACH_PAGE)
def test_commands_print_what_the_page_shows(page):
    differences = [str(d) for d in replay.replayed_commands(DOCS / page)]
    assert not differences, "\n".join([*differences, "mend it, or: python docs/replay.py --write " + page])


def test_reproduction_has_the_commands_that_measure_speed():
    experiments = tomllib.loads((DOCS.parent / "bench" / "experiments.toml").read_text(encoding="utf-8"))
    speed = {one["name"] for one in experiments["experiment"] if one["topic"] == "speed"}
    named = set(re.findall(r"python -m bench run (\w+)", text_of("reproduction/index.rst")))
    assert speed - named == set()


def test_a_page_says_where_the_figures_of_wrong_answers_are():
    costs = section("wrong-answers.rst", "The cost of wrong answers")
    assert "bench/results/noise/summary.csv" in costs
    assert "doc:`reproduction/index`" in costs
    page = text_of("reproduction/index.rst")
    assert "python -m bench run noise " in page
    for table in ("summary", "answers", "calibration", "acc", "team"):
        assert f"bench/results/noise/{table}.csv" in page


@pytest.mark.parametrize("page", EACH_PAGE)
def test_python_prints_what_the_page_shows(page):
    differences = [str(d) for d in replay.replayed_python(DOCS / page)]
    assert not differences, "\n".join([*differences, "mend it, or: python docs/replay.py --write " + page])


def test_pages_without_anything_to_run_are_few():
    """The parser of blocks finds the blocks: otherwise nothing above could fail."""
    ran = {page for page in PAGES if list(replay.commands(DOCS / page)) or ">>> " in text_of(page)}
    assert set(PAGES) - ran == {
        "examples.rst",
        "index.rst",
        "methods.rst",
        "papers.rst",
        "reference.rst",
        "speed.rst",
        "reliability.rst",
        *REPRODUCTION,
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0

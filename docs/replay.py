"""Replay the pages: run every command and every line of Python in them, and compare what they print.

``python docs/replay.py`` shows where a page and linkwise differ, ``--write`` puts what is printed now
into the pages. A block of ``console`` is run line by line in a folder of the page's own, which holds the
data beside the pages; a line ``...`` stands for any lines, and three dots within a line for anything.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner

from linkwise.app.cli.main import app

FOLDER = Path(__file__).parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(r"^\.\. code-block:: console\n\n((?:(?:   .*)?\n)+)", re.MULTILINE)
SUITES = "python -m bench.suites "
PLAIN = {"COLUMNS": "80", "LINES": "24", "TERM": "dumb", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Difference:
    """What a page says that is printed, and what is.

    Attributes
    ----------
    page : Path
    source : str
        The command or the Python statement.
    start, end : int
        Lines of the page (from 0) that hold `said`.
    said, printed : list of str
        Lines as they stand in the page, and as they should.
    """

    page: Path
    source: str
    start: int
    end: int
    said: list[str]
    printed: list[str]

    def __str__(self) -> str:
        place = f"{self.page.name}, line {self.start + 1}: {self.source}"
        return "\n".join([place, "--- said", *self.said, "--- printed", *self.printed, ""])


def pages() -> list[Path]:
    """All pages, by name."""
    return sorted(FOLDER.glob("*.rst"))


def same(said: str, printed: str) -> bool:
    """Whether a text is what a page says, where dots stand for anything."""
    return doctest.OutputChecker().check_output(said, printed, FLAGS)


# ---------------------------------------------------------------- commands
def commands(page: Path) -> Iterator[tuple[str, int, list[str]]]:
    """Every command of a page, the line where its output begins, and that output."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        number = text.count("\n", 0, block.start(1))
        lines = [line[3:] for line in block[1].rstrip().split("\n")]
        starts = [at for at, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            first = next(at for at in range(start, end) if not lines[at].endswith("\\")) + 1
            yield "\n".join(lines[start:first])[2:], number + first, lines[first:end]


def copy_samples(folder: str) -> None:
    """Put the data and the program beside the pages into a folder."""
    for sample in (*FOLDER.glob("*.csv"), FOLDER / "peers.py"):
        shutil.copy(sample, folder)
    shutil.copytree(FOLDER / "signs", Path(folder) / "signs")


def replayed_commands(page: Path) -> Iterator[Difference]:
    """Commands of a page that print something else."""
    with tempfile.TemporaryDirectory() as folder:
        copy_samples(folder)
        for command, start, said in commands(page):
            printed = run(command, folder)
            if not same("\n".join(said) + "\n", "\n".join(printed) + "\n"):
                lines = [f"   {line}".rstrip() for line in abridged(said, printed)]
                yield Difference(page, command, start, start + len(said), said, lines)


def run(command: str, folder: str) -> list[str]:
    """Lines that a command prints, on either stream; linkwise itself runs in this process, to be quick."""
    from bench.suites.__main__ import main as run_suites

    before, _, last = command.rpartition(" | ")
    last, _, quiet = last.partition(" 2>")
    if command.startswith(SUITES):
        with inside(folder), redirect_stdout(StringIO()) as said:
            assert run_suites(shlex.split(command.removeprefix(SUITES))) == 0, command
        printed = said.getvalue()
    elif not last.startswith("linkwise "):
        printed = in_shell(command, folder)
    else:
        said = in_shell(before, folder) if before else ""
        with inside(folder), patch.dict(os.environ, PLAIN):
            done = CliRunner().invoke(app, shlex.split(last)[1:], input=said)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        printed = done.stdout if quiet else done.output
    return [line.rstrip() for line in printed.rstrip().split("\n")] if printed.strip() else []


def in_shell(command: str, folder: str) -> str:
    """What a shell prints for a command."""
    python_first = {"PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])}
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=os.environ | python_first,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
    ).stdout


@contextmanager
def inside(folder: str) -> Iterator[None]:
    """Work in another folder."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def abridged(said: list[str], printed: list[str]) -> list[str]:
    """What is printed now, as short as it was said before."""
    if "..." not in said:
        return [old if same(old, new) else new for old, new in zip(said, printed, strict=False)] + printed[
            len(said) :
        ]
    head = said.index("...")
    tail = len(said) - head - 1
    return [*printed[:head], "...", *printed[len(printed) - tail :]]


# ---------------------------------------------------------------- Python
class Collecting(doctest.DocTestRunner):
    """Runs the Python of a page and keeps what differs."""

    def __init__(self, page: Path) -> None:
        super().__init__(optionflags=FLAGS, verbose=False)
        self.page = page
        self.differences: list[Difference] = []

    def report_failure(self, out: object, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        """Keep it."""
        start = example.lineno + example.source.count("\n")
        said = example.want.splitlines()
        printed = [" " * example.indent + (line or "<BLANKLINE>") for line in got.splitlines()]
        source = example.source.strip()
        self.differences.append(Difference(self.page, source, start, start + len(said), said, printed))

    def report_unexpected_exception(
        self, out: object, test: doctest.DocTest, example: doctest.Example, exc_info: tuple
    ) -> None:
        """Pass it on: a page must not fail."""
        raise exc_info[1].with_traceback(exc_info[2])


def replayed_python(page: Path) -> list[Difference]:
    """Statements of a page that print something else."""
    text = page.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    runner = Collecting(page)
    with tempfile.TemporaryDirectory() as folder:
        copy_samples(folder)
        with inside(folder):
            runner.run(test, out=lambda _: None)
    return runner.differences


def write(differences: list[Difference]) -> None:
    """Put what is printed now into one page."""
    page = differences[0].page
    lines = page.read_text(encoding="utf-8").split("\n")
    for d in sorted(differences, key=lambda d: -d.start):
        lines[d.start : d.end] = d.printed
    page.write_text("\n".join(lines), encoding="utf-8")


def main() -> int:
    """Replay all pages, or those named."""
    wanted = {name for name in sys.argv[1:] if not name.startswith("-")}
    found = 0
    for page in pages():
        if wanted and page.name not in wanted:
            continue
        differences = [*replayed_commands(page), *replayed_python(page)]
        found += len(differences)
        for difference in differences:
            print(difference)
        if differences and "--write" in sys.argv:
            write(differences)
    return int(found > 0)


if __name__ == "__main__":
    sys.path.insert(0, os.fspath(FOLDER.parent))  # bench/ is beside docs/
    sys.exit(main())

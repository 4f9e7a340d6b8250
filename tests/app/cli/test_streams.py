"""Every command writes to a stream of any encoding, and ends quietly when nobody reads any more."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from linkwise import __main__
from linkwise.app.cli.main import app
from linkwise.app.cli.streams import CLOSED
from patience import patience

NIGHTLY = pytest.mark.slow(nightly=True)
CITIES = ["København", "Łódź", "Αθήνα"]
ENCODINGS = ["ascii", *(pytest.param(encoding, marks=NIGHTLY) for encoding in ("cp1252", "latin-1"))]
COMMANDS = {
    "ask": ["{data}", "--session", "new.linkwise", "--budget", "1"],
    "ask --json": ["{data}", "--session", "new.linkwise", "--json"],
    "ask, wrong column": ["{data}", "--session", "new.linkwise", "--id", "città e größe"],
    "serve": ["{data}", "--host", "0.0.0.0"],
    "cluster": ["{data}", "--method", "fosc"],
    "cluster --json": ["{data}", "--method", "fosc", "--json"],
    "cluster --join": ["{data}", "--method", "fosc", "--join", "-"],
    "status": ["{data}"],
    "review": ["{data}"],
    "combine": ["{data}", "other.linkwise", "--source", "Łucja"],
    "undo": ["{data}"],
    "explain": ["{data}"],
    "explain --format dot": ["{data}", "--format", "dot"],
    "explain --rows": ["{data}", "--rows", "Žužana0 日本", "Žužana1 日本"],
    "export": ["{data}"],
    "export --answers": ["{data}", "--answers", "-"],
    "extend": ["{data}"],
    "demo": ["messages", "--auto", "--budget", "3"],
    "mcp": ["--help"],  # what it serves is a protocol, always in UTF-8
    "doctor": [],
    "--help": [],
}
WRONG = {"serve": 2, "ask, wrong column": 3, "extend": 2}  # exit codes other than 0


class Streams:
    """The standard streams of this process, which end in files or in pipes without a reader."""

    def __init__(self, monkeypatch, folder):
        self.monkeypatch, self.folder = monkeypatch, folder

    def run(self, arguments, encoding="utf-8", closed=(), said="y\nq\n"):
        """Run a command; returns its exit code and the bytes on stdout and stderr."""
        paths = {name: self.folder / name for name in ("stdout", "stderr")}
        self.monkeypatch.setattr(sys, "argv", ["linkwise", *arguments])
        self.monkeypatch.setattr(sys, "stdin", io.StringIO(said))
        for name, path in paths.items():
            path.unlink(missing_ok=True)
            if name in closed:
                reader, writer = os.pipe()
                os.close(reader)
            else:
                writer = os.open(path, os.O_WRONLY | os.O_CREAT)
            stream = io.TextIOWrapper(os.fdopen(writer, "wb"), encoding=encoding)
            self.monkeypatch.setattr(sys, name, stream)
            self.monkeypatch.setattr(sys, f"__{name}__", stream)
        with pytest.raises(SystemExit) as end:
            __main__.main()
        for name in paths:
            getattr(sys, name).close()
        return end.value.code or 0, *(path.read_bytes() if path.exists() else b"" for path in paths.values())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A file with names from all over the world, and two sessions with an answer each."""
    folder = tmp_path_factory.mktemp("streams")
    rows = [f"Žužana{i} 日本,{i % 3 * 10 + i / 7:.2f},{CITIES[i % 3]}" for i in range(24)]
    data = folder / "größe.csv"
    data.write_text("\n".join(["id,naïve größe,città", *rows]), encoding="utf-8")
    for name in ("größe.csv.linkwise", "other.linkwise"):
        command = ["ask", str(data), "--session", str(folder / name), "--seed", str(len(name))]
        assert CliRunner().invoke(app, command, input="y\nq\n").exit_code == 0
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    folder = tmp_path / "place"
    shutil.copytree(made, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    return folder


def arguments_of(name):
    """The words of a command of the table."""
    return [name.split(",")[0].split(" ")[0], *(word.format(data="größe.csv") for word in COMMANDS[name])]


def test_the_table_has_every_command():
    known = {command.name for command in app.registered_commands}
    assert known <= {name.split(",")[0].split(" ")[0] for name in COMMANDS}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_writes_in_every_encoding(place, tmp_path, monkeypatch, name, encoding):
    code, out, err = Streams(monkeypatch, tmp_path).run(arguments_of(name), encoding)
    assert code == WRONG.get(name, 0), err.decode(encoding, "replace")
    assert b"Traceback" not in err.replace(b"\0", b"")
    assert out or err


def test_data_keep_their_characters(place, tmp_path, monkeypatch):
    streams = Streams(monkeypatch, tmp_path)
    code, out, err = streams.run(["export", "größe.csv"], "cp1252")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out.decode("utf-8"))))
    assert [row["id"] for row in rows] == [f"Žužana{i} 日本" for i in range(24)]
    assert "stdout is written in UTF-8, since its encoding cp1252 does not have all" in err.decode("cp1252")
    _, out, _ = streams.run(["export", "größe.csv", "--json"], "ascii")
    assert "Žužana3 日本" in json.loads(out)["labels"]
    _, out, err = streams.run(["export", "größe.csv", "--json"])
    assert "Žužana3 日本" in out.decode()
    assert "UTF-8" not in err.decode()


def test_words_for_people_are_spelled_with_what_there_is(place, tmp_path, monkeypatch):
    _, out, _ = Streams(monkeypatch, tmp_path).run(["status", "größe.csv"], "ascii")
    said = out.decode("ascii")
    assert "gr\\xf6\\xdfe.csv" in said
    assert "#####" in said  # the bars of clusters


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_ends_quietly_when_stdout_is_closed(place, tmp_path, monkeypatch, name):
    streams = Streams(monkeypatch, tmp_path)
    code, out, err = streams.run(arguments_of(name), closed=["stdout"])
    assert code in (CLOSED, WRONG.get(name, 0))
    if name not in WRONG and name != "undo":
        assert code == CLOSED
    assert (out, b"Traceback" in err, b"Broken" in err) == (b"", False, False)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_does_its_work_when_stderr_is_closed(place, tmp_path, monkeypatch, name):
    code, _, err = Streams(monkeypatch, tmp_path).run(arguments_of(name), closed=["stderr"])
    assert (code, err) == (WRONG.get(name, 0), b"")


@pytest.mark.parametrize(
    "closed",
    ["<&- >&- 2>&-", "| head -n 1", *(pytest.param(one, marks=NIGHTLY) for one in ("<&-", ">&-", "2>&-"))],
)
def test_a_shell_closes_streams(place, closed):
    """In a process of its own: no file is opened in place of a closed stream, and nothing is said."""
    command = (
        f"'{sys.executable}' -m linkwise cluster größe.csv --method fosc --labels l.csv --force {closed}"
    )
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, timeout=patience(), check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert (place / "l.csv").read_text(encoding="utf-8").startswith("id,cluster\nŽ")
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr

"""Session files that no session wrote, on the command line: exit code 5 and one plain line."""

import shutil

import pytest

from fuzz import session_edits as edits
from fuzz.session_edits import REFUSED, REFUSED_WITH_DATA, UNREADABLE
from patience import patience
from running_command import start_command


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A session as it should be, beside its rows."""
    path = tmp_path_factory.mktemp("good") / "good.linkwise"
    edits.build_session(path)
    return path


@pytest.fixture
def path(good, tmp_path, request):
    """A copy with one edit, beside its rows."""
    edited = tmp_path / "s.linkwise"
    edits.write_edited(good, edited, request.node.callspec.params["name"])
    shutil.copy(good.with_name(edits.DATA), tmp_path)
    return edited


def refused(done):
    """The one line of a command that ended with 5."""
    assert done.exit_code == 5, done.output
    (line,) = [line for line in done.stderr.splitlines() if line]
    assert line.startswith("linkwise: ")
    assert line.isprintable()
    assert "Traceback" not in done.output
    return line


def test_the_good_one_is_opened(good, tmp_path, linkwise):
    shutil.copytree(good.parent, tmp_path, dirs_exist_ok=True)
    assert linkwise("status", tmp_path / good.name).exit_code == 0
    assert linkwise("ask", tmp_path / good.name, "--budget", "0").exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [*REFUSED, *UNREADABLE])
def test_every_command_ends_with_5(path, linkwise, name):
    """As all of them open a session in the same way, each case is tried with one of them."""
    command = (
        ("status", "export", "undo")[len(name) % 3]
        if name in REFUSED
        else ("status", "export")[len(name) % 2]
    )
    assert str(path) in refused(linkwise(command, path))


@pytest.mark.parametrize("name", REFUSED_WITH_DATA)
def test_asking_ends_with_5_and_answers_can_be_read(path, linkwise, name):
    shown = linkwise("status", path)
    assert shown.exit_code == 0
    assert shown.output.replace("\n", "").isprintable()
    refused(linkwise("ask", path, "--budget", "0"))


@pytest.mark.parametrize("name", ["a function for a clusterer"])
def test_a_process_ends_with_5_as_well(path, name):
    (path.parent / "evil.py").write_text("open('evil was here', 'w')\n")
    with start_command("ask", path.name, cwd=path.parent) as program:
        _, told = program.communicate(timeout=patience())
    assert program.returncode == 5
    assert "import_module" in told
    assert "Traceback" not in told
    assert not (path.parent / "evil was here").exists()

"""Session files that no session wrote: refused in words, or consistent; within limits, nothing else done.

The cases, and the rules that each is held to, stand in `fuzz.session_edits` and
`fuzz.session_mutations`.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from fuzz import session_edits as edits
from fuzz import session_mutations as fuzz
from fuzz.event_edits import LAST
from fuzz.session_edits import OPENS, REFUSED, REFUSED_WITH_DATA, TABLE, UNREADABLE, file_of
from linkwise.constraints.facts import Fact
from linkwise.errors import SessionDamagedError, SessionError
from linkwise.session.session import Session
from session.session_examples import N_ROWS

N_MUTANTS = 60
SEED = 20
NIGHTLY_MUTANTS = 520
NIGHTLY_SEED = 21


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A session as it should be, beside its rows."""
    path = tmp_path_factory.mktemp("good") / "good.linkwise"
    edits.build_session(path)
    with Session.open(path) as session:
        assert session.events[-1].number == LAST
    return path


@pytest.fixture(scope="module")
def fates(good, tmp_path_factory):
    """What became of every edit and every mutant: one process judges all, with limits for each.

    In the folder lies a module that leaves a trace when it is imported.
    """
    folder = tmp_path_factory.mktemp("cases")
    for name in TABLE:
        edits.write_edited(good, folder / file_of(name), name)
    write_mutants(good, folder, SEED, N_MUTANTS)
    return judge(folder)


def write_mutants(good, folder, seed, n):
    for name, content in fuzz.mutants(good.read_bytes(), seed, n):
        (folder / f"{name}.linkwise").write_bytes(content)


def judge(folder):
    """What becomes of each session in a folder, which stays as it is."""
    (folder / "evil.py").write_text("open('evil was here', 'w')\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = subprocess.run(
        [sys.executable, fuzz.__file__, "--folder", str(folder)], capture_output=True, text=True, check=False
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"at {lines[-1:]}: ended by {done.returncode}\n{done.stderr[-2000:]}"
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after.keys() == before.keys()  # nothing was made
    found = {line["name"]: line for line in lines if "name" in line}
    for name, fate in found.items():
        assert fate.get("without") is None or before[name] == after[name], f"{name} was refused, and changed"
    return found


# ---------------------------------------------------------------- edits by hand
def test_the_table_is_large_enough():
    assert len(TABLE) == len(REFUSED) + len(REFUSED_WITH_DATA) + len(UNREADABLE) + len(OPENS) >= 200


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_an_edited_file_is_refused_or_consistent(fates, name):
    fate = fates[file_of(name)]
    assert "broken" not in fate, f"{fate['broken']}\n{fate.get('trace', '')}"
    if name in REFUSED:
        assert fate["without"] is not None
        assert fate["with"] is not None
    else:
        assert fate["without"] is None
        assert (fate["with"] is not None) == (name in REFUSED_WITH_DATA)


# ---------------------------------------------------------------- random bytes
@pytest.mark.slow
def test_random_damage_is_refused_or_consistent(fates):
    found = [fate for name, fate in fates.items() if name.startswith(f"{SEED}-")]
    check_damage(found, N_MUTANTS)


@pytest.mark.slow(nightly=True)
def test_more_random_damage_is_refused_or_consistent(good, tmp_path):
    write_mutants(good, tmp_path, NIGHTLY_SEED, NIGHTLY_MUTANTS)
    check_damage([*judge(tmp_path).values()], NIGHTLY_MUTANTS)


def check_damage(found, n):
    assert len(found) == n
    assert [(fate["broken"], fate.get("trace")) for fate in found if "broken" in fate] == []
    n_refused = sum(fate.get("without") is not None for fate in found)
    assert n / 4 < n_refused < n  # neither few of them, nor all


# ---------------------------------------------------------------- what lies beside
def test_a_journal_is_not_rolled_back(good, tmp_path):
    """A journal can name further files, which SQLite would read and delete."""
    path, journal = tmp_path / "s.linkwise", tmp_path / "s.linkwise-journal"
    shutil.copy(good, path)
    journal.write_bytes(b"\xd9\xd5\x05\xf9 \xa1c\xd7" + bytes(504))
    was = path.read_bytes()
    with pytest.raises(
        SessionError, match=r"s\.linkwise-journal does not belong to a linkwise session\. Move it away"
    ):
        Session.open(path)
    assert path.read_bytes() == was
    journal.unlink()
    with Session.open(path) as session:
        assert session.n_rows == N_ROWS


def test_what_is_no_file_is_refused(tmp_path):
    """A pipe would wait for ever."""
    os.mkfifo(tmp_path / "s.linkwise")
    with pytest.raises(SessionDamagedError, match="not a regular file"):
        Session.open(tmp_path / "s.linkwise")


def test_an_index_hides_no_pair(good, tmp_path):
    """Pairs that are stored, but left out of the index, count all the same."""
    path = tmp_path / "s.linkwise"
    shutil.copy(good, path)
    entry = "('index', 'imported_event', 'imported', {}, 'CREATE INDEX imported_event ON imported (event)')"
    with closing(sqlite3.connect(path)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'imported_event'").fetchone()
    edits.execute(
        path, "PRAGMA writable_schema=ON", "DELETE FROM sqlite_master WHERE name = 'imported_event'"
    )
    edits.execute(path, "INSERT INTO imported VALUES (7, 2, 8, 'yes')")
    edits.execute(path, "PRAGMA writable_schema=ON", f"INSERT INTO sqlite_master VALUES {entry.format(page)}")
    with Session.open(path) as session:
        assert session.events[6].facts[-1] == Fact(2, 8, "yes")


def test_a_schema_that_changes_while_it_is_open(good, tmp_path):
    path = tmp_path / "s.linkwise"
    shutil.copy(good, path)
    with Session.open(path) as session:
        edits.execute(path, *REFUSED["event is an endless view"])
        with pytest.raises(SessionDamagedError, match="event"):
            session.history  # noqa: B018

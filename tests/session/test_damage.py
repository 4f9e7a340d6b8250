"""Files that are no session, or no longer: a clear error that names the file, and the file as it was."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import linkwise as lw
from linkwise.constraints.facts import Fact
from linkwise.errors import SessionDamagedError, SessionError
from linkwise.session.journal.schema import APPLICATION_ID, find_version
from linkwise.session.session import Session
from patience import patience
from session.session_examples import LEARNERS, N_ROWS, TRUTH, X, answer_by, image


@pytest.fixture
def path(tmp_path):
    """A session of eight answers."""
    found = tmp_path / "s.linkwise"
    with Session.open(found, X, LEARNERS["COBRAS"]()) as session:
        answer_by(session, TRUTH, 8)
    return found


def refused(path, kind, words):
    """Opening fails with an error that names the path, with data and without; nothing is changed."""
    was = path.read_bytes() if path.is_file() else None
    for given in ((), (X,), (X, LEARNERS["COBRAS"]())):
        with pytest.raises(kind, match=words) as error:
            Session.open(path, *given)
        assert type(error.value) is kind
        assert str(path) in str(error.value)
    if was is not None:
        assert path.read_bytes() == was


def execute(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


# ---------------------------------------------------------------- no session
@pytest.mark.parametrize(
    "content",
    [b"id,a,b\n0,1,2\n", b"SQLite format 3\0" + bytes(500), b"SQLite format 3\0", b"\x89PNG" * 400],
)
def test_a_file_that_is_no_database(tmp_path, content):
    path = tmp_path / "s.linkwise"
    path.write_bytes(content)
    refused(path, SessionDamagedError, "not a linkwise session|no linkwise session")


def test_an_empty_file(tmp_path):
    path = tmp_path / "s.linkwise"
    path.touch()
    refused(path, SessionDamagedError, "is empty")


def test_a_database_of_something_else(tmp_path):
    path = tmp_path / "s.linkwise"
    execute(path, "CREATE TABLE event (number INTEGER)")
    refused(path, SessionDamagedError, "a database, but not a linkwise session. Pass a session file.")


def test_a_database_that_only_says_it_is_ours(tmp_path):
    path = tmp_path / "s.linkwise"
    execute(path, f"PRAGMA application_id={APPLICATION_ID}", f"PRAGMA user_version={find_version()}")
    refused(path, SessionDamagedError, "no table")


def test_a_newer_format(path):
    execute(path, f"PRAGMA user_version={find_version() + 1}")
    refused(path, SessionError, f"format {find_version() + 1}.*Update linkwise")


def test_a_folder(tmp_path):
    refused(tmp_path, IsADirectoryError, "is a folder")


def test_a_file_that_is_not_there(tmp_path):
    path = tmp_path / "s.linkwise"
    for given in ((), (X,)):
        with pytest.raises(FileNotFoundError, match=r"s\.linkwise\. Pass X and a learner"):
            Session.open(path, *given)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path):
    path = tmp_path / "none" / "s.linkwise"
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*none"):
        Session.open(path, X, LEARNERS["COBRAS"]())
    session = lw.Session(X, LEARNERS["COBRAS"]())
    session.answer("no")
    for save in (session.save, session.save_copy):
        with pytest.raises(FileNotFoundError, match=r"There is no folder .*none"):
            save(path)
    session.answer("no")  # it is still there, in memory
    session.save(tmp_path / "s.linkwise")
    assert len(session.events) == 2


# ---------------------------------------------------------------- a broken session
@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.9, 1])
def test_a_truncated_file(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: min(int(share * len(content)), len(content) - 1)])
    refused(path, SessionDamagedError, "damaged|no linkwise session|cut off")


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("DROP TABLE imported", "no table"),
        ("DELETE FROM meta WHERE key = 'data'", "Table meta"),
        ("UPDATE meta SET value = '{' WHERE key = 'learner'", "Table meta"),
        ("UPDATE event SET first = NULL WHERE number = 3", "Event 3 of the session"),
        (f"UPDATE event SET first = {N_ROWS} WHERE number = 3", "Event 3 of the session is wrong"),
        ("UPDATE event SET second = first WHERE number = 3", "Event 3 of the session is wrong"),
        ("UPDATE event SET first = 'a' WHERE number = 3", "Event 3 of the session is wrong"),
        (
            "INSERT INTO event (number, kind, happened, first, second, answer, source) "
            "SELECT 9, kind, happened, second, first, 'no', source FROM event WHERE answer = 'yes' LIMIT 1",
            "Event 9 of the session is wrong. The answer contradicts earlier ones",
        ),
    ],
)
def test_content_that_no_session_writes(path, harm, words):
    execute(path, harm)
    with pytest.raises(SessionDamagedError, match=words) as error, Session.open(path) as session:
        session.constraints  # noqa: B018
    assert type(error.value) is SessionDamagedError
    with pytest.raises(SessionDamagedError, match=words):
        Session.open(path, X)


def test_errors_of_a_damaged_file_name_it(path):
    execute(path, "DROP TABLE snapshot")
    with pytest.raises(SessionDamagedError, match=r"s\.linkwise.*no table.*snapshot.*Restore"):
        Session.open(path)


def test_a_file_that_forgets_while_it_is_open(path):
    """An older copy was put in its place; the answers since then are not silently given again."""
    with Session.open(path, X) as session:
        execute(path, "DELETE FROM event WHERE number > 5")
        for do in (session.undo, lambda: session.add(0, 3, "must-link"), lambda: session.answer("no")):
            with pytest.raises(SessionDamagedError, match=r"s\.linkwise is an older file"):
                do()
    with Session.open(path, X) as session:
        assert session.status.n_answers == 5


# ---------------------------------------------------------------- logs
@pytest.mark.slow
def test_a_log_that_ends_in_the_middle_of_an_answer(path, tmp_path):
    """Wherever the log of a crashed machine ends, the answers before are there and nothing else."""
    with Session.open(path, X) as session:
        states = {len(session.events): image(session)}
        for _ in range(3):
            answer_by(session, TRUTH, 1)
            states[len(session.events)] = image(session)
        main, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    found = set()
    for number, end in enumerate(range(0, len(log), max(1, len(log) // 40))):
        crashed = tmp_path / f"{number}.linkwise"
        crashed.write_bytes(main)
        Path(f"{crashed}-wal").write_bytes(log[:end])
        with Session.open(crashed, X) as session:
            n = len(session.events)
            assert image(session) == states[n]
            found.add(n)
            session.undo()
    assert found == set(states)


def test_a_copy_holds_what_stands_in_the_log(path, tmp_path):
    with Session.open(path, X) as session:
        was = session.events
        answer_by(session, TRUTH, 5)
        session.save_copy(tmp_path / "copy.linkwise")
        shutil.copy(path, tmp_path / "plain.linkwise")
        events, shown = session.events, image(session)
        for name, expected in (("copy", events), ("plain", was)):
            with Session.open(tmp_path / f"{name}.linkwise", X) as copy:
                assert copy.events == expected
        with Session.open(tmp_path / "copy.linkwise", X) as copy:
            assert image(copy) == shown
            copy.undo()
        assert session.events == events


def test_closing_leaves_one_complete_file(path, tmp_path):
    with Session.open(path, X) as session:
        answer_by(session, TRUTH, 5)
        with Session.open(path, X) as other:
            answer_by(other, TRUTH, 1)
        shutil.copy(path, tmp_path / "plain.linkwise")  # one client has closed, the other has not
        events = session.events
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("s.")] == ["s.linkwise"]
    for name in ("plain.linkwise", "s.linkwise"):
        with Session.open(tmp_path / name) as kept:
            assert kept.events == events


def test_a_log_that_is_left_of_another_session_is_not_taken_for_ours(path, tmp_path):
    """The file was deleted after a crash, its log was not."""
    with Session.open(path, X) as session:
        answer_by(session, TRUTH, 3)
        log = Path(f"{path}-wal").read_bytes()
    path.unlink()
    Path(f"{path}-wal").write_bytes(log)
    with pytest.raises(SessionError, match=r"s\.linkwise-wal belongs to another session\. Move it away"):
        Session.open(path, X, LEARNERS["COBRAS"]())
    assert Path(f"{path}-wal").read_bytes() == log
    assert not path.exists()


def test_nothing_is_overwritten(path, tmp_path):
    was = path.read_bytes()
    session = lw.Session(X, LEARNERS["COBRAS"]())
    for save in (session.save, session.save_copy):
        with pytest.raises(SessionError, match=r"s\.linkwise exists already"):
            save(path)
    assert path.read_bytes() == was
    session.save(tmp_path / "t.linkwise")
    with pytest.raises(SessionError, match=r"is stored in .*t\.linkwise already\. Use save_copy"):
        session.save(tmp_path / "u.linkwise")
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".linkwise") == [
        "s.linkwise",
        "t.linkwise",
    ]


def test_a_file_system_without_hard_links(path, tmp_path, monkeypatch):
    def link(*given):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    with Session.open(path, X) as session:
        session.save_copy(tmp_path / "copy.linkwise")
        with pytest.raises(SessionError, match="exists already"):
            session.save_copy(tmp_path / "copy.linkwise")
        with Session.open(tmp_path / "copy.linkwise", X) as copy:
            assert image(copy) == image(session)


@pytest.mark.parametrize("links", [True, False], ids=["hard links", "no hard links"])
def test_a_file_that_comes_at_the_last_moment_is_not_overwritten(path, tmp_path, monkeypatch, links):
    """Whatever is looked at before, the name is taken and the rival noticed in one step."""
    target = tmp_path / "copy.linkwise"
    link = os.link

    def rival_first(part, place):
        target.write_bytes(b"the rival's answers")
        if not links:
            raise PermissionError(1, "Operation not permitted")
        link(part, place)

    with Session.open(path, X) as session:
        monkeypatch.setattr(os, "link", rival_first)
        monkeypatch.setattr(Path, "exists", lambda self, **_: False)
        with pytest.raises(SessionError, match="exists already"):
            session.save_copy(target)
        monkeypatch.undo()
    assert target.read_bytes() == b"the rival's answers"


# ---------------------------------------------------------------- where nothing may be written
def test_a_full_disk_loses_nothing_and_the_error_says_what_to_do(path):
    with Session.open(path, X) as session:
        was = image(session)
        pages = session._journal.store._db.execute("PRAGMA page_count").fetchone()[0]
        session._journal.store._db.execute(f"PRAGMA max_page_count={pages}")
        facts = [Fact(0, row, "unsure") for row in range(1, N_ROWS)] * 200
        with pytest.raises(SessionError, match=r"s\.linkwise is full.*Delete or move other files") as error:
            session._journal.store.append("import", after=len(session.events), facts=facts)
        assert type(error.value) is SessionError
        assert "all earlier answers are safe" in str(error.value)
        assert image(session) == was
        session._journal.store._db.execute("PRAGMA max_page_count=100000")
        session.answer("unsure")
    with Session.open(path) as session:
        assert session.status.n_answers == was[1].n_answers + 1


WITHOUT_RIGHTS = """
import os, sys
from linkwise.errors import SessionError
from linkwise.session.session import Session
import linkwise as lw
path = sys.argv[1]
X = [[0.0], [0.1], [5.0], [5.1]]
lw.Session(X, lw.COBRAS(random_state=0)).save(path + ".first")  # imports what it needs
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
def attempt(what, do):
    try:
        print(what, "done", do())
    except Exception as error:
        print(what, type(error).__name__, error)
new = os.path.join(os.path.dirname(path), "new.linkwise")
attempt("begin", lambda: Session.open(new, X, lw.COBRAS(random_state=0)))
def read():
    with Session.open(path) as session:
        return session.status.n_answers
attempt("read", read)
def answer():
    with Session.open(path, X) as session:
        session.answer("no")
attempt("answer", answer)
"""


def without_rights(path):
    """What a process may do that has no rights to write, as ``{what: the rest of its line}``."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_RIGHTS, str(path)],
        capture_output=True,
        text=True,
        timeout=patience(),
        check=False,
    )
    assert done.stderr == ""
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


@pytest.fixture
def public(tmp_path):
    """A session in a folder that everybody may read."""
    folder = tmp_path / "public"
    folder.mkdir()
    for parent in [folder, *folder.parents][:-1]:
        if parent.stat().st_uid == os.geteuid():
            parent.chmod(parent.stat().st_mode | 0o055)
    path = folder / "s.linkwise"
    with Session.open(path, [[0.0], [0.1], [5.0], [5.1]], lw.COBRAS(random_state=0)) as session:
        session.answer("no")
    path.chmod(0o644)
    yield path
    folder.chmod(0o755)


@pytest.mark.slow
@pytest.mark.parametrize("folder_mode", [0o555, 0o777], ids=["folder", "file"])
def test_without_the_right_to_write_the_error_says_so(public, folder_mode):
    public.chmod(0o444)
    public.parent.chmod(folder_mode)
    said = without_rights(public)
    assert said["read"] == "done 1"
    assert said["answer"].startswith("SessionError")
    assert f"{public} cannot be written" in said["answer"]
    if folder_mode == 0o555:
        assert said["begin"].startswith(
            f"SessionError {public.parent / 'new.linkwise'} cannot be written: Perm"
        )
    with Session.open(public) as session:
        assert session.status.n_answers == 1


# ---------------------------------------------------------------- closed
def test_a_closed_session_says_so(path):
    session = Session.open(path, X)
    session.close()
    session.close()
    for do in (
        lambda: session.question,
        lambda: session.labels,
        lambda: session.history,
        lambda: session.status,
        lambda: session.answer("yes"),
        lambda: session.add(0, 3, "must-link"),
        lambda: session.undo(),
        lambda: session.save_copy(path.with_name("t.linkwise")),
    ):
        with pytest.raises(SessionError, match=r"s\.linkwise is closed. Open it again."):
            do()
    assert session.n_rows == N_ROWS
    assert not path.with_name("t.linkwise").exists()


def test_leaving_by_an_error_closes_and_lets_it_pass(path):
    session = Session.open(path, X)

    def fail():
        session.answer("no")
        execute(path, "DROP TABLE snapshot")  # so that closing fails, too
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), session:
        fail()
    with pytest.raises(SessionError, match="closed"):
        session.undo()
    assert not Path(f"{path}-wal").exists()

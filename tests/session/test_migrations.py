"""A file of an earlier format gets the present one when it is opened; there is no such format yet."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import SessionDamagedError, SessionError
from linkwise.session.journal import migrations, schema
from linkwise.session.journal.migrations import Migration

X = np.arange(12.0).reshape(6, 2)
FORMAT_1 = schema.SCHEMA.replace(", reliability REAL,", ",")  # made up: as if no answer had had a reliability


def drop_reliability(db):
    db.executescript("ALTER TABLE event DROP COLUMN reliability")


def add_reliability(db):
    """Make the table anew, because its declaration must be that of a new file."""
    new = next(part for part in schema.SCHEMA.split(";") if "CREATE TABLE event" in part)
    db.execute(new.replace("CREATE TABLE event", "CREATE TABLE new_event"))
    before = [column for _, column, *_ in db.execute("PRAGMA table_info(event)")]
    db.execute(f"INSERT INTO new_event ({', '.join(before)}) SELECT * FROM event")
    db.execute("DROP TABLE event")
    db.execute("ALTER TABLE new_event RENAME TO event")
    db.execute("PRAGMA writable_schema=ON")
    db.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'event'", (new.strip(),))
    db.execute("PRAGMA writable_schema=RESET")


@pytest.fixture
def path(tmp_path):
    """A file of the made-up format 1."""
    path = tmp_path / "old.linkwise"
    with lw.Session.open(path, X, lw.COBRAS(random_state=0)) as session:
        session.answer("yes", source="anna", seconds=2, note="both early")
        session.add(0, 5, "cannot-link")
        session.set_guidelines("By time.")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        new = next(part for part in FORMAT_1.split(";") if "CREATE TABLE event" in part)
        drop_reliability(db)
        db.execute("PRAGMA writable_schema=ON")
        db.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'event'", (new.strip(),))
    return path


def version_of(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


def test_a_file_is_migrated_once_and_keeps_all(path, monkeypatch):
    calls = []
    step = Migration(FORMAT_1, lambda db: calls.append(1) or add_reliability(db))
    monkeypatch.setattr(migrations, "MIGRATIONS", (step,))
    assert version_of(path) == 1
    for _ in range(2):
        with lw.Session.open(path, X) as session:
            assert [(e.answer, e.source, e.note) for e in session.history] == [
                ("yes", "anna", "both early"),
                ("no", "", ""),
            ]
            assert session.guidelines == "By time."
    assert version_of(path) == 2
    assert calls == [1]
    with lw.Session.open(path, X) as session:
        session.answer("no", reliability=0.75)
        assert session.history[-1].reliability == 0.75


def test_new_files_have_the_last_format(tmp_path, monkeypatch):
    monkeypatch.setattr(migrations, "MIGRATIONS", (Migration(FORMAT_1, add_reliability),))
    lw.Session(X, lw.COBRAS(random_state=0)).save(tmp_path / "new.linkwise")
    assert version_of(tmp_path / "new.linkwise") == 2


def test_a_migration_that_fails_leaves_the_file_as_it_was(path, monkeypatch):
    def fail(db):
        add_reliability(db)
        raise schema.Damage("It cannot be migrated")

    monkeypatch.setattr(migrations, "MIGRATIONS", (Migration(FORMAT_1, fail),))
    before = path.read_bytes()
    with pytest.raises(SessionDamagedError, match="It cannot be migrated"):
        lw.Session.open(path, X)
    assert path.read_bytes() == before


def test_a_file_that_is_not_of_its_format_is_damaged(path, monkeypatch):
    monkeypatch.setattr(migrations, "MIGRATIONS", (Migration(schema.SCHEMA, add_reliability),))
    with pytest.raises(SessionDamagedError, match=r"'event' is not part|no table or index event"):
        lw.Session.open(path, X)


def test_a_file_of_a_later_format_needs_a_later_linkwise(path, monkeypatch):
    monkeypatch.setattr(migrations, "MIGRATIONS", (Migration(FORMAT_1, add_reliability),))
    lw.Session.open(path, X).close()
    monkeypatch.setattr(migrations, "MIGRATIONS", ())
    with pytest.raises(SessionError, match=r"has format 2.*formats up to 1.*Update linkwise"):
        lw.Session.open(path)

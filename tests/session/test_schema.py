"""The form of a session file: its first bytes, its version, its tables and its pages."""

import re
import sqlite3
from contextlib import closing

import pytest

from linkwise.errors import SessionDamagedError, SessionError
from linkwise.session.journal import schema
from linkwise.session.journal.schema import Damage

TABLES = {"meta", "row_id", "event", "imported", "snapshot"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty working folder; the schema of a new session is built again in each test."""
    monkeypatch.chdir(tmp_path)
    schema._schema_of_new.cache_clear()
    return tmp_path


@pytest.fixture
def db():
    """A new session in memory."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as found:
        schema.create_tables(found)
        yield found


@pytest.fixture
def path(folder):
    """A new session in a file."""
    found = folder / "s.linkwise"
    with closing(sqlite3.connect(found, isolation_level=None)) as db:
        schema.create_tables(db)
    return found


def pragma(db, name):
    return db.execute(f"PRAGMA {name}").fetchone()[0]


# ---------------------------------------------------------------- a new session
def test_a_new_session_has_five_tables_a_name_and_a_version(db):
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables == TABLES
    assert pragma(db, "application_id").to_bytes(4, "big") == b"lnkw"
    assert pragma(db, "user_version") == 1


def test_a_new_session_passes_every_check(db, path, folder):
    schema.check_header(path)
    schema.restrict(db)
    schema.check_version(db, "s")
    schema.check_schema(db)
    schema.check_pages(db)
    assert [p.name for p in folder.iterdir()] == ["s.linkwise"]  # checking leaves nothing behind


# ---------------------------------------------------------------- the first bytes
def damaged(path, words):
    """The first bytes are refused in exactly these words."""
    with pytest.raises(SessionDamagedError) as error:
        schema.check_header(path)
    assert type(error.value) is SessionDamagedError
    assert str(error.value) == words


def test_an_empty_file_is_called_empty(path):
    path.write_bytes(b"")
    damaged(path, f"{path} is empty. Restore a copy of it, or delete it and begin again.")


@pytest.mark.parametrize("content", [b"id,a,b\n", b"id,a,b\n" * 100], ids=["short", "long"])
def test_a_file_without_the_magic_of_sqlite_is_no_session(path, content):
    path.write_bytes(content)
    damaged(path, f"{path} is not a linkwise session, or it is damaged. Restore a copy of it.")


def test_the_header_has_a_hundred_bytes(path):
    header = path.read_bytes()[:100]
    path.write_bytes(header)
    schema.check_header(path)
    path.write_bytes(header[:99])
    damaged(path, f"{path} is not a linkwise session, or it is damaged. Restore a copy of it.")


def test_the_magic_alone_is_no_session(path):
    path.write_bytes(b"SQLite format 3\0")
    damaged(path, f"{path} is not a linkwise session, or it is damaged. Restore a copy of it.")


def test_a_database_of_another_application_is_no_session(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA application_id=1")
    damaged(path, f"{path} is a database, but not a linkwise session. Pass a session file.")


def test_only_four_bytes_name_the_application(folder):
    """The four bytes before them are those of a database that shrinks when it is told to."""
    path = folder / "shrinking.linkwise"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA auto_vacuum=INCREMENTAL")
        schema.create_tables(db)
    assert path.read_bytes()[64:72] == b"\0\0\0\1lnkw"
    schema.check_header(path)


def test_a_journal_beside_the_file_is_named_before_sqlite_would_play_it_back(path, folder):
    journal = folder / "s.linkwise-journal"
    journal.write_bytes(b"anything")
    with pytest.raises(SessionError) as error:
        schema.check_header(path)
    assert type(error.value) is SessionError
    assert (
        str(error.value)
        == f"{journal} does not belong to a linkwise session. Move it away, then open {path}."
    )
    assert journal.read_bytes() == b"anything"


# ---------------------------------------------------------------- trust
def test_a_connection_trusts_nothing_that_the_file_brings(db):
    db.execute("PRAGMA trusted_schema=ON")
    db.execute("PRAGMA cell_size_check=OFF")
    schema.restrict(db)
    assert pragma(db, "trusted_schema") == 0
    assert pragma(db, "cell_size_check") == 1


# ---------------------------------------------------------------- version
def test_a_newer_format_asks_for_a_newer_linkwise(db):
    db.execute("PRAGMA user_version=2")
    with pytest.raises(SessionError) as error:
        schema.check_version(db, "s.linkwise")
    assert type(error.value) is SessionError
    assert (
        str(error.value)
        == "s.linkwise has format 2, and this linkwise reads formats up to 1. Update linkwise."
    )


@pytest.mark.parametrize("version", [0, -1])
def test_a_format_before_the_first_is_damage(db, version):
    db.execute(f"PRAGMA user_version={version}")
    with pytest.raises(Damage, match=f"^It has format {version}, and the first format is 1$"):
        schema.check_version(db, "s.linkwise")


# ---------------------------------------------------------------- tables
@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        ("DROP TABLE imported", "imported"),
        ("DROP INDEX imported_event", "imported_event"),
        ("ALTER TABLE event ADD COLUMN mood TEXT", "event"),
        ("DROP TABLE event", "event"),
    ],
)
def test_a_missing_or_changed_part_is_named(db, statement, missing):
    db.execute(statement)
    with pytest.raises(Damage, match=f"^It has no table or index {missing}$"):
        schema.check_schema(db)


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("CREATE TABLE extra (a)", "extra"),
        ("CREATE VIEW seen AS SELECT 1", "seen"),
        ("CREATE TRIGGER t AFTER INSERT ON event BEGIN SELECT 1; END", "t"),
        ("CREATE INDEX by_kind ON event (kind)", "by_kind"),
        (f"CREATE TABLE {'x' * 99} (a)", "x" * 60),
    ],
)
def test_a_part_that_no_session_has_is_named(db, statement, name):
    db.execute(statement)
    with pytest.raises(Damage, match=f"^'{name}' is not part of a session$"):
        schema.check_schema(db)


def test_of_many_parts_too_many_only_the_first_is_read(db):
    """A file may hold millions of them."""
    for name in ("third", "second", "first"):
        db.execute(f"CREATE VIEW {name} AS SELECT 1")
    with pytest.raises(Damage, match=r"^'third' is not part of a session$"):
        schema.check_schema(db)


# ---------------------------------------------------------------- pages
def test_a_page_that_is_used_twice_is_damage(db):
    """What SQLite reports is told on one line."""
    db.execute("PRAGMA writable_schema=ON")
    db.execute(
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'event') "
        "WHERE name = 'imported'"
    )
    db.execute("PRAGMA writable_schema=RESET")
    with pytest.raises(Damage) as damage:
        schema.check_pages(db)
    (report,) = db.execute("PRAGMA quick_check(1)").fetchone()
    assert "2nd reference to page" in report
    assert str(damage.value) == re.sub(r"\s+", " ", report)


def test_a_long_report_is_cut(db):
    table = "t" * 300
    db.execute(f"CREATE TABLE {table} (a CHECK (a > 0))")
    db.execute("PRAGMA ignore_check_constraints=ON")
    db.execute(f"INSERT INTO {table} VALUES (0)")
    db.execute("PRAGMA ignore_check_constraints=OFF")
    with pytest.raises(Damage) as damage:
        schema.check_pages(db)
    assert str(damage.value) == f"CHECK constraint failed in {table}"[:200]

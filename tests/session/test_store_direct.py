"""The store alone, without a learner: what it writes and reads, whom it locks out, how it fails."""

import errno
import os
import re
import shutil
import sqlite3
import stat
import tempfile
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from linkwise.constraints.facts import Fact
from linkwise.errors import SessionDamagedError, SessionError, SessionLockedError
from linkwise.learn.advice import StopAdvice
from linkwise.session.journal import schema, store
from linkwise.session.journal.events import Place
from linkwise.session.journal.store import Store, WriteConflict
from linkwise.session.journal.stored_clustering import StoredClustering

IDS = ["a", "b", "ä", "d"]
META = {
    "data": {"shape": [4, 2], "sketch": [[0.5, 1], [2, 3]], "scale": [1, 1]},
    "learner": {"name": "COBRAS", "parameters": {"n_init": 1}},
    "seed": 7,
    "source": {"file": "ä.csv"},
}
FACTS = (Fact(0, 3, "yes"), Fact(0, 1, "no"))
LABELS = np.array([0, 1, -1, 1], dtype=np.int32)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def path(folder):
    """A session of three events in a file."""
    found = folder / "s.linkwise"
    with closing(Store.new(META, IDS)) as made:
        made.append("answer", after=0, first=0, second=1, answer="no")
        made.append("import", after=1, facts=FACTS, source="pairs.csv")
        made.append("change", after=2, answer="unsure", target=1)
        made.copy_to(found)
    return found


@pytest.fixture
def one(path):
    with closing(Store.open(path)) as found:
        yield found


@pytest.fixture
def other(path, one):
    """Another client of the same file."""
    with closing(Store.open(path)) as found:
        yield found


def query(path, sql):
    with closing(sqlite3.connect(path)) as db:
        return db.execute(sql).fetchall()


def execute(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def numbers(store):
    return [e.number for e in store.events()]


def impatient(store):
    """Let it not wait for other writers."""
    store._db.execute("PRAGMA busy_timeout=0")


# ---------------------------------------------------------------- in memory
def test_a_new_session_is_in_memory_alone(folder):
    with closing(Store.new(META, IDS)) as made:
        assert made.path is None
        assert made.meta() == META
        assert made.ids() == IDS
        assert made.events() == []
        assert made.last() == 0
        assert made.clustering() is None
    assert list(folder.iterdir()) == []
    with pytest.raises(SessionError, match=r"^the session in memory is closed. Open it again.$"):
        made.last()


def test_rows_without_ids_are_named_by_position():
    with closing(Store.new(META, None)) as made:
        assert made.ids() is None


def test_a_session_in_memory_knows_how_many_rows_it_has():
    with closing(Store.new(META, None)) as made:
        made.append("answer", after=0, first=0, second=3, answer="yes")
        assert made.events()[0].second == 3
        made.append("answer", after=1, first=0, second=4, answer="yes")
        with pytest.raises(SessionDamagedError, match="'4' is not one of its rows, 0 to 3"):
            made.events()


def test_ids_that_are_not_different_are_not_taken():
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        Store.new(META, ["a", "b", "a", "d"])


# ---------------------------------------------------------------- opening
def test_what_was_written_is_read_again(path, one):
    assert one.path == path
    assert one.meta() == META
    assert one.ids() == IDS
    assert one.last() == 3
    assert numbers(one) == [1, 2, 3]
    answer, brought, change = one.events()
    assert (answer.kind, answer.first, answer.second, answer.answer) == ("answer", 0, 1, "no")
    assert (brought.kind, brought.facts, brought.source) == ("import", FACTS, "pairs.csv")
    assert (change.kind, change.answer, change.target, change.source) == ("change", "unsure", 1, "")
    assert [e.number for e in one.events(after=1)] == [2, 3]


def test_a_path_may_be_text(path):
    with closing(Store.open(str(path))) as found:
        assert found.path == path


def opening_fails(path, kind, words):
    with pytest.raises(kind) as error:
        Store.open(path)
    assert type(error.value) is kind
    assert str(error.value) == words


def test_a_file_that_is_not_there_is_not_made(folder):
    path = folder / "s.linkwise"
    opening_fails(path, FileNotFoundError, f"There is no session file {path}.")
    assert list(folder.iterdir()) == []


def test_a_folder_is_no_session(folder):
    opening_fails(folder, IsADirectoryError, f"{folder} is a folder. Pass a session file.")


def test_a_device_is_no_session():
    words = f"{os.devnull} is not a regular file. Pass a session file."
    opening_fails(os.devnull, SessionDamagedError, words)


def test_the_first_bytes_are_read_before_sqlite_is_asked(path, monkeypatch):
    Path(f"{path}-journal").touch()
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **more: pytest.fail("SQLite was asked"))
    with pytest.raises(SessionError, match="-journal does not belong to a linkwise session"):
        Store.open(path)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("CREATE VIEW seen AS SELECT 1", "'seen' is not part of a session"),
        ("PRAGMA user_version=0", "It has format 0, and the first format is 1"),
        ("UPDATE meta SET value = '-1' WHERE key = 'seed'", "Its seed is not an integer of at least 0"),
        (
            "UPDATE meta SET value = replace(value, '[4,', '[999999999,')",
            "It is too small for 999999999 rows",
        ),
        (
            "INSERT INTO snapshot VALUES (1, 3, NULL, x'00', '[]', 'null', 'null', NULL)",
            "Its labels are not 4 numbers",
        ),
    ],
)
def test_damage_is_found_on_opening(path, harm, words):
    execute(path, harm)
    opening_fails(path, SessionDamagedError, f"{path} is damaged. {words}. Restore a copy of the file.")


def test_a_value_that_a_table_forbids_is_found_on_opening(path):
    execute(path, "PRAGMA ignore_check_constraints=ON", "UPDATE event SET answer = 'maybe'")
    words = "CHECK constraint failed in event"
    opening_fails(path, SessionDamagedError, f"{path} is damaged. {words}. Restore a copy of the file.")


def test_a_newer_format_is_no_damage(path):
    execute(path, "PRAGMA user_version=2")
    words = "has format 2, and this linkwise reads formats up to 1. Update linkwise."
    opening_fails(path, SessionError, f"{path} {words}")


def test_a_name_that_is_not_utf8_is_damage(path):
    edit = "UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT), sql = 'CREATE' WHERE name = 'meta'"
    execute(path, "PRAGMA writable_schema=ON", edit)
    words = "A name in it is not UTF-8"
    opening_fails(path, SessionDamagedError, f"{path} is damaged. {words}. Restore a copy of the file.")


def test_a_file_that_fails_to_open_is_let_go(path, monkeypatch):
    connect, made = sqlite3.connect, []

    def keep(*given, **more):
        made.append(connect(*given, **more))
        return made[-1]

    execute(path, "CREATE VIEW seen AS SELECT 1")
    monkeypatch.setattr(sqlite3, "connect", keep)
    with pytest.raises(SessionDamagedError):
        Store.open(path)
    (db,) = made
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")


def test_any_sqlite_opens_a_file_that_is_there_and_makes_none(path, monkeypatch):
    """An SQLite may be built to take every name that begins with file: for a URI, or only when it is told."""
    connect = sqlite3.connect

    def without_uris(database, *, uri=False, **more):
        return connect(database if uri else f"./{database}", uri=uri, **more)

    monkeypatch.setattr(sqlite3, "connect", without_uris)
    with closing(Store.open(path)) as found:
        assert found.last() == 3


def test_other_writers_are_waited_for(path, monkeypatch):
    monkeypatch.setattr(store, "PATIENCE_S", 0.25)
    with closing(Store.open(path)) as found:
        assert found._db.execute("PRAGMA busy_timeout").fetchone() == (250,)


def test_a_file_that_is_cut_off_is_damaged(path):
    path.write_bytes(path.read_bytes()[:-1])
    opening_fails(
        path, SessionDamagedError, f"{path} is damaged. The file is truncated. Restore a copy of the file."
    )


def test_what_is_cut_off_may_stand_in_the_log(path, one):
    """A machine that stops while the log moves into the file leaves both, and the log is whole."""
    one.append("name", after=3, first=0, source="ripe")
    crashed = path.with_name("crashed.linkwise")
    shutil.copy(path, crashed)
    shutil.copy(f"{path}-wal", f"{crashed}-wal")
    with crashed.open("ab") as file:
        file.write(b"half a page")
    with closing(Store.open(crashed)) as found:
        assert numbers(found) == [1, 2, 3, 4]


def test_a_file_may_run_nothing(one):
    assert one._db.execute("PRAGMA trusted_schema").fetchone() == (0,)
    assert one._db.execute("PRAGMA cell_size_check").fetchone() == (1,)


def test_a_store_may_be_used_from_another_thread(one):
    found = []
    thread = threading.Thread(target=lambda: found.append(one.last()))
    thread.start()
    thread.join()
    assert found == [3]


# ---------------------------------------------------------------- events
def test_an_event_has_the_next_number_and_the_moment_in_utc(path, one):
    before = datetime.now(UTC)
    made = one.append("name", after=3, first=2, source="ripe")
    assert (made.number, made.kind, made.first, made.source, made.facts) == (4, "name", 2, "ripe", ())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", made.when)
    assert abs(datetime.fromisoformat(made.when) - before) < timedelta(hours=1)
    assert one.events(after=3) == [made]
    assert query(path, "SELECT * FROM event WHERE number = 4") == [
        (4, "name", made.when, 2, None, None, None, "ripe", *[None] * 6)
    ]


def test_all_of_an_event_stands_in_its_row(path, one):
    given = {"place": Place(3, 1), "seconds": 1.5, "note": "nöte", "reliability": 0.75, "source": "anna"}
    made = one.append("answer", after=3, first=2, second=0, answer="yes", **given)
    told = one.append("examples", after=4, value=[[0, 1, "no", "ö\ud7ff"]])
    assert query(path, "SELECT * FROM event WHERE number > 3") == [
        (4, "answer", made.when, 2, 0, "yes", None, "anna", 3, 1, 1.5, "nöte", 0.75, None),
        (5, "examples", told.when, *[None] * 4, "", *[None] * 5, '[[0, 1, "no", "ö\ud7ff"]]'),
    ]
    assert one.events(after=3) == [made, told]
    assert [(event.seconds, event.note) for event in one.events(after=3)] == [(1.5, "nöte"), (None, "")]


def test_an_event_without_a_source_has_an_empty_one(path, one):
    assert one.append("undo", after=3, target=3).source == ""
    assert query(path, "SELECT source FROM event WHERE number = 4") == [("",)]


@pytest.mark.parametrize("after", [2, 4])
def test_who_comes_second_writes_nothing(one, after):
    with pytest.raises(WriteConflict):
        one.append("undo", after=after, target=1)
    assert numbers(one) == [1, 2, 3]
    one.append("undo", after=3, target=1)
    assert numbers(one) == [1, 2, 3, 4]


def test_an_import_is_whole_or_not_there(path, one):
    with pytest.raises(SessionDamagedError, match="NOT NULL constraint failed"):
        one.append("import", after=3, facts=[*FACTS, Fact(None, 2, "no")])
    assert query(path, "SELECT max(number) FROM event") == [(3,)]
    assert query(path, "SELECT max(event), count(*) FROM imported") == [(2, 2)]
    one.append("import", after=3, facts=FACTS)
    assert query(path, "SELECT max(event), count(*) FROM imported") == [(4, 4)]


def test_an_event_about_one_that_never_was_is_not_taken(one):
    with pytest.raises(SessionDamagedError, match="FOREIGN KEY constraint failed"):
        one.append("undo", after=3, target=99)
    assert one.last() == 3


def test_another_client_sees_an_event_and_a_new_version(one, other):
    was = other.version()
    assert other.version() == was
    one.append("undo", after=3, target=3)
    assert other.version() != was
    assert numbers(other) == [1, 2, 3, 4]


def test_events_are_read_as_of_one_moment(one, other):
    """What another client stores meanwhile is there with its pairs, or not at all."""
    impatient(one)
    stored = []

    def store_between(statement):
        if statement.startswith("SELECT * FROM event") and not stored:
            stored.append(one.append("import", after=3, facts=FACTS))

    other._db.set_trace_callback(store_between)
    assert numbers(other) == [1, 2, 3]
    other._db.set_trace_callback(None)
    assert stored
    assert other.events(after=3) == stored


def test_a_table_that_changes_while_it_is_open_is_damage(path, one):
    execute(path, "CREATE VIEW seen AS SELECT 1")
    with pytest.raises(SessionDamagedError, match="'seen' is not part of a session"):
        one.events()


def test_every_event_waits_for_the_disk_and_labels_do_not(one):
    one.put_clustering(StoredClustering(3, None, LABELS))
    assert one._db.execute("PRAGMA synchronous").fetchone() == (1,)  # NORMAL
    one.append("undo", after=3, target=3)
    assert one._db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


# ---------------------------------------------------------------- locks
def test_who_holds_the_file_locks_out_other_writers_and_no_readers(one, other):
    impatient(other)
    with one._transaction():
        assert numbers(other) == [1, 2, 3]
        with pytest.raises(SessionLockedError) as error:
            other.append("undo", after=3, target=3)
    assert str(error.value) == f"{other.path} is in use by another process. Close that process, or try again."
    other.append("undo", after=3, target=3)


# ---------------------------------------------------------------- settings
def test_some_settings_are_set_and_others_stay(path, one):
    one.put_meta({"seed": 8, "source": {"file": "ö.csv"}})
    assert one.meta() == META | {"seed": 8, "source": {"file": "ö.csv"}}
    assert query(path, "SELECT value FROM meta WHERE key = 'source'") == [('{"file": "ö.csv"}',)]


def test_a_name_that_is_no_unicode_is_escaped(path, one):
    one.put_meta({"source": {"file": "ö\udcff"}})
    assert one.meta()["source"] == {"file": "ö\udcff"}
    assert query(path, "SELECT value FROM meta WHERE key = 'source'") == [('{"file": "\\u00f6\\udcff"}',)]


# ---------------------------------------------------------------- labels
def kept(store):
    found = store.clustering()
    return found.event, found.reason, found.labels.tolist(), found.description


def test_labels_are_read_with_what_the_learner_said(path, one):
    one.put_clustering(StoredClustering(2, "exhausted", LABELS, ("Done.", "Well döne.")))
    assert kept(one) == (2, "exhausted", [0, 1, -1, 1], ("Done.", "Well döne."))
    ((blob,),) = query(path, "SELECT labels FROM snapshot")
    assert np.frombuffer(blob, "<i4").tolist() == [0, 1, -1, 1]
    assert query(path, "SELECT description, doubts, advice FROM snapshot") == [
        ('["Done.", "Well döne."]', "null", "null")
    ]


def test_labels_are_read_with_the_advice_of_the_learner(path, one):
    for advice in (StopAdvice(True, 0.25, 0.5, 3), StopAdvice(False, None)):
        one.put_clustering(StoredClustering(2, None, LABELS, advice=advice))
        assert one.clustering().advice == advice
    one.put_clustering(StoredClustering(3, None, LABELS))
    assert one.clustering().advice is None


@pytest.mark.parametrize("word", ["description", "doubts", "advice"])
def test_damaged_words_of_the_learner_are_found(path, one, word):
    one.put_clustering(StoredClustering(2, None, LABELS))
    execute(path, f"UPDATE snapshot SET {word} = '5'")
    with pytest.raises(SessionDamagedError, match=f"{path} is damaged"):
        one.clustering()


def test_later_labels_stay(one):
    one.put_clustering(StoredClustering(2, None, LABELS, ("two",)))
    one.put_clustering(StoredClustering(1, None, LABELS[::-1], ("one",)))
    assert kept(one) == (2, None, [0, 1, -1, 1], ("two",))
    one.put_clustering(StoredClustering(2, "exhausted", LABELS[::-1], ("two again",)))
    assert kept(one) == (2, "exhausted", [1, -1, 1, 0], ("two again",))
    one.put_clustering(StoredClustering(3, None, LABELS, ("three",)))
    assert kept(one) == (3, None, [0, 1, -1, 1], ("three",))


def test_labels_after_an_event_that_is_not_there_give_way(one):
    """An older copy of the file came back."""
    one.put_clustering(StoredClustering(9, None, LABELS, ("nine",)))
    assert kept(one) == (-1, None, [0, 1, -1, 1], ("nine",))
    one.put_clustering(StoredClustering(1, None, LABELS[::-1], ("one",)))
    assert kept(one) == (1, None, [1, -1, 1, 0], ("one",))


def test_labels_that_are_no_numbers_of_clusters_are_not_kept(one):
    for wrong in ([0, 1, 2, 4], [0, 1, 2, -2]):
        one.put_clustering(StoredClustering(3, None, np.array(wrong, dtype=np.int32)))
        assert one.clustering() is None


# ---------------------------------------------------------------- copies
def test_a_copy_is_complete_and_alone(folder, path, one):
    one.append("undo", after=3, target=3)  # stands in the log
    target = folder / "copy.linkwise"
    one.copy_to(str(target))
    assert query(target, "PRAGMA journal_mode") == [("wal",)]
    assert sorted(p.name for p in folder.iterdir() if p.name.startswith("copy")) == ["copy.linkwise"]
    with closing(Store.open(target)) as copy:
        assert copy.events() == one.events()
        assert (copy.meta(), copy.ids()) == (META, IDS)


def test_a_copy_is_made_where_it_is_to_stand(folder, one, monkeypatch):
    """So that one step gives it its name, and a folder that a crash leaves behind says whose it is."""
    link, parts = os.link, []

    def keep(part, target):
        parts.append(part)
        link(part, target)

    monkeypatch.setattr(tempfile, "tempdir", str(folder / "nowhere"))
    monkeypatch.setattr(os, "link", keep)
    one.copy_to("copy.linkwise")
    (part,) = parts
    assert part.name == "copy.linkwise"
    assert part.parent.parent.resolve() == folder.resolve()
    assert part.parent.name.startswith("copy.linkwise-")


@pytest.mark.parametrize("name", ["file:x", "file:x?mode=memory", ":memory:", "-x", "it's", "ä b#1%20"])
def test_a_copy_may_have_any_name(folder, one, name):
    """Some of these mean something else to SQLite."""
    one.copy_to(name)
    assert Path(name) in {p.relative_to(folder) for p in folder.iterdir()}
    with closing(Store.open(name)) as copy:
        assert numbers(copy) == [1, 2, 3]


def test_the_disk_knows_the_name_of_a_copy_and_the_folder_is_let_go(folder, one, monkeypatch):
    fsync, synced = os.fsync, []

    def keep(handle):
        synced.append((handle, os.fstat(handle)))
        assert Path("copy.linkwise").exists()
        fsync(handle)

    monkeypatch.setattr(os, "fsync", keep)
    one.copy_to("copy.linkwise")
    ((handle, found),) = synced
    assert stat.S_ISDIR(found.st_mode)
    assert os.path.samestat(found, folder.stat())
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)


def copying_fails(store, target, words):
    with pytest.raises(SessionError) as error:
        store.copy_to(target)
    assert type(error.value) is SessionError
    assert str(error.value) == words


def test_a_copy_needs_a_folder(folder, one):
    target = folder / "none" / "copy.linkwise"
    with pytest.raises(FileNotFoundError) as error:
        one.copy_to(target)
    assert (
        str(error.value)
        == f"There is no folder {target.parent} to write copy.linkwise into. Create it first."
    )


def test_a_copy_does_not_adopt_a_log(folder, one):
    log, target = folder / "copy.linkwise-wal", folder / "copy.linkwise"
    log.write_bytes(b"old")
    copying_fails(one, target, f"{log} belongs to another session. Move it away, or choose another name.")
    assert not target.exists()
    log.write_bytes(b"")  # an empty log has nothing to adopt
    one.copy_to(target)
    with closing(Store.open(target)) as copy:
        assert numbers(copy) == [1, 2, 3]


@pytest.mark.parametrize("links", [True, False], ids=["hard links", "no hard links"])
@pytest.mark.parametrize("log", [b"", b"its log"], ids=["no log", "log"])
def test_a_copy_overwrites_nothing(folder, one, monkeypatch, links, log):
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    target = folder / "copy.linkwise"
    target.write_bytes(b"mine")
    Path(f"{target}-wal").write_bytes(log)
    copying_fails(one, target, f"{target} exists already. Open it, or choose another name.")
    assert target.read_bytes() == b"mine"


def no_links(part, target):
    raise PermissionError(errno.EPERM, "Operation not permitted")


def test_a_file_system_without_hard_links_will_do(folder, one, monkeypatch):
    monkeypatch.setattr(os, "link", no_links)
    one.copy_to("copy.linkwise")
    with closing(Store.open("copy.linkwise")) as copy:
        assert numbers(copy) == [1, 2, 3]


def test_a_copy_that_cannot_be_written_says_why(folder, one):
    target = folder / ("x" * 300)
    copying_fails(one, target, f"{target} cannot be written: File name too long. Choose another place.")


def test_a_full_disk_is_named_by_the_file_that_needs_the_space(folder, one, monkeypatch):
    """The copy may go to another disk than the session."""
    connect, target = sqlite3.connect, folder / "copy.linkwise"

    def with_three_pages(*given, **more):
        db = connect(*given, **more)
        db.execute("PRAGMA max_page_count=3")
        return db

    monkeypatch.setattr(sqlite3, "connect", with_three_pages)
    with pytest.raises(SessionError, match=re.escape(f"The disk that holds {target} is full: ")):
        one.copy_to(target)
    assert not target.exists()
    (n_pages,) = one._db.execute("PRAGMA page_count").fetchone()
    one._db.execute(f"PRAGMA max_page_count={n_pages}")
    with pytest.raises(SessionError, match=re.escape(f"The disk that holds {one.path} is full: ")):
        one.append("import", after=3, facts=FACTS * 1000)
    assert one.last() == 3


def test_a_copy_of_a_damaged_session_blames_the_session(path, one):
    page = len(path.read_bytes()) // one._db.execute("PRAGMA page_count").fetchone()[0]
    path.write_bytes(path.read_bytes()[:page])
    with pytest.raises(SessionDamagedError, match=re.escape(str(path))):
        one.copy_to("copy.linkwise")
    assert not Path("copy.linkwise").exists()


# ---------------------------------------------------------------- closing
def test_a_closed_store_says_so_and_may_be_closed_again(path):
    found = Store.open(path)
    found.close()
    found.close()
    for do in (found.meta, found.ids, found.version, found.last, found.events, found.clustering):
        with pytest.raises(SessionError) as error:
            do()
        assert str(error.value) == f"{path} is closed. Open it again."
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        found._db.execute("SELECT 1")


def test_closing_moves_the_log_into_the_file_while_others_are_open(path, one, other):
    one.append("undo", after=3, target=3)
    one.close()
    alone = path.with_name("alone.linkwise")
    shutil.copy(path, alone)
    assert Path(f"{path}-wal").exists()  # the other one is there still
    with closing(Store.open(alone)) as found:
        assert numbers(found) == [1, 2, 3, 4]


# ---------------------------------------------------------------- what SQLite complains of
LOCKED = "s is in use by another process. Close that process, or try again."
READ_ONLY = "s cannot be written: why. Copy it into a folder that you can write to."
FULL = (
    "The disk that holds s is full: why. The last step is not stored; all earlier answers are safe. "
    "Delete or move other files from that disk, then repeat the last step."
)
FAILING = (
    "s cannot be read or written: why. The last step is not stored. Check that its disk is connected and "
    "has free space, then repeat the last step."
)
DAMAGED = "s is not a linkwise session, or it is damaged: why. Restore a copy of it."


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (sqlite3.SQLITE_BUSY, SessionLockedError, LOCKED),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, SessionLockedError, LOCKED),
        (sqlite3.SQLITE_LOCKED, SessionLockedError, LOCKED),
        (sqlite3.SQLITE_READONLY, SessionError, READ_ONLY),
        (sqlite3.SQLITE_READONLY_DIRECTORY, SessionError, READ_ONLY),
        (sqlite3.SQLITE_CANTOPEN, SessionError, READ_ONLY),
        (sqlite3.SQLITE_PERM, SessionError, READ_ONLY),
        (sqlite3.SQLITE_FULL, SessionError, FULL),
        (sqlite3.SQLITE_IOERR, SessionError, FAILING),
        (sqlite3.SQLITE_IOERR_FSYNC, SessionError, FAILING),
        (sqlite3.SQLITE_PROTOCOL, SessionError, FAILING),
        (sqlite3.SQLITE_NOMEM, SessionError, FAILING),
        (sqlite3.SQLITE_CORRUPT, SessionDamagedError, DAMAGED),
        (sqlite3.SQLITE_NOTADB, SessionDamagedError, DAMAGED),
        (None, SessionDamagedError, DAMAGED),
    ],
)
def test_each_complaint_of_sqlite_has_its_words(code, kind, words):
    error = sqlite3.DatabaseError("why")
    if code is not None:
        error.sqlite_errorcode = code
    found = store._session_error("s", error)
    assert type(found) is kind
    assert str(found) == words


def test_what_sqlite_said_is_the_cause(one):
    with pytest.raises(SessionDamagedError) as error:
        one.append("undo", after=3, target=99)
    assert isinstance(error.value.__cause__, sqlite3.IntegrityError)
    with pytest.raises(SessionDamagedError) as error, one._translate_errors():
        raise schema.Damage("The file is truncated")
    assert error.value.__cause__ is None

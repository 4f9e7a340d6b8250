"""Sessions that can only be read: in a folder that nobody may write to, or on a full disk."""

import os
import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from full_disk import full_disk
from linkwise.errors import SessionDamagedError, SessionError, SessionLockedError
from linkwise.session.journal import file_image, store
from linkwise.session.journal.file_image import read_image
from linkwise.session.session import Session
from session.session_examples import LEARNERS, TRUTH, X, answer_by, image


@pytest.fixture
def path(tmp_path):
    """A session of eight answers, the last four of which are in its log alone."""
    begun = tmp_path / "begun" / "s.linkwise"
    begun.parent.mkdir()
    with Session.open(begun, X, LEARNERS["COBRAS"]()) as session:
        answer_by(session, TRUTH, 4)
    with Session.open(begun, X) as session:
        answer_by(session, TRUTH, 4)
        left = tmp_path / "left"
        shutil.copytree(begun.parent, left)  # as a killed process leaves it
    (left / "s.linkwise-shm").unlink()
    assert (left / "s.linkwise-wal").stat().st_size
    return left / "s.linkwise"


@pytest.fixture
def unwritable(monkeypatch):
    monkeypatch.setattr(store.os, "access", lambda path, mode: False)


def contents(folder):
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def dump(db):
    return list(db.iterdump())


def dump_image(path):
    with closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(read_image(path))
        return dump(db)


def dump_by_sqlite(path, folder):
    """What SQLite reads of a copy."""
    folder.mkdir()
    for each in path.parent.iterdir():
        shutil.copy(each, folder)
    with closing(sqlite3.connect(folder / path.name)) as db:
        return dump(db)


# ---------------------------------------------------------------- reading
def test_answers_in_the_log_are_seen_and_nothing_is_written(path, unwritable):
    before = contents(path.parent)
    with Session.open(path) as session:
        assert session.is_read_only
        assert session.status.n_answers == 8
    with Session.open(path, X) as session:
        assert session.labels_are_current
        assert len(session.labels) == len(X)
    assert contents(path.parent) == before


def test_it_shows_what_a_session_that_can_be_written_shows(path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(store.os, "access", lambda path, mode: False)
        with Session.open(path, X) as session:
            found = image(session)
    with Session.open(path, X) as session:
        assert not session.is_read_only
        assert image(session) == found


def test_whoever_writes_is_told_and_nothing_is_stored(path, unwritable):
    before = contents(path.parent)
    with Session.open(path, X) as session:
        for write in (lambda: session.answer("no"), session.undo, lambda: session.add(0, 1, "must-link")):
            with pytest.raises(SessionError, match=r"s\.linkwise cannot be written: .*Copy it into a folder"):
                write()
        assert session.status.n_answers == 8
    assert contents(path.parent) == before


def test_a_copy_has_all_answers_and_can_be_written(path, unwritable, tmp_path, monkeypatch):
    with Session.open(path) as session:
        session.save_copy(tmp_path / "copy.linkwise")
    monkeypatch.undo()
    with Session.open(tmp_path / "copy.linkwise", X) as session:
        session.answer("no")
        assert session.status.n_answers == 9


def test_a_session_on_a_full_disk_is_read(path):
    before = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    with full_disk(), Session.open(path, X) as session:
        assert session.is_read_only
        assert session.status.n_answers == 8
    assert (path.read_bytes(), Path(f"{path}-wal").read_bytes()) == before
    with Session.open(path) as session:
        assert session.status.n_answers == 8


# ---------------------------------------------------------------- the log
def test_the_image_holds_what_sqlite_reads_wherever_the_log_is_cut(path, tmp_path):
    log = Path(f"{path}-wal")
    whole, counts = log.read_bytes(), set()
    frame = 24 + int.from_bytes(whole[8:12], "big")
    ends = range(32, len(whole) + 1, frame)
    for number, end in enumerate([0, 31, *ends, *(end + 100 for end in ends[:-1]), len(whole) - 1]):
        log.write_bytes(whole[:end])
        found = dump_image(path)
        assert found == dump_by_sqlite(path, tmp_path / str(number))
        counts.add(len(found))
    assert len(counts) > 4


def test_a_log_that_begins_anew_over_an_earlier_one(path, tmp_path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(RESTART)")
        db.execute("UPDATE meta SET value = '\"new\"' WHERE key = 'guidelines'")
        db.execute("INSERT INTO meta VALUES ('more', '1')")
        db.commit()
        left = tmp_path / "anew"
        shutil.copytree(path.parent, left)
    (left / "s.linkwise-shm").unlink()
    found = dump_image(left / "s.linkwise")
    assert found == dump_by_sqlite(left / "s.linkwise", tmp_path / "by-sqlite")
    assert any("'more'" in line for line in found)


def test_a_damaged_page_in_the_log_ends_it(path, tmp_path):
    log = Path(f"{path}-wal")
    changed = bytearray(log.read_bytes())
    changed[len(changed) // 2] ^= 1
    log.write_bytes(changed)
    assert dump_image(path) == dump_by_sqlite(path, tmp_path / "by-sqlite")


def test_a_log_that_names_endless_pages(path, unwritable):
    log = Path(f"{path}-wal")
    content = bytearray(log.read_bytes())
    page_size = int.from_bytes(content[8:12], "big")
    struct.pack_into(">2I", content, 32, 1, 2**32 - 1)
    words = "<" if content[3] == 0x82 else ">"
    sums = struct.unpack_from(">2I", content, 24)
    sums = file_image._add_up(bytes(content[32:40] + content[56 : 56 + page_size]), words, sums)
    struct.pack_into(">2I", content, 48, *sums)
    log.write_bytes(content[: 56 + page_size])
    with pytest.raises(SessionDamagedError, match=r"s\.linkwise is damaged. Its log names pages beyond"):
        Session.open(path)


def test_a_log_that_another_process_empties_meanwhile_is_read_again(path, monkeypatch):
    read, n_reads = Path.read_bytes, []

    def read_slowly(self):
        found = read(self)
        if self == path and not n_reads:
            n_reads.append(1)
            with Session.open(path, X) as session:  # the log moves into the file, and begins anew
                answer_by(session, TRUTH, 1)
        return found

    monkeypatch.setattr(Path, "read_bytes", read_slowly)
    assert sum('INSERT INTO "event"' in line for line in dump_image(path)) == 9


def test_a_log_that_never_rests(path, monkeypatch):
    logs = iter(range(1000))
    monkeypatch.setattr(file_image, "_read_log", lambda log: bytes([next(logs) % 256]) * 40)
    with pytest.raises(SessionLockedError, match="in use by another process"):
        read_image(path)


def test_a_file_that_can_be_written_is_opened_as_ever(path):
    assert os.access(path, os.W_OK)
    with Session.open(path, X) as session:
        session.answer("no")
        assert not session.is_read_only

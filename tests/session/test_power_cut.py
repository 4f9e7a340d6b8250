"""A power cut at any moment: what was acknowledged is on the disk before the acknowledgement.

strace tells every write of a process, and when it waited for the disk. From that the disk is rebuilt as it
may be after a power cut at any moment: with what was waited for, and with any part of the rest.
"""

import os
import random
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from linkwise.errors import SessionDamagedError, SessionError
from linkwise.session.journal.store import Store
from linkwise.session.session import Session
from session.session_examples import LEARNERS, TRUTH, X, answer_by, told
from session.workers import do

PLAN = [
    ("answer",),
    ("import", [(0, 3), (1, 2)]),
    ("answer",),
    ("undo",),
    ("add", 2, 5),
    ("answer",),
    ("change", 1, "unsure"),
    ("import", [(i, i + 3) for i in range(8)]),
    ("answer",),
]
SECTOR = 512
LOG_HEADER, FRAME_HEADER, PAGE = 32, 24, 4096  # of SQLite's log
FRAME = FRAME_HEADER + PAGE
N_DRAWS = 3  # power cuts at each moment that keep a random part of what was not waited for


# ---------------------------------------------------------------- what the process does
def follow_plan(path):
    """Begin a session, do what the plan says, and acknowledge each step; close and open it in between."""
    session = Session.open(path, X, LEARNERS["COBRAS"]())
    acknowledge(session)
    for step in PLAN[:5]:
        do(session, step)
        acknowledge(session)
    session.close()
    session = Session.open(path, X)
    for step in PLAN[5:]:
        do(session, step)
        acknowledge(session)
    session.close()


def acknowledge(session):
    os.write(1, f"acknowledged {len(session.events)}\n".encode())


# ---------------------------------------------------------------- what strace tells
CALLS = "openat,write,pwrite64,ftruncate,fsync,fdatasync,link,linkat,rename,renameat,unlink,unlinkat"
LINE = re.compile(r"\d+ +(\w+)\((.*)\) += +(-?\d+).*", re.DOTALL)
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
FILE = re.compile(r"^\d+<([^>]*)>")
PATH = re.compile(r"<((?:\\x[0-9a-f]{2})+)>")


def calls_of(trace):
    """Every call that went well: its name, and what it got."""
    for line in trace.read_text().splitlines():
        found = LINE.fullmatch(line)
        if found and int(found[3]) >= 0:
            yield found[1], PATH.sub(lambda path: f"<{unhexed(path[1]).decode()}>", found[2])


def unhexed(text):
    """strace writes each byte as a number."""
    return bytes.fromhex(text.replace("\\x", ""))


def bytes_of(given):
    """The texts among what a call got."""
    return list(map(unhexed, TEXT.findall(given)))


# ---------------------------------------------------------------- a disk
@dataclass
class Disk:
    """What is on the disk for certain, and what may be."""

    folder: str
    content: dict[int, bytearray] = field(default_factory=dict)  # by number of a file, as on the disk
    waiting: dict[int, list[tuple[int, bytes | None]]] = field(default_factory=dict)  # None: cut there
    names: dict[str, int] = field(default_factory=dict)  # as on the disk
    now: dict[str, int] = field(default_factory=dict)  # as the process sees them

    def take(self, call, given):
        """Take in one call; whether it concerns this disk."""
        texts = bytes_of(given) if call not in ("write", "pwrite64") else []
        paths = [text.decode() for text in texts if text.startswith(self.folder.encode())]
        on = FILE.match(given)
        name = on[1].removesuffix("(deleted)") if on and on[1].startswith(self.folder) else None
        if call == "openat" and paths and "O_CREAT" in given:
            self.begin(paths[0])
        elif call in ("link", "linkat") and paths:
            self.now[paths[1]] = self.now[paths[0]]
        elif call in ("rename", "renameat") and paths:
            self.now[paths[1]] = self.now.pop(paths[0])
        elif call.startswith("unlink") and paths:
            self.now.pop(paths[0], None)
        elif call in ("fsync", "fdatasync") and name is not None:
            self.flush(name)
        elif call == "pwrite64" and name in self.now:
            self.waiting[self.now[name]].append((int(given.rsplit(", ", 1)[1]), bytes_of(given)[0]))
        elif call == "ftruncate" and name in self.now:
            self.waiting[self.now[name]].append((int(given.rsplit(", ", 1)[1]), None))
        else:
            return False
        return True

    def begin(self, name):
        if name not in self.now:
            number = len(self.content)
            self.now[name], self.content[number], self.waiting[number] = number, bytearray(), []

    def flush(self, name):
        """The process waits until the disk has a file, or the names in a folder."""
        if name in self.now:
            number = self.now[name]
            for change in self.waiting[number]:
                apply(self.content[number], *change)
            self.waiting[number] = []
        else:
            here = {file for file in {*self.names, *self.now} if os.path.dirname(file) == name}
            self.names = {file: n for file, n in self.names.items() if file not in here}
            self.names |= {file: self.now[file] for file in here if file in self.now}

    def after_a_cut(self, rng=None):
        """Files by name after a power cut: with a random part of what was not waited for, or none of it."""
        names = dict(self.names)
        if rng is not None and rng.random() < 0.5:
            names = dict(self.now)
        found = {}
        for name, number in names.items():
            content = bytearray(self.content[number])
            for place, data in self.waiting[number]:
                if rng is None or rng.random() < 0.5:
                    continue
                if data is not None and rng.random() < 0.3:  # torn
                    data = data[: SECTOR * rng.randrange(len(data) // SECTOR + 1)]
                apply(content, place, data)
            found[name] = bytes(content)
        return found


def apply(content, place, data):
    """Write to a file, or cut it."""
    if data is None:
        del content[place:]
    content.extend(bytes(max(0, place - len(content))))
    if data is not None:
        content[place : place + len(data)] = data


def test_a_disk_keeps_what_was_waited_for():
    """The rebuilt disk forgets as a disk may."""
    disk = Disk("/d")
    hexed = "".join(f"\\x{b:02x}" for b in b"/d/a")
    disk.take("openat", f'AT_FDCWD</>, "{hexed}", O_RDWR|O_CREAT, 0644')
    disk.take("pwrite64", '3</d/a>, "\\x41\\x42", 2, 1')
    assert disk.after_a_cut() == {}
    disk.take("fsync", "4</d>")
    assert disk.after_a_cut() == {"/d/a": b""}
    assert {disk.after_a_cut(random.Random(seed))["/d/a"] for seed in range(50)} == {b"", b"\0", b"\0AB"}
    disk.take("fdatasync", "3</d/a>")
    assert disk.after_a_cut() == {"/d/a": b"\0AB"}


# ---------------------------------------------------------------- the process, traced
@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """The calls of a process that follows the plan, and its folder."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed here; apt install strace")
    folder = tmp_path_factory.mktemp("power")
    trace = tmp_path_factory.mktemp("trace") / "calls"
    options = ["-f", "--seccomp-bpf", "-y", "-xx", "-s", "1000000", "-e", f"trace={CALLS}", "-o", trace]
    done = subprocess.run(
        ["strace", *options, sys.executable, __file__, folder / "s.linkwise"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    if "PTRACE" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip("processes may not be traced here")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"acknowledged {n}" for n in range(len(PLAN) + 1)]
    return folder, list(calls_of(trace))


def acknowledged_by(call, given):
    """How many events a call acknowledges, if it does."""
    if call == "write" and given.startswith("1<"):
        return int(bytes_of(given)[0].split()[1])
    return None


def events_in(folder):
    """What the session file in a folder holds, without the times; None where there is no file."""
    path = folder / "s.linkwise"
    if not path.exists():
        return None
    store = Store.open(path)
    try:
        found = [told(event) for event in store.events()]
        store._db.execute("PRAGMA synchronous=OFF")  # nobody cuts the power of the test
        return found
    finally:
        store.close()


@pytest.mark.slow
def test_after_a_power_cut_at_any_moment_every_acknowledged_answer_is_there(traced, tmp_path):
    folder, calls = traced
    said = events_in(folder)
    assert len(said) == len(PLAN)
    disk, n_acknowledged, moments, lengths = Disk(str(folder)), -1, 0, set()
    rng = random.Random(1)
    for call, given in calls:
        n = acknowledged_by(call, given)
        if n is not None:
            n_acknowledged = n
        elif not disk.take(call, given):
            continue
        moments += 1
        for draw in (None, *[rng] * N_DRAWS):
            here = tmp_path / "disk"
            here.mkdir()
            for name, content in disk.after_a_cut(draw).items():
                if os.path.dirname(name) == str(folder):  # what lies in temporary folders is nobody's
                    (here / os.path.basename(name)).write_bytes(content)
            found = events_in(here)
            assert found is not None or n_acknowledged < 0, f"moment {moments}: the file is gone"
            if found is not None:
                assert found == said[: len(found)]
                assert len(found) >= n_acknowledged, f"moment {moments}: an acknowledged answer is gone"
                lengths.add(len(found))
            shutil.rmtree(here)
    assert moments > 5 * len(PLAN)
    assert lengths == set(range(len(PLAN) + 1))


# ---------------------------------------------------------------- files that were cut
@pytest.fixture
def cut_short(tmp_path):
    """A session, its events, and its file and log while it is open."""
    path = tmp_path / "whole.linkwise"
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        answer_by(session, TRUTH, 4)
    with Session.open(path, X) as session:
        answer_by(session, TRUTH, 3)
        said = [told(event) for event in session.events]
        main, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    return said, main, log, path.read_bytes()


@pytest.mark.slow
def test_a_log_that_is_cut_at_any_byte_keeps_what_stands_before(cut_short, tmp_path):
    """At each byte of a frame's header, and at every 503rd of its page: SQLite reads whole frames only."""
    said, main, log, _ = cut_short
    starts = range(LOG_HEADER, len(log), FRAME)
    assert starts[-1] + FRAME == len(log)
    near = {end for start in starts for end in range(start - 2, start + FRAME_HEADER + 3)}
    lengths = []
    for end in sorted({*near, *range(0, len(log), 503), len(log) - 1, len(log)}):
        (tmp_path / "s.linkwise").write_bytes(main)
        (tmp_path / "s.linkwise-wal").write_bytes(log[:end])
        found = events_in(tmp_path)
        assert found == said[: len(found)]
        assert len(found) >= 4  # what stood in the file before
        lengths.append(len(found))
    assert lengths == sorted(lengths)
    assert set(lengths) == {4, 5, 6, 7}
    assert len(said) == 7


def test_a_file_that_is_cut_at_any_byte_says_so(cut_short, tmp_path):
    *_, whole = cut_short
    path = tmp_path / "s.linkwise"
    path.write_bytes(whole)
    for end in range(len(whole) - 1, len(whole) - 4097, -1):
        os.truncate(path, end)
        with pytest.raises(SessionDamagedError):
            Store.open(path)


def test_a_file_that_is_cut_beside_its_log_says_so_or_has_all(cut_short, tmp_path):
    """What was cut off may stand in the log as well."""
    said, main, log, _ = cut_short
    opened = 0
    for end in range(len(main) - 4096, len(main), 16):
        (tmp_path / "s.linkwise").write_bytes(main[:end])
        (tmp_path / "s.linkwise-wal").write_bytes(log)
        try:
            found = events_in(tmp_path)
        except SessionError:
            continue
        assert found == said
        opened += 1
    assert opened in (0, 256)


if __name__ == "__main__":
    follow_plan(sys.argv[1])

"""Files that are whole or absent, whoever writes them and whenever the writer ends."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from linkwise import whole_files
from linkwise.whole_files import write_whole
from patience import patience


def test_a_file_gets_its_name_when_its_contents_are_on_the_disk(tmp_path, monkeypatch):
    path, flushed, replace = tmp_path / "part.bin", [], os.replace

    def check(free, target):
        assert flushed == [os.stat(free).st_ino]
        assert not path.exists()
        replace(free, target)

    monkeypatch.setattr(whole_files.os, "fsync", lambda file: flushed.append(os.fstat(file).st_ino))
    monkeypatch.setattr(whole_files.os, "replace", check)
    with write_whole(path) as free:
        free.write_bytes(b"all")
    assert path.read_bytes() == b"all"
    assert flushed == [path.stat().st_ino, tmp_path.stat().st_ino]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_the_file_of_before_stays_if_writing_fails(tmp_path, error):
    path = tmp_path / "part.bin"
    path.write_bytes(b"before")

    def fail():
        with write_whole(path) as free:
            free.write_bytes(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_two_write_the_same_file_at_once(tmp_path):
    path, both = tmp_path / "part.bin", threading.Barrier(2, timeout=patience())
    failed = []

    def write(content):
        try:
            with write_whole(path) as free:
                free.write_bytes(content)
                both.wait()
        except Exception as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=(content,)) for content in (b"one", b"two")]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert not failed
    assert path.read_bytes() in (b"one", b"two")
    assert list(tmp_path.iterdir()) == [path]


KILLED = """
import os, signal, sys
from pathlib import Path
from linkwise.whole_files import write_whole
with write_whole(Path(sys.argv[1])) as free:
    free.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    path = tmp_path / "part[0].bin"
    (tmp_path / ".part.bin.unfinished").touch()
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], timeout=patience(), check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.glob(".part[[]0*")
    with write_whole(path) as held:
        assert not left.exists()
        with write_whole(path) as other:  # the file that is being written is no leftover
            other.write_bytes(b"first")
        held.write_bytes(b"last")
    assert path.read_bytes() == b"last"
    assert sorted(each.name for each in tmp_path.iterdir()) == [".part.bin.unfinished", "part[0].bin"]


def test_a_folder_without_locks_is_written_to_as_well(tmp_path, monkeypatch):
    def refuse(*args):
        raise OSError(95, "Operation not supported")

    left = tmp_path / ".part.bin.0.unfinished"
    left.touch()
    monkeypatch.setattr(whole_files.fcntl, "flock", refuse)
    with write_whole(tmp_path / "part.bin") as free:
        free.write_bytes(b"all")
    assert (tmp_path / "part.bin").read_bytes() == b"all"
    assert left.exists()  # it may be somebody's

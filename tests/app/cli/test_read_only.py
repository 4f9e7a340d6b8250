"""Commands that only read work in folders that nobody may write to, and on full disks."""

import os

import pytest

from full_disk import full_disk
from item_files import ask, kind, small_blocks
from linkwise.app.project.group_rows import name_next
from linkwise.large.group_table import read_groups

__all__ = ["ask", "kind", "small_blocks"]

READ = [["status"], ["export"], ["export", "--answers", "-"], ["explain"]]


@pytest.fixture
def asked(linkwise, fruit):
    assert linkwise("ask", fruit.path, "--terminal", "--id", "id", said="n\ny\nn\nq\n").exit_code == 0
    return fruit


def take_right_to_write(monkeypatch, path):
    access = os.access
    monkeypatch.setattr(os, "access", lambda at, mode: str(at) != str(path) and access(at, mode))


@pytest.mark.parametrize("command", READ, ids=" ".join)
def test_commands_that_read_need_no_room(linkwise, asked, command):
    name, *options = command
    wanted = linkwise(name, asked.path, *options)
    with full_disk():
        found = linkwise(name, asked.path, *options)
    assert (found.exit_code, found.stdout) == (0, wanted.stdout)


@pytest.mark.parametrize("command", READ, ids=" ".join)
def test_commands_that_read_need_no_right_to_write(linkwise, asked, command, monkeypatch):
    name, *options = command
    wanted = linkwise(name, asked.path, *options)
    take_right_to_write(monkeypatch, asked.session)
    found = linkwise(name, asked.path, *options)
    assert (found.exit_code, found.stdout) == (0, wanted.stdout)


@pytest.mark.parametrize("command", ["ask", "undo"])
def test_commands_that_write_say_what_to_do(linkwise, asked, command, monkeypatch):
    take_right_to_write(monkeypatch, asked.session)
    found = linkwise(command, asked.path)
    assert found.exit_code == 5
    assert f"{asked.session.name} cannot be written" in " ".join(found.stderr.split())
    assert "copy it into a folder that you can write to" in found.stderr.lower()


# ---------------------------------------------------------------- groups
@pytest.mark.parametrize("command", [["status"], ["explain"], ["export", "--constraints", "-"]], ids=" ".join)
def test_sessions_about_items_are_read_on_a_full_disk(ask, linkwise, tmp_path, command):
    ask("--groups", 50, said="y\nn\nq\n")
    name, *options = command
    wanted = linkwise(name, tmp_path / "events.linkwise", *options)
    with full_disk():
        found = linkwise(name, tmp_path / "events.linkwise", *options)
    assert (found.exit_code, found.stdout) == (0, wanted.stdout)


def test_items_that_wait_for_their_name_are_read_where_they_are(ask, linkwise, tmp_path, monkeypatch):
    ask("--groups", 50)
    path, items = tmp_path / "events.linkwise", tmp_path / "events.linkwise.d" / "groups.npz"
    items.rename(items.with_name(name_next(read_groups(items.parent).hash)))
    before, replace = {each.name for each in items.parent.iterdir()}, os.replace

    def refuse(source, target):
        if str(target) == str(items):
            raise OSError(30, "Read-only file system")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    assert linkwise("export", path, "--labels", tmp_path / "out").exit_code == 0
    assert {each.name for each in items.parent.iterdir()} == before | {".lock"}

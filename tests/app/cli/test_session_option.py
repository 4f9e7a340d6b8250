"""``--session``: every command takes a session that is not beside its data."""

import json

import pytest


@pytest.fixture
def elsewhere(fruit, linkwise, tmp_path):
    """A session of three answers in another folder than its data."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    path = folder / "mine.linkwise"
    assert linkwise("ask", fruit.path, "--session", path, "--terminal", said="n\nn\ny\n").exit_code == 0
    assert not fruit.session.exists()
    return path


def answers(linkwise, *words):
    return json.loads(linkwise("status", *words, "--json").stdout)["answers"]


def test_status_and_undo(fruit, elsewhere, linkwise):
    with_option = linkwise("status", fruit.path, "--session", elsewhere)
    assert with_option.exit_code == 0
    assert with_option.stdout == linkwise("status", elsewhere).stdout
    n = answers(linkwise, elsewhere)
    assert linkwise("undo", fruit.path, "--session", elsewhere).exit_code == 0
    assert answers(linkwise, fruit.path, "--session", elsewhere) == n - 1


def test_explain(fruit, elsewhere, linkwise, tmp_path):
    done = linkwise("explain", fruit.path, "--session", elsewhere)
    assert (done.exit_code, done.stdout) == (0, linkwise("explain", elsewhere).stdout)
    both = linkwise("explain", fruit.path, "--session", elsewhere, "--labels", tmp_path / "l.csv")
    assert both.exit_code == 2
    assert "Use one of them." in both.stderr


def test_export_reads_the_data_that_are_given(fruit, elsewhere, linkwise, tmp_path):
    assert linkwise("undo", elsewhere).exit_code == 0  # then the data are needed
    copy, joined = tmp_path / "copy.csv", tmp_path / "joined.csv"
    fruit.path.rename(copy)
    done = linkwise("export", copy, "--session", elsewhere, "--join", joined)
    assert done.exit_code == 0, done.stderr
    lines, given = joined.read_text().splitlines(), copy.read_text().splitlines()
    assert [line.startswith(row) for line, row in zip(lines, given, strict=True)] == [True] * len(lines)
    clusters = linkwise("export", copy, "--session", elsewhere)
    assert (clusters.exit_code, clusters.stderr) == (0, "")
    assert linkwise("export", elsewhere, "--join", joined, "--force").exit_code == 3


def test_review(fruit, elsewhere, linkwise):
    done = linkwise("review", fruit.path, "--session", elsewhere, said="q\n")
    assert done.exit_code == 0, done.stderr


def test_combine(fruit, elsewhere, linkwise, tmp_path):
    other = tmp_path / "other.linkwise"
    linkwise("ask", fruit.path, "--session", other, "--terminal", "--method", "cobras", said="n\n")
    options = ("--session", elsewhere, "--source", "ben", "--json")
    done = linkwise("combine", fruit.path, other, *options)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["session"] == str(elsewhere)


@pytest.mark.parametrize("command", ["status", "undo", "review", "explain", "export", "extend", "combine"])
def test_what_is_no_session(fruit, elsewhere, linkwise, tmp_path, command):
    other = [tmp_path / "other.linkwise"] * (command == "combine")
    missing = linkwise(command, fruit.path, *other, "--session", tmp_path / "none.linkwise")
    assert missing.exit_code == 3
    assert "There is no session" in missing.stderr
    assert "--session" in missing.stderr
    data = linkwise(command, fruit.path, *other, "--session", fruit.path)
    assert data.exit_code == 2
    assert "is a data file, not a session" in data.stderr
    twice = linkwise(command, elsewhere, *other, "--session", elsewhere)
    assert twice.exit_code == 2
    assert "is a session itself. Pass its data file, or remove --session." in twice.stderr

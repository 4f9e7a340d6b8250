"""Each exit code by a real case; every error one plain message, no traceback."""

import sqlite3
from contextlib import closing

import pytest

import linkwise as lw
from linkwise.app.project.exit_codes import exit_code
from linkwise.session.journal import store
from linkwise.session.session import Session


def told(result, code):
    """The one message on stderr of a command that ended with `code`."""
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    lines = [line for line in result.stderr.splitlines() if line]
    assert len(lines) == 1
    assert lines[0].startswith("linkwise: ")
    return lines[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask",),
        ("ask", "x.csv", "--scale", "huge"),
        ("ask", "x.csv", "--budget", "-1"),
        ("nonsense",),
        ("demo", "tulips"),
    ],
)
def test_wrong_use_is_2(linkwise, arguments):
    done = linkwise(*arguments)
    assert done.exit_code == 2
    assert "Error: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (b"", (), "empty"),
        (b"a,b\n1,2\n3\n", (), "Line 3"),
        (b"a,b\n1,2\n\xff,4\n", (), "UTF-8"),
        (b"a,b\n1,2\n3,4\n", ("--columns", "a,c"), "'c'"),
        (b"a,b\n1,2\n1,4\n", ("--id", "a"), "'1'"),
        (b"a,b\n1,2\ninf,4\n2,5\n", (), "infinite"),
    ],
)
def test_bad_data_is_3(tmp_path, linkwise, content, options, words):
    data = tmp_path / "bad.csv"
    data.write_bytes(content)
    message = told(linkwise("ask", data, *options), 3)
    assert words in message
    assert "bad.csv" in message
    assert not (tmp_path / "bad.csv.linkwise").exists()


def test_a_file_that_is_not_there_is_3(tmp_path, linkwise):
    missing = tmp_path / "none.csv"
    assert str(missing) in told(linkwise("ask", missing), 3)
    for command in ("status", "undo", "export"):
        assert f"linkwise ask {missing}" in told(linkwise(command, missing), 3)
    told(linkwise("ask", tmp_path / "none.csv.linkwise"), 3)
    told(linkwise("ask", tmp_path), 3)


def test_a_file_of_pairs_with_an_unknown_id_is_3(fruit, tmp_path, linkwise):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("id_a,id_b,kind\nf0,kiwi,must-link\n")
    message = told(linkwise("ask", fruit.path, "--constraints", pairs), 3)
    assert "Line 2 of" in message
    assert "'kiwi'" in message
    assert not fruit.session.exists()


def test_contradictions_are_4(fruit, tmp_path, linkwise):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("id_a,id_b,kind\nf0,f3,must-link\nf3,f6,must-link\nf0,f6,cannot-link\n")
    assert "f0" in told(linkwise("ask", fruit.path, "--constraints", pairs), 4)
    assert not fruit.session.exists()


def contradict(fruit, folder):
    """A file with the opposite of the first answer, which was yes."""
    with Session.open(fruit.session) as session:
        event = session.history[0]
        first, second = (session.ids[row] for row in (event.first, event.second))
    pairs = folder / "pairs.csv"
    pairs.write_text(f"id_a,id_b,kind\n{first},{second},cannot-link\n")
    return pairs


def test_pairs_that_contradict_the_answers_are_4_and_nothing_is_stored(fruit, tmp_path, linkwise):
    linkwise("ask", fruit.path, "--error-rate", 0, said="y\nq\n")
    pairs = contradict(fruit, tmp_path)
    told(linkwise("ask", fruit.path, "--constraints", pairs), 4)
    with Session.open(fruit.session) as session:
        assert [e.kind for e in session.events] == ["answer"]


def test_pairs_that_contradict_answers_that_may_be_wrong_are_stored(fruit, tmp_path, linkwise):
    linkwise("ask", fruit.path, said="y\nq\n")
    done = linkwise("ask", fruit.path, "--constraints", contradict(fruit, tmp_path))
    assert done.exit_code == 0
    assert "1 pair imported from pairs.csv" in done.stdout
    with Session.open(fruit.session) as session:
        assert [e.kind for e in session.events] == ["answer", "import"]
        assert [suspect.number for suspect in session.suspects] == [1]


def test_a_locked_session_is_5_and_keeps_its_answers(fruit, linkwise, monkeypatch):
    linkwise("ask", fruit.path, said="y\nq\n")
    monkeypatch.setattr(store, "PATIENCE_S", 0.05)
    with closing(sqlite3.connect(fruit.session, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = linkwise("ask", fruit.path, said="y\n")
        assert done.exit_code == 5
        assert "in use by another process" in done.stderr
        assert "Traceback" not in done.stderr
        told(linkwise("undo", fruit.path), 5)
    with Session.open(fruit.session) as session:
        assert session.status.n_answers == 1


@pytest.mark.parametrize("content", [b"no database at all, only words", b"SQLite format 3\0" + bytes(200)])
def test_a_damaged_session_is_5(fruit, linkwise, content):
    fruit.session.write_bytes(content)
    for command in ("ask", "status", "undo", "export"):
        assert str(fruit.session) in told(linkwise(command, fruit.path), 5)
    assert fruit.session.read_bytes() == content


@pytest.mark.parametrize(
    "error", [ValueError("a kernel"), AssertionError(), KeyError("k"), RuntimeError("r")]
)
def test_a_fault_of_ours_is_1_and_shown_in_full(fruit, linkwise, monkeypatch, error):
    def failing(*given, **more):
        raise error

    linkwise("ask", fruit.path, said="y\nq\n")
    monkeypatch.setattr("linkwise.app.project.project.read_shown_rows", failing)
    done = linkwise("ask", fruit.path)
    assert done.exit_code == 1
    assert "Traceback" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        f"linkwise: This is an error in linkwise, not in your data: {type(error).__name__} in "
    )
    assert "test_exit_codes.py, line " in last
    assert exit_code(error) is None


@pytest.mark.parametrize("error", [lw.DataError(), lw.ConstraintError(), OSError(), UnicodeError()])
def test_what_a_person_can_mend_is_no_fault_of_ours(error):
    assert exit_code(error) == 3


def test_numbers_too_large_to_compare_are_3(tmp_path, linkwise):
    data = tmp_path / "large.csv"
    data.write_text("a,b\n1e200,2\n3,4\n5,6\n")
    assert "Squared distances" in told(linkwise("ask", data, "--scale", "none"), 3)


def test_a_folder_that_cannot_be_written_is_2(fruit, linkwise):
    message = told(linkwise("ask", fruit.path, "--session", fruit.path.parent / "nowhere" / "s.linkwise"), 2)
    assert "--session" in message

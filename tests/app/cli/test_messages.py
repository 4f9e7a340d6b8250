"""What strangers typed: each is answered in words that say what to do instead."""

import pytest

import linkwise as lw
from linkwise.session.session import Session
from patience import patience
from running_command import start_command

from .test_exit_codes import told


@pytest.mark.parametrize("name", ["", ".", "folder"])
@pytest.mark.parametrize("command", ["ask", "cluster", "status", "undo", "export"])
def test_a_folder_is_no_file(tmp_path, linkwise, monkeypatch, command, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    message = told(linkwise(command, name), 3)
    assert "is a folder" in message
    assert "Path(" not in message


def test_a_mistyped_file_is_answered_with_the_nearest_name(fruit, linkwise):
    (fruit.path.parent / "frut.linkwise").touch()  # no data
    message = told(linkwise("ask", fruit.path.with_name("frut.csv")), 3)
    assert f"There is no file {fruit.path.with_name('frut.csv')}. Did you mean {fruit.path}?" in message
    assert "Did you mean" not in told(linkwise("ask", fruit.path.with_name("other.parquet")), 3)
    assert "Did you mean" not in told(linkwise("ask", fruit.path.parent / "none" / "fruit.csv"), 3)


def test_a_data_file_is_no_session(fruit, linkwise):
    before = fruit.path.read_bytes()
    message = told(linkwise("ask", fruit.path, "--session", fruit.path), 2)
    assert "is a data file, not a session" in message
    assert str(fruit.session) in message
    assert fruit.path.read_bytes() == before
    told(linkwise("ask", fruit.path, "--session", fruit.path.with_name("new.csv")), 2)
    assert not fruit.path.with_name("new.csv").exists()


def test_a_data_file_stands_for_the_session_beside_it(fruit, tmp_path, linkwise):
    new = tmp_path / "new.linkwise"
    message = told(linkwise("ask", fruit.path, "--session", new, "--from", fruit.path), 3)
    assert "a data file without a session beside it" in message
    linkwise("ask", fruit.path, said="n\ny\nq\n")
    done = linkwise("ask", fruit.path, "--session", new, "--from", fruit.path, said="q\n")
    assert "2 answers taken over from fruit.csv.linkwise" in done.stdout
    assert "the session itself" in told(linkwise("ask", fruit.path, "--from", fruit.path), 2)


@pytest.mark.parametrize("name", ["one.csv", "one.jsonl"])
def test_one_row_cannot_be_compared(tmp_path, linkwise, name):
    data = tmp_path / name
    data.write_text('{"a": 1, "b": 2}\n' if name.endswith("jsonl") else "a,b\n1,2\n")
    assert "The table has 1 row, but at least 2 are needed to compare." in told(linkwise("ask", data), 3)


@pytest.mark.parametrize("command", ["ask", "cluster", "demo"])
def test_a_seed_that_is_too_large(fruit, linkwise, command):
    done = linkwise(command, "digits" if command == "demo" else fruit.path, "--seed", 2**32)
    assert done.exit_code == 2
    assert (
        "Invalid value for '--seed': '4294967296' is not a whole number from 0 to 4294967295." in done.stderr
    )
    assert linkwise("ask", fruit.path, "--seed", 2**32 - 1, said="q\n").exit_code == 0


def test_a_wrong_choice_is_reported_without_jargon(linkwise):
    done = linkwise("ask", "x.csv", "--scale", "huge")
    assert "Invalid value for '--scale': 'huge' is not one of" in done.stderr
    assert "Value error" not in done.stderr


def test_a_single_line_is_called_a_line(fruit, tmp_path, linkwise):
    pairs = tmp_path / "p.csv"
    pairs.write_text("id_a,id_b,kind\nf0,f0,cannot-link\n")
    assert "Line 2 of" in told(linkwise("ask", fruit.path, "--constraints", pairs), 4)


@pytest.mark.parametrize("option", ["--columns", "--drop"])
@pytest.mark.parametrize("names", ["", " ", "weight,", ","])
def test_columns_without_a_name(fruit, linkwise, option, names):
    for command in ("ask", "cluster"):
        assert f"{option} has an empty name: {names!r}." in told(
            linkwise(command, fruit.path, option, names), 2
        )
    assert not fruit.session.exists()


@pytest.mark.slow
def test_what_is_typed_need_not_be_utf8(fruit):
    with start_command("ask", fruit.path) as program:
        _, err = program.communicate("\udcff\nq\n", patience())  # the byte 255
    assert program.returncode in (0, 3)
    assert "Traceback" not in err


# ---------------------------------------------------------------- two at once
def test_two_that_begin_the_same_session_at_once(fruit, linkwise, monkeypatch):
    """One is a little later: it goes on with what the other has begun."""
    from linkwise.data import encode, read_table

    save = Session.save

    def later(self, path):
        monkeypatch.setattr(Session, "save", save)
        table = read_table(fruit.path)
        with Session.open(path, encode(table).X, lw.COBRAS(random_state=0), ids=table.ids) as first:
            first.answer("no")
        save(self, path)

    monkeypatch.setattr(Session, "save", later)
    done = linkwise("ask", fruit.path, said="y\nq\n")
    assert done.exit_code == 0, done.stderr
    assert "resumed: 1 answer" in done.stdout
    with Session.open(fruit.session) as session:
        assert [e.answer for e in session.history] == ["no", "yes"]


@pytest.mark.slow
def test_two_processes_that_begin_the_same_session(fruit):
    both = [start_command("ask", fruit.path) for _ in range(2)]
    for program in both:
        program.stdin.write("s\nq\n")
        program.stdin.flush()
    ended = [program.communicate(timeout=patience()) for program in both]
    assert [program.returncode for program in both] == [0, 0], ended
    with Session.open(fruit.session) as session:
        assert {e.answer for e in session.history} == {"unsure"}

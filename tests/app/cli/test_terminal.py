"""Single keys on a real pseudo-terminal."""

import os
import pty
import re
import signal
import termios
from contextlib import suppress

import pytest

from app.page.test_column_tasks import write_contacts
from linkwise.app.terminal.keys import KeyReader
from linkwise.session.session import Session
from pseudo_terminal import PROMPT, on_terminal


def answers_in(path):
    with Session.open(path) as session:
        return [event.answer for event in session.history]


@pytest.mark.slow
def test_single_keys_answer_undo_and_quit(fruit):
    with on_terminal("ask", fruit.path, is_cold=True) as screen:
        screen.start()
        screen.wait_for(PROMPT)
        screen.press("y")
        screen.wait_for("Same  saved")
        screen.wait_for(PROMPT)
        screen.press("N")
        screen.wait_for("Different  saved")
        screen.wait_for(PROMPT)
        screen.press("u")
        screen.wait_for("undo  taken back: Different for f")
        screen.wait_for(PROMPT)
        screen.press("s")
        screen.wait_for("Not sure  saved")
        screen.wait_for(PROMPT)
        screen.press("q")
        screen.wait_for("Stopped.")
        assert screen.ended() == 0
    assert answers_in(fruit.session) == ["yes", "unsure"]


@pytest.mark.slow
def test_no_other_key_answers(fruit):
    with on_terminal("ask", fruit.path) as screen:
        screen.start()
        screen.wait_for(PROMPT)
        for key in ("x", "é", "\x1b[A", "\x1bOP", "7"):
            screen.press(key)
            told = screen.wait_for("is not an answer")
            assert told.count("Not saved") == 1
            screen.wait_for("> ")
        screen.press("q")
        assert screen.ended() == 0
    assert answers_in(fruit.session) == []


def test_a_key_asks_what_to_do_with_which_suspect(fruit):
    with on_terminal("ask", fruit.path, "--error-rate", "estimate") as screen:
        screen.start()
        screen.wait_for(PROMPT)
        screen.press("w")
        screen.wait_for("suspects ")
        screen.press("back 7\n")
        screen.wait_for("Not saved. 7 is not the number of a suspect.")
        screen.wait_for(PROMPT)
        screen.press("w")
        screen.wait_for("suspects ")
        screen.press("\n")
        screen.wait_for("There are no answers yet.")
        screen.wait_for("> ")
        screen.press("q")
        assert screen.ended() == 0
    assert answers_in(fruit.session) == []


def test_a_key_takes_a_note_and_the_seconds_are_measured(fruit):
    with on_terminal("ask", fruit.path) as screen:
        screen.start()
        screen.wait_for(PROMPT)
        screen.press("a")
        screen.wait_for("note ")
        screen.press("the same y n é\n")
        screen.wait_for("It is saved with your answer: the same y n é")
        screen.wait_for("> ")
        screen.press("y")
        screen.wait_for("Same  saved")
        screen.wait_for(PROMPT)
        screen.press("u")
        screen.wait_for("note: the same y n é")
        screen.wait_for(PROMPT)
        screen.press("q")
        assert screen.ended() == 0
    with Session.open(fruit.session) as session:
        (answer, _) = session.events
        assert (answer.note, answer.seconds > 0) == ("the same y n é", True)


@pytest.mark.slow
def test_help_says_why(fruit):
    with on_terminal("ask", fruit.path) as screen:
        screen.start()
        screen.wait_for(PROMPT)
        screen.press("?")
        screen.wait_for("Why this question: ")
        screen.wait_for("> ")
        screen.press("n")
        screen.wait_for("Different  saved")
        screen.press("q")
        assert screen.ended() == 0
    assert answers_in(fruit.session) == ["no"]


@pytest.mark.slow
def test_control_d_is_a_clean_end(fruit):
    with on_terminal("ask", fruit.path) as screen:
        screen.start()
        screen.wait_for(PROMPT)
        screen.press("y")
        screen.wait_for(PROMPT)
        screen.press("\x04")
        screen.wait_for("Stopped.")
        assert screen.ended() == 0
    assert answers_in(fruit.session) == ["yes"]


@pytest.mark.slow
@pytest.mark.parametrize("is_cold", [False, pytest.param(True, marks=pytest.mark.slow(nightly=True))])
def test_control_c_says_what_is_saved_and_where(fruit, is_cold):
    with on_terminal("ask", fruit.path, is_cold=is_cold) as screen:
        screen.start()
        screen.wait_for(PROMPT)
        screen.press("y")
        screen.wait_for(PROMPT)
        screen.press("\x03")
        assert screen.ended() == 130
        told = screen.plain().replace("\r\n", "")
    assert f"Interrupted: 1 answer saved in {fruit.session}. Go on with: linkwise ask {fruit.path}" in told
    assert "Traceback" not in told
    assert answers_in(fruit.session) == ["yes"]
    assert not fruit.session.with_name(fruit.session.name + "-wal").exists()


@pytest.mark.slow
def test_colour_and_none(fruit):
    for environment, coloured in ({}, True), ({"NO_COLOR": "1"}, False):
        with on_terminal("ask", fruit.path, **environment) as screen:
            screen.start()
            screen.wait_for(PROMPT)
            screen.press("q")
            assert screen.ended() == 0
            assert ("\x1b[1;33m≠" in screen.text) is coloured
            assert "≠" in screen.text


@pytest.mark.slow
def test_narrow_terminals_are_kept_within(fruit):
    with on_terminal("ask", fruit.path, columns=44) as screen:
        screen.start()
        screen.wait_for("> ")
        screen.press("n")
        screen.wait_for("Different  saved")
        screen.wait_for("> ")
        shown = re.split(r"[\r\n]+", screen.plain())  # a spinner goes back to the start of its line
        shown = [line for line in shown if str(fruit.path) not in line]  # a path is never cut
        screen.press("q")
        assert screen.ended() == 0
    assert [line for line in shown if len(line) > 44] == []


@pytest.mark.slow
def test_two_windows_on_one_session(fruit):
    with on_terminal("ask", fruit.path) as one:
        one.start()
        one.wait_for(PROMPT)
        with on_terminal("ask", fruit.path) as other:
            other.start()
            other.wait_for(PROMPT)
            other.press("n")
            other.wait_for("Different  saved")
            shown = other.wait_for(PROMPT)
            other.press("q")
            assert other.ended() == 0
        one.press("y")
        one.wait_for("Not saved. The question has changed, perhaps in another window")
        assert _pair(one.wait_for(PROMPT)) == _pair(shown)
        one.press("y")
        one.wait_for("Same  saved")
        one.press("q")
        assert one.ended() == 0
    assert answers_in(fruit.session) == ["no", "yes"]


def _pair(shown):
    return re.search(r"1: (f\d+) +2: (f\d+)", shown).groups()


# ---------------------------------------------------------------- the keys alone
@pytest.fixture
def terminal():
    master, slave = pty.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


def test_answers_given_before_the_question_are_dropped(terminal):
    master, slave = terminal
    with KeyReader(slave) as keys:
        os.write(master, b"yySu")
        keys.forget()
        os.write(master, b"n\x04")
        assert [keys.read() for _ in range(3)] == ["u", "n", None]


def test_enter_after_a_key_is_no_key(terminal):
    """Whether it comes before the next question is shown or after it."""
    master, slave = terminal
    with KeyReader(slave) as keys:
        os.write(master, b"\n\r ")
        keys.forget()
        os.write(master, b"y\n \tn\r\x04")
        assert [keys.read() for _ in range(3)] == ["y", "n", None]


def test_keys_come_one_by_one_again_after_a_stop(terminal):
    master, slave = terminal
    with KeyReader(slave) as keys:
        other = termios.tcgetattr(slave)
        other[3] |= termios.ICANON | termios.ECHO  # as a shell leaves the terminal
        termios.tcsetattr(slave, termios.TCSANOW, other)
        os.kill(os.getpid(), signal.SIGCONT)
        os.write(master, b"y")
        assert keys.read() == "y"


def test_the_terminal_is_given_back_as_it_was(terminal):
    _, slave = terminal
    before = termios.tcgetattr(slave)
    with suppress(KeyboardInterrupt), KeyReader(slave):
        assert termios.tcgetattr(slave)[3] & termios.ICANON == 0
        raise KeyboardInterrupt
    assert termios.tcgetattr(slave) == before


def test_a_person_uses_columns_otherwise_before_the_first_question(tmp_path):
    data = tmp_path / "people.csv"
    lines = [f"C{n:02},{20 + n * 7 % 40},{(1 + n % 9) ** 5},{'ab'[n % 2]}" for n in range(40)]
    data.write_text("\n".join(["customer,age,income,class", *lines]) + "\n")
    with on_terminal("ask", data, columns=150) as screen:
        shown = screen.wait_for("number of a column] ")
        assert re.search(r"1 +customer +text +id +C00 +each row has its own value", shown)
        assert re.search(r"4 +class +category +show +a +its name suggests known groups", shown)
        screen.press("9\n")
        screen.wait_for("a number from 1 to 4")
        screen.press("4\n")
        screen.wait_for("class: c compare, s show, i id, x ignore, g category, t text? ")
        screen.press("c\n")
        assert re.search(r"4 +class +category +compare", screen.wait_for("number of a column] "))
        screen.press("2\n")
        screen.wait_for("age: ")
        screen.press("x\n")
        assert re.search(r"2 +age +number +ignore", screen.wait_for("number of a column] "))
        screen.press("1\n")
        screen.wait_for("customer: ")
        screen.press("?\n")
        screen.wait_for("Nothing has changed.")
        screen.press("\n")
        screen.wait_for(PROMPT)
        screen.press("q")
        assert screen.ended() == 0
    with Session.open(tmp_path / "people.csv.linkwise") as session:
        choices = session.source["choices"]
    assert (choices["id_column"], choices["drop"]) == ("customer", ["age"])
    assert choices["columns"] == ["income", "class"]


def test_whoever_stops_before_the_first_question_loses_nothing(fruit):
    with on_terminal("ask", fruit.path) as screen:
        screen.wait_for("number of a column] ")
        screen.press("q\n")
        assert screen.ended() == 130
        assert "Interrupted: 0 answers saved" in screen.plain()


def test_a_task_is_chosen_before_the_first_question(tmp_path):
    data = tmp_path / "contacts.csv"
    write_contacts(data)
    with on_terminal("ask", data, "--as-is", "--id", "id", columns=150) as screen:
        screen.wait_for(
            "Start? [Y/n, d find duplicates, t group texts, r group records, or number of a column] "
        )
        screen.press("d\n")
        shown = screen.wait_for("number of a column] ")
        assert re.search(r"name +text +compare", shown)
        assert re.search(r"region +category +show", shown)
        assert "Questions are chosen by RecordLinkage" in shown
        screen.press("r\n")
        shown = screen.wait_for("number of a column] ")
        assert re.search(r"region +category +compare", shown)
        assert "Questions are chosen by KIN" in shown
        screen.press("d\n")
        screen.start()
        screen.wait_for(PROMPT)
        screen.press("q")
        assert screen.ended() == 0
    with Session.open(tmp_path / "contacts.csv.linkwise") as session:
        assert session.learner["name"] == "RecordLinkage"
        assert session.source["choices"]["text_by"] == "letters"

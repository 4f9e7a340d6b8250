"""Answers that may be wrong: ``--error-rate``, ``status``, and the command ``suspects`` of the dialogue."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from rich.console import Console

import linkwise as lw
from linkwise.app.terminal.console import Terminal, event_in_words, name_rows, suspect_in_words
from linkwise.app.terminal.dialogue import run_dialogue
from linkwise.app.terminal.keys import LineReader, SuspectCommand, parse_suspect_command
from linkwise.app.terminal.protocol import JsonLines
from linkwise.constraints.facts import Fact
from linkwise.learn.learner import Question
from linkwise.session.session import Session
from linkwise.session.state.suspects import SuspectAnswer
from session.session_examples import OF_ANOTHER_PILE, misplace

FAR = np.random.default_rng(3).normal(size=(40, 2)) * 0.4 + np.repeat([[0, 0], [9, 0], [0, 9], [9, 9]], 10, 0)


class Lines:
    """Commands, one after the other."""

    is_timed = False

    def __init__(self, *lines):
        self.lines = [*lines]

    def forget(self):
        pass

    def read(self):
        return self.lines.pop(0) if self.lines else None


@pytest.fixture
def session():
    """Three answers of which one must be wrong, as far as the rows tell the last one."""
    session = Session(FAR, lw.KIN(random_state=0), error_rate=0.1)
    session.add(0, 1, "must-link")
    session.add(1, 2, "must-link")
    session.add(0, 2, "cannot-link")
    return session


def show(session, *lines):
    """What the terminal shows after some commands."""
    console = Console(width=200, record=True, file=open("/dev/null", "w"), force_terminal=False)  # noqa: SIM115
    terminal = Terminal(console, lambda *_: "the pair", lambda row: f"row {row}")
    run_dialogue(session, terminal, Lines(*lines))
    console.file.close()
    return console.export_text()


def stream(session, capsys, *lines):
    """The objects of the JSON stream after some commands, except the questions."""
    run_dialogue(session, JsonLines(lambda row: {"at": row}, str, "s.linkwise"), Lines(*lines))
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [one for one in found if one["type"] != "question"]


# ---------------------------------------------------------------- the command
@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("suspects", SuspectCommand("list")),
        ("w", SuspectCommand("list")),
        (" W ", SuspectCommand("list")),
        ("suspects back 3", SuspectCommand("back", 3)),
        ("w turn 12", SuspectCommand("turn", 12)),
        ("Suspects Sure 1", SuspectCommand("sure", 1)),
        ("suspects back", "back"),
        ("suspects list", "list"),
        ("suspects back x", "back x"),
        ("suspects back 1 2", "back 1 2"),
        ("suspects back 1234567890", "back 1234567890"),
        ("suspect", None),
        ("why", None),
        ("", None),
    ],
)
def test_the_line_is_parsed(text, command):
    assert parse_suspect_command(text) == command


def test_the_terminal_lists_suspects_with_their_reasons(session):
    shown = show(session, "suspects")
    assert "linkwise assumes that 10 % of the answers are wrong." in shown
    assert "1 answer is probably wrong." in shown
    assert "   3  Different for row 0 and row 2 is " in shown
    assert "because of other answers: Same for row 0 and row 1; Same for row 1 and row 2" in shown
    assert "suspects turn N turns it round" in shown
    assert "w suspects" in shown


def test_a_suspect_is_taken_back(session):
    assert "taken back: Different for row 0 and row 2" in show(session, "suspects back 3", "q")
    assert [event.number for event in session.history] == [1, 2]


def test_a_suspect_is_turned_round(session):
    assert "turn  turned round: Same for row 0 and row 2" in show(session, "w turn 3", "q")
    assert session.history[-1].answer == "yes"
    assert session.suspects == []


def test_a_suspect_is_confirmed(session):
    assert "sure  certain from now on: Different for row 0 and row 2" in show(session, "w sure 3", "q")
    assert session.history[-1].is_sure
    shown = show(session, "undo", "q")
    assert "taken back: the confirmation of answer 3" in shown
    assert not session.history[-1].is_sure


def test_a_misplaced_card_is_listed_with_both_piles_and_moved():
    session = misplace(OF_ANOTHER_PILE)
    shown = " ".join(show(session, "suspects").split())
    assert (
        "2 The pile of row 16 is likely wrong, judging by the similarity of the rows. "
        "It is in a pile with row 0, row 6, row 7, and probably belongs with row 10, row 17, row 18."
    ) in shown
    assert "turn turned round: Same for row 16 and row 10" in " ".join(show(session, "w turn 2", "q").split())
    assert session.history[1].sorting.piles == ((0, 6, 7), (16, 10, 17, 18))
    assert session.suspects == []


def test_a_card_that_lies_right_is_confirmed():
    session = misplace(OF_ANOTHER_PILE)
    shown = " ".join(show(session, "w sure 2", "q").split())
    assert "sure certain from now on: Same for row 16 and row 0" in shown
    assert session.history[-1].is_sure
    assert session.suspects == []


def test_a_misplaced_card_in_words():
    grade, why = "likely wrong", (Fact(4, 5, "no"),)
    alone = SuspectAnswer(2, 7, 4, "no", grade, why, card=7, pile=(), better_pile=(4, 5, 6, 8))
    assert suspect_in_words(alone, str) == (
        "The pile of 7 is likely wrong, because of other answers: Different for 4 and 5. "
        "It is in a pile of its own, and probably belongs with 4, 5, 6 and 1 more."
    )
    own = SuspectAnswer(2, 7, 4, "yes", grade, card=7, pile=(4,), better_pile=())
    assert suspect_in_words(own, str).endswith(
        "It is in a pile with 4, and probably belongs in a pile of its own."
    )


def test_the_stream_names_the_card(capsys):
    session = misplace(OF_ANOTHER_PILE)
    listed, state, *_ = stream(session, capsys, "suspects", "suspects turn 2", "q")
    (suspect,) = listed["suspects"]
    assert (suspect["card"], suspect["pile"], suspect["better_pile"]) == (
        "16",
        ["0", "6", "7"],
        ["10", "17", "18"],
    )
    assert (state["done"], state["suspect"]["card"]) == ("turn", "16")


def test_a_confirmation_against_what_is_certain_is_rejected(session):
    session.set_sure(1)
    session.set_sure(2)
    n_events = len(session.events)
    shown = " ".join(show(session, "w sure 3", "q").split())
    assert "Not saved. This contradicts other answers that are certain: 0 = 1 = 2" in shown
    assert "Undo or change one of the others first, or keep this answer unconfirmed." in shown
    assert len(session.events) == n_events


@pytest.mark.parametrize("line", ["suspects back 1", "suspects sure 99"])
def test_only_suspects_can_be_named(session, line):
    n_events = len(session.events)
    assert "is not the number of a suspect. Type suspects to list them." in show(session, line, "q")
    assert len(session.events) == n_events


def test_unknown_words_are_rejected(session):
    assert "'drop 3' is unknown. Type suspects, or suspects with back" in show(
        session, "suspects drop 3", "q"
    )


def test_an_ordinary_session_has_no_such_command(session):
    plain = Session(FAR, lw.KIN(random_state=0))
    shown = show(plain, "suspects", "?", "q")
    assert "'suspects' is not an answer." in shown
    assert "Suspects" not in shown


def test_help_names_the_key(session):
    assert "Suspects: the answers that are probably wrong" in show(session, "?", "q")


def test_without_suspects_the_terminal_says_so():
    session = Session(FAR, lw.KIN(random_state=0), error_rate=None)
    shown = show(session, "suspects", "q")
    assert "There are no answers yet." in shown
    session.add(0, 1, "must-link")
    shown = show(session, "suspects", "q")
    assert "No answer seems wrong so far." in shown
    assert "your answers" not in shown.partition("No answer")[0].rpartition(">")[2]
    assert "w suspects" not in shown


def test_a_question_that_checks_says_so():
    classes = np.repeat(np.arange(4), 10)
    session = Session(FAR, lw.KIN(random_state=0), error_rate=0.3)
    while (q := session.question) is not None and not q.why.startswith("Please check"):
        session.answer(bool(classes[q.first] == classes[q.second]))
    assert q is not None
    reason = f"Please check: row {q.first} is close to a row that is still hard to place."
    assert show(session, "?", "q").count(reason) == 2  # above the question and in the help


def test_a_suspect_without_a_chain_is_put_into_words():
    suspect = SuspectAnswer(3, 0, 2, "yes", "likely wrong")
    words = "Same for a and c is likely wrong, judging by the similarity of the rows."
    assert suspect_in_words(suspect, "abc".__getitem__) == words


def test_a_chain_is_put_into_words_without_control_characters():
    because = (Fact(0, 1, "yes"), Fact(1, 2, "no"))
    suspect = SuspectAnswer(3, 0, 2, "yes", "very likely wrong", because)
    words = suspect_in_words(suspect, ["a", "\x1b[2J", "c"].__getitem__)
    against = "Same for a and ·[2J; Different for ·[2J and c"
    assert words == f"Same for a and c is very likely wrong, because of other answers: {against}"


# ---------------------------------------------------------------- JSON
def test_the_stream_lists_suspects(session, capsys):
    (listed, summary) = stream(session, capsys, "suspects", "q")
    rate = {"estimate": 0.1, "low": 0.1, "high": 0.1}
    (suspect,) = listed["suspects"]
    assert (listed["type"], listed["error_rate"]) == ("suspects", rate)
    assert suspect.pop("grade") in ("likely wrong", "very likely wrong")
    assert suspect == {
        "event": 3,
        "ids": ["0", "2"],
        "answer": "no",
        "because": [["0", "1", "yes"], ["1", "2", "yes"]],
    }
    assert (summary["error_rate"], summary["suspects"]) == (rate, 1)


@pytest.mark.parametrize("action", ["turn", "sure"])
def test_the_stream_confirms_what_becomes_of_a_suspect(session, capsys, action):
    done, _ = stream(session, capsys, f"suspects {action} 3", "q")
    assert (done["type"], done["done"], done["suspect"]["event"]) == ("state", action, 3)


def test_the_stream_confirms_an_undo(session, capsys):
    session.set_sure(3)
    done, _ = stream(session, capsys, "u", "q")
    assert done["undone"].items() >= {"event": 4, "kind": "sure", "answer": "no"}.items()
    done, *_ = stream(session, capsys, "suspects back 3", "q")
    assert (done["done"], done["undone"]["event"]) == ("undo", 3)


def test_the_stream_of_an_ordinary_session_is_as_ever(capsys):
    (summary,) = stream(Session(FAR, lw.KIN(random_state=0)), capsys, "q")
    assert not {"error_rate", "suspects"} & summary.keys()


# ---------------------------------------------------------------- the option
def test_the_option_begins_a_session_whose_answers_may_be_wrong(fruit, linkwise):
    done = linkwise("ask", fruit.path, "--error-rate", "estimate", said="y\nn\nsuspects\nq\n")
    assert done.exit_code == 0
    assert "No answer seems wrong so far." in done.stdout
    shown = linkwise("status", fruit.path).stdout
    assert "errors" in shown
    assert "No answer seems wrong so far." in shown
    told = json.loads(linkwise("status", fruit.path, "--json").stdout)
    assert told["suspects"] == 0
    assert told["error_rate"]["low"] < told["error_rate"]["estimate"]


def test_the_option_is_kept_and_can_be_changed(fruit, linkwise):
    linkwise("ask", fruit.path, "--budget", 0, "--error-rate", 0)
    assert "errors" not in linkwise("status", fruit.path).stdout
    done = linkwise("ask", fruit.path, "--budget", 0, "--error-rate", "0.1")
    assert "from now on answers may be wrong, and linkwise checks the doubtful ones" in done.stdout
    done = linkwise("ask", fruit.path, "--budget", 0)
    assert "from now on" not in done.stdout
    assert "linkwise assumes that 10 %" in " ".join(linkwise("status", fruit.path).stdout.split())
    done = linkwise("ask", fruit.path, "--budget", 0, "--error-rate", "0")
    assert "from now on linkwise treats every answer as correct" in done.stdout


@pytest.mark.parametrize("rate", ["0.5", "-1", "nan", "much", "None"])
def test_a_rate_out_of_range_is_a_mistake_of_usage(fruit, linkwise, rate):
    done = linkwise("ask", fruit.path, f"--error-rate={rate}")
    assert done.exit_code == 2
    assert f"Invalid value '{rate}' for --error-rate. Set 0 to 0.5 (exclusive), or estimate." in done.stderr
    assert not fruit.session.exists()


def test_answers_that_contradict_each_other_cannot_all_be_right(fruit, linkwise):
    linkwise("ask", fruit.path, "--budget", 0, "--error-rate", "estimate")
    with Session.open(fruit.session) as session:
        session.add(0, 3, "must-link")
        session.add(0, 3, "cannot-link")
    done = linkwise("ask", fruit.path, "--error-rate", "0")
    assert done.exit_code == 4  # a contradiction
    assert "Undo or change the suspects first." in done.stderr


def test_a_new_session_estimates_and_a_file_without_a_rate_does_not(fruit, linkwise):
    linkwise("ask", fruit.path, "--budget", 0)
    assert "errors" not in linkwise("status", fruit.path).stdout
    linkwise("ask", fruit.path, said="y\n")
    assert "errors    No answer seems wrong so far." in linkwise("status", fruit.path).stdout
    with closing(sqlite3.connect(fruit.session, isolation_level=None)) as file:
        assert file.execute("SELECT value FROM meta WHERE key = 'error_rate'").fetchall() == [("null",)]
        file.execute("DELETE FROM meta WHERE key = 'error_rate'")  # as Python begins a session
    linkwise("ask", fruit.path, "--budget", 0)
    assert "errors" not in linkwise("status", fruit.path).stdout


def test_answers_that_contradict_each_other_are_stored_and_never_talked_over(fruit, linkwise):
    """A dialogue with arbitrary answers has no word of a contradiction."""
    done = linkwise("ask", fruit.path, "--json", said="y\n" * 4 + "n\ny\n" * 6)
    assert done.exit_code == 0
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert "refused" not in {one["type"] for one in found}
    assert found[-1]["answers"] > 5
    assert found[-1]["suspects"] >= 0


def test_both_rows_of_a_reason_are_named():
    why = "Row B is in the cluster that is nearest to row A."
    named = name_rows(Question(2, 5, np.zeros(6, dtype=np.int32), why), "row {}".format)
    assert named == "Row 5 is in the cluster that is nearest to row 2."


def test_a_demo_takes_the_option(linkwise, tmp_path):
    path = tmp_path / "demo.linkwise"
    options = ("demo", "wine", "--auto", "--session", path, "--error-rate")
    assert linkwise(*options, "estimate", "--budget", 3).exit_code == 0
    with Session.open(path) as session:
        assert session.status.is_fallible
    assert linkwise(*options, "0", "--budget", 3).exit_code == 0
    with Session.open(path) as session:
        assert not session.status.is_fallible
    assert linkwise("demo", "wine", "--auto", "--budget", 2, "--error-rate", "0.1").exit_code == 0
    new = tmp_path / "new.linkwise"
    assert linkwise("demo", "wine", "--auto", "--session", new, "--budget", 1).exit_code == 0
    with Session.open(new) as session:
        assert session.status.is_fallible


def test_a_confirmation_is_put_into_words(session):
    session.set_sure(3)
    assert event_in_words(session.events[-1], str) == "the confirmation of answer 3"


def test_lines_from_a_stream_are_commands(session, tmp_path):
    (tmp_path / "lines").write_text("suspects back 3\nq\n")
    with open(tmp_path / "lines") as lines:
        console = Console(file=open("/dev/null", "w"))  # noqa: SIM115
        run_dialogue(session, Terminal(console, lambda *_: "", str), LineReader(lines))
        console.file.close()
    assert len(session.history) == 2

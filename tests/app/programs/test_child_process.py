"""Programs in processes of their own: slow, silent, talkative and mortal ones."""

import io
import json
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from datetime import UTC, datetime

import numpy as np
import pytest

import linkwise as lw
from linkwise.app.programs import answer, child_process
from linkwise.app.programs.answer import Conversation, Limits
from linkwise.app.programs.child_process import MAX_LINE, ChildProcess, parse_reply, read_lines
from linkwise.app.programs.interrupts import ENDING, defer_interrupt, interrupt_at_end
from linkwise.app.programs.replies import UnusableReplyError
from linkwise.errors import ProgramError
from linkwise.session.team.leases import OpenQuestion
from living import Living
from patience import patience

TOO_SHORT = 0.05  # s: a time limit that is meant to be reached
X = np.repeat([[0.0], [5.0], [9.0]], 4, axis=0) + np.arange(12)[:, None] / 100
BEGINNING = """
import itertools, json, os, sys, time
lives = sys.argv[1]  # a file with a letter for each start
with open(lives, "a") as file:
    file.write("x")
life = os.path.getsize(lives)
def reply(question, **more):
    first, second = question["rows"]
    fields = {"id": question["id"], "answer": "yes" if first // 4 == second // 4 else "no", **more}
    print(json.dumps(fields), flush=True)
questions = (json.loads(line) for line in sys.stdin)
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Repetitions and new starts come at once."""
    monkeypatch.setattr(answer, "FIRST_DELAY_S", 0.001)
    monkeypatch.setattr(child_process, "FIRST_DELAY_S", 0.001)
    monkeypatch.setattr(child_process, "GRACE_S", 0.1)


@pytest.fixture
def living(tmp_path):
    with Living(tmp_path / "living") as living:
        yield living


class Program:
    """A program with its log, and how often it was started."""

    def __init__(self, folder, body):
        (folder / "judge.py").write_text(BEGINNING + textwrap.dedent(body), encoding="utf-8")
        self.lives, self.log = folder / "lives", []
        self.command = [sys.executable, "-IS", str(folder / "judge.py"), str(self.lives)]
        self.session = lw.Session(X, lw.COBRAS(n_init=1, random_state=0), error_rate=None)

    @property
    def n_starts(self):
        return len(self.lives.read_text())

    @contextmanager
    def child(self, restarts=3):
        child = ChildProcess(
            self.command, lambda q: {"rows": [q.first, q.second]}, restarts=restarts, log=self.log.append
        )
        try:
            yield child
        finally:
            child.close()

    def converse(self, restarts=3, **limits):
        with self.child(restarts) as child:
            limits = Limits(**({"budget": 4, "timeout": 20.0} | limits))
            return Conversation(self.session, child, limits, "judge", log=self.log.append).run()

    def check_answers(self, n):
        """All answers are stored, once each, and are right."""
        answered = [(e.first, e.second) for e in self.session.history]
        assert len(answered) == len({*answered}) == n
        assert all((e.first // 4 == e.second // 4) == (e.answer == "yes") for e in self.session.history)


@pytest.fixture
def program(tmp_path):
    return lambda body: Program(tmp_path, body)


def test_replies_in_any_order(program):
    judge = program("""
        two = [next(questions), next(questions)]
        for question in itertools.chain(reversed(two), questions):
            reply(question, cost=0.5, reason="so it is")
    """)
    done = judge.converse(parallel=2)
    assert (done.n_answers, done.n_failed, done.cost, done.reason) == (4, 0, 2.0, "budget")
    judge.check_answers(4)
    assert judge.n_starts == 1
    assert judge.log[0].startswith("started: ")
    assert sum(" after " in line and line.endswith("(so it is)") for line in judge.log) == 4


def test_a_program_that_dies_is_started_again_and_gets_the_open_questions(program):
    judge = program("""
        reply(next(questions))
        if life < 3:
            next(questions)
            os._exit(3)
        for question in questions:
            reply(question)
    """)
    done = judge.converse(parallel=2, budget=5)
    assert (done.n_answers, done.n_failed) == (5, 0)
    judge.check_answers(5)
    assert 1 < judge.n_starts <= 3
    assert any("the program ended with exit code 3; it is started again in " in line for line in judge.log)


def test_a_program_that_only_dies_is_not_started_for_ever(program):
    judge = program("os.kill(os.getpid(), 9)")
    with pytest.raises(
        ProgramError, match=r"was ended by signal 9 3 times without a reply .* Try it by hand"
    ):
        judge.converse(restarts=2)
    assert judge.n_starts == 3
    assert judge.session.events == []


def test_a_program_may_end_after_each_reply(program):
    judge = program("reply(next(questions))")
    assert judge.converse(restarts=0).n_answers == 4
    judge.check_answers(4)


def test_lines_that_are_no_replies_count_as_failures(program):
    judge = program("""
        for n, question in enumerate(questions):
            if n % 2:
                reply(question)
            else:
                print("thinking " * 20, flush=True)
    """)
    done = judge.converse()
    assert (done.n_answers, done.n_failed) == (4, 0)
    judge.check_answers(4)
    expected = "The program wrote a line that is no reply: 'thinking thinking thinking"
    assert any(line.startswith(expected) and line.endswith("... (str).") for line in judge.log)
    assert (
        program("for question in questions: print(question, flush=True)").converse(retries=0).reason
        == "failed"
    )


def test_a_silent_program_is_ended_and_started_again(program):
    judge = program("""
        for question in questions:
            if life == 1:
                time.sleep(60)
            reply(question)
    """)
    done = judge.converse(restarts=100, timeout=4 * TOO_SHORT, retries=100, parallel=2)
    assert (done.n_answers, done.n_failed) == (4, 0)
    assert judge.n_starts > 1
    judge.check_answers(4)
    assert any(line.startswith("the program is silent and is ended") for line in judge.log)


def test_a_late_reply_counts_for_the_repetition(program):
    judge = program("for question in questions: reply(question)")
    until = datetime.now(UTC)
    question = OpenQuestion("0:1-2", 1, 2, "", "", until)
    other = OpenQuestion("0:1-3", 1, 3, "", "", until)
    with judge.child() as child:
        assert child.send(other).result(20).answer == "yes"
        sent = child._open.setdefault("0:1-2", child_process._Sent(b"", answer.Future(), -1.0))
        child.give_up(question)
        assert sent.future.cancelled()
        child._take(b'{"id": "0:1-2", "answer": "no"}\n')
        child._take(b'{"id": "0:1-2", "answer": "yes"}\n')
        assert judge.log[-1] == "a reply to a question that is not open is ignored: '0:1-2'"
        assert child.send(question).result(0).answer == "no"
        child.give_up(question)  # its reply is there


def test_a_program_that_crashes_while_its_child_holds_the_output_is_started_again(program, living):
    judge = program(f"""
        if life < 3:
            next(questions)
            {living.start_child()}
            os._exit(3)
        for question in questions:
            reply(question)
    """)
    done = judge.converse(timeout=None)
    assert (done.n_answers, done.n_failed) == (4, 0)
    assert judge.n_starts == 3
    assert living.count_until_none() == 2


def test_a_child_that_has_left_the_group_does_not_hold_up_a_new_start(program, living, monkeypatch):
    monkeypatch.setattr(child_process, "DRAIN_S", 0.1)
    judge = program(f"""
        if life == 1:
            next(questions)
            {living.start_child(seconds=2, more=", start_new_session=True")}
            os._exit(3)
        for question in questions:
            reply(question)
    """)
    assert judge.converse(timeout=None).n_answers == 4
    assert judge.n_starts == 2
    assert living.count_until_none() == 1


def test_a_program_that_closes_its_output_is_started_again(program, living):
    judge = program(f"""
        if life == 1:
            {living.start_child(more=", stdout=2")}
            os.close(1)
            time.sleep(1000)
        for question in questions:
            reply(question)
    """)
    assert judge.converse(timeout=None).n_answers == 4
    assert judge.n_starts == 2
    assert living.count_until_none() == 1


def test_the_children_of_a_program_end_with_it(program, living):
    judge = program(f"""
        {living.start_child()}
        for question in questions:
            reply(question)
    """)
    judge.converse()
    assert living.count_until_none() == 1


def test_the_end_of_python_ends_programs(living):
    program = f"{living.start_child()}; print(flush=True); input()"
    script = f"""
import sys, threading
from linkwise.app.programs.process_group import ProcessGroup
group = ProcessGroup([sys.executable, "-IS", "-c", {program!r}])
threading.Thread(target=group.wait, daemon=True).start()
group.stdout.readline()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=patience())
    assert living.count_until_none() == 1


def test_useless_lines_are_reported_once_and_then_counted(program):
    judge = program("""
        for n, question in enumerate(questions):
            if n == 0:
                print("junk\\n" * 5000 + '{"id": "x"}\\n' * 3000, flush=True)
            reply(question)
    """)
    done = judge.converse(retries=20)
    assert (done.n_answers, done.n_failed) == (4, 0)
    assert sum(line.startswith("The program wrote a line that is no reply") for line in judge.log) == 1
    assert sum(line.startswith("a reply to a question that is not open") for line in judge.log) == 1
    assert "the program wrote 5000 lines that are no replies" in judge.log
    assert any("lines that are replies to questions that are not open" in line for line in judge.log)
    assert len(judge.log) < 60


def test_of_a_line_without_end_only_the_beginning_is_read():
    output = io.BytesIO(b"a" * (3 * MAX_LINE) + b'{"id": "1"}\n \nb\n' + b"c" * (2 * MAX_LINE))
    assert list(map(len, read_lines(output))) == [MAX_LINE, 2, MAX_LINE]


def test_signals_interrupt_only_when_what_must_be_done_is_done():
    done = []

    def interrupt(number):
        with interrupt_at_end(), defer_interrupt():
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), signal.SIGINT)
            done.append(number)

    for number in ENDING:
        before = signal.getsignal(number)
        with pytest.raises(KeyboardInterrupt):
            interrupt(number)
        assert signal.getsignal(number) is before
    assert done == ENDING


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupt_at_end():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_program_that_reads_nothing_holds_up_nothing(program):
    judge = program("time.sleep(60)")
    done = judge.converse(timeout=TOO_SHORT, retries=0, restarts=9)
    assert (done.n_answers, done.n_failed, done.reason) == (0, 5, "failed")


def test_a_program_that_cannot_be_started():
    with pytest.raises(ProgramError, match=r"/no/such/judge cannot be started: No such file or directory"):
        ChildProcess(["/no/such/judge"], lambda q: {})


@pytest.mark.parametrize(
    ("fields", "given"),
    [
        ({"answer": "yes"}, "yes"),
        ({"answer": None}, None),
        ({"answer": "unsure", "probability": 0.9}, "unsure"),
        ({"answer": "no", "probability": 0}, 0.0),
        ({"answer": "no", "probability": 0.5}, 0.5),
        ({"probability": 0.4}, 0.4),
    ],
)
def test_fields_of_a_reply(fields, given):
    name, reply = parse_reply(json.dumps({"id": "7", "reason": 3, "cost": None, **fields}).encode())
    assert (name, reply.answer, reply.cost, reply.reason) == ("7", given, 0.0, "")


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"[" * 100_000,
        b"[]",
        b'{"id": 7, "answer": "yes"}',
        b'{"id": "7", "answer": "Yes"}',
        b'{"id": "7", "answer": "yes", "error": "no line"}',
        b'{"id": "7", "answer": true}',
        b'{"id": "7", "answer": ["yes"]}',
        b'{"id": "7", "answer": "yes", "cost": -1}',
        b'{"id": "7", "answer": "yes", "cost": "x"}',
        b'{"id": "7", "answer": "yes", "cost": NaN}',
        b'{"id": "7", "answer": "yes", "probability": 0.1}',
        b'{"id": "7", "probability": true}',
        b'{"id": "7", "probability": NaN}',
        b'{"id": "7", "probability": 1' + b"0" * 400 + b"}",
        b'{"id": "7", "answer": "yes", "cost": 1' + b"0" * 400 + b"}",
        b'{"id": "7", "answer": "yes", "cost": 1' + b"0" * 5000 + b"}",
        b'{"id": "7", "probability": Infinity}',
    ],
)
def test_lines_that_are_no_replies(line):
    with pytest.raises(UnusableReplyError, match=r"The (program|cost)"):
        parse_reply(line)

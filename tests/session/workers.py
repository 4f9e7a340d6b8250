"""Processes that work on a session: one that has imported everything forks a worker for each order.

It runs as a script of its own with one thread, so forking is safe and costs a millisecond. An order is
a line of JSON on its input; what workers say comes back line by line, as ``[worker, what]``.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import defaultdict, deque
from contextlib import closing
from pathlib import Path

import linkwise as lw
from linkwise.errors import StaleAnswerError
from linkwise.session.session import Session
from patience import patience
from session.session_examples import LEARNERS, TRUTH, X, answer_by, true_pairs


def do(session, step):
    """One step of a plan, as the truth has it; every step is one event."""
    match step:
        case ["answer"]:
            q = session.question
            session.answer(TRUTH(q.first, q.second))
        case ["answer", person]:  # one of several people, who get half of each other's pairs, too
            (q,) = session.questions(1, to=person, overlap=0.5)
            session.answer(TRUTH(q.first, q.second), question_id=q.id, source=person)
        case ["undo"]:
            session.undo()
        case ["add", i, j]:
            session.add(i, j, "must-link" if TRUTH(i, j) == "yes" else "cannot-link")
        case ["import", pairs]:
            session.import_constraints(true_pairs(pairs), source=str(len(session.events)))
        case ["change", number, answer]:
            session.change(number, answer)
        case _:
            raise ValueError(step)


# ---------------------------------------------------------------- in the worker
def follow_plan(say, path, plan, done, learner="COBRAS", error_rate=0):
    """Do the steps of a plan that are left, saying each after it was acknowledged."""
    with Session.open(path, X, LEARNERS[learner](), error_rate=error_rate) as session:
        for number, step in enumerate(plan[done:], done + 1):
            do(session, step)
            say(number)


def answer_all(say, path):
    """From a signal on answer what is asked, among others who do the same; say what became of each answer."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    with Session.open(path, X) as session:
        say("ready")
        signal.sigwait({signal.SIGUSR1})
        while (q := session.question) is not None:
            try:
                session.answer(TRUTH(q.first, q.second))
            except StaleAnswerError as error:
                now = error.question
                say("refused" if now is None or (now.first, now.second) != (q.first, q.second) else "wrongly")
            else:
                say("taken")


def hold_the_lock(say, path):
    """Be in the middle of a write until killed."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        say("held")
        signal.pause()


def recode(say, path, rows, ids, backup):
    """Give a session another encoding of its rows."""
    say("ready")
    Session.open(path, rows, ids=ids, recode=True, backup=backup).close()
    say("done")


TASKS = {task.__name__: task for task in (follow_plan, answer_all, hold_the_lock, recode)}


def work(task, *given):
    """What a forked worker does; never returns."""

    def say(what):
        os.write(1, f"{json.dumps([os.getpid(), what])}\n".encode())

    try:
        TASKS[task](say, *given)
    except BaseException as error:
        say(f"failed: {error!r}")
    os._exit(0)


def main():
    """Fork a worker for ``["task", ...]``; wait for the end of one for its number."""
    answer_by(lw.Session(X, LEARNERS["COBRAS"]()), TRUTH, 3)  # imports what is imported when it is needed
    for line in sys.stdin:
        order = json.loads(line)
        if isinstance(order, int):
            os.waitpid(order, 0)
            os.write(1, f"{json.dumps([order, 'ended'])}\n".encode())
        elif (worker := os.fork()) == 0:
            work(*order)
        else:
            os.write(1, f"{json.dumps([0, worker])}\n".encode())


# ---------------------------------------------------------------- in the test
class Workers:
    """The process that forks workers, as the tests hold it."""

    def __init__(self):
        one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                **one_thread,
                "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pandas brings pyarrow, where it is there
                "PYTHONPATH": str(Path(__file__).parents[1]),
            },
        )
        self.heard = defaultdict(deque)

    def start(self, task, *given):
        """Set a worker to a task; its process."""
        self._order([task, *map(str, given[:1]), *given[1:]])
        return self.hear(0)

    def hear(self, worker):
        """What a worker says next, when it has said it."""
        while not self.heard[worker]:
            of, what = json.loads(self.process.stdout.readline())
            self.heard[of].append(what)
        what = self.heard[worker].popleft()
        assert not str(what).startswith("failed"), what
        return what

    def end(self, worker, *, kill=False):
        """All that a worker has still said, after its end."""
        if kill:
            os.kill(worker, signal.SIGKILL)
        self._order(worker)
        return list(iter(lambda: self.hear(worker), "ended"))

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=patience())
        self.process.stdout.close()

    def _order(self, order):
        self.process.stdin.write(f"{json.dumps(order)}\n".encode())
        self.process.stdin.flush()


if __name__ == "__main__":
    main()

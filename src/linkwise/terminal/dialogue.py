"""The dialogue: a session on one side, a person on the other.

It knows neither screen nor keys: what is shown goes to a `Display`, what is said comes from a `Reader`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, Protocol

from linkwise.asking.learner import Question
from linkwise.constraints.evidence import Answer
from linkwise.errors import SessionError, StaleAnswerError
from linkwise.session.events import Event
from linkwise.session.session import Session, Status
from linkwise.terminal.keys import Reader, parse_command

Ending = Literal["exhausted", "budget", "quit"]
BusyContext = Callable[[], AbstractContextManager[Any]]


class Display(Protocol):
    """What shows the dialogue: a screen, or a stream of JSON."""

    def ask(self, question: Question, name: str, status: Status) -> None:
        """Show a question, called by `name` (see ``Session.question_id``)."""

    def prompt(self) -> None:
        """Something may be said now."""

    def saved(self, said: Answer, status: Status) -> None:
        """An answer is safely stored."""

    def taken_back(self, event: Event | None, status: Status) -> None:
        """An answer was undone; None: there was nothing to undo."""

    def refused(self, why: str) -> None:
        """What was said is not stored, for a reason."""

    def help(self, question: Question) -> None:
        """Say what can be said, and why this is asked."""

    def end(self, reason: Ending, status: Status) -> None:
        """It is over."""


def run_dialogue(
    session: Session,
    face: Display,
    reader: Reader,
    *,
    budget: int | None = None,
    waiting: BusyContext = nullcontext,
) -> Ending:
    """Ask until the person stops, the budget is used up, or nothing is left to ask.

    Parameters
    ----------
    session : Session
    face : Face
    reader : Reader
    budget : int, optional
        Most answers that the session may hold.
    waiting : callable, optional
        Gives a context manager around what may take a while, to show that it does.

    Returns
    -------
    {"exhausted", "budget", "quit"}
        End of input counts as quitting.
    """
    while True:
        reader.forget()
        status = session.status
        name = session.question_id  # before the question: if another client answers now, ours is stale
        question = session.question
        if question is None or name is None:
            return _finish(face, "exhausted", status)
        if budget is not None and status.n_answers >= budget:
            return _finish(face, "budget", status)
        face.ask(question, name, status)
        while (said := _read_command(face, reader)) == "help":
            face.help(question)
        if said == "quit":
            return _finish(face, "quit", session.status)
        try:
            if said == "undo":
                with waiting():
                    undone = session.undo()
                face.taken_back(undone, session.status)
            else:
                with waiting():
                    session.answer(said, question_id=name)
                face.saved(said, session.status)
        except StaleAnswerError:
            face.refused("the session moved on in another window; here is what it asks now")
        except SessionError as error:
            if type(error) is not SessionError:  # locked, damaged: no use going on
                raise
            face.refused(str(error))


def _read_command(face: Display, reader: Reader) -> Answer | Literal["undo", "quit", "help"]:
    """The next thing said that means something; the end of input means quit."""
    while True:
        face.prompt()
        text = reader.read()
        if text is None:
            return "quit"
        said = parse_command(text)
        if said is not None:
            return said
        shown = repr(text) if text.isprintable() and text else "this key"
        face.refused(f"{shown} is no answer; answers are y, n, s, u, q or ?")


def _finish(face: Display, reason: Ending, status: Status) -> Ending:
    face.end(reason, status)
    return reason

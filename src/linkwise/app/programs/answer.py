"""Let a program answer the questions of a session, several at once, and store each answer as it comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal

from linkwise.app.programs.callers import Caller, create_caller
from linkwise.app.programs.interrupts import defer_interrupt
from linkwise.app.programs.replies import Judgement, UnusableReplyError, check_reply
from linkwise.constraints.facts import Answer
from linkwise.constraints.fallible import rate_of_source
from linkwise.errors import ConstraintError, ProgramError, SessionError, StaleAnswerError, short_repr
from linkwise.learn.base import check_budget
from linkwise.rng import rng_at
from linkwise.session.journal.events import check_source, shorten_note
from linkwise.session.session import Session
from linkwise.session.team.leases import OpenQuestion
from linkwise.types import Progress
from linkwise.wording import answer_word, count_noun, shorten

Ending = Literal["exhausted", "budget", "cost", "failed", "unanswered"]

FIRST_DELAY_S, MOST_DELAY_S = 0.5, 30.0  # before the first repetition; each further one waits twice as long
LEAST_FAILURES = 5  # after so many questions in a row that fail, the program is not asked any more
MOST_ABSTENTIONS = 50  # the same for questions in a row that it leaves to others
JITTER_SEED = 0
LONGEST_WAIT_S = 60.0  # in one step, when nothing has a time limit


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question to which the program gave no usable reply, and what was wrong at the last attempt."""

    first: int
    second: int
    error: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What a program has answered.

    Attributes
    ----------
    n_answers : int
        Stored answers, ``"unsure"`` included.
    n_failed : int
        Questions that failed at each attempt. They stay open.
    n_abstained : int
        Questions that the program left to others. They stay open.
    cost : float
        Sum of the costs that the program reported.
    reason : {"exhausted", "budget", "cost", "failed", "unanswered"}
        Why it ended: no question is left; the budget or the cost is reached; the last questions failed, and
        they were many or no other is left; or the program left the remaining questions, or many in a row, to
        others.
    failures : tuple of FailedQuestion
        The questions that failed.
    total_cost : float
        The costs of all runs under this name in this session.
    """

    n_answers: int
    n_failed: int
    n_abstained: int
    cost: float
    reason: Ending
    failures: tuple[FailedQuestion, ...] = field(default=(), repr=False)
    total_cost: float = field(default=0.0, repr=False)


def answer(
    session: Session,
    oracle: Callable[..., object],
    *,
    parallel: int = 1,
    retries: int = 3,
    timeout: float | None = 60.0,
    budget: int | None = None,
    max_cost: float | None = None,
    source: str = "program",
    progress: Progress | None = None,
) -> Answered:
    """Let a program answer the questions of a session.

    Each answer is stored when it comes. An interrupt with Ctrl-C keeps all answers that have come so far.

    Parameters
    ----------
    session : Session
        The session, opened with its data.
    oracle : callable
        A function or coroutine function. Called with two row positions if it takes two arguments, otherwise
        with a question that has the attributes `first`, `second` and `why`. It returns "yes", "no", "unsure",
        True, False, the probability that the rows belong together as a float, or None to leave the question
        to others. To report costs, return a `linkwise.app.programs.replies.ProgramReply`.
    parallel : int, default=1
        Largest number of questions at once.
    retries : int, default=3
        How often a question is asked again after an exception, a reply that is not an answer, or no reply in
        time. linkwise waits before it asks again, twice as long each time.
    timeout : float or None, default=60.0
        Seconds until a reply counts as missing. None: no limit.
    budget : int, optional
        Largest number of answers. By default the program is asked until no question is left.
    max_cost : float, optional
        No question is asked after the costs have reached this sum. The session stores the costs of each
        source, so earlier runs count.
    source : str, default="program"
        Name of the program, which is stored with each answer.
    progress : callable, optional
        ``progress(done, planned)`` after each answer; `planned` is the budget, or without a budget the number
        of answers and open questions.

    Returns
    -------
    Answered
        Number of answers and failures, costs, and why it ended.

    Raises
    ------
    TypeError
        `oracle` is not a function of a question or of two row positions, or an argument has a wrong type.
    ValueError
        A number is out of range.
    InfeasibleConstraintsError
        An answer contradicts others, and the session treats every answer as correct. Give `error_rate` to the
        session if the program may be wrong.
    SessionError
        The session is locked or damaged, or was opened without its data.

    Notes
    -----
    A probability above 0.5 is a yes and a lower one a no; `Session.answer` stores how reliable the answer is
    by this probability. Strictly between 0.45 and 0.55 it counts as ``"unsure"``, and between 0.3 and 0.7 if
    the session takes all answers of the program as right. A function runs in threads, a coroutine function
    in an event loop of its own.
    With ``parallel=1`` and ``timeout=None`` a function is called in the present thread. A function that
    exceeds its time is not ended, so it may run beside its repetition; a coroutine is cancelled.

    Examples
    --------
    >>> import linkwise as lw
    >>> session = lw.Session([[0.0], [0.1], [5.0], [5.1]], error_rate=None)
    >>> lw.answer(session, lambda first, second: first // 2 == second // 2, budget=3).n_answers
    3
    >>> session.labels.tolist()
    [1, 1, 0, 0]
    """
    limits = check_limits(parallel, retries, timeout, budget, max_cost)
    name = check_source(source)
    caller = create_caller(oracle, in_threads=parallel > 1 or timeout is not None)
    try:
        return Conversation(session, caller, limits, name, progress).run()
    finally:
        caller.close()


@dataclass(frozen=True, slots=True)
class Limits:
    """How many questions a program is asked, and how long linkwise waits."""

    parallel: int = 1
    retries: int = 3
    timeout: float | None = 60.0
    budget: int | None = None
    max_cost: float | None = None


def check_limits(
    parallel: object, retries: object, timeout: object, budget: object, max_cost: object
) -> Limits:
    """Check the numbers that `answer` takes."""
    for name, value, least in (("parallel", parallel, 1), ("retries", retries, 0)):
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"{name}={short_repr(value)} is not a whole number. Pass {least} or more.")
        if int(value) < least:
            raise ValueError(f"{name}={short_repr(int(value))} is too small. Pass {least} or more.")
    for name, value in (("timeout", timeout), ("max_cost", max_cost)):
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"{name}={short_repr(value)} is not a number. Pass a number, or None.")
        if not float(value) > 0:
            raise ValueError(f"{name}={value} is not above 0. Pass a larger number, or None for no limit.")
    return Limits(parallel, retries, timeout, check_budget(budget), max_cost)  # type: ignore[arg-type]  # checked


@dataclass(slots=True)
class _Call:
    """A question that the program has, or is to get again."""

    question: OpenQuestion
    attempt: int = 0
    future: Future[Any] | None = None  # None while it waits for its repetition
    due: float = 0.0  # when the reply counts as missing, or when the question is asked again
    sent: float = 0.0
    replied: float | None = None  # when the last reply came; None before

    def take_time(self, future: Future[Any]) -> None:
        """Remember when the reply came, unless the question was asked again meanwhile."""
        if future is self.future:
            self.replied = time.monotonic()


class Conversation:
    """Asks a program and stores its answers.

    `log` is called with a line about each answer and each failure; `name_of` returns the name of a row in
    it. ``choose(n, to=source)`` returns the questions, by default `Session.questions`.
    """

    def __init__(
        self,
        session: Session,
        caller: Caller,
        limits: Limits,
        source: str,
        progress: Progress | None = None,
        *,
        log: Callable[[str], object] | None = None,
        name_of: Callable[[int], str] = "row {}".format,
        choose: Callable[..., list[OpenQuestion]] | None = None,
    ) -> None:
        self._session, self._caller, self._limits, self._source = session, caller, limits, source
        self._choose = session.questions if choose is None else choose
        self._progress, self._log, self._name_of = progress, log, name_of
        self._calls: list[_Call] = []
        self._left: set[frozenset[int]] = set()  # pairs that failed or were left to others
        self._failures: list[FailedQuestion] = []
        self._n_failed_in_row = self._n_abstained_in_row = self._n_answers = self._n_abstained = 0
        self._cost, self._total = 0.0, session.costs.get(source, 0.0)

    def run(self) -> Answered:
        """Ask until a limit is reached or no question is left."""
        try:
            while True:
                reason = self._reached_limit()
                if reason is None:
                    self._ask_more()
                if not self._calls:
                    return self._summary(reason or self._reason_of_silence())
                self._await_reply()
                for call in list(self._calls):
                    self._proceed(call)
        except BaseException:  # Ctrl-C, too
            self._store_finished()
            raise

    def _reached_limit(self) -> Ending | None:
        budget, max_cost = self._limits.budget, self._limits.max_cost
        if self._n_failed_in_row >= max(LEAST_FAILURES, self._limits.parallel):
            return "failed"
        if self._n_abstained_in_row >= MOST_ABSTENTIONS:
            return "unanswered"
        if budget is not None and self._n_answers >= budget:
            return "budget"
        if max_cost is not None and self._total >= max_cost:
            return "cost"
        return None

    def _reason_of_silence(self) -> Ending:
        """Why there is nothing to ask this program any more."""
        if self._session.question is None:
            return "exhausted"
        return "failed" if self._n_failed_in_row else "unanswered"

    def _summary(self, reason: Ending) -> Answered:
        failures = tuple(self._failures)
        counts = (self._n_answers, len(failures), self._n_abstained)
        return Answered(*counts, self._cost, reason, failures, self._total)

    # ------------------------------------------------------------ asking
    def _ask_more(self) -> None:
        """Ask further questions, as many as may be open at once."""
        n_wanted = self._limits.parallel
        if self._limits.budget is not None:
            n_wanted = min(n_wanted, self._limits.budget - self._n_answers)
        n_free = n_wanted - len(self._calls)
        if n_free <= 0:
            return
        open_pairs = {_pair(call.question) for call in self._calls}
        for question in self._choose(n_wanted + len(self._left), to=self._source):
            pair = _pair(question)
            if n_free and pair not in self._left and pair not in open_pairs:
                open_pairs.add(pair)
                n_free -= 1
                call = _Call(question)
                self._calls.append(call)
                self._send(call)

    def _send(self, call: _Call) -> None:
        timeout = self._limits.timeout
        call.attempt += 1
        call.sent = time.monotonic()
        call.due = float("inf") if timeout is None else call.sent + timeout
        call.replied, call.future = None, self._caller.send(call.question)
        call.future.add_done_callback(call.take_time)

    def _await_reply(self) -> None:
        """Wait until a reply is there, or until it is time for something else."""
        futures = [call.future for call in self._calls if call.future is not None]
        left = min(call.due for call in self._calls) - time.monotonic()
        seconds = min(max(0.0, left), LONGEST_WAIT_S)
        if futures:
            wait(futures, seconds, FIRST_COMPLETED)
        else:
            time.sleep(seconds)

    # ------------------------------------------------------------ replies
    def _proceed(self, call: _Call) -> None:
        """Take the reply of a call, or ask again, if it is time for either."""
        if call.future is not None and call.future.done():
            self._receive(call, call.future)
        elif call.due <= time.monotonic():
            if call.future is None:
                self._send(call)
            else:
                self._caller.give_up(call.question)
                if call.future.done() and not call.future.cancelled():  # it has come at this moment
                    self._receive(call, call.future)
                else:
                    self._retry(call, f"no reply within {self._limits.timeout:g} s")

    def _receive(self, call: _Call, future: Future[Any]) -> None:
        try:
            is_certain = rate_of_source(self._session.assumed_error_rate, self._source) == 0
            reply = check_reply(
                future.result(), call.question.first, call.question.second, is_certain=is_certain
            )
        except ProgramError:
            raise
        except CancelledError:  # a coroutine may end itself in this way
            self._retry(call, "the call was cancelled")
            return
        except Exception as error:  # whatever the program raises, the others go on
            if isinstance(error, UnusableReplyError):
                self._spend(error.cost)
                self._retry(call, str(error), error.delay, is_final=error.is_final)
            else:
                self._retry(call, f"{type(error).__name__}: {error}")
            return
        with defer_interrupt():  # whoever has paid for an answer gets it
            self._calls.remove(call)
            self._spend(reply.cost)
            if reply.answer is None:
                self._n_abstained += 1
                self._n_abstained_in_row += 1
                self._left.add(_pair(call.question))
                self._note(call, f"left open{_in_brackets(reply.reason)}")
            else:
                self._n_abstained_in_row = 0
                self._store(call, reply.answer, reply)
            self._n_failed_in_row = 0

    def _spend(self, cost: float) -> None:
        """Count what a reply has cost, in this run and in the session, also if it is of no use."""
        if cost:
            self._total = self._session.add_cost(self._source, cost)
            self._cost += cost

    def _store(self, call: _Call, given: Answer, reply: Judgement) -> None:
        seconds = (call.replied or time.monotonic()) - call.sent
        try:
            self._answer(call.question, given, reply, seconds)
        except StaleAnswerError:
            self._note(call, "not stored: this question is no longer asked")
            return
        self._n_answers += 1
        self._note(call, f"{answer_word(given)} after {seconds:.1f} s{_in_brackets(reply.reason)}")
        if self._progress is not None:
            budget = self._limits.budget
            self._progress(self._n_answers, self._n_answers + len(self._calls) if budget is None else budget)

    def _answer(self, question: OpenQuestion, given: Answer, reply: Judgement, seconds: float) -> None:
        """Store an answer, also if another client writes at the same moment."""
        answer = partial(
            self._session.answer,
            given,
            question_id=question.id,
            source=self._source,
            seconds=seconds,
            note=shorten_note(reply.reason),
            reliability=reply.reliability,
        )
        try:
            answer()
        except StaleAnswerError:  # the question is no longer the present one, but its answer counts
            answer()

    def _retry(self, call: _Call, error: str, least_delay: float = 0.0, *, is_final: bool = False) -> None:
        """Ask again after a while, or leave the question open."""
        if call.attempt <= self._limits.retries and not is_final:
            delay = max(least_delay, delay_before(call.attempt, call.question))
            call.future, call.due = None, time.monotonic() + delay
            self._note(call, f"attempt {call.attempt} failed ({shorten(error, 200)}); again in {delay:.1f} s")
            return
        self._calls.remove(call)
        self._left.add(_pair(call.question))
        self._failures.append(FailedQuestion(call.question.first, call.question.second, error))
        self._n_failed_in_row += 1
        attempts = count_noun(call.attempt, "attempt")
        self._note(call, f"no answer after {attempts} ({shorten(error, 200)})")

    def _store_finished(self) -> None:
        """Store the answers that had come before an error or an interrupt."""
        for call in list(self._calls):
            future = call.future
            if future is not None and future.done() and not future.cancelled() and future.exception() is None:
                with suppress(SessionError, ConstraintError, UnusableReplyError):
                    self._receive(call, future)

    def _note(self, call: _Call, event: str) -> None:
        if self._log is not None:
            first, second = self._name_of(call.question.first), self._name_of(call.question.second)
            self._log(f"{first} and {second}: {event}")


def delay_before(attempt: int, question: OpenQuestion) -> float:
    """Seconds to wait after an attempt: twice as long each time, less up to a half by chance."""
    longest = min(MOST_DELAY_S, FIRST_DELAY_S * 2.0 ** (attempt - 1))
    rng = rng_at(JITTER_SEED, question.first, question.second, attempt)
    return longest * float(rng.uniform(0.5, 1.0))


def _pair(question: OpenQuestion) -> frozenset[int]:
    return frozenset((question.first, question.second))


def _in_brackets(reason: str) -> str:
    return f" ({shorten(' '.join(reason.split()), 200)})" if reason else ""

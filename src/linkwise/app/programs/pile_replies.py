"""Let a program sort screens of rows into piles, and store the piles of each screen as they come."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from linkwise.app.programs.answer import LEAST_FAILURES, Answered, Ending, FailedQuestion, Limits
from linkwise.app.programs.child_process import UnusableLineError, read_fields
from linkwise.app.programs.interrupts import defer_interrupt
from linkwise.app.programs.replies import ProgramReply, UnusableReplyError
from linkwise.errors import ConstraintError, ProgramError, SessionError, StaleAnswerError, short_repr
from linkwise.session.journal.events import shorten_note
from linkwise.session.session import Screen, Session
from linkwise.wording import count_noun, join_names, shorten

RETRIES = 1  # of a screen, unless somebody says otherwise
LONGEST_WAIT_S = 0.25  # in one step, so that Ctrl-C is noticed
MOST_NAMED = 5


class Piles(NamedTuple):
    """The numbers of the items in each pile, and those of unsure items."""

    piles: list[list[int]]
    unsure: list[int]


def write_screen(shown: Screen, ids: Sequence[str], read_row: Callable[[int], Any]) -> dict[str, Any]:
    """The fields of a screen for a program, besides its id: items from 1 on, those of known piles first."""
    numbers = {row: number for number, row in enumerate(shown.rows, 1)}
    return {
        "kind": "piles",
        "items": [{"n": n, "id": ids[row], "row": read_row(row)} for row, n in numbers.items()],
        "known": [[numbers[row] for row in pile] for pile in shown.known],
    }


def parse_piles_reply(line: bytes) -> tuple[str, ProgramReply]:
    """Return the id of the screen and the piles in a line such as ``{"id": "3:1|2", "piles": [[1, 2]]}``."""
    name, fields, cost = read_fields(line)
    piles, unsure = fields.get("piles"), fields.get("unsure", [])
    lists = [*piles, unsure] if isinstance(piles, list) else [None]
    if not all(isinstance(one, list) for one in lists):
        raise UnusableLineError(
            f"The program gave piles that are not lists of items: {short_repr(piles)}.", name, cost
        )
    items = [item for one in lists for item in one or ()]
    if not all(type(item) is int for item in items):
        raise UnusableLineError("The program gave items that are not whole numbers.", name, cost)
    reason = fields.get("reason")
    return name, ProgramReply(
        Piles(list(piles or ()), unsure), cost, reason if isinstance(reason, str) else ""
    )


def list_faults(piles: Piles, shown: Screen) -> dict[str, list[int]]:
    """The items that are unknown, there twice or missing.

    Known piles may be missing, unless the screen only asks which of them are one.
    """
    n_rows, counts = len(shown.rows), Counter(item for part in (*piles.piles, piles.unsure) for item in part)
    n_optional = n_rows - len(shown.cards) if shown.cards else 0
    return {
        "unknown": sorted(item for item in counts if not 1 <= item <= n_rows),
        "there twice": sorted(item for item, n in counts.items() if n > 1),
        "missing": [item for item in range(n_optional + 1, n_rows + 1) if item not in counts],
    }


def find_rows(piles: Piles, shown: Screen) -> tuple[list[list[int]], list[int]]:
    """The rows of the items in piles.

    Raises
    ------
    UnusableReplyError
        An item is unknown, there twice or missing.
    """
    rows = shown.rows
    for fault, items in list_faults(piles, shown).items():
        if items:
            verb = "are" if len(items) > 1 else "is"
            raise UnusableReplyError(f"Of its items {join_names(items, MOST_NAMED)} {verb} {fault}.")
    return [[rows[item - 1] for item in pile] for pile in piles.piles], [rows[i - 1] for i in piles.unsure]


class ScreenCaller(Protocol):
    """Sends screens to a program, and hands back its replies."""

    def send(self, question: Screen) -> Future[Any]:
        """Send a screen; the future receives the reply or the error."""

    def give_up(self, question: Screen) -> None:
        """Take note that nobody waits for the reply to a screen any more."""


@dataclass(slots=True)
class SortingConversation:
    """Asks a program to sort screens of `size` rows, and stores the piles.

    `log` is called with a line about each screen, and `retries` is how often a screen is sent again.
    """

    session: Session
    child: ScreenCaller
    limits: Limits
    source: str
    size: int
    retries: int = RETRIES
    log: Callable[[str], object] = str
    n_answers: int = 0
    cost: float = 0.0

    def run(self) -> Answered:
        """Sort until a limit is reached, nothing is left to sort, or the program fails too often."""
        failures: list[FailedQuestion] = []
        left: set[str] = set()
        n_in_row = 0
        while (reason := self._reached_limit(n_in_row)) is None:
            n = self.limits.parallel if self.limits.budget is None else self.limits.budget - self.n_answers
            n = min(n, self.limits.parallel)
            screens = self.session.sets(self.size, n + len(left), to=self.source)
            screens = [one for one in screens if one.id not in left][:n]
            if not screens:
                reason = "failed" if n_in_row else "exhausted"
                break
            calls = [(one, time.monotonic(), self.child.send(one)) for one in screens]
            for at, (one, sent, future) in enumerate(calls):
                try:
                    error = self._take(one, sent, future)
                except BaseException:  # Ctrl-C, too
                    self._store_finished(calls[at:])
                    raise
                if error is None:
                    n_in_row = 0
                    continue
                left.add(one.id)
                n_in_row += 1
                failures.append(FailedQuestion(one.rows[0], one.rows[1], error))
        total = self.session.costs.get(self.source, 0.0)
        return Answered(self.n_answers, len(failures), 0, self.cost, reason, tuple(failures), total)

    def _reached_limit(self, n_failed_in_row: int) -> Ending | None:
        budget, max_cost = self.limits.budget, self.limits.max_cost
        if n_failed_in_row >= LEAST_FAILURES:
            return "failed"
        if budget is not None and self.n_answers >= budget:
            return "budget"
        if max_cost is not None and self.session.costs.get(self.source, 0.0) >= max_cost:
            return "cost"
        return None

    def _take(self, shown: Screen, sent: float, future: Any) -> str | None:
        """Store the piles of a screen, which is sent again after an error; return the last error."""
        error, delay = "", 0.0
        for attempt in range(self.retries + 1):
            if attempt:
                self.log(f"{self._name(shown)}: attempt {attempt} failed ({shorten(error, 200)}); again")
                time.sleep(delay)
                sent, future = time.monotonic(), self.child.send(shown)
            try:
                self._store(shown, sent, self._wait(shown, sent, future))
            except ProgramError:
                raise
            except StaleAnswerError:
                self.log(f"{self._name(shown)}: not stored, because it is sorted already")
                return None
            except UnusableReplyError as unusable:
                self._spend(unusable.cost)
                error, delay = str(unusable), unusable.delay
                if unusable.is_final:
                    break
                continue
            except (TimeoutError, CancelledError):
                error = f"no reply within {self.limits.timeout:g} s"
                continue
            except ConstraintError as contradiction:
                error = str(contradiction)
                continue
            return None
        self.log(f"{self._name(shown)}: not sorted ({shorten(error, 200)})")
        return error

    def _store(self, shown: Screen, sent: float, reply: ProgramReply) -> None:
        """Store the piles of a reply, whatever interrupts meanwhile."""
        with defer_interrupt():
            self._spend(reply.cost)
            given: Any = reply.answer
            piles, unsure = find_rows(given, shown)
            seconds, note = time.monotonic() - sent, shorten_note(reply.reason)
            self.session.sort(
                piles, unsure, question_id=shown.id, source=self.source, seconds=seconds, note=note
            )
            self.n_answers += 1
            self.log(f"{self._name(shown)}: {count_noun(len(piles), 'pile')} after {seconds:.1f} s")

    def _store_finished(self, calls: Sequence[tuple[Screen, float, Future[Any]]]) -> None:
        """Store the piles that had come before an error or an interrupt."""
        for shown, sent, future in calls:
            if future.done() and not future.cancelled() and future.exception() is None:
                with suppress(SessionError, ConstraintError, UnusableReplyError):
                    self._store(shown, sent, future.result())

    def _wait(self, shown: Screen, sent: float, future: Any) -> ProgramReply:
        """Wait for a reply as long as the limit allows, in steps."""
        timeout = self.limits.timeout
        while True:
            left = (
                LONGEST_WAIT_S if timeout is None else min(LONGEST_WAIT_S, sent + timeout - time.monotonic())
            )
            try:
                found: ProgramReply = future.result(max(0.0, left))
                return found
            except TimeoutError:
                if timeout is not None and time.monotonic() >= sent + timeout:
                    self.child.give_up(shown)
                    raise

    def _spend(self, cost: float) -> None:
        if cost:
            self.session.add_cost(self.source, cost)
            self.cost += cost

    def _name(self, shown: Screen) -> str:
        kind, ids = "card" if shown.cards else "known pile", self.session.ids
        names = [ids[row] for row in shown.cards or shown.rows]
        return f"{count_noun(len(names), kind)} ({join_names(names, 3)})"

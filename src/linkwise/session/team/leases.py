"""Which questions are open, who holds each, and until when.

A screen, whose rows are sorted together, is leased like a question. Its id names the rows, too: those of the
known piles, joined by a plus, and the cards.

Leases live in memory: after a restart questions are just given again. The id of a question names its place
and its rows, so an answer finds its place even if nobody knows the lease any more. So a lease that is over is
forgotten, except for the id of a question that was the present one. An id also tells how often rows had moved
to other positions, so that a late answer is never stored for other rows.

How long a lease lasts is measured by a clock that only runs forward. The time of day may jump, so it only
says when a lease is likely to end.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from linkwise.constraints.sorting import MOST_SORTED, Pile
from linkwise.learn.batches import Expectation
from linkwise.learn.gathering import Gathered
from linkwise.session.journal.events import Place

CARDS = r"\d{1,15}(?:,\d{1,15})*"
PILES = r"\d{1,15}(?:\+\d{1,15})*(?:,\d{1,15}(?:\+\d{1,15})*)*"
SCREEN_ID = re.compile(rf"(?:(\d{{1,15}})/)?(\d{{1,15}})(?:\.(\d{{1,15}}))?:({PILES}|)\|({CARDS}|)", re.ASCII)
QUESTION_ID = re.compile(r"(?:(\d{1,15})/)?(\d{1,15})(?:\.(\d{1,15}))?:(\d{1,15})-(\d{1,15})", re.ASCII)
UNDOABLE = 64  # events after which the lease of a question that was answered is forgotten


def time_after(seconds: float) -> datetime:
    """The time in UTC after so many seconds."""
    return datetime.now(UTC) + timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that waits for its answer, alone or with others.

    Attributes
    ----------
    id : str
        An identifier, so that an answer can name its question.
    first, second : int
        Row positions.
    why : str
        Why the question is asked, in a sentence for the person who answers.
    to : str
        Who shall answer: the name of a person or a program; empty if there is only one.
    until : datetime
        Time in UTC until which nobody else gets the question, as far as the clock of the machine is right. A
        later answer counts, too.
    """

    id: str
    first: int
    second: int
    why: str
    to: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Lease:
    """A question that somebody holds until `end`, in seconds on the clock of the leases.

    With `is_single` it was given alone, to the only person who asked.
    """

    question: OpenQuestion
    expectation: Expectation
    place: Place
    end: float
    is_single: bool = False

    def ending(self, now: float, seconds: float) -> Lease:
        """The same lease, which ends so many seconds from now."""
        return replace(self, end=now + seconds, question=replace(self.question, until=time_after(seconds)))


@dataclass(frozen=True, slots=True)
class Screen:
    """Rows that wait to be sorted into piles.

    Attributes
    ----------
    id : str
        An identifier, so that an answer can name its screen.
    known : tuple of tuple of int
        Piles that are there already: rows of clusters that answers have reached. Two of them may be one.
    cards : tuple of int
        Rows that belong in one of these piles, or in a new one.
    why : str
        Why these rows, in a sentence for the person who sorts them.
    to : str
        Who shall sort them: the name of a person or a program; empty if there is only one.
    until : datetime
        Time in UTC until which nobody else gets the cards, as far as the clock of the machine is right. A
        later answer counts, too.
    """

    id: str
    known: tuple[Pile, ...]
    cards: Pile
    why: str
    to: str
    until: datetime

    @property
    def rows(self) -> Pile:
        """All rows: those of the known piles, then the cards."""
        return Gathered(self.known, self.cards).rows


@dataclass(frozen=True, slots=True)
class ScreenLease:
    """A screen that somebody holds until `end`; `new` are its cards that no answer was about."""

    screen: Screen
    place: Place
    end: float
    new: frozenset[int]

    def ending(self, now: float, seconds: float) -> ScreenLease:
        """The same lease, which ends so many seconds from now."""
        return replace(self, end=now + seconds, screen=replace(self.screen, until=time_after(seconds)))


class Postponed(NamedTuple):
    """A question that somebody put off until the number of their answers is `until`."""

    lease: Lease
    until: int


class Leases:
    """The leases of a session, by the ids of their questions.

    `now` returns seconds that only grow; `n_moves` counts how often rows have moved to other positions.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic, *, n_moves: int = 0) -> None:
        self._now = now
        self._n_moves = n_moves
        self._leases: dict[str, Lease] = {}
        self._screens: dict[str, ScreenLease] = {}
        self._present: set[str] = set()  # ids of questions at position 0 whose leases are forgotten
        self._last_position: dict[int, int] = {}  # by start
        self._postponed: dict[str, list[Postponed]] = {}  # by person

    def current(self) -> list[Lease]:
        """The leases that have not expired, in the order of their places."""
        now = self._now()
        left = [lease for lease in self._leases.values() if lease.end > now]
        return sorted(left, key=lambda lease: (lease.place, lease.question.id))

    def forget(self, start: int, is_answered: Callable[[Lease], bool]) -> None:
        """Drop leases that are over: expired ones, and old ones that were answered.

        Leases of questions that were chosen at the event `start` stay, and so do those chosen
        `UNDOABLE` events ago or later, since an undo opens them again.
        """
        now = self._now()
        for name, lease in list(self._leases.items()):
            age = start - lease.place.start
            if (age > UNDOABLE and is_answered(lease)) or (age > 0 and lease.end <= now):
                del self._leases[name]
                if lease.place.position == 0:
                    self._present.add(name)
        self._last_position = {at: last for at, last in self._last_position.items() if at >= start - UNDOABLE}

    def place(self, chosen: Expectation, start: int) -> Place:
        """The place of a question: the next one after an event, or the one that it had before."""
        for lease in self._leases.values():
            if lease.place.start == start and {*lease.expectation.pair} == {*chosen.pair}:
                return lease.place
        return self.next_place(start)

    def next_place(self, start: int) -> Place:
        """The next place after an event."""
        position = self._last_position[start] = self._last_position.get(start, 0) + 1
        return Place(start, position)

    def give(
        self, chosen: Expectation, place: Place, to: str, seconds: float, *, is_single: bool = False
    ) -> Lease:
        """Lease a question to somebody, who may have held it before; an older lease of the same pair ends."""
        first, second = chosen.pair
        name = self.name(place, first, second)
        question = OpenQuestion(name, first, second, chosen.why, to, time_after(seconds))
        for held, lease in self._leases.items():
            if lease.question.to == to and {*lease.expectation.pair} == {first, second}:
                self._end(held)
        self._leases[name] = lease = Lease(question, chosen, place, self._now() + seconds, is_single)
        return lease

    def renew(self, lease: Lease, seconds: float) -> Lease:
        """Prolong a lease; it never gets shorter."""
        now = self._now()
        self._leases[lease.question.id] = renewed = lease.ending(now, max(lease.end - now, seconds))
        return renewed

    def release(self, to: str) -> None:
        """End the leases of somebody now."""
        for name, lease in self._leases.items():
            if lease.question.to == to:
                self._end(name)
        self._screens = {name: lease for name, lease in self._screens.items() if lease.screen.to != to}

    def _end(self, name: str) -> None:
        """End a lease now; an answer that comes later counts all the same."""
        self._leases[name] = self._leases[name].ending(self._now(), 0.0)

    def get(self, name: str) -> Lease | None:
        """The lease of a question by its id, over or not; None if it is forgotten."""
        return self._leases.get(name)

    def postpone(self, lease: Lease, to: str, until: int) -> None:
        """Put a question off for somebody, until they have given so many answers; others may have it."""
        if lease.question.to == to and lease.question.id in self._leases:
            self._end(lease.question.id)
        others = [each for each in self._postponed.get(to, ()) if each.lease.question.id != lease.question.id]
        self._postponed[to] = [*others, Postponed(lease, until)]

    def has_postponed(self, to: str) -> bool:
        """Whether somebody has put a question off, which may have come back by now."""
        return to in self._postponed

    def find_postponed(self, to: str, n_answers: int) -> list[Lease]:
        """The questions that somebody put off, and that do not come back yet."""
        left = [each for each in self._postponed.get(to, ()) if each.until > n_answers]
        if left:
            self._postponed[to] = left
        else:
            self._postponed.pop(to, None)
        return [each.lease for each in left]

    def resume(self, to: str) -> None:
        """Let the questions that somebody put off come back now."""
        self._postponed.pop(to, None)

    # ------------------------------------------------------------ screens
    def current_screens(self) -> list[ScreenLease]:
        """The leases of screens that have not expired, in the order of their places."""
        now = self._now()
        self._screens = {name: lease for name, lease in self._screens.items() if lease.end > now}
        return sorted(self._screens.values(), key=lambda lease: (lease.place, lease.screen.id))

    def give_screen(
        self, shown: Gathered, place: Place, to: str, seconds: float, new: frozenset[int]
    ) -> ScreenLease:
        """Lease a screen to somebody."""
        name = self.name_screen(place, shown)
        screen = Screen(name, shown.known, shown.cards, shown.why, to, time_after(seconds))
        self._screens[name] = lease = ScreenLease(screen, place, self._now() + seconds, new)
        return lease

    def renew_screen(self, lease: ScreenLease, seconds: float) -> ScreenLease:
        """Prolong a lease; it never gets shorter."""
        now = self._now()
        self._screens[lease.screen.id] = renewed = lease.ending(now, max(lease.end - now, seconds))
        return renewed

    def drop_screen(self, name: str) -> None:
        """End the lease of a screen now."""
        self._screens.pop(name, None)

    def find_screen(self, name: str, n_rows: int, last: int) -> tuple[Gathered, Place] | None:
        """The rows and the place of a screen by its id; None if no such screen can have been given."""
        found = SCREEN_ID.fullmatch(name)
        if found is None:
            return None
        n_moves, start, position = (int(part or 0) for part in found.groups()[:3])
        known = tuple(tuple(map(int, pile.split("+"))) for pile in found[4].split(",") if pile)
        shown = Gathered(known, tuple(int(card) for card in found[5].split(",") if card))
        is_possible = n_moves == self._n_moves and start <= last and max(shown.rows) < n_rows
        is_screen = 2 <= len(set(shown.rows)) == len(shown.rows) <= MOST_SORTED
        return (shown, Place(start, position)) if is_possible and is_screen else None

    def name_screen(self, place: Place, shown: Gathered) -> str:
        """The id of a screen."""
        known = ",".join("+".join(map(str, pile)) for pile in shown.known)
        return f"{self._name_place(place)}:{known}|{','.join(map(str, shown.cards))}"

    # ------------------------------------------------------------ ids of questions
    def find(self, name: str, n_rows: int, last: int) -> tuple[int, int, Place] | None:
        """The rows and the place of a question by its id; None if no such question was given."""
        lease = self._leases.get(name)
        if lease is not None:
            return *lease.expectation.pair, lease.place
        found = QUESTION_ID.fullmatch(name)
        if found is None:
            return None
        n_moves, start, position, first, second = (int(part or 0) for part in found.groups())
        is_given = (position > 0 or name in self._present) and n_moves == self._n_moves
        is_possible = is_given and start <= last and first != second and max(first, second) < n_rows
        return (first, second, Place(start, position)) if is_possible else None

    def name(self, place: Place, first: int, second: int) -> str:
        """The id of a question."""
        return f"{self._name_place(place)}:{first}-{second}"

    def _name_place(self, place: Place) -> str:
        moves = f"{self._n_moves}/" if self._n_moves else ""
        position = f".{place.position}" if place.position else ""
        return f"{moves}{place.start}{position}"

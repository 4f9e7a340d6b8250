"""Screens of rows that are sorted into piles: who gets which, and what is stored of the piles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from linkwise.constraints.checks import check_row
from linkwise.constraints.fallible import rate_of_source
from linkwise.constraints.sorting import MOST_SORTED, Sorting
from linkwise.errors import ConstraintError, SessionError, StaleAnswerError, short_repr
from linkwise.learn.gathering import SCREEN_SIZE, Gathered, check_piles, check_size, take_piles
from linkwise.session.journal.events import Event, Place, check_note, check_seconds, check_source
from linkwise.session.journal.journal import Journal
from linkwise.session.recorder import Recorder
from linkwise.session.state.event_lists import constraints_of
from linkwise.session.state.session_state import SessionState
from linkwise.session.team.leases import Screen, ScreenLease
from linkwise.session.team.questionnaire import LEASE_S, Questionnaire, check_is_integer


class Screens:
    """The screens of a session, for one person or several, and their piles.

    Parameters
    ----------
    journal : Journal
    state : SessionState
    recorder : Recorder
    questions : Questionnaire
        Its leases are also those of screens.
    """

    def __init__(
        self, journal: Journal, state: SessionState, recorder: Recorder, questions: Questionnaire
    ) -> None:
        self._journal, self._state, self._recorder, self._questions = journal, state, recorder, questions

    # ------------------------------------------------------------ giving
    def sets(
        self, m: int = SCREEN_SIZE, n: int = 1, *, to: str = "", seconds: float = LEASE_S
    ) -> list[Screen]:
        """Return up to n screens of rows that are worth sorting together.

        A screen shows piles that are there already, each by a row of it, and cards: rows that belong in one
        of these piles, or in a new one. Each screen is leased for some time: meanwhile nobody else gets its
        cards. The screens that the same person has still open come first. Leases are not stored.

        KIN chooses the rows together. Of other learners a screen has the rows of their next questions.

        Parameters
        ----------
        m : int, default=9
            Largest number of rows of a screen, from 2 to 100.
        n : int, default=1
            Largest number of screens. Several at once teach less than one after the other.
        to : str, default=""
            Who shall sort: the name of a person or a program.
        seconds : float, default=600.0
            How long each screen is leased.

        Returns
        -------
        list of Screen
            Pass the piles of each to ``sort(..., question_id=screen.id)``. There may be fewer than n; empty
            if no row is worth sorting now.

        Raises
        ------
        ValueError
            `m`, `n` or `seconds` is out of range.
        TypeError
            `m` or `n` is not an integer, or `to` is not a string.
        SessionError
            The session was opened without its data, or `to` is not valid Unicode.

        Examples
        --------
        >>> import linkwise as lw
        >>> session = lw.Session([[0.0], [0.1], [5.0], [5.1]])
        >>> screen = session.sets(4)[0]
        >>> sorted(screen.cards)
        [0, 1, 2, 3]
        >>> session.sort([[0, 1], [2, 3]], question_id=screen.id)
        >>> session.labels.tolist()
        [1, 1, 0, 0]
        """
        size = check_size(m)
        check_is_integer(n, "screens")
        if n < 1 or not 0 < seconds < math.inf:
            raise ValueError(f"n is {n} and seconds is {seconds}. Pass positive numbers.")
        name, leases = check_source(to), self._questions.leases
        self._state.catch_up()
        replay, start = self._state.follow(), self._state.last_start()
        for lease in leases.current_screens():
            if not (self._is_open(lease) or self._is_sorted(lease)):  # an undo opens a sorted one again
                leases.drop_screen(lease.screen.id)
        held = self._list_open()
        mine = [lease for lease in held if lease.screen.to == name and len(lease.screen.rows) <= size][:n]
        found = [leases.renew_screen(lease, seconds) for lease in mine]
        answered = set(replay.evidence.groups().row.tolist())
        while len(found) < n:
            held = self._list_open()
            shown = replay.gather(size, [lease.screen.rows for lease in held])
            if shown is None:
                break
            place = leases.next_place(start) if held else Place(start, 0)
            new = frozenset(shown.cards) - answered
            found.append(leases.give_screen(shown, place, name, seconds, new))
        return [lease.screen for lease in found]

    def gathers(self) -> bool:
        """Whether the learner chooses the rows of a screen together, instead of those of its next questions.

        False without the data.
        """
        return self._state.replay is not None and self._state.replay.gathers

    def choose_anew(self, to: str, number: int) -> None:
        """Drop the screens that somebody got after an event that is undone: what it said chose them."""
        for lease in self._questions.leases.current_screens():
            if lease.screen.to == to and lease.place.start >= number:
                self._questions.leases.drop_screen(lease.screen.id)

    def _list_open(self) -> list[ScreenLease]:
        return [lease for lease in self._questions.leases.current_screens() if self._is_open(lease)]

    def _is_sorted(self, lease: ScreenLease) -> bool:
        return self._state.is_sorted(lease.screen.rows, lease.place.start)

    def _is_open(self, lease: ScreenLease) -> bool:
        """Whether a screen waits to be sorted.

        Nobody has sorted it, or answered about a new card of it, and no undo has taken back its known piles.
        """
        if self._is_sorted(lease):
            return False
        answered = set(self._state.evidence_now().groups().row.tolist())
        return lease.new.isdisjoint(answered) and all(answered & {*pile} for pile in lease.screen.known)

    # ------------------------------------------------------------ taking
    def sort(
        self,
        piles: Iterable[Iterable[int]],
        unsure: Iterable[int] = (),
        *,
        question_id: str | None = None,
        source: str = "",
        seconds: float | None = None,
        note: str = "",
    ) -> None:
        """Store into which piles rows were sorted, as one event; return after it is safely stored.

        Rows of one pile belong together, and those of two piles do not. `undo` takes all of it back, and
        `change` replaces the piles.

        Parameters
        ----------
        piles : iterable of iterable of int
            The rows of each pile. Known piles of the screen may be left out if they get no row, and two of
            them may be merged.
        unsure : iterable of int, default=()
            Cards that you are not sure about; nothing follows for them.
        question_id : str, optional
            The `id` of one of `sets`. Without it, all rows are cards.
        source : str, default=""
            Who sorted the rows: the name of a person or a program.
        seconds : float, optional
            How long it took, in seconds, from the moment when the screen was shown.
        note : str, default=""
            What you want to remember about it, up to 2000 characters.

        Raises
        ------
        ConstraintError
            A card is in no pile, a row is in two, or a row is not on the screen or does not exist.
        InfeasibleConstraintsError
            The piles contradict earlier answers; the error names the chain. Nothing is stored. If answers may
            be wrong, only those of a source that is certain can contradict.
        StaleAnswerError
            The screen was sorted already by the same source, or its id is unknown. Nothing is stored.
        SessionError
            `source` or `note` is not valid Unicode, or the note is too long.
        TypeError
            `source` or `note` is not a string, or `seconds` is not a number.
        ValueError
            `seconds` is negative or not finite.
        """
        name = check_source(source)
        beside = {"source": name, "seconds": check_seconds(seconds), "note": check_note(note)}
        given, doubted = self._read_rows(piles), self._read_rows([unsure])[0]
        self._state.catch_up()
        shown, place = self._find(question_id, given, doubted)
        parts = check_piles(given, doubted, shown, self._journal.names.__getitem__)

        def check_sorting() -> dict[str, Any]:
            if place is not None and self._state.is_sorted(shown.rows, place.start, name):
                raise self._stale_error("it is sorted already")
            sorting = take_piles(self._state.evidence_now(), *parts, shown.cards)
            self._check(sorting, name)
            is_late = place is not None and place != Place(self._state.last_start(), 0)
            fields = {"facts": tuple(sorting.facts()), "value": list(sorting.cards)}
            return {**fields, **({"place": place} if is_late else {}), **beside}

        self._recorder.write_checked("sort", check_sorting)

    def change(self, event: Event, piles: object, unsure: Iterable[int]) -> dict[str, Any] | None:
        """The fields of the event that replaces the piles of another one; None if they are the same."""
        before = event.sorting
        assert before is not None, "only piles are changed"
        known = tuple((row,) for row in before.order if row not in before.cards)
        shown = Gathered(known, before.cards)
        given, doubted = self._read_rows(piles), self._read_rows([unsure])[0]
        parts = check_piles(given, doubted, shown, self._journal.names.__getitem__)
        others = [each for each in self._state.settled if each is not event]
        sorting = take_piles(self._state.evidence_of_others(others), *parts, shown.cards)
        if sorting == before:
            return None
        self._check(sorting, event.source, others)
        return {"facts": tuple(sorting.facts()), "value": list(sorting.cards)}

    def _check(self, sorting: Sorting, source: str, others: Sequence[Event] | None = None) -> None:
        """Raise if piles contradict what counts as right."""
        if rate_of_source(self._state.rate, source) == 0:
            known = self._state.certain_evidence(others)
            known.check_constraints(constraints_of(self._journal.n_rows, sorting.facts()))

    def _find(
        self, question_id: str | None, piles: Sequence[Sequence[int]], unsure: Sequence[int]
    ) -> tuple[Gathered, Place | None]:
        """The rows of a screen, and its place; without an id the rows that are sorted."""
        if question_id is not None:
            found = self._questions.leases.find_screen(question_id, self._journal.n_rows, self._journal.last)
            if found is None:
                raise self._stale_error("there is no such screen")
            return found
        rows = tuple(dict.fromkeys(row for part in (*piles, unsure) for row in part))
        if not 2 <= len(rows) <= MOST_SORTED:
            raise SessionError(f"These are {len(rows)} rows. Pass piles of 2 to {MOST_SORTED} rows in all.")
        return Gathered((), rows), None

    def _read_rows(self, piles: object) -> list[list[int]]:
        """The rows of piles as plain integers."""
        given: list[Any] = list(piles) if isinstance(piles, Iterable) else [piles]
        if isinstance(piles, str) or not all(isinstance(pile, Iterable) for pile in given):
            raise ConstraintError(
                f"The piles are not lists of rows: {short_repr(piles)}. Pass piles such as [[0, 1], [2]]."
            )
        return [[check_row(row, self._journal.n_rows) for row in pile] for pile in given]

    def _stale_error(self, why: str) -> StaleAnswerError:
        question = None if self._state.replay is None else self._questions.question()
        return StaleAnswerError(f"The piles are not stored: {why}. Sort one of sets().", question)

"""Open questions: who gets which one, until when, and what somebody puts off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral

import numpy as np

from linkwise.constraints.facts import Answer
from linkwise.errors import SessionError, StaleAnswerError, short_repr
from linkwise.learn.batches import Expectation, expect
from linkwise.session.guidelines import SessionGuidelines
from linkwise.session.journal.events import Place
from linkwise.session.journal.values import check_source
from linkwise.session.team.extra_questions import WHY, choose_gold, choose_second_opinions, count_due_opinions
from linkwise.session.team.leases import Lease, OpenQuestion
from linkwise.session.view import synchronized

LEASE_S = 600.0  # how long a question is leased, unless the caller says otherwise
POSTPONED_FOR = 5  # answers after which a question that was put off comes back


class SessionQuestions(SessionGuidelines):
    """The part of `linkwise.Session` that gives questions to those who answer."""

    @synchronized
    def questions(
        self,
        n: int = 1,
        *,
        to: str = "",
        seconds: float = LEASE_S,
        overlap: float = 0.0,
        gold: str = "",
        n_others: int = 0,
    ) -> list[OpenQuestion]:
        """Return up to n questions that are worth asking together.

        Each is leased for some time: meanwhile nobody else gets it. The questions that the same person has
        still open come first. Answers may come in any order, also after the lease. Leases are not stored.

        Parameters
        ----------
        n : int, default=1
            Largest number of questions.
        to : str, default=""
            Who shall answer: the name of a person or a program.
        seconds : float, default=600.0
            How long each question is leased.
        overlap : float, default=0.0
            The share of questions that are given to a second person, too, from 0 to 1. It falls as the
            agreement of people becomes known. The pairs are drawn by the seed of the session, and nobody gets
            a pair twice. While the learner has questions, they are at most this share of what a person gets.
        gold : str, default=""
            The source of an import. Its pairs are certain; about one of ten questions is about one of them,
            so that the error rate of whoever answers becomes known. The answers do not count as answers to
            questions of the learner. By default there are no such questions.
        n_others : int, default=0
            How many questions others will ask for before the next answer. They are chosen together with
            these, which takes less time.

        Returns
        -------
        list of OpenQuestion
            Answer each by ``answer(..., question_id=question.id)``. There may be fewer than n of them; empty
            if nothing else is worth asking until others have answered.

        Raises
        ------
        ValueError
            `n` or `seconds` is not positive, or `overlap` is not a share.
        TypeError
            `n` or `n_others` is not an integer, or `to` is not a string.
        SessionError
            The session was opened without its data, or `to` is not valid Unicode; or it takes all answers as
            right, although `overlap` or `gold` is given.
        """
        check_is_integer(n, "questions")
        check_is_integer(n_others, "questions of others", "n_others")
        if n_others < 0:
            raise ValueError(f"n_others is {n_others}. Pass 0 or more.")
        if n < 1 or not 0 < seconds < math.inf:
            raise ValueError(f"n is {n} and seconds is {seconds}. Pass positive numbers.")
        if not 0 <= overlap <= 1:
            raise ValueError(f"overlap is {overlap}. Pass a share of the questions, from 0 to 1.")
        name = check_source(to)
        self._catch_up()
        replay, start = self._current_replay(), self._last_start()
        present = replay.question
        self._leases.forget(start, self._is_settled)
        # if the learner needs no further answer, only questions that check others are still worth asking
        held = [
            lease
            for lease in self._leases.current()
            if self._is_open(lease) and (present is not None or lease.expectation.is_check)
        ]
        mine = [lease for lease in held if lease.question.to == name]
        put_off = self._find_postponed(name)
        pairs = {frozenset(lease.expectation.pair) for lease in held}
        held += [lease for lease in put_off if frozenset(lease.expectation.pair) not in pairs]
        extra = self._choose_extra(n - len(mine), name, held, overlap, gold, has_others=present is not None)
        if (
            not extra
            and n == 1
            and n_others == 0
            and len(mine) == len(held)
            and all(lease.is_single for lease in mine)
        ):
            if present is None:
                return []
            chosen = expect(present, replay.evidence)
            return [self._leases.give(chosen, Place(start, 0), name, seconds, is_single=True).question]
        mine = [self._leases.renew(lease, seconds) for lease in mine[:n]]
        mine += [self._leases.give(one, self._leases.place(one, start), name, seconds) for one in extra]
        request = self._last_number, n - len(mine), tuple(lease.question.id for lease in held)
        if len(mine) < n and request != self._unmet:
            taken = [*(lease.expectation for lease in held), *extra]
            batch = self._choose_open(n - len(mine), n_others, taken)
            self._unmet = None if batch else request
            for chosen in batch:
                is_present = present is not None and {*chosen.pair} == {present.first, present.second}
                place = Place(start, 0) if is_present else self._leases.place(chosen, start)
                mine.append(self._leases.give(chosen, place, name, seconds))
        if len(mine) < n and overlap:  # others hold what the learner asks
            held = [lease for lease in self._leases.current() if self._is_open(lease)] + put_off
            left = self._choose_extra(n - len(mine), name, held, overlap)
            mine += [self._leases.give(one, self._leases.place(one, start), name, seconds) for one in left]
        if not mine and put_off:  # there is nothing else
            self._leases.resume(name)
            return self.questions(n, to=to, seconds=seconds, overlap=overlap, gold=gold, n_others=n_others)
        return [lease.question for lease in mine]

    @synchronized
    def postpone(self, question_id: str, *, to: str = "") -> None:
        """Ask a question later: `questions` gives others first.

        It comes back after five answers, or as soon as there is no other question. This is no answer: nothing
        is stored, and after a restart the question is just asked again. `question` stays the same.

        Parameters
        ----------
        question_id : str
            The id of one of `questions`, or `question_id`.
        to : str, default=""
            Who puts it off: the name of a person or a program. Others may get the question meanwhile.

        Raises
        ------
        StaleAnswerError
            The question is not open any more.
        TypeError
            `to` is not a string.
        SessionError
            The session was opened without its data, or `to` is not valid Unicode.

        Examples
        --------
        >>> import linkwise as lw
        >>> session = lw.Session([[0.0], [0.1], [5.0], [5.1]])
        >>> first = session.questions()[0]
        >>> session.postpone(first.id)
        >>> other = session.questions()[0]
        >>> (other.first, other.second) == (first.first, first.second)
        False
        """
        name = check_source(to)
        self._catch_up()
        replay, place = self._current_replay(), Place(self._last_start(), 0)
        present, lease = replay.question, self._leases.get(question_id)
        rows = None if present is None else (present.first, present.second)
        if lease is None and present and rows and question_id == self._leases.name(place, *rows):
            lease = self._leases.give(expect(present, replay.evidence), place, name, 0.0)
        if lease is None or not self._is_open(lease):
            raise StaleAnswerError("This question is not open any more. Answer the present one.", present)
        self._leases.postpone(lease, name, self._count_answers_of(name) + POSTPONED_FOR)

    @synchronized
    def list_postponed(self, to: str = "") -> list[tuple[int, int]]:
        """List the open questions that somebody put off by `postpone` and does not get yet.

        Parameters
        ----------
        to : str, default=""
            The name of the person or program.

        Returns
        -------
        list of (int, int)
            The two rows of each question.
        """
        self._catch_up()
        return [lease.expectation.pair for lease in self._find_postponed(check_source(to))]

    def _find_postponed(self, name: str) -> list[Lease]:
        """The questions that somebody put off, that are still worth asking, and that do not come back yet."""
        found = self._leases.find_postponed(name, self._count_answers_of(name))
        has_present = bool(found) and self._current_replay().question is not None
        return [each for each in found if self._is_open(each) and (has_present or each.expectation.is_check)]

    def _count_answers_of(self, name: str) -> int:
        return sum(event.kind == "answer" and event.source == name for event in self._settled_events())

    def _choose_open(self, n: int, n_others: int, taken: list[Expectation]) -> list[Expectation]:
        """Choose up to n questions of the learner, and n more that are kept until others ask for them.

        Those that were kept serve as long as no event is added and no question becomes free.
        """
        pairs = {frozenset(one.pair) for one in taken}
        number, known, kept = self._kept
        if number != self._last_number or not known <= pairs or not kept:
            kept = self._current_replay().choose_batch(n + n_others, taken)
        else:
            kept = [one for one in kept if frozenset(one.pair) not in pairs]
        batch, kept = kept[:n], kept[n:]
        self._kept = self._last_number, pairs | {frozenset(one.pair) for one in batch}, kept
        return batch

    @synchronized
    def release(self, to: str = "") -> None:
        """Let others have the open questions of somebody who has left. Late answers count nevertheless.

        Parameters
        ----------
        to : str, default=""
            The name of the person or program.
        """
        self._leases.release(check_source(to))

    def _choose_extra(
        self,
        n: int,
        person: str,
        held: Sequence[Lease],
        overlap: float,
        gold: str = "",
        *,
        has_others: bool = False,
    ) -> list[Expectation]:
        """Choose up to n gold pairs and second opinions for a person; not too many if there are others."""
        if not (overlap or gold):
            return []
        if self._error_rate == 0:
            raise SessionError(
                "This session treats every answer as correct, so overlap and gold have no effect. "
                "Open it with error_rate=None, or remove overlap and gold."
            )
        if n <= 0:
            return []
        # in the order of their questions, so that it does not matter when answers arrived
        settled, seed = self._ordered_events(), self._meta["seed"]
        open_pairs = {_sort_pair(*lease.expectation.pair) for lease in held}
        pairs = choose_gold(settled, person, open_pairs, gold, seed) if gold else []
        second = choose_second_opinions(settled, person, open_pairs, overlap, seed) if overlap else []
        if second and has_others:
            n = min(n, len(pairs) + count_due_opinions(settled, person, n, overlap))
        if second:
            certain = self._certain_evidence()
            pairs += [pair for pair in second if certain.verdict(*pair) not in ("yes", "no")]
        return [self._expect_extra(pair) for pair in pairs[:n]]

    def _expect_extra(self, pair: tuple[int, int]) -> Expectation:
        first, second = self._current_replay().shown.take(np.array(pair))
        likely: Answer = "yes" if first == second else "no"
        return Expectation(pair, WHY, likely, is_check=True)

    def _is_open(self, lease: Lease) -> bool:
        """Whether the question of a lease waits for its answer."""
        if self._is_settled(lease):
            return False
        first, second = lease.expectation.pair
        return lease.expectation.is_check or self._current_evidence().verdict(first, second) is None

    def _is_settled(self, lease: Lease) -> bool:
        """Whether the question of a lease was answered by anybody."""
        return self._is_answered(*lease.expectation.pair, lease.place.start)


def _sort_pair(first: int, second: int) -> tuple[int, int]:
    return min(first, second), max(first, second)


def check_is_integer(n: object, noun: str, name: str = "n") -> None:
    """Raise a TypeError if a number of things is not an integer."""
    if not isinstance(n, Integral) or isinstance(n, bool):
        raise TypeError(f"{name} is not an integer: {short_repr(n)}. Pass the number of {noun}.")

"""Questions and their answers: who gets which question, until when, and what somebody puts off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from numbers import Integral
from typing import Any

import numpy as np

from linkwise.constraints.facts import Answer, GivenAnswer, check_answer
from linkwise.errors import SessionError, StaleAnswerError, short_repr
from linkwise.learn.batches import Expectation, expect
from linkwise.learn.learner import Question
from linkwise.session.journal.events import ANSWERS_QUESTION, BESIDE, Place, check_source
from linkwise.session.journal.journal import Journal
from linkwise.session.journal.store import WriteConflict
from linkwise.session.recorder import Recorder
from linkwise.session.state.session_state import SessionState
from linkwise.session.team.extra_questions import WHY, choose_gold, choose_second_opinions, count_due_opinions
from linkwise.session.team.leases import Lease, Leases, OpenQuestion

LEASE_S = 600.0  # how long a question is leased, unless the caller says otherwise
POSTPONED_FOR = 5  # answers after which a question that was put off comes back


class Questionnaire:
    """The questions of a session, for one person or several, and their answers.

    Parameters
    ----------
    journal : Journal
    state : SessionState
    recorder : Recorder

    Attributes
    ----------
    leases : Leases
        Who holds which question.
    """

    def __init__(self, journal: Journal, state: SessionState, recorder: Recorder) -> None:
        self._journal, self._state, self._recorder = journal, state, recorder
        self._unmet: tuple[int, int, tuple[str, ...]] | None = None  # the last request that got no question
        self.begin_leases()

    def begin_leases(self) -> None:
        """Forget all leases; ids of questions about rows that have moved since are stale."""
        self.leases = Leases(n_moves=self._journal.meta.get("moves", 0))
        self._kept: tuple[int, set[frozenset[int]], list[Expectation]] = (-1, set(), [])  # see `_choose_open`

    # ------------------------------------------------------------ the present question
    def question(self) -> Question | None:
        """The present question; None when nothing is left to ask."""
        self._state.catch_up()
        question = self._state.follow().question
        self._state.has_news = False
        return question

    def question_id(self) -> str | None:
        """An identifier of the present question, so that an answer can name its question."""
        return self.name(self.question())

    def answer(
        self,
        answer: GivenAnswer,
        *,
        question_id: str | None = None,
        source: str = "",
        seconds: float | None = None,
        note: str = "",
        reliability: float | None = None,
    ) -> None:
        """Answer the present question; return after the answer is safely stored.

        Parameters
        ----------
        answer : {"same", "different", "unsure", "yes", "no"} or bool
            Whether the two rows belong together. True means "yes" and False means "no".
        question_id : str, optional
            The `question_id` of the question that the person saw, or the id of one of `questions`. Without
            it, an error is raised if another client has written anything since this one last read
            `question`.
        source : str, default=""
            Who answers: the name of a person or a program.
        seconds : float, optional
            How long the answer took, in seconds, from the moment when the question was shown.
        note : str, default=""
            What you want to remember about the answer, up to 2000 characters. The session keeps both
            beside the answer, and no learner sees them. `note` changes a note later.
        reliability : float, optional
            The probability that the answer is right, from 0.5 to 1, as a program estimates it. Where answers
            may be wrong, it can only lower what the answer counts: an answer never counts more than the error
            rate of its source allows. It does not apply to ``"unsure"``.

        Raises
        ------
        StaleAnswerError
            The session asks another question now; the error holds it. Nothing is stored.
        InfeasibleConstraintsError
            The answer to one of several open questions contradicts other answers. Nothing is stored.
        SessionError
            There is no question left, the session was opened without its data, the note is too long, or
            `source` or `note` is not valid Unicode. Nothing was stored.
        TypeError
            `source` or `note` is not a string, or `seconds` or `reliability` is not a number.
        ValueError
            `seconds` is negative or not finite, or `reliability` is out of range.
        """
        name = check_source(source)
        given = {"seconds": seconds, "note": note, "reliability": reliability}
        remark = {name: check(given[name]) for name, check in BESIDE.items()}
        if answer == "unsure":
            remark["reliability"] = None
        self._state.catch_up()
        if question_id is not None and self._has_other_place(question_id):
            self._answer_open(answer, question_id, name, remark)
            return
        q = self._state.follow().question
        if question_id is not None and question_id != self.name(q):
            raise self._stale_error()
        if question_id is None and self._state.has_news:
            raise self._stale_error()
        if q is None:
            raise SessionError(
                f"There is no question to answer ({self._state.follow().reason}). Volunteer pairs with add()."
            )
        checked = check_answer(answer, q.first, q.second)
        first, second = self._state.evidence_now().check(q.first, q.second, checked, source=name)
        start = self._state.last_start()
        while start == self._state.last_start():  # else another client changed what is asked
            with suppress(WriteConflict):
                return self._recorder.write(
                    "answer", first=first, second=second, answer=checked, source=name, **remark
                )
            self._state.catch_up()
        raise self._stale_error()

    def _has_other_place(self, question_id: str) -> bool:
        """Whether `questions` gave a question elsewhere than where the session asks now."""
        found = self.leases.find(question_id, self._journal.n_rows, self._journal.last)
        return found is not None and found[2] != Place(self._state.last_start(), 0)

    def _answer_open(
        self, answer: GivenAnswer, question_id: str, source: str, remark: dict[str, Any]
    ) -> None:
        """Store the answer to a question that `questions` gave; it may be late."""
        found = self.leases.find(question_id, self._journal.n_rows, self._journal.last)
        if found is None:
            raise self._stale_error()
        i, j, place = found
        checked = check_answer(answer, i, j)

        def check_open() -> dict[str, Any]:
            if self._state.is_answered(i, j, place.start, source):
                raise self._stale_error()
            first, second = self._state.checking_evidence().check(i, j, checked, source=source)
            fields = {"first": first, "second": second, "answer": checked, "source": source, "place": place}
            return {**fields, **remark}

        self._recorder.write_checked("answer", check_open)

    def name(self, question: Question | None) -> str | None:
        """The identifier of the present question."""
        if question is None:
            return None
        return self.leases.name(Place(self._state.last_start(), 0), question.first, question.second)

    def _stale_error(self) -> StaleAnswerError:
        question = self.question()
        if question is None:
            text = "The answer is not stored: there is no question any more. Volunteer pairs with add()."
        else:
            text = "The answer is not stored: the session asks another question now. Answer that one."
        return StaleAnswerError(text, question)

    # ------------------------------------------------------------ open questions
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
        self._state.catch_up()
        replay, start = self._state.follow(), self._state.last_start()
        present = replay.question
        self.leases.forget(start, self._is_settled)
        # if the learner needs no further answer, only questions that check others are still worth asking
        held = [
            lease
            for lease in self.leases.current()
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
            return [self.leases.give(chosen, Place(start, 0), name, seconds, is_single=True).question]
        mine = [self.leases.renew(lease, seconds) for lease in mine[:n]]
        mine += [self.leases.give(one, self.leases.place(one, start), name, seconds) for one in extra]
        request = self._journal.last, n - len(mine), tuple(lease.question.id for lease in held)
        if len(mine) < n and request != self._unmet:
            taken = [*(lease.expectation for lease in held), *extra]
            batch = self._choose_open(n - len(mine), n_others, taken)
            self._unmet = None if batch else request
            for chosen in batch:
                is_present = present is not None and {*chosen.pair} == {present.first, present.second}
                place = Place(start, 0) if is_present else self.leases.place(chosen, start)
                mine.append(self.leases.give(chosen, place, name, seconds))
        if len(mine) < n and overlap:  # others hold what the learner asks
            held = [lease for lease in self.leases.current() if self._is_open(lease)] + put_off
            left = self._choose_extra(n - len(mine), name, held, overlap)
            mine += [self.leases.give(one, self.leases.place(one, start), name, seconds) for one in left]
        if not mine and put_off:  # there is nothing else
            self.leases.resume(name)
            return self.questions(n, to=to, seconds=seconds, overlap=overlap, gold=gold, n_others=n_others)
        return [lease.question for lease in mine]

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
        self._state.catch_up()
        replay, place = self._state.follow(), Place(self._state.last_start(), 0)
        present, lease = replay.question, self.leases.get(question_id)
        rows = None if present is None else (present.first, present.second)
        if lease is None and present and rows and question_id == self.leases.name(place, *rows):
            lease = self.leases.give(expect(present, replay.evidence), place, name, 0.0)
        if lease is None or not self._is_open(lease):
            raise StaleAnswerError("This question is not open any more. Answer the present one.", present)
        self.leases.postpone(lease, name, self._count_answers_of(name) + POSTPONED_FOR)

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
        name = check_source(to)
        if not self.leases.has_postponed(name):
            return []
        self._state.catch_up()
        return [lease.expectation.pair for lease in self._find_postponed(name)]

    def _find_postponed(self, name: str) -> list[Lease]:
        """The questions that somebody put off, that are still worth asking, and that do not come back yet."""
        found = self.leases.find_postponed(name, self._count_answers_of(name))
        has_present = bool(found) and self._state.follow().question is not None
        return [each for each in found if self._is_open(each) and (has_present or each.expectation.is_check)]

    def _count_answers_of(self, name: str) -> int:
        return sum(event.kind in ANSWERS_QUESTION and event.source == name for event in self._state.settled)

    def _choose_open(self, n: int, n_others: int, taken: list[Expectation]) -> list[Expectation]:
        """Choose up to n questions of the learner, and n more that are kept until others ask for them.

        Those that were kept serve as long as no event is added and no question becomes free.
        """
        pairs = {frozenset(one.pair) for one in taken}
        number, known, kept = self._kept
        if number != self._journal.last or not known <= pairs or not kept:
            kept = self._state.follow().choose_batch(n + n_others, taken)
        else:
            kept = [one for one in kept if frozenset(one.pair) not in pairs]
        batch, kept = kept[:n], kept[n:]
        self._kept = self._journal.last, pairs | {frozenset(one.pair) for one in batch}, kept
        return batch

    def release(self, to: str = "") -> None:
        """Let others have the open questions of somebody who has left. Late answers count nevertheless.

        Parameters
        ----------
        to : str, default=""
            The name of the person or program.
        """
        self.leases.release(check_source(to))

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
        if self._state.rate == 0:
            raise SessionError(
                "This session treats every answer as correct, so overlap and gold have no effect. "
                "Open it with error_rate=None, or remove overlap and gold."
            )
        if n <= 0:
            return []
        # in the order of their questions, so that it does not matter when answers arrived
        settled, seed = self._state.ordered, self._journal.meta["seed"]
        open_pairs = {_sort_pair(*lease.expectation.pair) for lease in held}
        pairs = choose_gold(settled, person, open_pairs, gold, seed) if gold else []
        second = choose_second_opinions(settled, person, open_pairs, overlap, seed) if overlap else []
        if second and has_others:
            n = min(n, len(pairs) + count_due_opinions(settled, person, n, overlap))
        if second:
            certain = self._state.certain_evidence()
            pairs += [pair for pair in second if certain.verdict(*pair) not in ("yes", "no")]
        return [self._expect_extra(pair) for pair in pairs[:n]]

    def _expect_extra(self, pair: tuple[int, int]) -> Expectation:
        first, second = self._state.follow().shown.take(np.array(pair))
        likely: Answer = "yes" if first == second else "no"
        return Expectation(pair, WHY, likely, is_check=True)

    def _is_open(self, lease: Lease) -> bool:
        """Whether the question of a lease waits for its answer."""
        if self._is_settled(lease):
            return False
        first, second = lease.expectation.pair
        return lease.expectation.is_check or self._state.evidence_now().verdict(first, second) is None

    def _is_settled(self, lease: Lease) -> bool:
        """Whether the question of a lease was answered by anybody."""
        return self._state.is_answered(*lease.expectation.pair, lease.place.start)


def _sort_pair(first: int, second: int) -> tuple[int, int]:
    return min(first, second), max(first, second)


def check_is_integer(n: object, noun: str, name: str = "n") -> None:
    """Raise a TypeError if a number of things is not an integer."""
    if not isinstance(n, Integral) or isinstance(n, bool):
        raise TypeError(f"{name} is not an integer: {short_repr(n)}. Pass the number of {noun}.")

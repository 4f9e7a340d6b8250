"""Several people and programs at one session: who gets which question, and how far answers agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from numbers import Integral
from typing import Any

from linkwise.asking.batches import Expectation, expect
from linkwise.asking.learner import check_answer
from linkwise.constraints.evidence import Answer, Fact
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.errors import SessionError, short_repr
from linkwise.session.agreement import SourceAgreement, measure_agreement
from linkwise.session.audit import (
    AuditPlan,
    AuditReport,
    answers_of,
    draw_plan,
    list_open,
    measure_audit,
    verdicts_of,
)
from linkwise.session.events import Place
from linkwise.session.extra_questions import WHY, choose_gold, choose_second_opinions, count_due_opinions
from linkwise.session.guidelines import SessionGuidelines
from linkwise.session.leases import Lease, OpenQuestion, name_question
from linkwise.session.remarks import check_note
from linkwise.session.review import ReviewCase, list_cases
from linkwise.session.view import synchronized
from linkwise.session.writer import check_source

LEASE_S = 600.0  # how long a question is leased, unless the caller says otherwise
AUDIT_REASON = "Your answer shows how often {} is wrong."
UNDECIDED = (
    "This contradicts what is certain: {}. Answer otherwise, or undo or change one of these answers first."
)


class SessionPeople(SessionGuidelines):
    """The part of `linkwise.Session` that is about people and programs who answer."""

    # ------------------------------------------------------------ many questions at once
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
        _check_is_integer(n, "questions")
        _check_is_integer(n_others, "questions of others", "n_others")
        if n_others < 0:
            raise ValueError(f"n_others is {n_others}. Give 0 or more.")
        if n < 1 or not 0 < seconds < math.inf:
            raise ValueError(f"n is {n} and seconds is {seconds}. Give positive numbers.")
        if not 0 <= overlap <= 1:
            raise ValueError(f"overlap is {overlap}. Give a share of the questions, from 0 to 1.")
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
            held = [lease for lease in self._leases.current() if self._is_open(lease)]
            left = self._choose_extra(n - len(mine), name, held, overlap)
            mine += [self._leases.give(one, self._leases.place(one, start), name, seconds) for one in left]
        return [lease.question for lease in mine]

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
                "This session takes all answers as right, so overlap and gold tell nothing. "
                "Open it with error_rate=None, or leave them out."
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
        labels = self._current_replay().labels
        likely: Answer = "yes" if labels[pair[0]] == labels[pair[1]] else "no"
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

    # ------------------------------------------------------------ agreement and audits
    @synchronized
    def agreement(self) -> list[SourceAgreement]:
        """Compare the answers of each two sources to the pairs that both answered with yes or no.

        Returns
        -------
        list of SourceAgreement
            One for each two sources with a common pair, with Cohen's kappa and its 95 % interval. Volunteered
            pairs count as answers.
        """
        self._catch_up()
        return measure_agreement(self._settled_events())

    @synchronized
    def audit(self, source: str, n: int = 30, *, by: str = "") -> list[OpenQuestion]:
        """Return up to n pairs that a program answered, for a person to answer them, too.

        A third of them are the most doubtful answers of the program, "yes" and "no" by turns; the others are
        drawn at random. While pairs of the last audit are open, they are returned and no others are chosen.
        `audit_report` tells what follows from the answers.

        Parameters
        ----------
        source : str
            Name of the program.
        n : int, default=30
            Largest number of pairs.
        by : str, default=""
            Name of the person who answers.

        Returns
        -------
        list of OpenQuestion
            Answer each by ``answer(..., question_id=question.id, source=by)``. Empty if the person has
            answered all pairs of the program.

        Raises
        ------
        ValueError
            `n` is not positive, or `source` and `by` are the same.
        TypeError
            `n` is not an integer, or a name is not a string.
        SessionError
            The session takes all answers as right, it was opened without its data, or the program has given
            no answer.
        """
        _check_is_integer(n, "pairs")
        if n < 1:
            raise ValueError(f"n is {n}. Give a positive number of pairs.")
        program, person = check_source(source), check_source(by)
        if program == person:
            raise ValueError(f"The source {program!r} cannot audit itself. Give by another name.")
        self._catch_up_belief()
        self._current_replay()  # an error without data
        evidence = self._current_evidence()
        if not isinstance(evidence, FallibleEvidence):
            raise SessionError(
                "This session takes all answers as right, so there is nothing to audit. "
                "Open it with error_rate=None to let answers be wrong."
            )
        remaining = self._remaining_events()
        answers = answers_of(remaining, program)
        if not answers:
            raise SessionError(f"{program!r} has given no answer. Take a source from history.")
        verdicts = verdicts_of(remaining, self._settled_events(), program, person)
        plan = self._find_audit(program, person)
        if plan is None or not list_open(plan, answers, verdicts):
            place = int(self._meta["seed"]), self._last_number
            plan = draw_plan(program, person, int(n), answers, verdicts, evidence, place)
            if plan.pairs:
                self._store_audit(plan)
        why, until = AUDIT_REASON.format(program), self._leases.now() + timedelta(seconds=LEASE_S)
        pairs, start = list_open(plan, answers, verdicts)[:n], self._last_start()
        return [
            OpenQuestion(name_question(Place(start, position), *pair), *pair, why, person, until)
            for position, pair in enumerate(pairs, 1)
        ]

    @synchronized
    def audit_report(self, source: str, *, by: str = "") -> AuditReport:
        """Compare the answers of a program with those that a person gave in its audit (see `Session.audit`).

        Parameters
        ----------
        source : str
            Name of the program.
        by : str, default=""
            Name of the person.

        Returns
        -------
        AuditReport
            The share of wrong answers with its interval, by the audit alone and by all answers, and whether
            the program is wrong where the distance is wrong. The last part needs the data.

        Raises
        ------
        SessionError
            This person has begun no audit of this program.
        """
        self._catch_up_belief()
        plan = self._find_audit(source, by)
        if plan is None:
            raise SessionError(
                f"There is no audit of {source!r} by {by!r}. Begin it with audit({source!r}, by={by!r})."
            )
        remaining = self._remaining_events()
        return measure_audit(
            plan,
            answers_of(remaining, source),
            verdicts_of(remaining, self._settled_events(), source, by),
            self._current_evidence().error_rates().by_source.get(source),
            self.X,
        )

    def _find_audit(self, source: str, by: str) -> AuditPlan | None:
        """The last audit of a source by a person; None before the first."""
        plans: tuple[AuditPlan, ...] = self._meta.get("audits", ())
        return next((plan for plan in plans if (plan.source, plan.by) == (source, by)), None)

    def _store_audit(self, plan: AuditPlan) -> None:
        """Store an audit in place of an earlier one of the same two."""
        others = [
            each for each in self._meta.get("audits", ()) if (each.source, each.by) != (plan.source, plan.by)
        ]
        self._store.put_meta({"audits": [*others, plan]})
        self._meta["audits"] = (*others, plan)

    # ------------------------------------------------------------ review
    @synchronized
    def review(self, reviewer: str = "") -> list[ReviewCase]:
        """List the pairs that a reviewer should decide by `decide`.

        These are the pairs with both a yes and a no, and those of `suspects`, unless what is certain decides
        them already.

        Parameters
        ----------
        reviewer : str, default=""
            Who reviews: pairs that this person decided as ``"unsure"`` are left out.

        Returns
        -------
        list of ReviewCase
            Pairs with both a yes and a no first, then the most probable suspects. Empty if the session takes
            all answers as right.
        """
        self._catch_up_belief()
        if self._error_rate == 0:
            return []
        if self._cases is None or self._cases[0] != self._last_number:
            found = list_cases(
                self._settled_events(), self._certain_evidence(), self._current_evidence(), self.suspects
            )
            self._cases = self._last_number, found
        name = " ".join(reviewer.split())
        return [case for case in self._cases[1] if case.waits_for(name)]

    @synchronized
    def decide(
        self, first: int, second: int, answer: Answer | bool, *, source: str = "", note: str = ""
    ) -> int:
        """Decide a pair of `review`; a yes or no is certain from then on, and outranks all other answers.

        Parameters
        ----------
        first, second : int
            Positions of the two rows.
        answer : {"yes", "no", "unsure"} or bool
            Whether the rows belong together. ``"unsure"`` decides nothing: `review` leaves the pair out for
            this reviewer only.
        source : str, default=""
            Who reviews.
        note : str, default=""
            Why you decide so, up to 2000 characters.

        Returns
        -------
        int
            The number of the event, for `undo`.

        Raises
        ------
        InfeasibleConstraintsError
            The answer contradicts what is certain; the error names the chain. Nothing is stored.
        ConstraintError
            The rows do not exist.
        TypeError
            The answer is unknown, or `source` or `note` is not a string.
        SessionError
            `source` or `note` is not valid Unicode, or the note is too long.
        """
        checked = check_answer(answer, first, second)
        name, text = check_source(source), check_note(note)

        def check_pair() -> dict[str, Any]:
            i, j = self._certain_evidence().check(first, second, checked)
            is_certain = self._error_rate != 0 and checked != "unsure"
            facts = (Fact(i, j, checked),) if is_certain else ()
            fields = {"first": i, "second": j, "answer": checked, "source": name}
            return {**fields, "facts": facts, "note": text}

        self._write_checked("add", check_pair, UNDECIDED)
        return self._last_number


def _sort_pair(first: int, second: int) -> tuple[int, int]:
    return min(first, second), max(first, second)


def _check_is_integer(n: object, noun: str, name: str = "n") -> None:
    if not isinstance(n, Integral) or isinstance(n, bool):
        raise TypeError(f"{name} is not an integer: {short_repr(n)}. Give the number of {noun}.")

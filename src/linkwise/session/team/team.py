"""The team: several people and programs at one session, how far they agree, audits, and reviews."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import ANSWERS, Answer, Fact, GivenAnswer, check_answer
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.errors import SessionError
from linkwise.session.journal.events import AuditPlan, Event, Place, check_note, check_source, write_plan
from linkwise.session.journal.journal import Journal
from linkwise.session.recorder import Recorder
from linkwise.session.state.session_state import SessionState
from linkwise.session.state.suspects import SuspectAnswer
from linkwise.session.team.agreement import SourceAgreement, measure_agreement
from linkwise.session.team.audit import (
    AuditReport,
    answers_of,
    draw_plan,
    list_open,
    measure_audit,
    verdicts_of,
)
from linkwise.session.team.leases import OpenQuestion, time_after
from linkwise.session.team.questionnaire import LEASE_S, Questionnaire, check_is_integer
from linkwise.session.team.sets import Screens

# ---------------------------------------------------------------- pairs that wait for a review
# Review: the pairs that a person should decide, because answers disagree or are probably wrong.
Pair = tuple[int, int]
Decision = Literal["yes", "no", "unsure", "neither"]


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """A pair that waits for a reviewer.

    Attributes
    ----------
    first, second : int
        Positions of the two rows, the lower one first.
    answers : tuple of Event
        The answers to this pair and whoever volunteered it, in order, each with its `source` and `when`; for
        a card of a screen, also the screen.
    is_disputed : bool
        Whether there is both a yes and a no among them.
    suspects : tuple of SuspectAnswer
        Those of the answers that are probably wrong.
    believed : {"yes", "no"} or None
        What follows for the pair from all answers; None if nothing does.
    """

    first: int
    second: int
    answers: tuple[Event, ...]
    is_disputed: bool
    suspects: tuple[SuspectAnswer, ...]
    believed: Answer | None

    @property
    def misplaced(self) -> SuspectAnswer | None:
        """The suspect whose `card` is probably in a wrong pile; None of a pair."""
        return next((suspect for suspect in self.suspects if suspect.card is not None), None)

    def resolve(self, decision: Decision) -> list[tuple[int, int, Answer]]:
        """List what to pass to `Session.decide`: two rows and an answer, and for ``"neither"`` two of these.

        Parameters
        ----------
        decision : {"yes", "no", "unsure", "neither"}
            Whether the rows belong together. Of a misplaced card: ``"yes"`` if it stays in its pile, ``"no"``
            if it belongs in the better one, and ``"neither"``.
        """
        suspect = self.misplaced
        if suspect is not None and decision == "neither":
            piles = filter(None, (suspect.better_pile, suspect.pile))
            return [(suspect.first, pile[0], "no") for pile in piles]
        if suspect is None or decision == "unsure":
            return [(self.first, self.second, check_answer(decision, self.first, self.second))]
        return [suspect.stay if decision == "yes" else suspect.move]

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What `resolve` takes."""
        found = self.misplaced
        return (*ANSWERS, "neither") if found and found.pile and found.better_pile else ANSWERS

    def waits_for(self, reviewer: str) -> bool:
        """Whether a reviewer has not left the pair as not sure; unlike an answer, that is no reply."""
        return not any(
            event.kind == "add" and event.answer == "unsure" and event.source == reviewer
            for event in self.answers
        )


def list_cases(
    settled: Sequence[Event], certain: Evidence, evidence: Evidence, suspects: Sequence[SuspectAnswer]
) -> list[ReviewCase]:
    """List the pairs that wait for some reviewer: first those with a yes and a no, then other suspects.

    Parameters
    ----------
    settled : sequence of Event
    certain : Evidence
        What is certain: it decides a pair, and then the pair waits no longer.
    evidence : Evidence
        All answers, for what is believed.
    suspects : sequence of SuspectAnswer
        The most probable ones first.
    """
    answers: dict[Pair, list[Event]] = {}
    screens = {event.number: event for event in settled if event.kind == "sort"}
    for event in settled:
        pair = _pair_of(event)
        if pair is not None:
            answers.setdefault(pair, []).append(event)
    doubted: dict[tuple[Pair, int | None], list[SuspectAnswer]] = {}
    for suspect in suspects:
        pair = min(suspect.first, suspect.second), max(suspect.first, suspect.second)
        doubted.setdefault((pair, suspect.card), []).append(suspect)
    disputed = [(pair, None) for pair, given in answers.items() if {"yes", "no"} <= {e.answer for e in given}]
    cases = []
    for pair, card in dict.fromkeys([*disputed, *doubted]):
        found = doubted.get((pair, card), [])
        ends = [part[:2] for each in found if card is not None for part in (each.stay, each.move)]
        if any(certain.verdict(*each) in ("yes", "no") for each in (pair, *ends)):
            continue
        believed = evidence.verdict(*pair)
        given = [*answers.get(pair, ()), *(screens[each.number] for each in found if each.number in screens)]
        cases.append(
            ReviewCase(
                *pair,
                answers=tuple(sorted(given, key=lambda event: event.number)),
                is_disputed=(pair, None) in disputed and card is None,
                suspects=tuple(found),
                believed=None if believed == "unsure" else believed,
            )
        )
    return cases


def _pair_of(event: Event) -> Pair | None:
    """The rows of an answer or a volunteered pair, the lower one first."""
    if event.kind not in ("answer", "add") or event.first is None or event.second is None:
        return None
    return min(event.first, event.second), max(event.first, event.second)


# ---------------------------------------------------------------- the team
AUDIT_REASON = "Your answer shows how often {} is wrong."
RECHECK_REASON = "Another answer about these rows is probably wrong."
UNDECIDED = (
    "This contradicts what is certain: {}. Answer otherwise, or undo or change one of these answers first."
)


class Team:
    """People and programs who answer.

    Parameters
    ----------
    journal : Journal
    state : SessionState
    recorder : Recorder

    Attributes
    ----------
    questions : Questionnaire
        Who gets which question.
    screens : Screens
        Who gets which screen.
    """

    def __init__(self, journal: Journal, state: SessionState, recorder: Recorder) -> None:
        self._journal, self._state, self._recorder = journal, state, recorder
        self.questions = Questionnaire(journal, state, recorder)
        self.screens = Screens(journal, state, recorder, self.questions)
        self._cases: tuple[tuple[int, int], list[ReviewCase]] = (-1, -1), []  # as of a generation and event

    # ------------------------------------------------------------ agreement and audits
    def agreement(self) -> list[SourceAgreement]:
        """Compare the answers of each two sources to the pairs that both answered with yes or no.

        Returns
        -------
        list of SourceAgreement
            One for each two sources with a common pair, with Cohen's kappa and its 95 % interval. Volunteered
            pairs count as answers.
        """
        self._state.catch_up()
        return measure_agreement(self._state.settled)

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
            The session treats every answer as correct, it was opened without its data, or the program has
            given no answer.
        """
        check_is_integer(n, "pairs")
        if n < 1:
            raise ValueError(f"n is {n}. Pass a positive number of pairs.")
        program, person = check_source(source), check_source(by)
        if program == person:
            raise ValueError(f"The source {program!r} cannot audit itself. Set `by` to a different name.")
        self._state.catch_up_belief()
        self._state.follow()  # an error without data
        evidence = self._state.evidence_now()
        if not isinstance(evidence, FallibleEvidence):
            raise SessionError(
                "This session treats every answer as correct, so there is nothing to audit. "
                "Open it with error_rate=None to let answers be wrong."
            )
        pairs: list[tuple[int, int]] = []

        def check_plan() -> dict[str, Any] | None:
            remaining = self._state.remaining
            answers = answers_of(remaining, program)
            if not answers:
                raise SessionError(f"{program!r} has given no answer. Take a source from history.")
            verdicts = verdicts_of(remaining, self._state.settled, program, person)
            plan = self._find_audit(program, person)
            pairs[:] = [] if plan is None else list_open(plan, answers, verdicts)[:n]
            if pairs:
                return None
            place = int(self._journal.meta["seed"]), self._journal.last
            plan = draw_plan(program, person, int(n), answers, verdicts, evidence, place)
            pairs[:] = plan.pairs
            return {"source": program, "value": write_plan(plan)} if pairs else None

        self._recorder.write_checked("audit", check_plan)
        why, until = AUDIT_REASON.format(program), time_after(LEASE_S)
        start = self._state.last_start()
        return [
            OpenQuestion(self.questions.leases.name(Place(start, position), *pair), *pair, why, person, until)
            for position, pair in enumerate(pairs, 1)
        ]

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
        self._state.catch_up_belief()
        plan = self._find_audit(source, by)
        if plan is None:
            raise SessionError(
                f"There is no audit of {source!r} by {by!r}. Begin it with audit({source!r}, by={by!r})."
            )
        remaining = self._state.remaining
        return measure_audit(
            plan,
            answers_of(remaining, source),
            verdicts_of(remaining, self._state.settled, source, by),
            self._state.evidence_now().error_rates().by_source.get(source),
            None if self._state.replay is None else self._state.replay.X,
        )

    def _find_audit(self, source: str, by: str) -> AuditPlan | None:
        """The last audit of a source by a person; None before the first."""
        plans = self._state.settings.audits
        return next((plan for plan in plans if (plan.source, plan.by) == (source, by)), None)

    # ------------------------------------------------------------ review
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
        self._state.catch_up_belief()
        if self._state.rate == 0:
            return []
        state, at = self._state, (self._state.generation, self._journal.last)
        if self._cases[0] != at:
            certain, evidence = state.certain_evidence(), state.evidence_now()
            self._cases = at, list_cases(state.settled, certain, evidence, state.suspects())
        name = " ".join(reviewer.split())
        return [case for case in self._cases[1] if case.waits_for(name)]

    def recheck(self, n: int = 1, *, to: str) -> list[OpenQuestion]:
        """Return up to n pairs whose answers are doubtful, for somebody else to answer them, too.

        These are the pairs of `review`, in its order, that this person or program has not answered. Such an
        answer counts like all others; `decide` makes one certain.

        Parameters
        ----------
        n : int, default=1
            Largest number of pairs.
        to : str
            Who shall answer: the name of a person or a program.

        Returns
        -------
        list of OpenQuestion
            Answer each by ``answer(..., question_id=question.id, source=to)``. Empty if no answer is
            doubtful.

        Raises
        ------
        ValueError
            `n` is not positive.
        TypeError
            `n` is not an integer, or `to` is not a string.
        SessionError
            The session was opened without its data, or `to` is not valid Unicode.
        """
        check_is_integer(n, "pairs")
        if n < 1:
            raise ValueError(f"n is {n}. Pass a positive number of pairs.")
        name = check_source(to)
        cases = [case for case in self.review(name) if all(event.source != name for event in case.answers)]
        self._state.follow()  # an error without data
        start, until = self._state.last_start(), time_after(LEASE_S)
        return [
            OpenQuestion(
                self.questions.leases.name(Place(start, position), case.first, case.second),
                case.first,
                case.second,
                RECHECK_REASON,
                name,
                until,
            )
            for position, case in enumerate(cases[:n], 1)
        ]

    def decide(
        self, first: int, second: int, answer: GivenAnswer, *, source: str = "", note: str = ""
    ) -> int:
        """Decide a pair of `review`; a yes or no is certain from then on, and outranks all other answers.

        Parameters
        ----------
        first, second : int
            Positions of the two rows.
        answer : {"same", "different", "unsure", "yes", "no"} or bool
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
            i, j = self._state.certain_evidence().check(first, second, checked)
            is_certain = self._state.rate != 0 and checked != "unsure"
            facts = (Fact(i, j, checked),) if is_certain else ()
            fields = {"first": i, "second": j, "answer": checked, "source": name}
            return {**fields, "facts": facts, "note": text}

        self._recorder.write_checked("add", check_pair, UNDECIDED)
        return self._journal.last

"""The session: ask, answer and undo, with every answer stored at once.

The state of a session is the replay of the events in its store. An answer is a fact about a pair of rows:
it counts even if another learner, or a newer version of the same one, would have asked another question.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from numbers import Integral
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from numpy.typing import ArrayLike

from linkwise.asking.batches import Expectation, expect
from linkwise.asking.learner import Learner, Progress, Question, check_answer
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.error_rates import AssumedRate
from linkwise.constraints.evidence import Answer, Evidence, Fact
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.errors import (
    DataMismatchError,
    InfeasibleConstraintsError,
    SessionDamagedError,
    SessionError,
    StaleAnswerError,
    short_repr,
)
from linkwise.session.audit import AuditPlan, answers_of, draw_plan, list_open, verdicts_of
from linkwise.session.description import (
    check_ids,
    data_difference,
    describe_learner,
    fingerprint,
    seed_of_learner,
    to_json_value,
)
from linkwise.session.events import Place, evidence_of
from linkwise.session.extra_questions import WHY, choose_gold, choose_second_opinions, count_due_opinions
from linkwise.session.leases import Lease, OpenQuestion, name_question
from linkwise.session.registry import build_learner
from linkwise.session.status import Status
from linkwise.session.store import Store, WriteConflict
from linkwise.session.view import synchronized
from linkwise.session.writer import SessionWriter, check_rates, check_source
from linkwise.validation import check_rows

__all__ = ["OpenQuestion", "Session", "Status"]

LEASE_S = 600.0  # how long a question is leased, unless the caller says otherwise
AUDIT_REASON = "Your answer shows how often {} is wrong."
DEFAULT_LEARNER = {"name": "KIN", "parameters": {"random_state": 0}}


class Session(SessionWriter):
    """The answers of one person or one team about one data set.

    Threads may share a session: each call waits until the previous one returns. Each process opens the file
    for itself: what one of them stores, the others see at their next call.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The data. Session files keep a fingerprint of them, not the values.
    learner : Learner, optional
        The learner that chooses the questions, for example ``COBRAS(random_state=0)``;
        by default ``KIN(random_state=0)``.
    ids : sequence of str, optional
        The id of every row, for files that are exported; by default the positions of the rows.
    source : dict, optional
        Where the data come from; stored with the session, as JSON.
    error_rate : float, None or mapping of str to float or None, default=0
        Share of the answers that are wrong, below 0.5; None estimates it. Unless it is 0, answers may
        contradict each other, the session checks doubtful ones by further questions, and `suspects` lists
        those that are probably wrong. Imported pairs are certain. A mapping has the share of each source, or
        None to estimate it; the entry "" counts for all other sources. The answers of a source whose share
        is 0 are certain.
    progress : callable, optional
        ``progress(done, total)``, called while the learner prepares, if it reports its progress. An exception
        that it raises ends the work, and nothing is stored.

    Raises
    ------
    TypeError
        `source` is not a dict, `learner` is not a learner, or `error_rate` has a source that is not text.
    ValueError
        `error_rate` is out of range, or it has two entries for one source.

    Examples
    --------
    >>> import linkwise as lw
    >>> session = lw.Session([[0.0], [0.1], [5.0], [5.1]], lw.COBRAS(random_state=0))
    >>> while (q := session.question) is not None:
    ...     session.answer(abs(q.first - q.second) == 1 and q.first + q.second != 3)
    >>> session.labels.tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self,
        X: ArrayLike,
        learner: Learner | None = None,
        *,
        ids: Sequence[object] | None = None,
        source: dict[str, Any] | None = None,
        error_rate: AssumedRate = 0,
        progress: Progress | None = None,
    ) -> None:
        rows, rate = check_rows(X), check_rates(error_rate)
        if source is not None and not isinstance(source, dict):
            raise TypeError(f"source is a {type(source).__name__}. Give a dict.")
        learner = build_learner(DEFAULT_LEARNER) if learner is None else learner
        meta = {
            "data": fingerprint(rows),
            "learner": describe_learner(learner),
            "seed": seed_of_learner(learner),
            "source": to_json_value(source or {}, "source"),
        }
        if rate != 0:
            meta["error_rate"] = rate
        self._load(Store.new(meta, check_ids(ids, len(rows))))
        self._start_learner(learner, rows, progress)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        X: ArrayLike | None = None,
        learner: Learner | None = None,
        *,
        ids: Sequence[object] | None = None,
        source: dict[str, Any] | None = None,
        error_rate: AssumedRate | Literal["stored"] = "stored",
        progress: Progress | None = None,
    ) -> Self:
        """Open a session file, or begin one.

        Parameters
        ----------
        path : path
            If there is no such file, it is created; then X and learner are required.
        X : array-like of shape (n_rows, n_features), optional
            The data that the session was begun with, up to rounding. Without them the session asks nothing,
            but you can read its answers, constraints and last labels, and undo answers.
        learner : Learner, optional
            By default the stored one. Another learner takes over and keeps every answer.
        ids : sequence of str, optional
            As for the class; if the file exists, they must equal its ids.
        source : dict, optional
            As for the class; if the file exists, its own source stays.
        error_rate : float, None, mapping or "stored", default="stored"
            As for the class. "stored" means the rate in the file, and 0 for a new file. Another rate takes
            over and keeps every answer.
        progress : callable, optional
            As for the class.

        Returns
        -------
        Session
            The session, which keeps the file open until `close`.

        Raises
        ------
        DataMismatchError
            X or the ids differ from those that the session was begun with.
        InfeasibleConstraintsError
            Answers contradict each other whose `error_rate` is 0.
        SessionDamagedError
            The file is not a session, or it is damaged.
        SessionLockedError
            Another process is writing and does not finish in time.
        FileNotFoundError
            There is no such file, and `X` or `learner` is missing.
        """
        if not Path(path).exists():
            if X is None or learner is None:
                raise FileNotFoundError(
                    f"There is no session file {os.fspath(path)}. Give X and a learner to begin one."
                )
            rate = 0 if error_rate == "stored" else error_rate
            session = cls(X, learner, ids=ids, source=source, error_rate=rate, progress=progress)
            try:
                session.save(path)
                return session
            except SessionError:
                if not Path(path).exists():
                    raise
                session.close()  # another client has just begun the same file: open it
        session = cls.__new__(cls)
        store = Store.open(path)
        try:
            session._load(store)
            session._resume(X, learner, ids, progress, error_rate)
        except BaseException:
            store.close()
            raise
        return session

    def _resume(
        self,
        X: ArrayLike | None,
        learner: Learner | None,
        ids: Sequence[object] | None,
        progress: Progress | None,
        error_rate: AssumedRate | Literal["stored"],
    ) -> None:
        path, stored = self._store.path, self._meta["learner"]
        if ids is not None and self._ids != [str(i) for i in ids]:
            raise DataMismatchError(
                f"{path} was begun with other ids. Begin a new session and carry the answers over by id."
            )
        rate = self._error_rate if error_rate == "stored" else check_rates(error_rate)
        if X is None:
            if learner is not None:
                raise SessionError("A learner needs the data. Open it with Session.open(path, X, learner).")
            if rate != self._error_rate:
                raise SessionError(
                    "Another error rate needs the data. Open it with Session.open(path, X, error_rate=...)."
                )
            return
        rows = check_rows(X)
        difference = data_difference(self._meta["data"], rows)
        if difference is not None:
            raise DataMismatchError(
                f"{path} was begun with other data: {difference}. Open it with the data that it was begun "
                "with, or begin a new session and carry the answers over by id."
            )
        current = build_learner(stored, rows.shape[1]) if learner is None else learner
        is_other_rate = rate != self._error_rate
        if is_other_rate:
            self._check_new_rate(rate)
            self._meta["error_rate"] = rate
        self._start_learner(current, rows, progress)
        if is_other_rate:  # only after it has started
            self._store.put_meta({"error_rate": rate})
            self._save_snapshot()
        if learner is not None and describe_learner(learner) != stored:  # only after it has started
            self._meta["learner"] = describe_learner(learner)
            self._store.put_meta({"learner": self._meta["learner"]})
            self._save_snapshot()

    def _check_new_rate(self, rate: AssumedRate) -> None:
        """Check that the answers agree that shall count as right."""
        if 0 not in (rate.values() if isinstance(rate, Mapping) else [rate]):
            return
        try:
            evidence_of(self.n_rows, self._settled_events(), rate)
        except SessionDamagedError:
            raise InfeasibleConstraintsError(
                "Some answers contradict each other, so they cannot all be right (error_rate=0). "
                "Undo or change the suspects first."
            ) from None

    # ------------------------------------------------------------ asking and answering
    @property
    @synchronized
    def question(self) -> Question | None:
        """The present question; None when nothing is left to ask."""
        self._catch_up()
        question = self._current_replay().question
        self._has_changed = False
        return question

    @property
    @synchronized
    def question_id(self) -> str | None:
        """An identifier of the present question, so that an answer can name its question."""
        return self._question_id(self.question)

    @synchronized
    def answer(self, answer: Answer | bool, *, question_id: str | None = None, source: str = "") -> None:
        """Answer the present question; return after the answer is safely stored.

        Parameters
        ----------
        answer : {"yes", "no", "unsure"} or bool
            Whether the two rows belong together. True means "yes" and False means "no".
        question_id : str, optional
            The `question_id` of the question that the person saw, or the id of one of `questions`. Without
            it, an error is raised if another client has written anything since this one last read
            `question`.
        source : str, default=""
            Who answers: the name of a person or a program.

        Raises
        ------
        StaleAnswerError
            The session asks another question now; the error holds it. Nothing is stored.
        InfeasibleConstraintsError
            The answer to one of several open questions contradicts other answers. Nothing is stored.
        SessionError
            There is no question left, the session was opened without its data, or `source` is not valid
            Unicode. Nothing was stored.
        TypeError
            `source` is not a string.
        """
        name = check_source(source)
        self._catch_up()
        if question_id is not None and self._has_other_place(question_id):
            self._answer_open(answer, question_id, name)
            return
        q = self._current_replay().question
        if question_id is not None and question_id != self._question_id(q):
            raise self._stale_error()
        if question_id is None and self._has_changed:
            raise self._stale_error()
        if q is None:
            raise SessionError(
                f"There is no question to answer ({self._current_replay().reason}). "
                "Volunteer pairs with add()."
            )
        checked = check_answer(answer, q.first, q.second)
        first, second = self._current_evidence().check(q.first, q.second, checked, source=name)
        try:
            self._write("answer", first=first, second=second, answer=checked, source=name)
        except WriteConflict:
            raise self._stale_error() from None

    def _has_other_place(self, question_id: str) -> bool:
        """Whether `questions` gave a question elsewhere than where the session asks now."""
        found = self._leases.find(question_id, self.n_rows, self._last_number)
        return found is not None and found[2] != Place(self._last_start(), 0)

    def _answer_open(self, answer: Answer | bool, question_id: str, source: str) -> None:
        """Store the answer to a question that `questions` gave; it may be late."""
        found = self._leases.find(question_id, self.n_rows, self._last_number)
        if found is None:
            raise self._stale_error()
        i, j, place = found
        checked = check_answer(answer, i, j)

        def check_open() -> dict[str, Any]:
            if self._is_answered(i, j, place.start, source):
                raise self._stale_error()
            first, second = self._current_evidence().check(i, j, checked, source=source)
            return {"first": first, "second": second, "answer": checked, "source": source, "place": place}

        self._write_checked("answer", check_open)

    def _is_answered(self, first: int, second: int, start: int, source: str | None = None) -> bool:
        """Whether the pair was answered after an event, by a certain source or by any."""
        numbers = self._find_last_answers().get(frozenset((first, second)), {})
        return any(number > start for name, number in numbers.items() if source in (None, name))

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
            `n` is not an integer, or `to` is not a string.
        SessionError
            The session was opened without its data, or `to` is not valid Unicode; or it takes all answers as
            right, although `overlap` or `gold` is given.
        """
        if not isinstance(n, Integral) or isinstance(n, bool):
            raise TypeError(f"n is not an integer: {short_repr(n)}. Give the number of questions.")
        if n < 1 or not 0 < seconds < math.inf:
            raise ValueError(f"n is {n} and seconds is {seconds}. Give positive numbers.")
        if not 0 <= overlap <= 1:
            raise ValueError(f"overlap is {overlap}. Give a share of the questions, from 0 to 1.")
        name = check_source(to)
        self._catch_up()
        replay, start = self._current_replay(), self._last_start()
        present = replay.question
        # if the learner needs no further answer, only questions that check others are still worth asking
        held = [
            lease
            for lease in self._leases.current()
            if self._is_open(lease) and (present is not None or lease.expectation.is_check)
        ]
        mine = [lease for lease in held if lease.question.to == name]
        extra = self._choose_extra(n - len(mine), name, held, overlap, gold, has_others=present is not None)
        if not extra and n == 1 and len(mine) == len(held) and all(lease.is_single for lease in mine):
            if present is None:
                return []
            mine = [self._leases.give(expect(present), Place(start, 0), name, seconds, is_single=True)]
            return [lease.question for lease in mine]
        mine = [self._leases.renew(lease, seconds) for lease in mine[:n]]
        mine += [self._leases.give(one, self._leases.place(one, start), name, seconds) for one in extra]
        request = self._last_number, n - len(mine), tuple(lease.question.id for lease in held)
        if len(mine) < n and request != self._unmet:
            taken = [*(lease.expectation for lease in held), *extra]
            batch = replay.choose_batch(n - len(mine), taken)
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

    @synchronized
    def release(self, to: str = "") -> None:
        """Let others have the open questions of somebody who has left. Late answers count nevertheless.

        Parameters
        ----------
        to : str, default=""
            The name of the person or program.
        """
        self._leases.release(check_source(to))

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
        if not isinstance(n, Integral) or isinstance(n, bool):
            raise TypeError(f"n is not an integer: {short_repr(n)}. Give the number of pairs.")
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

    def _store_audit(self, plan: AuditPlan) -> None:
        """Store an audit in place of an earlier one of the same two."""
        others = [
            each for each in self._meta.get("audits", ()) if (each.source, each.by) != (plan.source, plan.by)
        ]
        self._store.put_meta({"audits": [*others, plan]})
        self._meta["audits"] = (*others, plan)

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
        first, second = lease.expectation.pair
        if self._is_answered(first, second, lease.place.start):
            return False
        return lease.expectation.is_check or self._current_evidence().verdict(first, second) is None

    @synchronized
    def look_ahead(self, answer: Answer | bool, *, stop: Callable[[], bool] = bool) -> bool:
        """Compute what would follow an answer to the present question, while the person still thinks.

        Nothing is stored or changed. If the person gives that answer, the next question comes sooner.

        Parameters
        ----------
        answer : {"yes", "no", "unsure"} or bool
            The answer to try.
        stop : callable, optional
            Called from time to time; the work ends when it returns True.

        Returns
        -------
        bool
            Whether the work was completed.
        """
        self._catch_up()
        replay = self._current_replay()
        q = replay.question
        return q is not None and replay.foresee(check_answer(answer, q.first, q.second), stop)

    def import_csv(self, path: str | os.PathLike[str]) -> int:
        """Import the pairs of a file with the columns ``id_a,id_b,kind``; return their number.

        Parameters
        ----------
        path : path
            The file. Its ids are those of the session.

        Returns
        -------
        int
            The number of pairs.
        """
        return self.import_constraints(Constraints.read_csv(path, ids=self.ids), source=Path(path).name)

    @synchronized
    def carry_over(self, path: str | os.PathLike[str]) -> tuple[int, int]:
        """Import all answers of another session, by the ids of the rows.

        If the answers of the other session may be wrong, they are imported as they are believed.

        Parameters
        ----------
        path : path
            The file of the other session.

        Returns
        -------
        n_pairs : int
            Number of different pairs.
        n_left_out : int
            Number of answers that are left out because an id is not among the rows.

        Raises
        ------
        SessionError
            `path` is the file of this session.
        """
        if self._store.path is not None and Path(path).exists() and self._store.path.samefile(path):
            raise SessionError(f"{os.fspath(path)} is this session itself. Name another one.")
        with Session.open(path) as other:
            names, facts = other.ids, _list_believed_facts(other.evidence)
        position = {name: row for row, name in enumerate(self.ids)}
        here = {row: position[name] for row, name in enumerate(names) if name in position}
        moved: dict[Answer, list[tuple[int, int]]] = {"yes": [], "no": [], "unsure": []}
        for fact in facts:
            if fact.first in here and fact.second in here:
                moved[fact.answer].append((here[fact.first], here[fact.second]))
        unsure = tuple(Fact(i, j, "unsure") for i, j in dict.fromkeys(moved["unsure"]))
        taken = self._import(Constraints(self.n_rows, moved["yes"], moved["no"]), unsure, Path(path).name)
        return taken, len(facts) - sum(map(len, moved.values()))

    # ------------------------------------------------------------ files
    @synchronized
    def save(self, path: str | os.PathLike[str]) -> None:
        """Move a session from memory to a file; later answers are stored there.

        Parameters
        ----------
        path : path
            The new file.

        Raises
        ------
        SessionError
            The session has a file already.
        """
        if self._store.path is not None:
            raise SessionError(f"The session is stored in {self._store.path} already. Use save_copy(path).")
        self.save_copy(path)
        memory, self._store = self._store, Store.open(path)
        self._version = -1  # other clients may write from now on
        memory.close()

    @synchronized
    def save_copy(self, path: str | os.PathLike[str]) -> None:
        """Write a complete copy; the session continues with its own file.

        Parameters
        ----------
        path : path
            The new file.
        """
        self._save_snapshot(always=True)
        self._store.copy_to(path)

    @synchronized
    def close(self) -> None:
        """Store the labels and close the file; calling it again does nothing."""
        try:
            self._save_snapshot(always=True)
        finally:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------ names of questions
    def _question_id(self, question: Question | None) -> str | None:
        if question is None:
            return None
        return name_question(Place(self._last_start(), 0), question.first, question.second)

    def _last_start(self) -> int:
        """Number of the last event, names aside; 0 before the first."""
        return next((e.number for e in reversed(self._events) if e.kind != "name"), 0)

    def _stale_error(self) -> StaleAnswerError:
        question = self.question
        if question is None:
            text = "The answer is not stored: there is no question any more. Volunteer pairs with add()."
        else:
            text = "The answer is not stored: the session asks another question now. Answer that one."
        return StaleAnswerError(text, question)


def _sort_pair(first: int, second: int) -> tuple[int, int]:
    return min(first, second), max(first, second)


def _list_believed_facts(evidence: Evidence) -> list[Fact]:
    """All facts; if answers may be wrong, as they are believed."""
    if not evidence.is_fallible:
        return list(evidence)
    believed = evidence.to_constraints()
    return [
        *(Fact(i, j, "yes") for i, j in believed.must_link.tolist()),
        *(Fact(i, j, "no") for i, j in believed.cannot_link.tolist()),
        *(fact for fact in evidence if fact.answer == "unsure"),
    ]

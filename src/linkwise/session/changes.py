"""Pairs, names, notes, changes and guidelines: what is stored in a session beside answers."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import numpy as np

from linkwise.constraints.checks import CONSTRAINT_KINDS, ConstraintKind, check_row
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.facts import Answer, Fact, GivenAnswer, check_answer
from linkwise.errors import ConstraintError, SessionError, short_repr
from linkwise.session.journal.events import (
    LASTING,
    Event,
    Example,
    check_example,
    check_guidelines,
    check_note,
    check_source,
    drop_repeated,
)
from linkwise.session.journal.journal import Journal
from linkwise.session.journal.store import WriteConflict
from linkwise.session.recorder import Recorder
from linkwise.session.state.corrections import Target, pair_moved_rows
from linkwise.session.state.event_lists import (
    CONTRADICTION,
    apply_settings,
    begin_settings,
    certain_evidence_of,
    constraints_of,
    drop_undone,
    evidence_of,
    find_undoable,
    names_of,
    settle_events,
)
from linkwise.session.state.session_state import SessionState
from linkwise.session.state.suspects import OPPOSITE, SuspectAnswer
from linkwise.session.team.sets import Screens
from linkwise.text_files import is_unicode

# with the contradiction, where answers may be wrong
UNCHANGED = (
    "This contradicts answers that are certain: {}. Keep the answer as it is, "
    "or undo or change one of the others first."
)
UNCONFIRMED = (
    "This contradicts other answers that are certain: {}. Undo or change one of the others first, "
    "or keep this answer unconfirmed."
)


OLDER_CLUSTERS = "The clusters are older than the answers. Open the session with its data."


class Changes:
    """All that is stored in a session, but for answers, decisions and audits.

    Parameters
    ----------
    journal : Journal
    state : SessionState
    recorder : Recorder
    screens : Screens
        They know which piles are possible.
    """

    def __init__(self, journal: Journal, state: SessionState, recorder: Recorder, screens: Screens) -> None:
        self._journal, self._state, self._recorder, self._screens = journal, state, recorder, screens

    # ------------------------------------------------------------ pairs
    def add(
        self,
        first: int,
        second: int,
        kind: ConstraintKind,
        *,
        is_sure: bool = False,
        source: str = "",
        note: str = "",
    ) -> None:
        """Volunteer a pair: ``"must-link"`` or ``"cannot-link"``.

        The pair is stored at once. The learner hears of it when you next read what follows, such as `labels`
        or `question`, so many pairs in a row cost no more than one import.

        Parameters
        ----------
        first, second : int
            Positions of the two rows.
        kind : {"must-link", "cannot-link"}
            Whether the rows belong together or apart.
        is_sure : bool, default=False
            Whether the pair is certain, in a session whose answers may be wrong.
        source : str, default=""
            Who says so: the name of a person or a program.
        note : str, default=""
            What you want to remember about the pair, up to 2000 characters.

        Raises
        ------
        InfeasibleConstraintsError
            The pair contradicts the evidence; the error names the chain. Nothing is stored. If answers may be
            wrong, only a pair that is certain raises it, if it contradicts others that are certain.
        ConstraintError
            `kind` is neither of the two, or the rows do not exist.
        TypeError
            `source` or `note` is not a string.
        SessionError
            `source` or `note` is not valid Unicode, or the note is too long.
        """
        if kind not in CONSTRAINT_KINDS:
            raise ConstraintError(
                f"The kind of a pair is unknown: {kind!r}. Pass {' or '.join(CONSTRAINT_KINDS)}."
            )
        answer: Answer = "yes" if kind == "must-link" else "no"
        name, text = check_source(source), check_note(note)

        def check_pair() -> dict[str, Any]:
            is_certain = is_sure and self._state.rate != 0
            known = self._state.certain_evidence() if is_certain else self._state.checking_evidence()
            i, j = known.check(first, second, answer, source=name)
            facts = (Fact(i, j, answer),) if is_certain else ()
            fields = {"first": i, "second": j, "answer": answer, "source": name}
            return {**fields, "facts": facts, "note": text}

        self._recorder.write_checked("add", check_pair)

    def import_constraints(self, constraints: Constraints, *, source: str = "") -> int:
        """Import a set of constraints as one event, without their weights.

        Parameters
        ----------
        constraints : Constraints
            The pairs, for the rows of this session.
        source : str, optional
            Where they came from, for the history. Empty by default.

        Returns
        -------
        int
            Number of pairs.

        Raises
        ------
        InfeasibleConstraintsError
            The constraints contradict the evidence; the error names the chain. Nothing is stored. If answers
            may be wrong, only what is certain counts: imported pairs, finished clusters, confirmed answers.
        TypeError
            `constraints` is not a `Constraints`.
        """
        if not isinstance(constraints, Constraints):
            raise TypeError(
                f"constraints is a {type(constraints).__name__}. "
                "Build it with linkwise.Constraints(n_rows, must_link=[...], cannot_link=[...])."
            )
        return self.import_facts(constraints, (), source)

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
        return self.import_constraints(
            Constraints.read_csv(path, ids=self._journal.names), source=Path(path).name
        )

    def import_facts(self, constraints: Constraints, unsure: tuple[Fact, ...], source: str) -> int:
        """Store one event for all pairs, or none if the session holds all of them; return their number."""
        facts = (
            *(Fact(i, j, "yes") for i, j in constraints.must_link.tolist()),
            *(Fact(i, j, "no") for i, j in constraints.cannot_link.tolist()),
            *unsure,
        )

        def check_pairs() -> dict[str, Any] | None:
            certain = self._state.certain_evidence()
            certain.check_constraints(constraints)
            unsure_before = (fact for fact in self._state.checking_evidence() if fact.answer == "unsure")
            held = {(*sorted(fact.pair), fact.answer) for fact in (*certain, *unsure_before)}
            is_new = any((*sorted(fact.pair), fact.answer) not in held for fact in facts)
            # the name of a file need not be valid Unicode
            text = source.encode(errors="backslashreplace").decode()
            return {"facts": facts, "source": text} if is_new else None

        self._recorder.write_checked("import", check_pairs)
        return len(facts)

    def move(self, rows: Iterable[int], to: int | Literal["new"] | None = None, *, source: str = "") -> int:
        """Say of rows that they belong to another cluster, as one event of certain pairs.

        The rows are joined with or separated from one row of each cluster, an answered one where there is
        one; see `history` for the pairs. Where the rows are now is taken from `labels`. `undo` takes it back.

        Parameters
        ----------
        rows : iterable of int
            Positions of the rows.
        to : int, "new" or None, default=None
            The number of the cluster in `labels` to which they belong; "new" if they are a cluster of their
            own; None if they do not belong to the clusters that they are in.
        source : str, default=""
            Who says so: the name of a person or a program.

        Returns
        -------
        int
            Number of pairs that were stored; 0 if they follow already.

        Raises
        ------
        InfeasibleConstraintsError
            The pairs contradict the evidence, or what is certain if answers may be wrong. Nothing is stored.
        ConstraintError
            A row does not exist.
        SessionError
            There are no rows, no such cluster, or no row that stays in a cluster; or the session was opened
            without its data, and there are answers since the labels were stored.

        Examples
        --------
        >>> import linkwise as lw
        >>> session = lw.Session([[0.0], [0.1], [5.0], [5.1], [9.0]], lw.COBRAS(random_state=0))
        >>> session.move([4], "new")
        1
        >>> session.labels.tolist()
        [0, 0, 0, 0, 1]
        """
        moved = list(dict.fromkeys(check_row(row, self._journal.n_rows) for row in rows))
        if not moved:
            raise SessionError("There are no rows to move. Pass at least one.")
        if not (to is None or to == "new" or (isinstance(to, Integral) and not isinstance(to, bool))):
            raise SessionError(f"to is {short_repr(to)}. Pass the number of a cluster, 'new', or None.")
        name, stored = check_source(source), 0

        def check_moves() -> dict[str, Any] | None:
            nonlocal stored
            snapshot, is_current = self._state.clustering()
            if not is_current:
                raise SessionError(OLDER_CLUSTERS)
            replay, groups = self._state.replay, self._state.evidence_now().groups()
            target: Target = to if to is None or to == "new" else int(to)
            pairs = pair_moved_rows(
                moved, target, snapshot.labels, groups, None if replay is None else replay.X
            )
            evidence = self._state.certain_evidence()
            facts = tuple(fact for fact in pairs if evidence.verdict(*fact.pair) != fact.answer)
            known = evidence if self._state.rate != 0 else self._state.checking_evidence()
            known.check_constraints(constraints_of(self._journal.n_rows, facts))
            stored = len(facts)
            return {"first": moved[0], "facts": facts, "source": name} if facts else None

        self._recorder.write_checked("move", check_moves)
        return stored

    def set_done(self, row: int) -> int:
        """Mark the cluster of a row as done: all its rows belong together, and no question compares them.

        This covers the rows that are in the cluster now. `undo` takes it back.

        Parameters
        ----------
        row : int
            Any row of the cluster.

        Returns
        -------
        int
            Number of rows in the cluster.

        Raises
        ------
        SessionError
            The session was opened without its data, and there are answers since the labels were stored.
        """
        members: list[int] = []

        def check_cluster() -> dict[str, Any] | None:
            snapshot, is_current = self._state.clustering()
            if not is_current:
                raise SessionError(OLDER_CLUSTERS)
            lead, evidence = check_row(row, self._journal.n_rows), self._state.certain_evidence()
            members[:] = np.flatnonzero(snapshot.labels == snapshot.labels[lead]).tolist()
            facts = tuple(
                Fact(lead, other, "yes") for other in members if evidence.verdict(lead, other) != "yes"
            )
            if self._state.rate != 0:
                evidence.check_constraints(Constraints(self._journal.n_rows, [fact.pair for fact in facts]))
            return {"first": lead, "facts": facts} if facts else None

        self._recorder.write_checked("done", check_cluster)
        return len(members)

    # ------------------------------------------------------------ names and costs
    def set_name(self, row: int, name: str) -> None:
        """Name the cluster of a row. The name stays with that row; an empty name removes it.

        Parameters
        ----------
        row : int
            The row that the name stays with.
        name : str
            The name. An empty one removes the name that the cluster has.

        Raises
        ------
        TypeError
            `name` is not a string.
        SessionError
            `name` is not valid Unicode.
        """
        if not isinstance(name, str):
            raise TypeError(f"The name of a cluster is a {type(name).__name__}. Pass text.")
        if not is_unicode(name):
            raise SessionError(
                f"The name {name!a} is not valid Unicode: it holds half a character. Type it again."
            )
        text = " ".join(name.split())

        def check_name() -> dict[str, Any] | None:
            lead, names = check_row(row, self._journal.n_rows), names_of(self._journal.events)
            is_latest = names.get(lead, "") == text and next(reversed(names), lead) == lead
            return None if is_latest else {"first": lead, "source": text}

        self._recorder.write_checked("name", check_name)

    def add_cost(self, source: str, cost: float) -> float:
        """Add to what the answers of a source have cost. It cannot be undone.

        Parameters
        ----------
        source : str
            The name of a person or a program.
        cost : float
            The cost in any unit, from 0 on.

        Returns
        -------
        float
            The sum of the costs of this source in this session.

        Raises
        ------
        ValueError
            `cost` is negative or not finite.
        TypeError
            `source` is not a string.
        SessionError
            `source` is not valid Unicode.
        """
        name = check_source(source)
        amount = math.inf if isinstance(cost, int) and abs(cost) > sys.float_info.max else float(cost)
        if not 0 <= amount < math.inf:
            raise ValueError(f"The cost is out of range: {short_repr(cost)}. Pass a number from 0 on.")
        self._recorder.write_checked("cost", lambda: {"source": name, "value": amount})
        return self._state.settings.costs[name]

    # ------------------------------------------------------------ changes of earlier events
    def undo(self, number: int | None = None) -> Event | None:
        """Undo the last event, or an earlier one by its number in `history`.

        Costs and audits cannot be undone, because they have happened.

        Parameters
        ----------
        number : int, optional
            The number of the event in `history` or `events`. The default is the last event that holds, but
            for the choice of another learner or error rate, which are undone by their numbers.

        Returns
        -------
        Event or None
            The event that was undone; None when there is nothing to undo.

        Raises
        ------
        InfeasibleConstraintsError
            Without the event, answers would contradict each other that count as right. Nothing is stored.
        SessionError
            No event of this number holds, or another client wrote at the same moment.
        """
        self._state.catch_up()
        remaining = self._state.remaining
        if number is None:
            event = find_undoable(remaining)
        else:  # of changes only the last one: later answers may depend on the others
            able = (e for e in remaining if e.number == number and e.kind not in (*LASTING, "change"))
            event = next(able, None)
            if event is None:
                raise SessionError(
                    f"There is no event {number} that can be undone. Take a number from history."
                )
        if event is None:
            return None
        then = [*self._journal.events, Event(self._journal.last + 1, "undo", "", target=event.number)]
        settings = apply_settings(begin_settings(self._journal.meta), drop_undone(then))
        self._recorder.check_agreement(settle_events(then), settings.error_rate)
        if event.kind in ("learner", "rate"):
            self._state.follow_settings(settings)  # an error comes before anything is stored
        try:
            self._recorder.write("undo", target=event.number)
        except WriteConflict:
            raise SessionError(
                "Another client changed the session at the same moment, and nothing is undone. "
                "Read the session again and repeat."
            ) from None
        if event.kind == "sort":
            self._screens.choose_anew(event.source, event.number)
        return event

    def change(
        self,
        number: int,
        answer: GivenAnswer | Iterable[Iterable[int]],
        *,
        unsure: Iterable[int] = (),
    ) -> None:
        """Change an earlier answer, volunteered pair or screen, by the number of its event in `history`.

        If answers may be wrong, a yes or no that was changed is certain from then on. New piles are not: only
        some of their rows were looked at again.

        Parameters
        ----------
        number : int
            The number of its event in `history`.
        answer : {"same", "different", "unsure", "yes", "no"}, bool or iterable of iterable of int
            The new answer; of a screen all its piles, as for `sort`.
        unsure : iterable of int, default=()
            Of a screen the cards that you are not sure about.

        Raises
        ------
        InfeasibleConstraintsError
            The new answer contradicts other answers, or others that are certain if answers may be wrong.
            Nothing is stored.
        ConstraintError
            A card of a screen is in no pile, a row is in two, or a row is not on it.
        SessionError
            No answer of this number holds; or it is a screen and `answer` is not its piles, or the other way
            round.
        """

        def check_change() -> dict[str, Any] | None:
            settled = self._state.settled
            event = next((e for e in settled if e.number == number), None)
            if event is not None and event.kind == "sort":
                fields = self._screens.change(event, answer, unsure)
                return None if fields is None else {**fields, "target": number}
            if event is None or event.first is None or event.second is None:
                raise SessionError(
                    f"Event {number} is not an answer that can be changed. Take a number from history."
                )
            new = check_answer(answer, event.first, event.second)
            others = [e for e in settled if e is not event]
            if self._state.rate == 0:
                known = evidence_of(self._journal.n_rows, others)
            else:
                known = certain_evidence_of(self._journal.n_rows, others, self._state.rate)
            known.check(event.first, event.second, new, source=event.source)
            return None if new == event.answer else {"answer": new, "target": number}

        message = CONTRADICTION if self._state.rate == 0 else UNCHANGED
        self._recorder.write_checked("change", check_change, message)

    def flip(self, suspect: SuspectAnswer) -> None:
        """Change one of `suspects` to its opposite; a card of a screen moves to the pile where it belongs.

        Parameters
        ----------
        suspect : SuspectAnswer
            One of `suspects`.

        Raises
        ------
        InfeasibleConstraintsError
            The new answer contradicts others that are certain. Nothing is stored.
        SessionError
            The answer does not hold any more, or the session was opened without its data and so cannot tell
            where the card belongs.

        Examples
        --------
        >>> import linkwise as lw
        >>> session = lw.Session([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], error_rate=0.1)
        >>> for _ in range(2):
        ...     session.sort([[0, 1, 2], [3, 4, 5]])
        >>> session.sort([[0, 1], [3, 4, 2]])
        >>> (suspect,) = session.suspects
        >>> suspect.card, suspect.better_pile
        (2, (0, 1))
        >>> session.flip(suspect)
        >>> session.history[-1].sorting.piles
        ((0, 1, 2), (3, 4))
        """
        if suspect.card is None:
            self.change(suspect.number, OPPOSITE[suspect.answer])
            return
        self._state.catch_up()
        settled = self._state.settled
        sorting = next((event.sorting for event in settled if event.number == suspect.number), None)
        if sorting is None:
            raise SessionError(f"Event {suspect.number} does not hold any more. Read the suspects again.")
        piles = [[row for row in pile if row != suspect.card] for pile in sorting.piles]
        better = next((pile for pile in piles if {*pile} == {*suspect.better_pile}), None)
        if better is None:  # the card belongs with rows of no pile
            piles.append([suspect.card])
        else:
            better.append(suspect.card)
        self.change(suspect.number, [pile for pile in piles if pile], unsure=sorting.unsure)

    def set_sure(self, number: int) -> None:
        """Confirm that an earlier answer is right, by the number of its event in `history`.

        From then on the answer is certain, and answers that contradict it are suspects. `undo` takes the
        confirmation back, and `change` replaces it.

        Parameters
        ----------
        number : int
            The number of its event in `history`.

        Raises
        ------
        InfeasibleConstraintsError
            The answer contradicts other certain answers or imported pairs. Nothing is stored.
        SessionError
            No yes or no of this number holds, or the session treats every answer as correct.
        """
        if self._state.rate == 0:
            raise SessionError(
                "This session treats every answer as correct, so there is nothing to confirm. "
                "Open it with error_rate=None to let answers be wrong."
            )

        def check_certain() -> dict[str, Any] | None:
            event = next((e for e in self._state.settled if e.number == number), None)
            if event is None or event.first is None or event.second is None or event.answer is None:
                raise SessionError(
                    f"Event {number} is not an answer that can be confirmed. Take a number from history."
                )
            if event.answer == "unsure":
                raise SessionError(
                    f"Event {number} is a pair with the answer 'not sure'. Change it to yes or no first."
                )
            self._state.certain_evidence().check(event.first, event.second, event.answer)
            return None if event.is_sure else {"answer": event.answer, "target": number}

        self._recorder.write_checked("sure", check_certain, UNCONFIRMED)

    def note(self, number: int, note: str, *, source: str = "") -> None:
        """Write a note on an earlier answer or volunteered pair, by the number of its event in `history`.

        It replaces the note that `history` shows. The earlier note stays in `events`, and `undo` brings it
        back. No learner sees a note, and no question depends on it.

        Parameters
        ----------
        number : int
            The number of its event in `history`.
        note : str
            Up to 2000 characters. An empty text removes the note.
        source : str, default=""
            Who writes: the name of a person or a program.

        Raises
        ------
        SessionError
            No answer of this number holds, the note is too long, or a text is not valid Unicode.
        TypeError
            `note` or `source` is not a string.
        """
        text, name = check_note(note), check_source(source)

        def check_target() -> dict[str, Any] | None:
            event = next((e for e in self._state.settled if e.number == number), None)
            if event is None or event.kind not in ("answer", "sort", "add"):
                raise SessionError(
                    f"Event {number} is not an answer that can have a note. Take a number from history."
                )
            return None if text == event.note else {"target": event.number, "note": text, "source": name}

        self._recorder.write_checked("note", check_target)

    # ------------------------------------------------------------ guidelines and examples
    def set_guidelines(self, text: str) -> None:
        """Write down what "belong together" means here, for everybody who answers.

        Parameters
        ----------
        text : str
            Up to 10 000 characters. An empty text removes the guidelines.

        Raises
        ------
        TypeError
            `text` is not a string.
        SessionError
            `text` is too long, or it is not valid Unicode.
        """
        checked = check_guidelines(text)

        def check_text() -> dict[str, Any] | None:
            return None if checked == self._state.settings.guidelines else {"value": checked}

        self._recorder.write_checked("guidelines", check_text)

    def set_examples(self, examples: Iterable[tuple[Any, ...]]) -> None:
        """Give everybody who answers a few pairs that show what belongs together.

        They count neither as answers nor as constraints.

        Parameters
        ----------
        examples : iterable of tuple
            Up to 30 tuples ``(first, second, answer)`` or ``(first, second, answer, reason)``: two row
            positions, "yes", "no" or a bool for whether they belong together, and a reason of up to 2000
            characters. They replace all earlier examples. Of several about one pair the last one counts.

        Raises
        ------
        ConstraintError
            A row does not exist, or both rows of a pair are the same.
        TypeError
            An example is not such a tuple.
        SessionError
            There are too many, or a reason is too long or not valid Unicode.

        Examples
        --------
        >>> import linkwise as lw
        >>> session = lw.Session([[0.0], [0.1], [5.0], [5.1]])
        >>> session.set_examples([(0, 1, True, "close to each other"), (1, 2, False)])
        >>> session.examples[0]
        Example(first=0, second=1, answer='yes', reason='close to each other')
        """
        checked = [check_example(example, self._journal.n_rows) for example in examples]
        self._change_examples(lambda _: checked)

    def add_example(self, first: int, second: int, answer: GivenAnswer, reason: str = "") -> None:
        """Add one example, or replace the one about the same pair; see `set_examples`.

        Parameters
        ----------
        first, second : int
            Positions of the two rows.
        answer : {"yes", "no"} or bool
            Whether they belong together.
        reason : str, default=""
            Why, up to 2000 characters.

        Raises
        ------
        ConstraintError, TypeError, SessionError
            As for `set_examples`.
        """
        example = check_example((first, second, answer, reason), self._journal.n_rows)
        self._change_examples(lambda examples: [*examples, example])

    def remove_example(self, first: int, second: int) -> None:
        """Remove the example about a pair, if there is one.

        Parameters
        ----------
        first, second : int
            Positions of the two rows.
        """
        pair = {first, second}
        self._change_examples(lambda examples: [each for each in examples if {*each[:2]} != pair])

    def _change_examples(self, change: Callable[[list[Example]], list[Example]]) -> None:
        """Store what `change` makes of the examples that the file holds, whoever else changes them."""

        def check_examples() -> dict[str, Any] | None:
            before = list(self._state.settings.examples)
            after = drop_repeated(change(before))
            return None if after == before else {"value": [list(each) for each in after]}

        self._recorder.write_checked("examples", check_examples)

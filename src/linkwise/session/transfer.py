"""Answers that come from another session about the same rows.

Either their belief comes, and is certain from then on (`Session.carry_over`), or each answer comes as it was
given: by whom, how sure, with its note, and it may be wrong like all others (`Session.combine`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from linkwise.constraints.constraints import Constraints
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer, Fact
from linkwise.errors import DataMismatchError, SessionError, UnnamedAnswersError
from linkwise.session.changes import Changes
from linkwise.session.journal.events import SETTINGS, WITH_FACTS, Event, check_source, hold_sorting
from linkwise.session.journal.journal import Journal
from linkwise.session.journal.store import Store, WriteConflict
from linkwise.session.recorder import Recorder
from linkwise.session.state.event_lists import (
    certain_facts,
    constraints_of,
    facts_of,
    name_rows_by_id,
    select_settings,
    settle_events,
)
from linkwise.session.state.session_state import SessionState
from linkwise.wording import count_noun

DISAGREE = (
    "The answers of the other session contradict those of this one: {}. Nothing was added. Let answers be "
    "wrong, so that a session can hold both: error_rate=None, or --error-rate estimate on the command line."
)
DISAGREE_CERTAIN = (
    "What is certain in the other session contradicts what is certain in this one: {}. Nothing was added. "
    "Undo or change one of these first."
)
Key = tuple[frozenset[int], str | None, str | None, bool]  # rows, answer, who gave it, whether it is certain


class Combined(NamedTuple):
    """How many answers and pairs of another session there were.

    Attributes
    ----------
    n_taken : int
        Those that this session has now in addition.
    n_held : int
        Those that it had already.
    n_left_out : int
        Those that are left out because a row of theirs is not among the rows.
    """

    n_taken: int
    n_held: int
    n_left_out: int


class Transfer:
    """What a session takes from another one.

    Parameters
    ----------
    journal : Journal
    state : SessionState
    recorder : Recorder
    changes : Changes
    """

    def __init__(self, journal: Journal, state: SessionState, recorder: Recorder, changes: Changes) -> None:
        self._journal, self._state, self._recorder, self._changes = journal, state, recorder, changes

    def carry_over(self, path: str | os.PathLike[str]) -> tuple[int, int]:
        """Import all answers of another session, by the ids of the rows.

        If neither session has ids, the answers go to the rows at the same positions. A position is never
        taken for an id. If the answers of the other session may be wrong, they are imported as they are
        believed.

        Parameters
        ----------
        path : path
            The file of the other session.

        Returns
        -------
        n_pairs : int
            Number of different pairs.
        n_left_out : int
            Number of answers that are left out because a row of theirs is not among the rows.

        Raises
        ------
        SessionError
            `path` is the file of this session.
        """
        with self._open_other(path) as other:
            journal, state = other
            facts, here = _list_believed_facts(state.evidence()), self._pair_rows(journal)
        moved: dict[Answer, list[tuple[int, int]]] = {"yes": [], "no": [], "unsure": []}
        for fact in facts:
            if fact.first in here and fact.second in here:
                moved[fact.answer].append((here[fact.first], here[fact.second]))
        unsure = tuple(Fact(i, j, "unsure") for i, j in dict.fromkeys(moved["unsure"]))
        taken = self._changes.import_facts(
            Constraints(self._journal.n_rows, moved["yes"], moved["no"]), unsure, Path(path).name
        )
        return taken, len(facts) - sum(map(len, moved.values()))

    def combine(self, path: str | os.PathLike[str], *, source: str | None = None) -> Combined:
        """Add the answers of another session about the same rows, each with who gave it.

        In contrast to `carry_over` the answers may be wrong, like those of this session: they count in error
        rates and agreement, disagreements are cases for `review`, and each of them can be changed. What is
        certain there is certain here: imported pairs, finished clusters, confirmed answers and decisions.
        Seconds, notes, times and reliabilities stay. Costs are added. Guidelines come if this session has
        none, and so do examples of pairs that have none here, and audits that were not begun here. Undone
        events and names of clusters are left out. What this session has already is not added again, so the
        same file can be given several times.

        Parameters
        ----------
        path : path
            The file of the other session.
        source : str, optional
            Who gave the answers there that have no name; needed if there are any.

        Returns
        -------
        Combined
            How many answers and pairs are new, were there already, and are left out because a row of theirs
            is not among the rows.

        Raises
        ------
        InfeasibleConstraintsError
            This session treats every answer as correct, and those of the other one contradict them; or
            certain pairs of both contradict each other. Nothing is stored.
        DataMismatchError
            Rows have no ids on one side at least, and the data of the sessions differ.
        UnnamedAnswersError
            The other session has answers without a name, and `source` is missing.
        SessionError
            `path` is the file of this session.
        TypeError
            `source` is not a string.
        """
        name, file = None if source is None else check_source(source), Path(path).name
        file = file.encode(errors="backslashreplace").decode()  # it need not be valid Unicode
        with self._open_other(path) as other:
            journal, state = other
            has_ids = self._journal.ids is not None and journal.ids is not None
            if not has_ids and journal.meta["data"] != self._journal.meta["data"]:
                raise DataMismatchError(
                    f"The rows have no ids, and the data of {file} are others than those of this session. "
                    "Without ids both must be about the same table. Begin both with ids."
                )
            theirs, rows, settings = state.history(), self._pair_rows(journal), state.settings
            beside = [event for event in state.remaining if event.kind in SETTINGS]
        n_unnamed = sum(event.kind in ("answer", "sort", "add") and not event.source for event in theirs)
        if n_unnamed and name is None:
            raise UnnamedAnswersError(f"{file} has {count_noun(n_unnamed, 'answer')} without a name.")
        while True:
            self._state.catch_up()
            stored, settled = self._state.remaining, self._state.settled
            new, counts = _select_new(stored, settled, theirs, rows, name or "", file)
            self._check_combined(new)
            new += select_settings(stored, self._state.settings, beside, settings, rows, name or "")
            new.sort(key=lambda event: event.number)  # an audit is about the answers before it
            with suppress(WriteConflict):
                self._recorder.write_all(new)
                return counts

    def _check_combined(self, events: Sequence[Event]) -> None:
        """Raise if events contradict what is certain; in a session without errors that is everything."""
        if self._state.rate == 0:
            message, facts = DISAGREE, [fact for event in events for fact in facts_of(event)]
        else:
            settled = settle_events(events)
            message = DISAGREE_CERTAIN
            facts = [fact for event in settled for fact in certain_facts(event, self._state.rate)]
        with name_rows_by_id(self._journal.ids, message):
            self._state.certain_evidence().check_constraints(constraints_of(self._journal.n_rows, facts))

    @contextmanager
    def _open_other(self, path: str | os.PathLike[str]) -> Iterator[tuple[Journal, SessionState]]:
        """Read the file of another session."""
        here = self._journal.store.path
        if here is not None and Path(path).exists() and here.samefile(path):
            raise SessionError(f"{os.fspath(path)} is this session itself. Pass another one.")
        store = Store.open(path)
        try:
            journal = Journal(store)
            yield journal, SessionState(journal)
        finally:
            store.close()

    def _pair_rows(self, other: Journal) -> dict[int, int]:
        """Find where the rows of another session are here, by their ids; a position is never an id."""
        names, here = other.names, self._journal.names
        is_alike = (other.ids is None) == (self._journal.ids is None) or names == here
        position = {name: row for row, name in enumerate(here)}
        return {row: position[name] for row, name in enumerate(names) if is_alike and name in position}


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


def _select_new(
    stored: Sequence[Event],
    settled: Sequence[Event],
    other: Sequence[Event],
    rows: Mapping[int, int],
    source: str,
    file: str,
) -> tuple[list[Event], Combined]:
    """Select what another session says and this one does not.

    Parameters
    ----------
    stored, settled : sequence of Event
        The events of this session that are not undone, as they were stored and as they are by now.
    other : sequence of Event
        The settled events of the other session.
    rows : mapping of int to int
        The position in this session of each row of the other one.
    source : str
        Who gave the answers that have no name.
    file : str
        The name of the other session; its certain pairs get it if they have no other.

    Returns
    -------
    events : list of Event
        Volunteered pairs and imports to store, with the numbers of the other session.
    counts : Combined
    """
    held = _count_keys(stored) | _count_keys(settled) | _count_keys(settled, as_certain=False)
    found: list[Event] = []
    n_all = n_there = n_taken = 0
    for event in other:
        moved = _move(event, rows, source, file)
        keys = [] if moved is None else _keys_of(moved)
        is_new = [_is_new(key, held) for key in keys]
        n_all, n_there, n_taken = n_all + len(_keys_of(event)), n_there + len(keys), n_taken + sum(is_new)
        if moved is not None and moved.kind == "import":
            moved = replace(moved, facts=tuple(compress(moved.facts, is_new)))
        if moved is not None and any(is_new):
            found.append(moved)
    return found, Combined(n_taken, n_there - n_taken, n_all - n_there)


def _move(event: Event, rows: Mapping[int, int], source: str, file: str) -> Event | None:
    """The event as this session stores it: an import or a volunteered pair; None if a row is missing."""
    if event.sorting is not None:
        sorting = event.sorting.move(rows)
        kept = replace(event, source=event.source or source, place=None, note_source=None)
        return None if sorting is None else hold_sorting(kept, sorting)
    facts = tuple(
        Fact(rows[fact.first], rows[fact.second], fact.answer)
        for fact in event.facts
        if fact.first in rows and fact.second in rows
    )
    if event.kind in WITH_FACTS:
        name = event.source if event.kind == "import" and event.source else file
        return Event(event.number, "import", event.when, facts=facts, source=name)
    first, second = (None if row is None else rows.get(row) for row in (event.first, event.second))
    if first is None or second is None or event.answer is None:
        return None
    if event.is_sure:
        facts = (Fact(first, second, event.answer),)
    return replace(
        event,
        kind="add",
        first=first,
        second=second,
        facts=facts,
        source=event.source or source,
        is_sure=False,
        place=None,
        gold=None,
        note_source=None,
    )


def _keys_of(event: Event) -> list[Key]:
    """What identifies each pair that an event is about."""
    if event.kind in WITH_FACTS:
        return [(frozenset(fact.pair), fact.answer, None, True) for fact in event.facts]
    if event.sorting is not None:
        return [(frozenset(fact.pair), fact.answer, event.source, False) for fact in event.facts]
    if event.first is None or event.second is None:
        return []
    is_certain = event.is_sure or len(event.facts) > 0
    return [(frozenset((event.first, event.second)), event.answer, event.source, is_certain)]


def _count_keys(events: Sequence[Event], *, as_certain: bool = True) -> Counter[Key]:
    """Count the answers by their keys; unless `as_certain`, a certain one counts as uncertain."""
    keys = (key for event in events for key in _keys_of(event))
    return Counter((*key[:3], as_certain and key[3]) for key in keys)


def _is_new(key: Key, held: Counter[Key]) -> bool:
    """Whether a session does not hold a pair yet; what a person said twice, it must hold twice."""
    is_of_nobody = key[2] is None
    if held[key] == 0:
        held[key] = int(is_of_nobody)
        return True
    held[key] -= int(not is_of_nobody)
    return False

"""What follows from the events of a session alone, kept up to date as events are added.

An event that is only added costs little, however many there are. After an undo, and after an event about an
earlier one, everything is derived anew.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from linkwise.session.journal.events import WITH_TARGET, Event
from linkwise.session.state.event_facts import Imported, apply_changes, drop_undone, find_starts, order_key
from linkwise.session.state.settings import Settings, apply_settings


class EventLists:
    """The lists that a session derives from its events, and its settings.

    Parameters
    ----------
    begun : Settings
        The settings with which the session begins.

    Attributes
    ----------
    remaining : list of Event
        The events that are not undone (see `drop_undone`).
    settled : list of Event
        The events about pairs that still count, each with its latest answer and note (see `settle_events`).
    ordered : list of Event
        The same in the order of their questions (see `order_key`).
    last_answers : dict
        For each pair the number of the last answer of each source.
    settings : Settings
        The settings after all events.
    n_rebuilds : int
        How often everything was derived anew. Meanwhile `settled` is only appended to.
    """

    def __init__(self, begun: Settings) -> None:
        self._begun = begun
        self.n_rebuilds = 0
        self._n_events = 0
        self._clear()

    def _clear(self) -> None:
        self.settings = self._begun
        self.remaining: list[Event] = []
        self.settled: list[Event] = []
        self.ordered: list[Event] = []
        self.last_answers: dict[frozenset[int], dict[str, int]] = {}
        self._keys: list[tuple[float | str, ...]] = []  # of `ordered`
        self._imported: Imported = {}

    def follow(self, events: Sequence[Event]) -> None:
        """Take up the events that were added since the last call.

        Parameters
        ----------
        events : sequence of Event
            All events; those of the last call come first.
        """
        new = events[self._n_events :]
        if not new:
            return
        if any(event.kind == "undo" or event.kind in WITH_TARGET for event in new):
            self._rebuild(events)
        else:
            starts = find_starts(events, self._n_events)
            self.remaining += new
            self.settings = apply_settings(self.settings, new)
            self._add(apply_changes(new, self._imported), starts)
        self._n_events = len(events)

    def _rebuild(self, events: Sequence[Event]) -> None:
        self._clear()
        self.n_rebuilds += 1
        self.remaining = drop_undone(events)
        self.settings = apply_settings(self.settings, self.remaining)
        self._add(apply_changes(self.remaining, self._imported), find_starts(events))

    def _add(self, settled: Sequence[Event], starts: dict[int, int]) -> None:
        self.settled += settled
        for event in settled:
            key = order_key(event, starts[event.number])
            at = bisect_right(self._keys, key)
            self._keys.insert(at, key)
            self.ordered.insert(at, event)
            if event.kind == "answer" and event.first is not None and event.second is not None:
                pair = frozenset((event.first, event.second))
                self.last_answers.setdefault(pair, {})[event.source] = event.number

"""Values that are expensive to compute again, remembered by place."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

Value = TypeVar("Value")


class Memo:
    """Remember values for all runs over the same prepared data, so that no run computes them again.

    A memo may be cleared at any moment, even while a run is asking: every result stays the same and only
    takes longer. So a value must follow from its topic and place alone, given the learner, the prepared
    data and the seed. Use one memo for one learner and one set of prepared data.
    """

    def __init__(self) -> None:
        self._topics: dict[str, _Topic] = {}

    def get(
        self,
        topic: str,
        place: Hashable,
        compute: Callable[[], Value],
        *,
        max_values: int | None = None,
        max_bytes: int | None = None,
    ) -> Value:
        """Return the value at a place; compute it if the memo does not hold it.

        Parameters
        ----------
        topic : str
            The kind of value. Bounds hold for each topic by itself.
        place : hashable
            Everything that the value depends on.
        compute : callable
            Takes no argument and returns the value.
        max_values, max_bytes : int, optional
            Bounds on what the topic holds: the oldest values are dropped first, the newest one always
            stays. No bound by default.

        Returns
        -------
        object
        """
        held = self._topics.setdefault(topic, _Topic())
        if place in held.values:
            found: Value = held.values[place]
            return found
        if max_values is not None:
            while len(held.values) >= max(max_values, 1):
                held.drop_oldest()  # before the next value takes memory, too
        value = compute()
        held.add(place, value)
        while max_bytes is not None and held.n_bytes > max_bytes and len(held.values) > 1:
            held.drop_oldest()
        return value

    def clear(self) -> None:
        """Forget everything."""
        self._topics = {}

    def __len__(self) -> int:
        """Count the values of all topics."""
        return sum(len(held.values) for held in self._topics.values())


class _Topic:
    """The values of one kind, oldest first."""

    def __init__(self) -> None:
        self.values: dict[Hashable, Any] = {}
        self.n_bytes = 0

    def add(self, place: Hashable, value: object) -> None:
        self.values[place] = value
        self.n_bytes += value_size(value)

    def drop_oldest(self) -> None:
        self.n_bytes -= value_size(self.values.pop(next(iter(self.values))))


def value_size(value: object) -> int:
    """Bytes that an array takes, or a tuple or dataclass with arrays in it; anything else counts as a few."""
    if is_dataclass(value):
        value = tuple(getattr(value, field.name) for field in fields(value))
    parts = value if isinstance(value, tuple) else (value,)
    return 200 + sum(_part_size(part) for part in parts)


def _part_size(part: object) -> int:
    if isinstance(part, np.ndarray):
        return part.nbytes
    return value_size(part) if isinstance(part, tuple) else 32

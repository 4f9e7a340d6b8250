"""Whose request is handled next: people take turns, and so do the pages of each of them."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Generic, Protocol, TypeVar


class SupportsOwner(Protocol):
    """A page that sends requests; `owner` is whose turn they take."""

    owner: str


Sender = TypeVar("Sender", bound=SupportsOwner)


class Turns(asyncio.Queue[tuple[Sender, Any] | None], Generic[Sender]):
    """A queue of requests in which nobody waits for all that another person has asked before.

    An entry is a page and its request, or None for a notice of the hub to itself. The requests of one page
    stay in their order.
    """

    def _init(self, _maxsize: int) -> None:
        self._n_waiting = 0
        self._owners: dict[
            str, dict[Sender | None, deque[tuple[Sender, Any] | None]]
        ] = {}  # in the order of their turns

    def _put(self, item: tuple[Sender, Any] | None) -> None:
        client = None if item is None else item[0]
        own = self._owners.setdefault("" if client is None else client.owner, {})
        own.setdefault(client, deque()).append(item)
        self._n_waiting += 1

    def _get(self) -> tuple[Sender, Any] | None:
        owner = next(iter(self._owners))
        own = self._owners.pop(owner)
        client = next(iter(own))
        waiting = own.pop(client)
        entry = waiting.popleft()
        self._n_waiting -= 1
        if waiting:
            own[client] = waiting  # behind the other pages
        if own:
            self._owners[owner] = own  # behind the other people
        return entry

    def qsize(self) -> int:
        """How many requests wait."""
        return self._n_waiting

    def empty(self) -> bool:
        """Whether none waits."""
        return not self._n_waiting

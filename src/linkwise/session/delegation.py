"""Methods and properties of a session that call one of its parts, whose documentation they have."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

P = ParamSpec("P")
T = TypeVar("T")


class SupportsLock(Protocol):
    """An object that one thread at a time may use."""

    _lock: threading.RLock


def call_part(part: str, method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """Make a method of a session of a method of one of its parts; one thread at a time runs it."""

    @wraps(method)
    def call(self: SupportsLock, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            return method(getattr(self, part), *args, **kwargs)

    return call


class ReadPart(property, Generic[T]):
    """A property of a session that calls a method of one of its parts."""

    def __init__(self, part: str, method: Callable[[Any], T]) -> None:
        super().__init__(call_part(part, method))

    if TYPE_CHECKING:

        @overload
        def __get__(self, session: None, kind: type, /) -> Self: ...
        @overload
        def __get__(self, session: Any, kind: type | None = None, /) -> T: ...
        def __get__(self, session: Any, kind: type | None = None, /) -> Self | T: ...

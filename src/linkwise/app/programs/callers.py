"""Call oracles in Python: functions in threads of their own, coroutine functions in an event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

from linkwise.errors import short_repr
from linkwise.session.team.leases import OpenQuestion


class Caller(Protocol):
    """Asks a program, and hands back its replies in any order."""

    def send(self, question: OpenQuestion) -> Future[Any]:
        """Ask one question; the future receives the reply or the error."""

    def give_up(self, question: OpenQuestion) -> None:
        """Take note that nobody waits for the reply to a question any more."""

    def close(self) -> None:
        """End the program."""


def create_caller(oracle: Callable[..., object], *, in_threads: bool) -> Caller:
    """Create the caller of a function or a coroutine function."""
    if not callable(oracle):
        raise TypeError(
            f"oracle={short_repr(oracle)} is not a function. Pass a function of a question or of two row "
            "positions, or linkwise.TruthOracle(y) for known classes."
        )
    takes_rows = _takes_two(oracle)

    def ask(question: OpenQuestion) -> Any:
        return oracle(question.first, question.second) if takes_rows else oracle(question)

    if inspect.iscoroutinefunction(oracle) or inspect.iscoroutinefunction(type(oracle).__call__):
        return CoroutineCaller(ask)
    return FunctionCaller(ask, in_threads=in_threads)


def _takes_two(oracle: Callable[..., object]) -> bool:
    """Whether a function takes two row positions; if not, it takes a question."""
    try:
        signature = inspect.signature(oracle)
    except ValueError:  # compiled functions may have none
        return True
    for values, is_pair in (((0, 0), True), ((0,), False)):
        try:
            signature.bind(*values)
        except TypeError:
            continue
        return is_pair
    raise TypeError(
        f"oracle takes the arguments {signature}, but it is called with a question or with two row "
        "positions. Pass a function such as f(question) or f(first, second)."
    )


class FunctionCaller:
    """Calls a function, each time in a new thread or in the thread that asks."""

    def __init__(self, ask: Callable[[Any], object], *, in_threads: bool) -> None:
        self._ask = ask
        self._in_threads = in_threads

    def send(self, question: Any) -> Future[Any]:
        """Call the function."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        if self._in_threads:  # daemons: a call that never returns must not keep the process alive
            threading.Thread(target=self._call, args=(question, future, BaseException), daemon=True).start()
        else:
            self._call(question, future, Exception)
        return future

    def _call(self, question: Any, future: Future[Any], errors: type[BaseException]) -> None:
        try:
            future.set_result(self._ask(question))
        except errors as error:
            future.set_exception(error)

    def give_up(self, question: Any) -> None:
        """Do nothing: a thread cannot be ended from outside."""

    def close(self) -> None:
        """Do nothing, for the same reason."""


class CoroutineCaller:
    """Runs coroutines in one event loop, which has a thread of its own."""

    def __init__(self, ask: Callable[[OpenQuestion], Any]) -> None:
        self._ask = ask
        self._open: dict[str, Future[Any]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def send(self, question: OpenQuestion) -> Future[Any]:
        """Start a coroutine."""

        async def run() -> Any:
            return await self._ask(question)

        future = asyncio.run_coroutine_threadsafe(run(), self._loop)
        self._open[question.id] = future
        return future

    def give_up(self, question: OpenQuestion) -> None:
        """Cancel the coroutine."""
        self._open.pop(question.id).cancel()

    def close(self) -> None:
        """Cancel what still runs, and end the loop."""

        async def end() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=1.0) if tasks else None

        asyncio.run_coroutine_threadsafe(end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

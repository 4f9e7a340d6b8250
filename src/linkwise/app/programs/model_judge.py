"""Let a language model answer questions and sort screens: prompt, reply, one correction, tokens and costs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

from linkwise.app.programs.callers import FunctionCaller
from linkwise.app.programs.chat_endpoint import ChatEndpoint, Completion, Message
from linkwise.app.programs.model_prompts import write_correction, write_pair_prompt, write_piles_prompt
from linkwise.app.programs.model_replies import ModelReplyError, mend_piles, read_answer, read_piles
from linkwise.app.programs.replies import ProgramReply, UnusableReplyError
from linkwise.app.programs.reply_cache import ReplyCache, find_key
from linkwise.session.team.leases import OpenQuestion, Screen

Reply = TypeVar("Reply")
PER = 1_000_000  # tokens that a price is for


class TokenPrices(NamedTuple):
    """What a million tokens that a model reads and writes cost."""

    read: float = 0.0
    written: float = 0.0


@dataclass(slots=True)
class TokenCount:
    """The tokens of a run, its requests, and the replies that were known from earlier ones."""

    n_read: int = 0
    n_written: int = 0
    n_requests: int = 0
    n_known: int = 0

    @property
    def total(self) -> int:
        """All tokens."""
        return self.n_read + self.n_written


@dataclass(slots=True)
class ModelJudge:
    """A model that answers; threads may share it.

    `tokens` counts what its requests have used, also those that failed afterwards.
    """

    endpoint: ChatEndpoint
    cache: ReplyCache
    prices: TokenPrices = field(default_factory=TokenPrices)
    tokens: TokenCount = field(default_factory=TokenCount)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, messages: list[Message]) -> ProgramReply:
        """Answer the question in a prompt; a model that refuses leaves it to others."""
        try:
            (answer, reason), cost = self._converse(messages, read_answer, read_answer)
        except _RefusalError as error:
            return ProgramReply(None, error.cost, str(error))
        return ProgramReply(answer, cost, reason)

    def sort(self, messages: list[Message], shown: Screen) -> ProgramReply:
        """Sort the screen in a prompt; cards that have no place even after a correction are unsure."""
        (piles, reason), cost = self._converse(
            messages, partial(read_piles, shown=shown), partial(mend_piles, shown=shown)
        )
        return ProgramReply(piles, cost, reason)

    def _converse(
        self, messages: list[Message], read: Callable[[str], Reply], read_last: Callable[[str], Reply]
    ) -> tuple[Reply, float]:
        """Return what `read` finds, or `read_last` in the reply after a correction; and the cost."""
        model, cost = self.endpoint.model, 0.0
        key = find_key(model, messages)
        if (known := self.cache.get(key)) is not None:
            try:
                found = _read_known(known, read, read_last)
            except ModelReplyError:
                pass  # an earlier version read it
            else:
                with self._lock:
                    self.tokens.n_known += 1
                return found, 0.0
        try:
            completion = self._complete(messages)
            cost = self._cost(completion)
            _check_fault(completion)
            try:
                found = read(completion.text)
            except ModelReplyError as fault:
                completion = self._complete(write_correction(messages, completion.text, str(fault)))
                cost += self._cost(completion)
                _check_fault(completion)
                found = read_last(completion.text)
        except ModelReplyError as fault:
            raise UnusableReplyError(
                f"The model was asked twice and gave no usable reply ({fault})", cost, is_final=True
            ) from None
        except UnusableReplyError as error:
            error.cost = cost  # also of a first reply, if the second request fails
            raise
        self.cache.put(key, model, completion.text)
        return found, cost

    def _complete(self, messages: list[Message]) -> Completion:
        completion = self.endpoint.complete(messages)
        with self._lock:
            self.tokens.n_requests += 1
            self.tokens.n_read += completion.n_read
            self.tokens.n_written += completion.n_written
        return completion

    def _cost(self, completion: Completion) -> float:
        return (completion.n_read * self.prices.read + completion.n_written * self.prices.written) / PER


class _RefusalError(UnusableReplyError):
    """The model does not want to reply."""


def _check_fault(completion: Completion) -> None:
    if completion.is_refusal:
        raise _RefusalError(completion.fault, is_final=True)
    if completion.fault:
        raise UnusableReplyError(completion.fault)


def _read_known(text: str, read: Callable[[str], Reply], read_last: Callable[[str], Reply]) -> Reply:
    try:
        return read(text)
    except ModelReplyError:
        return read_last(text)


# ---------------------------------------------------------------- what conversations call
class ModelCaller:
    """Asks a model about questions or screens, each in a thread; rows are read in the thread that asks.

    `to_json` returns the fields of a question or a screen, as programs get them.
    """

    def __init__(self, judge: ModelJudge, to_json: Callable[[Any], Mapping[str, Any]]) -> None:
        self._judge, self._to_json = judge, to_json
        self._caller = FunctionCaller(lambda ask: ask(), in_threads=True)

    def send(self, question: OpenQuestion | Screen) -> Future[Any]:
        """Ask about a question or a screen."""
        fields = self._to_json(question)
        if isinstance(question, Screen):
            return self._caller.send(partial(self._judge.sort, write_piles_prompt(fields), question))
        return self._caller.send(partial(self._judge.answer, write_pair_prompt(fields)))

    def give_up(self, question: OpenQuestion | Screen) -> None:
        """Do nothing: a request ends by its own time limit."""

    def close(self) -> None:
        """Do nothing: what still runs ends with the process."""

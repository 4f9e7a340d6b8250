"""A program in a process of its own, which reads questions and writes replies as lines of JSON.

The program runs until its input ends. It may reply in any order. If it ends early or closes its output, it is
started again and gets the questions to which it has not replied.
"""

from __future__ import annotations

import json
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import IO, Any, NamedTuple, Protocol

from linkwise.app.programs.process_group import GRACE_S, ProcessGroup
from linkwise.app.programs.replies import ProgramReply, UnusableReplyError, check_cost
from linkwise.errors import ProgramError, short_repr
from linkwise.wording import count_noun, quote_command, shorten

FIRST_DELAY_S, MOST_DELAY_S = 0.2, 10.0  # before the program is started again
DRAIN_S = 2.0  # to read the last replies of a program that has ended
MAX_LINE = 1 << 20  # bytes of a reply; of a longer line the rest is skipped
NO_REPLY, NOT_OPEN = "no replies", "replies to questions that are not open"


class _Sent(NamedTuple):
    """A question that the program has."""

    line: bytes
    future: Future[Any]
    when: float


class ChildProcess:
    """Sends questions to a program, and starts it again if it ends.

    `to_json` returns the fields of a question, besides its id, and `parse` reads the id of a question and the
    reply from a line, by default an answer. The program may end so often in a row
    without a reply in between. `log` is called with a line about each start and each end, and about the
    first line of the program that is of no use; `close` tells how many there were.
    """

    def __init__(
        self,
        command: Sequence[str],
        to_json: Callable[[Any], dict[str, Any]],
        *,
        restarts: int = 3,
        log: Callable[[str], object] | None = None,
        parse: Callable[[bytes], tuple[str, ProgramReply]] | None = None,
    ) -> None:
        self._command, self._to_json, self._restarts = list(command), to_json, restarts
        self._parse = parse_reply if parse is None else parse
        self._log = log or (lambda _: None)
        self._lock = threading.Lock()
        self._open: dict[str, _Sent] = {}  # in the order in which they were sent
        self._early: dict[str, Future[Any]] = {}  # replies that came after their time, before a repetition
        self._given_up: set[str] = set()
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._n_useless = {NO_REPLY: 0, NOT_OPEN: 0}  # lines of the program
        self._process: ProcessGroup | None = None
        self._closing = threading.Event()
        self._error: ProgramError | None = None
        self._is_restarting = False
        self._has_replied = False  # since the last start
        self._n_ends = 0  # in a row without a reply
        self._last_line = -math.inf
        with self._lock:
            self._start()

    # ------------------------------------------------------------ asking
    def send(self, question: Named) -> Future[Any]:
        """Send a question."""
        fields = {"id": question.id, **self._to_json(question)}
        line = json.dumps(fields, ensure_ascii=True).encode() + b"\n"
        with self._lock:
            self._given_up.discard(question.id)
            early = self._early.pop(question.id, None)
            if early is not None:
                return early
            future: Future[Any] = Future()
            if self._error is not None:
                future.set_exception(self._error)
                return future
            self._open[question.id] = _Sent(line, future, time.monotonic())
            if self._process is not None:
                self._lines.put(line)
            elif not self._is_restarting:  # it ended when nothing was open
                self._restart()
            return future

    def give_up(self, question: Named) -> None:
        """Keep a late reply for a repetition; end a program that has been silent since the question."""
        with self._lock:
            sent, process = self._open.pop(question.id, None), self._process
            if sent is None:  # the reply has come at this moment
                return
            sent.future.cancel()
            self._given_up.add(question.id)
        if process is not None and self._last_line < sent.when:
            self._log("the program is silent and is ended; it must flush its output after each reply")
            process.end()

    def close(self) -> None:
        """End the program: first its input ends, then the process is ended if it does not end by itself."""
        self._closing.set()
        with self._lock:
            process, self._process = self._process, None
            self._lines.put(None)
        if process is not None:
            process.end(GRACE_S)
        for kind, n in self._n_useless.items():
            if n > 1:
                self._log(f"the program wrote {count_noun(n, 'line')} that are {kind}")

    # ------------------------------------------------------------ starting
    def _start(self) -> None:
        """Start the program and send it everything that is open."""
        try:
            process = ProcessGroup(self._command)
        except OSError as error:
            raise ProgramError(
                f"{quote_command(self._command[0])} cannot be started: {error.strerror}. Check the command."
            ) from None
        self._log(f"started: {quote_command(*self._command)} (process {process.pid})")
        self._process, self._lines, self._has_replied = process, queue.SimpleQueue(), False
        for sent in self._open.values():
            self._lines.put(sent.line)
        threading.Thread(target=_write, args=(process.stdin, self._lines), daemon=True).start()
        threading.Thread(target=self._watch, args=(process,), daemon=True).start()

    def _restart(self) -> None:
        """Start the program again; if that is impossible, nothing more can be answered."""
        try:
            self._start()
        except ProgramError as error:
            self._stop(error)

    def _stop(self, error: ProgramError) -> None:
        self._error = error
        for sent in self._open.values():
            with suppress(InvalidStateError):
                sent.future.set_exception(error)
        self._open.clear()

    # ------------------------------------------------------------ replies
    def _read(self, process: ProcessGroup) -> None:
        """Take the replies until the output of the program ends, and then see to it that the program ends."""
        with process.stdout as output:
            for line in read_lines(output):
                self._take(line)
        process.end(GRACE_S)

    def _watch(self, process: ProcessGroup) -> None:
        """Start the program again when it ends, after its last replies."""
        reader = threading.Thread(target=self._read, args=(process,), daemon=True)
        reader.start()
        code = process.wait()
        reader.join(DRAIN_S)  # a process that has left the group may hold the output open
        with self._lock:
            self._lines.put(None)
            if self._closing.is_set() or self._process is not process:
                return
            self._process = None
            if not self._open and not code:  # it may come back for the next question
                return
            self._n_ends = 0 if self._has_replied else self._n_ends + 1
            end = _describe_end(code)
            if self._n_ends > self._restarts:
                times = count_noun(self._n_ends, "time")
                self._stop(
                    ProgramError(
                        f"The program {end} {times} without a reply in between. "
                        f"Try it by hand: {quote_command(*self._command)}"
                    )
                )
                return
            delay = min(MOST_DELAY_S, FIRST_DELAY_S * 2 ** max(0, self._n_ends - 1))
            self._is_restarting = True
        self._log(f"the program {end}; it is started again in {delay:.1f} s")
        self._closing.wait(delay)
        with self._lock:
            self._is_restarting = False
            if not self._closing.is_set():
                self._restart()

    def _take(self, line: bytes) -> None:
        """Hand a reply to its question."""
        self._last_line = time.monotonic()
        try:
            name, reply = self._parse(line)
        except UnusableReplyError as error:
            name = error.name if isinstance(error, UnusableLineError) else ""
            if not name:
                self._note_useless(NO_REPLY, str(error))
            with self._lock:
                name = name or next(iter(self._open), "")
                sent = self._open.pop(name, None)
            if sent is not None:  # without an id it is probably about the oldest question
                with suppress(InvalidStateError):
                    sent.future.set_exception(error)
            return
        with self._lock:
            self._has_replied = True
            sent = self._open.pop(name, None)
            future = None if sent is None else sent.future
            if future is None and name in self._given_up:
                self._given_up.discard(name)
                future = self._early[name] = Future()
        if future is None:
            self._note_useless(
                NOT_OPEN, f"a reply to a question that is not open is ignored: {short_repr(name)}"
            )
            return
        with suppress(InvalidStateError):  # given up at this moment
            future.set_result(reply)

    def _note_useless(self, kind: str, text: str) -> None:
        """Log the first line of a kind, and count the others."""
        self._n_useless[kind] += 1
        if self._n_useless[kind] == 1:
            self._log(text)


class Named(Protocol):
    """A question, or a screen of rows."""

    @property
    def id(self) -> str:
        """Its identifier."""


class UnusableLineError(UnusableReplyError):
    """A line that is no reply; `name` is the id of the question, if the line has one."""

    def __init__(self, message: str, name: str = "", cost: float = 0.0) -> None:
        super().__init__(message, cost)
        self.name = name


def read_fields(line: bytes) -> tuple[str, dict[str, Any], float]:
    """Return the id of the question, the fields of the reply and its cost."""
    text = line.decode("utf-8", errors="replace").strip()
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or not isinstance(fields.get("id"), str):
        raise UnusableLineError(f"The program wrote a line that is no reply: {short_repr(text)}.")
    name = fields["id"]
    try:
        cost = check_cost(fields.get("cost") or 0.0)
    except UnusableReplyError as error:
        raise UnusableLineError(str(error), name) from None
    if fields.get("error") is not None:
        raise UnusableLineError(
            f"The program reports an error: {shorten(str(fields['error']), 200)}", name, cost
        )
    return name, fields, cost


def parse_reply(line: bytes) -> tuple[str, ProgramReply]:
    """Return the id of the question and the reply."""
    name, fields, cost = read_fields(line)
    reason, given = fields.get("reason"), fields.get("answer")
    if given is not None and given not in ("yes", "no", "unsure"):
        raise UnusableLineError(
            f"The program gave an unknown answer: {short_repr(given)}. It must be yes, no or unsure.",
            name,
            cost,
        )
    answer = _combine(given, fields.get("probability"), name, cost)
    return name, ProgramReply(answer, cost, reason if isinstance(reason, str) else "")


def _combine(given: str | None, probability: object, name: str, cost: float) -> object:
    """Return the answer or the probability, which must agree."""
    if probability is None or given == "unsure":
        return given
    if (
        isinstance(probability, bool)
        or not isinstance(probability, (int, float))
        or not 0 <= probability <= 1
    ):
        raise UnusableLineError(
            f"The program gave a probability that is not a number from 0 to 1: {short_repr(probability)}.",
            name,
            cost,
        )
    share = float(probability)
    if given is not None and share != 0.5 and (share > 0.5) != (given == "yes"):
        raise UnusableLineError(
            f"The program answered {given}, but its probability that the rows belong together is {share:g}.",
            name,
            cost,
        )
    return share


def read_lines(output: IO[bytes]) -> Iterator[bytes]:
    """Read the lines that are not blank, of a line that is too long only the beginning."""
    is_rest = False
    while part := output.readline(MAX_LINE):
        if not is_rest and part.strip():
            yield part
        is_rest = not part.endswith(b"\n")


def _write(program: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    """Write lines to a program until there are no more, or until it reads no more."""
    with suppress(OSError, ValueError):
        while (line := lines.get()) is not None:
            program.write(line)
            program.flush()
    with suppress(OSError, ValueError):
        program.close()


def _describe_end(code: int) -> str:
    """How a program ended, as part of a sentence."""
    if code < 0:
        return f"was ended by signal {-code}"
    return f"ended with exit code {code}"

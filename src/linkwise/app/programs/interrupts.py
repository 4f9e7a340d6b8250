"""Signals that interrupt while a program answers: none is lost, and none comes where it would do harm."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def interrupt_at_end() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt as Ctrl-C does, so that the programs that answer end too.

    Whoever has started linkwise may have chosen to ignore one of them, as nohup does; then it stays ignored.
    """
    ours = [each for each in ENDING if signal.getsignal(each) is signal.SIG_DFL and _is_main()]
    for each in ours:
        signal.signal(each, signal.default_int_handler)
    try:
        yield
    finally:
        for each in ours:
            signal.signal(each, signal.SIG_DFL)


@contextmanager
def defer_interrupt() -> Iterator[None]:
    """Let an interrupt wait until what must not be left half done is done."""
    usual = signal.default_int_handler
    ours = [each for each in (signal.SIGINT, *ENDING) if signal.getsignal(each) is usual and _is_main()]
    caught: list[int] = []
    for each in ours:
        signal.signal(each, lambda number, _: caught.append(number))
    try:
        yield
    finally:
        for each in ours:
            signal.signal(each, usual)
    if caught:
        raise KeyboardInterrupt


def _is_main() -> bool:
    """Whether this is the thread that may say how signals are handled."""
    return threading.current_thread() is threading.main_thread()

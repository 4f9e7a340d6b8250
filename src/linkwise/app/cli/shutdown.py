"""How signals end a program that serves: the first one asks it to, and it cannot be put off for long.

From the first signal on the kernel itself sees to the end: by a second signal at once, by an alarm after
`LIMIT_S`. Neither needs a thread that runs, an output that takes words, or a lock that is free.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LIMIT_S = 20.0  # longest time from the first signal to the end; usually it takes less than one second


@contextmanager
def call_on_signal(stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` at the first SIGINT or SIGTERM within the block; only the main thread may enter it."""
    caught = False

    def catch(_number: int, _frame: FrameType | None) -> None:
        nonlocal caught
        caught = True
        for each in (*SIGNALS, signal.SIGALRM):
            signal.signal(each, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
        stop()

    before = {each: signal.signal(each, catch) for each in SIGNALS}
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # whoever started us may have blocked them
    try:
        yield
    finally:
        if not caught:  # else the rest of the program may not take long either
            for each, handler in before.items():
                signal.signal(each, handler)

"""How long tests wait for what has to come: longer where the machine is busy.

A limit is there to end a test that hangs; it never says how fast something should be. Wait for a
condition, and take every limit from here: `LINKWISE_PATIENCE=3` makes all of them three times as long.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

LIMIT_S = 60.0  # on a machine that has nothing else to do
MOST = 20.0  # the load makes a limit no longer than so many times


def patience(seconds: float = LIMIT_S) -> float:
    """`seconds`, times what `LINKWISE_PATIENCE` says; else times how many processes share a core, doubled.

    Doubled, because the load average of the last minute lags behind a load that begins.
    """
    given = os.environ.get("LINKWISE_PATIENCE")
    if given:
        return seconds * float(given)
    return seconds * min(MOST, max(1.0, 2 * os.getloadavg()[0] / (os.cpu_count() or 1)))


def wait_until(condition: Callable[[], object], what: str = "the condition never held") -> None:
    """Wait until `condition` holds; a test fails with `what` where it does not in time."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < patience(), f"waited in vain: {what}"
        time.sleep(0.01)

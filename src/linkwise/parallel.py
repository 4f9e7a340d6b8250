"""How many threads to use."""

from __future__ import annotations

import os


def n_threads() -> int:
    """Return the number of threads that a kernel should use.

    Returns
    -------
    int
        ``OMP_NUM_THREADS`` where it is set to a positive integer (the first, where it lists one for
        each level of nesting), else the number of cores that this process may use.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""Treat numbers too small for full precision as 0, since they make arithmetic some hundred times slower."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import linkwise.native._native as library


@contextmanager
def subnormals_as_zero() -> Generator[None, None, None]:
    """Treat numbers below 1e-38 (float32; 1e-308 for float64) as 0 in this thread, within a context.

    It has an effect on x86-64 and AArch64 only.
    """
    before = library.flush_subnormals(True)
    try:
        yield
    finally:
        library.flush_subnormals(before)

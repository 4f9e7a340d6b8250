"""How session files of earlier formats become files of the present one.

The first format is 1, and each migration leads to the next one. A file is migrated when it is opened, in one
transaction, so that it is never between two formats.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import NamedTuple


class Migration(NamedTuple):
    """The step from one format to the next."""

    schema: str
    """The tables as they were before, which a file must have exactly."""
    change: Callable[[sqlite3.Connection], None]
    """Give the tables the form that they have in the next format."""


MIGRATIONS: tuple[Migration, ...] = ()
"""The migrations from format 1 on, in order."""

"""One file that holds arrays, a table and JSON, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.array_archives import read_archive
from linkwise.errors import DataError
from linkwise.large.arrow_tables import pack_table, unpack_table
from linkwise.whole_files import write_whole
from linkwise.wording import shorten, strip_full_stop

JSON, TABLE = "json", "table"
LARGEST = 2**31  # bytes of a file that is read


class State(NamedTuple):
    """What a file holds."""

    values: Any
    """Values as JSON has them."""
    arrays: dict[str, NDArray[Any]]
    frame: Any
    """A polars.DataFrame, or None."""


def write_state(path: Path, state: State) -> None:
    """Write a file; one that is there stays if this fails."""
    arrays = dict(state.arrays)
    arrays[JSON] = np.frombuffer(json.dumps(state.values).encode(), dtype=np.uint8)
    if state.frame is not None:
        arrays[TABLE] = np.frombuffer(pack_table(state.frame), dtype=np.uint8)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_whole(path) as free, free.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
    except OSError as error:
        raise DataError(
            f"'{path}' cannot be written: {error.strerror or error}. Make room, or store the session"
            " elsewhere by --session PATH."
        ) from error


def read_state(path: Path) -> State:
    """Read a file that `write_state` wrote.

    Raises `DataError` if it is damaged, or far larger than any that linkwise writes.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError("It is too large.")
        arrays = read_archive(path, is_packed=False)
        values = json.loads(arrays.pop(JSON).tobytes())
        table = arrays.pop(TABLE, None)
        return State(values, arrays, None if table is None else unpack_table(table.tobytes()))
    except (DataError, ValueError, KeyError) as error:
        why = strip_full_stop(shorten(str(error), 100))
        raise DataError(f"'{path}' is damaged: {why}. Restore a copy of it.") from error


def check_arrays(state: State, shapes: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
    """Raise `ValueError` unless arrays have the given kinds of values and shapes."""
    for name, (kind, shape) in shapes.items():
        found = state.arrays.get(name)
        if found is None or found.dtype.kind != kind or found.shape != shape:
            raise ValueError(f"It has no array {name}.")

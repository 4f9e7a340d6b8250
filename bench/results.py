"""The folder of results, and the tables in it. This module imports nothing large."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"


def write_csv(path: Path, fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table of rows in the order of the fields; make its folder where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(fields)
        writer.writerows(rows)


def write_table(path: Path, fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a table of rows by field."""
    write_csv(path, fields, ([row[field] for field in fields] for row in rows))


def add_earlier(path: Path, lines: Iterable[tuple[str, ...]], n_keys: int) -> list[tuple[str, ...]]:
    """Add the lines of an earlier table whose first fields, so many, are those of no line.

    So a table keeps what was measured before, when only a part of it is measured again.
    """
    found = list(lines)
    keys = {line[:n_keys] for line in found}
    if not path.exists():
        return found
    with path.open(newline="") as file:
        _, *earlier = map(tuple, csv.reader(file))
    return [*found, *(line for line in earlier if line[:n_keys] not in keys)]

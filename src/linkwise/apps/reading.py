"""A data file, read and encoded as the command line says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from linkwise.constraints import Constraints
from linkwise.data import Encoded, Table, encode, read_table
from linkwise.data.encode import Categories
from linkwise.data.readers import ENDINGS
from linkwise.errors import DataError


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read and encoded; None where the command line says nothing."""

    id_column: str | None = None
    columns: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    delimiter: str | None = None
    scale: str | None = None
    impute: str | None = None

    def given(self) -> dict[str, Any]:
        """What the command line does say."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def choices(self) -> dict[str, Any]:
        """The part that is for `read_table`."""
        return {name: value for name, value in self.given().items() if name not in ("scale", "impute")}

    def options(self) -> tuple[str, ...]:
        """The options that say the same."""
        listed = {name: _in_one(value) for name, value in self.given().items()}
        return tuple(word for name, value in listed.items() for word in (option(name), value))

    def source(self) -> dict[str, Any]:
        """All that decides what is read from a file."""
        return {"choices": self.choices(), "scale": self.scale or "unit", "impute": self.impute}


def _in_one(value: Any) -> str:
    """One value, or names as a list with commas."""
    if isinstance(value, str):
        return value
    return ",".join(f'"{name}"' if "," in name else name for name in value)


def option(name: str) -> str:
    """The option that gives one part of a `Reading`."""
    return f"--{name.removesuffix('_column').replace('_', '-')}"


def read(data: Path, source: dict[str, Any], categories: Categories = "columns") -> tuple[Table, Encoded]:
    """The table of a file and its numbers, as `Reading.source` has it."""
    table = read_table(existing(data), **source["choices"])
    try:
        return table, encode(table, scale=source["scale"], impute=source["impute"], categories=categories)
    except DataError as error:
        raise DataError(f"{data.name}: {error}") from error


def existing(data: Path) -> Path:
    """A data file that is there."""
    if data.is_dir():
        raise DataError(f"{data} is a folder; name a file in it")
    if not data.exists():
        raise FileNotFoundError(f"there is no file {data}")
    return data


def is_data(path: Path) -> bool:
    """Whether a path is by its name a data file."""
    return path.suffix.lower() in ENDINGS


def ids_of(table: Table) -> list[str] | None:
    """The id of every row; None where rows are known by position."""
    return None if table.ids is None else list(table.ids)


def pairs_of(path: Path, ids: Sequence[str] | None, n_rows: int) -> Constraints:
    """The pairs of a file ``id_a,id_b,kind``; rows without ids are named by their positions."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file of pairs (id_a,id_b,kind)")
    return Constraints.read_csv(path, n_rows=n_rows) if ids is None else Constraints.read_csv(path, ids=ids)

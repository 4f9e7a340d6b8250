"""Read and encode a data file or folder with the options of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from linkwise.asking.learner import Progress
from linkwise.constraints.constraints import Constraints
from linkwise.data import Rows, Table, encode, items_of, read_folder, read_table
from linkwise.data.encode import Categories
from linkwise.data.readers import ENDINGS
from linkwise.errors import DataError
from linkwise.workspace.exit_codes import UsageError

OF_ENCODING = ("scale", "impute")
OF_FOLDERS = ("skip_broken",)


@dataclass(frozen=True, slots=True)
class Reading:
    """The options for reading and encoding a file; None for an option that is not given."""

    id_column: str | None = None
    columns: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    delimiter: str | None = None
    scale: str | None = None
    impute: str | None = None
    text: str | None = None
    series: bool | None = None
    skip_broken: bool | None = None

    def given(self) -> dict[str, Any]:
        """The options that are given."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def choices(self) -> dict[str, Any]:
        """The arguments for `read_table` or `read_folder`."""
        return {name: value for name, value in self.given().items() if name not in OF_ENCODING}

    def options(self) -> tuple[str, ...]:
        """The same options as words of a command."""
        return tuple(
            word
            for name, value in self.given().items()
            for word in ((option_name(name),) if value is True else (option_name(name), _join_values(value)))
        )

    def source(self, data: Path) -> dict[str, Any]:
        """Everything that determines what is read from a file or a folder."""
        self._check(data)
        usual = None if data.is_dir() or self.text else "standard" if self.series else "unit"
        return {"choices": self.choices(), "scale": self.scale or usual, "impute": self.impute}

    def _check(self, data: Path) -> None:
        """Check that the options go together."""
        for name in self.given():
            if data.is_dir() and name not in OF_FOLDERS:
                raise UsageError(
                    f"{data} is a folder, a row for each image or text; leave {option_name(name)} out"
                )
            if not data.is_dir() and name in OF_FOLDERS:
                raise UsageError(f"{option_name(name)} is for folders of images; leave it out")
            if self.text is not None and name in ("columns", "series", *OF_ENCODING):
                raise UsageError(
                    f"with --text rows are compared by their words alone; leave {option_name(name)} out"
                )
            if self.series and name == "impute":
                raise UsageError("gaps in curves are filled from their neighbours; leave --impute out")


def _join_values(value: Any) -> str:
    """Write one value, or join names by commas."""
    if isinstance(value, str):
        return value
    return ",".join(f'"{name}"' if "," in name else name for name in value)


def option_name(name: str) -> str:
    """The command-line option of one part of a `Reading`."""
    return f"--{name.removesuffix('_column').replace('_', '-')}"


def read_rows(
    data: Path,
    source: dict[str, Any],
    categories: Categories = "columns",
    progress: Progress | None = None,
) -> Rows:
    """Read a file or a folder and encode its rows, as `Reading.source` describes."""
    if check_exists(data).is_dir():
        if not source["choices"].keys() <= {"kind", *OF_FOLDERS}:
            raise DataError(f"{data} is a folder, and the session was made for a file. Name that file.")
        try:
            return read_folder(data, **source["choices"], progress=progress)
        except ImportError as error:
            raise UsageError(str(error)) from error
    if "kind" in source["choices"]:
        raise DataError(f"{data} is a file, and the session was made for a folder. Name that folder.")
    table = read_table(data, **source["choices"])
    try:
        encoded = encode(table, scale=source["scale"], impute=source["impute"], categories=categories)
        return Rows(table, encoded, items_of(table))
    except DataError as error:
        raise DataError(f"{data.name}: {error}") from error


def check_exists(data: Path) -> Path:
    """Check that a data file or folder exists; return its path."""
    if not data.exists():
        raise FileNotFoundError(f"There is no file {data}.")
    return data


def is_data(path: Path) -> bool:
    """Whether a path is a folder or has the name of a data file."""
    return path.is_dir() or path.suffix.lower() in ENDINGS


def resolve_name(path: Path) -> Path:
    """Resolve a path without a name, such as the folder ``.``."""
    return path.resolve() if path.name in ("", "..") else path


def row_ids(table: Table) -> list[str] | None:
    """The id of every row; None if rows have no ids."""
    return None if table.ids is None else list(table.ids)


def read_pairs_file(path: Path, ids: Sequence[str] | None, n_rows: int) -> Constraints:
    """Read the pairs of a file ``id_a,id_b,kind``; rows without ids are named by their positions."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file of pairs (id_a,id_b,kind)")
    return Constraints.read_csv(path, n_rows=n_rows) if ids is None else Constraints.read_csv(path, ids=ids)

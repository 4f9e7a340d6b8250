"""Read and encode a data file or folder with the options of the command line."""

from __future__ import annotations

import difflib
import hashlib
import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from linkwise.app.project.embeddings import is_embedding
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.options import OF_FOLDERS, check_reading
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.files import find_row, read_records
from linkwise.data import Encoded, Rows, Table, encode, read_folder, read_table
from linkwise.data.columns.proposals import PROPOSED, recall_proposals, store_proposals
from linkwise.data.encoding.matrix import Categories
from linkwise.data.encoding.meaning import ENCODER_HASH, hash_weights, uses_meaning
from linkwise.data.read.endings import ENDINGS
from linkwise.data.reading import Reading, recall_reading, store_reading
from linkwise.data.show.rows import to_rows
from linkwise.data.show.side_table import read_side_table, show_side_table
from linkwise.errors import (
    ConstraintError,
    ConstraintWarning,
    DataError,
    DataMismatchError,
    InfeasibleConstraintsError,
)
from linkwise.types import Progress

CHECKSUM = "sha256"  # of a file, in what a session stores about it


def describe_source(reading: Reading, data: Path) -> dict[str, Any]:
    """Describe all that decides what is read from a file or a folder, as a session stores it."""
    check_reading(reading, data)
    side = {} if reading.side_file is None else {"show": {"file": reading.side_file}}
    return {**store_reading(reading), **({"scale": None} if data.is_dir() else {}), **side}


def read_rows(
    data: Path,
    reading: Reading,
    categories: Categories = "columns",
    progress: Progress | None = None,
    *,
    propose: bool = False,
) -> Rows:
    """Read a file or a folder and encode its rows, as they are shown without another table.

    With `propose` the table takes what its values suggest for options that are not given.
    """
    reading = replace(reading, show=reading.shown_columns or None)
    if check_exists(data).is_dir():
        if not reading.settings().keys() <= {"kind", *OF_FOLDERS}:
            raise DataError(f"{data} is a folder, and the session was made for a file. Pass that file.")
        try:
            return read_folder(
                data, kind=reading.kind, skip_broken=bool(reading.skip_broken), progress=progress
            )
        except ImportError as error:
            raise UsageError(str(error)) from error
    if reading.kind is not None:
        raise DataError(f"{data} is a file, and the session was made for a folder. Pass that folder.")
    try:
        table = read_table(data, reading, propose=propose)
        if categories == "codes" and table.proposals and (table.kind != "record" or table.reading.text):
            table = read_table(data, _without_blocks(table.reading, reading))
    except ImportError as error:
        raise UsageError(str(error)) from error
    try:
        return to_rows(table, categories)
    except ImportError as error:
        raise UsageError(str(error)) from error
    except DataError as error:
        raise DataError(f"{data.name}: {error}") from error


def _without_blocks(proposed: Reading, given: Reading) -> Reading:
    """What is proposed, less texts, pictures and curves, of which there are no codes."""
    names = ("text", "text_by", "image", "series", "columns")
    return replace(proposed, **{name: getattr(given, name) for name in names})


def read_shown_rows(
    data: Path,
    source: dict[str, Any],
    folder: Path,
    progress: Progress | None = None,
    *,
    propose: bool = False,
) -> Rows:
    """Read rows with the side table that is shown in place of their columns, if the source names one.

    Its path is relative to `folder`. A source without its checksum gets it; otherwise the file must be the
    same. The source also gets the checksum of the data, by which `is_unchanged` knows them again, and with
    `propose` what the values suggest. The checksum of the encoder that compares its texts
    by meaning must be the same later.
    """
    check_encoder(source)
    side, digest = None, ""
    source.pop(CHECKSUM, None)
    if data.is_file():
        source[CHECKSUM] = hash_file(data)
    if "show" in source:  # before the data, which may take long
        side = Path(os.path.normpath(folder / source["show"]["file"]))
        digest = _check_side_file(side, source["show"].get(CHECKSUM))
    rows = read_rows(data, recall_reading(source), progress=progress, propose=propose)
    if rows.table.proposals:
        source |= describe_source(rows.table.reading, data)
        source[PROPOSED] = store_proposals(rows.table.proposals)
    elif not data.is_dir():
        proposals = recall_proposals(rows.table.reading, source.get(PROPOSED, {}))
        rows = replace(rows, table=replace(rows.table, proposals=proposals))
    if uses_meaning(rows.table.reading.text_by):
        source[ENCODER_HASH] = hash_weights()
    if side is None:
        return rows
    try:
        shown = show_side_table(rows, read_side_table(side, rows.table))
    except ImportError as error:
        raise UsageError(str(error)) from error
    source["show"][CHECKSUM] = digest
    return shown


def find_other_encoder(source: dict[str, Any]) -> str | None:
    """Describe how the encoder that is installed differs from that of a source; None if it is the same."""
    if ENCODER_HASH not in source:
        return None
    try:
        is_other = hash_weights() != source[ENCODER_HASH]
    except ImportError as error:
        raise UsageError(str(error)) from error
    return "with other weights of the encoder that compares texts by meaning" if is_other else None


def check_encoder(source: dict[str, Any]) -> None:
    """Raise if the texts of a source were compared by another encoder than the one that is installed."""
    if (difference := find_other_encoder(source)) is not None:
        raise DataMismatchError(
            f"The session was begun {difference}. Replay its answers: linkwise ask DATA --replay"
        )


def is_unchanged(data: Path, source: dict[str, Any]) -> bool:
    """Whether a file has every byte that it had when the session read it."""
    return CHECKSUM in source and data.is_file() and hash_file(data) == source[CHECKSUM]


def hash_file(path: Path) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_side_file(side: Path, digest: str | None) -> str:
    """The checksum of a side table, which must be `digest` if that is known."""
    if not side.is_file():
        if digest is None:
            raise FileNotFoundError(f"There is no file {side}. Pass a table about the same rows to --show.")
        raise FileNotFoundError(
            f"{side}, which shows the rows of this session, is not there. Restore it, or {_ANEW}"
        )
    found = hash_file(side)
    if digest is not None and found != digest:
        raise DataMismatchError(
            f"{side} has changed since this session began, and the answers are about what it showed then. "
            f"Restore it, or {_ANEW}"
        )
    return found


_ANEW = "begin anew with another table and take the answers over: --show FILE --session NEW --from OLD"


def columns_of_rules(rows: Rows) -> Encoded | None:
    """The columns in their own units in which rules are made: those that a person sees, if there are any."""
    if "text" in (rows.items.kind, rows.table.kind):  # words tell more
        return None
    if rows.side is not None and rows.side.columns is not None:
        return rows.side.columns
    if rows.encoded.features[0].role in ("sample", "image") or is_embedding(rows):
        return None
    columns = tuple(column for column in rows.table.columns if column.role != "image")
    table = replace(rows.table, reading=replace(rows.table.reading, log=None), columns=columns)
    return encode(table, scale="none", categories="codes")


def check_exists(data: Path) -> Path:
    """Check that a data file or folder exists, or suggest one with nearly its name; return its path."""
    if not data.exists():
        there = data.parent.iterdir() if data.parent.is_dir() else ()
        near = difflib.get_close_matches(data.name, sorted(path.name for path in there if is_data(path)), n=1)
        hint = f" Did you mean {data.parent / near[0]}?" if near else ""
        raise FileNotFoundError(f"There is no file {data}.{hint}")
    return data


def is_data(path: Path) -> bool:
    """Whether a path is a folder or has the name of a data file."""
    return path.is_dir() or path.suffix.lower() in ENDINGS


def resolve_name(path: Path) -> Path:
    """Resolve a path without a name, such as the folder ``.``."""
    return path.resolve() if path.name in ("", "..") else path


def read_pairs_of(
    path: Path, table: Table, error_rate: float | str | None = None
) -> tuple[Constraints, tuple[str, ...]]:
    """Read the pairs about the rows of a table, as `read_pairs_file` does, with sentences about them.

    If the values suggested the column of the ids, and no name in the file is one of these ids, the names may
    be positions.
    """
    ids = row_ids(table)
    try:
        return read_pairs_file(path, ids, len(table), error_rate), ()
    except ConstraintError as error:
        taken = [one.value for one in table.proposals if one.option == "id_column"]
        if ids is None or not taken or isinstance(error, InfeasibleConstraintsError):
            raise
        if _names_no_row(path, ids):
            with suppress(ConstraintError):
                pairs = read_pairs_file(path, None, len(table), error_rate)
                note = (
                    f"{path.name} names no row by '{taken[0]}', so its numbers are positions, counted from 0."
                )
                return pairs, (note,)
        raise type(error)(
            f"{error} linkwise identifies rows by '{taken[0]}'. Use --as-is to identify them by their"
            " positions, counted from 0."
        ) from None


def _names_no_row(path: Path, ids: Sequence[str]) -> bool:
    """Whether a file of pairs has no name that is an id."""
    (_, header), *lines = read_records(path, by_words=True)
    columns = [at for at, name in enumerate(header) if name.strip() in ("id_a", "id_b")]
    position = {name: row for row, name in enumerate(ids)}
    names = {line[at] for _, line in lines for at in columns if at < len(line)}
    return all(find_row(name, position) is None for name in names)


def row_ids(table: Table) -> list[str] | None:
    """The id of every row; None if rows have no ids."""
    return None if table.ids is None else list(table.ids)


def read_pairs_file(
    path: Path, ids: Sequence[str] | None, n_rows: int, error_rate: float | str | None = None
) -> Constraints:
    """Read the pairs of a file ``id_a,id_b,kind``; rows without ids are named by their positions.

    With an error rate (a share of wrong pairs, or the word ``estimate``), pairs that are probably wrong are
    left out without a warning: name them to the person.
    """
    if path.is_dir():
        raise DataError(f"{path} is a folder. Pass a file of pairs (id_a,id_b,kind).")
    rows: dict[str, Any] = {"n_rows": n_rows} if ids is None else {"ids": ids}
    if not error_rate:
        return Constraints.read_csv(path, **rows)
    share = None if isinstance(error_rate, str) else error_rate
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The constraints contradict", ConstraintWarning)
        return Constraints.read_csv(path, **rows, on_conflict="believe", error_rate=share)

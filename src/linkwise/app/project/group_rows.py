"""Data that are asked about by groups: too many rows, or rows in many files.

The groups lie in a folder beside the session, so that questions need neither the data nor their encoding
anew. linkwise reads the data again only to write the cluster of every row.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from linkwise.app.project.data_source import read_shown_rows
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.options import WorkerOptions, flag_of
from linkwise.data import Rows
from linkwise.data.columns.proposals import (
    PROPOSED,
    Proposal,
    counts_rows,
    propose_options,
    store_proposals,
    take_proposals,
)
from linkwise.data.columns.roles import find_id
from linkwise.data.folders import sort_files
from linkwise.data.read.endings import PARQUET
from linkwise.data.reading import Reading, recall_reading
from linkwise.errors import DataError, DataMismatchError
from linkwise.large.array_files import ARRAY, array_form
from linkwise.large.chunks import ENDINGS, find_files, is_pattern
from linkwise.large.group_table import GROUPS, GroupTable, read_groups
from linkwise.large.table_files import ParquetFile, TableFiles
from linkwise.large.table_passes import summarize_tables
from linkwise.parallel import SERIAL_ENGINE, Engine, connect_dask
from linkwise.types import Progress
from linkwise.whole_files import flush_folder
from linkwise.wording import count_noun, quote_command

FOLDER_SESSION = "session.linkwise"  # of data that are a folder
N_ITEMS = 1000  # if the command line does not say
MOST_ROWS = 2_000_000  # of a file that is read at once
# what needs all rows at once, or is about files that are always read at once
UNFIT = (
    "image", "series_by", "warp", "keep_nested", "encoding", "sheet", "no_header", "skip_lines", "transpose",
    "where", "missing", "skip_broken",
)  # fmt: skip
LINE_BYTES = 2**20  # read at once to count lines
MOST_LOOKED_AT, MOST_FILES = 10_000, 20  # rows that suggest options, and files that they are from


def choose_n_groups(data: Path, given: int | None) -> int | None:
    """Choose by how many groups the rows of data are asked about; None to read all rows at once.

    `given` is what the command line says; 0 for all rows of a file.
    """
    if is_in_files(data):
        if given == 0:
            raise UsageError(f"{data} is more than one file, whose rows become groups. Remove --groups 0.")
        return given or N_ITEMS
    if given == 0 or not data.is_file():
        return None
    if data.suffix.lower() not in ENDINGS:
        if given is not None:
            raise UsageError(
                f"--groups is for files that end in {', '.join(ENDINGS)}. Convert {data.name}, or remove"
                " --groups."
            )
        return None
    return given or (N_ITEMS if _has_many_rows(data) else None)


def is_in_files(data: Path) -> bool:
    """Whether data are a pattern, or a folder of tables, which holds neither several pictures nor texts."""
    if is_pattern(data):
        return True
    if not data.is_dir():
        return False
    if groups_folder(data / FOLDER_SESSION).exists():  # whatever was written into the folder since
        return True
    if not any(one.suffix.lower() in ENDINGS and one.is_file() for one in data.iterdir()):
        return False
    images, texts, _ = sort_files(data)
    return len(images) < 2 and len(texts) < 2


def _has_many_rows(data: Path) -> bool:
    ending = data.suffix.lower()
    try:
        if ending == PARQUET:
            return ParquetFile(data).count_rows() > MOST_ROWS
        if ending == ARRAY:
            return array_form(data)[0][0] > MOST_ROWS
    except (DataError, ImportError):
        return False  # reading the file says what is wrong with it
    return data.stat().st_size > 2 * MOST_ROWS and _count_lines(data) > MOST_ROWS


def _count_lines(data: Path) -> int:
    n_lines = 0
    with data.open("rb") as file:
        while n_lines <= MOST_ROWS and (part := file.read(LINE_BYTES)):
            n_lines += part.count(b"\n")
    return n_lines


def name_session(data: Path) -> Path:
    """The path whose name a session about a pattern takes: ``events`` for ``events/*.parquet``."""
    folder = data.parent
    plain = "".join(mark for mark in data.stem if mark not in "*?[]").strip("-_. ")
    while is_pattern(folder):
        folder = folder.parent
    if folder.name in ("", ".."):
        return folder / (plain or folder.resolve().name or "data")
    return folder.with_name(f"{folder.name}-{plain}" if plain else folder.name)


@contextmanager
def open_engine(workers: WorkerOptions) -> Iterator[Engine]:
    """Choose where rows are read: in this process, in processes, or on the workers of a dask cluster."""
    n_jobs, dask = workers.n_jobs, workers.dask
    if n_jobs is not None and dask is not None:
        raise UsageError("--dask uses the workers of a cluster. Remove --jobs.")
    if dask is None:
        yield SERIAL_ENGINE if n_jobs in (None, 1) else Engine("loky", n_jobs)
        return
    with ExitStack() as stack:
        try:
            engine = stack.enter_context(connect_dask(dask))
        except (OSError, ValueError) as error:
            raise UsageError(
                f"No dask scheduler answers at {dask}: {error}. Use the address that the scheduler printed,"
                " such as --dask tcp://HOST:8786."
            ) from error
        yield engine


def check_no_engine(data: Path, workers: WorkerOptions) -> None:
    """Check that no workers are asked for where rows are read at once."""
    for flag in _name_workers(workers):
        raise UsageError(
            f"{flag} is for rows that become groups. Remove {flag}, or begin a session with --groups N:"
            f" {data} is read at once."
        )


def describe_idle_workers(
    data: Path, path: Path, workers: WorkerOptions, groups: GroupTable | None
) -> list[str]:
    """Say that a session which exists needs no workers: an error if its rows are read at once."""
    if groups is None:
        check_no_engine(data, workers)
    return [f"{flag} has no effect: {path.name} has its groups already" for flag in _name_workers(workers)]


def _name_workers(workers: WorkerOptions) -> list[str]:
    """The options by which a command asks for workers."""
    given = (("--jobs", workers.n_jobs), ("--dask", workers.dask))
    return [flag for flag, value in given if value is not None]


# ---------------------------------------------------------------- groups
def groups_folder(path: Path) -> Path:
    """The folder for the groups of a session."""
    return path.with_name(f"{path.name}.d")


def summarize_data(
    data: Path,
    path: Path,
    reading: Reading,
    n_groups: int,
    seed: int,
    progress: Progress | None,
    engine: Engine = SERIAL_ENGINE,
    *,
    propose: bool = False,
) -> tuple[GroupTable, dict[str, Any]]:
    """Summarise data by groups, which are written beside the session `path`.

    With `propose` they are read with what the values of some rows suggest for options that are not given.
    Also return the source to store.
    """
    _check_fit(data, reading)
    tables = open_tables(find_files(data), reading)
    proposals = _propose_for_tables(tables, reading) if propose else ()
    if proposals:
        reading = take_proposals(reading, proposals)
        tables = open_tables(find_files(data), reading)
    suggested = {name for one in proposals for name in one.columns}
    groups = summarize_tables(
        tables, reading, n_groups, seed, groups_folder(path), progress, engine, suggested
    )
    source = {
        "file": os.path.relpath(data, path.parent),
        "choices": groups.encoding.reading.to_json(),
        "scale": reading.scale or reading.usual_scale,
        "impute": reading.impute,
        "groups": {"n": n_groups, **describe_counts(groups)},
        **({PROPOSED: store_proposals(proposals)} if proposals else {}),
    }
    return groups, source


def _propose_for_tables(tables: TableFiles, reading: Reading) -> tuple[Proposal, ...]:
    """Propose options that some rows of the files suggest, and a column that identifies all rows.

    Nobody looks for one among more rows than a file may have that is read at once.
    """
    import narwhals as nw
    import polars as pl

    names = [name for name in tables.schema if name not in (reading.drop or ())]
    step = -(-len(tables.files) // MOST_FILES)
    some = range(0, len(tables.files), step)
    n_rows = -(-MOST_LOOKED_AT // len(some))
    heads: list[pl.DataFrame] = []
    for at in some:
        with suppress(DataError):  # the first pass says what is wrong with a file
            heads += islice(tables.file_frames(at, names, 0, n_rows), 1)
    if not heads:
        return ()
    rows = pl.concat(heads)
    whole = [one.name for one in rows if one.dtype.is_float() and (one.drop_nulls() % 1 == 0).all()]
    rows = rows.with_columns(pl.col(whole).cast(pl.Int64, strict=False))  # a file of text has no integers
    frame = nw.from_native(rows, eager_only=True)
    proposals = {one.why: one for one in propose_options(frame, reading)}
    if "text_by" in proposals:  # duplicates are not found among groups
        return ()
    own = proposals.pop("id_column", None)
    used = {*(reading.columns or ()), *reading.shown_columns, *(reading.hide or ()), *(reading.text or ())}
    first = frame.head(len(heads[0]))
    counters = tuple(name for name in names if name not in used and counts_rows(first[name]))
    found = find_id(frame, reading.id_column, used) if own is None else own.value
    candidates = [] if reading.id_column is not None else [found, *counters]
    name = next((name for name in candidates if name and _identifies_rows(tables, reading, name)), None)
    if name is not None:
        proposals["id_column"] = Proposal("id_column", name, (name,), "id_column")
    counters = tuple(one for one in counters if one not in (name, reading.id_column))
    if counters and reading.columns is None:
        value = [*(reading.drop or ()), *counters]
        proposals["drop"] = Proposal("drop", value, counters, "drop")
    return tuple(proposals.values())


def _identifies_rows(tables: TableFiles, reading: Reading, name: str) -> bool:
    """Whether every row of the files has a value of its own in a column."""
    import polars as pl

    if sum(tables.count_rows()) > MOST_ROWS:
        return False
    with suppress(DataError):  # the first pass says what is wrong with a file
        as_text = open_tables([file.path for file in tables.files], replace(reading, id_column=name))
        ids = pl.concat([frame[name] for _, frame in as_text.frames([name])])
        return ids.null_count() == 0 and ids.n_unique() == len(ids)
    return False


def describe_counts(groups: GroupTable) -> dict[str, Any]:
    """What a session stores about its groups."""
    return {"n_rows": groups.summary.n_rows, "n_border": groups.n_border, "hash": groups.hash}


def _check_fit(data: Path, reading: Reading) -> None:
    """Check that options can be used for rows that become groups, and that they go together."""
    unfit = [flag_of(name) for name in UNFIT if getattr(reading, name) is not None]
    if reading.side_file is not None:
        unfit.append("--show with a file")
    for flag in unfit:
        raise UsageError(
            f"{flag} is for data that are read at once, and these rows are grouped. Remove it, or take a"
            f" sample of {data}."
        )
    misfit = reading.find_misfit(flag_of)
    if misfit is not None:
        raise UsageError(misfit.message)


def open_tables(files: Sequence[Path], reading: Reading) -> TableFiles:
    """Open the files of data."""
    as_text = (
        *(() if reading.id_column is None else (reading.id_column,)),
        *reading.shown_columns,
        *(reading.as_categories or ()),
        *(reading.text or ()),
    )
    return TableFiles(files, as_text=as_text, delimiter=reading.delimiter)


def is_of_groups(source: dict[str, Any]) -> bool:
    """Whether a session is about groups."""
    return "groups" in source


def name_next(groups_hash: str) -> str:
    """The name of a file of groups until the session names them."""
    return f"groups-{groups_hash}.npz"


def take_next(folder: Path, groups_hash: str) -> None:
    """Give a file of groups its own name, unless another process has done so."""
    named = folder / name_next(groups_hash)
    if named.exists():
        with suppress(FileNotFoundError):
            os.replace(named, folder / GROUPS)
        flush_folder(folder)


def read_session_groups(path: Path, source: dict[str, Any]) -> GroupTable:
    """Read the groups of a session, which must be those that it was begun with."""
    folder, wanted, name = groups_folder(path), source["groups"]["hash"], GROUPS
    try:
        take_next(folder, wanted)  # it is there if rows were added, and the command was killed at its end
    except OSError:  # a folder that nobody may write to
        name = name_next(wanted)
    try:
        groups = read_groups(folder, name)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{folder / GROUPS}, which holds the groups of {path.name}, is not there. Restore it beside the"
            " session, or begin anew: " + quote_command("linkwise", "ask", source["file"], "--session", "NEW")
        ) from None
    if groups.hash != wanted:
        raise DataMismatchError(
            f"{folder / GROUPS} holds the groups of another session than {path.name}. Restore a copy of it."
        )
    return groups


def read_session_rows(
    data: Path, source: dict[str, Any], path: Path, progress: Progress | None = None
) -> Rows:
    """Read the rows that a session asks about: those of the data, or those that stand for groups."""
    if is_of_groups(source):
        return read_session_groups(path, source).rows
    return read_shown_rows(data, source, path.parent, progress)


def describe_groups(data: Path, groups: GroupTable, *, is_chosen: bool) -> str:
    """Say that questions are about groups, and the way out."""
    n_rows, n_groups = groups.summary.n_rows, groups.n_groups
    all_rows = "" if is_in_files(data) else ", and --groups 0 reads all rows into memory"
    way_out = f" --groups N changes their number{all_rows}." if is_chosen else ""
    if n_rows == n_groups:
        return f"Each of {count_noun(n_rows, 'row')} is asked about."
    border = ""
    if groups.n_border:
        n_border = count_noun(groups.n_border, "group")
        border = f" linkwise asks about a second row of {n_border}, which may be mixed."
    return (
        f"{n_rows} rows form {n_groups} groups of similar rows. Each question shows one row of two"
        f" groups.{border}{way_out}"
    )


def describe_choices(groups: GroupTable) -> tuple[str, ...]:
    """The choices made on the way to groups, in sentences."""
    column = groups.summary.id_column
    known = "by their number, counted from 0; --id COLUMN names them" if column is None else f"by '{column}'"
    told = (note for note in groups.encoding.notes if not note.startswith("Rows are identified"))
    return (f"Rows are identified {known}.", *told)


def resume_groups(
    path: Path, source: dict[str, Any], n_groups: int | None, *, is_changed: bool
) -> GroupTable | None:
    """Read the groups of a session, which goes on with the same options; None if it asks about all rows."""
    if not is_of_groups(source):
        if n_groups:
            raise UsageError(f"{path} is about all rows. Remove --groups, or begin another: --session NEW")
        return None
    if n_groups not in (None, source["groups"]["n"]):
        raise UsageError(
            f"{path} has {source['groups']['n']} groups. Remove --groups, or begin another session:"
            " --session NEW"
        )
    if is_changed:
        raise UsageError(
            f"{path} has groups that were made with other options. Remove them, or begin another session:"
            " --session NEW"
        )
    return read_session_groups(path, source)


def read_reading(groups: GroupTable, source: dict[str, Any]) -> Reading:
    """How the files of a session are read."""
    return replace(recall_reading(source), id_column=groups.summary.id_column)

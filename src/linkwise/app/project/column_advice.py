"""What is said of the columns before the first question, and the command that is likely better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from linkwise.app.project.options import AS_IS, write_reading
from linkwise.data import Rows, Table
from linkwise.data.column_survey import survey_columns
from linkwise.data.columns.proposals import Proposal, take_proposals
from linkwise.data.reading import Reading
from linkwise.data.show.side_table import read_side_table
from linkwise.errors import DataError
from linkwise.large.table_files import ParquetFile
from linkwise.wording import join_names, merge_full_stops, quote_command

MANY_NUMBERS = 30  # of one kind, as an embedding has: no person compares so many


class Advice(NamedTuple):
    """What is said before the first question: decisions, influence of the columns, warnings, a command.

    `warnings` are those of the notes that no table of the columns says. The command, to be copied, is
    None if nothing is proposed.
    """

    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    command: str | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The notes, the last one with the command."""
        if self.command is None:
            return self.notes
        return (*self.notes[:-1], f"{self.notes[-1]} {self.command}")


def advise(rows: Rows, data: Path, session: tuple[object, ...], reading: Reading, verb: str) -> Advice:
    """Survey the rows of a file, and write the command ("ask" or "serve") that reads them in the same way.

    `session` are words that name the session file. The command repeats `reading`, what the command line
    said. A folder has no columns.
    """
    if data.is_dir():
        return Advice()
    survey, proposals = survey_columns(rows.table, rows.encoded), rows.table.proposals
    taken = (describe_proposals(proposals),) if proposals else ()
    notes, warnings, command = (*taken, *survey.notes), survey.warnings, None
    if not reading.side_file and _are_bare_numbers(rows):
        few = f"Nobody can judge two rows by {len(rows.encoded.features)} numbers."
        side = find_side_file(data, rows.table)
        said = f"{few} {SHOW}"
        if side is not None:
            command = _write_command(verb, data, replace(reading, show=str(side.path)), session)
            has = f"{side.path.name} has a row for each: {join_names(side.columns)}."
            said = f"{few} {merge_full_stops(has)} To see it instead:"
    elif proposals:
        command = _write_command(verb, data, take_proposals(reading, proposals), (AS_IS.flag, *session))
        said = "Change this command to read the data otherwise:"
    else:
        return Advice(notes, warnings)
    return Advice((*notes, said), (*warnings, said), command)


def advise_on_groups(taken: Sequence[Proposal], data: Path, reading: Reading, verb: str) -> Advice:
    """Say what was taken of the values of rows that became groups, with a command for another session."""
    if not taken:
        return Advice()
    command = _write_command(verb, data, take_proposals(reading, taken), (AS_IS.flag, "--session", "NEW"))
    return Advice((describe_proposals(taken), "Change this command to read the data otherwise:"), (), command)


def _write_command(verb: str, data: Path, reading: Reading, more: tuple[object, ...]) -> str:
    return quote_command("linkwise", verb, data, *write_reading(reading), *more)


SHOW = "--show FILE shows another table instead, such as titles or pictures."


def _are_bare_numbers(rows: Rows) -> bool:
    """Whether each row is shown as many numbers of one kind."""
    features, kinds = rows.encoded.features, {"numeric", "vector"}
    if len(features) < MANY_NUMBERS or rows.table.shown:
        return False
    stems = {one.source.rstrip("0123456789[]") for one in features if one.role in kinds}
    return len(stems) == 1 and all(one.role in kinds for one in features)


def describe_proposals(proposals: Sequence[Proposal]) -> str:
    """Say what was taken of the values of a table, and why."""
    return merge_full_stops(f"The values suggest: {'; '.join(one.reason for one in proposals)}.")


# ---------------------------------------------------------------- a table beside the data
ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
MOST_BYTES = 20_000_000  # of a file that is looked at
MOST_FILES = 20
RESULTS = {"cluster", "cluster_name", "id_a", "id_b", "answer"}  # columns of what linkwise writes


class SideFile(NamedTuple):
    """A table with a row for each row of the data, and its columns."""

    path: Path
    columns: tuple[str, ...]


def find_side_file(data: Path, table: Table) -> SideFile | None:
    """Find a table in the folder of the data that has a row for each of their rows; None if there is none.

    Files that linkwise writes, such as clusters and pairs, are left out.
    """
    try:
        found = sorted(
            path
            for path in data.parent.iterdir()
            if path.suffix.lower() in ENDINGS and path != data and path.is_file()
        )
    except OSError:  # a folder may hold files that can be read, and not be listed
        return None
    for path in found[:MOST_FILES]:
        try:
            if path.stat().st_size > MOST_BYTES or not _may_have_rows(path, len(table)):
                continue
            columns = tuple(read_side_table(path, table).frame.columns)
        except (DataError, ImportError, OSError):
            continue  # this file shows nothing
        if not RESULTS & set(columns):
            return SideFile(path, columns)
    return None


def _may_have_rows(path: Path, n_rows: int) -> bool:
    """Whether a file may have as many rows; a cell of several lines makes more lines than rows."""
    if path.suffix.lower() == ".parquet":
        return ParquetFile(path).count_rows() >= n_rows
    return path.read_bytes().count(b"\n") + 1 >= n_rows

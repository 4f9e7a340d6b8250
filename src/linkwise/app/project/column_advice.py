"""What is said of the columns before the first question, and the command that is likely better."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from linkwise.app.project.data_source import read_rows
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.options import DATA_OPTIONS, check_reading, write_reading
from linkwise.data import Rows, Table
from linkwise.data.column_survey import ColumnSurvey, survey_columns
from linkwise.data.columns.proposed_options import propose_options
from linkwise.data.read.formats import read_frame
from linkwise.data.reading import Reading
from linkwise.data.show.side_table import read_side_table
from linkwise.errors import DataError
from linkwise.large.table_files import ParquetFile
from linkwise.wording import join_names, quote_command

MANY_NUMBERS = 30  # of one kind, as an embedding has: no person compares so many


class Advice(NamedTuple):
    """What is said before the first question.

    Attributes
    ----------
    notes : tuple of str
        The shares of the columns, a warning where one decides most, and what the command is for.
    command : str or None
        The command, to be copied; None if nothing is proposed.
    """

    notes: tuple[str, ...] = ()
    command: str | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The notes, the last one with the command."""
        if self.command is None:
            return self.notes
        return (*self.notes[:-1], f"{self.notes[-1]} {self.command}")


def advise(rows: Rows, data: Path, session: tuple[object, ...], reading: Reading, verb: str) -> Advice:
    """Survey the rows of a file, and write the command that reads them as proposed.

    Parameters
    ----------
    rows : Rows
        The rows as they are read.
    data : Path
        Their file; a folder has no columns.
    session : tuple
        Words that name the session file in the command.
    reading : Reading
        What the command line said, which the command says again.
    verb : {"ask", "serve"}
        The command.
    """
    if data.is_dir():
        return Advice()
    survey: ColumnSurvey = survey_columns(rows.table, rows.encoded)
    notes, is_bare = survey.notes, not reading.side_file and _are_bare_numbers(rows, survey)
    if is_bare:
        few = f"Nobody can judge two rows by {len(rows.encoded.features)} numbers."
        side = find_side_file(data, rows.table)
        if side is not None:
            words = (*write_reading(replace(reading, show=str(side.path))), *session)
            has = f"{side.path.name} has a row for each: {join_names(side.columns)}."
            command = quote_command("linkwise", verb, data, *words)
            return Advice((*notes, f"{few} {has} To see it instead:"), command)
        notes = (*notes, f"{few} {SHOW}")
    proposed = _write_options(reading, survey.options, data)
    if proposed is None:
        return Advice(notes)
    command = quote_command("linkwise", verb, data, *proposed, *_name_method(survey.options), *session)
    return Advice((*notes, f"{_describe_proposal(survey.options)}, this is likely better:"), command)


SHOW = "--show FILE shows another table instead, such as titles or pictures."


def _are_bare_numbers(rows: Rows, survey: ColumnSurvey) -> bool:
    """Whether each row is shown as many numbers of one kind."""
    features, kinds = rows.encoded.features, {"numeric", "vector"}
    if len(features) < MANY_NUMBERS or rows.table.shown or survey.options.get("series"):
        return False
    stems = {one.source.rstrip("0123456789[]") for one in features if one.role in kinds}
    return len(stems) == 1 and all(one.role in kinds for one in features)


def add_way_out(
    error: DataError, data: Path, session: tuple[object, ...], reading: Reading, *, has_others: bool
) -> DataError:
    """Add to an error the command that reads the file, if one is found and does.

    If the command had other options, too (`has_others`), only those for the data are named: a command without
    the others would begin another session.
    """
    changed_reading = (reading.delimiter, reading.encoding, reading.keep_nested, reading.sheet, reading.show)
    if data.is_dir() or any(one is not None for one in changed_reading):
        return error
    with suppress(DataError, UsageError):
        options = propose_options(read_frame(data).typed, reading)
        words = _write_options(reading, options, data)
        if words is not None:
            changed = replace(reading, **options)
            check_reading(changed, data)
            read_rows(data, changed)
            if has_others:
                return DataError(f"{error} Or add these options to the command: {quote_command(*words)}")
            command = quote_command("linkwise", "ask", data, *words, *_name_method(options), *session)
            return DataError(f"{error} Or try: {command}")
    return error


def _name_method(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The words that choose the method for records of the same things, where these are proposed."""
    return ("--method", "records") if "text_by" in options else ()


def _write_options(given: Reading, options: Mapping[str, Any], data: Path) -> tuple[str, ...] | None:
    """Some options as words, with those that are given; None if there is nothing to write, or no way to."""
    if not options:
        return None
    joined = replace(given, **options)
    with suppress(UsageError):
        check_reading(joined, data)
        for name, value in options.items():
            declared = DATA_OPTIONS[name]
            words = declared.to_words(value)
            if declared.parse is not None and list(declared.parse(declared.flag, words[1])) != list(value):
                return None  # a name that the command line would take for another
        return write_reading(joined)
    return None


def _describe_proposal(options: Mapping[str, Any]) -> str:
    """Why the options are proposed."""
    reasons = []
    if options.get("id_column") is not None:
        reasons.append(f"'{options['id_column']}' has a value of its own in each row")
    if options.get("text"):
        texts = join_names(f"'{name}'" for name in options["text"])
        reasons.append(f"{texts} {'holds' if len(options['text']) == 1 else 'hold'} texts")
    if options.get("image"):
        reasons.append(f"{join_names(f'{name!r}' for name in options['image'])} holds pictures")
    if options.get("text_by"):
        reasons.append("many rows seem to be records of the same things")
    if options.get("series"):
        reasons.append("each row seems to be a curve")
    if options.get("merge_variants"):
        reasons.append("some values are spelled in several ways")
    if options.get("as_categories"):
        reasons.append("some numbers seem to be codes")
    if options.get("log"):
        tails = join_names(f"'{name}'" for name in options["log"])
        reasons.append(f"a few values of {tails} are far larger than the others")
    if options.get("cycles"):
        columns = dict.fromkeys(one.rpartition("=")[0] or one for one in options["cycles"])
        reasons.append(f"{join_names(f'{name!r}' for name in columns)} may follow a cycle")
    if options.get("drop"):
        reasons.append(f"{join_names(f'{name!r}' for name in options['drop'])} only counts the rows")
    told = " and ".join([", ".join(reasons[:-1]), reasons[-1]] if len(reasons) > 1 else reasons)
    return f"As {told}"


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

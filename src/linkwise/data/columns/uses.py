"""Decide what the columns of a table of records, of texts or of curves are, and describe the choices."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from shlex import quote
from typing import TYPE_CHECKING, Any

from linkwise.constraints.checks import is_missing
from linkwise.data.columns.codes import propose_categories, turn_into_categories
from linkwise.data.columns.curves import holds_lists
from linkwise.data.columns.cycles import Cycle, add_cycles, describe_cycles, read_cycles, read_hours
from linkwise.data.columns.named_columns import NamedColumns
from linkwise.data.columns.picture_paths import holds_pictures, is_picture
from linkwise.data.columns.roles import (
    FEATURE_ROLES,
    Column,
    Role,
    decide_column,
    is_label_like,
    to_words,
    value_kind,
)
from linkwise.data.columns.variants import describe_merging, find_variants, merge_variants, propose_merging
from linkwise.data.read.number_formats import (
    Decimal,
    First,
    WrittenDates,
    WrittenNumbers,
    rewrite_dates,
    rewrite_numbers,
)
from linkwise.data.read.parse import parse_moments, parse_numbers, strip_cells
from linkwise.data.read.picture_files import PICTURES
from linkwise.data.reading import Reading
from linkwise.errors import DataError
from linkwise.wording import join_names, quote_command

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl


MOST_NOTES = 5  # about columns that are left out for the same reason


def understand_records(
    frame: nw.DataFrame[Any],
    names: NamedColumns,
    parts: Mapping[str, tuple[str, ...]],
    reading: Reading,
) -> tuple[nw.DataFrame[Any], tuple[Column, ...], list[str], list[str]]:
    """Decide the role of each column of records.

    Returns the table with merged variants, codes as texts and columns of cycles; the roles; sentences on
    what each column is; and all other notes.
    """
    as_categories, merges, cycles = reading.as_categories or (), bool(reading.merge_variants), list[Cycle]()
    if as_categories:
        frame = turn_into_categories(frame, names, as_categories)
    if reading.cycles:
        cycles = read_cycles(reading.cycles, frame, names.drop)
        frame = add_cycles(frame, cycles)
    columns, there = names.columns, list(frame.columns)
    numbers = {part: name for name, some in parts.items() for part in some}
    turns = {cycle.name: cycle for cycle in cycles}
    times = {cycle.column for cycle in cycles if read_hours(frame[cycle.column]) is not None}

    def assign(series: nw.Series[Any]) -> Column:
        if series.name in times or (series.name in turns and series.name in names.show):
            return Column(series.name, "left out", "only shown")
        if series.name in turns:
            return Column(series.name, "cycle", f"a cycle of '{turns[series.name].column}'")
        if series.name in numbers:
            return Column(series.name, "vector", f"a number of the lists of '{numbers[series.name]}'")
        if series.name in names.text:
            check_texts(series)
            return Column(series.name, "document", "rows are compared by its words")
        if series.name in names.image:
            check_paths(series)
            return Column(series.name, "image", "rows are compared by its pictures")
        chosen = names._replace(columns=(series.name,)) if series.name in as_categories else names
        return _assign_role(series, series.name, there, chosen)

    ignored = {name for name in there if columns is not None and name not in columns}
    skipped = {
        names.id_column,
        *names.drop,
        *names.show,
        *names.text,
        *names.image,
        *numbers,
        *turns,
        *times,
        *ignored,
    }
    frame, variant_notes = _settle_variants(frame, skipped, assign, merges)
    found = _assign_roles(frame, assign, variant_notes)
    hints = {c.name: find_hint(frame[c.name], c.name) for c in found if c.role in ("category", "text")}
    told = {name: note for name, note in hints.items() if note is not None}
    if not any(column.role in FEATURE_ROLES for column in found):
        raise DataError(_describe_unusable(found, [*told.values(), *variant_notes.values()]))
    plain = tuple(c for c in found if c.role != "text" or c.name not in told)
    left_out = {c.name for c in found} - {c.name for c in plain}
    tail = {name: " Until then it is left out, but shown." if name in left_out else "" for name in told}
    lists = [
        f"Rows are compared by the {len(some)} numbers in each list of '{name}', which are not shown."
        for name, some in parts.items()
    ]
    hints_told = [note + tail[name] for name, note in told.items()]
    return (
        frame,
        found,
        _describe_choices(plain, columns),
        [
            *lists,
            *hints_told,
            *variant_notes.values(),
            *propose_categories(frame, found),
            *(describe_cycles(cycles) if cycles else ()),
        ],
    )


def _assign_roles(
    frame: nw.DataFrame[Any], assign: Callable[[nw.Series[Any]], Column], proposals: dict[str, str]
) -> tuple[Column, ...]:
    """Assign a role to each column; an error about a column ends in what is proposed for it."""
    found = []
    for series in frame.iter_columns():
        try:
            found.append(assign(series))
        except DataError as error:
            if series.name not in proposals:
                raise
            raise DataError(f"{error} {proposals[series.name]}") from None
    return tuple(found)


def _settle_variants(
    frame: nw.DataFrame[Any],
    skipped: set[str | None],
    assign: Callable[[nw.Series[Any]], Column],
    merges: bool,
) -> tuple[nw.DataFrame[Any], dict[str, str]]:
    """Merge the variants in columns that are categories then, or propose it in a note for each column."""
    merged, notes = [], {}
    for series in frame.iter_columns():
        variants = None if series.name in skipped else find_variants(series)
        if variants is None:
            continue
        changed = merge_variants(series, variants)
        try:
            is_category = assign(changed).role in ("category", "constant")
        except DataError:  # it is no category in either case
            is_category = False
        if not is_category:
            continue
        merged.append(changed)
        notes[series.name] = (describe_merging if merges else propose_merging)(series.name, variants)
    return (frame.with_columns(*merged) if merges and merged else frame), notes


def _assign_role(series: nw.Series[Any], name: str, there: list[str], names: NamedColumns) -> Column:
    if name == names.id_column:
        return Column(name, "id", "unique and complete")
    if name in names.drop:
        return Column(name, "left out", "dropped")
    if name in names.show:
        return Column(name, "left out", "only shown")
    return decide_column(series, name, there, None if names.columns is None else name in names.columns)


def describe_hidden(found: Sequence[Column], hide: Sequence[str]) -> list[str]:
    """Describe what a person does not see; raise if this leaves nothing to judge by."""
    features = [column for column in found if column.role in FEATURE_ROLES]
    compared = [column.name for column in features if column.name in hide]
    for column in features:
        if column.name in hide and column.role in ("document", "sample", "curve"):
            raise DataError(
                f"Column '{column.name}' cannot be hidden: it is what a person sees of a row. "
                "Hide other columns, or show another table in its place."
            )
    seen = [c for c in found if c.role != "id" and c.reason != "dropped" and c.name not in hide]
    if hide and not seen:
        raise DataError(f"Nothing is left to show: {join_names(hide)} are hidden. Hide fewer columns.")
    others = [name for name in hide if name not in compared]
    notes = [f"Compared, but not shown: {join_names(compared)}."] if compared else []
    return [*notes, f"Neither compared nor shown: {join_names(others)}."] if others else notes


def _describe_unusable(found: Sequence[Column], told: Sequence[str]) -> str:
    why = join_names((f"'{c.name}' ({c.role}: {c.reason})" for c in found), 5)
    if all(column.role == "constant" for column in found if column.role != "id"):
        return f"All columns are constant, so there is nothing to cluster by: {why}."
    texts = [column.name for column in found if column.role == "text"]
    if texts and not told:
        flags = quote_command("--text", texts[0], "--text-by", "letters")
        told = [f'To compare such texts, add {flags} (in Python, text=[{texts[0]!r}], text_by="letters").']
    return " ".join([f"No column is left to cluster by: {why}.", *told])


def _describe_choices(found: Sequence[Column], columns: Sequence[str] | None) -> list[str]:
    """Describe the choices made, in sentences."""

    def of(role: Role) -> list[Column]:
        return [column for column in found if column.role == role]

    notes = []
    if columns is not None:
        notes.append(f"Only the columns named are used: {join_names(columns)}.")
    notes += [
        f"Column '{c.name}' is left out: {c.reason}. It is still shown; name it in the columns to use it."
        for c in of("label")
    ]
    notes += _note_left_out("left out as free text", of("text"))
    if only := [c.name for c in of("left out") if c.reason == "only shown"]:
        notes.append(f"Shown, but not compared: {join_names(only)}.")
    ignored = ("dropped", "not among the columns named", "only shown")
    unused = [c for c in of("left out") if c.reason not in ignored]
    notes += _note_left_out("left out", unused)
    if constant := of("constant"):
        names = join_names(f"{c.name} ({c.reason})" for c in constant)
        notes.append(f"Constant columns are left out: {names}.")
    notes += [f"Column '{c.name}' is used as a number: {c.reason}." for c in of("date")]
    if category := of("category"):
        names = join_names(f"{c.name} ({c.reason})" for c in category)
        notes.append(f"Columns used as categories: {names}.")
    return notes


def _note_left_out(how: str, columns: Sequence[Column]) -> list[str]:
    """A sentence on each column that is left out, or one on many of them."""
    if len(columns) <= MOST_NOTES:
        return [f"Column '{c.name}' is {how}: {c.reason}. It is still shown." for c in columns]
    names = join_names((f"{c.name} ({c.reason})" for c in columns), MOST_NOTES)
    return [f"{len(columns)} columns are {how}: {names}. They are still shown."]


# ---------------------------------------------------------------- texts, pictures, curves
Found = tuple[tuple[Column, ...], list[str]]
"""All columns, and sentences on the choices made."""


def understand_texts(frame: nw.DataFrame[Any], names: NamedColumns) -> Found:
    """Decide what the columns of a table of texts or pictures are."""
    texts, images = names.text, names.image
    for name in texts:
        check_texts(frame[name])
    for name in images:
        check_paths(frame[name])
    used: dict[str, Role] = {**dict.fromkeys(texts, "document"), **dict.fromkeys(images, "image")}
    found = _assign_uses(frame, used, names.id_column, names.drop)
    parts = [
        f"the {what} of {join_names(f'{name!r}' for name in some)}"
        for what, some in (("texts", texts), ("pictures", images))
        if some
    ]
    return found, _note_shown_columns(f"Rows are compared by {' and '.join(parts)} alone", found)


def check_texts(series: nw.Series[Any]) -> None:
    """Check that a column holds texts."""
    what = value_kind(series)
    if what != "words":
        values = {"number": "numbers", "nothing": "nothing", "bool": "true and false"}.get(what, what)
        raise DataError(f"Column '{series.name}' holds {values}. Set --text to a column of texts.")


def check_paths(series: nw.Series[Any]) -> None:
    """Check that a column holds the path of a picture in each row."""
    if holds_pictures(series):
        return
    words = enumerate(series.to_list())
    row, wrong = next(((row, word) for row, word in words if not is_picture(word)), (0, None))
    what = "is empty" if is_missing(wrong) else f"holds {wrong!r:.60}, which is no path of a picture"
    raise DataError(
        f"Column '{series.name}' {what} in row {row} (counted from 0). Set --image to a column with a path in"
        f" each row, which ends with {', '.join(PICTURES[:-1])} or {PICTURES[-1]}."
    )


def understand_curves(
    frame: nw.DataFrame[Any], names: NamedColumns
) -> tuple[tuple[Column, ...], list[str], list[str]]:
    """Decide what the columns of a table of curves are: a column of lists, or columns of numbers in order.

    Returns the roles, a sentence on what the rows are, and all other notes.
    """
    columns, id_column, drop = names.columns, names.id_column, names.drop
    there = list(frame.columns)
    free = [name for name in there if name not in (id_column, *drop, *names.show)]
    free = [name for name in free if (name in columns if columns else not is_label_like(name, there))]
    lists = [name for name in free if holds_lists(frame[name])]
    if len(lists) > 1:
        raise DataError(
            f"There are {len(lists)} columns of lists: {join_names(lists)}. Use one: --columns NAME"
        )
    samples = [name for name in free if value_kind(frame[name]) == "number"]
    wrong = [name for name in columns or () if name not in (lists or samples)]
    if wrong:
        raise DataError(
            f"Column '{wrong[0]}' cannot be part of a curve. Use columns of numbers, or one column of lists."
        )
    if lists:
        found = _assign_uses(frame, {lists[0]: "curve"}, id_column, drop)
        return found, _note_shown_columns(f"Each row is a curve, the list in column '{lists[0]}'", found), []
    if len(samples) < 2:
        only = f"the only column of numbers is {samples[0]}" if samples else "there is no column of numbers"
        raise DataError(
            f"A curve needs at least 2 samples, but {only}. Use a column of numbers for each sample,"
            " in order, or one column of lists such as [0.1, 0.4, 0.2]."
        )
    found = _assign_uses(frame, dict.fromkeys(samples, "sample"), id_column, drop)
    which = f"{samples[0]} to {samples[-1]}" if len(samples) > 3 else join_names(samples)
    notes = _note_shown_columns(f"Each row is a curve of {len(samples)} samples, the columns {which}", found)
    way_out = "Remove what is no part of the curves with --drop, or set what is with --columns."
    has_others = columns is None and len({re.sub(r"\d+", "", name) for name in samples}) > 1
    return found, notes, [way_out] if has_others else []


def _assign_uses(
    frame: nw.DataFrame[Any], used: dict[str, Role], id_column: str | None, drop: Sequence[str]
) -> tuple[Column, ...]:
    def column(name: str) -> Column:
        if name in used:
            return Column(name, used[name], "rows are compared by it")
        if name == id_column:
            return Column(name, "id", "unique and complete")
        return Column(name, "left out", "dropped" if name in drop else "only shown")

    return tuple(column(name) for name in frame.columns)


def _note_shown_columns(said: str, found: Sequence[Column]) -> list[str]:
    shown = [column.name for column in found if column.reason == "only shown"]
    return [f"{said}." if not shown else f"{said}; only shown: {join_names(shown)}."]


# ---------------------------------------------------------------- hints
# Hints about columns of text that hold numbers or dates in another form.
#
# A hint is given exactly if the parser of files reads all values of the column, under one of the readings
# that are possible or once a few cells are empty. So whoever follows a hint gets a column that can be used.
_DECIMALS: tuple[Decimal, ...] = (".", ",")
_FIRSTS: tuple[First, ...] = ("day", "month")
_MOST_OF_IT = 4  # numbers or dates for each other value
_MOST_SIGNS = 3  # that a hint lists
_MAY_BE_DATE = r"^\d{1,4}[-/.] ?\d{1,2}[-/.] ?\d{1,4}"
_MAY_BE_NUMBER = r"(?i)\d|inf|nan"  # in some cell of every column that holds numbers or dates


def find_hint(series: nw.Series[Any], name: str) -> str | None:
    """Say how a column of text can be used as numbers or dates.

    None if it holds neither, or polars is missing.
    """
    if value_kind(series) != "words" or find_spec("polars") is None:
        return None
    import polars as pl

    words = pl.Series(name, to_words(series), dtype=pl.String)
    if not words.str.contains(_MAY_BE_NUMBER).any():
        return None
    text, marked = (frame.to_series() for frame in strip_cells(words.to_frame()))
    text = text.set(marked, None)
    if text.null_count() == len(text) or parse_numbers(text) is not None:
        return None
    why = _hint_numbers(text) or _hint_dates(text) or _hint_other_cells(text) or _hint_no_dates(text)
    return why and f"Column '{name}' is taken as text: {why}"


def read_as_numbers(text: pl.Series) -> list[tuple[WrittenNumbers, pl.Series]]:
    """The ways to read a column as numbers: how each value is written, and the values."""
    ways = (rewrite_numbers(text, comma_free=True, decimal=decimal) for decimal in _DECIMALS)
    read = ((way, parse_numbers(way.plain)) for way in ways if way is not None)
    found = [(way, values) for way, values in read if values is not None]
    return found[:1] if len(found) == 2 and found[0][1].equals(found[1][1]) else found


def read_as_dates(text: pl.Series) -> list[tuple[WrittenDates, pl.Series]]:
    """The ways to read a column as dates that do not begin with the year."""
    ways = (rewrite_dates(text, first) for first in _FIRSTS)
    read = ((way, parse_moments(way.plain)) for way in ways if way is not None)
    found = [(way, values) for way, values in read if values is not None]
    return found[:1] if len(found) == 2 and found[0][1].equals(found[1][1]) else found


def _hint_numbers(text: pl.Series) -> str | None:
    found = read_as_numbers(text)
    if not found:
        return None
    numbers, at = found[0][0], text.str.len_chars().fill_null(0).arg_max() or 0
    parts = [f"'{numbers.unit}' beside them"] if numbers.unit else []
    if len(found) == 2:
        parts.append("marks between the thousands or decimal commas")
        at = (found[0][1] != found[1][1]).fill_null(False).arg_max() or 0
    else:
        parts += ["decimal commas"] if numbers.decimal == "," else []
        parts += ["marks between the thousands"] if numbers.has_marks else []
    forms = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    plain = " or ".join(way.plain[at] for way, _ in found)
    return (
        f"its numbers have {forms}, such as '{text[at]}'."
        f" To use them as numbers, write digits and a decimal point alone, as {plain}."
    )


def _hint_dates(text: pl.Series) -> str | None:
    found = read_as_dates(text)
    if len(found) < 2:
        return None
    at = text.is_not_null().arg_max() or 0
    plain = " or ".join(way.plain[at] for way, _ in found)
    return (
        f"day and month cannot be told apart in dates such as '{text[at]}'."
        f" To use them as dates, write them year first, as {plain}."
    )


def _hint_other_cells(text: pl.Series) -> str | None:
    """Hint at the few cells that are not numbers among many that are."""
    import polars as pl

    others = text.is_not_null() & text.cast(pl.Float64, strict=False).is_null()
    n_others, n_known = int(others.sum()), len(text) - text.null_count()
    if n_known - n_others < _MOST_OF_IT * n_others or parse_numbers(text.set(others, None)) is None:
        return None
    row = others.arg_max() or 0
    return (
        f"most of it is numbers, but not '{text[row]}' in row {row} (counted from 0)."
        f" To use it as numbers, {_say_how_to_leave_out(text.filter(others))}"
    )


def _say_how_to_leave_out(cells: pl.Series) -> str:
    """What makes some cells of a column missing: without them in the file, or with an option."""
    signs = [f"{cells.name}={word}" for word in cells.unique(maintain_order=True)]
    if len(signs) > _MOST_SIGNS or any(sign.count("=") > 1 for sign in signs):
        return "leave such cells empty."
    options = " ".join(f"--missing {quote(sign)}" for sign in signs)
    return f"leave such cells empty, or add {options} (in Python, missing=[...])."


def _hint_no_dates(text: pl.Series) -> str | None:
    """Hint at the few cells that are not dates among many that are."""
    days = text.str.extract(r"^(\d{4}[-/]\d{2}[-/]\d{2})", 1).str.replace_all("/", "-")
    is_impossible = days.is_not_null() & days.str.to_date("%Y-%m-%d", strict=False).is_null()
    others = text.is_not_null() & (~text.str.contains(_MAY_BE_DATE) | is_impossible)
    n_others, n_known = int(others.sum()), len(text) - text.null_count()
    if n_others == 0 or n_known - n_others < _MOST_OF_IT * n_others:
        return None
    rest = text.set(others, None)
    if parse_moments(rest) is None and not read_as_dates(rest):
        return None
    row = others.arg_max() or 0
    return (
        f"most of it is dates, but not '{text[row]}' in row {row} (counted from 0)."
        f" To use it as dates, {_say_how_to_leave_out(text.filter(others))}"
    )

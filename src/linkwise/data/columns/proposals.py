"""Propose how to read a table, from what its columns hold: ids, texts, pictures, curves, spellings, gaps.

The names of columns decide nothing but whether they count (t01, t02, ...) and whether numbers may be codes.
`read_table` and `from_frame` take the proposals where they are asked to, and say so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.constraints.checks import is_missing
from linkwise.data.columns.codes import find_choices, find_codes, find_repeated_values
from linkwise.data.columns.cycles import column_of_cycle, find_cycles, read_cycles, read_hours
from linkwise.data.columns.file_proposals import find_file_options
from linkwise.data.columns.log_scale import find_heavy_tails
from linkwise.data.columns.near_copies import find_near_copies
from linkwise.data.columns.picture_paths import find_pictures, holds_pictures
from linkwise.data.columns.roles import (
    Column,
    count_missing,
    decide_column,
    find_id,
    is_key,
    to_numbers,
    to_words,
    value_kind,
)
from linkwise.data.columns.short_texts import propose_meaning
from linkwise.data.columns.variants import find_variants, merge_variants
from linkwise.data.read.delimited import LEAST_SAMPLES, are_smooth
from linkwise.data.read.number_formats import replace_months
from linkwise.data.reading import OF_COLUMNS, Reading
from linkwise.errors import DataError
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw

NOTHING_GIVEN = Reading()
PROPOSED = "proposed"  # under which a session keeps what the values suggested
LONGEST_ID = 60  # characters
_MOST_ROWS = 2000  # of which the words are looked at
_LEAST_REPEATED = 30  # rows in which a column may repeat another one
_LEAST_COUNTED = 10  # rows that a counter or a date may order
_MOST_GAPS = 0.1  # of a counter, for each row: rows that somebody has removed
_MOST_WORDS = 3  # of an average name
_LEAST_WORDS = 1.5  # of an average text
_LEAST_WORDINGS = 0.1  # share of the texts that differ by more than numbers
_LEAST_SHARED = 0.5  # share of the texts that have a word of another text
COMPARED = ("numeric", "category", "date")  # roles of columns of records
_LEAST_DIFFERENT = 0.7  # share of short texts that differ
_MOST_REPEATED = 0.9  # share of the words of short texts that others have
_LONG_TEXT = 4.0  # words of an average text that says more than a name
_MOST_CAPITAL = 0.9  # share of the words of texts that begin with a capital letter
_SOME_COLUMNS = 2  # beside which a short text is rather a name
_FEW_COLUMNS = 3  # beside texts or curves: so many are no table of their own
_WORD = re.compile(r"[^\W\d_]{2,}")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Proposal:
    """An option that the values of a table suggest.

    Attributes
    ----------
    option : str
        The attribute of `Reading` that it sets.
    value : object
        The value, which includes what was given for this option.
    columns : tuple of str
        The columns that it adds; empty for an option that is about no single column.
    why : str
        Why, as a word: the option, or one of several reasons for it.
    """

    option: str
    value: Any
    columns: tuple[str, ...]
    why: str

    @property
    def reason(self) -> str:
        """Why, as a clause: ``'income' has a few values that are far larger than the others``."""
        reason = _REASONS[self.why]
        return reason(self.columns) if callable(reason) else reason

    @property
    def brief_reason(self) -> str:
        """Why, in a few words beside a column."""
        return _BRIEF_REASONS.get(self.why, "")


def propose_options(
    frame: nw.DataFrame[Any],
    given: Reading = NOTHING_GIVEN,
    folder: Path | None = None,
    written: Mapping[str, nw.Series[Any]] = MappingProxyType({}),
) -> tuple[Proposal, ...]:
    """Propose options that were not given.

    Parameters
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table, with numbers and dates parsed.
    given : Reading, optional
        How it is read so far.
    folder : Path, optional
        The folder in which paths of pictures begin; without it no pictures are proposed.
    written : dict of str to narwhals.Series, optional
        The numbers of some columns as they are written, by which times of day are known.

    Returns
    -------
    tuple of Proposal
        For ``id_column``, ``text``, ``text_by``, ``image``, ``columns``, ``series``, ``merge_variants``,
        ``as_categories``, ``log``, ``cycles``, ``drop`` and ``show``, those of them that the values suggest.
    """
    options = _find_options(frame, given) if len(frame) >= 2 else {}
    if folder is not None:
        so_far = take_proposals(given, _write_proposals(options, given))
        options |= _find_pictures(frame, so_far, folder)
    so_far = take_proposals(given, _write_proposals(options, given))
    if times := _find_rhythms(so_far, written):
        options["cycles"] = [*options.get("cycles", given.cycles or ()), *times]
    if propose_meaning(frame, so_far):
        options["meaning"] = "meaning"
    return _write_proposals(options, given)


def propose_file_options(
    frame: nw.DataFrame[Any], given: Reading, *, has_types: bool = False
) -> tuple[Proposal, ...]:
    """Propose options for a file that must be read again with them, as `propose_options` does.

    Texts stay texts if the file `has_types` for numbers.
    """
    options = find_file_options(frame, given, has_types=has_types) if len(frame) >= 2 else {}
    return _write_proposals(options, given)


def recall_proposals(reading: Reading, stored: Mapping[str, Sequence[str]]) -> tuple[Proposal, ...]:
    """Return earlier proposals, as far as the reading still has them.

    Parameters
    ----------
    reading : Reading
        How the table is read.
    stored : dict of str to list of str
        The columns of each proposal, by its reason (`Proposal.why`).
    """
    found = []
    for why, columns in stored.items():
        option = _OPTIONS.get(why, why)
        value = getattr(reading, option)
        kept = tuple(name for name in columns if value == name or name in (value or ()))
        if value and (kept or not columns):
            found.append(Proposal(option, value, kept, why))
    return tuple(found)


def store_proposals(proposals: Sequence[Proposal]) -> dict[str, list[str]]:
    """Return the columns of each proposal by its reason, as `recall_proposals` takes them."""
    return {one.why: list(one.columns) for one in proposals}


def _write_proposals(options: Mapping[str, Any], given: Reading) -> tuple[Proposal, ...]:
    """The proposals for values by reason, where each value of one option includes those before it."""
    found: list[Proposal] = []
    for why, value in options.items():
        option = _OPTIONS.get(why, why)
        before = [one.value for one in found if one.option == option]
        known = before[-1] if before else getattr(given, option) or ()
        names = value if isinstance(value, list) else [value] if option == "id_column" else []
        columns = tuple(name for name in names if name not in known)
        found.append(Proposal(option, [*known, *columns] if isinstance(value, list) else value, columns, why))
    return tuple(found)


def take_proposals(reading: Reading, proposals: Sequence[Proposal]) -> Reading:
    """Return the reading with all that is proposed."""
    taken: dict[str, Any] = {
        one.option: tuple(one.value) if isinstance(one.value, list) else one.value for one in proposals
    }
    return replace(reading, **taken)


def _about(one: str, several: str) -> Callable[[Sequence[str]], str]:
    """A clause about one or several columns."""

    def write(columns: Sequence[str]) -> str:
        names = join_names((f"'{name}'" for name in columns), 8)
        return f"{names} {one if len(columns) == 1 else several}"

    return write


_BRIEF_REASONS = {
    "id_column": "each row has its own value",
    "text": "texts",
    "image": "paths of pictures",
    "series": "each row is a curve",
    "as_categories": "codes, not amounts",
    "values": "several rows share each value",
    "log": "a few values are far larger",
    "cycles": "the place in a cycle counts, too",
    "drop": "only counts the rows",
    "show": "more than half is missing",
    "same": "says the same as another column",
    "order": "only orders the rows in time",
}


def _name_cycle(option: str) -> str:
    """What the option ``sent=hour`` compares."""
    column = column_of_cycle(option)
    cycle = option.removeprefix(f"{column}=")
    return f"the cycles of '{column}'" if cycle == option else f"the {cycle} of '{column}'"


_OPTIONS = {
    "values": "as_categories",
    "same": "show",
    "order": "show",
    "meaning": "text_by",
}  # of reasons with another name
_MEANS = ("stands for a missing value", "stand for missing values")
_REASONS: dict[str, str | Callable[[Sequence[str]], str]] = {
    "id_column": _about("identifies the rows, each by a value of its own", ""),
    "text": _about("holds texts", "hold texts"),
    "text_by": "many rows seem to be records of the same things, so texts are compared by their letters",
    "meaning": "the texts are short, so they are compared by their meaning",
    "columns": "the other columns count, too",
    "image": _about("holds paths of pictures", "hold paths of pictures"),
    "series": "each row is a curve",
    "merge_variants": "spellings of one value, such as Retail and retail, are merged",
    "as_categories": _about("holds codes, not amounts", "hold codes, not amounts"),
    "values": _about(
        "has values that several rows share, so it is a category",
        "have values that several rows share, so they are categories",
    ),
    "log": _about(
        "has a few values that are far larger than the others, so its logarithm is compared",
        "have a few values that are far larger than the others, so their logarithms are compared",
    ),
    "cycles": lambda names: f"rows are compared by {join_names(map(_name_cycle, names))}, too",
    "drop": _about("counts the rows and is left out", "count the rows and are left out"),
    "show": _about(
        "is empty in more than half of the rows, so it is shown and not compared",
        "are empty in more than half of the rows, so they are shown and not compared",
    ),
    "same": _about(
        "says the same as another column, so it is shown and not compared",
        "say the same as other columns, so they are shown and not compared",
    ),
    "order": _about(
        "only orders the rows in time, so it is shown and not compared",
        "only order the rows in time, so they are shown and not compared",
    ),
    "missing": lambda values: f"{join_names(values, 8)} {_MEANS[len(values) > 1]}, being unlike all others",
    "where": "a row holds the totals or the units of the others and is left out",
    "series_by": "each row is one value of a curve, so the curves are compared",
    "transpose": "each row holds the values of a gene, so the columns are compared",
}
WHYS = tuple(_REASONS)


def _find_options(frame: nw.DataFrame[Any], given: Reading) -> dict[str, Any]:
    """The options that the values suggest, by reason."""
    shown = {*(given.drop or ()), *given.shown_columns}
    used = {*shown, *(given.columns or ()), *(given.text or ()), *(given.image or ()), *(given.hide or ())}
    id_column = find_id(frame, given.id_column, used)
    names, codes, counters = list[str](), list[str](), list[str]()
    if id_column is None:
        used |= _find_named(given)
        names, codes, counters = _find_names_of_rows(frame, used)
    has_numbers = bool(given.weights) or any(getattr(given, name) is not None for name in OF_COLUMNS)
    is_open = not (given.text or given.is_of_series or given.text_by)
    if is_open and not (given.columns or has_numbers):
        options = _find_records(frame, [*used, *codes[:1]], next(iter([*codes, *counters]), id_column))
        if options:
            proposed_id = next(iter([*codes, *counters]), None)
            return options if proposed_id is None else {"id_column": proposed_id, **options}
    if (
        given.is_of_series
        and sum(series.dtype.is_numeric() for series in frame.iter_columns()) < LEAST_SAMPLES
    ):
        counters = []  # of so few numbers each may be a sample
    proposed_id = next(iter([*codes[:1], *names, *counters]), None)
    proposed: dict[str, Any] = {} if proposed_id is None else {"id_column": proposed_id}
    if given.is_of_series or given.text_by == "letters":
        return proposed
    others = {*shown, id_column, proposed_id}
    free = [name for name in frame.columns if name not in others]
    found = _decide_columns(frame, free, merges=bool(given.merge_variants))
    if given.columns:
        named = set(given.columns)
        found = [column for column in found if column.name in named or named == {"all"}]
    elif given.text or given.image:
        return proposed
    if not any(column.role in (*COMPARED, "text") for column in found):
        return {}  # an id is nothing that rows could be compared by
    if given.columns:
        return proposed | _propose_for_records(frame, found, given)
    return proposed | _propose_for_rows(frame, found, given, has_numbers=has_numbers)


def _find_records(frame: nw.DataFrame[Any], used: Sequence[str], id_column: str | None) -> dict[str, Any]:
    """Let all columns count, texts by their letters, if the table holds records of the same things."""
    copies = find_near_copies(frame, id_column)
    if copies is None:
        return {}
    free = [name for name in frame.columns if name not in {*used, id_column}]
    found = {one.name: one.role for one in _decide_columns(frame, free, merges=False)}
    texts = [name for name in free if found[name] == "text" or name in copies.columns]
    has_others = any(found[name] in COMPARED for name in free if name not in texts)
    return {"text": texts, "text_by": "letters", **({"columns": ["all"]} if has_others else {})}


def _propose_for_rows(
    frame: nw.DataFrame[Any], found: Sequence[Column], given: Reading, *, has_numbers: bool
) -> dict[str, Any]:
    """What suits rows of which nobody said what they are; `has_numbers` if something was said of numbers."""
    if not has_numbers and _are_curves(frame, found):
        return {"series": True}
    choices = find_choices(frame, found)
    found = [column for column in found if column.name not in choices]
    n_others = sum(column.role in COMPARED for column in found)
    found_texts = {*choices, *_find_texts(frame, found, is_beside_others=n_others >= _SOME_COLUMNS)}
    texts = [name for name in frame.columns if name in found_texts and name not in (given.hide or ())]
    if not texts:
        return _propose_for_records(frame, found, given)
    if not n_others or not (has_numbers or choices or n_others > _FEW_COLUMNS):
        return {"text": texts}
    found = [column for column in found if column.role not in ("text", "label")]
    return {"text": texts, "columns": ["all"]} | _propose_for_records(frame, found, given)


def _propose_for_records(frame: nw.DataFrame[Any], found: Sequence[Column], given: Reading) -> dict[str, Any]:
    """What the columns of records suggest."""
    proposed: dict[str, Any] = {}
    compared = [column for column in found if column.role in COMPARED]
    named = _find_named(given)
    if given.columns is None or "all" in given.columns:
        free = [column.name for column in compared if column.name not in named]
        for why, useless in _find_useless(frame, free).items():
            if len(useless) < len(compared):
                proposed[why] = useless
                found = [column for column in found if column.name not in useless]
                compared = [column for column in compared if column.name not in useless]
    if not given.merge_variants:
        spelled = [column.name for column in found if _has_variants(frame, column)]
        proposed |= {"merge_variants": True} if spelled else {}
        names = {column.name for column in compared}
        compared += [column for column in found if column.name in spelled and column.name not in names]
    codes = [name for name in find_codes(frame, found) if name not in (given.as_categories or ())]
    if codes and given.columns is None:
        proposed["as_categories"] = [*(given.as_categories or ()), *codes]
    many = [name for name in find_repeated_values(frame, found) if name not in (given.as_categories or ())]
    if many and given.columns is None:
        proposed["values"] = many
    counters = [column.name for column in compared if counts_rows(frame.get_column(column.name))]
    counters = [name for name in counters if name not in named]
    n_visible = sum(column.name not in (given.hide or ()) for column in compared)
    if counters and n_visible > len(counters) and not given.columns:
        proposed["drop"] = [*(given.drop or ()), *counters]
        compared = [column for column in compared if column.name not in counters]
    logs = given.log or ()
    tails = [name for name in find_heavy_tails(frame, compared) if name not in (*logs, *codes)]
    if tails and given.metric != "cosine":
        proposed["log"] = [*logs, *tails]
    if given.metric != "cosine":
        proposed |= _propose_cycles(frame, found, given)
    return proposed


def _find_named(given: Reading) -> set[str]:
    """The columns that options name, which can neither be left out nor only be shown."""
    weights = given.weights if isinstance(given.weights, Mapping) else {}
    options = given.columns, given.hide, given.log, given.as_categories, weights
    names = {name for some in options for name in some or ()}
    return names | set(map(column_of_cycle, given.cycles or ()))


def _find_useless(frame: nw.DataFrame[Any], names: Sequence[str]) -> dict[str, list[str]]:
    """Columns that are better shown than compared, by reason; `names` are free to be used so."""
    columns = {name: frame.get_column(name) for name in names}
    empty = [name for name in names if _is_mostly_empty(columns[name])]
    dates = [name for name in names if name not in empty and value_kind(columns[name]) == "date"]
    in_order = [name for name in dates if _orders_rows(columns[name])]
    words = {
        name: one
        for name, one in columns.items()
        if name not in empty and value_kind(one) in ("words", "bool")
    }
    cycles = find_cycles(frame, in_order) if in_order else ()
    in_order = [name for name in in_order if name not in {cycle.column for cycle in cycles}]
    found = {"show": empty, "same": _find_repeated(words), "order": in_order}
    return {why: some for why, some in found.items() if some}


def _orders_rows(series: nw.Series[Any]) -> bool:
    """Whether dates grow or fall from row to row, nearly all of them different."""
    known = series.drop_nulls()
    is_sorted = known.is_sorted() or known.is_sorted(descending=True)
    return len(known) >= _LEAST_COUNTED and is_sorted and known.n_unique() >= 0.9 * len(series)


def _find_repeated(columns: Mapping[str, nw.Series[Any]]) -> list[str]:
    """The columns whose values tell exactly what an earlier column tells, each under another name."""
    if any(len(series) < _LEAST_REPEATED for series in columns.values()):  # few rows agree by chance
        return []
    words = {
        name: to_words(one) if value_kind(one) == "words" else one.to_list() for name, one in columns.items()
    }
    starts = {name: _number_values(some[:_LEAST_REPEATED]) for name, some in words.items()}
    n_alike = Counter(starts.values())
    known: set[tuple[int, ...]] = set()
    repeated = []
    for name, some in words.items():
        if n_alike[starts[name]] == 1:  # then no column has the same form
            continue
        form = _number_values(some)
        if max(form) + 1 > len(some) / 2:  # any two columns of unique values have the same form
            continue
        if form in known:
            repeated.append(name)
        known.add(form)
    return repeated


def _number_values(values: Sequence[Any]) -> tuple[int, ...]:
    """Number values in the order in which they first occur; all missing ones are one value."""
    numbers: dict[Any, int] = {}
    return tuple(numbers.setdefault(None if is_missing(one) else one, len(numbers)) for one in values)


def _propose_cycles(frame: nw.DataFrame[Any], found: Sequence[Column], given: Reading) -> dict[str, Any]:
    """The cycles in which dates and times have a rhythm, if one of them is not given."""
    named = tuple(given.cycles or ())
    known = set(read_cycles(named, frame))
    columns = [
        column.name
        for column in found
        if column.role == "date"
        or (column.role in ("text", "category") and read_hours(frame.get_column(column.name)) is not None)
    ]
    new = [cycle.option for cycle in find_cycles(frame, columns) if cycle not in known]
    return {"cycles": [*named, *new]} if new else {}


def _find_rhythms(given: Reading, written: Mapping[str, nw.Series[Any]]) -> list[str]:
    """The cycles of times of day that were read as hours, and are compared."""
    others: set[str | None] = {
        given.id_column,
        *(given.drop or ()),
        *given.shown_columns,
        *_find_named(given),
    }
    is_of_all = given.columns is None or "all" in given.columns
    if not (is_of_all and given.is_of_records) or given.metric == "cosine":
        return []
    times = [one for name, one in written.items() if name not in others and read_hours(one) is not None]
    return [cycle.option for one in times for cycle in find_cycles(one.to_frame(), [one.name])]


def _decide_columns(frame: nw.DataFrame[Any], names: Sequence[str], *, merges: bool) -> list[Column]:
    """The role of each column as it is without other options; those of no use are left out."""
    found, there = [], list(frame.columns)
    for name in names:
        series = frame.get_column(name)
        if merges and (variants := find_variants(series)) is not None:
            series = merge_variants(series, variants)
        try:
            found.append(decide_column(series, name, there, None))
        except DataError:
            continue
    return found


# ---------------------------------------------------------------- ids
def _find_names_of_rows(frame: nw.DataFrame[Any], taken: set[str]) -> tuple[list[str], list[str], list[str]]:
    """The columns with a name for each row, with a code for each row, and those that count the rows."""
    free = [name for name in frame.columns if name not in taken]
    if len(free) < 2:  # a single column is what the rows are compared by
        return [], [], []
    words = [name for name in free if _holds_short_words(frame.get_column(name))]
    codes = [name for name in words if not _has_any(frame.get_column(name), " ")]
    # a path is a way to a file beside the row; it names the row only if nothing else does
    codes.sort(key=lambda name: _has_any(frame.get_column(name).head(5), "/"))
    counters = [name for name in free if counts_rows(frame.get_column(name))]
    return [name for name in words if name not in codes], codes, counters


def _has_any(series: nw.Series[Any], mark: str) -> bool:
    return any(mark in str(one) for one in series.to_list())


def _holds_short_words(series: nw.Series[Any]) -> bool:
    """Whether every row has a text of its own: one word, or a few that other rows rarely share."""
    if value_kind(series) != "words":
        return False
    first = series.head(_MOST_ROWS).to_list()
    if any(is_missing(one) or not 0 < len(str(one)) <= LONGEST_ID for one in first):
        return False
    n_words = sum(len(str(one).split()) for one in first)
    is_short = n_words == len(first) or (n_words <= _MOST_WORDS * len(first) and count_words(series) == 0)
    return is_short and is_key(series)


def counts_rows(series: nw.Series[Any]) -> bool:
    """Whether a column holds whole numbers, each once: in order with few gaps, or from 0 or 1 without any."""
    if not series.dtype.is_integer() or series.null_count() or len(series) < _LEAST_COUNTED:
        return False
    first, last = int(series.min()), int(series.max())
    n_gaps = last - first + 1 - len(series)
    counts = n_gaps <= _MOST_GAPS * len(series) if series.is_sorted() else first in (0, 1) and n_gaps == 0
    return bool(counts and is_key(series))


# ---------------------------------------------------------------- texts
def _find_texts(frame: nw.DataFrame[Any], found: Sequence[Column], *, is_beside_others: bool) -> list[str]:
    """The columns of texts with several words that other texts have, too; beside others, of no names."""
    texts = {column.name: frame.get_column(column.name) for column in found if column.role == "text"}
    lengths = {name: count_words(series) for name, series in texts.items()}
    longest = max(lengths.values(), default=0)
    named = [name for name, length in lengths.items() if length >= max(_LEAST_WORDS, longest / 8)]
    if not is_beside_others:
        return named
    return [
        name
        for name in named
        if _repeats_words(texts[name]) or (lengths[name] >= _LONG_TEXT and not _are_names(texts[name]))
    ]


def _are_names(series: nw.Series[Any]) -> bool:
    """Whether nearly all words begin with a capital letter, as in Smith, Mrs. Mary Ann."""
    words = [word for text in to_words(series.head(_MOST_ROWS)) for word in _WORD.findall(text or "")]
    n_capital = sum(word[0].isupper() and not word.isupper() for word in words)
    return bool(n_capital > _MOST_CAPITAL * len(words))


def _repeats_words(series: nw.Series[Any]) -> bool:
    """Whether short texts differ, and others have most of their words, as in titles and not in names."""
    if series.n_unique() < _LEAST_DIFFERENT * len(series):
        return False
    words = [set(_WORD.findall((text or "").casefold())) for text in to_words(series.head(_MOST_ROWS))]
    in_texts = Counter(word for some in words for word in some)
    n_words = in_texts.total()
    return n_words > 0 and sum(n for n in in_texts.values() if n > 1) >= _MOST_REPEATED * n_words


def count_words(series: nw.Series[Any]) -> float:
    """Count the words of an average text; 0 if most texts share no word with another."""
    texts = [word or "" for word in to_words(series.head(_MOST_ROWS))]
    if any("/" in text and " " not in text for text in texts[:5]):  # paths
        return 0.0
    words = [_WORD.findall(text.casefold()) for text in texts]
    in_texts = Counter(word for some in words for word in set(some))
    known = [some for some, text in zip(words, texts, strict=True) if text]
    if len(set(map(tuple, known))) < _LEAST_WORDINGS * len(known):  # 'town 7': names with a number
        return 0.0
    shared = sum(any(1 < in_texts[word] <= len(texts) / 2 for word in some) for some in known)
    if not known or shared < _LEAST_SHARED * len(known):
        return 0.0
    return sum(len(text.split()) for text in texts) / len(known)


# ---------------------------------------------------------------- curves
def _are_curves(frame: nw.DataFrame[Any], found: Sequence[Column]) -> bool:
    """Whether all numbers are one run of numbered or dated columns whose neighbours are alike."""
    names = [column.name for column in found if column.role == "numeric"]
    n_others = sum(column.role in ("category", "date") for column in found)
    if len(names) < LEAST_SAMPLES or n_others > _FEW_COLUMNS or not _are_in_order(names):
        return False
    X = np.stack([to_numbers(frame.get_column(name).head(_MOST_ROWS)) for name in names], axis=1)
    return are_smooth(X[np.isfinite(X).all(axis=1)])


def _are_in_order(names: Sequence[str]) -> bool:
    """Whether names differ by ascending numbers alone, as t01 and t02, or are dates, as Feb 2023."""
    written = [replace_months(name) for name in names]
    if len({_NUMBER.sub("0", name) for name in written}) > 1:
        return False
    numbers = [list(map(int, _NUMBER.findall(name))) for name in written]
    orders = [numbers, [row[::-1] for row in numbers], [[*row[-1:], *row[:-1]] for row in numbers]]
    return any(all(a < b for a, b in pairwise(rows)) for rows in orders)  # of days, months and years


# ---------------------------------------------------------------- spellings and gaps
def _has_variants(frame: nw.DataFrame[Any], column: Column) -> bool:
    """Whether a column is a category once spellings of one value are merged."""
    if column.role not in ("category", "text"):
        return False
    series = frame.get_column(column.name)
    variants = find_variants(series)
    if variants is None:
        return False
    merged = decide_column(merge_variants(series, variants), column.name, list(frame.columns), None)
    return merged.role == "category"


def _is_mostly_empty(series: nw.Series[Any]) -> bool:
    """Whether more than half of the values are missing."""
    return count_missing(series) > len(series) / 2


# ---------------------------------------------------------------- pictures
def _find_pictures(frame: nw.DataFrame[Any], given: Reading, folder: Path) -> dict[str, Any]:
    """Compare by the first column with paths of pictures that are there, beside what is compared."""
    if given.image or given.is_of_series or given.text_by == "letters" or find_spec("PIL") is None:
        return {}
    others: set[str | None] = {given.id_column, *(given.columns or ()), *(given.text or ())}
    others |= {*(given.drop or ()), *given.shown_columns, *(given.hide or ())}
    free = [name for name in frame.columns if name not in others]
    column = next((name for name in free if holds_pictures(frame.get_column(name))), None)
    if column is None or (given.columns is not None and "all" not in given.columns):
        return {}
    with suppress(DataError):
        find_pictures(frame.get_column(column), folder)
        keeps_columns = given.columns is None and not given.text
        return {"image": [column], **({"columns": ["all"]} if keeps_columns else {})}
    return {}

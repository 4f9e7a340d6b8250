"""Propose how to read a table, from what its columns hold: ids, texts, curves, spellings.

The names of columns decide nothing but whether they count (t01, t02, ...) and whether numbers may be codes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.constraints.checks import is_missing
from linkwise.data.columns.codes import find_codes
from linkwise.data.columns.cycles import find_cycles, read_cycles, read_hours
from linkwise.data.columns.ids import find_id, is_key
from linkwise.data.columns.log_scale import find_heavy_tails
from linkwise.data.columns.near_copies import find_near_copies
from linkwise.data.columns.roles import Column, decide_column, to_numbers, to_words, value_kind
from linkwise.data.columns.variants import find_variants, merge_variants
from linkwise.data.reading import Reading
from linkwise.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw

NOTHING_GIVEN = Reading()
LONGEST_ID = 60  # characters
_MOST_ROWS = 2000  # of which the words are looked at
_LEAST_WORDS = 1.5  # of an average text
_LEAST_SHARED = 0.5  # share of the texts that have a word of another text
_FEW_COLUMNS = 3  # beside texts or curves: so many are no table of their own
_LEAST_SAMPLES = 12  # of a curve
_SMOOTH = 0.4  # neighbouring samples differ by less than this share of any two
_WORD = re.compile(r"[^\W\d_]{2,}")
_NUMBERED = re.compile(r"(.*?)(\d+)")


def propose_options(frame: nw.DataFrame[Any], given: Reading = NOTHING_GIVEN) -> dict[str, Any]:
    """Propose options that were not given.

    Parameters
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table, with numbers and dates parsed.
    given : Reading, optional
        How it is read so far.

    Returns
    -------
    dict
        ``id_column``, ``text``, ``text_by``, ``columns``, ``series``, ``merge_variants``, ``as_categories``,
        ``log``, ``cycles`` and ``drop``, those of them that the values suggest.
    """
    if len(frame) < 2:
        return {}
    proposed: dict[str, Any] = {}
    shown = {*(given.drop or ()), *given.shown_columns}
    id_column = find_id(frame, given.id_column, {*shown, *(given.columns or ())})
    others = {*shown, id_column}
    if id_column is None:
        free = [name for name in frame.columns if name not in others]
        id_column = _find_names_of_rows(frame, free)
        if id_column is not None:
            proposed["id_column"] = id_column
            others.add(id_column)
    if given.series or given.text_by:
        return proposed
    if not given.columns:
        copies = find_near_copies(frame, given.id_column or id_column)
        texts = [] if copies is None else [name for name in copies.columns if name not in others]
        if texts:
            return proposed | {"text": texts, "text_by": "letters"}
    if given.text:
        return proposed
    found = _decide_columns(frame, [name for name in frame.columns if name not in others])
    if given.columns:
        named = set(given.columns)
        found = [column for column in found if column.name in named or named == {"all"}]
    elif _are_curves(frame, found):
        return proposed | {"series": True}
    elif texts := _find_texts(frame, found):
        proposed["text"] = texts
        found = [column for column in found if column.role not in ("text", "label")]
        if sum(column.role in ("numeric", "category", "date") for column in found) <= _FEW_COLUMNS:
            return proposed
        proposed["columns"] = ["all"]
    return proposed | _propose_for_records(frame, found, given)


def _propose_for_records(frame: nw.DataFrame[Any], found: Sequence[Column], given: Reading) -> dict[str, Any]:
    """What the columns of records suggest."""
    proposed: dict[str, Any] = {}
    compared = [column for column in found if column.role in ("numeric", "category", "date")]
    if not given.merge_variants:
        spelled = [column.name for column in found if _has_variants(frame, column)]
        proposed |= {"merge_variants": True} if spelled else {}
        names = {column.name for column in compared}
        compared += [column for column in found if column.name in spelled and column.name not in names]
    codes = [name for name in find_codes(frame, found) if name not in (given.as_categories or ())]
    if codes and given.columns is None:
        proposed["as_categories"] = [*(given.as_categories or ()), *codes]
    counters = [column.name for column in compared if _counts_rows(frame.get_column(column.name))]
    if counters and len(compared) > len(counters) and not given.columns:
        proposed["drop"] = [*(given.drop or ()), *counters]
        compared = [column for column in compared if column.name not in counters]
    named = given.log or ()
    tails = [name for name in find_heavy_tails(frame, compared) if name not in (*named, *codes)]
    if tails and given.metric != "cosine":
        proposed["log"] = [*named, *tails]
    if given.metric != "cosine":
        proposed |= _propose_cycles(frame, found, given)
    return proposed


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


def _decide_columns(frame: nw.DataFrame[Any], names: Sequence[str]) -> list[Column]:
    """The role of each column as it is without options; columns that nothing can be made of are left out."""
    found, there = [], list(frame.columns)
    for name in names:
        try:
            found.append(decide_column(frame.get_column(name), name, there, None))
        except DataError:
            continue
    return found


# ---------------------------------------------------------------- ids
def _find_names_of_rows(frame: nw.DataFrame[Any], names: Sequence[str]) -> str | None:
    """The first column in which each row has a short word of its own, or a number that counts the rows."""
    words = [name for name in names if _holds_short_words(frame.get_column(name))]
    counters = [name for name in names if _counts_rows(frame.get_column(name))]
    # a path is a way to a file beside the row; it names the row only if nothing else does
    plain = [
        name for name in words if not any("/" in str(one) for one in frame.get_column(name).head(5).to_list())
    ]
    several = len(names) > 1  # a single column is what the rows are compared by
    return next(iter([*plain, *words, *counters]), None) if several else None


def _holds_short_words(series: nw.Series[Any]) -> bool:
    """Whether every row has a text of its own without a space."""
    if value_kind(series) != "words":
        return False
    first = series.head(_MOST_ROWS).to_list()
    if any(is_missing(one) or not 0 < len(str(one)) <= LONGEST_ID or " " in str(one) for one in first):
        return False
    return is_key(series)


def _counts_rows(series: nw.Series[Any]) -> bool:
    """Whether a column holds whole numbers without a gap, each once."""
    if not series.dtype.is_integer() or series.null_count() or len(series) < 10:
        return False
    return int(series.max()) - int(series.min()) == len(series) - 1 and is_key(series)


# ---------------------------------------------------------------- texts
def _find_texts(frame: nw.DataFrame[Any], found: Sequence[Column]) -> list[str]:
    """The columns of texts with several words that other texts have, too."""
    lengths = {
        column.name: count_words(frame.get_column(column.name)) for column in found if column.role == "text"
    }
    longest = max(lengths.values(), default=0)
    return [name for name, length in lengths.items() if length >= max(_LEAST_WORDS, longest / 8)]


def count_words(series: nw.Series[Any]) -> float:
    """Count the words of an average text; 0 if most texts share no word with another."""
    texts = [word or "" for word in to_words(series.head(_MOST_ROWS))]
    if any("/" in text and " " not in text for text in texts[:5]):  # paths
        return 0.0
    words = [_WORD.findall(text.casefold()) for text in texts]
    in_texts = Counter(word for some in words for word in set(some))
    known = [some for some, text in zip(words, texts, strict=True) if text]
    shared = sum(any(1 < in_texts[word] <= len(texts) / 2 for word in some) for some in known)
    if not known or shared < _LEAST_SHARED * len(known):
        return 0.0
    return sum(len(text.split()) for text in texts) / len(known)


# ---------------------------------------------------------------- curves
def _are_curves(frame: nw.DataFrame[Any], found: Sequence[Column]) -> bool:
    """Whether all numbers are one run of numbered columns whose neighbours are alike."""
    names = [column.name for column in found if column.role == "numeric"]
    parts = [_NUMBERED.fullmatch(name) for name in names]
    n_others = sum(column.role in ("category", "date") for column in found)
    if len(names) < _LEAST_SAMPLES or n_others > _FEW_COLUMNS:
        return False
    stems = {part[1] if part else None for part in parts}
    numbers = [int(part[2]) for part in parts if part]
    if len(stems) != 1 or None in stems or any(b <= a for a, b in pairwise(numbers)):
        return False
    X = np.stack([to_numbers(frame.get_column(name).head(_MOST_ROWS)) for name in names], axis=1)
    X = X[np.isfinite(X).all(axis=1)]
    if len(X) < 2:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        between_neighbours, between_any = np.square(np.diff(X, axis=1)).mean(), 2 * X.var(axis=1).mean()
    return bool(between_neighbours < _SMOOTH * between_any < np.inf)


# ---------------------------------------------------------------- spellings
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

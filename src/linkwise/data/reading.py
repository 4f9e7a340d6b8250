"""How a file or a table in memory is read and compared: one value, from the caller to the encoder.

``linkwise --help`` imports this module, so it must import neither NumPy nor what needs it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from numbers import Real
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

from linkwise.errors import DataError
from linkwise.wording import join_names, shorten

Unit = Literal["words", "letters", "meaning", "words,meaning"]
"""What texts are compared by."""
Scale = Literal["unit", "standard", "none"]
Impute = Literal["median"]
Weights = Mapping[str, float] | Literal["none"]
Metric = Literal["euclidean", "cosine"]

OF_RECORDS = ("merge_variants", "as_categories", "log", "cycles")
OF_COLUMNS = ("metric", *OF_RECORDS, "scale", "impute")  # what texts and pictures alone do not have
_NAMES = ("drop", "text", "image", "show", "hide", "as_categories", "log", "cycles", "missing")
_WORDS: dict[str, tuple[str, ...]] = {
    "scale": ("unit", "standard", "none"),
    "impute": ("median",),
    "metric": ("euclidean", "cosine"),
    "text_by": ("words", "letters", "meaning", "words,meaning"),
}


class ReadingOptions(TypedDict, total=False):
    """The options of `Reading` as keywords of a function; a single name may stand for a list of names."""

    id_column: str | None
    columns: str | Sequence[str] | None
    drop: str | Sequence[str] | None
    delimiter: str | None
    scale: Scale | None
    impute: Impute | None
    text: str | Sequence[str] | None
    text_by: Unit | None
    image: str | Sequence[str] | None
    series: bool | None
    series_by: Sequence[str] | None
    warp: bool | None
    merge_variants: bool | None
    as_categories: str | Sequence[str] | None
    log: str | Sequence[str] | None
    cycles: str | Sequence[str] | None
    keep_nested: bool | None
    encoding: str | None
    sheet: str | None
    no_header: bool | None
    skip_lines: int | None
    transpose: bool | None
    where: str | None
    missing: str | Sequence[str] | None
    weights: Weights | None
    metric: Metric | None
    skip_broken: bool | None
    show: str | Sequence[str] | None
    hide: str | Sequence[str] | None
    kind: Literal["image", "text"] | None


class Misfit(NamedTuple):
    """An option that does not fit the others."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file or a table is read and compared; None where the default holds.

    `read_table`, `from_frame` and the commands take the same options.

    Attributes
    ----------
    id_column : str or None
        Column that names the rows. By default a column called id, key, uuid or similar, if its values are
        unique and complete.
    columns : sequence of str or None
        Columns to use as features, and no others. By default all suitable columns except those called class,
        label, target or similar. Beside texts there are none by default, and "all" stands for all suitable
        columns.
    drop : sequence of str or None
        Columns neither used nor shown.
    delimiter : str or None
        The character between the columns of a text file. By default it is detected: a comma, semicolon, tab
        or vertical bar.
    scale : {"unit", "standard", "none"} or None
        The scale of numeric columns, as for `encode`. If it is set, rows of norm 1 are compared by distance.
    impute : {"median"} or None
        The value for a missing cell, as for `encode`.
    text : sequence of str or None
        Columns of texts that the rows are compared by, and by nothing else unless `columns` names it.
    text_by : {"words", "letters", "meaning", "words,meaning"} or None
        What texts are compared by: their words; groups of two and three letters, which suits short texts with
        typing errors, such as names; their meaning, which suits short texts in sentences and needs the extra
        `meaning`; or words and meaning with the same influence.
    image : sequence of str or None
        Columns of paths of pictures that the rows are compared by, and by nothing else unless `columns` or
        `text` names it. Relative paths begin from the folder of the file, or from the current folder for a
        table in memory.
    series : bool or None
        Whether each row is a curve: one column of lists, or a column of numbers for each sample, in the
        order of the table.
    series_by : (str, str, str) or None
        The columns of ids, times and values of a long table, in which each row is one value of a curve. The
        curves are compared as with `series`. Each needs a value at every time; a missing value is a gap. The
        table that is returned has a row for each curve.
    warp : bool or None
        Whether curves are compared by dynamic time warping, so that shapes may be shifted and stretched.
    merge_variants : bool or None
        Whether spellings of one category that differ only in case, spaces or accents, such as ``"Retail"``
        and ``"retail "``, are read as one value. A note lists them. By default a note only proposes it.
    as_categories : sequence of str or None
        Columns of numbers that are codes, such as zip codes. Rows are compared by whether they are equal.
    log : sequence of str or None
        Columns of amounts, such as incomes, of which a few are far larger than the others. Rows are compared
        by the logarithms, and people see the amounts. If there are zeros, the smallest positive value is
        added to all values of the column first. Negative values are an error.
    cycles : sequence of str or None
        Columns of dates or times by whose cycles rows are compared, too: hours of the day, days of the week
        and days of the year, those of them that the values go through more than once. ``"sent=hour"``,
        ``"sent=weekday"`` and ``"sent=season"`` name a single one. Each counts as one column, such as ``sent
        (hour)``, which `weights` may name.
    keep_nested : bool or None
        Whether nested objects in JSON stay as they are, and are only shown. By default each of their fields
        becomes a column such as ``address.town``.
    encoding : str or None
        The encoding of a text file, such as "windows-1252". By default UTF-8, else UTF-16 or Windows-1252
        where that is certain, with a note.
    sheet : str or None
        The part of a file that is read: the sheet of a spreadsheet, by default the first one; the file in a
        .zip; the array of a .npz; the table of a database, or an SQL query that begins with ``SELECT``. By
        default the largest one, with a note.
    no_header : bool or None
        Whether a text file has no line of column names; the columns are called field 1,
        field 2, ... then. By default this is chosen, with a note, where the first line is certainly a row.
    skip_lines : int or None
        Number of lines before the line of column names. By default lines of another width at the beginning
        of a text file are skipped, with a note. Any number, 0 too, ends this search and the one for a header.
    transpose : bool or None
        Whether the rows of the file are columns and its columns rows. The first column has the new names.
    where : str or None
        The rows to keep, as a condition of SQL for polars, such as ``amount > 0 AND country <> 'Total'``.
        Names of columns with spaces stand in double quotes.
    missing : sequence of str or None
        Values that stand for a missing one, such as ``"-200"``; ``"year=0"`` holds for the column year alone.
    weights : dict of str to float, "none" or None
        How much columns and blocks count in the squared distance, 1 where a name is missing. Each column of
        texts, of pictures and of lists is a block, and all other columns together are the block "columns".
        With several blocks each takes the same share of the squared distance, times its weight; the weight
        of a column counts within its block. A column of weight 0 is only shown. "none" leaves the blocks as
        they are.
    metric : {"euclidean", "cosine"} or None
        "cosine" scales each list of numbers to norm 1, or each row if there are no lists. A row of zeros
        stays as it is. By default this is chosen, with a note, where all rows have norm 1 already.
    skip_broken : bool or None
        For a folder: whether to leave out images that cannot be read.
    show : sequence of str or None
        Columns that a person sees and the rows are not compared by. In a project a text is the file of a
        table that a person sees in place of the columns.
    hide : sequence of str or None
        Columns that a person does not see. The rows are compared by those that can serve.
    kind : {"image", "text"} or None
        For a folder: the kind of its files.
    """

    id_column: str | None = None
    columns: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    delimiter: str | None = None
    scale: Scale | None = None
    impute: Impute | None = None
    text: Sequence[str] | None = None
    text_by: Unit | None = None
    image: Sequence[str] | None = None
    series: bool | None = None
    series_by: Sequence[str] | None = None
    warp: bool | None = None
    merge_variants: bool | None = None
    as_categories: Sequence[str] | None = None
    log: Sequence[str] | None = None
    cycles: Sequence[str] | None = None
    keep_nested: bool | None = None
    encoding: str | None = None
    sheet: str | None = None
    no_header: bool | None = None
    skip_lines: int | None = None
    transpose: bool | None = None
    where: str | None = None
    missing: Sequence[str] | None = None
    weights: Weights | None = None
    metric: Metric | None = None
    skip_broken: bool | None = None
    show: Sequence[str] | None = None
    hide: Sequence[str] | None = None
    kind: Literal["image", "text"] | None = None

    def __post_init__(self) -> None:
        for name in (*_NAMES, "columns", "series_by"):
            if name != "show" and isinstance(value := getattr(self, name), str):  # a text in `show` is a file
                object.__setattr__(self, name, (value,))

    @classmethod
    def of(cls, **options: Unpack[ReadingOptions]) -> Reading:
        """Build a reading from keywords, in which a single name may stand for a list of names.

        Parameters
        ----------
        **options
            Any of the attributes.

        Returns
        -------
        Reading
            The same in one form.

        Raises
        ------
        TypeError
            There is no such option.
        DataError
            A weight is no finite number of at least 0.
        """
        given: dict[str, Any] = dict(options)
        for name in given:
            _check_is_option(name)
        for name in _NAMES:
            given[name] = to_names(given.get(name)) or None
        for name in ("columns", "series_by"):
            given[name] = to_names(given.get(name))
        given["weights"] = _check_weights(given.get("weights"))
        return cls(**given)

    def settings(self) -> dict[str, Any]:
        """Return the options that are set.

        Returns
        -------
        dict
            The value of each of them, by name.
        """
        values = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {name: value for name, value in values if value is not None}

    @property
    def is_of_series(self) -> bool:
        """Whether rows are curves."""
        return bool(self.series or self.series_by)

    @property
    def is_of_records(self) -> bool:
        """Whether rows are compared by columns, maybe beside texts or pictures."""
        return not self.is_of_series and (not (self.text or self.image) or self.columns is not None)

    @property
    def side_file(self) -> str | None:
        """The table that is shown in place of the data; None if there is none."""
        return self.show if isinstance(self.show, str) else None

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """The columns that are only shown."""
        return () if self.side_file is not None else tuple(self.show or ())

    @property
    def usual_scale(self) -> Scale | None:
        """The scale if none is set."""
        if self.kind is not None:
            return None
        return "standard" if self.is_of_series else "unit" if self.is_of_records else None

    # ------------------------------------------------------------ checks
    def check(self) -> None:
        """Raise `DataError` if options do not go together or have values that they cannot have."""
        misfit = self.find_misfit()
        if misfit is not None:
            raise DataError(misfit.message)

    def find_misfit(self, call: Callable[[str], str] = str) -> Misfit | None:
        """Find the first option that does not go with the others, or has a value that it cannot have.

        Parameters
        ----------
        call : callable, optional
            ``call(name)`` is what an option is called in the message, such as its flag.

        Returns
        -------
        Misfit or None
            The option, with a message for a person.
        """
        for name, allowed in _WORDS.items():
            value = getattr(self, name)
            if value is not None and value not in allowed:
                others = ", ".join(map(repr, allowed[:-1]))
                words = " or ".join(filter(None, (others, repr(allowed[-1]))))
                return Misfit(name, f"{call(name)} is {shorten(repr(value), 60)}. Set it to {words}.")
        n = self.skip_lines
        if n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 0):
            return Misfit(
                "skip_lines", f"{call('skip_lines')} is {n!r:.60}. Set it to the number of lines, such as 4."
            )
        for name in self.settings():
            if name not in self._without_effect and (why := self._find_reason(name, call)) is not None:
                return Misfit(name, why)
        return None

    @property
    def _without_effect(self) -> set[str]:
        """Options whose value asks for nothing, or for what holds anyway."""
        values = self.settings().items()
        return {name for name, value in values if value is False or (name, value) in _NO_EFFECT}

    def _find_reason(self, name: str, call: Callable[[str], str]) -> str | None:
        """Why an option does not go with the others; None if it does."""
        remove = f"Remove {call(name)}"
        if self.is_of_series and name in ("text", "image"):
            series = "series" if self.series else "series_by"
            what = "their words" if name == "text" else "pictures"
            return f"{call(name)} compares rows by {what}. Remove {call(series)}."
        if not self.is_of_series and not self.is_of_records and name in OF_COLUMNS:
            block, what = ("text", "their words") if self.text else ("image", "pictures")
            return (
                f"{call(block)} compares rows by {what} alone. {remove}, or compare by columns, too, with"
                f" {call('columns')} (names, or all)."
            )
        if name == "text_by" and not self.text:
            return f"{call(name)} is about columns of texts. Add {call('text')}."
        if name == "warp" and not self.is_of_series:
            ways = f"{call('series')} or {call('series_by')}"
            return f"{call(name)} is about curves. Add {ways}, or remove {call(name)}."
        if self.is_of_series:
            if name in ("weights", "metric"):
                return f"{call('series')} compares curves sample by sample. {remove}."
            if name in OF_RECORDS:
                return f"{call('series')} compares numbers alone. {remove}."
            if name == "impute":
                return f"{call('series')} fills gaps in curves from their neighbours. {remove}."
        if name == "scale" and self.metric == "cosine":
            return f"{call('metric')} cosine scales each row of numbers to norm 1. {remove}."
        return None

    # ------------------------------------------------------------ what a session stores
    def to_json(self) -> dict[str, Any]:
        """Return what a session stores, in types that JSON has, without how missing values and scales are.

        Returns
        -------
        dict
            ``Reading.of(**reading.to_json())`` is the same reading but for `scale`, `impute` and a side file.
        """
        if self.kind is not None:
            return {"kind": self.kind, **({"skip_broken": True} if self.skip_broken else {})}
        stored: dict[str, Any] = {
            "id_column": self.id_column, "columns": None, "drop": [], "delimiter": self.delimiter,
        }  # fmt: skip
        for name, value in self.settings().items():
            is_usual = (value is False and name != "keep_nested") or (name, value) == ("text_by", "words")
            if name not in ("scale", "impute") and not is_usual:
                stored[name] = list(value) if name in ("columns", "series_by", *_NAMES) else value
        if len(stored.get("text", ())) == 1:
            stored["text"] = stored["text"][0]
        return stored


def store_reading(reading: Reading) -> dict[str, Any]:
    """Describe all that decides how rows are read, in types that JSON has; `recall_reading` reads it."""
    return {
        "choices": replace(reading, show=reading.shown_columns or None).to_json(),
        "scale": reading.scale or reading.usual_scale,
        "impute": reading.impute,
    }


def recall_reading(source: Mapping[str, Any]) -> Reading:
    """Return how the data of a session are read, without the table that is shown in their place."""
    reading = Reading.of(**source["choices"])
    scale = None if source["scale"] == reading.usual_scale else source["scale"]
    return replace(reading, scale=scale, impute=source["impute"])


def choose_reading(reading: Reading | None, options: ReadingOptions) -> Reading:
    """Return a reading with the options that keywords set besides, after checking that they go together."""
    chosen = Reading.of(**options)
    if reading is not None:
        chosen = replace(reading, **chosen.settings())
    chosen.check()
    return chosen


_NO_EFFECT: tuple[tuple[str, Any], ...] = (
    ("weights", "none"),
    ("weights", {}),
    ("text_by", "words"),
    ("metric", "euclidean"),
)


def _check_is_option(name: str) -> None:
    names = ReadingOptions.__annotations__
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f" Did you mean {near[0]}?" if near else f" The options are {', '.join(names)}."
        raise TypeError(f"There is no option {name} to read a table.{hint}")


def _check_weights(weights: Any) -> dict[str, float] | Literal["none"] | None:
    """Check weights before the columns are known; return them as plain numbers."""
    if weights is None:
        return None
    if isinstance(weights, str) and weights == "none":
        return "none"
    if not isinstance(weights, Mapping):
        raise DataError(
            f"The weights are {weights!r:.100}. Set a number for each name, as in {{'price': 0.5}}, "
            "or the word 'none'."
        )
    for name, weight in weights.items():
        is_number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not is_number or not isfinite(weight) or weight < 0:
            raise DataError(f"The weight of '{name}' is {weight!r:.60}. Set a number of at least 0.")
    return {str(name): float(weight) for name, weight in weights.items()}


# ---------------------------------------------------------------- names of columns
def to_names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Convert column names to a tuple; a single string is one name."""
    return (names,) if isinstance(names, str) else None if names is None else tuple(names)


def unknown_column(name: str, names: Sequence[str]) -> str:
    """Describe a column that does not exist, and suggest the closest name."""
    folded = {other.casefold(): other for other in reversed(names)}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    hint = f" Did you mean '{folded[near[0]]}'?" if near else ""
    return f"There is no column '{name}'.{hint} The columns are: {join_names(names, 30)}."

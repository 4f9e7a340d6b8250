"""Read ARFF files of Weka and .ts files of time-series archives: their header names the columns.

SciPy's reader of ARFF takes no texts, and none of the kept libraries reads .ts without pandas.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from linkwise.data.read.delimited import name_columns
from linkwise.data.read.json_lines import to_series
from linkwise.errors import DataError
from linkwise.limits import check_cells, check_columns, check_expansion
from linkwise.text_files import allow_long_cells, decode
from linkwise.wording import count_noun, shorten

if TYPE_CHECKING:
    import polars as pl

_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.+)""", re.IGNORECASE)
_NUMERIC = ("numeric", "real", "integer")


class AttributeTable(NamedTuple):
    """A table whose file has a header of attributes, with sentences about the choices that were made."""

    frame: pl.DataFrame
    notes: list[str]


# ---------------------------------------------------------------- ARFF
def read_arff(raw: bytes) -> AttributeTable:
    """Read an ARFF file in UTF-8, dense or sparse: numbers for numeric attributes, texts for all others."""
    import polars as pl

    lines = enumerate(decode(raw).splitlines(), 1)
    header, kinds = _read_attributes(lines)
    names, notes = name_columns(header)
    check_columns(len(names))
    columns: list[list[str | None]] = [[] for _ in names]
    for n_rows, (number, cells) in enumerate(_read_arff_rows(lines, kinds), 1):
        if len(cells) != len(names):
            raise DataError(
                f"Line {number} has {count_noun(len(cells), 'value')} for"
                f" {count_noun(len(names), 'attribute')}. Fix the line."
            )
        check_cells(n_rows, len(names))
        check_expansion(8 * n_rows * len(names), len(raw))
        for column, cell in zip(columns, cells, strict=True):
            column.append(None if cell in ("?", "") else cell)
    series = []
    for name, kind, column in zip(names, kinds, columns, strict=True):
        text = pl.Series(name, column, dtype=pl.String)
        if kind in _NUMERIC:
            numbers = text.str.strip_chars().cast(pl.Float64, strict=False)
            wrong = text.filter(numbers.is_null() & text.is_not_null())
            if len(wrong):
                raise DataError(
                    f"Attribute '{name}' is numeric, but a row holds {shorten(str(wrong[0]), 60)!r}. Fix the"
                    " value, or declare the attribute as string."
                )
            text = numbers
        series.append(text)
    return AttributeTable(pl.DataFrame(series), notes)


def _read_attributes(lines: Iterator[tuple[int, str]]) -> tuple[list[str], list[str]]:
    names: list[str] = []
    kinds: list[str] = []
    for number, line in lines:
        line = line.strip().lstrip("\ufeff")
        if not line or line.startswith("%") or line.lower().startswith("@relation"):
            continue
        if line.lower().startswith("@data"):
            if not names:
                raise DataError("The file declares no attribute. Add @attribute lines before @data.")
            return names, kinds
        found = _ATTRIBUTE.match(line)
        if found is None:
            raise DataError(f"Line {number} is no line of ARFF: {shorten(line, 60)!r}. Fix the line.")
        kind = found[2].strip().lower()
        if kind.startswith("relational"):
            raise DataError(
                f"Line {number} declares a relational attribute, which is no column. Use the .ts form of the"
                " data, or save them as a .npy array."
            )
        name = found[1]
        names.append(re.sub(r"\\(.)", r"\1", name[1:-1]) if name[0] in "'\"" else name)
        kinds.append(kind.split()[0] if not kind.startswith("{") else "{}")
    raise DataError("The file has no line @data. Add it before the rows.")


def _read_arff_rows(lines: Iterator[tuple[int, str]], kinds: list[str]) -> Iterator[tuple[int, list[str]]]:
    for number, line in lines:
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if line.startswith("{"):
            yield number, _read_sparse(number, line, kinds)
        else:
            yield number, _split(number, line)


def _split(number: int, line: str) -> list[str]:
    """The values of a line, with commas or tabs between them and texts in either kind of quotes."""
    quote = '"' if '"' in line and "'" not in line else "'"
    mark = "," if "," in line or "\t" not in line else "\t"
    try:
        with allow_long_cells():
            rows = list(
                csv.reader(
                    [line],
                    delimiter=mark,
                    quotechar=quote,
                    escapechar="\\",
                    skipinitialspace=True,
                    strict=True,
                )
            )
    except csv.Error as error:
        raise DataError(f"Line {number} cannot be read: {error}. Close its quotes.") from None
    return [cell.strip() for row in rows for cell in row]


def _read_sparse(number: int, line: str, kinds: list[str]) -> list[str]:
    """A row that lists the values which are not 0."""
    cells = ["0" if kind in _NUMERIC else "?" for kind in kinds]
    for pair in _split(number, line.strip("{} \t")):
        at, _, value = pair.partition(" ")
        if not at.isdecimal() or int(at) >= len(kinds):
            raise DataError(
                f"Line {number} names attribute {shorten(at, 20)!r} of {len(kinds)}. Fix the line."
            )
        cells[int(at)] = value.strip().strip("'\"")
    return cells


# ---------------------------------------------------------------- .ts
def read_ts(raw: bytes) -> AttributeTable:
    """Read curves of one length from a .ts file of a time-series archive, in UTF-8.

    There is a column for each sample (t1, t2, ...; with several dimensions a t1, ..., b t1, ...), and the
    column class if the file has classes.
    """
    import polars as pl

    lines = io.StringIO(decode(raw))
    has_classes, number = False, 0
    for number, line in enumerate(lines, 1):
        word, *rest = line.strip().lower().split() or [""]
        if word == "@data":
            break
        if word in ("@timestamps", "@targetlabel", "@classlabel") and rest[:1] == ["true"]:
            has_classes = has_classes or word != "@timestamps"
            if word == "@timestamps":
                raise DataError(
                    "The curves have times of their own. Make a table of curve, time and value, and use"
                    " --series-by."
                )
        elif word and not word.startswith(("@", "#", "%")):
            raise DataError(
                f"Line {number} is no line of a .ts file: {shorten(line.strip(), 60)!r}. Pass a file of a"
                " time-series archive, which begins with @problemName."
            )
    else:
        raise DataError("The file has no line @data, which comes before the curves. Pass a file with curves.")
    rows: list[list[float | None]] = []
    classes: list[str] = []
    lengths: list[int] = []
    for at, line in enumerate(lines, number + 1):
        if not line.strip():
            continue
        *parts, label = line.strip().split(":") if has_classes else [*line.strip().split(":"), ""]
        dimensions = [_read_curve(at, part) for part in parts]
        found = [len(curve) for curve in dimensions]
        lengths = lengths or found
        if found != lengths or not found:
            raise DataError(
                f"The curve in line {at} has {_join_lengths(found)} samples, and the first has"
                f" {_join_lengths(lengths)}. Cut the curves to one length."
            )
        rows.append([value for curve in dimensions for value in curve])
        classes.append(label.strip())
        check_cells(len(rows), len(rows[0]))
    if not rows:
        raise DataError("The file has no curve behind @data. Pass a file with curves.")
    stems = [""] if len(lengths) == 1 else [f"d{at} " for at in range(1, len(lengths) + 1)]
    names = [
        f"{stem}t{at}" for stem, length in zip(stems, lengths, strict=True) for at in range(1, length + 1)
    ]
    check_columns(len(names))
    columns = [
        pl.Series(name, cells, pl.Float64) for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    ]
    if has_classes:
        columns.insert(0, to_series("class", classes))
    notes = []
    if len(lengths) > 1:
        notes.append(f"Each curve has {len(lengths)} dimensions, whose samples follow one another.")
    return AttributeTable(pl.DataFrame(columns), notes)


def _join_lengths(lengths: list[int]) -> str:
    """Lengths of the dimensions of a curve, in words."""
    return " and ".join(map(str, lengths[:5])) or "no"


def _read_curve(number: int, part: str) -> list[float | None]:
    try:
        return [None if cell.strip() in ("?", "NaN") else float(cell) for cell in part.split(",")]
    except ValueError:
        raise DataError(
            f"Line {number} holds {shorten(part, 60)!r}, which is no curve. Write numbers with commas."
        ) from None

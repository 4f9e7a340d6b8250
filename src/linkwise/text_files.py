"""Read text files that people write, and read and write records of CSV."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import TextIO

from linkwise.errors import DataError
from linkwise.limits import MOST_CHARACTERS, too_large_for_memory
from linkwise.wording import shorten

ENCODINGS = {  # those with one byte for each character that are still found: names by the codecs of Python
    "cp1252": "windows-1252",
    "cp1250": "windows-1250",
    "cp1251": "windows-1251",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254",
    "cp1257": "windows-1257",
    "iso8859-2": "iso-8859-2",
    "iso8859-15": "iso-8859-15",
    "koi8-r": "koi8-r",
    "mac-roman": "macintosh",
    "cp850": "cp850",
}
_NO_TEXTS = ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem", "utf-7")
_ENCODING_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,39}")
FORMULA = re.compile(r"'*[=+\-@\t\r\n]")  # the start of a cell that a spreadsheet takes for a formula
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_SEPARATOR_LINE = re.compile(r'"?sep=([^"\r\n])"?(?=[\r\n]|\Z)', re.IGNORECASE)
_CSV_LIMIT = RLock()  # all threads share the limit of the csv module


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a regular file; reading a pipe or a device might never end."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        kind = "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
        raise DataError(
            f"This is a {kind}, but linkwise reads only regular files. Write its output to a file, and use"
            " that file."
        )
    try:
        return Path(path).read_bytes()
    except MemoryError:
        raise too_large_for_memory() from None


def decode(raw: bytes) -> str:
    """Decode UTF-8 with or without a byte order mark; an error names the first wrong byte."""
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        written = "UTF-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "WINDOWS-1252"
        raise DataError(
            f"The file is not UTF-8: byte {error.start} (counted from 0) is 0x{raw[error.start]:02x}."
            " Save it as UTF-8 (a spreadsheet calls that CSV UTF-8), or, if it is"
            f" {written}: iconv -f {written} -t UTF-8 OLD > NEW"
        ) from error


def normalize_encoding(name: str) -> str:
    """Return the usual name of an encoding of texts."""
    try:
        found = codecs.lookup(name) if _ENCODING_NAME.fullmatch(name) else None
        if found is not None and found.name.replace("_", "-") not in _NO_TEXTS:
            "a".encode(found.name)  # raises an error for codecs that do not encode texts
            return ENCODINGS.get(found.name, found.name)
    except (LookupError, ValueError):
        pass
    raise DataError(
        f"The encoding {name[:60]!r} is unknown. Use a name such as utf-8, windows-1252, utf-16 or shift_jis."
    )


@contextmanager
def allow_long_cells() -> Iterator[None]:
    """Let the csv module read cells of `MOST_CHARACTERS`, in one thread at a time."""
    with _CSV_LIMIT:
        before = csv.field_size_limit(MOST_CHARACTERS)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def split_records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with the number of its first line; call it within `allow_long_cells`.

    An empty line is an empty record.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        if "field larger than field limit" in str(error):
            raise DataError(
                f"Line {line} has a cell of more than {csv.field_size_limit()} characters. Close the quote"
                " that is open before it, or shorten the text."
            ) from None
        raise DataError(
            f"Line {line} cannot be read: {error}. A field in quotes must end in a quote, and quotes"
            ' within it are doubled ("").'
        ) from error


def cut_separator_line(text: str) -> tuple[str | None, str]:
    """Return the delimiter that Excel names in a first line ``sep=;``, and the text with that line blank."""
    found = _SEPARATOR_LINE.match(text)
    return (None, text) if found is None else (found[1], text[found.end() :])


def escape_cell(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula."""
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def format_record(cells: Iterable[object], delimiter: str = ",") -> str:
    """Format one record of CSV without its line end; None is an empty cell.

    Up to Python 3.12 the writer of the csv module does not quote a carriage return, and readers end the
    record there.
    """
    texts = ["" if cell is None else str(cell) for cell in cells]
    if texts == [""]:
        return '""'  # an empty line is no record
    return delimiter.join(_quote_cell(text, delimiter) for text in texts)


def _quote_cell(text: str, delimiter: str) -> str:
    is_plain = not any(mark in text for mark in (delimiter, '"', "\r", "\n"))
    return text if is_plain else '"' + text.replace('"', '""') + '"'


def write_records(file: TextIO, records: Iterable[Iterable[object]]) -> None:
    """Write records of CSV in linkwise's own form, such as pairs; texts are escaped by `escape_cell`.

    The file is stdout, or was opened with ``newline=""``.
    """
    for record in records:
        cells = (escape_cell(cell) if isinstance(cell, str) else cell for cell in record)
        file.write(format_record(cells) + "\n")


def detect_delimiter(text: str) -> str:
    """Return the delimiter of a header: a comma, or the semicolon or tab that some spreadsheets write."""
    names = text.split("\n", 1)[0]
    return next((mark for mark in ";\t" if mark in names and "," not in names), ",")


def check_unique(names: Iterable[str], where: str = "") -> None:
    """Raise if two columns have the same name."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        rest = f" and {len(twice) - 8} more" if len(twice) > 8 else ""
        some = ", ".join(map(shorten, twice[:8]))
        raise DataError(f"Column names must differ, but these occur twice: {some}{rest}.{where}")


def is_unicode(text: str) -> bool:
    """Whether text can be written as UTF-8; half characters (lone surrogates) cannot."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def refuse_lone_surrogates(texts: Sequence[str | None], where: str) -> None:
    """Raise if a text holds half a character (a lone surrogate of UTF-16), which UTF-8 cannot write."""
    for row, text in enumerate(texts):
        if text is not None and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise DataError(
                    f"Row {row} (counted from 0) of {where} is {shorten(text)!a}, which holds half a"
                    " character (a lone surrogate) and cannot be written to a file. Replace it:"
                    " text.encode(errors='replace').decode()."
                ) from None

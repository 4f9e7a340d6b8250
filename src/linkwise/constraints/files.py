"""Files that name rows by id or by position: pairs, one a line, and the cluster of every row."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import TextIO

from linkwise.constraints.checks import CONSTRAINT_KINDS, ConstraintKind
from linkwise.errors import ConstraintError, DataError
from linkwise.text_encodings import to_utf8
from linkwise.text_files import (
    FORMULA,
    allow_long_cells,
    check_unique,
    cut_separator_line,
    decode,
    detect_delimiter,
    read_bytes,
    split_records,
    write_records,
)
from linkwise.wording import count_noun, shorten

_WHOLE_NUMBER = re.compile(r"(0|-?[1-9][0-9]{0,16})(\.0+)?")


def read_records(path: str | os.PathLike[str], *, by_words: bool) -> list[tuple[int, list[str]]]:
    """Read the records of a CSV file in linkwise's own form, such as pairs, with their first lines.

    The first record is the header. With `by_words` the file may be in an encoding that its words decide.
    Nobody is told which one, so only for texts that are compared with known ones.
    """
    delimiter, text = cut_separator_line(_decode_text(read_bytes(path), by_words))
    with allow_long_cells():
        records = list(split_records(text, delimiter or detect_delimiter(text)))
    if delimiter is not None:
        del records[0]  # the rest of the line that names the delimiter
    if records:
        check_unique([name.strip() for name in records[0][1]])
    return records


def _decode_text(raw: bytes, by_words: bool) -> str:
    """Decode text as tables do; where no encoding is certain, the error says how to save it as UTF-8."""
    try:
        found = to_utf8(raw)
    except DataError:
        return decode(raw)
    is_unicode = found.encoding is None or found.encoding.startswith("utf")
    return decode(found.raw if is_unicode or by_words else raw)


def find_row(cell: str, position: Mapping[str, int]) -> int | None:
    """Find the row of an id, with or without blanks around it; None if there is no such row."""
    row = _find_exact(cell, position)
    return _find_exact(cell.strip(), position) if row is None else row


def _find_exact(cell: str, position: Mapping[str, int]) -> int | None:
    """Find the row of an id as `escape_cell` writes it, or plain."""
    if cell.startswith("'") and FORMULA.match(cell) and cell[1:] in position:
        return position[cell[1:]]
    return position.get(cell)


def write_pairs(
    target: str | os.PathLike[str] | TextIO, rows: Iterable[Sequence[str]], *, weighted: bool = False
) -> None:
    """Write lines of ``id_a,id_b,kind``, and ``weight`` if the pairs are weighted."""
    header = ["id_a", "id_b", "kind", *(["weight"] if weighted else [])]
    with ExitStack() as stack:
        if isinstance(target, (str, os.PathLike)):
            target = stack.enter_context(open(target, "w", newline="", encoding="utf-8"))
        write_records(target, [header, *rows])


def read_pairs(
    path: str | os.PathLike[str], position: dict[str, int]
) -> Iterator[tuple[int, int, int, ConstraintKind, float]]:
    """Yield line number, row, row, kind and weight of every line of a CSV file of pairs."""
    name = os.fspath(path)
    try:
        records = read_records(path, by_words=True)
    except DataError as error:
        raise ConstraintError(f"{name}: {error}") from error
    if not records:
        raise ConstraintError(f"{name} is empty. Its first line must be id_a,id_b,kind.")
    header = [cell.strip() for cell in records[0][1]]
    missing = [h for h in ("id_a", "id_b", "kind") if h not in header]
    if missing:
        there = shorten(",".join(header), 200)
        raise ConstraintError(
            f"Line 1 of {name} has no column {missing[0]!r}: {there!r}. It must be id_a,id_b,kind."
        )
    for number, line in records[1:]:
        if not line:
            continue
        if len(line) != len(header):
            raise ConstraintError(
                f"Line {number} of {name} has {len(line)} values, but there are {len(header)} columns."
                " Write one value for each column."
            )
        cells = dict(zip(header, line, strict=True))
        yield number, *_parse_pair(name, number, cells, position)


def _parse_pair(
    name: str, number: int, cells: dict[str, str], position: dict[str, int]
) -> tuple[int, int, ConstraintKind, float]:
    rows = []
    for column in ("id_a", "id_b"):
        row = find_row(cells[column], position)
        if row is None:
            some = ", ".join(repr(shorten(known)) for known in islice(position, 2))
            raise ConstraintError(
                f"Line {number} of {name} names a row that does not exist: {column} is"
                f" {shorten(cells[column])!r}, and the rows are called {some}, …. Fix the id, or set the"
                " column that holds such ids (--id, in Python ids=)."
            )
        rows.append(row)
    kind = next((k for k in CONSTRAINT_KINDS if k == cells["kind"].strip()), None)
    if kind is None:
        raise ConstraintError(
            f"Line {number} of {name} has an unknown kind: {shorten(cells['kind'])!r}."
            f" Write {' or '.join(CONSTRAINT_KINDS)}."
        )
    written = cells.get("weight", "").strip() or "1"
    try:
        weight = float(written)
    except ValueError:
        raise ConstraintError(
            f"Line {number} of {name} has a weight that is not a number: {shorten(written)!r}."
            " Write a finite number above 0."
        ) from None
    if not 0 < weight < float("inf"):
        raise ConstraintError(
            f"Line {number} of {name} has a weight out of range: {shorten(written)!r}."
            " Write a finite number above 0."
        )
    return rows[0], rows[1], kind, weight


def read_labels(path: str | os.PathLike[str], ids: Sequence[str]) -> list[str] | list[int]:
    """Read the cluster of every row from a file with the columns ``id,cluster``, in any order of rows.

    They are numbers if all clusters are whole numbers, such as 3 or 3.0. Only then -1 means noise: beside
    names it is the name of a cluster.
    """
    name = os.fspath(path)
    if os.path.isdir(path):
        raise DataError(f"{name} is a folder. Use a file of clusters with the columns id,cluster.")
    try:
        records = read_records(path, by_words=False)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    if not records or records[0][1][:2] != ["id", "cluster"]:
        found = shorten(",".join(records[0][1]), 200) if records else "nothing"
        raise DataError(f"The first line of {name} is {found!r}. It must name the columns id,cluster.")
    position = {row_id: row for row, row_id in enumerate(ids)}
    clusters: list[str | None] = [None] * len(ids)
    for line, cells in records[1:]:
        if cells:
            row, cluster = _cluster_of(f"Line {line} of {name}", cells, position)
            if clusters[row] not in (None, cluster):
                raise DataError(
                    f"Line {line} of {name} gives a second cluster to row {shorten(cells[0])!r}, which is in"
                    f" cluster {shorten(str(clusters[row]))}. Keep one of the lines."
                )
            clusters[row] = cluster
    missing = [ids[row] for row, cluster in enumerate(clusters) if cluster is None]
    if missing:
        more = f" and {count_noun(len(missing) - 1, 'more row')}" if len(missing) > 1 else ""
        raise DataError(f"{name} has no cluster for row {missing[0]!r}{more}. Set one for every row.")
    words = [cluster for cluster in clusters if cluster is not None]
    whole = [_WHOLE_NUMBER.fullmatch(word) for word in words]
    numbers = [int(match[1]) for match in whole if match]
    return numbers if len(numbers) == len(words) else words


def _cluster_of(line: str, cells: Sequence[str], position: Mapping[str, int]) -> tuple[int, str]:
    """Read the row and the cluster of one line."""
    if len(cells) < 2 or not cells[1].strip():
        raise DataError(f"{line} has no cluster: {shorten(','.join(cells))!r}. Use the form id,cluster.")
    row = find_row(cells[0], position)
    if row is None:
        raise DataError(
            f"{line} names an unknown row: {shorten(cells[0])!r}. The ids of the rows are"
            f" {next(iter(position))!r}, …. Set the column of the ids in this file: --id COLUMN."
        )
    return row, cells[1]

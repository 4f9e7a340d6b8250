"""Tables in Arrow's file format, as part of a file of state; compressed ones are not unpacked.

linkwise writes no compressed tables, and a few bytes of one can unpack to gigabytes. Whether a table is
compressed stands in the metadata of its batches, which are FlatBuffers
(https://arrow.apache.org/docs/format/Columnar.html).
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Any

MAGIC = b"ARROW1"
DICTIONARIES, BATCHES = 2, 3  # fields of a footer
HEADER_TYPE, HEADER = 1, 2  # fields of a message
OF_DICTIONARY, DATA = 2, 1  # type of the header of a dictionary, and its field that holds a batch
COMPRESSION = 3  # field of a batch
BLOCK_BYTES = 24


def pack_table(frame: Any) -> bytes:
    """Write a polars.DataFrame as bytes."""
    table = io.BytesIO()
    frame.write_ipc(table, compression="uncompressed")
    return table.getvalue()


def unpack_table(raw: bytes) -> Any:
    """Read a polars.DataFrame that `pack_table` wrote; ValueError if the bytes are damaged, or compressed."""
    import polars as pl

    try:
        if any(_field(raw, batch, COMPRESSION) for batch in _find_batches(raw)):
            raise ValueError("Its table is compressed")
        return pl.read_ipc(io.BytesIO(raw))
    except (Exception, pl.exceptions.PanicException) as error:  # of damaged bytes anything
        raise ValueError(str(error)) from error


def _find_batches(raw: bytes) -> Iterator[int]:
    """The positions of all batches."""
    if len(raw) < 2 * len(MAGIC) + 4 or not raw.endswith(MAGIC):
        raise ValueError("Its table is cut off")
    end = len(raw) - len(MAGIC) - 4
    footer = _follow(raw, end - _number(raw, "I", end))
    for field in (DICTIONARIES, BATCHES):
        if not (at := _field(raw, footer, field)):
            continue
        blocks = _follow(raw, at)
        for number in range(_number(raw, "I", blocks)):
            start = _number(raw, "q", blocks + 4 + number * BLOCK_BYTES)
            message = _follow(raw, start + (8 if _number(raw, "I", start) == 0xFFFFFFFF else 4))
            header = _follow(raw, _field(raw, message, HEADER))
            is_dictionary = raw[_field(raw, message, HEADER_TYPE)] == OF_DICTIONARY
            yield _follow(raw, _field(raw, header, DATA)) if is_dictionary else header


def _number(raw: bytes, kind: str, at: int) -> int:
    if at < 0:
        raise ValueError("Its table is damaged")
    return int(struct.unpack_from(f"<{kind}", raw, at)[0])


def _follow(raw: bytes, at: int) -> int:
    """The position to which an offset leads."""
    return at + _number(raw, "I", at)


def _field(raw: bytes, table: int, field: int) -> int:
    """The position of a field of a table of FlatBuffers; 0 if the table has none."""
    fields = table - _number(raw, "i", table)
    place = 4 + 2 * field
    offset = _number(raw, "H", fields + place) if place < _number(raw, "H", fields) else 0
    return table + offset if offset else 0

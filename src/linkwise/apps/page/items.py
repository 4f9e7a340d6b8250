"""What a row looks like to the person who judges it, as JSON."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from linkwise.data import Encoded, Table

Kind = Literal["record", "text", "image", "series"]
Place = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Items:
    """The rows as a person sees them.

    Attributes
    ----------
    kind : {"record", "text", "image", "series"}
    name : callable
        ``name(row)``: what a row is called.
    fields : callable
        ``fields(row)``: its values by column, as text.
    places : callable
        ``places(row)``: where its numbers stand between the lowest and the highest of their columns.
    content : callable
        ``content(row)``: its text, its picture (PNG, bytes) or its curve; unused for records.
    """

    kind: Kind
    name: Callable[[int], str]
    fields: Callable[[int], Mapping[str, str]]
    places: Callable[[int], Place] = lambda row: {}
    content: Callable[[int], str | bytes | Sequence[float | None]] = lambda row: ""

    def shown(self, row: int) -> dict[str, Any]:
        """All that is shown of a row."""
        where = self.places(row)
        fields = [{"name": n, "value": v, "place": where.get(n)} for n, v in self.fields(row).items()]
        return {"row": row, "name": self.name(row), "fields": fields} | self._content(row)

    def _content(self, row: int) -> dict[str, Any]:
        if self.kind == "record":
            return {}
        content = self.content(row)
        if isinstance(content, bytes):
            return {"image": f"data:image/png;base64,{base64.b64encode(content).decode()}"}
        return {self.kind: content if isinstance(content, str) else list(content)}


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Names of the fields that two shown rows do not share."""
    theirs = {field["name"]: field["value"] for field in other["fields"]}
    return [field["name"] for field in one["fields"] if theirs.get(field["name"]) != field["value"]]


def of_table(table: Table, encoded: Encoded) -> Items:
    """The rows of a table: records."""
    ids = table.ids
    return Items(
        "record",
        "row {}".format if ids is None else ids.__getitem__,
        table.item,
        _places(encoded),
    )


def of_columns(X: NDArray[Any], names: Sequence[str], ids: Sequence[str] | None = None) -> Items:
    """Rows of numbers with named columns: records."""

    def fields(row: int) -> dict[str, str]:
        return {name: f"{value:g}" for name, value in zip(names, X[row].tolist(), strict=True)}

    low, spread = X.min(axis=0), np.ptp(X, axis=0)
    spread = np.where(spread > 0, spread, 1.0)

    def places(row: int) -> dict[str, float]:
        return dict(zip(names, ((X[row] - low) / spread).tolist(), strict=True))

    return Items("record", "row {}".format if ids is None else ids.__getitem__, fields, places)


def of_pictures(images: NDArray[Any], name: Callable[[int], str] = "row {}".format) -> Items:
    """Rows that are pictures of shape (height, width): bright where the value is high."""
    white = float(images.max()) or 1.0
    return Items(
        "image",
        name,
        lambda row: {},
        content=lambda row: png(np.clip(images[row] * (255 / white), 0, 255).astype(np.uint8)),
    )


def png(picture: NDArray[np.uint8]) -> bytes:
    """A grey picture as a PNG file."""
    import struct
    import zlib

    height, width = picture.shape
    lines = b"".join(b"\0" + line.tobytes() for line in picture)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    out = io.BytesIO()
    out.write(b"\x89PNG\r\n\x1a\n")
    out.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)))
    out.write(chunk(b"IDAT", zlib.compress(lines, 6)) + chunk(b"IEND", b""))
    return out.getvalue()


def _places(encoded: Encoded) -> Callable[[int], Place]:
    """Where the numbers of a row stand between the lowest and the highest of their columns."""
    numeric = [j for j, feature in enumerate(encoded.features) if feature.role != "category"]
    names = [encoded.features[j].source for j in numeric]
    low = encoded.X.min(axis=0)[numeric]
    spread = np.ptp(encoded.X, axis=0)[numeric]
    spread[spread == 0] = 1.0
    return lambda row: dict(zip(names, ((encoded.X[row, numeric] - low) / spread).tolist(), strict=True))

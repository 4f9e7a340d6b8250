"""Files without any damage whose contents are as odd as their formats allow."""

from __future__ import annotations

import csv
import datetime
import io
import json
import random
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

Column = tuple[str, list[Any], Any]
"""Name, values and type in Parquet."""

NAMES = [
    "id", "class", "y", "x", "label", "said", "curve", "size", "colour", "", " ", "a,b",
    'a"b', "a\nb", "\x00",
    "=1+1", "é", "🦊", "\u202e", "[x]", "x0", "row", "column 1", "cluster", "kind",
    "\x1b[2J", "x" * 5000, "1", "nan",
]  # fmt: skip
TEXTS = [
    "", " ", "a", "b", "A", "é", "e\u0301", "🦊", "\u202e", "\u2028", "\x00", "\x1b[31m",
    "\r", "\n", "\r\n", "\t", ",", ";",
    '"', "'", "=1+1", "'=1", "-", "NA", "nan", "inf", "none", "?", "true", "false", "1",
    "01", "-0", "1e999", "1.5",
    "1,5", "1.234,5 €", "12 kg", "2024-01-31", "2024-02-30", "31.01.2024", "9999-12-31T23:59:59.999999999Z",
    "0000-01-01", "[1, 2]", "[]", "[nan, inf]", "[1e999, 2]", "[[1]]", "x" * 3000,
    "word and word", "9" * 400, "٣", "½",
]  # fmt: skip
FLOATS = [
    0.0, -0.0, 1.0, 0.5, -2.0, 1e-320, 1e-160, 1e150, 1e160, 1e300, -1e308,
    1.7976931348623157e308, float("inf"),
    float("-inf"), float("nan"), 2.0**53, 1 / 3,
]  # fmt: skip
INTEGERS = [0, 1, 2, -1, 7, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)]
DAYS = [-719_528, -1, 0, 1, 19_000, 2_932_896, 2_932_897, 10**8, -(10**8)]
MOMENTS = [0, 1, -1, 1_700_000_000, 10**12, -(10**14), 253_402_300_800 * 10**6, 2**62, -(2**62)]


def odd_table(rng: random.Random) -> tuple[str, bytes]:
    """The name and the bytes of a table in one of the formats."""
    n_rows = rng.choice([0, 1, 2, 3, 5, 20, 20, 20])
    form = rng.choice(["csv", "tsv", "jsonl", "parquet", "parquet", "npy", "npz"])
    if form in ("npy", "npz"):
        return f"odd.{form}", _arrays(form, n_rows, rng)
    columns = [_column(form, n_rows, rng) for _ in range(rng.choice([1, 2, 3, 4, 6]))]
    if rng.random() < 0.5:
        columns.append(("size", [float(row * row % 7) for row in range(n_rows)], pl.Float64))
    if rng.random() < 0.3:
        columns.append(("id", [f"{rng.choice(TEXTS)}{row}" for row in range(n_rows)], pl.String))
    if form == "parquet":
        return "odd.parquet", _parquet(columns, rng)
    if form == "jsonl":
        return "odd.jsonl", _json(columns, n_rows, rng)
    return f"odd.{form}", _delimited(
        columns, n_rows, rng.choice([",", ";", "|"]) if form == "csv" else "\t", rng
    )


def _column(form: str, n_rows: int, rng: random.Random) -> Column:
    name = rng.choice(NAMES)
    kinds = ["texts", "texts", "floats", "integers", "flags", "lists"]
    kinds += ["dates", "moments", "spans", "odd", "odd", "odd"] if form == "parquet" else []
    pool, kind = _pool(rng.choice(kinds), rng)
    some = rng.sample(pool, min(len(pool), rng.choice([1, 2, 2, 3, 8, 100])))
    gaps = [None] * rng.choice([0, 0, 1, 5])
    return name, [rng.choice([*some, *gaps]) for _ in range(n_rows)], kind


def _pool(kind: str, rng: random.Random) -> tuple[list[Any], Any]:
    """Values to draw from, and their type."""
    if kind == "texts":
        return TEXTS, rng.choice([pl.String, pl.String, pl.Categorical])
    if kind == "floats":
        return FLOATS, pl.Float64
    if kind == "integers":
        return INTEGERS, pl.Int64
    if kind == "flags":
        return [True, False], pl.Boolean
    if kind == "lists":
        lists = [[1.0, 2.0, 0.5], [0.0, 0.0, 1.0], [None, 1.0, 2.0], [float("nan"), 1e300, 3.0]]
        return lists + rng.choice([[], [], [[]], [[1.0]], [[None, None, None]]]), pl.List(pl.Float64)
    if kind == "dates":
        return DAYS, pl.Date
    if kind == "moments":
        return MOMENTS, pl.Datetime(rng.choice(["ms", "us", "ns"]), rng.choice([None, "UTC", "Asia/Tokyo"]))
    if kind == "spans":
        return MOMENTS, pl.Duration(rng.choice(["ms", "us", "ns"]))
    return rng.choice(
        [
            ([b"", b"\xff", b"abc"], pl.Binary),
            ([Decimal("1.50"), Decimal("-2"), Decimal("0")], pl.Decimal(20, 2)),
            ([2**64 - 1, 0, 5], pl.UInt64),
            ([-128, 0, 127], pl.Int8),
            ([1e30, float("nan"), 0.0], pl.Float32),
            ([None], pl.Null),
            ([{"a": 1, "b": "x"}, {"a": None, "b": None}], pl.Struct({"a": pl.Int64, "b": pl.String})),
            ([["a"], [], ["b", None]], pl.List(pl.String)),
            ([[1.0, 2.0], [0.0, None]], pl.Array(pl.Float64, 2)),
            ([datetime.time(0), datetime.time(23, 59)], pl.Time),
            (["a", "b"], pl.Enum(["a", "b"])),
        ]
    )


# ---------------------------------------------------------------- formats
def _parquet(columns: list[Column], rng: random.Random) -> bytes:
    named = {name: (values, kind) for name, values, kind in columns}
    series = []
    for name, (values, kind) in named.items():
        if isinstance(kind, pl.Datetime | pl.Duration) or kind == pl.Date:
            series.append(pl.Series(name, values, dtype=pl.Int32 if kind == pl.Date else pl.Int64).cast(kind))
        else:
            series.append(pl.Series(name, values, dtype=kind))
    content = io.BytesIO()
    pl.DataFrame(series).write_parquet(content, row_group_size=rng.choice([1, 7, None]))
    return content.getvalue()


def _json(columns: list[Column], n_rows: int, rng: random.Random) -> bytes:
    lines = []
    for row in range(n_rows):
        cells = {name: values[row] for name, values, _ in columns if rng.random() < 0.95}
        if rng.random() < 0.05:
            cells[rng.choice(NAMES)] = rng.choice(
                [10**400, -(2**63) - 1, {"a": [{}]}, [[]], None, True, "", 1e400]
            )
        lines.append(json.dumps(cells, ensure_ascii=rng.random() < 0.5))
    return ("\n".join(lines) + "\n").encode()


def _delimited(columns: list[Column], n_rows: int, mark: str, rng: random.Random) -> bytes:
    content = io.StringIO(newline="")
    quoting = rng.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    writer = csv.writer(
        content, delimiter=mark, quoting=quoting, lineterminator=rng.choice(["\n", "\r\n", "\r"])
    )
    writer.writerow([name for name, _, _ in columns])
    for row in range(n_rows):
        writer.writerow(["" if values[row] is None else values[row] for _, values, _ in columns])
    return content.getvalue().encode()


def _arrays(form: str, n_rows: int, rng: random.Random) -> bytes:
    drawn = [[rng.choice(FLOATS[: rng.choice([5, 9, 17])]) for _ in range(rng.choice([1, 3]))]] * n_rows
    X = np.array([[rng.choice(row) for _ in row] for row in drawn]).reshape(
        n_rows, len(drawn[0]) if drawn else 2
    )
    kind = rng.choice(
        ["<f8", "<f8", "<f8", ">f8", "<f4", "<f2", "|b1", "|i1", "<u8", ">i4", "<c16", "<U3", "g"]
    )
    with np.errstate(all="ignore"):
        X = np.nan_to_num(X).astype(kind) if kind[1:2] in "iu" else X.astype(kind)
    X = rng.choice([X, X, X, np.asfortranarray(X), X[:, :0], X.ravel(), X[None]])
    content = io.BytesIO()
    if form == "npy":
        np.save(content, X)
        return content.getvalue()
    ids: Any = rng.choice(
        [[f"{rng.choice(TEXTS)}{row}" for row in range(n_rows)], range(n_rows), [0.5] * n_rows]
    )
    ids = np.array(ids) if rng.random() < 0.8 else np.array([str(one).encode() for one in ids])
    np.savez(content, **{rng.choice(["X", "rows"]): X, rng.choice(["id", "ids", "who"]): ids})
    return content.getvalue()


def odd_pairs(rng: random.Random) -> bytes:
    """Pairs of rows r0 .. r23, some of them impossible."""
    names = [f"r{row}" for row in range(24)]
    kinds = ["must-link", "cannot-link", "must-link", " cannot-link "]
    lines = [["id_a", "id_b", "kind", "weight"][: rng.choice([3, 4])]]
    for _ in range(rng.choice([0, 1, 5, 40])):
        a, b = rng.choice(names), rng.choice(names)
        weight = rng.choice(["1", "", "0.5", "1e300", "1e-300", "5e-324", "1e308"])
        lines.append([a, b, rng.choice(kinds), weight][: len(lines[0])])
    if rng.random() < 0.3:
        rng.choice(lines)[rng.randrange(3)] = rng.choice(TEXTS)
    return _cells(lines, rng)


def odd_labels(rng: random.Random) -> bytes:
    """A cluster for each of the rows r0 .. r23, under odd names."""
    some = rng.sample([*TEXTS, *map(str, INTEGERS), "1e5", "-1", "007", "٣"], rng.choice([1, 2, 3, 8]))
    lines = [["id", "cluster"], *([f"r{row}", rng.choice(some)] for row in range(24))]
    return _cells(lines, rng)


def _cells(lines: list[list[str]], rng: random.Random) -> bytes:
    content = io.StringIO(newline="")
    csv.writer(content, delimiter=rng.choice(",;\t"), quoting=rng.choice([0, 1])).writerows(lines)
    return content.getvalue().encode()

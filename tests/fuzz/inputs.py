"""Input files as they arrive: well-formed ones, and what disks, editors and strangers make of them.

A case is a function of its number; only in Parquet files and pictures do versions of libraries differ.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import sqlite3
import warnings
import zipfile
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
import scipy.io

from fuzz.odd_tables import odd_labels, odd_pairs, odd_table

ROWS = 24
KINDS = ("table", "pairs", "labels", "folder")
TABLE = "table.csv"  # the good table that pairs and labels are about


@dataclass(frozen=True)
class Case:
    """What one reader is given: a file, or a folder of files.

    Attributes
    ----------
    kind : str
        Which reader: one of `KINDS`.
    name : str
        Of the file or the folder.
    files : dict of str to bytes
        Paths within a folder; of a single file its name alone.
    delimiter : str or None
        What the command line says of it.
    """

    kind: str
    name: str
    files: dict[str, bytes]
    delimiter: str | None = None


# ---------------------------------------------------------------- well-formed files
@cache
def records() -> pl.DataFrame:
    """Two groups in columns of all kinds."""
    rng = np.random.default_rng(5)
    group = np.arange(ROWS) % 2
    return pl.DataFrame(
        {
            "id": [f"r{row}" for row in range(ROWS)],
            "size": (10.0 * group + rng.normal(size=ROWS)).round(2),
            "count": rng.integers(0, 9, ROWS),
            "colour": [("red", "blue", "grün")[row % 3] for row in range(ROWS)],
            "old": [bool(flag) for flag in group],
            "when": [f"2024-0{1 + row % 3}-1{row % 7}" for row in range(ROWS)],
            "price": [f"{1 + row}.200,50 €" for row in range(ROWS)],
            "curve": [f"[{row}, 1.5, {row % 5}]" for row in range(ROWS)],
            "said": [f"word{row % 4} and word{row % 3}, so" for row in range(ROWS)],
            "class": ["ab"[flag] for flag in group],
        }
    )


def _csv(delimiter: str = ",", **how: object) -> bytes:
    return records().write_csv(separator=delimiter, **how).encode()  # type: ignore[arg-type]


def _json() -> bytes:
    rows = records().to_dicts()
    for at, row in enumerate(rows):
        row["curve"] = json.loads(row["curve"])
        row["more"] = {"deep": [at, None, {"x": "é"}]}
    return "".join(json.dumps(row, ensure_ascii=at % 2 == 0) + "\n" for at, row in enumerate(rows)).encode()


def _parquet(**how: object) -> bytes:
    frame = records().with_columns(
        pl.col("when").str.to_date(),
        pl.col("colour").cast(pl.Categorical),
        pl.col("curve").str.json_decode(pl.List(pl.Float64)),
        moment=pl.col("when").str.to_datetime("%Y-%m-%d", time_unit="ns"),
        span=pl.duration(hours=pl.col("count")),
        part=pl.struct("size", "count"),
    )
    content = io.BytesIO()
    frame.write_parquet(content, **how)  # type: ignore[arg-type]
    return content.getvalue()


def _npy(array: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def _npz(*, compressed: bool) -> bytes:
    content = io.BytesIO()
    save = np.savez_compressed if compressed else np.savez
    save(content, X=_numbers(), ids=np.array(records()["id"].to_list()), y=np.arange(ROWS))
    return content.getvalue()


def _numbers() -> np.ndarray:
    return records().select("size", "count").to_numpy()


def _pairs(delimiter: str = ",") -> bytes:
    lines = ["id_a,id_b,kind,weight"]
    lines += [f"r{row},r{row + 2},must-link,{1 + row}" for row in range(0, 20, 3)]
    lines += [f'"r{row}",r{row + 1},cannot-link,0.5' for row in range(0, 20, 4)]
    return ("\n".join(lines) + "\n").replace(",", delimiter).encode()


def _labels(delimiter: str = ",") -> bytes:
    lines = ["id,cluster,name", *(f'r{row},{row % 3},"group {row % 3}"' for row in range(ROWS))]
    return ("\n".join(lines) + "\n").replace(",", delimiter).encode()


def _pictures() -> dict[str, bytes]:
    from PIL import Image

    found = {}
    for at, form in enumerate(["PNG", "JPEG", "BMP", "GIF", "TIFF", "PPM", "WEBP"]):
        pixels = np.random.default_rng(at).integers(0, 256, (9, 7, 3), dtype=np.uint8)
        content = io.BytesIO()
        Image.fromarray(pixels).save(content, form)
        found[f"{at}.{form.lower()}"] = content.getvalue()
    return found


def _texts() -> dict[str, bytes]:
    return {f"sub/{row}.txt": text.encode() for row, text in enumerate(records()["said"].head(6))}


@cache
def seeds() -> tuple[Case, ...]:
    """Files that are read without complaint."""
    tables = {
        TABLE: _csv(),
        "quoted.csv": _csv(quote_style="always"),
        "semicolons.csv": _csv(";"),
        "windows.csv": b"\xef\xbb\xbf" + _csv(line_terminator="\r\n"),
        "tabs.tsv": _csv("\t"),
        "bars.txt": _csv("|"),
        "rows.jsonl": _json(),
        "rows.parquet": _parquet(),
        "plain.parquet": _parquet(compression="uncompressed", use_pyarrow=True),
        "rows.npy": _npy(_numbers()),
        "bytes.npy": _npy(np.asfortranarray(_numbers()).astype(np.int8)),
        "rows.npz": _npz(compressed=False),
        "packed.npz": _npz(compressed=True),
        **_other_kinds(),
    }
    found = [Case("table", name, {name: content}) for name, content in tables.items()]
    for mark in ",;\t":
        found.append(Case("pairs", "pairs.csv", {"pairs.csv": _pairs(mark)}))
        found.append(Case("labels", "labels.csv", {"labels.csv": _labels(mark)}))
    return (*found, Case("folder", "pictures", _pictures()), Case("folder", "texts", _texts()))


def _other_kinds() -> dict[str, bytes]:
    """The numbers, and their table, in other kinds of files."""
    numbers, arrow, matrix, zipped = records().select("size", "count"), *(io.BytesIO() for _ in range(3))
    records().write_ipc(arrow)
    scipy.io.mmwrite(matrix, numbers.to_numpy())
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("rows.csv", _csv())
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE rows(size, count)")
        database.executemany("INSERT INTO rows VALUES (?, ?)", numbers.rows())
        database.commit()
        stored = database.serialize()
    lines = "".join(f"{size},{count}\n" for size, count in numbers.rows())
    return {
        "rows.arrow": arrow.getvalue(),
        "rows.mtx": matrix.getvalue(),
        "rows.zip": zipped.getvalue(),
        "rows.csv.gz": gzip.compress(_csv(), mtime=0),
        "rows.db": stored,
        "rows.arff": f"@relation r\n@attribute size numeric\n@attribute count real\n@data\n{lines}".encode(),
        "rows.ts": f"@problemName r\n@classLabel false\n@data\n{lines}".encode(),
        "spaces.dat": ("size count\n" + lines.replace(",", "   ")).encode(),
        "columns.json": json.dumps(records().to_dict(as_series=False)).encode(),
    }


def large(name: str, n_columns: int = 9_000, n_marks: int = 100_000) -> Case:
    """A file that takes minutes where a cost is quadratic in its columns, or in the marks of a cell."""
    if name in LONG:
        cells = ["-" + "9" * n_marks]
        cells += [unit * n_marks for unit in ("9", "1,", "1.", "1 ", "[1,", "a ", "-", "'=", "1e", "é")]
        names = ["id", *(f"c{column}" for column in range(1, len(cells))), "size"]
        lines = [names, *([*(f'"{cell}x{row}"' for cell in cells), str(row)] for row in range(3))]
        content = "\n".join(map(",".join, lines)).encode()
        return Case("table", name, {name: content})
    values = np.random.default_rng(3).integers(0, 3, (5, n_columns))
    names = [f"g{column}" for column in range(n_columns)]
    if name == "words.csv":
        lines = [names, *(["ACG"[value] for value in row] for row in values.tolist())]
    else:
        lines = [names, *([f"{value}.5" for value in row] for row in values.tolist())]
    content = "\n".join(map(",".join, lines))
    if name == "keys.jsonl":
        rows = [dict(zip(names[at::5], row[at::5], strict=True)) for at, row in enumerate(values.tolist())]
        content = "\n".join(json.dumps({"size": at, **row}) for at, row in enumerate(rows))
    return Case("table", name, {name: content.encode()})


WIDE = ("numbers.csv", "words.csv", "keys.jsonl")
LONG = ("long.csv",)


# ---------------------------------------------------------------- what happens to them
WORDS = [
    b"nan", b"NaN", b"-inf", b"Infinity", b"1e999", b"-1e308", b"1e-320", b"0x1p3", b"1_000", b"007", b"-0",
    b"9" * 25, b"1" + b"0" * 400, b"9" * 5000, b"1.7976931348623157e308", b"1.5.2",
    b"1,5", b"1.234,50", b"NA",
    b"true", b"None", b"?", b"", b" ", b"\t", b"=1+1", b"'", b'"', b'""', b"0000-00-00", b"99999-01-01",
    b"2024-02-30", b"2024-01-01T99:99:99", b"31.02.2024", b"0001-01-01 00:00:00", b"id", b"class", b"kind",
    b"must-link", b"cannot-link", "٣".encode(), "é".encode(), b"\xed\xa0\x80",
    b"\xff\xfe", b"\x00", b"\x1b[2J",
    "\u2028".encode(), "\u202e".encode(), "🦊".encode(), b"\xef\xbb\xbf", b"\r", b"\n",
    b"\r\n", b"[", b"]", b"{}",
    b'{"a":', b"null", b"[1, [2]]", b'"\\ud800"', b'"\\u0000"', b"-", b"r0", b"r1",
    b"r23", b"0", b"-1", b"24",
]  # fmt: skip
ENDINGS = [
    ".csv",
    ".tsv",
    ".txt",
    ".json",
    ".jsonl",
    ".parquet",
    ".npy",
    ".npz",
    ".CSV",
    ".xlsx",
    "",
    ".csv.gz",
    ".zip",
    ".arrow",
    ".db",
    ".arff",
    ".ts",
    ".mtx",
    ".dat",
    ".geojson",
]
CODECS = ["utf-16", "utf-8-sig", "latin-1", "cp1252", "utf-32", "utf-7", "cp037"]
HEADERS = [
    b"(2147483647, 2)", b"(-1, 2)", b"(24, 0)", b"(0, 2)", b"(24,)", b"()",
    b"(1000000000000, 3)", b"(24, 2, 1)",
    b"(True, 2)", b"'|O'", b"'<U2000000000'", b"'<c16'", b"'<f2'", b"'>f8'", b"'|b1'",
    b"'<M8[s]'", b"'|V8'",
    b"[('a', '<f8')]", b"None", b"1L", b"(((((", b"'''", b"\\x",
]  # fmt: skip


def case(seed: int) -> Case:
    """The file number `seed`: a well-formed one, changed once or a few times, or one of odd contents."""
    rng = random.Random(seed)
    if rng.random() < 0.45:
        return _odd(rng)
    chosen = rng.choice(seeds())
    files, name = dict(chosen.files), chosen.name
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        target = rng.choice(sorted(files))
        files[target] = _changed(files[target], rng)
    if rng.random() < 0.06:
        return _renamed(chosen, files, rng)
    delimiter = rng.choice([*',;|\t"é\0 \n', ",,", "\udcff"]) if rng.random() < 0.05 else None
    return Case(chosen.kind, name, files, delimiter)


def _odd(rng: random.Random) -> Case:
    kind = rng.choice(["table"] * 6 + ["pairs", "labels"])
    if kind == "table":
        name, content = odd_table(rng)
    else:
        name, content = f"{kind}.csv", (odd_pairs if kind == "pairs" else odd_labels)(rng)
    if rng.random() < 0.1:
        content = _changed(content, rng)
    return Case(kind, name, {name: content})


def _renamed(chosen: Case, files: dict[str, bytes], rng: random.Random) -> Case:
    """The same bytes under a name that promises something else."""
    old = rng.choice(sorted(files))
    new = old.rpartition(".")[0] + rng.choice(ENDINGS)
    files[new] = files.pop(old)
    return Case(chosen.kind, chosen.name if chosen.kind == "folder" else new, files)


def _changed(raw: bytes, rng: random.Random) -> bytes:
    ways = [
        _flip, _flip, _cut, _drop, _repeat, _insert, _insert, _swap, _word, _word, _line,
        _mark, _recoded, _ends,
        _nothing, _grown, _nested, _number, _header,
    ]  # fmt: skip
    if raw[:2] == b"PK":
        ways += [_member] * 12
    elif raw[:1] not in (b"\x93", b"P"):  # text, which stays such most of the time
        ways += [_word] * 12 + [_line, _mark] * 3
    return rng.choice(ways)(raw, rng)


def _at(raw: bytes, rng: random.Random) -> tuple[int, int]:
    """A place, most often near the beginning or the end, where headers are, and one behind it."""
    place = rng.choice([rng.randrange(len(raw) + 1), min(len(raw), rng.randrange(200))])
    if rng.random() < 0.2:
        place = max(0, len(raw) - rng.randrange(200))
    return place, min(len(raw), place + rng.choice([1, 1, 2, 4, 8, 50, 500]))


def _flip(raw: bytes, rng: random.Random) -> bytes:
    changed = bytearray(raw)
    for _ in range(rng.choice([1, 1, 1, 2, 5, 20])):
        start, end = _at(raw, rng)
        if start < end:
            changed[start] = rng.choice(
                [changed[start] ^ (1 << rng.randrange(8)), 0, 255, rng.randrange(256)]
            )
    return bytes(changed)


def _cut(raw: bytes, rng: random.Random) -> bytes:
    return raw[: _at(raw, rng)[0]] if rng.random() < 0.8 else raw[_at(raw, rng)[0] :]


def _drop(raw: bytes, rng: random.Random) -> bytes:
    start, end = _at(raw, rng)
    return raw[:start] + raw[end:]


def _repeat(raw: bytes, rng: random.Random) -> bytes:
    start, end = _at(raw, rng)
    return raw[:end] + raw[start:end] * rng.choice([1, 2, 100]) + raw[end:]


def _insert(raw: bytes, rng: random.Random) -> bytes:
    start, _ = _at(raw, rng)
    some = rng.choice([rng.choice(WORDS), rng.randbytes(rng.choice([1, 4, 40]))])
    return raw[:start] + some + raw[start:]


def _swap(raw: bytes, rng: random.Random) -> bytes:
    start, end = _at(raw, rng)
    other, last = _at(raw, rng)
    return raw[:start] + raw[other:last] + raw[end:]


def _word(raw: bytes, rng: random.Random) -> bytes:
    """Another value in one cell, or in all of one column of lines."""
    mark = rng.choice([b",", b";", b"\t", b"|", b":", b" "])
    lines = raw.split(b"\n")
    chosen = range(1, len(lines)) if rng.random() < 0.3 else [rng.randrange(len(lines))]
    at, word = rng.randrange(10), rng.choice(WORDS)
    for line in chosen:
        cells = lines[line].split(mark)
        cells[at % len(cells)] = word
        lines[line] = mark.join(cells)
    return b"\n".join(lines)


def _line(raw: bytes, rng: random.Random) -> bytes:
    """Lines lost, doubled or moved."""
    lines = raw.split(b"\n")
    at = rng.choice([0, rng.randrange(len(lines))])
    other = rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines[at:at] = [lines[at]] * rng.choice([1, 2, 50])
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines[at] = rng.choice([b"", b" ", lines[at] + lines[other], lines[at][::-1]])
    return b"\n".join(lines)


def _mark(raw: bytes, rng: random.Random) -> bytes:
    """One mark for another, everywhere or once."""
    marks = [b",", b";", b"\t", b"|", b'"', b"'", b"\n", b":", b"{", b"}", b"[", b" "]
    old, new = rng.choice(marks), rng.choice([*marks, b"", b'""', b"\0"])
    return raw.replace(old, new, rng.choice([1, 5, -1]))


def _recoded(raw: bytes, rng: random.Random) -> bytes:
    text = raw.decode("utf-8", "replace")
    return text.encode(rng.choice(CODECS), "replace")


def _ends(raw: bytes, rng: random.Random) -> bytes:
    """Ends of lines of several systems, mixed."""
    lines = raw.split(b"\n")
    return b"".join(line + rng.choice([b"\n", b"\r\n", b"\r", b"\n\n"]) for line in lines)


def _nothing(raw: bytes, rng: random.Random) -> bytes:
    return rng.choice([b"", b"\n", b" ", b"\0" * 100, b"\xef\xbb\xbf", b'"', raw[:1], b"a", b"a\n1\n1\n"])


def _grown(raw: bytes, rng: random.Random) -> bytes:
    """Very long cells, lines or files."""
    start, _ = _at(raw, rng)
    some = rng.choice([b"x", b'"', b",", b"\n", b"9", b"[", b"(", b'{"a":', b'""', b"\0", b"a b "])
    return raw[:start] + some * rng.choice([3000, 150_000]) + raw[start:]


def _nested(raw: bytes, rng: random.Random) -> bytes:
    depth = rng.choice([3, 900, 100_000])
    deep = rng.choice([b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth])
    lines = raw.split(b"\n")
    at = rng.randrange(len(lines))
    lines[at] = rng.choice([deep, b'{"id": "r0", "size": ' + deep + b"}", lines[at] + deep])
    return b"\n".join(lines)


def _number(raw: bytes, rng: random.Random) -> bytes:
    """A binary number as large, as negative or as odd as it can be."""
    start, _ = _at(raw, rng)
    width = rng.choice([1, 2, 4, 8])
    most = 1 << (8 * width)
    number = rng.choice([0, 1, most - 1, most // 2, most // 2 - 1, rng.randrange(most)])
    return raw[:start] + number.to_bytes(width, rng.choice(["little", "big"])) + raw[start + width :]


def _header(raw: bytes, rng: random.Random) -> bytes:
    """A header of an array that says something else; of other files another first line."""
    start = raw.find(b"{'descr'")
    end = raw.find(b"\n", start)
    if start < 0 or end < 0:
        first, _, rest = raw.partition(b"\n")
        return (
            rng.choice([first.upper(), first + b"," + first, b",".join(rng.sample(WORDS, 5))]) + b"\n" + rest
        )
    header = raw[start:end]
    word = rng.choice(HEADERS)
    place = header.find(b"(") if word[:1] == b"(" else header.find(b"'<")
    behind = header.find(b")" if word[:1] == b"(" else b",", place) + (word[:1] == b"(")
    changed = header[:place] + word + header[behind:]
    return raw[:start] + changed[: end - start].ljust(end - start) + raw[end:]


def _member(raw: bytes, rng: random.Random) -> bytes:
    """An archive in which one member was changed, packed again."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # it is damaged already
        return _flip(raw, rng)
    name = rng.choice(sorted(members)) if members else "X.npy"
    content = _changed(members.pop(name, _npy(np.eye(3))), rng)
    name = rng.choice([name, name, name, "X.npy", "ids.npy", "X", " ", "../X.npy", "é.npy"])
    packing = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    changed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(changed, "w", packing) as archive:
        warnings.simplefilter("ignore")  # two members of one name are meant
        for other in members:
            archive.writestr(other, members[other])
        if name not in members or rng.random() < 0.9:
            members.pop(name, None)
            archive.writestr(name, content)
    return changed.getvalue()

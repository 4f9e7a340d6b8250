"""The files of the manifest: what is known of each, and a copy without its labels.

A `[[source]]` is a repository at a commit, and a `[[source.file]]` one of its files:

- `label`: what holds the true classes. A column by name, or by position if the file has no header; "class" in
  files of time series; "folder" for pictures in a folder for each class; an array of an archive. The copy
  that linkwise reads lacks it. A file with neither `label` nor `truth` is opened, and its clusters are not
  judged.
- `truth`: a file beside it, in which each line names rows of one thing. `id` is the column that names rows;
  without it they are named by position.
- `chosen` and `method`: how an expert would read the file, as fields of `Reading`.
- `delimiter`: that of the labelled file, "," by default. Files with tabs have no quotes.
- `is_held_out`: no proposal was changed because of this file before its first measurement.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

MANIFEST = Path(__file__).with_name("manifest.toml")
BOM = "\ufeff"
Classes = list[str] | None
"""The class of each row, "" where it is unknown."""


class PublicFile(NamedTuple):
    """A file of the manifest; the fields are explained above."""

    name: str
    repository: str
    commit: str
    path: str
    about: str
    label: str | int | None = None
    truth: dict[str, Any] | None = None
    delimiter: str = ","
    method: str | None = None
    chosen: dict[str, Any] | None = None
    is_held_out: bool = False

    @property
    def is_judged(self) -> bool:
        """Whether the classes of its rows are known."""
        return self.label is not None or self.truth is not None

    def find(self, checkouts: Path, path: str | None = None) -> Path:
        """Where the file lies in a folder of checkouts, or another file of its repository."""
        return checkouts / self.repository.replace("/", "+") / (path or self.path)


def read_manifest() -> dict[str, PublicFile]:
    """Return the files by name, in order."""
    with MANIFEST.open("rb") as file:
        sources = tomllib.load(file)["source"]
    listed = [
        PublicFile(**entry, repository=source["repository"], commit=source["commit"])
        for source in sources
        for entry in source["file"]
    ]
    return {file.name: file for file in listed}


def copy_without_labels(file: PublicFile, checkouts: Path, folder: Path) -> tuple[Path, Classes]:
    """Write the file without its labels into a folder; return where, and the class of each row."""
    original = file.find(checkouts)
    copy = folder / (original.name if original.is_file() else file.name)
    if file.label is None:
        shutil.copyfile(original, copy)
        return copy, None if file.truth is None else _read_truth(file, checkouts)
    return copy, _choose_writer(original)(file, original, copy)


def _choose_writer(original: Path) -> Callable[[PublicFile, Path, Path], list[str]]:
    if original.is_dir():
        return _copy_pictures
    known = {".json": _write_json, ".ts": _write_time_series, ".npz": _write_arrays, ".xlsx": _write_sheet}
    return known.get(original.suffix, _write_delimited)


# ---------------------------------------------------------------- files without their labels
def _write_delimited(file: PublicFile, original: Path, copy: Path) -> list[str]:
    """Leave out one column; encoding, byte order mark and ends of lines stay."""
    data = original.read_bytes()
    try:
        text, encoding = data.decode(), "utf-8"
    except UnicodeDecodeError:
        text, encoding = data.decode("latin-1"), "latin-1"
    mark, text = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
    form: dict[str, Any] = {"delimiter": file.delimiter}
    form |= {"quoting": csv.QUOTE_NONE, "quotechar": None} if file.delimiter == "\t" else {}
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), **form) if row]
    header = [] if isinstance(file.label, int) else rows.pop(0)
    at = file.label if isinstance(file.label, int) else header.index(str(file.label))
    classes = [row[at] for row in rows]
    written = io.StringIO(newline="")
    ends = "\r\n" if "\r\n" in text else "\n"
    writer = csv.writer(written, lineterminator=ends, **form)
    writer.writerows([*row[:at], *row[at + 1 :]] for row in ([header] if header else []) + rows)
    copy.write_bytes((mark + written.getvalue()).encode(encoding))
    return classes


def _write_sheet(file: PublicFile, original: Path, copy: Path) -> list[str]:
    """Leave one column out of the first sheet of a spreadsheet, and all other sheets."""
    import openpyxl

    rows = list(openpyxl.load_workbook(original, read_only=True).worksheets[0].iter_rows(values_only=True))
    at = rows[0].index(file.label)
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append([*row[:at], *row[at + 1 :]])
    book.save(copy)
    return ["" if row[at] is None else str(row[at]) for row in rows[1:]]


def _write_json(file: PublicFile, original: Path, copy: Path) -> list[str]:
    """Leave one name out of each object of a list."""
    rows = json.loads(original.read_text(encoding="utf-8"))
    classes = [row.pop(file.label, None) for row in rows]
    copy.write_text(json.dumps(rows), encoding="utf-8")
    return ["" if one is None else str(one) for one in classes]


def _write_time_series(file: PublicFile, original: Path, copy: Path) -> list[str]:
    """Leave out what follows the last colon of each line of values."""
    head, mark, values = original.read_text(encoding="utf-8").partition("@data\n")
    lines = [line.rpartition(":") for line in values.splitlines() if line.strip()]
    kept = [line for line in head.splitlines() if not line.startswith("@classLabel")]
    written = [*kept, "@classLabel false", mark.strip(), *(line for line, _, _ in lines), ""]
    copy.write_text("\n".join(written), encoding="utf-8")
    return [label for _, _, label in lines]


def _write_arrays(file: PublicFile, original: Path, copy: Path) -> list[str]:
    """Leave out the arrays of an archive that are called y_..."""
    with np.load(original, allow_pickle=False) as arrays:
        np.savez_compressed(copy, **{name: arrays[name] for name in arrays.files if name[:2] != "y_"})
        return [str(one) for one in arrays[str(file.label)]]


def _copy_pictures(file: PublicFile, original: Path, copy: Path) -> list[str]:
    """Copy pictures out of the folders of their classes; of two that share a name the last one stays."""
    pictures = {path.name: path for path in sorted(original.rglob("*")) if path.is_file()}
    copy.mkdir()
    for name, path in pictures.items():
        shutil.copyfile(path, copy / name)
    return [pictures[name].parent.name for name in sorted(pictures) if not name.endswith(".gif")]


# ---------------------------------------------------------------- files of the truth
def _read_truth(file: PublicFile, checkouts: Path) -> list[str]:
    """The class of each row: rows named in one line, or in lines that share a row, are one thing."""
    truth = file.truth or {}
    text = file.find(checkouts, truth["path"]).read_text(encoding="utf-8-sig")
    lines = [line.split(truth["separator"]) for line in text.split("\n") if line.strip()]
    lines = lines[1:] if truth["header"] else lines
    groups = [[name.strip() for name in line if name.strip()] for line in lines]
    names = _read_names(file, checkouts)
    if names is None:
        names = [str(at) for at in range(1 + max(int(name) for group in groups for name in group))]
    places = {name: at for at, name in enumerate(names)}
    pairs = [(places[group[0]], places[name]) for group in groups for name in group[1:]]
    first, second = zip(*pairs, strict=True)
    joined = coo_array((np.ones(len(pairs)), (first, second)), shape=(len(names), len(names)))
    return [str(one) for one in connected_components(joined, directed=False)[1]]


def _read_names(file: PublicFile, checkouts: Path) -> Sequence[str] | None:
    """The names of the rows as the truth has them; None if these are positions.

    The number of rows comes from the file where it is text with a header.
    """
    original, column = file.find(checkouts), (file.truth or {}).get("id")
    if original.suffix != ".csv":
        return None
    with original.open(newline="", encoding="utf-8-sig") as text:
        delimiter = "|" if "|" in text.readline() else ","
        text.seek(0)
        rows = list(csv.DictReader(text, delimiter=delimiter))
    return [str(at) if column is None else row[column] for at, row in enumerate(rows)]

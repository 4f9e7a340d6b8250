"""Columns that hold the paths of pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from linkwise.data.columns.roles import to_words, value_kind
from linkwise.data.read.picture_files import PICTURES
from linkwise.errors import DataError
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw

_FILE = "file://"


def is_picture(word: Any) -> bool:
    """Whether a cell is the name of a picture."""
    return isinstance(word, str) and word.strip().lower().endswith(PICTURES)


def holds_pictures(series: nw.Series[Any]) -> bool:
    """Whether all values are names of pictures."""
    return value_kind(series) == "words" and all(map(is_picture, to_words(series)))


def find_pictures(series: nw.Series[Any], folder: Path) -> list[Path]:
    """Find the files of a column of paths, relative to `folder`, or of URLs that begin with ``file://``."""
    names = [str(word).strip() for word in to_words(series)]
    paths = [
        folder / (unquote(name.removeprefix(_FILE)) if name.startswith(_FILE) else name) for name in names
    ]
    lost = [name for name, path in zip(names, paths, strict=True) if not path.is_file()]
    if lost:
        raise DataError(
            f"Column '{series.name}' holds names of pictures, and {len(lost)} of {len(names)} are not there:"
            f" {join_names(lost, 3)}. Pass paths of files, relative ones from the folder of the table, or"
            " remove the column."
        )
    return paths

"""Files that a command writes: never over an existing file without --force, never over its own input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from typing import TextIO

from linkwise.app.project.exit_codes import UsageError
from linkwise.text_files import refuse_lone_surrogates, write_records

STDOUT = Path("-")


def check_free(targets: Iterable[Path | None], *, force: bool) -> None:
    """Check that no target exists already, and that its folder can be written to."""
    for target in targets:
        if target is None or target == STDOUT:
            continue
        if target.is_dir():
            raise UsageError(f"{target} is a folder. Use a file in it.")
        if not target.parent.is_dir():
            raise UsageError(
                f"There is no folder {target.parent} to write {target.name} into. Create it first."
            )
        if not os.access(target.parent, os.W_OK):
            raise UsageError(f"The folder {target.parent} cannot be written to. Choose another one.")
        if target.is_file() and not force:
            raise UsageError(f"{target} exists already. Choose another name, or overwrite it with --force.")


def check_apart(targets: Iterable[Path | None], kept: Iterable[tuple[Path | None, str]]) -> None:
    """Check that no target is one of the files in `kept`, which come with a description."""
    for target in targets:
        for path, what in kept:
            if target is not None and path is not None and is_same_file(target, path):
                raise UsageError(f"{target} is {what} and is never overwritten. Choose another name.")


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file."""
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


def open_output(target: Path) -> AbstractContextManager[TextIO]:
    """Open the file to write, or stdout for ``-``."""
    return nullcontext(sys.stdout) if target == STDOUT else open(target, "w", newline="", encoding="utf-8")


def write_labels(
    ids: Sequence[str], labels: Sequence[int], file: TextIO, *, names: Mapping[int, str] | None = None
) -> None:
    """``id,cluster``, one line a row, and ``name`` where clusters have names.

    What looks like a formula stands behind an apostrophe.
    """
    refuse_lone_surrogates(ids, "the ids")
    refuse_lone_surrogates(list((names or {}).values()), "the names of clusters")
    rows = zip(ids, labels, strict=True)
    if not names:
        write_records(file, chain([("id", "cluster")], rows))
        return
    named = ((row_id, label, names.get(label, "")) for row_id, label in rows)
    write_records(file, chain([("id", "cluster", "name")], named))

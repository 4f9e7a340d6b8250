"""Find new files whose rows the groups have already, such as a copy of a file under another name.

Files that are equally long are compared by a hash of their bytes. Where rows have ids, those of the new rows
are looked up among those of all earlier rows, so a copy in another form is found, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import Any

from linkwise.errors import DataError
from linkwise.large.ranges import map_blocks
from linkwise.large.table_files import BLOCK, Block, TableFiles
from linkwise.parallel import SERIAL_ENGINE, Engine
from linkwise.types import Progress

MOST_IDS = 2**20  # ids of new rows that are compared


def check_no_copies(new: TableFiles, known: TableFiles) -> None:
    """Check that no new file has the bytes of another one. Files without rows may be equal."""
    of_size: dict[int, list[int]] = {}
    paths, n_known = _list_paths(new, known), len(known.files)
    for at, path in enumerate(paths):
        of_size.setdefault(path.stat().st_size, []).append(at)
    for group in of_size.values():
        seen: dict[bytes, int] = {}
        for at in group if len(group) > 1 and group[-1] >= n_known else ():
            other = seen.setdefault(_hash_bytes(paths[at]), at)
            if at >= n_known and other != at and new.files[at - n_known].count_rows():
                copy, name = _name_apart(paths[at], paths[other])
                raise DataError(f"{copy} is a copy of {name}: both hold the same bytes. {_way_out(copy)}")


def _list_paths(new: TableFiles, known: TableFiles) -> list[Path]:
    return [file.path for file in (*known.files, *new.files)]


def _hash_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file_digest(file, "blake2b").digest()


def check_new_ids(
    new: TableFiles,
    known: TableFiles,
    id_column: str,
    progress: Progress | None = None,
    engine: Engine = SERIAL_ENGINE,
) -> None:
    """Check that no new row has the id of another row.

    All ids are compared if there are at most `MOST_IDS` new rows. Of more, every n-th row of each file is
    compared, so each copy of a file is found, but not each single id that repeats.
    """
    every = max(1, -(-sum(new.count_rows()) // MOST_IDS))
    n_known, n_compared = len(known.files), Counter[int]()
    file_of, n_repeats, example = dict[Any, int](), Counter[tuple[int, int]](), dict[tuple[int, int], Any]()
    for number in range(len(new.files)):
        for name in _read_ids(new, number, id_column, every):
            n_compared[number] += 1
            if name in file_of:
                pair = number, n_known + file_of[name]
                n_repeats[pair] += 1
                example.setdefault(pair, name)
            file_of.setdefault(name, number)
    lengths = known.lengths()
    n_blocks = -(-sum(lengths.counts) // BLOCK)
    read, work = partial(known.blocks, [id_column]), partial(_find_ids, id_column=id_column, file_of=file_of)
    for done, found in enumerate(map_blocks(read, work, lengths, 0, BLOCK, engine), 1):
        for pair, names in found.items():
            n_repeats[pair] += len(names)
            example.setdefault(pair, names[0])
        if progress is not None:
            progress(min(done, n_blocks), n_blocks)
    if n_repeats:
        (number, other), n = n_repeats.most_common(1)[0]
        paths = _list_paths(new, known)
        name = repr(str(example[number, other]))
        raise _make_error(paths[n_known + number], paths[other], n, n_compared[number], name)


def _read_ids(tables: TableFiles, number: int, id_column: str, every: int) -> Iterator[Any]:
    """The ids of every n-th row of a file, without empty ones."""
    done = 0
    for frame in tables.file_frames(number, [id_column]):
        yield from frame[id_column][-done % every :: every].drop_nulls().to_list()
        done += len(frame)


def _find_ids(block: Block, id_column: str, file_of: Mapping[Any, int]) -> dict[tuple[int, int], list[Any]]:
    """The ids of a block that new files have, by the numbers of the new file and of the other one."""
    names, found, start = block.frame[id_column].to_list(), dict[tuple[int, int], list[Any]](), 0
    if file_of.keys().isdisjoint(names):
        return found
    for span in block.spans:
        for name in names[start : start + span.n_rows]:
            if (number := file_of.get(name)) is not None:
                found.setdefault((number, span.file), []).append(name)
        start += span.n_rows
    return found


def _make_error(path: Path, other: Path, n: int, n_compared: int, name: str) -> DataError:
    """Say that ids repeat, and what to do about it."""
    if path == other:
        return DataError(
            f"Ids repeat: {name} is more than once in {path.name}. The ids of all rows must differ."
        )
    here, there = _name_apart(path, other)
    if n >= n_compared:
        return DataError(
            f"{here} has the rows of {there}: their ids repeat, such as {name}. {_way_out(here)}"
        )
    return DataError(
        f"Ids repeat: {n} of {n_compared} ids of {here} are in {there}, too, such as {name}. Remove these"
        " rows, or use new ids for them."
    )


def _way_out(copy: str) -> str:
    return f"Move {copy} away, and call linkwise extend again."


def _name_apart(path: Path, other: Path) -> tuple[str, str]:
    """Name two files, with their folders if their names are equal."""
    if path.name != other.name:
        return path.name, other.name
    return str(path), str(other)

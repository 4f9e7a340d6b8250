"""Files beside a session that no linkwise wrote: items, states of passes and files of labels.

``python tests/fuzz/stored_files.py --seed 7 --n 1000`` tries so many changed files of each kind, and prints a
line for each that breaks a rule: items are read as they were or lead to one sentence, a state of a pass is
used as it was or not at all, and labels are whole after the next export; all with little memory and time.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import polars as pl

from item_files import write_events
from linkwise.data.reading import Reading
from linkwise.errors import DataError
from linkwise.large import chunks, table_files, table_labels, table_passes
from linkwise.large.checkpoints import Checkpoint, unpack_totals
from linkwise.large.group_table import read_groups
from linkwise.large.state_files import read_state
from linkwise.large.table_files import TableFiles
from linkwise.large.table_labels import write_files

MEMORY, CPU_S = 2**28, 5
BOMB_MIB = 4000
PART = 128  # rows of a file of labels
PAGE = 4096
SIZES = (0, 1, 4, 21, 22, 30, 100, 1000)
CHOICES = Reading(id_column="key", impute="median")
KINDS = ("groups.npz", "survey.npz", "totals.npz", "labels")


class Broken(AssertionError):
    """A rule does not hold."""


def check(holds: object, what: str) -> None:
    if not holds:
        raise Broken(what)


# ---------------------------------------------------------------- changed files
def change(content: bytes, seed: int, n: int) -> Iterator[tuple[str, bytes]]:
    """Cut a file at all pages and at some small sizes, and flip or overwrite bytes at random."""
    for size in sorted({*SIZES, *range(PAGE, len(content), PAGE), len(content) - 1}):
        yield f"cut at {size}", content[:size]
    rng = random.Random(seed)
    for number in range(n):
        data, at = bytearray(content), rng.randrange(len(content))
        kind = rng.choice(("flip", "zeros", "end"))
        if kind == "zeros":
            data[at : at + PAGE] = bytes(len(data[at : at + PAGE]))
        else:
            at = max(0, len(data) - 1 - at % 1500) if kind == "end" else at
            data[at] ^= 1 << rng.randrange(8)
        yield f"{kind} {number} of {seed} at {at}", bytes(data)


def list_bombs(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Let each member of an archive unpack to gigabytes of zeros."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for bomb in members:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, whole in members.items():
                archive.writestr(name, _pack_zeros(whole) if name == bomb else whole)
                if name == bomb:
                    archive.filelist[-1].compress_type = zipfile.ZIP_DEFLATED
                    archive.filelist[-1].file_size = len(_make_header()) + BOMB_MIB * 2**20
        yield f"bomb in {bomb}", file.getvalue()


def _make_header() -> bytes:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (BOMB_MIB * 2**20,)}
    )
    return header.getvalue()


def _pack_zeros(whole: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = packer.compress(_make_header()) + packer.flush(zlib.Z_FULL_FLUSH)
    zeros = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return start + BOMB_MIB * zeros + packer.flush()


# ---------------------------------------------------------------- the rules
class Kept:
    """What linkwise keeps beside a session, and the rules for each file."""

    def __init__(self, base: Path) -> None:
        self.base, self.folder, self.out = base, base / "events.d", base / "out"
        write_events(base / "events")
        self.tables = TableFiles(sorted((base / "events").iterdir()))
        self.contents: dict[str, bytes] = {}
        for stop, name in ((7, "survey.npz"), (22, "totals.npz")):
            self._stop_pass(stop)
            self.contents[name] = (self.folder / name).read_bytes()
        self.items = table_passes.summarize_tables(self.tables, CHOICES, 50, 0, self.folder)
        self.contents["groups.npz"] = (self.folder / "groups.npz").read_bytes()
        self.labels = np.arange(len(self.items.steps)) % 3
        self._export()
        self.parts = sorted(self.out.glob("*.parquet"))
        self.contents["labels"] = self.parts[1].read_bytes()

    def _stop_pass(self, at: int) -> None:
        def stop(done: int, total: int) -> None:
            if done == at:
                raise KeyboardInterrupt

        try:
            table_passes.summarize_tables(self.tables, CHOICES, 50, 0, self.folder, stop)
        except KeyboardInterrupt:
            return
        raise AssertionError("The pass was not stopped.")

    def _export(self) -> None:
        write_files(self.tables, self.items, self.labels, {}, self.out, None)

    def try_items(self, content: bytes) -> None:
        path = self.folder / "groups.npz"
        path.write_bytes(content)
        try:
            found = read_groups(self.folder)
        except DataError as error:
            words = str(error)
            check(str(path) in words and len(words) < 500 and "\n" not in words, f"the message {words}")
        else:
            check(found.hash == self.items.hash, "other items")
            check(found.frame.equals(self.items.frame), "other medoids")

    def try_state(self, name: str, content: bytes) -> None:
        path = self.folder / name
        path.write_bytes(self.contents[name])
        whole = read_state(path)
        path.write_bytes(content)
        checkpoint = Checkpoint(path, whole.values["key"])
        found = checkpoint.load(lambda state: state)
        if found is not None:
            check(found.values == whole.values, "other values")
            check(found.arrays.keys() == whole.arrays.keys(), "other arrays")
            for key, array in whole.arrays.items():
                np.testing.assert_array_equal(found.arrays[key], array)
            if name == "totals.npz":
                check(checkpoint.load(unpack_totals) is not None, "totals that cannot be used")

    def try_pass(self, name: str, content: bytes) -> None:
        """A pass goes on or begins anew, and finds the same."""
        (self.folder / name).write_bytes(content)
        if name == "totals.npz":
            (self.folder / "survey.npz").unlink(missing_ok=True)
        found = table_passes.summarize_tables(self.tables, CHOICES, 50, 0, self.folder)
        check(found.hash == self.items.hash and found.frame.equals(self.items.frame), "other items")

    def try_labels(self, content: bytes) -> None:
        part = self.parts[1]
        part.write_bytes(content)
        self._export()
        if part.read_bytes() != self.contents["labels"]:  # a value may change without a trace
            check(part.read_bytes() == content, "a file that is neither old nor new")
            check(len(pl.read_parquet(part)) == PART, "a file with other rows")

    def list_trials(self, kind: str, seed: int, n: int) -> Iterator[tuple[str, Callable[[], None]]]:
        content = self.contents[kind]
        changed = list(change(content, seed, n))
        if kind != "labels":
            changed += list_bombs(content)
        for name, each in changed:
            if kind == "groups.npz":
                yield name, lambda each=each: self.try_items(each)
            elif kind == "labels":
                yield name, lambda each=each: self.try_labels(each)
            else:
                yield name, lambda each=each: self.try_state(kind, each)
        if kind in ("survey.npz", "totals.npz"):
            for name, each in changed[:: max(1, len(changed) // 4)]:
                yield f"pass after {name}", lambda each=each: self.try_pass(kind, each)


# ---------------------------------------------------------------- in a process of its own
def bound() -> None:
    """Let this process map little more memory, and compute for a few more seconds."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + 1 + CPU_S, resource.RLIM_INFINITY))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="which changes [1]")
    parser.add_argument("--n", type=int, default=30, help="changed bytes in files of each kind [30]")
    given = parser.parse_args()
    for module in (chunks, table_files, table_passes, table_labels):
        module.BLOCK = 64
    table_labels.PART = PART
    with tempfile.TemporaryDirectory() as base:
        kept = Kept(Path(base))
        for kind in KINDS:
            n_tried = 0
            for name, trial in kept.list_trials(kind, given.seed, given.n):
                bound()
                n_tried += 1
                print(json.dumps({"begun": f"{kind}: {name}"}), flush=True)
                try:
                    trial()
                except BaseException as error:
                    print(json.dumps({"broken": f"{type(error).__name__}: {error}"[:500]}), flush=True)
            print(json.dumps({"kind": kind, "tried": n_tried}), flush=True)


if __name__ == "__main__":
    main()

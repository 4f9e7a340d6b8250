"""Save the state of a pass over rows in a file, so that a pass that was interrupted goes on from there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TypeVar

from linkwise.large.group_table import GroupTable
from linkwise.large.group_totals import GroupCenters, GroupTotals
from linkwise.large.state_files import State, read_state, write_state
from linkwise.large.table_files import TableFiles
from linkwise.parallel import SERIAL_ENGINE, Engine

SAVE_S = 10.0  # seconds of work that may be lost if the machine fails
PASSES = 1  # how passes are made; it changes if those of before cannot go on
OF_TOTALS = (
    "sizes", "squares", "counts", "medoid", "least", "rows", "far_rows", "border", "border_squares"
)  # fmt: skip


Found = TypeVar("Found")


class Checkpoint(NamedTuple):
    """The saved state of a pass."""

    path: Path
    """The file of the state."""
    key: str
    """A hash of all that decides what it finds."""
    engine: Engine = SERIAL_ENGINE

    def load(self, unpack: Callable[[State], Found]) -> Found | None:
        """Read what the same pass has found so far; None if there is nothing that can be used."""
        try:
            stored = read_state(self.path)
            return unpack(stored) if stored.values["key"] == self.key else None
        except Exception:  # of a damaged file anything; the pass begins anew
            return None

    def save(self, state: State) -> None:
        """Save the state of the pass."""
        write_state(self.path, state._replace(values={**state.values, "key": self.key}))


def hash_inputs(*inputs: object) -> str:
    """Hash all that decides what a pass finds."""
    return blake2b(repr((PASSES, *inputs)).encode(), digest_size=16).hexdigest()


def hash_groups(groups: GroupTable, tables: TableFiles) -> str:
    """Hash groups and the files whose rows are assigned to them."""
    arrays = groups.summary.sizes, groups.summary.limits, groups.steps, groups.cuts
    return hash_inputs(groups.hash, [array.tobytes() for array in arrays], tables.stamps())


@contextmanager
def save_at_times(save: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Save from time to time, and when the work is interrupted or fails."""
    saved = time.monotonic()

    def save_sometimes() -> None:
        nonlocal saved
        if time.monotonic() - saved > SAVE_S:
            save()
            saved = time.monotonic()

    try:
        yield save_sometimes
    except BaseException:
        save()
        raise


def pack_totals(totals: GroupTotals, centers: GroupCenters) -> State:
    """Put what the second pass has found so far into a state."""
    arrays = {name: getattr(totals, name) for name in OF_TOTALS} | {"centers": centers.points}
    return State({"n_rows": totals.n_rows, "unit": centers.unit}, arrays, totals.frame)


def unpack_totals(state: State) -> tuple[GroupCenters, GroupTotals]:
    """Take the centres and what was found from a state."""
    centers = GroupCenters(state.arrays["centers"], state.values["unit"])
    arrays = {name: state.arrays[name] for name in OF_TOTALS}
    return centers, GroupTotals(state.values["n_rows"], ids=None, frame=state.frame, **arrays)

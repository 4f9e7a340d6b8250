"""Groups that stand for the rows of tables, and the file that holds them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from linkwise.data.columns.roles import id_texts
from linkwise.data.encoding.meaning import uses_meaning
from linkwise.data.encoding.texts import TextSpace
from linkwise.data.reading import Unit
from linkwise.data.show.rows import Rows
from linkwise.errors import DataError
from linkwise.large.encoding import Encoding
from linkwise.large.file_stamps import FileStamp
from linkwise.large.group_summary import Summary
from linkwise.large.group_totals import N_BORDER
from linkwise.large.passes import Scaling
from linkwise.large.reach import NearestGroups, place_rows
from linkwise.large.state_files import State, check_arrays, read_state, write_state

FORMAT = 1  # of the groups that are written
GROUPS = "groups.npz"
ARRAYS = ("centers", "sizes", "spread", "limits", "X", "medoid_rows", "border_rows")  # of the summary
OF_STEPS = ("steps", "parents", "cuts")


class DataPart(NamedTuple):
    """A file of rows."""

    name: str
    n_rows: int
    known: int = 0
    """Steps that were known when its rows were read (`GroupTable.steps`)."""
    path: str = ""
    """Where it lies, seen from the folder of the session."""


@dataclass(frozen=True, eq=False)
class GroupTable:
    """Groups that stand for the rows of tables.

    `frame` has the medoids with all columns. `steps` tell when each group was made: 0 in the first
    passes; n for rows that arrived later and fit none of the groups of the steps before n, or for the
    part of a mixed group; -1 for a border row, which is asked about and is no group
    (`linkwise.large.border_rows`). `parents` has the group that a border row is or was of, -1 for all
    others, and `cuts` how the part of a mixed group has its rows: beyond so much of the way from the
    medoid to the border row. `stamps` are those of the files when their rows became groups.
    """

    summary: Summary
    encoding: Encoding
    frame: Any
    parts: tuple[DataPart, ...]
    steps: NDArray[np.int64]
    parents: NDArray[np.int64]
    cuts: NDArray[np.float64]
    stamps: tuple[FileStamp, ...]

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int((self.steps >= 0).sum())

    @property
    def n_border(self) -> int:
        """Number of border rows that are no groups."""
        return int((self.steps < 0).sum())

    @property
    def n_steps(self) -> int:
        """Number of the last step."""
        return int(self.steps.max())

    @property
    def ids(self) -> tuple[str, ...]:
        """The id of each medoid; without ids its number in the data."""
        return name_rows(self.frame, self.summary.id_column, self.summary.medoid_rows)

    @property
    def rows(self) -> Rows:
        """The medoids as a person sees them and as a learner takes them."""
        return self.encoding.show(self.frame, self.ids, self.summary.X)

    @property
    def hash(self) -> str:
        """A hash of all that decides the group of a row."""
        found = blake2b(repr(self.encoding.to_json()).encode(), digest_size=16)
        for space in self.encoding.spaces.values():
            found.update(repr((space.unit, space.words)).encode() + space.rarity.tobytes())
            found.update(space.directions.tobytes())
        found.update(self.summary.centers.tobytes())
        found.update(repr([tuple(part) for part in self.parts]).encode())
        return found.hexdigest()

    def place(self, rows: NDArray[np.float64], known: int | NDArray[np.int64] | None = None) -> NearestGroups:
        """Find the group of each encoded row, and whether the row fits a group (`linkwise.large.reach`).

        `known` is the number of the last step of rows that arrived whose groups these rows can belong
        to; by default the last one. Rows that were read before such a step keep their groups.
        """
        scaled = self.summary.scaling.apply(rows)
        of, fits = self._place_in(scaled, 0)
        last = np.broadcast_to(self.n_steps if known is None else known, len(of))
        for step in range(1, 1 + self.n_steps):
            entries = np.flatnonzero(self.steps == step)
            if self.parents[entries[0]] >= 0:
                for entry in entries.tolist():
                    self._follow_cut(scaled, entry, NearestGroups(of, fits))
            elif (rest := np.flatnonzero(~fits & (last >= step))).size:
                of[rest], fits[rest] = self._place_in(scaled[rest], step)
        return NearestGroups(of, fits)

    def _follow_cut(self, scaled: NDArray[np.float32], entry: int, placed: NearestGroups) -> None:
        """Let rows beyond a cut follow the border row; write to `placed`."""
        of, fits = placed
        parent, row, summary = self.parents[entry], self.summary.X[entry], self.summary
        mine = np.flatnonzero(of == parent)
        beyond = mine[project_rows(scaled[mine], summary.X[parent], row) >= self.cuts[entry]]
        of[beyond] = entry
        square = np.square(scaled[beyond] - row).sum(axis=1)
        fits[beyond] |= square <= summary.limits[entry] ** 2

    def _place_in(self, scaled: NDArray[np.float32], step: int) -> NearestGroups:
        """The nearest group of one step."""
        groups = np.flatnonzero(self.steps == step)
        centers = np.ascontiguousarray(self.summary.centers[groups])
        found = place_rows(scaled, centers, self.summary.limits[groups])
        return NearestGroups(groups[found.nearest], found.fits)

    def write(self, folder: Path, name: str = GROUPS) -> None:
        """Write the groups to a file of a folder."""
        summary = self.summary
        values = {
            "format": FORMAT,
            "n_rows": summary.n_rows,
            "id_column": summary.id_column,
            "encoding": self.encoding.to_json(),
            "texts": [
                [name, one.unit, list(one.words), one.weights] for name, one in self.encoding.spaces.items()
            ],
            "parts": [list(part) for part in self.parts],
            "stamps": self.stamps,
        }
        arrays = {array: getattr(summary, array) for array in ARRAYS}
        arrays |= {array: getattr(self, array) for array in OF_STEPS}
        for at, space in enumerate(self.encoding.spaces.values()):
            arrays |= {f"rarity_{at}": space.rarity, f"directions_{at}": space.directions}
        write_state(folder / name, State(values, arrays, self.frame))


def project_rows(
    scaled: NDArray[np.float32], start: NDArray[np.float64], end: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Find how far along the way from one row to another rows lie: 0 at its start, 1 at its end."""
    way = end - start
    return np.asarray(((scaled - start) * way).sum(axis=1) / np.square(way).sum())


def read_groups(folder: Path, name: str = GROUPS) -> GroupTable:
    """Read the groups of a file of a folder."""
    path = folder / name
    state = read_state(path)
    try:
        values, arrays = state.values, state.arrays
        encoding = replace(Encoding.from_json(values["encoding"]), spaces=_read_spaces(state))
        _check_spaces(encoding)
        k, width = len(arrays["sizes"]), len(encoding.features)
        check_arrays(
            state,
            {
                "centers": ("f", (k, width)),
                "sizes": ("i", (k,)),
                "spread": ("f", (k,)),
                "limits": ("f", (k,)),
                "X": ("f", (k, width)),
                "medoid_rows": ("i", (k,)),
                "border_rows": ("i", (k, N_BORDER)),
                "steps": ("i", (k,)),
                "parents": ("i", (k,)),
                "cuts": ("f", (k,)),
            },
        )
        names = list(encoding.file_columns)
        if values["format"] != FORMAT or k == 0 or state.frame is None or len(state.frame) != k:
            raise ValueError("The format differs.")
        _check_steps(*(arrays[name] for name in OF_STEPS))
        frame = state.frame.select(names)
        parts = tuple(
            DataPart(str(name), int(n), int(known), str(at)) for name, n, known, at in values["parts"]
        )
        stamps = tuple(map(FileStamp.from_json, values["stamps"]))
        if len(stamps) != len(parts):
            raise ValueError("The stamps differ.")
        summary = Summary(
            n_rows=int(values["n_rows"]),
            columns=tuple(feature.name for feature in encoding.features),
            scaling=without_scaling(width),
            medoids=arrays["X"],
            medoid_ids=None,
            id_column=values["id_column"],
            **{name: arrays[name] for name in ARRAYS},
        )
    except DataError:
        raise
    except Exception as error:  # of a damaged file anything
        raise DataError(f"'{path}' is damaged. Restore a copy of it.") from error
    steps = {name: arrays[name] for name in OF_STEPS}
    return GroupTable(summary, encoding, frame, parts, stamps=stamps, **steps)


def _read_spaces(state: State) -> dict[str, TextSpace]:
    """The directions by which texts are compared."""
    spaces = {}
    for at, (name, unit, words, weights) in enumerate(state.values["texts"]):
        rarity, directions = f"rarity_{at}", f"directions_{at}"
        width = state.arrays[directions].shape[1]
        check_arrays(state, {rarity: ("f", (len(words),)), directions: ("f", (len(words), width))})
        are_words = all(isinstance(word, str) for word in (*words, weights))
        if unit not in get_args(Unit) or not are_words or uses_meaning(unit) != bool(weights):
            raise ValueError("The texts differ.")
        learned = state.arrays[rarity], state.arrays[directions]
        spaces[str(name)] = TextSpace(unit, tuple(words), *learned, weights)
    return spaces


def _check_spaces(encoding: Encoding) -> None:
    """Raise `ValueError` unless each text has as many numbers as directions."""
    of_texts = Counter(one.source for one in encoding.features if one.role == "document")
    widths = {name: space.width for name, space in encoding.spaces.items()}
    if dict(of_texts) != widths:
        raise ValueError("The texts differ.")


def _check_steps(steps: NDArray[np.int64], parents: NDArray[np.int64], cuts: NDArray[np.float64]) -> None:
    """Raise `ValueError` unless groups can have been made so."""
    k = len(steps)
    made = np.unique(steps[steps >= 0])
    are_steps = steps.min() >= -1 and made.tolist() == list(range(len(made))) and steps[0] == 0
    are_parents = parents.min() >= -1 and parents.max() < k and ((parents >= 0) | (steps >= 0)).all()
    are_of_groups = are_parents and (parents[parents[parents >= 0]] < 0).all()
    if not (are_steps and are_of_groups and np.isfinite(cuts).all()):
        raise ValueError("The steps differ.")


def without_scaling(width: int) -> Scaling:
    """Return the scaling of rows that are encoded already."""
    return Scaling(np.zeros(width), np.ones(width))


def name_rows(frame: Any, id_column: str | None, numbers: NDArray[np.int64]) -> tuple[str, ...]:
    """Name rows by their ids; without ids by their numbers."""
    import narwhals as nw

    if id_column is None:
        return tuple(map(str, numbers.tolist()))
    return tuple(map(str, id_texts(nw.from_native(frame[id_column], series_only=True))))

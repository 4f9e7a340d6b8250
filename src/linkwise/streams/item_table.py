"""Summarise tables that do not fit into memory: numbers, dates, truth values and categories.

The first pass (`linkwise.streams.survey`) learns the encoding and draws a sample, the second assigns each row
to an item (`linkwise.streams.passes`). Both write where they are to a folder, so that work that was
interrupted goes on there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.learner import Progress
from linkwise.cluster.kmeans.lloyd import k_means_runs
from linkwise.data.column_names import check_names
from linkwise.data.ids import id_texts
from linkwise.data.rows import Rows
from linkwise.errors import DataError
from linkwise.parallel import HERE, Engine
from linkwise.streams.chunks import read_blocks
from linkwise.streams.encoding import EncodedTables, Encoding
from linkwise.streams.item_summary import SAMPLE, SAMPLE_PASSES, Summary, check_same_rows
from linkwise.streams.passes import ITEM, N_BORDER, ItemTotals, Scaling
from linkwise.streams.ranges import map_blocks
from linkwise.streams.state_files import State, check_arrays, read_state, write_state
from linkwise.streams.survey import Draw, TableChoices, TableSurvey, learn_encoding
from linkwise.streams.table_files import BLOCK, Block, TableFiles
from linkwise.wording import join_names

FORMAT = 1  # of the items that are written
PASSES = 2  # how the passes are made; it changes if those of earlier versions cannot go on
SURVEY, TOTALS, ITEMS = "survey.npz", "totals.npz", "items.npz"
SAVE_S = 10.0  # seconds of work that may be lost if the machine fails
ROW_NAME = "row"  # column of numbers of rows that have no ids


@dataclass(frozen=True, eq=False)
class ItemTable:
    """Items that stand for the rows of tables.

    Attributes
    ----------
    summary : Summary
        The items. Its rows are encoded, and so are those that it assigns.
    encoding : Encoding
        How rows are encoded.
    frame : polars.DataFrame of shape (n_items, n_columns)
        The medoids with all columns.
    parts : tuple of (str, int)
        Name and number of rows of each file.
    """

    summary: Summary
    encoding: Encoding
    frame: Any
    parts: tuple[tuple[str, int], ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The id of each medoid; without ids its number in the data."""
        return _name_rows(self.frame, self.summary.id_column, self.summary.medoid_rows)

    @property
    def rows(self) -> Rows:
        """The medoids as a person sees them and as a learner takes them."""
        return self.encoding.show(self.frame, self.ids, self.summary.X)

    @property
    def hash(self) -> str:
        """A hash of all that decides the item of a row."""
        found = blake2b(repr(self.encoding.to_json()).encode(), digest_size=16)
        found.update(self.summary.centers.tobytes())
        return found.hexdigest()

    def write(self, folder: Path) -> None:
        """Write the items to a folder."""
        summary = self.summary
        values = {
            "format": FORMAT,
            "n_rows": summary.n_rows,
            "id_column": summary.id_column,
            "encoding": self.encoding.to_json(),
            "parts": [list(part) for part in self.parts],
        }
        arrays = {name: getattr(summary, name) for name in _ARRAYS}
        write_state(folder / ITEMS, State(values, arrays, self.frame))


_ARRAYS = ("centers", "sizes", "spread", "X", "medoid_rows", "border_rows")


def read_items(folder: Path) -> ItemTable:
    """Read the items of a folder.

    Raises
    ------
    DataError
        The file is damaged, and the error names it.
    FileNotFoundError
        There is no such file.
    """
    path = folder / ITEMS
    state = read_state(path)
    try:
        values, arrays = state.values, state.arrays
        encoding = Encoding.from_json(values["encoding"])
        k, width = len(arrays["sizes"]), len(encoding.features)
        check_arrays(
            state,
            {
                "centers": ("f", (k, width)),
                "sizes": ("i", (k,)),
                "spread": ("f", (k,)),
                "X": ("f", (k, width)),
                "medoid_rows": ("i", (k,)),
                "border_rows": ("i", (k, N_BORDER)),
            },
        )
        names = [column.name for column in encoding.columns]
        if values["format"] != FORMAT or k == 0 or state.frame is None or len(state.frame) != k:
            raise ValueError("The format differs.")
        frame = state.frame.select(names)
        parts = tuple((str(name), int(n)) for name, n in values["parts"])
        summary = Summary(
            n_rows=int(values["n_rows"]),
            columns=tuple(feature.name for feature in encoding.features),
            scaling=_no_scaling(width),
            medoids=arrays["X"],
            medoid_ids=None,
            id_column=values["id_column"],
            **{name: arrays[name] for name in _ARRAYS},
        )
    except DataError:
        raise
    except Exception as error:  # of a damaged file anything
        raise DataError(f"'{path}' is damaged. Restore a copy of it.") from error
    return ItemTable(summary, encoding, frame, parts)


def _no_scaling(width: int) -> Scaling:
    return Scaling(np.zeros(width), np.ones(width))


def _name_rows(frame: Any, id_column: str | None, numbers: NDArray[np.int64]) -> tuple[str, ...]:
    import narwhals as nw

    if id_column is None:
        return tuple(map(str, numbers.tolist()))
    return tuple(map(str, id_texts(nw.from_native(frame[id_column], series_only=True))))


# ---------------------------------------------------------------- passes
def summarize_tables(
    tables: TableFiles,
    choices: TableChoices,
    n_items: int,
    seed: int,
    folder: Path,
    progress: Progress | None = None,
    engine: Engine = HERE,
) -> ItemTable:
    """Summarise tables by items, in two passes, and write the items to a folder.

    Parameters
    ----------
    tables : TableFiles
        The files.
    choices : TableChoices
        How columns are used.
    n_items : int
        Number of items.
    seed : int
        Seed of the sample and of k-means.
    folder : Path
        Folder for the items, and for where the passes are. If the passes of the same files and choices were
        interrupted, they go on.
    progress : callable, optional
        ``progress(done, total)`` is called after each block of rows.
    engine : Engine
        The processes or the cluster that read the rows. Interrupted passes may go on with another one.

    Returns
    -------
    ItemTable
        The items.

    Raises
    ------
    DataError
        A file cannot be read or differs from the others, and the error names it; no column is left to
        compare rows by; or the folder cannot be written to.
    """
    names = _choose_names(tables, choices)
    for file in tables.files:  # before passes that may take long
        tables.check(file, names)
    n_rows = sum(tables.count_rows())
    n_blocks = -(-n_rows // BLOCK)
    key = _hash_inputs(tables, choices, n_items, seed)
    done = 0

    def step(block: int) -> None:
        nonlocal done
        done = block
        if progress is not None:
            progress(min(done, 2 * n_blocks), 2 * n_blocks)

    draw = Draw.plan(n_rows, SAMPLE * n_items, seed)
    work = partial(TableSurvey.of, draw=draw, as_words=choices.as_categories)
    survey = _survey(tables, names, work, _Place(folder / SURVEY, key, engine), step)
    check_same_rows(survey.n_rows, n_rows)
    encoding = learn_encoding(survey, choices)
    if choices.id_column is not None and survey.columns[choices.id_column].n_missing:
        missing = survey.columns[choices.id_column].n_missing
        raise DataError(f"The column '{choices.id_column}' of ids has {missing} empty cells. Fill them in.")
    sample = encoding.apply(survey.sample_rows, lambda row: f"row {row} of the sample")
    place = _Place(folder / TOTALS, key, engine)
    centers, totals = _collect(
        tables, encoding, sample, (n_items, seed), place, lambda block: step(n_blocks + block)
    )
    check_same_rows(int(totals.sizes.sum()), survey.n_rows)
    found = _make_table(tables, encoding, survey, centers, totals, choices.id_column)
    found.write(folder)
    for name in (SURVEY, TOTALS):
        (folder / name).unlink(missing_ok=True)
    return found


def _choose_names(tables: TableFiles, choices: TableChoices) -> list[str]:
    """The columns that are read: all but those that are dropped."""
    there = list(tables.schema)
    columns = None if choices.columns == ("all",) else choices.columns
    check_names(there, choices.id_column, columns, choices.drop, (), choices.show, choices.hide)
    return [name for name in there if name not in choices.drop]


def _hash_inputs(tables: TableFiles, choices: TableChoices, n_items: int, seed: int) -> str:
    """Hash all that decides what the passes find."""
    return blake2b(
        repr((PASSES, tables.stamps(), choices, n_items, seed)).encode(), digest_size=16
    ).hexdigest()


class _Place(NamedTuple):
    """Where a pass is made."""

    path: Path
    """The file for where it is."""
    key: str
    """A hash of all that decides what it finds."""
    engine: Engine


def _survey(
    tables: TableFiles,
    names: Sequence[str],
    work: Callable[[Block], TableSurvey],
    place: _Place,
    step: Callable[[int], object],
) -> TableSurvey:
    survey, (path, key, engine) = TableSurvey.start(), place
    stored = _load(path, key)
    if stored is not None:
        survey = TableSurvey.from_json(stored.values["survey"], stored.arrays["sample"], stored.frame)
    if stored is not None and stored.values["is_done"]:
        return survey

    def save(is_done: bool = False) -> None:
        if survey.n_rows:
            values = {"key": key, "survey": survey.to_json(), "is_done": is_done}
            write_state(path, State(values, {"sample": survey.sample}, survey.kept))

    with _saving(save) as save_sometimes:
        for found in map_blocks(
            partial(tables.blocks, names), work, tables.lengths(), survey.n_rows, BLOCK, engine
        ):
            survey = survey.merge(found)
            save_sometimes()
            step(-(-survey.n_rows // BLOCK))
        if survey.n_rows < 2:
            raise DataError("The data have fewer than 2 rows, but at least 2 are needed to compare.")
        save(True)
    return survey


def _collect(
    tables: TableFiles,
    encoding: Encoding,
    sample: NDArray[np.float64],
    plan: tuple[int, int],
    place: _Place,
    step: Callable[[int], object],
) -> tuple[NDArray[np.float64], ItemTotals]:
    """The centres, and what the second pass finds."""
    (n_items, seed), (path, key, engine) = plan, place
    scaling = _no_scaling(len(encoding.features))
    stored = _load(path, key)
    if stored is None:
        k = min(n_items, len(sample))
        starts = np.ascontiguousarray(scaling.apply(sample))
        centers = k_means_runs(starts, k, (seed, 1), 1, max_iter=SAMPLE_PASSES).centers[0]
        totals = ItemTotals.start(centers.shape)
    else:
        centers = stored.arrays.pop("centers")
        totals = ItemTotals(stored.values["n_rows"], ids=None, frame=stored.frame, **stored.arrays)

    def save() -> None:
        if totals.n_rows:
            arrays = {name: getattr(totals, name) for name in _TOTALS} | {"centers": centers}
            write_state(path, State({"key": key, "n_rows": totals.n_rows}, arrays, totals.frame))

    with _saving(save) as save_sometimes:
        read = partial(read_blocks, EncodedTables(tables, encoding))
        work = partial(ItemTotals.of, scaling=scaling, centers=centers)
        for found in map_blocks(read, work, tables.lengths(), totals.n_rows, BLOCK, engine):
            totals = totals.merge(found)
            save_sometimes()
            step(-(-totals.n_rows // BLOCK))
    return centers, totals


_TOTALS = ("sizes", "squares", "medoid", "least", "rows", "border", "border_squares")


@contextmanager
def _saving(save: Callable[[], None]) -> Iterator[Callable[[], None]]:
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


def _load(path: Path, key: str) -> State | None:
    """What was saved of the same work; None if there is nothing that can be used."""
    try:
        stored = read_state(path)
    except (DataError, OSError):
        return None
    return stored if isinstance(stored.values, dict) and stored.values.get("key") == key else None


def _make_table(
    tables: TableFiles,
    encoding: Encoding,
    survey: TableSurvey,
    centers: NDArray[np.float64],
    totals: ItemTotals,
    id_column: str | None,
) -> ItemTable:
    used = np.flatnonzero(totals.sizes)
    frame = totals.frame.sort(ITEM).drop(ITEM)
    _check_ids(frame, id_column)
    medoids = np.ascontiguousarray(totals.rows[used])
    summary = Summary(
        n_rows=survey.n_rows,
        columns=tuple(feature.name for feature in encoding.features),
        scaling=_no_scaling(len(encoding.features)),
        centers=np.ascontiguousarray(centers[used]),
        sizes=totals.sizes[used],
        spread=totals.squares[used] / totals.sizes[used],
        X=medoids,
        medoids=medoids,
        medoid_rows=totals.medoid[used],
        medoid_ids=None,
        border_rows=totals.border[used],
        id_column=id_column,
    )
    counts = (survey.counts.get(number, 0) for number in range(len(tables.files)))
    parts = tuple((file.path.name, n) for file, n in zip(tables.files, counts, strict=True))
    return ItemTable(summary, encoding, frame, parts)


def _check_ids(frame: Any, id_column: str | None) -> None:
    if id_column is None:
        return
    twice = frame[id_column].filter(frame[id_column].is_duplicated()).unique(maintain_order=True)
    if len(twice):
        names = join_names(map(repr, twice.to_list()), 5)
        raise DataError(
            f"Ids in column '{id_column}' repeat: {names}. Name a column whose values are unique, or leave"
            " --id out to know rows by their number."
        )

"""Find the rows that pairs name, by id or by number, in one pass over a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.constraints.closure import format_chain
from linkwise.constraints.constraints import Constraints
from linkwise.errors import ConstraintError, InfeasibleConstraintsError
from linkwise.large import chunks
from linkwise.large.chunks import Chunk, RowStream, read_blocks
from linkwise.large.ranges import map_blocks
from linkwise.parallel import SERIAL_ENGINE, Engine
from linkwise.wording import count_noun, join_names


class RowPairs(NamedTuple):
    """Must-links and cannot-links between rows of a stream, which pairs name by id or by number."""

    must_link: Iterable[Any]
    cannot_link: Iterable[Any]
    must_link_weight: ArrayLike | None = None
    cannot_link_weight: ArrayLike | None = None


class NamedStreamRows(NamedTuple):
    """The rows that pairs name, and the constraints between them."""

    numbers: NDArray[np.int64]
    """(m,) numbers of the rows, ascending."""
    rows: NDArray[Any]
    """(m, n_columns) the rows as they are in the data."""
    names: tuple[str, ...]
    """(m,) their ids or numbers, as errors show them."""
    constraints: Constraints
    """Between positions in `numbers`."""


def find_named_stream_rows(
    stream: RowStream, pairs: RowPairs, with_ids: bool, n_columns: int, engine: Engine = SERIAL_ENGINE
) -> NamedStreamRows:
    """Find the rows that pairs name, by their ids if `with_ids`, otherwise by their numbers."""
    must, cannot = (_list_pairs(given) for given in (pairs.must_link, pairs.cannot_link))
    wanted = {end for pair in (*must, *cannot) for end in pair}
    parts: list[_FoundRows] = []
    if wanted:
        work: Callable[[Chunk], _FoundRows]
        if with_ids:
            work = partial(_find_ids, wanted=frozenset(map(str, wanted)))
        else:
            work = partial(_find_numbers, wanted=np.array(sorted(map(_check_number, wanted))))
        lengths = stream.lengths()
        parts = list(map_blocks(partial(read_blocks, stream), work, lengths, 0, chunks.BLOCK, engine))
    found = [key for part in parts for key in part.keys]
    position = {key: at for at, key in enumerate(found)}
    if len(position) < len(found):
        twice = next(key for at, key in enumerate(found) if position[key] != at)
        raise ConstraintError(f"Two rows have the id {twice!r}. Use a different id for each row.")
    key_of = str if with_ids else int
    absent = sorted((name for name in wanted if key_of(name) not in position), key=str)
    if absent:
        kind = "id" if with_ids else "number"
        raise ConstraintError(
            f"No row has the {kind} {join_names([repr(name) for name in absent[:5]])}"
            f" ({count_noun(len(absent), f'such {kind}')} in the pairs). Identify rows by"
            f" {'the values of the column of ids' if with_ids else 'their numbers, counted from 0'}."
        )
    rows = np.concatenate([part.rows for part in parts]) if parts else np.empty((0, n_columns))
    numbers = np.concatenate([part.numbers for part in parts]) if parts else np.empty(0, dtype=np.int64)
    names = tuple(map(str, found))
    ends = [
        np.array([[position[key_of(end)] for end in pair] for pair in some], dtype=np.int64).reshape(-1, 2)
        for some in (must, cannot)
    ]
    weights = pairs.must_link_weight, pairs.cannot_link_weight
    return NamedStreamRows(numbers, rows, names, _build_constraints(names, ends, weights))


class _FoundRows(NamedTuple):
    keys: list[Any]
    numbers: NDArray[np.int64]
    rows: NDArray[Any]


def _find_numbers(block: Chunk, wanted: NDArray[np.int64]) -> _FoundRows:
    low, high = np.searchsorted(wanted, [block.first, block.first + len(block.rows)])
    numbers = wanted[low:high]
    return _FoundRows(numbers.tolist(), numbers, block.rows[numbers - block.first])


def _find_ids(block: Chunk, wanted: frozenset[str]) -> _FoundRows:
    assert block.ids is not None  # a stream with a column of ids
    keys = list(map(str, block.ids.tolist()))
    at = [place for place, key in enumerate(keys) if key in wanted]
    places = np.array(at, dtype=np.int64)
    return _FoundRows([keys[place] for place in at], block.first + places, block.rows[places])


def _list_pairs(given: Iterable[Any]) -> list[tuple[Any, ...]]:
    """List the pairs, as Python values."""
    if isinstance(given, Constraints):
        raise TypeError(
            "Constraints were given as one kind of pairs. Pass both kinds: must_link=c.must_link,"
            " cannot_link=c.cannot_link."
        )
    listed = given.tolist() if isinstance(given, np.ndarray) else list(given)
    single = next((pair for pair in listed if not isinstance(pair, (tuple, list, np.ndarray))), None)
    if single is not None:
        raise TypeError(f"A constraint is a pair of rows, but one is {single!r}. Pass a list of pairs.")
    pairs = [tuple(pair) for pair in listed]
    wrong = next((pair for pair in pairs if len(pair) != 2), None)
    if wrong is not None:
        raise ConstraintError(f"A constraint is a pair of rows, but one has {len(wrong)} entries: {wrong!r}.")
    return pairs


def _check_number(end: Any) -> int:
    if isinstance(end, bool) or not isinstance(end, (int, np.integer)):
        raise TypeError(
            f"A pair names the row {end!r}, which is no number of a row. Use numbers of rows, or set"
            " id_column to name them by id."
        )
    return int(end)


def _build_constraints(
    names: Sequence[str], ends: list[NDArray[np.int64]], weights: tuple[ArrayLike | None, ArrayLike | None]
) -> Constraints:
    """Build the constraints; an error names rows by their ids or numbers."""
    for kind, some in zip(("must-link", "cannot-link"), ends, strict=True):
        equal = np.flatnonzero(some[:, 0] == some[:, 1])
        if len(equal):
            at = int(equal[0])
            raise ConstraintError(f"{kind} {at} names row {names[some[at, 0]]} twice. Remove it.")
    try:
        return Constraints(
            max(len(names), 1), *ends, must_link_weight=weights[0], cannot_link_weight=weights[1]
        )
    except InfeasibleConstraintsError as error:
        chain = format_chain(error.chain, lambda row: names[row])
        raise InfeasibleConstraintsError(
            f"The constraints contradict each other: {chain}. Remove one of them."
        ) from None

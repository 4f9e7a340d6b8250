"""Draw pairs of one kind, of one class or of two, each pair alike and without forming all pairs."""

from __future__ import annotations

from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.closure import Pairs
from linkwise.constraints.sampling import draw_pairs, unrank_pairs

Kind = Literal["any", "must-link", "cannot-link", "balanced"]
Classes = NDArray[np.int64]
Block = tuple[NDArray[np.int64], NDArray[np.int64] | None]
"""Rows of which each two are a pair; or rows and others, where a pair has one of each."""


def draw_of_kind(codes: Classes, wanted: int, kind: Kind, rng: np.random.Generator) -> Pairs:
    """Draw distinct pairs of a kind.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        Class of each row that may be drawn.
    wanted : int
        Number of pairs.
    kind : {"any", "must-link", "cannot-link", "balanced"}
    rng : Generator

    Returns
    -------
    ndarray of shape (wanted, 2)
        Positions in `codes`, in random order; of "balanced" pairs those of one class come first.

    Raises
    ------
    ValueError
        There are fewer pairs, or `kind` is unknown.
    """
    if kind == "balanced":
        same = _draw_of_kind(codes, wanted - wanted // 2, "must-link", rng)
        return np.concatenate([same, _draw_of_kind(codes, wanted // 2, "cannot-link", rng)])
    return _draw_of_kind(codes, wanted, kind, rng)


def _draw_of_kind(codes: Classes, wanted: int, kind: Kind, rng: np.random.Generator) -> Pairs:
    """Draw numbers of pairs: the blocks share the numbers out."""
    blocks = _list_blocks(codes, kind)
    ends = np.cumsum([_count_block(block) for block in blocks], dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    if not 0 <= wanted <= total:
        which = "" if kind == "any" else f"{kind} "
        raise ValueError(f"{wanted} {which}pairs cannot be drawn: there are {total}. Pass from 0 to {total}.")
    if kind == "any":
        return draw_pairs(len(codes), wanted, rng)
    numbers = np.sort(rng.choice(total, size=wanted, replace=False))
    starts = np.concatenate([[0], ends])
    parts = [
        _unrank(block, numbers[(numbers >= start) & (numbers < end)] - start)
        for block, start, end in zip(blocks, starts, ends, strict=False)
    ]
    return rng.permutation(np.concatenate([np.empty((0, 2), dtype=np.int64), *parts]))


def _list_blocks(codes: Classes, kind: Kind) -> list[Block]:
    members = [np.flatnonzero(codes == c) for c in np.unique(codes)]
    if kind == "any":
        return [(np.arange(len(codes)), None)]
    if kind == "must-link":
        return [(rows, None) for rows in members]
    if kind == "cannot-link":
        return list(combinations(members, 2))
    raise ValueError(f"kind={kind!r} is unknown. Pass 'any', 'must-link', 'cannot-link' or 'balanced'.")


def _count_block(block: Block) -> int:
    rows, others = block
    return len(rows) * (len(rows) - 1) // 2 if others is None else len(rows) * len(others)


def _unrank(block: Block, number: NDArray[np.int64]) -> Pairs:
    """Return the pairs of a block by their numbers there."""
    rows, others = block
    if others is None:
        return np.asarray(rows[unrank_pairs(number)])
    return np.column_stack([rows[number // len(others)], others[number % len(others)]])

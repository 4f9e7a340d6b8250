"""Draw constraints from known classes, in the ways of the papers.

=================================================  ================================================
Van Craenendonck and Blockeel (2017), section III  ``n`` pairs, ``rows`` 70 % of all
Okabe and Yamada (2018), section 5                 ``percent`` of all pairs
Struyf and Džeroski (2007), section 4              ``n`` pairs, ``rows`` outside one fold
Halkidi et al. (2008), section 4                   a number of ``kind`` "must-link" or "cannot-link"
=================================================  ================================================
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.constraints.checks import encode_classes
from linkwise.constraints.closure import Pairs
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.sampling import draw_pairs, unrank_pairs
from linkwise.errors import ConstraintWarning

Kind = Literal["any", "must-link", "cannot-link", "balanced"]
Classes = NDArray[np.int64]
Block = tuple[NDArray[np.int64], NDArray[np.int64] | None]
"""Rows of which each two are a pair; or rows and others, where a pair has one of each."""


def draw_constraints(
    y: ArrayLike,
    n: int | None = None,
    *,
    percent: float | None = None,
    kind: Kind = "any",
    rows: ArrayLike | None = None,
    closed: bool = False,
    wrong: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> Constraints:
    """Draw distinct pairs of rows at random and say of each whether its rows are of one class.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class of each row; rows of unknown class (-1, None, NaN) are never drawn.
    n : int, optional
        Number of pairs. Either `n` or `percent` must be given.
    percent : float, optional
        Number of pairs as percent of all pairs of rows that may be drawn, rounded down.
    kind : {"any", "must-link", "cannot-link", "balanced"}, default="any"
        Which pairs are drawn: any, only pairs of one class, only pairs of two classes, or as many of one
        class as of two (one more of one class where the number is odd).
    rows : array-like of int, optional
        Rows that may be drawn; all by default.
    closed : bool, default=False
        Whether all that follows from the pairs is added: rows that are joined by must-links are in one
        cluster, and each row of one such group is apart from each row of another where one cannot-link is
        between them.
    wrong : float, default=0.0
        Share of the drawn pairs whose answer is the opposite of the truth, rounded to a number of pairs.
        Contradictions among the pairs are kept, as with ``Constraints(on_conflict="keep")``.
    random_state : int or Generator, optional
        Seed of the draw; by default every call draws other pairs.

    Returns
    -------
    Constraints

    Raises
    ------
    ValueError
        Both or neither of `n` and `percent` are given, a value is outside its range, there are fewer pairs
        than asked for, or `closed` is asked of constraints with wrong ones.

    Examples
    --------
    >>> from linkwise.experiments.constraint_sets import draw_constraints
    >>> pairs = draw_constraints([0, 0, 1, 1], 4, kind="cannot-link", random_state=0)
    >>> len(pairs.must_link), len(pairs.cannot_link)
    (0, 4)
    """
    _check_wrong(wrong, closed)
    codes, usable = _list_usable(y, rows)
    rng = np.random.default_rng(random_state)
    wanted = _count_pairs(len(usable), n, percent)
    pairs = usable[_draw(codes[usable], wanted, kind, rng)]
    same = codes[pairs[:, 0]] == codes[pairs[:, 1]]
    same[rng.permutation(wanted)[: round(wrong * wanted)]] ^= True
    return _build_constraints(len(codes), pairs, same, closed, wrong)


def draw_nested_constraints(
    y: ArrayLike,
    numbers: Sequence[float],
    *,
    percent: bool = False,
    kind: Kind = "any",
    rows: ArrayLike | None = None,
    closed: bool = False,
    wrong: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> list[Constraints]:
    """Draw constraints as `draw_constraints` does, each set with all pairs of the smaller ones.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class of each row; rows of unknown class (-1, None, NaN) are never drawn.
    numbers : sequence of float
        Numbers of pairs, ascending.
    percent : bool, default=False
        Whether `numbers` are percent of all pairs of rows that may be drawn.
    kind : {"any", "must-link", "cannot-link", "balanced"}, default="any"
        Which pairs are drawn.
    rows : array-like of int, optional
        Rows that may be drawn; all by default.
    closed : bool, default=False
        Whether all that follows from the pairs is added.
    wrong : float, default=0.0
        Share of the pairs of each set whose answer is the opposite of the truth. A wrong answer stays wrong
        in the larger sets.
    random_state : int or Generator, optional
        Seed of the draw; by default every call draws other pairs.

    Returns
    -------
    list of Constraints
        One for each of `numbers`.

    Raises
    ------
    ValueError
        As `draw_constraints`, or `numbers` do not ascend.

    Examples
    --------
    >>> from linkwise.experiments.constraint_sets import draw_nested_constraints
    >>> few, more = draw_nested_constraints([0, 0, 1, 1], [2, 4], random_state=0)
    >>> set(map(tuple, few.must_link)) <= set(map(tuple, more.must_link))
    True
    """
    _check_wrong(wrong, closed)
    codes, usable = _list_usable(y, rows)
    counts = [_count_pairs(len(usable), None if percent else int(n), n if percent else None) for n in numbers]
    if counts != sorted(counts):
        raise ValueError(f"numbers={list(numbers)!r} do not ascend. Give the smallest first.")
    most = counts[-1] if counts else 0
    pairs = usable[_draw(codes[usable], most, kind, np.random.default_rng(random_state))]
    if kind == "balanced":  # both kinds by turns, so that each part is balanced
        pairs = pairs[np.argsort(np.concatenate([np.arange(0, most, 2), np.arange(1, most, 2)]))]
    same = codes[pairs[:, 0]] == codes[pairs[:, 1]]
    same ^= np.diff([round(wrong * n) for n in range(most + 1)]) > 0  # the pairs are in random order
    return [_build_constraints(len(codes), pairs[:n], same[:n], closed, wrong) for n in counts]


def close_constraints(constraints: Constraints) -> Constraints:
    """Return the constraints and all that follow from them.

    Parameters
    ----------
    constraints : Constraints
        Without a contradiction.

    Returns
    -------
    Constraints
        A must-link between any two rows of a group, and a cannot-link between any row of one group and any
        row of another that is apart from it. The number of pairs grows with the square of the sizes of the
        groups.
    """
    members: dict[int, list[int]] = {}
    for row in np.unique(np.concatenate([constraints.must_link, constraints.cannot_link]).ravel()):
        members.setdefault(int(constraints.component[row]), []).append(int(row))
    must = [(a, b) for rows in members.values() for at, a in enumerate(rows) for b in rows[:at]]
    apart = constraints.component_cannot_link.tolist()
    cannot = [(a, b) for first, second in apart for a in members[first] for b in members[second]]
    return Constraints(len(constraints), must, cannot)


def _check_wrong(wrong: float, closed: bool) -> None:
    if closed and wrong:
        raise ValueError("The closure of wrong constraints is not defined. Leave out closed or wrong.")
    if not 0 <= wrong <= 1:
        raise ValueError(f"wrong={wrong!r} is not a share. Give a number from 0 to 1.")


def _build_constraints(
    n_rows: int, pairs: Pairs, same: NDArray[np.bool_], closed: bool, wrong: float
) -> Constraints:
    with warnings.catch_warnings(action="ignore", category=ConstraintWarning):  # wrong ones were asked for
        drawn = Constraints(n_rows, pairs[same], pairs[~same], on_conflict="keep" if wrong else "raise")
    return close_constraints(drawn) if closed else drawn


# ---------------------------------------------------------------- which pairs
def _list_usable(y: ArrayLike, rows: ArrayLike | None) -> tuple[Classes, NDArray[np.int64]]:
    """Return the class of each row, and the rows that may be drawn."""
    codes = encode_classes(y)
    usable = np.flatnonzero(codes >= 0)
    return codes, usable if rows is None else np.intersect1d(usable, np.asarray(rows))


def _count_pairs(n_rows: int, n: int | None, percent: float | None) -> int:
    if (n is None) == (percent is None):
        raise ValueError(f"n={n!r} and percent={percent!r} were given. Give one of them.")
    if n is not None:
        return n
    assert percent is not None
    if not 0 <= percent <= 100:
        raise ValueError(f"percent={percent!r} is not from 0 to 100.")
    return int(percent * (n_rows * (n_rows - 1) // 2) / 100)


def _draw(codes: Classes, wanted: int, kind: Kind, rng: np.random.Generator) -> Pairs:
    """Draw positions among the usable rows."""
    if kind == "balanced":
        same = _draw_of_kind(codes, wanted - wanted // 2, "must-link", rng)
        return np.concatenate([same, _draw_of_kind(codes, wanted // 2, "cannot-link", rng)])
    return _draw_of_kind(codes, wanted, kind, rng)


def _draw_of_kind(codes: Classes, wanted: int, kind: Kind, rng: np.random.Generator) -> Pairs:
    """Draw without forming all pairs: a pair is a number, and blocks of classes share the numbers out."""
    blocks = _list_blocks(codes, kind)
    ends = np.cumsum([_count_block(block) for block in blocks], dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    if not 0 <= wanted <= total:
        raise ValueError(f"{wanted} {kind} pairs cannot be drawn: there are {total}. Give from 0 to {total}.")
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
    raise ValueError(f"kind={kind!r} is unknown. Give 'any', 'must-link', 'cannot-link' or 'balanced'.")


def _count_block(block: Block) -> int:
    rows, others = block
    return len(rows) * (len(rows) - 1) // 2 if others is None else len(rows) * len(others)


def _unrank(block: Block, number: NDArray[np.int64]) -> Pairs:
    """Return the pairs of a block by their numbers there."""
    rows, others = block
    if others is None:
        return np.asarray(rows[unrank_pairs(number)])
    return np.column_stack([rows[number // len(others)], others[number % len(others)]])

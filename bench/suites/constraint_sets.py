"""Draw constraints from known classes, in the ways of the papers.

=================================================  ================================================
Van Craenendonck and Blockeel (2017), section III  ``n`` pairs, ``rows`` 70 % of all; more are added to them
Okabe and Yamada (2018), section 5                 ``percent`` of all pairs
Struyf and Džeroski (2007), section 4              ``n`` pairs, ``rows`` outside one fold
Halkidi et al. (2008), section 4.2                 `draw_both_kinds`, percent of the rows of each kind
=================================================  ================================================
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bench.suites.pair_kinds import Classes, Kind, draw_of_kind
from linkwise.constraints.checks import encode_classes
from linkwise.constraints.closure import Pairs
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.sampling import draw_pairs
from linkwise.errors import ConstraintWarning


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
    >>> from bench.suites.constraint_sets import draw_constraints
    >>> pairs = draw_constraints([0, 0, 1, 1], 4, kind="cannot-link", random_state=0)
    >>> len(pairs.must_link), len(pairs.cannot_link)
    (0, 4)
    """
    _check_wrong(wrong, closed)
    codes, usable = _list_usable(y, rows)
    rng = np.random.default_rng(random_state)
    wanted = _count_pairs(len(usable), n, percent)
    pairs = usable[draw_of_kind(codes[usable], wanted, kind, rng)]
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
    >>> from bench.suites.constraint_sets import draw_nested_constraints
    >>> few, more = draw_nested_constraints([0, 0, 1, 1], [2, 4], random_state=0)
    >>> set(map(tuple, few.must_link)) <= set(map(tuple, more.must_link))
    True
    """
    _check_wrong(wrong, closed)
    codes, usable = _list_usable(y, rows)
    counts = [_count_pairs(len(usable), None if percent else int(n), n if percent else None) for n in numbers]
    if counts != sorted(counts):
        raise ValueError(f"numbers={list(numbers)!r} do not ascend. Pass the smallest first.")
    most = counts[-1] if counts else 0
    pairs = usable[draw_of_kind(codes[usable], most, kind, np.random.default_rng(random_state))]
    if kind == "balanced":  # both kinds by turns, so that each part is balanced
        pairs = pairs[np.argsort(np.concatenate([np.arange(0, most, 2), np.arange(1, most, 2)]))]
    same = codes[pairs[:, 0]] == codes[pairs[:, 1]]
    same ^= np.diff([round(wrong * n) for n in range(most + 1)]) > 0  # the pairs are in random order
    return [_build_constraints(len(codes), pairs[:n], same[:n], closed, wrong) for n in counts]


def draw_both_kinds(
    y: ArrayLike,
    must_link: int,
    cannot_link: int,
    *,
    rows: ArrayLike | None = None,
    closed: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> Constraints:
    """Draw so many must-links and so many cannot-links, with replacement.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class of each row; rows of unknown class (-1, None, NaN) are never drawn.
    must_link, cannot_link : int
        Number of pairs of one class and of two classes. `count_percent` turns percent of the rows into them.
    rows : array-like of int, optional
        Rows that may be drawn; all by default.
    closed : bool, default=False
        Whether all that follows from the pairs is added.
    random_state : int or Generator, optional
        Seed of the draw; by default every call draws other pairs.

    Returns
    -------
    Constraints
        A pair that is drawn twice counts twice and is in them once, so there may be fewer. `n_duplicates` of
        the constraints is the difference, unless `closed`.

    Raises
    ------
    ValueError
        A number is negative, or there is no pair of a kind that is asked for.

    Notes
    -----
    Two rows are drawn until there are enough pairs of both kinds, so a kind that is rare takes long.
    For distinct pairs of one kind use `draw_constraints`.

    References
    ----------
    Maria Halkidi et al. (2008), "A clustering framework based on subjective and objective validity criteria",
    ACM Transactions on Knowledge Discovery from Data 1(4), section 4.2.

    Examples
    --------
    >>> from bench.suites.constraint_sets import count_percent, draw_both_kinds
    >>> y = [0, 1, 2, 3] * 25
    >>> must, cannot = (count_percent(len(y), percent, "rows") for percent in (5, 6))
    >>> pairs = draw_both_kinds(y, must, cannot, random_state=0)
    >>> len(pairs.must_link), len(pairs.cannot_link)
    (5, 6)
    """
    codes, usable = _list_usable(y, rows)
    wanted, sizes = (must_link, cannot_link), np.bincount(codes[usable])
    is_there = bool((sizes > 1).any()), int((sizes > 0).sum()) > 1
    for number, name, some in zip(wanted, ("must-link", "cannot-link"), is_there, strict=True):
        if number < 0 or (number and not some):
            raise ValueError(f"{number} {name} pairs cannot be drawn. Pass 0{' or more' if some else ''}.")
    rng = np.random.default_rng(random_state)
    drawn: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    while len(drawn[0]) < must_link or len(drawn[1]) < cannot_link:
        i, j = (int(row) for row in usable[rng.integers(0, len(usable), 2)])
        kind = int(codes[i] != codes[j])
        if i != j and len(drawn[kind]) < wanted[kind]:
            drawn[kind].append((i, j))
    constraints = Constraints(len(codes), *drawn)
    return close_constraints(constraints) if closed else constraints


def draw_row_pairs(
    rows: ArrayLike, n: int, random_state: int | np.random.Generator | None = None
) -> NDArray[np.int64]:
    """Draw distinct pairs of some rows, in random order, such as those that a user answers one by one.

    Parameters
    ----------
    rows : array-like of int
        Rows that may be drawn, each once.
    n : int
        Number of pairs; all pairs if there are fewer.
    random_state : int or Generator, optional
        Seed of the draw; by default every call draws other pairs.

    Returns
    -------
    ndarray of shape (n, 2)
        `label_pairs` turns the first of them into constraints.
    """
    usable = np.asarray(rows, dtype=np.int64)
    n_pairs = min(n, len(usable) * (len(usable) - 1) // 2)
    return np.asarray(usable[draw_pairs(len(usable), n_pairs, np.random.default_rng(random_state))])


def label_pairs(y: ArrayLike, pairs: ArrayLike) -> Constraints:
    """Return the constraints that the classes give for pairs.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class of each row.
    pairs : array-like of shape (n_pairs, 2)

    Returns
    -------
    Constraints
        A must-link for each pair of one class, and a cannot-link for each other pair.

    Examples
    --------
    >>> from bench.suites.constraint_sets import label_pairs
    >>> label_pairs(["a", "b", "a"], [(0, 2), (1, 2)]).must_link.tolist()
    [[0, 2]]
    """
    classes, ends = np.asarray(y), np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    same = classes[ends[:, 0]] == classes[ends[:, 1]]
    return Constraints(len(classes), ends[same], ends[~same])


def count_percent(n_rows: int, percent: float, of: Literal["pairs", "rows"] = "pairs") -> int:
    """Return how many pairs a percentage is.

    Parameters
    ----------
    n_rows : int
        Number of rows that may be drawn.
    percent : float
        From 0 to 100.
    of : {"pairs", "rows"}, default="pairs"
        Percent of all pairs of rows, rounded down, or of the rows, rounded, and 1 at least.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        `percent` is not from 0 to 100.
    """
    if not 0 <= percent <= 100:
        raise ValueError(f"percent={percent!r} is not from 0 to 100.")
    if of == "rows":
        return max(1, round(n_rows * percent / 100)) if percent else 0
    return int(percent * (n_rows * (n_rows - 1) // 2) / 100)


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
        raise ValueError("The closure of wrong constraints is not defined. Remove closed or wrong.")
    if not 0 <= wrong <= 1:
        raise ValueError(f"wrong={wrong!r} is not a share. Pass a number from 0 to 1.")


def _build_constraints(
    n_rows: int, pairs: Pairs, same: NDArray[np.bool_], closed: bool, wrong: float
) -> Constraints:
    with warnings.catch_warnings(action="ignore", category=ConstraintWarning):  # wrong ones were asked for
        drawn = Constraints(n_rows, pairs[same], pairs[~same], on_conflict="keep" if wrong else "raise")
    return close_constraints(drawn) if closed else drawn


# ---------------------------------------------------------------- rows and numbers
def _list_usable(y: ArrayLike, rows: ArrayLike | None) -> tuple[Classes, NDArray[np.int64]]:
    """Return the class of each row, and the rows that may be drawn."""
    codes = encode_classes(y)
    usable = np.flatnonzero(codes >= 0)
    return codes, usable if rows is None else np.intersect1d(usable, np.asarray(rows))


def _count_pairs(n_rows: int, n: int | None, percent: float | None) -> int:
    if (n is None) == (percent is None):
        raise ValueError(f"n={n!r} and percent={percent!r} were given. Pass one of them.")
    if n is not None:
        return n
    assert percent is not None
    return count_percent(n_rows, percent)

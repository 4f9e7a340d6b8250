"""Constraints: an immutable, validated set of must-links and cannot-links aligned with the rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Literal, Self, TextIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.constraints.checks import (
    ConstraintKind,
    check_ids,
    check_pairs,
    check_row,
    check_row_count,
    check_weights,
    drop_self_pairs,
    encode_classes,
    index_ids,
    merge_duplicates,
)
from linkwise.constraints.closure import Pairs, find_components, format_chain, shortest_contradiction
from linkwise.constraints.correlation_clustering import GivenPairs, SuspectPair, find_suspects
from linkwise.constraints.files import read_pairs, write_pairs
from linkwise.constraints.sampling import draw_pairs
from linkwise.errors import (
    ConstraintError,
    ConstraintWarning,
    DataError,
    InfeasibleConstraintsError,
    short_repr,
)
from linkwise.text_files import refuse_lone_surrogates
from linkwise.wording import count_noun

OnConflict = Literal["raise", "keep", "believe"]
ON_CONFLICT: tuple[OnConflict, ...] = ("raise", "keep", "believe")


class Constraints:
    """Must-links and cannot-links between the rows of one data set.

    The set is a value: it is checked once, when it is built, and never changes. Like a vector of labels it
    is aligned with the rows (``len(c) == n_rows``), so scikit-learn's splitters can cut it: ``c[rows]``
    holds every constraint that follows for those rows, with the rows renumbered.

    Parameters
    ----------
    n_rows : int
        Number of rows of the data.
    must_link, cannot_link : array-like of shape (n_pairs, 2), optional
        Pairs of row positions, integers in ``[0, n_rows)``. The order within a pair and among pairs
        does not matter. A repeated pair is stored once, with the largest of its weights.
    must_link_weight, cannot_link_weight : array-like of shape (n_pairs,), optional
        Weights above 0, 1 by default. Methods that never break a constraint ignore them.
    on_conflict : {"raise", "keep", "believe"}, default="raise"
        What to do with a cannot-link whose ends are joined by must-links: raise an error; keep it with a
        warning, for methods that may break constraints; or leave out the pairs that are probably wrong, with
        a warning, so that the others contradict nothing. With ``"believe"`` a repeated pair counts as often
        as it is given, and a pair counts by its weight relative to the mean weight.
    error_rate : float, optional
        For ``on_conflict="believe"``: share of wrong pairs, above 0 and below 0.5; estimated by default. It
        changes the chances of `suspects`.

    Attributes
    ----------
    must_link, cannot_link : ndarray of shape (n_pairs, 2)
        Distinct pairs, lower row first, sorted.
    must_link_weight, cannot_link_weight : ndarray of shape (n_pairs,)
        Weight of each pair.
    component : ndarray of shape (n_rows,)
        Component of each row under the must-links, numbered in the order of their first rows.
    component_cannot_link : ndarray of shape (n, 2)
        Distinct pairs of components that a cannot-link separates.
    conflicts : ndarray of shape (n, 2)
        The cannot-links that contradict the must-links; empty unless ``on_conflict="keep"``.
    suspects : tuple of SuspectPair
        The pairs that were left out, as ``(first, second, kind, chance)`` with the estimated probability that
        the pair is wrong, the highest first; empty unless ``on_conflict="believe"``.
    n_duplicates : int
        Number of repeated pairs that were dropped.

    Raises
    ------
    ConstraintError
        A row outside ``[0, n_rows)``, a weight out of range, or a list that does not hold pairs.
    InfeasibleConstraintsError
        A cannot-link of a row with itself, or a contradiction; the error names the shortest chain.
    TypeError
        Positions that are not integers.
    ValueError
        `on_conflict` is unknown, or `error_rate` is out of range or given without ``"believe"``.

    Examples
    --------
    >>> c = Constraints(5, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 4)])
    >>> c.relation(0, 4)
    'cannot-link'
    >>> c[[0, 2, 4]].must_link.tolist()
    [[0, 1]]
    """

    n_rows: int
    must_link: Pairs
    cannot_link: Pairs
    must_link_weight: NDArray[np.float64]
    cannot_link_weight: NDArray[np.float64]
    on_conflict: OnConflict
    component: NDArray[np.int64]
    component_cannot_link: Pairs
    conflicts: Pairs
    suspects: tuple[SuspectPair, ...]
    n_duplicates: int

    def __init__(
        self,
        n_rows: int,
        must_link: ArrayLike | Iterable[tuple[int, int]] = (),
        cannot_link: ArrayLike | Iterable[tuple[int, int]] = (),
        *,
        must_link_weight: ArrayLike | None = None,
        cannot_link_weight: ArrayLike | None = None,
        on_conflict: OnConflict = "raise",
        error_rate: float | None = None,
    ) -> None:
        n = check_row_count(n_rows)
        _check_treatment(on_conflict, error_rate)
        must, must_at = check_pairs(must_link, n, "must-link")
        cannot, cannot_at = check_pairs(cannot_link, n, "cannot-link")
        must_w = check_weights(must_link_weight, must_at, "must_link_weight")
        cannot_w = check_weights(cannot_link_weight, cannot_at, "cannot_link_weight")
        must, must_w, must_pos = drop_self_pairs(must, must_w, "must-link")
        cannot, cannot_w, cannot_pos = drop_self_pairs(cannot, cannot_w, "cannot-link")
        suspects: tuple[SuspectPair, ...] = ()
        if on_conflict == "believe":
            is_must = np.arange(len(must) + len(cannot)) < len(must)
            given = GivenPairs(np.vstack([must, cannot]), is_must, np.r_[must_w, cannot_w])
            suspects = tuple(find_suspects(n, given, error_rate))
        must, must_w, must_pos, must_twice = merge_duplicates(must, must_w, must_pos, n)
        cannot, cannot_w, cannot_pos, cannot_twice = merge_duplicates(cannot, cannot_w, cannot_pos, n)
        if suspects:
            must, must_w = _leave_out(suspects, "must-link", must, must_w)
            cannot, cannot_w = _leave_out(suspects, "cannot-link", cannot, cannot_w)
            warnings.warn(
                "The constraints contradict each other."
                f" {count_noun(len(suspects), 'pair')} left out as probably wrong, see .suspects.",
                ConstraintWarning,
                stacklevel=2,
            )
        component = find_components(n, must)
        inside = component[cannot[:, 0]] == component[cannot[:, 1]]
        if inside.any():
            _report_conflict(n, must, cannot, must_pos, cannot_pos, inside, on_conflict)
        between = np.sort(component[cannot[~inside]], axis=1)
        values: dict[str, Any] = {
            "n_rows": n,
            "must_link": must,
            "cannot_link": cannot,
            "must_link_weight": must_w,
            "cannot_link_weight": cannot_w,
            "on_conflict": on_conflict,
            "component": component,
            "component_cannot_link": np.unique(between, axis=0).reshape(-1, 2),
            "conflicts": cannot[inside],
            "suspects": suspects,
            "n_duplicates": must_twice + cannot_twice,
        }
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Constraints do not change: {name}. Build new ones with Constraints(...).")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Constraints do not change: {name}. Build new ones with Constraints(...).")

    # ------------------------------------------------------------ aligned with the rows
    @property
    def shape(self) -> tuple[int]:
        """``(n_rows,)``, the shape of a vector with one entry for each row."""
        return (self.n_rows,)

    def __len__(self) -> int:
        return self.n_rows

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            "Constraints cannot be converted to an array. Use their pairs: must_link and cannot_link."
        )

    def __getitem__(self, rows: Any) -> Constraints:
        """Return the constraints that follow for `rows`, with the rows renumbered by their order.

        Pairs with both ends among `rows` stay, with their weights. A relation that follows only through
        other rows becomes a pair of its own, with the smallest weight of the pairs that it follows from.
        A row that is selected twice is must-linked to its copy.

        Parameters
        ----------
        rows : int, slice, or array-like of int or bool
            Rows to select, as for a NumPy array.

        Returns
        -------
        Constraints
            Constraints between the selected rows.
        """
        if isinstance(rows, tuple):  # scikit-learn indexes with c[rows, ...]
            rows = rows[0]
        return _restrict(self, np.atleast_1d(np.arange(self.n_rows)[rows]))

    # ------------------------------------------------------------ relations
    @property
    def n_constraints(self) -> int:
        """Number of distinct pairs."""
        return len(self.must_link) + len(self.cannot_link)

    def relation(self, first: int, second: int) -> ConstraintKind | None:
        """Return the constraint that is given or follows for two rows.

        Parameters
        ----------
        first, second : int
            Row positions.

        Returns
        -------
        {"must-link", "cannot-link"} or None
            None if neither follows. With conflicts, must-links take precedence.

        Raises
        ------
        ConstraintError
            A row outside ``[0, n_rows)``.
        TypeError
            A position that is not an integer.
        """
        rows = [check_row(row, self.n_rows) for row in (first, second)]
        a, b = sorted(self.component[rows].tolist())
        if a == b:
            return "must-link"
        at = np.searchsorted(self.component_cannot_link[:, 0], a)
        end = np.searchsorted(self.component_cannot_link[:, 0], a, side="right")
        return "cannot-link" if b in self.component_cannot_link[at:end, 1] else None

    def find_violations(self, labels: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Find the constraints that a clustering breaks.

        Parameters
        ----------
        labels : array-like of shape (n_rows,)
            Cluster of every row. Noise (-1) counts as one cluster.

        Returns
        -------
        tuple of two ndarrays of bool, shapes (n_must_links,) and (n_cannot_links,)
            Whether each must-link, and each cannot-link, is broken.

        Raises
        ------
        ValueError
            If there is not one label for each row.
        """
        found = np.asarray(labels)
        if found.shape != (self.n_rows,):
            raise ValueError(
                f"labels have shape {found.shape}, but the constraints are about {self.n_rows} rows."
                " Pass one label for each row."
            )
        must = found[self.must_link[:, 0]] != found[self.must_link[:, 1]]
        cannot = found[self.cannot_link[:, 0]] == found[self.cannot_link[:, 1]]
        return must, cannot

    # ------------------------------------------------------------ sources and files
    @classmethod
    def from_labels(cls, y: ArrayLike) -> Self:
        """Build constraints from classes: rows of one class together, rows of different classes apart.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Class of every row; -1 or a missing value (None, NaN, NaT, NA, masked, null) if it is unknown.

        Returns
        -------
        Constraints
            A chain of must-links through each class, and a cannot-link between each two classes.
        """
        codes = encode_classes(y)
        known = np.flatnonzero(codes >= 0)
        order = known[np.argsort(codes[known], kind="stable")]
        new_class = np.r_[True, np.diff(codes[order]) > 0] if len(order) else np.empty(0, bool)
        chained = np.flatnonzero(~new_class)
        first = order[new_class]
        i, j = np.triu_indices(len(first), 1)
        return cls(
            len(codes),
            np.column_stack([order[chained - 1], order[chained]]),
            np.column_stack([first[i], first[j]]),
        )

    @classmethod
    def sample(cls, y: ArrayLike, n: int, random_state: int | np.random.Generator | None = None) -> Self:
        """Draw `n` distinct pairs of rows at random and label them by the classes `y`.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Class of every row; rows of unknown class (-1 or missing) are never drawn.
        n : int
            Number of pairs, at most the number of pairs of rows with a known class.
        random_state : int or Generator, optional
            Seed of the draw; by default every call draws other pairs.

        Returns
        -------
        Constraints
            The drawn pairs, as must-links and cannot-links.

        Raises
        ------
        ValueError
            If there are fewer than `n` pairs.
        """
        codes = encode_classes(y)
        known = np.flatnonzero(codes >= 0)
        total = len(known) * (len(known) - 1) // 2
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 0 <= n <= total:
            raise ValueError(
                f"n={short_repr(n)} pairs cannot be drawn from {len(known)} rows of known class."
                f" Pass an integer from 0 to {total}."
            )
        rng = np.random.default_rng(random_state)
        pairs = known[draw_pairs(len(known), n, rng)]
        same = codes[pairs[:, 0]] == codes[pairs[:, 1]]
        return cls(len(codes), pairs[same], pairs[~same])

    @classmethod
    def read_csv(
        cls,
        path: str | os.PathLike[str],
        *,
        n_rows: int | None = None,
        ids: Sequence[object] | None = None,
        on_conflict: OnConflict = "raise",
        error_rate: float | None = None,
    ) -> Self:
        """Read pairs from a CSV file with the columns ``id_a,id_b,kind`` and, if given, ``weight``.

        Parameters
        ----------
        path : path
            File in UTF-8; `kind` is ``must-link`` or ``cannot-link``.
        n_rows : int, optional
            Number of rows, if the file names rows by position.
        ids : sequence of length n_rows, optional
            The id of every row, if the file names rows by id. Ids are compared as texts.
        on_conflict : {"raise", "keep", "believe"}, default="raise"
            What to do with contradictions, see the class.
        error_rate : float, optional
            For ``on_conflict="believe"``: share of wrong pairs; estimated by default.

        Returns
        -------
        Constraints
            The pairs of the file.

        Raises
        ------
        ConstraintError
            The file is not such a CSV file, or names an unknown row; the error names the line.
        InfeasibleConstraintsError
            The pairs contradict each other; the error names the lines.
        TypeError
            If both or neither of `n_rows` and `ids` are given.
        ValueError
            `on_conflict` is unknown, or `error_rate` is out of range or given without ``"believe"``.
        OSError
            The file cannot be read.
        """
        if (n_rows is None) == (ids is None):
            raise TypeError(
                "Exactly one of n_rows and ids is needed. Pass n_rows if the file names positions,"
                " or ids if it names ids."
            )
        names = list(map(str, range(check_row_count(n_rows)))) if n_rows is not None else check_ids(ids)
        position = index_ids(names)
        must: list[tuple[int, int, float]] = []
        cannot: list[tuple[int, int, float]] = []
        line_of: dict[tuple[int, int, ConstraintKind], int] = {}
        for line, first, second, kind, weight in read_pairs(path, position):
            (must if kind == "must-link" else cannot).append((first, second, weight))
            line_of.setdefault((min(first, second), max(first, second), kind), line)
        try:
            return cls(
                len(names),
                [p[:2] for p in must],
                [p[:2] for p in cannot],
                must_link_weight=[p[2] for p in must],
                cannot_link_weight=[p[2] for p in cannot],
                on_conflict=on_conflict,
                error_rate=error_rate,
            )
        except InfeasibleConstraintsError as error:
            if len(set(error.chain)) == 1:
                row = error.chain[0]
                line = line_of[row, row, "cannot-link"]
                raise InfeasibleConstraintsError(
                    f"Line {line} of {os.fspath(path)} separates row {names[row]!r} from itself. Remove it.",
                    error.chain,
                ) from None
            ends = tuple(sorted((error.chain[0], error.chain[-1])))
            steps = [(min(pair), max(pair), "must-link") for pair in pairwise(error.chain)]
            lines = [line_of[s] for s in (*steps, (*ends, "cannot-link")) if s in line_of]
            words = format_chain(error.chain, names.__getitem__)
            where = ("line " if len(lines) == 1 else "lines ") + ", ".join(map(str, sorted(lines)))
            raise InfeasibleConstraintsError(
                f"Pairs of {os.fspath(path)} contradict each other: {words} ({where}). Remove one of them.",
                error.chain,
            ) from None

    def to_csv(self, target: str | os.PathLike[str] | TextIO, *, ids: Sequence[object] | None = None) -> None:
        """Write the pairs as ``id_a,id_b,kind``, and ``weight`` when one is not 1.

        Parameters
        ----------
        target : path, or an open text file
            Where to write; a file that exists is replaced.
        ids : sequence of length n_rows, optional
            The id of every row; by default rows are written by position.

        Raises
        ------
        ConstraintError
            An id holds half a character, which UTF-8 cannot write.
        ValueError
            If there is not one id for each row.
        OSError
            The file cannot be written.
        """
        names = None if ids is None else check_ids(ids)
        if names is not None and len(names) != self.n_rows:
            raise ValueError(f"There are {len(names)} ids for {self.n_rows} rows. Pass one id for each row.")
        try:
            refuse_lone_surrogates(names or (), "the ids")
        except DataError as error:
            raise ConstraintError(str(error)) from None
        name = str if names is None else names.__getitem__
        weights = {"must-link": self.must_link_weight, "cannot-link": self.cannot_link_weight}
        plain = all((w == 1).all() for w in weights.values())
        rows = [
            (name(i), name(j), kind, *(() if plain else (repr(weight),)))
            for kind, pairs in (("must-link", self.must_link), ("cannot-link", self.cannot_link))
            for (i, j), weight in zip(pairs.tolist(), weights[kind].tolist(), strict=True)
        ]
        write_pairs(target, rows, weighted=not plain)

    # ------------------------------------------------------------ as a value
    def _key(self) -> tuple[Any, ...]:
        return (
            self.n_rows,
            self.on_conflict,
            self.suspects,
            self.must_link.tobytes(),
            self.cannot_link.tobytes(),
            self.must_link_weight.tobytes(),
            self.cannot_link_weight.tobytes(),
        )

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Constraints) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (
            self.n_rows,
            self.must_link,
            self.cannot_link,
            self.must_link_weight,
            self.cannot_link_weight,
            self.on_conflict,
            self.suspects,
        )

    def __repr__(self) -> str:
        return (
            f"Constraints(n_rows={self.n_rows}: {len(self.must_link)} must-links, "
            f"{len(self.cannot_link)} cannot-links)"
        )


def constraint_score(labels: ArrayLike, constraints: Constraints) -> float:
    """Compute the share of the constraints that a clustering satisfies.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Cluster of every row. Noise (-1) counts as one cluster.
    constraints : Constraints
        Constraints between these rows; their weights are ignored.

    Returns
    -------
    float
        From 0 to 1; 1.0 if there are no constraints.

    Raises
    ------
    TypeError
        If `constraints` is not a `Constraints` object.
    ValueError
        If there is not one label for each row.

    Examples
    --------
    >>> constraint_score([0, 0, 1], Constraints(3, must_link=[(0, 1)], cannot_link=[(0, 2)]))
    1.0
    """
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints is not a Constraints object: {short_repr(constraints)}."
            " Build one with linkwise.Constraints."
        )
    if constraints.n_constraints == 0:
        return 1.0
    broken = sum(int(v.sum()) for v in constraints.find_violations(labels))
    return 1.0 - broken / constraints.n_constraints


def _check_treatment(on_conflict: object, error_rate: object) -> None:
    """Raise unless it is known what to do with contradictions, and the error rate fits it."""
    if not (isinstance(on_conflict, str) and on_conflict in ON_CONFLICT):
        raise ValueError(
            f"on_conflict is unknown: {short_repr(on_conflict)}. Pass 'raise', 'keep' or 'believe'."
        )
    if error_rate is None:
        return
    numbers = (int, float, np.integer, np.floating)
    if isinstance(error_rate, bool) or not (isinstance(error_rate, numbers) and 0 < error_rate < 0.5):
        raise ValueError(
            f"error_rate is not a share of wrong pairs: {short_repr(error_rate)}."
            " Pass a number above 0 and below 0.5, or None to estimate it."
        )
    if on_conflict != "believe":
        raise ValueError(
            f"error_rate is {short_repr(error_rate)}, but on_conflict is {on_conflict!r}."
            " Pass on_conflict='believe', or remove error_rate."
        )


def _leave_out(
    suspects: tuple[SuspectPair, ...], kind: ConstraintKind, pairs: Pairs, weights: NDArray[np.float64]
) -> tuple[Pairs, NDArray[np.float64]]:
    """Leave out the suspects of one kind."""
    wrong = {(suspect.first, suspect.second) for suspect in suspects if suspect.kind == kind}
    is_right = np.array([pair not in wrong for pair in map(tuple, pairs.tolist())], dtype=bool)
    return pairs[is_right], weights[is_right]


def _report_conflict(
    n: int,
    must: Pairs,
    cannot: Pairs,
    must_at: NDArray[np.int64],
    cannot_at: NDArray[np.int64],
    inside: NDArray[np.bool_],
    on_conflict: OnConflict,
) -> None:
    chain = shortest_contradiction(n, must, cannot[inside])
    words = f"The constraints contradict each other: {format_chain(chain)}"
    if len(chain) == 2:
        low, high = sorted(chain)
        m = must_at[np.flatnonzero((must == (low, high)).all(axis=1))[0]]
        c = cannot_at[np.flatnonzero((cannot == (low, high)).all(axis=1))[0]]
        words += f" (must-link {m} and cannot-link {c})"
    if on_conflict == "raise":
        raise InfeasibleConstraintsError(
            f"{words}. Remove one of them, or pass on_conflict='keep' for a method that may break some, or"
            " on_conflict='believe' to leave out pairs that are probably wrong.",
            chain,
        )
    warnings.warn(
        f"{words}. {count_noun(int(inside.sum()), 'contradictory cannot-link')} kept, see .conflicts.",
        ConstraintWarning,
        stacklevel=3,
    )


# ---------------------------------------------------------------- cutting
def _restrict(c: Constraints, rows: NDArray[np.int64]) -> Constraints:
    """Restrict constraints to `rows` (repeats allowed), renumbered 0 .. len(rows) - 1."""
    place = np.full(c.n_rows, -1, dtype=np.int64)
    place[rows[::-1]] = np.arange(len(rows))[::-1]  # the first of several copies
    copies = np.flatnonzero(place[rows] != np.arange(len(rows)))
    must, must_w = _restrict_pairs(c.must_link, c.must_link_weight, place)
    cannot, cannot_w = _restrict_pairs(c.cannot_link, c.cannot_link_weight, place)
    must = np.vstack([must, np.column_stack([place[rows[copies]], copies])])
    must_w = np.r_[must_w, np.ones(len(copies))]

    # must-links that followed through other rows
    old = c.component[rows]
    first = np.unique(find_components(len(rows), must), return_index=True)[1]
    first = first[np.argsort(old[first], kind="stable")]
    followed = np.flatnonzero(np.diff(old[first]) == 0)
    weakest = np.full(c.n_rows, np.inf)
    np.minimum.at(weakest, c.component[c.must_link[:, 0]], c.must_link_weight)
    must = np.vstack([must, np.column_stack([first[followed], first[followed + 1]])])
    must_w = np.r_[must_w, weakest[old[first[followed]]]]

    # cannot-links between components that were given for other rows
    pairs, pair_w = c.cannot_link, c.cannot_link_weight
    ends = np.sort(c.component[pairs], axis=1)
    between, inverse = np.unique(ends, axis=0, return_inverse=True)
    between_w = np.full(len(between), np.inf)
    np.minimum.at(between_w, inverse.ravel(), pair_w)
    between_w = np.minimum(between_w, weakest[between].min(axis=1))
    holder = np.full(c.n_rows, -1, dtype=np.int64)
    holder[old[::-1]] = np.arange(len(rows))[::-1]
    kept_ends = np.sort(old[cannot], axis=1)
    present = np.isin(between[:, 0] * c.n_rows + between[:, 1], kept_ends[:, 0] * c.n_rows + kept_ends[:, 1])
    new = ~present & (between[:, 0] != between[:, 1]) & (holder[between] >= 0).all(axis=1)
    cannot = np.vstack([cannot, holder[between[new]]])
    cannot_w = np.r_[cannot_w, between_w[new]]
    suspects = tuple(
        suspect._replace(first=min(ends), second=max(ends))
        for suspect in c.suspects
        if min(ends := place[[suspect.first, suspect.second]].tolist()) >= 0
    )
    # the warning was given when the whole set was built
    return _rebuild(len(rows), must, cannot, must_w, cannot_w, c.on_conflict, suspects)


def _restrict_pairs(
    pairs: Pairs, weights: NDArray[np.float64], place: NDArray[np.int64]
) -> tuple[Pairs, NDArray[np.float64]]:
    moved = place[pairs]
    kept = (moved >= 0).all(axis=1)
    return moved[kept], weights[kept]


def _rebuild(
    n_rows: int,
    must: Pairs,
    cannot: Pairs,
    must_weight: NDArray[np.float64],
    cannot_weight: NDArray[np.float64],
    on_conflict: OnConflict,
    suspects: tuple[SuspectPair, ...] = (),
) -> Constraints:
    """Build a copy or a part without repeating the warnings of the first construction."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstraintWarning)
        found = Constraints(
            n_rows,
            must,
            cannot,
            must_link_weight=must_weight,
            cannot_link_weight=cannot_weight,
            on_conflict=on_conflict,
        )
    object.__setattr__(found, "suspects", suspects)
    return found

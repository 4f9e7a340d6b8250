"""Answer questions from known classes, for experiments."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.constraints.checks import encode_classes, is_integer, list_labels
from linkwise.constraints.facts import Answer, GivenAnswer, check_answer
from linkwise.errors import DataError, short_repr
from linkwise.learn.border_errors import BorderErrors
from linkwise.learn.error_models import (
    AdversaryErrors,
    ClassErrors,
    ErrorModel,
    RowErrors,
    StreakErrors,
    find_nearest_classes,
)
from linkwise.rng import rng_at
from linkwise.wording import count_noun

Hard = Literal["border", "classes", "rows", "streaks", "adversary"]
HARD: tuple[Hard, ...] = get_args(Hard)


class TruthOracle:
    """Answer questions from known classes, optionally with errors and ``"unsure"`` answers.

    An answer depends on the pair and the seed alone: the same question always has the same answer. Only if
    `hard` is ``"streaks"`` or ``"adversary"`` does it also depend on the number of earlier answers.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class of every row; -1 or a missing value if it is unknown. The answer about such a row is
        ``"unsure"``.
    noise : float, default=0.0
        Probability that a yes becomes a no, or a no a yes. If `hard` is given, the expected share of such
        errors.
    unsure : float, default=0.0
        Probability of ``"unsure"``.
    random_state : int, optional
        Seed of errors and ``"unsure"`` answers.
    hard : {"border", "classes", "rows", "streaks", "adversary"}, optional
        Which answers are likelier to be wrong; see Notes. By default all are alike.
    X : array-like of shape (n_rows, n_features), optional
        The rows, which are compared by Euclidean distances. ``"border"`` needs them, and so does
        ``"classes"`` without `confused`. The other kinds ignore them.
    confused : tuple of two labels, optional
        The two classes that ``"classes"`` confuses, as in `y`. By default the two classes whose means are
        nearest.

    Raises
    ------
    DataError
        `X` cannot be compared, or it does not have one row for each label.
    TypeError
        `X` is sparse or not a table of numbers.
    ValueError
        `noise` or `unsure` is not a probability, `y` is not one label for each row, `hard` is unknown, what
        it needs is missing, or `confused` is not two classes in `y`.

    Notes
    -----
    People and language models are often wrong about the same hard pairs. `hard` distributes the errors:

    ``"border"``
        Pairs near the border between classes: two rows of one class that are far apart, and two rows of
        different classes that are close. The difficulty of a yes pair is its distance, divided by the mean
        distance of its rows to their nearest rows of other classes. That of a no pair is the mean distance
        of its rows to their nearest rows of the same class, divided by the distance of the pair [1]_. If a
        share q of the pairs of the same kind is easier, an error has probability ``q ** (1 / noise - 1)``.
        For a noise of 0.1 this is 0.39 if a tenth of the pairs is harder, and 0.002 if half of them are.
    ``"classes"``
        Two classes are confused: all errors are a yes about one row of each. If they have too few pairs
        between them, all answers about these are wrong, and the remaining errors are spread evenly over the
        other pairs.
    ``"rows"``
        A few rows are misjudged: each is seen as a row of one other class in all its answers, the last of
        them only in a part of its answers. If `noise` is too high for this, for example above a
        half with two classes, the remaining errors are spread evenly over the other pairs.
    ``"streaks"``
        Tired minutes: in ten answers in a row, each is wrong with probability 0.5, or with `noise` if that is
        more. A streak begins every ``5 / noise`` answers, the first at a random place, and between streaks
        there are no errors. The same question may get one answer inside a streak and another outside.
    ``"adversary"``
        Errors where they do most harm: about rows of large classes, as early as possible, and a false yes
        rather than a false no. Of the first n answers, at most ``ceil(noise * n)`` are wrong. The same
        question may get another answer later.

    With ``"border"``, ``"classes"`` and ``"rows"``, `noise` is the expected share of wrong answers about
    random pairs, half of them yes pairs and half no pairs, for every seed. With ``"border"`` it is also the
    share within each half. From about 700 rows on, ``"border"`` ranks pairs by a fixed sample of 131072 of
    each kind, which changes the share by less than 0.01. With ``"streaks"``, `noise` is the probability of
    an error in each answer, over all seeds. With ``"adversary"``, the number of errors stays within one of
    ``noise * n`` if all classes are of about the same size, and can be lower otherwise. ``"streaks"`` and
    ``"adversary"`` count only the answers that are yes or no.

    ``"border"`` compares all rows with each other once, in O(n_rows² n_features) time and with a copy of
    `X`. Then an answer takes O(n_features) time.

    References
    ----------
    .. [1] T. K. Ho and M. Basu (2002), *Complexity measures of supervised classification problems*: the
       measure N2 divides distances within classes by distances between classes.

    Examples
    --------
    >>> oracle = TruthOracle(["a", "a", "b"])
    >>> oracle(0, 1), oracle(0, 2)
    ('yes', 'no')

    The rows 0 and 2 are close but of different classes, so an error is likely:

    >>> X = [[0.0], [9.0], [0.5], [8.5], [3.0]]
    >>> oracle = TruthOracle([0, 0, 1, 1, 0], noise=0.4, hard="border", X=X, random_state=0)
    >>> oracle(0, 2), oracle.is_wrong(0, 2, "yes")
    ('yes', True)
    """

    def __init__(
        self,
        y: ArrayLike,
        *,
        noise: float = 0.0,
        unsure: float = 0.0,
        random_state: int | None = None,
        hard: Hard | None = None,
        X: ArrayLike | None = None,
        confused: tuple[object, object] | None = None,
    ) -> None:
        for name, value in (("noise", noise), ("unsure", unsure)):
            _check_probability(name, value)
        self.codes = encode_classes(y)
        self.noise, self.unsure, self.hard = noise, unsure, hard
        self.seed = int(np.random.default_rng(random_state).integers(2**31))
        _check_hard(hard, X is not None, confused)
        compares = hard == "border" or (hard == "classes" and confused is None)
        rows = _check_compared_rows(X, len(self.codes)) if compares and X is not None else None
        pair = None if confused is None else _find_classes(y, self.codes, confused)
        self._errors = self._create_errors(rows, pair) if noise else None

    def _create_errors(
        self, rows: NDArray[np.float64] | None, confused: tuple[int, int] | None
    ) -> ErrorModel | None:
        """Create the model of `hard`; None if all pairs are alike."""
        codes, noise = self.codes, float(self.noise)
        if self.hard == "streaks":
            return StreakErrors(noise, self.seed)
        if self.hard is None or codes.max(initial=-1) < 0:
            return None
        if self.hard == "rows":
            return RowErrors(codes, noise, self.seed)
        if self.hard == "adversary":
            return AdversaryErrors(codes, noise)
        if confused is not None:
            return ClassErrors(codes, noise, confused)
        assert rows is not None  # checked
        if self.hard == "border":
            return BorderErrors(rows, codes, noise)
        if codes.max() == 0:  # there is nothing to confuse
            return None
        return ClassErrors(codes, noise, find_nearest_classes(rows, codes))

    def __call__(self, first: int, second: int) -> Answer:
        """Answer whether two rows have the same class.

        With ``hard="streaks"`` and ``hard="adversary"`` each call counts, so the order of calls matters.

        Parameters
        ----------
        first, second : int
            Row positions.

        Returns
        -------
        {"yes", "no", "unsure"}
            The answer, with errors if `noise` is above 0.

        Raises
        ------
        IndexError
            A row does not exist.
        TypeError
            A position is not an integer.
        """
        self._check_rows(first, second)
        if min(self.codes[first], self.codes[second]) < 0:
            return "unsure"
        same = bool(self.codes[first] == self.codes[second])
        if self.noise or self.unsure:
            wrong, doubt = rng_at(self.seed, min(first, second), max(first, second)).random(2)
            if doubt < self.unsure:
                return "unsure"
            chance = self.noise if self._errors is None else self._errors.chance(first, second)
            same ^= bool(wrong < chance)
        return "yes" if same else "no"

    def is_wrong(self, first: int, second: int, answer: GivenAnswer) -> bool:
        """Tell whether an answer contradicts the classes.

        Parameters
        ----------
        first, second : int
            Row positions.
        answer : {"yes", "no", "unsure"} or bool
            The answer.

        Returns
        -------
        bool
            False also for ``"unsure"``, and if a class is unknown.

        Raises
        ------
        IndexError
            A row does not exist.
        TypeError
            A position is not an integer, or the answer is unknown.
        """
        self._check_rows(first, second)
        given = check_answer(answer, first, second)
        if given == "unsure" or min(self.codes[first], self.codes[second]) < 0:
            return False
        return bool((self.codes[first] == self.codes[second]) != (given == "yes"))

    def _check_rows(self, first: int, second: int) -> None:
        for row in (first, second):
            if not is_integer(row):
                raise TypeError(
                    f"A row position is not an integer: {short_repr(row)} ({type(row).__name__})."
                    " Pass positions that count from 0."
                )
            if not 0 <= row < len(self.codes):
                raise IndexError(
                    f"There is no row {short_repr(row)}: the oracle has the classes of rows 0 to"
                    f" {len(self.codes) - 1}."
                )


class TruthSorter:
    """Sort rows into piles by known classes, optionally with misplaced cards.

    A screen and the seed decide which cards are misplaced, so the same screen is always sorted in the same
    way.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class of every row; -1 or a missing value if it is unknown. Such a row is in no pile.
    misplaced : float, default=0.0
        Probability that a card is put into the pile of another class on the screen, or alone.
    unsure : float, default=0.0
        Probability that a card is put into no pile.
    random_state : int, optional
        Seed of misplaced and unsure cards.

    Raises
    ------
    ValueError
        `misplaced` or `unsure` is not a probability, or `y` is not one label for each row.

    Examples
    --------
    >>> sorter = TruthSorter(["a", "a", "b", "b", "c"])
    >>> sorter.sort([[0], [2]], [1, 3, 4])
    [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        y: ArrayLike,
        *,
        misplaced: float = 0.0,
        unsure: float = 0.0,
        random_state: int | None = None,
    ) -> None:
        for name, value in (("misplaced", misplaced), ("unsure", unsure)):
            _check_probability(name, value)
        self.codes = encode_classes(y)
        self.misplaced, self.unsure = misplaced, unsure
        self.seed = int(np.random.default_rng(random_state).integers(2**31))

    def sort(self, known: Sequence[Sequence[int]], cards: Sequence[int]) -> list[list[int]]:
        """Sort the rows of a screen.

        Parameters
        ----------
        known : sequence of sequence of int
            The piles that are there already. They are merged if they are of one class, and never split.
        cards : sequence of int
            The other rows.

        Returns
        -------
        list of list of int
            The rows of each pile. Rows that are in no pile are not sure.
        """
        piles: dict[tuple[int, int], list[int]] = {}
        for number, pile in enumerate(known):
            code = int(self.codes[pile[0]])
            piles.setdefault((code, 0 if code >= 0 else number), []).extend(pile)
        classes = [*dict.fromkeys([*(code for code, _ in piles), *self.codes[list(cards)].tolist()])]
        for card in cards:
            code = int(self.codes[card])
            wrong, doubt, choice = rng_at(self.seed, len(known), card, min(cards)).random(3)
            if code < 0 or doubt < self.unsure:
                continue
            if wrong < self.misplaced:
                others = [other for other in classes if other not in (code, -1)]
                at = int(choice * (len(others) + 1))
                if at == len(others):
                    piles[-2, card] = [card]  # alone
                    continue
                code = others[at]
            piles.setdefault((code, 0), []).append(card)
        return list(piles.values())


def _check_probability(name: str, value: float) -> None:
    if not (isinstance(value, Real) and 0 <= value <= 1):
        raise ValueError(f"{name} is not a probability: {short_repr(value)}. Pass a number from 0 to 1.")


def _check_hard(hard: object, has_X: bool, confused: object) -> None:
    """Raise if `hard` is unknown, or if what it needs is missing."""
    if hard is not None and hard not in HARD:
        raise ValueError(
            f"hard is unknown: {short_repr(hard)}. Pass one of {', '.join(map(repr, HARD))}, or None."
        )
    if confused is not None and hard != "classes":
        raise ValueError(f"confused is given, but hard is {hard!r}. Pass hard='classes', or remove confused.")
    if hard == "border" and not has_X:
        raise ValueError("hard is 'border', but X is missing. Pass the rows as X.")
    if hard == "classes" and not has_X and confused is None:
        raise ValueError(
            "hard is 'classes', but X is missing. Pass the rows as X, or two classes as confused."
        )


def _check_compared_rows(X: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return a copy of the rows as float64, one for each label."""
    from scipy.sparse import issparse

    from linkwise.validation import check_rows  # imports scikit-learn, which other oracles do not need

    if issparse(X):
        raise TypeError("X is sparse, but TruthOracle needs dense data. Pass X.toarray().")
    rows = np.array(check_rows(X), dtype=np.float64, order="C")
    if len(rows) != n:
        raise DataError(
            f"X has {count_noun(len(rows), 'row')}, but y has {count_noun(n, 'label')}."
            " Pass one row for each label."
        )
    return rows


def _find_classes(y: ArrayLike, codes: NDArray[np.int64], confused: object) -> tuple[int, int]:
    """Return the codes of two labels of `y`."""
    pair = list(confused) if isinstance(confused, (tuple, list, np.ndarray)) else []
    if len(pair) != 2 or pair[0] == pair[1]:
        raise ValueError(
            f"confused is not two classes: {short_repr(confused)}. Pass two labels of y, such as (0, 1)."
        )
    labels, known = list_labels(y), np.flatnonzero(codes >= 0)
    found = []
    for label in pair:
        at = [row for row in known if labels[row] == label]
        if not at:
            raise ValueError(
                f"confused names {short_repr(label)}, but y has no such class. Pass two labels of y."
            )
        found.append(int(codes[at[0]]))
    return found[0], found[1]

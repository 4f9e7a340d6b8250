"""Answer questions from known classes, for experiments."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from linkwise.asking.learner import rng_at
from linkwise.constraints.checks import encode_classes, is_integer
from linkwise.constraints.evidence import Answer
from linkwise.errors import short_repr


class TruthOracle:
    """Answer questions from known classes, optionally with errors and ``"unsure"`` answers.

    An answer depends on the pair and the seed alone: the same question always has the same answer.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class of every row; -1, None or NaN if it is unknown. The answer about such a row is ``"unsure"``.
    noise : float, default=0.0
        Probability that a yes becomes a no, or a no a yes.
    unsure : float, default=0.0
        Probability of ``"unsure"``.
    random_state : int, optional
        Seed of errors and ``"unsure"`` answers.

    Raises
    ------
    ValueError
        `noise` or `unsure` is not a probability, or `y` is not one label for each row.

    Examples
    --------
    >>> oracle = TruthOracle(["a", "a", "b"])
    >>> oracle(0, 1), oracle(0, 2)
    ('yes', 'no')
    """

    def __init__(
        self, y: ArrayLike, *, noise: float = 0.0, unsure: float = 0.0, random_state: int | None = None
    ) -> None:
        for name, value in (("noise", noise), ("unsure", unsure)):
            if not (isinstance(value, Real) and 0 <= value <= 1):
                raise ValueError(
                    f"{name} is not a probability: {short_repr(value)}. Give a number from 0 to 1."
                )
        self.codes = encode_classes(y)
        self.noise, self.unsure = noise, unsure
        self.seed = int(np.random.default_rng(random_state).integers(2**31))

    def __call__(self, first: int, second: int) -> Answer:
        """Answer whether two rows have the same class.

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
        for row in (first, second):
            if not is_integer(row):
                raise TypeError(
                    f"A row position is not an integer: {short_repr(row)} ({type(row).__name__})."
                    " Give positions that count from 0."
                )
            if not 0 <= row < len(self.codes):
                raise IndexError(
                    f"There is no row {row}: the oracle has the classes of rows 0 to {len(self.codes) - 1}."
                )
        if min(self.codes[first], self.codes[second]) < 0:
            return "unsure"
        same = bool(self.codes[first] == self.codes[second])
        if self.noise or self.unsure:
            wrong, doubt = rng_at(self.seed, min(first, second), max(first, second)).random(2)
            if doubt < self.unsure:
                return "unsure"
            same ^= bool(wrong < self.noise)
        return "yes" if same else "no"
